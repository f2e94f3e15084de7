"""Many runs of one model with adaptive steps, on the lanes of the processor: what `Runs.run` does one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ...backends.grouped import native_copy
from ...dialect.arithmetic import side_by_side
from ...dialect.jit import host_lanes
from ...dialect.native import Native, bind_kernel
from ...equations.kernels.singular_step import Approach, TypicalPivots, approach
from ...equations.motion.derivative import Derivative
from ...equations.motion.retraction import vector_normalize
from ...equations.motion.share import always_dependent
from ...equations.motion.stabilisation import PROJECTION
from ...errors import MethodError, StateError
from ...integrate.kernels.state import DONE
from ...integrate.side_by_side import ENTRIES, SideBySide
from ...integrate.system import Buffers, System
from ...model.settings import ENDING
from ...types import real_array
from ..systems.motion_system import Setup, unseen_work
from ..systems.straight_line import StraightLine, straight_line_code
from .checks import tolerances_of_state
from .options import RunOptions
from .runs import Runs

Arrays = dict[str, np.ndarray]


def can_batch(runs: Runs) -> bool:
    """Whether runs can go side by side: straight-line code, an explicit integrator, nothing that happens between steps."""
    return _code(runs) is not None


def _code(runs: Runs) -> Derivative | None:
    o = runs.options
    happens = runs.own_events or runs.impacts or o.control or runs.gaps or o.limits in ENDING
    plain = runs.how.name in (PROJECTION, "none") and not runs.d.formulation.method.in_momenta and not len(o.sensitivities)
    if happens or not plain or runs.law is not None or o.integrator not in ENTRIES:
        return None
    alone = straight_line_code(_setup(runs, 1))  # of runs that are left
    return straight_line_code(_setup(runs, host_lanes(), bool(_steering(runs)))) if alone is not None else None


def _causes(runs: Runs, works: bool) -> tuple[str, ...]:
    """Numbers of the state of `Runs.run` that account for work; `works`: with joint forces."""
    code = straight_line_code(_setup(runs, 1, True, works)) if runs.options.balance else None
    return code.causes if code else ()


def _steering(runs: Runs) -> tuple[str, ...]:
    """The same, where any of them steers the step: lanes then integrate all of them."""
    causes = _causes(runs, True)
    return causes if unseen_work(runs.d.structure, causes).any() else ()


def _setup(runs: Runs, n: int, balance: bool = False, works: bool = True) -> Setup:
    return Setup(runs.d, np.zeros(runs.model.nv), balance=balance, controlled=works, stabilisation=runs.how, n=n)


class AdaptiveLanes:
    """Compiled once for a model, for any number of calls of `run`, one at a time: each thread has an object of its own.

    A lane has its own time, step size and tolerance test, and takes the next run when its own has ended. Runs follow the steps of
    `Runs.run`, to rounding, and do not depend on which others they share the lanes with, to the last bit.
    """

    def __init__(self, runs: Runs) -> None:
        code = _code(runs)
        if code is None:
            raise MethodError(f"runs of model {runs.model.name!r} with these options do not go side by side: see `can_batch`")
        self.runs, self.equations, s = runs, runs.d.constrained, runs.d.structure
        self.nq, self.nv, self.nz, self.np = s.nq, s.nv, len(s.states), len(s.parameters)
        self._works = unseen_work(s, _steering(runs))
        self._store = runs.d.formulation.programs.store
        at, row_at = self._arrays(), self._arrays()
        self._typical_pivots = np.zeros(len(self.equations.table) if self.equations else 0)
        self._has_pivots = False
        """Whether `_typical_pivots` are known."""
        derivative, row_derivative = ([*self._carry(x), code.code.bind_vector(x)] for x in (at, row_at))
        near = []  # how near to a singular position every lane is
        if self.equations is not None:
            groups = TypicalPivots(self._typical_pivots), Approach(at["pivots"], at["near"])
            near = [bind_kernel(approach, *groups, options=side_by_side(host_lanes()), shared=1, store=self._store)]
        none = np.zeros((0, host_lanes())), np.zeros((0, 0, host_lanes())), np.zeros((0, host_lanes()))
        buffers, row_buffers = (Buffers(x["X"], x["DX"], x["t"], *none) for x in (at, row_at))
        rows = System(row_buffers, row_derivative, projection=self._after_step(row_at))
        system = System(buffers, [*derivative, *near], projection=self._after_step(at))
        self._lanes = SideBySide(runs.options.integrator, system, at["own"], rows, row_at["own"], at["near"], self._store)

    def run(
        self, q: ArrayLike, v: ArrayLike, times: ArrayLike, options: RunOptions, *, tau: ArrayLike | None = None,
        parameters: ArrayLike | None = None, accelerations: bool = False,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """From starts q (B, nq) and v (B, nv), assembled already, rows (B, times, nq + nv + nz) of coordinates, speeds and states
        of forces; the steps of each run (B,); and whether it has come to its end (B,).

        options         duration, t0 and tolerances; the start, joint forces and parameters are those given here
        tau             joint forces, (nv,) or (B, nv)
        parameters      (P,) or (B, P), states of forces at the start the last of them; the model's own where there are none
        accelerations   nv more numbers at the end of every row

        A run that needs more than this is left, and its rows are nan: numbers that are not finite, steps that become too small,
        a singular position nearby, a stretch where 'auto' would look whether it is stiff, or any integrator whether it chatters,
        constraints that are not met at the end. The others go on; whoever wants that run calls `Runs.run`.
        """
        n = len(real_array(q, "q"))
        given = list(self.runs.d.structure.parameters.values()) if parameters is None else parameters
        own = self._rows(given, "parameters", n, self.np)
        forces = self._rows(np.zeros(self.nv) if tau is None else tau, "tau", n, self.nv)
        start = [self._rows(q, "q", n, self.nq), self._rows(v, "v", n, self.nv), own[:, self.np - self.nz :]]
        if not all(np.isfinite(x).all() for x in (*start, own, forces)):
            raise StateError("q, v, tau and parameters: expected finite numbers")
        t0, rtol, max_step = options.t0, options.rtol, options.max_step
        tolerances = tolerances_of_state(options.atol, self.nq + self.nv, self.nz)
        least = tolerances.min(initial=np.inf)
        if not rtol >= 0.0 or not least >= 0.0 or not rtol + least > 0.0 or not max_step > 0.0:
            raise MethodError("rtol and atol must not be negative, nor both zero, and max_step is positive")
        if n and not self._has_pivots:
            self.find_typical_pivots(start[0][0], t0, own[0])
        work, size = np.where(self._works, least, 1e300), len(tolerances)
        tolerances = np.concatenate([tolerances, work])
        starts, inputs = np.concatenate([*start, np.zeros((n, len(work)))], axis=1), np.concatenate([own, forces], axis=1)
        rates = slice(self.nq, self.nq + self.nv) if accelerations else slice(0)
        works, parts = forces.any(axis=1), []
        for acting in (False, True):  # these differ in the numbers over which errors are averaged
            at, numbers = np.flatnonzero(works == acting), size + len(_causes(self.runs, acting))
            span = (t0, options.end, times, rtol, tolerances, max_step, numbers, rates)
            parts.append((at, *self._lanes.run(starts[at], inputs[at], *span)))
        found, ended = _joined(parts)
        found = np.delete(found, slice(size, starts.shape[1]), axis=-1)
        ok = ended[:, 0] == DONE
        ok[ok] = self._closed(found[ok, -1, :size], own[ok], float(np.ravel(times)[-1])) if found.shape[1] else True
        found[~ok] = np.nan
        return found, ended[:, 1].astype(np.int64), ok

    # --- arrays ---------------------------------------------------------------------------------------------------------------
    def _arrays(self) -> Arrays:
        """State, derivative and inputs by their parts, a state in each lane."""
        lanes, v, z = host_lanes(), self.nq + self.nv, self.nq + self.nv + self.nz
        n = z + len(self._works)
        X, DX, own = np.zeros((n, lanes)), np.zeros((n, lanes)), np.zeros((self.np + self.nv, lanes))
        return {
            "X": X, "q": X[: self.nq], "v": X[self.nq : v], "z": X[v:z], "t": np.zeros((1, lanes)),
            "DX": DX, "rate": DX[: self.nq], "qdd": DX[self.nq : v], "more": DX[v:],
            "own": own, "parameter": own[: self.np], "tau": own[self.np :], "near": np.zeros((1, lanes)),
            "pivots": np.zeros((len(self.equations.table) if self.equations else 0, lanes)),
        }  # fmt: skip

    @staticmethod
    def _rows(x: ArrayLike, what: str, n: int, size: int) -> np.ndarray:
        given = real_array(x, what)
        if given.shape not in ((size,), (n, size)):
            raise StateError(f"{what}: expected ({n}, {size}), a row for each run, or ({size},); got {given.shape}")
        return np.ascontiguousarray(np.broadcast_to(given, (n, size)))

    # --- functions ------------------------------------------------------------------------------------------------------------
    def _carry(self, at: Arrays) -> list[Native]:
        """States of forces to where the equations read them."""
        return [native_copy([(at["z"], at["parameter"][self.np - self.nz :])], self._store)] if self.nz else []

    def _after_step(self, at: Arrays) -> list[Native]:
        if self.equations is None or self.runs.how.name != PROJECTION:
            return vector_normalize(self.runs.d.model, at["q"], at["t"], self._store)
        return [*self._carry(at), *self.equations.projector.vector(at)]

    def find_typical_pivots(self, q: np.ndarray, t: float, parameters: np.ndarray) -> None:
        """Find the typical pivots, without those of rows that always depend on others, at a position on the constraints: that of
        the first run of a study, in whatever process."""
        self._has_pivots = True
        if self.equations is None:
            return
        setup = replace(_setup(self.runs, 1), t0=t)
        code = straight_line_code(setup)
        assert code is not None
        one = StraightLine(setup, code).passage
        if one is not None:
            self._typical_pivots[:] = one.p.typical
            reads = self.equations.table.reads
            depends = np.ones(len(self._typical_pivots), dtype=bool)
            moved = 0.03 * np.where(parameters == 0.0, 1.0, parameters) * np.random.default_rng(13).uniform(0.5, 1.0, len(reads))
            beside = parameters + np.where(reads, moved, 0.0)
            for near in (parameters, beside) if reads.any() else (parameters,):  # with lengths of other runs too
                depends &= always_dependent(self.equations, q, t, near.tolist())
            self._typical_pivots[depends] = 0.0

    # --- the end --------------------------------------------------------------------------------------------------------------
    def _closed(self, x: np.ndarray, parameters: np.ndarray, t: float) -> np.ndarray:
        """Whether the constraints are met at the end, as of `Runs.run`."""
        if self.equations is None:
            return np.ones(len(x), dtype=bool)
        q, v, z = np.split(x, [self.nq, self.nq + self.nv], axis=1)
        there = np.concatenate([parameters[:, : self.np - self.nz], z], axis=1)
        return self.equations.table.relative_violation(q, v, np.full(len(x), t), there) <= self.runs.how.violation_limit


def _joined(parts: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Rows and ends of all runs, from those of some (their numbers first) and of the others."""
    some = [part for part in parts if len(part[0])] or parts[:1]
    if len(some) == 1:
        return some[0][1:]
    n = sum(len(at) for at, _, _ in parts)
    rows, ends = (np.empty((n, *x.shape[1:])) for x in parts[0][1:])
    for at, *found in parts:
        rows[at], ends[at] = found
    return rows, ends
