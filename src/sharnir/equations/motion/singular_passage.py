"""The passage of a run through singular positions: the arrays of singular_step.py and the functions that it calls.

Far from such positions two numbers a row are compared at every evaluation, and that is all. What is needed near them is traced
and compiled when a run first comes near one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...backends import sizes
from ...backends.graph_function import GraphFunction
from ...backends.grouped import native_add_to_pairs, native_copy, native_rounded
from ...dialect.arithmetic import STEPPING
from ...dialect.cache import Cache
from ...dialect.native import Loop, Native, bind_kernel, calls, from_python
from ...dialect.storage import allocate
from ...model.per_structure import per_structure
from ...model.structure import Structure
from ...trace import GraphTooLarge
from ..kernels import singular_step
from ..kernels.singular_step import Passage
from ..rows.constraint_families import SPEED
from ..rows.one_constraint import label_of
from .constrained import ConstrainedEquations
from .derivative import trace_derivative
from .share import always_dependent
from .sparse import ExactLoops

MOST_CALLS = 1000
SAMPLES, FEW = 16, 5
"""Positions that typical pivots are taken from; interpreted."""
TIMES = 10.0
"""Pivots above so many times the least mobility of a row are not small, however large they are elsewhere."""
Arrays = Mapping[str, np.ndarray]
ExactCode = tuple[GraphFunction, GraphFunction, GraphFunction]


@dataclass(frozen=True)
class Run:
    """The functions of a run far from singular positions, and its buffers."""

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
    more: tuple[str, ...]
    """The entries of the state after q and v: states of forces, and the work of every cause."""
    derivative: Sequence[Native]
    after_step: Sequence[Native]
    jacobian: Sequence[Native]
    one_state: Callable[[Arrays], Sequence[Native]]
    """The derivative of one state in arrays by name."""
    projects: bool
    """Whether states may be moved after a step."""
    backward: bool
    """Whether time runs backward."""
    failed: Callable[[BaseException], None]
    """Called with an exception raised in a function called from machine code."""
    compiled: bool = True
    """Whether functions are compiled, or interpreted as the derivative is."""


class SingularPassage:
    """`derivative`, `after_step` and, where the run has one, `jacobian` are native functions in place of those of the run."""

    def __init__(self, equations: ConstrainedEquations, run: Run) -> None:
        self.equations, self.structure, self.run = equations, equations.structure, run
        s, m, nw = self.structure, len(equations.table), len(run.more)
        self.counted = np.ones(m)
        self.passes = run.projects
        """Whether singular positions are passed exactly; known once one is near."""
        self.seconds = 0.0
        """Time of preparation during the run."""
        sizes = {"nq": s.nq, "nv": s.nv, "nw": nw, "npar": len(s.parameters), "m": m, "nc": MOST_CALLS, "nx": len(run.X)}
        sizes |= {"n1": s.nq + s.nv, "n2": s.nq + s.nv + nw, "nt": run.tau.size, "np": run.parameters.size}
        own: Any = allocate(Passage, sizes | {"nj": 0, "ni": 0})
        step = run.pivots.size // (run.n * m) if m else 1
        self.p = p = own._replace(
            X=run.X, DX=run.DX, T=run.T, J=run.J, tau=run.tau.reshape(-1), parameter=run.parameters.reshape(-1),
            pivots=run.pivots.reshape(-1), typical=np.zeros(m), tally=np.zeros(9), layout=np.zeros(7, dtype=np.int64),
        )  # fmt: skip
        p.layout[:] = run.n, s.nq, s.nv, nw, 1 if step == 1 else m + 1, run.projects, -1 if run.backward else 1
        p.tally[singular_step.SETTLED] = -np.inf
        self._roles: dict[int, Sequence[Native]] = {
            singular_step.PLAIN: run.derivative, singular_step.AFTER: run.after_step, singular_step.JACOBIAN: run.jacobian,
            singular_step.PREPARE: [from_python(self._prepare)],
        }  # fmt: skip
        self._set_calls()
        self.derivative = self._native(singular_step.derive)
        self.after_step = self._native(singular_step.settle, self.derivative)
        self.jacobian = [self._native(singular_step.jacobian, self.derivative)] if run.jacobian else []
        p.typical[:] = _typical_pivots(self, equations.method.name, run.compiled)
        p.typical[self._switched()] = 0.0
        shared = ("X", "DX", "T", "J", "tau", "parameter", "pivots", "calls", "first")
        self._fresh = {name: x.copy() for name, x in p._asdict().items() if name not in shared}
        self._first_roles = dict(self._roles)

    def renew(self) -> None:
        """The state before the first run. What was compiled for singular positions is found again where it is needed."""
        for name, x in self._fresh.items():
            getattr(self.p, name)[...] = x
        self.counted[:] = 1.0
        self.passes, self.seconds = self.run.projects, 0.0
        self._roles = {**self._first_roles, singular_step.JACOBIAN: self._roles[singular_step.JACOBIAN]}
        self._set_calls()

    def _switched(self) -> np.ndarray:
        """Rows that come and go."""
        table = self.equations.table
        labels = {label_of(name, x) for name, x in self.equations.model.constraints.items() if x.switched}
        return np.array([row.owner in labels for row in table.rows], dtype=bool)

    def _native(self, entry: Callable[[Passage], int], like: Native | None = None) -> Native:
        store = self.equations.store
        if like is None or not self.run.compiled:
            native = bind_kernel(entry, self.p, store=store, compiled=self.run.compiled)
        else:
            native = Loop(entry, (Passage,), STEPPING, store=store).bind_like(like)
        native.keep_alive(self)
        return native

    def _set_calls(self) -> None:
        """Set the calls in place: machine code reads them at every call."""
        ordered = [list(self._roles.get(role, ())) for role in range(singular_step.JACOBIAN + 1)]
        together = [native for role in ordered for native in role]
        self.p.calls[: len(together)] = calls(together)
        self.p.first[:] = np.cumsum([0, *map(len, ordered)])

    def with_jacobian(self, natives: Sequence[Native]) -> list[Native]:
        """`jacobian` where the run gets its own later."""
        self._roles[singular_step.JACOBIAN] = natives
        self._set_calls()
        self.jacobian = [self._native(singular_step.jacobian, self.derivative)] if natives else []
        return self.jacobian

    # --- what happened --------------------------------------------------------------------------------------------------------
    @property
    def count(self) -> int:
        """Number of neighbourhoods of singular positions that were entered."""
        return int(self.p.tally[singular_step.PASSAGES])

    @property
    def evaluations(self) -> int:
        """Number of evaluations in double-double arithmetic."""
        return int(self.p.tally[singular_step.EVALUATIONS])

    @property
    def nearest(self) -> float:
        """The least σ, relative to its typical value."""
        s = float(self.p.tally[singular_step.NEAREST])
        return s**-0.5 if s > 0.0 else np.inf

    @property
    def first(self) -> tuple[float, str]:
        """When a neighbourhood was first entered, and which row depends on the others there."""
        row = self.equations.table.rows[int(self.p.tally[singular_step.FIRST_ROW])]
        return float(self.p.tally[singular_step.FIRST_T]), str(row)

    @property
    def failures(self) -> tuple[int, float]:
        """Evaluations that had to be made as if the position were an ordinary one, and the time of the last."""
        return int(self.p.tally[singular_step.FAILED]), float(self.p.tally[singular_step.FAILED_T])

    # --- which rows count, and typical pivots ----------------------------------------------------------------------------------
    def _sampled_pivots(self, samples: int) -> np.ndarray:
        """The median of every pivot over random positions, on the constraints or not."""
        run, s, p = self.run, self.structure, self.p
        rng = np.random.default_rng(11)
        before, found = (run.X.copy(), run.T.copy(), run.parameters.copy()), []
        if run.parameters.size:  # those of the model: typical pivots do not depend on the run that asked first
            run.parameters[...] = list(s.parameters.values())
        step = int(p.layout[singular_step.STEP])
        for _ in range(-(-samples // run.n)):
            run.X[:] = 0.0
            run.X[: run.n * s.nq] = np.concatenate([self.equations.model.random_q(rng) for _ in range(run.n)])
            for native in run.derivative:
                native()
            found.append(p.pivots[::step].reshape(run.n, -1).copy())
        run.X[:], run.T[:], run.parameters[...] = before
        with np.errstate(all="ignore"):
            pivots = 1.0 / np.concatenate(found)
        known = [column[np.isfinite(column) & (column > 0.0)] for column in pivots.T]
        return np.minimum([np.median(column) if len(column) else 0.0 for column in known], TIMES * self._least_mobility())

    def _least_mobility(self) -> np.ndarray:
        """The mobility of every row if all bodies moved as one: long chains are far more mobile than that in most positions,
        and far from singular in positions where they are not. Elastic speeds do not count: what slopes do to a row open by
        metres says nothing of closed positions."""
        s, rows = self.structure, self.equations.table.on_bodies
        links = rows.links
        bending = np.repeat((links.kind == SPEED) & np.isin(links.target, s.elastic_speeds), np.diff(links.at))
        rng = np.random.default_rng(11)
        q = np.array([self.equations.model.random_q(rng) for _ in range(FEW)])
        motion = rows.motion.rows(q, np.zeros((FEW, s.nv)), np.full(FEW, self.run.T[0]))
        K = np.nan_to_num(rows.at(motion, ("K",))["K"]) ** 2
        m, at = s.tree.mass, rows.layout.at["r"]
        r = motion[:, at : at + 3 * len(m)].reshape(FEW, -1, 3)
        spread = (((r - np.average(r, axis=1, weights=m + 1e-300)[:, None]) ** 2).sum(axis=2) @ m).mean()
        inertia = float(s.tree.inertia[:, :3].sum()) / 3.0 + spread

        def of(which: np.ndarray) -> np.ndarray:
            return np.median([np.bincount(rows.row_of_K, x * which, len(rows)) for x in K], axis=0)

        shifting, turning = of(~rows.angular_K & ~bending), of(rows.angular_K)  # rows of position have arms too, long where open
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(shifting > 0.0, shifting / m.sum(), turning / inertia)

    # --- when first needed ----------------------------------------------------------------------------------------------------
    def _prepare(self) -> None:
        """Called from machine code: must not raise."""
        begun, e, p = time.perf_counter(), self.equations, self.p
        parameters = p.parameter[: len(e.structure.parameters)].tolist()
        try:
            known, read = _dependent_rows(e.structure, e.sparse is not None), np.array(parameters)[e.table.reads].tobytes()
            if read not in known:
                found = always_dependent(e, p.kept[: e.structure.nq].copy(), float(p.T[0]), parameters)
                known.clear()
                known[read] = found
            self.counted[known[read] & ~self._switched()] = 0.0
            self.p.typical[:] *= self.counted
            if self.run.projects:
                self._roles |= self._near()
        except GraphTooLarge:
            self.passes = False
            self.p.layout[singular_step.PROJECTED] = 0
        except BaseException as error:
            self.p.typical[:] = 0.0
            self.run.failed(error)
        self._roles[singular_step.PREPARE] = ()
        self._set_calls()
        self.seconds += time.perf_counter() - begun

    def _near(self) -> dict[int, Sequence[Native]]:
        e, s, p, run = self.equations, self.structure, self.p, self.run
        nq, nv = s.nq, s.nv
        one = {
            "q": p.x[:nq], "v": p.x[nq:], "t": run.T, "tau": p.own_tau, "parameter": p.own_parameter,
            "rate": p.dx[:nq], "qdd": p.dx[nq : nq + nv], "more": p.dx[nq + nv :],
        }  # fmt: skip
        counted = np.zeros((len(self.counted), 2))
        counted[:, 0] = self.counted
        two = {
            "q": p.q2, "v": p.v2, "t": p.t2, "tau": p.tau2, "parameter": p.parameter2, "counted": counted,
            "rate": p.rate2, "qdd": p.qdd2, "more": p.more2,
        }  # fmt: skip
        near = {singular_step.PROJECT: e.projector.natives(one), singular_step.DERIVE: run.one_state(one)}
        if e.is_sparse:
            return near | self._by_loops(two)
        position, speed, derivative = exact_code(e, e.store, e.method.name, run.more)
        return near | {
            singular_step.POSITION: [position.bind({**two, "x": p.q2}, pairs=True)],
            singular_step.SPEED: [speed.bind({**two, "x": p.v2}, pairs=True)],
            singular_step.EXACT: [derivative.bind(two, pairs=True)],
        }

    def _by_loops(self, two: dict[str, np.ndarray]) -> dict[int, Sequence[Native]]:
        """Functions near singular positions for models of any size."""
        e, s, p, run = self.equations, self.structure, self.p, self.run
        assert e.sparse is not None
        if s.drives or s.given:
            raise GraphTooLarge("functions of the user's in joints are not computed in double-double by loops")
        loops = ExactLoops(e.sparse, two, p.own_parameter, self.counted)
        # powers need no more digits: those of the derivative in double precision, at the first parts
        sizes = {"q": s.nq, "v": s.nv, "rate": s.nq, "qdd": s.nv, "more": len(run.more)}
        one = {name: np.zeros(size) for name, size in sizes.items()}
        rounded = [native_rounded(two[name], one[name], e.store) for name in ("q", "v")]
        inputs = {"t": run.T, "tau": p.own_tau, "parameter": p.own_parameter}
        cleared = native_copy([(np.zeros_like(p.more2), p.more2)], e.store)
        powers = [cleared, native_add_to_pairs(one["more"], p.more2, e.store)]
        derived = [*rounded, *run.one_state({**one, **inputs}), *powers] if run.more else []
        return {
            singular_step.POSITION: loops.position(),
            singular_step.SPEED: loops.speed(),
            singular_step.EXACT: [*loops.derivative(p.qdd2, p.rate2), *derived],
        }


@per_structure
def exact_code(e: ConstrainedEquations, store: Cache, method: str, more: tuple[str, ...]) -> ExactCode:
    """A Newton step of the coordinates, the correction of the speeds, and the derivative, for double-double; once for a model and
    the entries of its state behind q and v."""
    if not e.sparse and sizes.dense_operations(e.sizes["n"], e.sizes["m"]) > sizes.DENSE_OPERATIONS:
        raise GraphTooLarge
    causes = tuple(more[len(e.structure.states) :])
    rates = trace_derivative(
        e.structure, e.method, bool(causes), "tau" in causes, sizes.DOUBLE_DOUBLE, e, exact=True, store=store
    )
    assert rates.causes == causes
    return *e.projector.steps(True, sizes.DOUBLE_DOUBLE, counted=len(e.table)), rates.code


# --- kept with a structure
@per_structure
def _typical_pivots(passage: SingularPassage, method: str, compiled: bool) -> np.ndarray:
    """Typical pivots by method, and whether from compiled code, which takes more samples."""
    return passage._sampled_pivots(SAMPLES if compiled else FEW)


@per_structure
def _dependent_rows(structure: Structure, sparse: bool) -> dict[bytes, np.ndarray]:
    """Rows that always depend on others, at the last values of the parameters that rows read."""
    return {}
