"""A motion at times between its rows, for pictures and videos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import NOT_A_NUMBER, StateError, brief
from ..simulation.results.result import Result
from ..types import FloatArray
from .scene import Scene

CLOSE = 1e-9
"""A time outside the run by less than this share of its length is its start or its end."""


def check_time(r: Result, t: Any) -> float:
    """The time as a number, within the run."""
    try:
        found = float(t)
    except NOT_A_NUMBER:
        raise StateError(f"t: expected a time in seconds, got {brief(t)}") from None
    first, last = float(min(r.t[0], r.t[-1])), float(max(r.t[0], r.t[-1]))
    slack = CLOSE * max(last - first, abs(first), abs(last))
    if not first - slack <= found <= last + slack:
        raise StateError(f"t = {found:g} s is outside the run, which has {first:g} … {last:g} s: give a time between these")
    return min(max(found, first), last)


def at_times(scene: Scene, r: Result, times: Sequence[float] | FloatArray) -> Scene:
    """The scene of a result at any times of the run.

    Between two rows coordinates move evenly along the shortest way from one to the other (`Model.difference`), bodies are
    where the coordinates put them, arrows change linearly. At equal times the later row holds: the state after an event.
    """
    t = np.asarray(times, dtype=float)
    row, share = between(r.t, t)
    q = r.q[row].copy()
    missing = ~np.isfinite(q + np.where(share[:, None] > 0.0, r.q[np.minimum(row + 1, len(r.t) - 1)], 0.0))
    if missing.any():
        k, place = np.argwhere(missing)[0]
        raise StateError(f"there is no picture at t = {t[k]:g} s: coordinate {r.model.q_names[place]!r} is not a number there")
    for k in np.flatnonzero(share > 0.0):
        step = r.model.difference(r.q[row[k]], r.q[row[k] + 1], float(t[k]))
        q[k] = r.model.integrate(r.q[row[k]], share[k] * step, float(t[k]))
    parameters = r.parameters[row] if r.parameters.size else None
    rotation, position = r.dynamics.poses(q, t, parameters=parameters)
    rotation, position = scene.carried(t, q, rotation, position)
    last = np.minimum(row + 1, len(r.t) - 1)
    mix = share[:, None]
    spans = [x if x.vector is None else replace(x, vector=(1 - mix) * x.vector[row] + mix * x.vector[last]) for x in scene.spans]
    return replace(scene, t=t, rotation=rotation, position=position, spans=spans)


def between(rows: FloatArray, t: FloatArray) -> tuple[np.ndarray, FloatArray]:
    """The row at or before each time, and the share of the way to the next; of rows at equal times, as at an event, the last."""
    sign = 1.0 if rows[-1] >= rows[0] else -1.0  # a run may go backwards
    row = np.clip(np.searchsorted(sign * rows, sign * t, side="right") - 1, 0, len(rows) - 1)
    after = np.minimum(row + 1, len(rows) - 1)
    gap = rows[after] - rows[row]
    share = np.where(gap != 0.0, (t - rows[row]) / np.where(gap != 0.0, gap, 1.0), 0.0)
    return row, np.clip(share, 0.0, 1.0)
