"""The passage of a run through singular positions: the arrays of passage.py and the functions that it calls.

Far from such positions two numbers a row are compared at every evaluation, and that is all. What is needed near them is traced
and compiled when a run first comes near one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backends.grouped import native_copy
from ..backends.llvm.runner import GraphRunner
from ..dialect.arithmetic import STEPPING
from ..dialect.native import Loop, Native, calls, from_python
from ..dialect.rows import Gathered, Scattered, gather, scatter
from ..dialect.storage import allocate
from ..trace import GraphTooLarge
from . import passage
from .constrained import ConstrainedEquations
from .derivative import trace_derivative
from .exact_loops import ExactLoops
from .passage import Passage
from .retraction import retract

MOST_CALLS = 1000
LIMIT = 200_000
"""Nodes of a graph in double-double: half a minute of compilation, once."""
SAMPLES = 16
"""Positions whose pivots are usual."""
ASSEMBLED, REACH, ITERATIONS, CLOSE, DEPENDENT = 4, 0.4, 50, 1e-10, 1e-7
"""For rows that always depend on others: positions on the constraints, how far from the present one they are sought, steps of
Newton's method, what they may leave, and the share of a row that the rows before it may leave."""

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Run:
    """What a run does far from singular positions, and its buffers."""

    X: np.ndarray
    DX: np.ndarray
    T: np.ndarray
    J: np.ndarray
    tau: np.ndarray
    parameters: np.ndarray
    pivots: np.ndarray
    """Inverse pivots of every state, or the factors they are the diagonal of."""
    n: int
    """States."""
    causes: tuple[str, ...]
    derivative: Sequence[Native]
    after_step: Sequence[Native]
    jacobian: Sequence[Native]
    one_state: Callable[[Arrays], Sequence[Native]]
    """The derivative of one state in arrays by name."""
    projects: bool
    """Whether states may be moved after a step."""
    backward: bool
    """In time."""
    failed: Callable[[BaseException], None]
    """Told of an exception in what was called from machine code."""


class SingularPassage:
    """`derivative`, `after_step` and `jacobian` are native functions to be called in place of those of the run."""

    def __init__(self, equations: ConstrainedEquations, run: Run) -> None:
        self.equations, self.structure, self.run = equations, equations.structure, run
        s, m, nw = self.structure, len(equations.table), len(run.causes)
        self.counted = np.ones(m)
        self.passes = run.projects
        """Whether singular positions are passed exactly; known once one is near."""
        self.seconds = 0.0
        """Of preparation during the run."""
        sizes = {"nq": s.nq, "nv": s.nv, "nw": nw, "npar": len(s.parameters), "m": m, "nc": MOST_CALLS, "nx": len(run.X)}
        sizes |= {"n1": s.nq + s.nv, "n2": s.nq + s.nv + nw, "nt": run.tau.size, "np": run.parameters.size}
        own: Any = allocate(Passage, sizes | {"nj": 0, "ni": 0})
        step = run.pivots.size // (run.n * m)
        self.p = p = own._replace(
            X=run.X, DX=run.DX, T=run.T, J=run.J, tau=run.tau.reshape(-1), parameter=run.parameters.reshape(-1),
            pivots=run.pivots.reshape(-1), usual=np.zeros(m), tally=np.zeros(9), layout=np.zeros(7, dtype=np.int64),
        )  # fmt: skip
        p.layout[:] = run.n, s.nq, s.nv, nw, 1 if step == 1 else m + 1, run.projects, -1 if run.backward else 1
        p.tally[passage.SETTLED] = -np.inf
        self._roles: dict[int, Sequence[Native]] = {
            passage.PLAIN: run.derivative, passage.AFTER: run.after_step, passage.JACOBIAN: run.jacobian,
            passage.PREPARE: [from_python(self._prepare)],
        }  # fmt: skip
        self._set_calls()
        store = equations.store
        entries = passage.derive, passage.settle, passage.jacobian
        self.derivative, self.after_step, self.jacobian = (
            Loop(entry, (Passage,), STEPPING, store=store).bind(p) for entry in entries
        )
        for native in (self.derivative, self.after_step, self.jacobian):
            native.keep_alive(self)
        p.usual[:] = self._usual()

    def _set_calls(self) -> None:
        """In place: machine code reads them at every call."""
        ordered = [list(self._roles.get(role, ())) for role in range(passage.JACOBIAN + 1)]
        together = [native for role in ordered for native in role]
        self.p.calls[: len(together)] = calls(together)
        self.p.first[:] = np.cumsum([0, *map(len, ordered)])

    # --- what happened --------------------------------------------------------------------------------------------------------
    @property
    def count(self) -> int:
        """How often a neighbourhood was entered."""
        return int(self.p.tally[passage.PASSAGES])

    @property
    def evaluations(self) -> int:
        """In double-double."""
        return int(self.p.tally[passage.EVALUATIONS])

    @property
    def nearest(self) -> tuple[float, float, str]:
        """The least σ, relative to what is usual, when, and which row depends on the others there."""
        s, t, row = self.p.tally[[passage.NEAREST, passage.NEAREST_T, passage.NEAREST_ROW]].tolist()
        return (s**-0.5 if s > 0.0 else np.inf), t, str(self.equations.table.rows[int(row)])

    @property
    def failures(self) -> tuple[int, float]:
        """Evaluations that had to be made as if the position were an ordinary one, and the time of the last."""
        return int(self.p.tally[passage.FAILED]), float(self.p.tally[passage.FAILED_T])

    # --- which rows count, and what is usual ----------------------------------------------------------------------------------
    def _usual(self) -> np.ndarray:
        """The median of every pivot over random positions, on the constraints or not."""
        run, s, p = self.run, self.structure, self.p
        rng = np.random.default_rng(11)
        before, found = (run.X.copy(), run.T.copy()), []
        step = int(p.layout[passage.STEP])
        for _ in range(-(-SAMPLES // run.n)):
            run.X[:] = 0.0
            run.X[: run.n * s.nq] = np.concatenate([self.equations.model.random_q(rng) for _ in range(run.n)])
            for native in run.derivative:
                native()
            found.append(p.pivots[::step].reshape(run.n, -1).copy())
        run.X[:], run.T[:] = before
        with np.errstate(all="ignore"):
            pivots = 1.0 / np.concatenate(found)
        known = [column[np.isfinite(column) & (column > 0.0)] for column in pivots.T]
        return np.array([np.median(column) if len(column) else 0.0 for column in known])

    def _always_dependent(self) -> np.ndarray:
        """Rows that the rows before them determine wherever the constraints are met, as far as samples tell."""
        e, s, p = self.equations, self.structure, self.p
        parameters = p.parameter[: len(s.parameters)].tolist()
        t, start = float(p.T[0]), p.kept[: s.nq].copy()
        rng = np.random.default_rng(12)
        if e.is_sparse:
            return self._dependent_by_pivots(start, rng)
        always, samples = np.ones(len(e.table), dtype=bool), 0
        for _ in range(4 * ASSEMBLED):
            q = _moved_on(e, start, t, parameters, REACH * rng.uniform(0.2, 1.0), rng)
            if q is not None:
                always &= _dependent(e.table.evaluate(q, np.zeros(s.nv), t, parameters)["J"])
                samples += 1
            if samples == ASSEMBLED or (samples and not always.any()):
                break
        return always & (samples > 0)

    def _dependent_by_pivots(self, start: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The same where no matrix has all rows: by the pivots of the elimination at positions some way along the freedoms."""
        e, s, p = self.equations, self.structure, self.p
        assert e.sparse is not None
        state = {"q": np.zeros(s.nq), "v": np.zeros(s.nv), "tau": np.zeros(s.nv), "t": p.T, "parameter": p.own_parameter}
        at = e.sparse.allocate(state)
        project, solve = e.projector.natives(at), e.sparse.chain(at)
        always, samples = np.ones(len(e.table), dtype=bool), 0
        for _ in range(ASSEMBLED):
            at["q"][:], at["v"][:] = start, rng.normal(size=s.nv)
            for native in project:
                native()
            at["q"][:] = retract(e.model, at["q"], REACH * rng.uniform(0.2, 1.0) * _unit(at["v"]), float(p.T[0]))
            at["v"][:] = 0.0
            for _ in range(ITERATIONS // 5):
                for native in project:
                    native()
            for native in solve:
                native()
            if np.isfinite(at["inverse"]).all() and np.abs(at["g"]).max(initial=0.0) < CLOSE:
                always &= p.usual * at["inverse"] > 1.0 / DEPENDENT
                samples += 1
        return always & (samples > 0)

    # --- when first needed ----------------------------------------------------------------------------------------------------
    def _prepare(self) -> None:
        """Called from machine code: must not raise."""
        begun = time.perf_counter()
        try:
            self.counted[self._always_dependent()] = 0.0
            self.p.usual[:] *= self.counted
            if self.run.projects:
                self._roles |= self._near()
        except GraphTooLarge:
            self.passes = False
            self.p.layout[passage.PROJECTED] = 0
        except BaseException as error:
            self.p.usual[:] = 0.0
            self.run.failed(error)
        self._roles[passage.PREPARE] = ()
        self._set_calls()
        self.seconds += time.perf_counter() - begun

    def _near(self) -> dict[int, Sequence[Native]]:
        e, s, p, run = self.equations, self.structure, self.p, self.run
        nq, nv = s.nq, s.nv
        one = {
            "q": p.x[:nq], "v": p.x[nq:], "t": run.T, "tau": p.own_tau, "parameter": p.own_parameter,
            "rate": p.dx[:nq], "qdd": p.dx[nq : nq + nv], "power": p.dx[nq + nv :],
        }  # fmt: skip
        counted = np.zeros((len(self.counted), 2))
        counted[:, 0] = self.counted
        two = {
            "q": p.q2, "v": p.v2, "t": p.t2, "tau": p.tau2, "parameter": p.parameter2, "counted": counted,
            "rate": p.rate2, "qdd": p.qdd2, "power": p.power2,
        }  # fmt: skip
        near = {passage.PROJECT: e.projector.natives(one), passage.DERIVE: run.one_state(one)}
        if e.is_sparse:
            return near | self._by_loops(two)
        position, speed, derivative = exact_code(e, run.causes)
        return near | {
            passage.POSITION: [position.bind({**two, "x": p.q2})],
            passage.SPEED: [speed.bind({**two, "x": p.v2})],
            passage.EXACT: [derivative.bind(two)],
        }

    def _by_loops(self, two: dict[str, np.ndarray]) -> dict[int, Sequence[Native]]:
        """Of models of any size."""
        e, s, p, run = self.equations, self.structure, self.p, self.run
        assert e.sparse is not None
        if s.drives or s.given:
            raise GraphTooLarge("functions of the user's in joints are not computed in double-double by loops")
        loops = ExactLoops(e.sparse, two, p.own_parameter, self.counted)
        # powers need no more digits: those of the derivative in double precision, at the first parts
        sizes = {"q": s.nq, "v": s.nv, "rate": s.nq, "qdd": s.nv, "power": len(run.causes)}
        one = {name: np.zeros(size) for name, size in sizes.items()}
        firsts = [
            Loop(gather, (Gathered,), STEPPING, store=e.store).bind(
                Gathered(two[n].reshape(-1), 2 * np.arange(len(one[n])), one[n])
            )
            for n in ("q", "v")
        ]
        inputs = {"t": run.T, "tau": p.own_tau, "parameter": p.own_parameter}
        places = 2 * np.arange(len(run.causes))
        powers = [
            native_copy([(np.zeros_like(p.power2), p.power2)], e.store),
            Loop(scatter, (Scattered,), STEPPING, store=e.store).bind(Scattered(one["power"], places, p.power2.reshape(-1))),
        ]
        derived = [*firsts, *run.one_state({**one, **inputs}), *powers] if run.causes else []
        return {
            passage.POSITION: loops.position(),
            passage.SPEED: loops.speed(),
            passage.EXACT: [*loops.derivative(p.qdd2, p.rate2), *derived],
        }


def exact_code(e: ConstrainedEquations, causes: Sequence[str]) -> tuple[GraphRunner, GraphRunner, GraphRunner]:
    """A Newton step of the coordinates, the correction of the speeds, and the derivative, in double-double; once for a model."""
    key = ("exact", e.method.name, tuple(causes), str(e.store.folder))
    if key not in e.structure.cached:
        derivative = trace_derivative(e.structure, e.method, bool(causes), "tau" in causes, LIMIT, e, exact=True)
        assert derivative.causes == tuple(causes)
        programs = (*e.projector.traced(True, LIMIT, counted=len(e.table)), derivative.traced)
        e.structure.cached[key] = tuple(GraphRunner(traced, store=e.store, pairs=True) for traced in programs)
    found: tuple[GraphRunner, GraphRunner, GraphRunner] = e.structure.cached[key]
    return found


def _moved_on(
    e: ConstrainedEquations, start: np.ndarray, t: float, parameters: list[float], reach: float, rng: np.random.Generator
) -> np.ndarray | None:
    """A position on the constraints some way along a freedom of the mechanism, where Newton's method finds one."""
    at_rest, q = np.zeros(e.structure.nv), start
    J = e.table.evaluate(q, at_rest, t, parameters)["J"]
    _, sizes, V = np.linalg.svd(J)
    free = V[int((sizes > 1e-6 * sizes.max(initial=0.0)).sum()) :]
    if not len(free):
        return None
    q = retract(e.model, q, reach * _unit(free.T @ rng.normal(size=len(free))), t)
    for _ in range(ITERATIONS):
        found = e.table.evaluate(q, at_rest, t, parameters)
        g, J = found["g"], found["J"][: len(found["g"])]
        if not np.isfinite(J).all() or not np.isfinite(g).all():
            return None
        if np.abs(g).max(initial=0.0) < CLOSE:
            return q
        q = retract(e.model, q, -np.linalg.lstsq(J, g, rcond=1e-6)[0], t)
    return None


def _unit(x: np.ndarray) -> np.ndarray:
    return x / np.abs(x).max()


def _dependent(J: np.ndarray) -> np.ndarray:
    """Which rows the rows before them determine."""
    out, basis = np.zeros(len(J), dtype=bool), np.zeros((0, J.shape[1]))
    for k, row in enumerate(J):
        length, left = np.linalg.norm(row), row
        for _ in range(2):  # once more, for what rounding has left
            left = left - basis.T @ (basis @ left)
        size = np.linalg.norm(left)
        out[k] = not size > DEPENDENT * length
        if not out[k]:
            basis = np.vstack([basis, left / size])
    return out
