"""Statuses of runs beside those of a simulation, and which of them count."""

from __future__ import annotations

from ..integrate.trajectory import LIMITED

COMPLETED = ("done", "stopped")
"""Runs that came to their end, and have no message; an optimum is one of these."""
ENDED = (*COMPLETED, *LIMITED)
"""Runs whose outputs count, those that met a limit included; every other status is the reason of a failure."""
REFUSED, OUTPUT_FAILED = "refused", "output_failed"
"""Runs that could not begin, and runs whose output raised an exception."""
NOT_FINITE = "objective_not_finite"
"""Runs of a search that ended well, with an output that is no finite number."""
DIED = "worker_died"
"""Runs of a bundle over which several workers died."""
NOT_RUN = "not_run"
"""Runs that were not made: the study was interrupted."""
