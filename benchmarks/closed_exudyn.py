"""N four-bars side by side, ours and Exudyn's sparse solver: CPU time at equal error, in one process, samples in turn.

Exudyn: rigid bodies in the plane, revolute joints, sparse LU with its pattern kept, the best of its integrators, Jacobians and
tolerances of Newton's method (iftomm_exudyn.py); the call of its solver on a system assembled before. Ours: the call of the
integrator on equations prepared before. The error is that of the tip of the left rod at the end, against the exact motion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from sharnir.reporting.formats import duration
from sharnir.reporting.timing import cpu_and_wall

from .harness import SETTINGS
from .iftomm import Ours, race, reference
from .iftomm_models import Problem, four_bars
from .report import Measure

SECONDS = {40: 4.0, 400: 2.0}
"""Of motion; two singular positions are passed in every 2 s."""
PROBE = {40: 500, 400: 200}
"""Steps of a trial of Exudyn's settings."""
TARGETS = (1e-4, 1e-6)
FASTER = {40: 10.0, 400: 5.0}
INTEGRATORS = ("dop853", "dopri5", "adams")
SPARSE = ("EigenSparse", "EigenSparseSymmetric")


def side_by_side(n: int) -> Iterator[Measure | str]:
    quick = SETTINGS.quick
    try:
        from . import iftomm_exudyn as exudyn
    except ImportError:
        yield "Exudyn is not installed: nothing to compare with"
        return
    p = replace(four_bars(n), duration=SECONDS[n])
    wanted, how = reference(p)
    yield f"N = {n}, {p.duration:g} s, error of the {p.what}; reference: {how}"
    model = replace(exudyn.planar(p), linear=SPARSE)
    implicit, notes = exudyn.candidates(p, wanted, [model], PROBE[n], most=1)
    yield from notes
    for found in implicit:
        yield from their_ladder(exudyn, found, wanted, quick)
    targets = TARGETS[: 1 if quick else 2]
    peers = {target: exudyn.best(wanted, target, [model], implicit, 3.0 if quick else 40.0)[0] for target in targets}
    for target, peer in peers.items():
        what = f"Exudyn to {target:.0e}: {peer.settings}, error {peer.error:.1e}"
        yield Measure("closed", p.name, what, 1e3 * peer.cpu, " ms")

    ours = [Ours(p, "auto", name) for name in INTEGRATORS[: 1 if quick else 3]]
    yield f"N = {n}: our equations prepared in {min(o.compile for o in ours):.2f} to {max(o.compile for o in ours):.2f} s"
    yield from our_ladder(ours[0], wanted)
    for target, peer in peers.items():
        reached = [o for o in ours if o.find(wanted, target)]
        lost = [o.integrator for o in ours if o not in reached]
        if lost:
            yield f"N = {n}: {', '.join(lost)} did not reach {target:.0e}"
        if not reached or peer.error > target:
            yield f"N = {n}: {'Exudyn' if reached else 'we'} did not reach {target:.0e}, nothing to compare"
            continue
        again = race(reached, peer, exudyn, wanted, quick)
        yield compared(p, n, target, min(reached, key=lambda o: o.cpu), again)


def compared(p: Problem, n: int, target: float, best: Ours, peer: object) -> Measure:
    details = {"ours": 1e6 * best.cpu, "Exudyn": 1e6 * peer.cpu}  # type: ignore[attr-defined]
    what = f"over Exudyn to {target:.0e}: {best.shown}"
    return Measure("closed", p.name, what, details["Exudyn"] / details["ours"], "×", FASTER[n], details=details)


def their_ladder(exudyn: object, best: object, wanted: np.ndarray, quick: bool) -> Iterator[str]:
    """Its error and CPU time with the best settings and more and more steps."""
    for k in range(2 if quick else 4):
        settings = replace(best.settings, steps=best.settings.steps * 2**k)  # type: ignore[attr-defined]
        found = exudyn.tried(best.built, settings, wanted, 2)  # type: ignore[attr-defined]
        yield f"Exudyn, {settings}: " + (f"error {found.error:.1e}, CPU {duration(found.cpu)}" if found else "failed")


def our_ladder(ours: Ours, wanted: np.ndarray) -> Iterator[str]:
    """Our error and CPU time with tighter and tighter tolerances: both must fall and rise on and on."""
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12):
        cpu = min(cpu_and_wall(partial(ours.call, rtol))[0] for _ in range(2))
        yield f"ours, {ours.integrator}, rtol = atol = {rtol:.0e}: error {ours.error(rtol, wanted):.1e}, CPU {duration(cpu)}"
