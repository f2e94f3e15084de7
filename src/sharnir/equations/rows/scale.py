"""Sizes of the terms of constraints: residuals are judged by them, metres by the size of the mechanism, radians by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ...kernels.joint_stage import FREE, SLIDE
from ...model.constraints.closing import ClosingJoint
from ...model.constraints.constraint_element import Constraint
from ...model.structure import Structure
from ..assembly.least_motion import Rows, of_speeds
from .one_constraint import ConstraintRow

SLOWEST = 1e-6
"""Rates, in radians or sizes of the mechanism per second, below which none is judged by itself."""


class Scale:
    """Sizes of rows, coordinates and speeds of one model: arrays with the last axis of what they are asked about."""

    def __init__(self, structure: Structure, constraints: Mapping[str, Constraint], rows: Iterable[ConstraintRow] = ()) -> None:
        j = structure.joints
        slides, floats = (np.flatnonzero((j.kind == kind) & (j.coordinates > 0)) for kind in (SLIDE, FREE))
        self.lengths, self.shifts = np.zeros(structure.nq, dtype=bool), np.zeros(structure.nv, dtype=bool)
        for marks, at in ((self.lengths, j.q_at), (self.shifts, j.v_at)):
            marks[at[slides]] = True
            marks[at[floats][:, None] + np.arange(3)] = True
        step = np.concatenate([[0.0], np.cumsum(np.linalg.norm(j.rho, axis=1))])
        reach = np.diff(step[j.start]).tolist()
        for i, k in enumerate(structure.carrier.tolist()[1:], start=1):
            reach[i] += reach[k]
        ends = [pose for x in constraints.values() if isinstance(x, ClosingJoint) for pose in (x.at, x.child_at)]
        numbers = [x for pose in ends for x in pose.position if isinstance(x, (int, float))]
        self.length = float(np.abs([*reach, *numbers]).max(initial=0.0))
        """Reach of the mechanism from the ground but for its slides, m."""
        self.units = np.array([row.unit for row in rows], dtype="U3")

    def metres(self, q: np.ndarray) -> np.ndarray:
        """(…,): the size of the mechanism; 1 where all is in one point."""
        size = np.maximum(self.length, np.abs(q[..., self.lengths]).max(axis=-1, initial=0.0))
        return np.where(size > 0.0, size, 1.0)

    def of_rows(self, q: np.ndarray, J: Rows | None = None) -> np.ndarray:
        """(…, rows): of all constraints, or of the rows of J, whose lever arms count too; beyond the constraints these are
        coordinates that are lengths."""
        units, metres = self.units, self.metres(q)
        turns = np.maximum(1.0, np.abs(q[..., ~self.lengths]).max(axis=-1, initial=0.0))
        sizes = {"m": metres, "rad": turns, "": np.maximum(turns, metres)}
        if J is not None:
            n = J.shape[-2]
            units = np.append(units, np.full(max(n - len(units), 0), "m"))[:n]
            turning = of_speeds(J, ~self.shifts)
            found = abs(turning).max(axis=-1) if J.shape[-1] else np.zeros(J.shape[:-1])
            arms = found if isinstance(found, np.ndarray) else found.toarray().ravel()
            sizes = {unit: np.maximum(x, arms[..., units == unit].max(axis=-1, initial=0.0)) for unit, x in sizes.items()}
        out = np.empty((*q.shape[:-1], len(units)))
        for unit, x in sizes.items():
            out[..., units == unit] = x[..., None]
        return out

    def of_coordinates(self, q: np.ndarray) -> np.ndarray:
        """(…, nq): metres by the mechanism, everything else by the largest, at least 1."""
        rest = np.maximum(1.0, np.abs(q[..., ~self.lengths]).max(axis=-1, initial=0.0))
        return np.where(self.lengths, self.metres(q)[..., None], rest[..., None])

    def of_speeds(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(…, nv): the fastest in radians and sizes of the mechanism per second, at least `SLOWEST`, in units of each."""
        unit = np.where(self.shifts, self.metres(q)[..., None], 1.0)
        return np.asarray(unit * np.abs(v / unit).max(axis=-1, keepdims=True, initial=SLOWEST))

    def of_rates(self, q: np.ndarray, v: np.ndarray, J: Rows) -> np.ndarray:
        """(…, rows): of the rates of all constraints at speeds v."""
        unit = np.where(self.shifts, self.metres(q)[..., None], 1.0)
        return np.asarray(self.of_rows(q, J) * np.abs(v / unit).max(axis=-1, keepdims=True, initial=SLOWEST))

    def of_accelerations(self, q: np.ndarray, gamma: np.ndarray, J: Rows) -> np.ndarray:
        """(…, rows): of γ."""
        size = self.of_rows(q, J)
        return np.asarray(size * np.abs(gamma / size).max(axis=-1, keepdims=True, initial=SLOWEST))
