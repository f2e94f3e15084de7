"""Many runs of one model with adaptive steps, on the lanes of the processor: what `Runs.run` does one after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..backends.grouped import native_copy
from ..dialect.arithmetic import side_by_side
from ..dialect.jit import host_lanes
from ..dialect.native import Loop, Native
from ..equations.derivative import CompiledDerivative
from ..equations.normalization import vector_normalize
from ..equations.passage import FAR, Approach, Usual, approach
from ..equations.singular import dependent_rows, usual_pivots
from ..equations.stabilisation import PROJECTION
from ..errors import MethodError, StateError
from ..integrate.side_by_side import ENTRIES, SideBySide
from ..integrate.stepping.state import DONE
from ..integrate.system import Buffers, System
from ..types import real_array
from .checks import tolerances_of_state
from .motion_system import Setup
from .options import check_duration, number
from .runs import Runs
from .straight_line import straight_line_code


def suits(runs: Runs) -> bool:
    """Whether runs can go side by side: straight-line code, an explicit integrator, nothing that happens between steps."""
    return _code(runs) is not None


def _code(runs: Runs) -> CompiledDerivative | None:
    happens = runs.own_events or runs.hits or runs.controllers or runs.gaps or len(runs.sensitivities) or runs.limits != "ignore"
    plain = runs.how.name in (PROJECTION, "none") and not runs.d.formulation.method.in_momenta
    if happens or not plain or runs.integrator not in ENTRIES:
        return None
    return straight_line_code(Setup(runs.d, np.zeros(runs.model.nv), balance=False, stabilisation=runs.how, n=host_lanes()))


class AdaptiveLanes:
    """Compiled once for a model, for any number of calls of `run`, one at a time: each thread has an object of its own.

    A lane has its own time, step size and tolerance test, and takes the next run when its own has ended. Runs follow the steps of
    `Runs.run`, to rounding, and do not depend on which others they share the lanes with, to the last bit.
    """

    def __init__(self, runs: Runs) -> None:
        code = _code(runs)
        if code is None:
            raise MethodError(f"runs of model {runs.model.name!r} with these options do not go side by side: see `suits`")
        self.runs, self.equations, s = runs, runs.d.constrained, runs.d.structure
        self.nq, self.nv, self.nz, self.np = s.nq, s.nv, len(s.states), len(s.parameters)
        self.own_parameters = np.array(list(s.parameters.values()), dtype=float)
        self._store = runs.d.formulation.programs.store
        lanes, rows = host_lanes(), len(self.equations.table) if self.equations else 0
        own, row_own = np.zeros((self.np + self.nv, lanes)), np.zeros((self.np, lanes))
        self._at, buffers = self._arrays(own[: self.np])
        self._at |= {"tau": own[self.np :], "pivots": np.zeros((rows, lanes))}
        self._carry, after = self._after_step(self._at)
        self._derivative = code.code.bind_vector(self._at)
        self._usual, watched, guard = np.zeros(rows), np.zeros((1, lanes)), []
        self._judged = not rows
        """Whether rows that always depend on others do not count in `_usual` any more."""
        if self.equations:
            self._usual[:] = usual_pivots(self.equations, self._inverse_pivots, lanes)
            loop = Loop(approach, (Usual, Approach), side_by_side(lanes), shared=1, store=self._store)
            guard = [loop.bind(Usual(self._usual), Approach(self._at["pivots"], watched))]
        derivative = [*self._carry, self._derivative, *guard]
        system = System(buffers, derivative, projection=[*self._carry, *after] if after else [])
        at, row_buffers = self._arrays(row_own)
        carry, after = self._after_step(at)
        row_system = System(row_buffers, (), projection=[*carry, *after] if after else [])
        self._lanes = SideBySide(runs.integrator, system, own, watched, row_system, row_own, self._store)

    def run(
        self,
        q: ArrayLike,
        v: ArrayLike,
        duration: float,
        times: ArrayLike,
        *,
        tau: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        t0: float = 0.0,
        rtol: float = 1e-8,
        atol: float | ArrayLike = 1e-10,
        max_step: float = np.inf,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """From starts q (B, nq) and v (B, nv), assembled already, rows (B, times, nq + nv + nz) of coordinates, speeds and states
        of forces; the steps of each run (B,); and whether it has come to its end (B,).

        tau          joint forces, (nv,) or (B, nv)
        parameters   (P,) or (B, P), states of forces at the start the last of them; the model's own where there are none

        A run that needs more than this is left, and its rows are nan: numbers that are not finite, steps that become too small,
        a stretch where 'auto' would look whether it is stiff, or any integrator whether it chatters, a singular position nearby.
        The others go on; whoever wants that run calls `Runs.run`.
        """
        duration, t0, n = check_duration(duration), number(t0, "t0"), len(real_array(q, "q"))
        own = self._rows(self.own_parameters if parameters is None else parameters, "parameters", n, self.np)
        forces = self._rows(np.zeros(self.nv) if tau is None else tau, "tau", n, self.nv)
        start = [self._rows(q, "q", n, self.nq), self._rows(v, "v", n, self.nv), own[:, self.np - self.nz :]]
        if not all(np.isfinite(x).all() for x in (*start, own, forces)):
            raise StateError("q, v, tau and parameters: expected finite numbers")
        rtol, max_step = number(rtol, "rtol"), number(max_step, "max_step")
        tolerances = tolerances_of_state(atol, self.nq + self.nv, self.nz)
        least = tolerances.min(initial=np.inf)
        if not rtol >= 0.0 or not least >= 0.0 or not rtol + least > 0.0 or not max_step > 0.0:
            raise MethodError("rtol and atol must not be negative, nor both zero, and max_step is positive")
        starts, inputs = np.concatenate(start, axis=1), np.concatenate([own, forces], axis=1)
        if n and not self._judged:
            self._judge(starts[0], own[0], t0)
        found, ended = self._lanes.run(starts, inputs, t0, t0 + duration, times, rtol, tolerances, max_step)
        ok = ended[:, 0] == DONE
        ok[ok] = self._closed(found[ok, -1], own[ok], float(np.ravel(times)[-1])) if found.shape[1] else True
        found[~ok] = np.nan
        return found, ended[:, 1].astype(np.int64), ok

    # --- arrays ---------------------------------------------------------------------------------------------------------------
    def _arrays(self, parameter: np.ndarray) -> tuple[dict[str, np.ndarray], Buffers]:
        """State and derivative by their parts, lanes innermost."""
        lanes, n, v = host_lanes(), self.nq + self.nv + self.nz, self.nq + self.nv
        X, DX, T = np.zeros((n, lanes)), np.zeros((n, lanes)), np.zeros((1, lanes))
        at = {
            "q": X[: self.nq], "v": X[self.nq : v], "z": X[v:], "t": T, "parameter": parameter,
            "rate": DX[: self.nq], "qdd": DX[self.nq : v], "more": DX[v:],
        }  # fmt: skip
        return at, Buffers(X, DX, T, np.zeros((0, lanes)), np.zeros((0, 0, lanes)), np.zeros((0, lanes)))

    def _after_step(self, at: dict[str, np.ndarray]) -> tuple[list[Native], list[Native]]:
        """What carries states of forces to where the equations read them, and what follows a step."""
        carry = [native_copy([(at["z"], at["parameter"][self.np - self.nz :])], self._store)] if self.nz else []
        if self.equations and self.runs.how.name == PROJECTION:
            return carry, self.equations.projector.vector(at)
        return carry, vector_normalize(self.runs.d.model, at["q"], at["t"], self._store)

    @staticmethod
    def _rows(x: ArrayLike, what: str, n: int, size: int) -> np.ndarray:
        given = real_array(x, what)
        if given.shape not in ((size,), (n, size)):
            raise StateError(f"{what}: expected ({n}, {size}), a row for each run, or ({size},); got {given.shape}")
        return np.ascontiguousarray(np.broadcast_to(given, (n, size)))

    # --- singular positions ---------------------------------------------------------------------------------------------------
    def _inverse_pivots(self, q: np.ndarray) -> np.ndarray:
        """Of as many positions as there are lanes, at rest, with the parameters of the model."""
        at = self._at
        at["q"][:], at["v"][:], at["t"][:], at["parameter"][:] = q.T, 0.0, 0.0, self.own_parameters[:, None]
        self._derivative()
        return at["pivots"].T.copy()

    def _judge(self, x: np.ndarray, parameters: np.ndarray, t: float) -> None:
        """Where the first start seems to be near a singular position: rows that always depend on others are not counted."""
        assert self.equations is not None
        at = self._at
        at["q"][:], at["v"][:] = x[: self.nq, None], x[self.nq : self.nq + self.nv, None]
        at["t"][:], at["parameter"][:], at["tau"][:] = t, parameters[:, None], 0.0
        self._derivative()
        if (self._usual * at["pivots"][:, 0]).max(initial=0.0) > FAR:
            self._usual[dependent_rows(self.equations, x[: self.nq].copy(), t, parameters.tolist(), self._usual)] = 0.0
        self._judged = True

    def _closed(self, x: np.ndarray, parameters: np.ndarray, t: float) -> np.ndarray:
        """Whether the constraints are met at the end, as of `Runs.run`."""
        if self.equations is None:
            return np.ones(len(x), dtype=bool)
        q, v, z = np.split(x, [self.nq, self.nq + self.nv], axis=1)
        there = np.concatenate([parameters[:, : self.np - self.nz], z], axis=1)
        return self.equations.table.violation_of_many(q, v, np.full(len(x), t), there) <= self.runs.how.violation_limit
