"""Some trajectories of a rollout that go through all steps together: on the lanes of the processor, in the nearest cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dialect.jit import host_lanes
from ...dialect.native import bind_kernel
from ...equations.motion.stabilisation import Stabilisation
from ...integrate.kernels.rollout import Lanes, rollout_euler, rollout_rk4
from ..systems.choose import motion_system
from ..systems.motion_system import Setup
from .options import FixedSteps
from .preparation import Prepared

ENTRIES = {"rk4": rollout_rk4, "euler": rollout_euler}
"""The loop over steps of each integrator."""


class Batch:
    """From (q, v), a row for each trajectory; filled up to a whole number of vectors by repeating the last."""

    def __init__(
        self,
        prepared: Prepared,
        steps: FixedSteps,
        stabilisations: Sequence[Stabilisation],
        q: np.ndarray,
        v: np.ndarray,
        tau: np.ndarray | None,
        parameters: np.ndarray | None = None,
    ) -> None:
        """`stabilisations`: one for each trajectory, which differ in their coefficients alone."""
        d = prepared.d
        decay = np.array([one.decay for one in stabilisations], dtype=float).reshape(len(q), -1)
        self.nq, self.nv, self.nz, self.count = q.shape[1], v.shape[1], len(d.model.states), len(q)
        self.compiled = compiled = d.formulation.requested != "python"
        fill = -len(q) % host_lanes() if compiled else 0
        q, v, decay = (_filled(x, fill) for x in (q, v, decay))
        if parameters is not None and parameters.ndim == 2:
            parameters = _filled(parameters, fill)
        self.n = n = len(q)
        self.split = n * self.nq
        self.tau = np.zeros((n, self.nv))
        held = np.zeros((0, n * self.nv))
        if tau is not None and tau.shape[1] == 1:
            self.tau[:] = _filled(tau[:, 0], fill)
        elif tau is not None:
            held = np.ascontiguousarray(_filled(tau, fill).transpose(1, 0, 2)).reshape(steps.count, -1)
        self.motion = motion_system(
            Setup(
                d, self.tau, balance=False, stabilisation=stabilisations[0], decay=decay, n=n, parameters=parameters, t0=steps.t0
            )
        )
        z = self.motion.parameters.reshape(n, -1)[:, -self.nz :] if self.nz else np.zeros(0)
        x = np.concatenate([q.ravel(), v.ravel(), z.ravel()])
        self.start = x.copy()
        self.lanes: Any = Lanes(
            x, x.copy(), self.tau.reshape(-1), held, np.zeros((steps.count // steps.every, x.size)), np.full(n, np.inf),
            np.array([self.nq, self.nv, self.nz], dtype=np.int64), np.array([steps.t0, steps.step, float(self.split)]),
            np.array([0, 0, 0, steps.every], dtype=np.int64),
        )  # fmt: skip
        entry = ENTRIES[prepared.options.integrator]
        self._drive = bind_kernel(entry, self.motion.system.problem(False), self.lanes, compiled=compiled)

    def run(self, until: int) -> None:
        """So many steps, counted from the start."""
        count = self.lanes.count
        before, count[1] = count.copy(), until
        self._drive()
        try:
            self.motion.system.raise_failure()
        except BaseException:
            count[:] = before  # what was stored after the exception is no motion
            raise

    def push(self, tau: np.ndarray) -> None:
        """Joint forces from now on."""
        self.tau[: self.count] = tau

    def state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, speeds and states of forces, a row for each trajectory."""
        return self._split(self.lanes.x)

    @property
    def stored(self) -> int:
        """Rows, the start included."""
        return 1 + int(self.lanes.count[2])

    def rows(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(count, n, nq), (count, n, nv), (count, n, nz): the start and the steps that were stored."""
        q, v, z = self._split(np.concatenate([self.start[None], self.lanes.rows[: n - 1]]))
        return q.transpose(1, 0, 2), v.transpose(1, 0, 2), z.transpose(1, 0, 2)

    def failed(self) -> np.ndarray:
        return self.lanes.failed[: self.count]

    def _split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        sizes = (self.nq, self.nv, self.nz)
        parts = np.split(x, [self.n * self.nq, self.n * (self.nq + self.nv)], axis=-1)
        rows = [part.reshape(*x.shape[:-1], self.n, k)[..., : self.count, :] for part, k in zip(parts, sizes, strict=True)]
        return rows[0], rows[1], rows[2]


def _filled(x: np.ndarray, fill: int) -> np.ndarray:
    return np.concatenate([x, np.repeat(x[-1:], fill, axis=0)])
