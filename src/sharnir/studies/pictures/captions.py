"""Captions of pictures of studies: how many runs there are, how many failed and why, what is not drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...reporting.formats import count, plural
from ...types import IntArray
from ..statuses import COMPLETED, ENDED
from .columns import Table


def statuses(table: Table) -> dict[str, int]:
    """Numbers of runs by status, the most frequent first."""
    found, numbers = np.unique(table.status.astype(str), return_counts=True)
    order = np.argsort(-numbers, kind="stable")
    return {str(found[k]): int(numbers[k]) for k in order}


def runs(n: int) -> str:
    """1 run, 12 345 runs."""
    return f"{count(n)} {'run' if n == 1 else 'runs'}"


def caption(table: Table, drawn: IntArray | None = None, notes: Sequence[str] = ()) -> str:
    """`200 runs, 3 failed (2 not_finite, 1 refused); …`, with what else a picture has to say; `drawn`: the rows it shows."""
    ways = statuses(table)
    failed = {name: n for name, n in ways.items() if name not in ENDED}
    limited = [f"{count(n)} {name}" for name, n in ways.items() if name in ENDED and name not in COMPLETED]
    total = sum(failed.values())
    reasons = ", ".join(f"{count(n)} {name}" for name, n in failed.items())
    parts = [runs(len(table)) + (f", {'all' if total == len(table) > 1 else count(total)} failed ({reasons})" if total else "")]
    parts += [", ".join(limited)] * bool(limited)
    if drawn is not None and len(drawn) < len(table):
        shown = int((~table.ok[drawn]).sum())  # more often than in the study, and so it is said
        of_them = f", {count(shown)} of them failed" if shown else ""
        parts.append(f"a sample of {count(len(drawn))} is drawn{of_them}, with the extremes of every column")
    return "; ".join([*parts, *notes])


def left_out(table: Table) -> list[str]:
    """A sentence about outputs that are more than one value per run, if there are any."""
    if not table.left_out:
        return []
    names = ", ".join(table.left_out[:3]) + (f" and {len(table.left_out) - 3} more" if len(table.left_out) > 3 else "")
    return [f"{plural(len(table.left_out), 'output')} with more than one value per run not drawn: {names}"]
