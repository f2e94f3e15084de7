"""Closed systems of any size: separate bodies, multipliers among the unknowns that bodies share; also in double-double.

Rows are those on the bodies (`body_rows.py`), the elimination is a program (`programs/kernels/closed.py`); nothing here is a
matrix over all coordinates, so that time and memory grow with the number of bodies and constraints. docs/theory/solving.md (D7)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...backends.grouped import native_add, native_add_to_pairs, native_copy, native_rounded, native_take
from ...backends.grouped_forces import finite
from ...backends.loops import LoopRunner, exact_program, grouped_forces
from ...backends.run import Values, evaluate
from ...dialect.cache import Cache
from ...dialect.native import Native, bind_kernel
from ...kernels.constrained import EXACT
from ...model.model import Model
from ...programs import CLOSED, PROGRAMS
from ...programs.kernels.closed import ForwardOut
from ...programs.program import Program
from ...trace import Number
from ..kernels.projection import NEWTON_STEPS
from ..kernels.solution import DriftingRows, decaying
from ..rows.body_rows import BodyRows, RowsOnBodies, body_rows
from .retraction import native_retract
from .share import closed_structure, share_of

FORWARD, CORRECTION = CLOSED["closed/forward/separate"], CLOSED["closed/correction"]


class SparseEquations:
    """The equations of one model with constraints, by elimination."""

    def __init__(self, model: Model, store: Cache | None = None) -> None:
        self.model, self.store = model, store or Cache()
        self.rows: BodyRows = body_rows(model)
        self.structure = closed_structure(model)
        self.share = share_of(model)
        self._runners: dict[tuple[tuple[str, ...], bool], Elimination] = {}

    # --- on generic scalars ---------------------------------------------------------------------------------------------
    def trace(self, values: Values, dtype: type) -> RowsOnBodies:
        """The rows; those that are not `counted` in `values` are zero."""
        rows = self.rows.trace(values, dtype)
        if "counted" not in values:
            return rows
        counted = values["counted"]
        g, rate, gamma = ([x * k for x, k in zip(part, counted, strict=False)] for part in (rows.g, rows.rate, rows.gamma))
        return RowsOnBodies(g, rate, gamma, [x * counted[k] for x, k in zip(rows.K, self.rows.row_of_K.tolist(), strict=True)])

    def accelerations(
        self, values: Values, gamma: Sequence[Number], K: Sequence[Number], dtype: type, exact: bool = False
    ) -> ForwardOut:
        """Accelerations and multipliers from gamma and K of the rows on the bodies. exact: for double-double arithmetic."""
        return evaluate(
            self.structure, FORWARD, {**values, "gamma": gamma, "K": K, "share": [EXACT if exact else self.share]}, dtype
        )

    def correction(self, values: Values, gap: Sequence[Number], K: Sequence[Number], dtype: type, exact: bool = False) -> Any:
        """The small motion, least in the metric of the masses, along which the rows change by -gap; of rows without one, 0."""
        gap = [*gap, *[0.0] * (len(self.rows) - len(gap))]
        share = [EXACT if exact else self.share]
        return evaluate(self.structure, CORRECTION, {**values, "gap": gap, "K": K, "share": share}, dtype).delta

    # --- compiled: one state ------------------------------------------------------------------------------------------------
    def allocate(self, at: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Arrays for everything between a state and its accelerations, beside those that are given."""
        s, m = self.structure, len(self.rows)
        sizes = {**self.rows.sizes, "row rate": m, "lam": m, "inverse": m, "qdd": s.nv, "delta": s.nv}
        own = {name: np.zeros(size) for name, size in sizes.items() if name not in ("rate", "speed")}
        return {**own, "parameter": np.array(list(s.parameters.values()), dtype=float), **at}

    def chain(self, at: Mapping[str, np.ndarray], decay: np.ndarray | None = None) -> list[Native]:
        """Native functions from q, v, tau, t, parameter (and wrench, where it is given) to qdd and lam. `decay`: Baumgarte's."""
        natives = self._rows(at)
        if decay is not None:
            rows = DriftingRows(at["gamma"], at["g"], at["row rate"], decay)
            natives.append(bind_kernel(decaying, rows, store=self.store))
        return [*natives, *self.forward_loops["wrench" in at].chain(at)]

    def projection(self, at: Mapping[str, np.ndarray]) -> list[Native]:
        """Native functions that project the state in q and v, in place. (L8), (L9)"""
        at = self.allocate(at)
        gap = np.zeros(len(self.rows))
        at |= {"gap": gap}
        retract = native_retract(self.model, at, at["delta"], self.store)
        step = [*self._rows(at), self._copied(at["g"], gap), *self._correction.chain(at), retract]
        faster = native_add(at["delta"], np.arange(len(at["v"]), dtype=np.int64), at["v"], self.store)
        return [*step * NEWTON_STEPS, *self._rows(at), self._copied(at["row rate"], gap), *self._correction.chain(at), faster]

    def _rows(self, at: Mapping[str, np.ndarray]) -> list[Native]:
        given = {name: at[name] for name in ("q", "v", "t", "parameter", "g", "gamma", "K")} | {"rate": at["row rate"]}
        return self.rows.chain(given, self.store)

    def _copied(self, x: np.ndarray, y: np.ndarray) -> Native:
        """y = x, and zero beyond: rows of speeds have no residual of position."""
        zeros = np.zeros(len(y) - len(x))
        return native_copy([(x, y[: len(x)]), (zeros, y[len(x) :])], self.store)

    @cached_property
    def forward_loops(self) -> dict[bool, LoopRunner]:
        """Without and with wrenches."""
        none: Any = {"wrench": np.zeros(6 * (self.structure.nb + 1))}
        return {given: self._runner(FORWARD, {} if given else none) for given in (False, True)}

    @cached_property
    def _correction(self) -> LoopRunner:
        return self._runner(CORRECTION, {})

    def _runner(self, program: Program, constant: dict[str, Any]) -> LoopRunner:
        return LoopRunner(program, self.structure, constant={**constant, "share": [self.share]}, store=self.store)

    # --- compiled: questions ------------------------------------------------------------------------------------------------
    def runner(self, outputs: tuple[str, ...] = ("qdd", "lam"), wrenches: bool = False) -> Elimination:
        """Accelerations "qdd" and multipliers "lam" from q, v, tau, t, and where there are any wrench and parameter."""
        if (outputs, wrenches) not in self._runners:
            self._runners[outputs, wrenches] = Elimination(self, outputs, wrenches)
        return self._runners[outputs, wrenches]


class Elimination:
    """The solution by elimination as a runner: one state by native functions in a row, many on lanes."""

    def __init__(self, equations: SparseEquations, outputs: tuple[str, ...], wrenches: bool) -> None:
        s, self.equations = equations.structure, equations
        self.inputs = {"q": s.nq, "v": s.nv, "tau": s.nv}
        self.inputs |= {"wrench": 6 * (s.nb + 1)} if wrenches else {}
        self.inputs |= {"parameter": len(s.parameters)} if s.parameters else {}
        self.inputs["t"] = 1
        sizes = {"qdd": s.nv, "lam": len(equations.rows)}
        self.outputs: dict[str, tuple[int, ...]] = {name: (sizes[name],) for name in outputs}

    def chain(self, arrays: Mapping[str, np.ndarray], threads: int = 1) -> list[Native]:
        """One state, in these arrays."""
        at = self.equations.allocate({name: x for name, x in arrays.items() if name != "check"})
        return [*self.equations.chain(at), *finite(arrays, self)]

    def run(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], threads: int = 1) -> None:
        """n states: inputs (n, size) or (1, size)."""
        given = dict(zip(self.inputs, inputs, strict=True))
        q, v = (np.broadcast_to(given[name], (n, given[name].shape[1])) for name in ("q", "v"))
        t = np.broadcast_to(given["t"], (n, 1))
        found = self.equations.rows.evaluate(q, v, t, given.get("parameter"), ("gamma", "K"))
        runner, rows = self.equations.forward_loops["wrench" in given], {**given, **found}
        wanted = dict(zip(self.outputs, outputs, strict=True))
        out = [wanted[name] if name in wanted else np.empty((n, *shape)) for name, shape in runner.outputs.items()]
        runner.run(n, [np.ascontiguousarray(rows[name], dtype=float) for name in runner.inputs], out, threads)


# --- in double-double arithmetic
Arrays = Mapping[str, np.ndarray]


class ExactLoops:
    """The programs and rows above on arrays of pairs (…, 2): native functions on the state in the arrays `two` (q, v, t, tau,
    parameter). `parameters`: plain numbers; `counted`: 0 for rows that are left out.

    Only what the constraints depend on needs the digits: forces are computed from the first parts, in double precision."""

    def __init__(self, sparse: SparseEquations, two: Arrays, parameters: np.ndarray, counted: np.ndarray) -> None:
        self.sparse, self.two, self.parameters = sparse, two, parameters
        s, rows = sparse.structure, sparse.rows
        self.structure, self.store = s, sparse.store
        sizes = {**rows.sizes, "gap": len(rows), "delta": s.nv}
        self.rows = {name: np.zeros((sizes[name], 2)) for name in ("g", "rate", "gamma", "K", "gap", "delta")}
        self.share = np.array([[EXACT, 0.0]])
        self._masks = {name: np.zeros(0, dtype=np.int64) for name in self.rows}
        if not counted.all():
            of = {"g": np.arange(sizes["g"]), "rate": np.arange(len(rows)), "gamma": np.arange(len(rows))}
            of["K"] = rows.row_of_K
            self._masks |= {name: np.flatnonzero(counted[x] == 0.0) for name, x in of.items()}

    def _evaluated(self) -> list[Native]:
        layout = self.sparse.rows.layout
        flat = np.zeros((sum(layout.sizes.values()), 2))
        parts = {name: flat[at : at + layout.sizes[name]] for name, at in layout.at.items()}
        state = [(self.two[name], parts[name]) for name in ("t", "q", "v", "parameter")]
        bodies = self._program(PROGRAMS["motion"], {**self.two, **{name: parts[name] for name in ("r", "G", "velocity")}})
        found = {name: self.rows[name] for name in ("g", "rate", "gamma", "K")}
        return [native_copy(state, self.store), *bodies, *self.sparse.rows.exact_chain(flat, found, self.store), *self._masked()]

    def _masked(self) -> list[Native]:
        """Zeros in the place of rows that are left out."""
        out = []
        for name, places in self._masks.items():
            if len(places):
                x = self.rows[name].reshape(-1)
                keep = np.setdiff1d(np.arange(x.size), np.concatenate([2 * places, 2 * places + 1]))
                kept = np.zeros(len(keep))
                out += [
                    native_take(x, keep, kept, self.store),
                    native_copy([(np.zeros(x.size), x)], self.store),
                    native_add(kept, keep, x, self.store),
                ]
        return out

    def _program(self, program: Program, arrays: Arrays) -> list[Native]:
        return exact_program(program, self.structure, arrays, self.parameters, self.store)

    def _corrected(self, name: str) -> list[Native]:
        """rows["delta"]: what makes the rows of that name vanish."""
        gap, x = self.rows["gap"], self.rows[name]
        copied = native_copy([(x, gap[: len(x)]), (np.zeros((len(gap) - len(x), 2)), gap[len(x) :])], self.store)
        arrays = {**self.two, "K": self.rows["K"], "gap": gap, "share": self.share, "delta": self.rows["delta"]}
        return [*self._evaluated(), copied, *self._program(CLOSED["closed/correction"], arrays)]

    def position(self) -> list[Native]:
        moved = native_retract(self.sparse.model, self.two, self.rows["delta"], self.store, pairs=True)
        return [*self._corrected("g"), moved]

    def speed(self) -> list[Native]:
        everywhere = np.arange(self.structure.nv, dtype=np.int64)
        return [*self._corrected("rate"), native_add(self.rows["delta"], everywhere, self.two["v"], self.store, pairs=True)]

    def derivative(self, qdd: np.ndarray, rate: np.ndarray) -> list[Native]:
        """Accelerations and rates of the coordinates, pairs."""
        s = self.structure
        wrench, tau = np.zeros((6 * (s.nb + 1), 2)), np.zeros((s.nv, 2))
        arrays = {
            **self.two, "tau": tau, "wrench": wrench, "K": self.rows["K"], "gamma": self.rows["gamma"], "share": self.share,
            "qdd": qdd, "rate": rate,
        }  # fmt: skip
        forward = self._program(CLOSED["closed/forward/separate"], arrays)
        return [*self._evaluated(), *self._loads(wrench, tau), *forward, *self._program(PROGRAMS["rates"], arrays)]

    def _loads(self, wrench: np.ndarray, tau: np.ndarray) -> list[Native]:
        """Forces of the model and joint forces as pairs."""
        s, two = self.structure, self.two
        out = [native_copy([(two["tau"], tau), (np.zeros_like(wrench), wrench)], self.store)]
        if not s.forces:
            return out
        first = {name: np.zeros(len(two[name])) for name in ("t", "q", "v", "parameter")}
        out += [native_rounded(two[name], x, self.store) for name, x in first.items()]
        layout = s.forces.layout
        push = np.zeros(layout.pushes)
        out += grouped_forces(s, self.store).chain(first, {"push": push})
        for target, part in ((wrench, push[: layout.load_at]), (tau, push[layout.load_at : layout.rate_at])):
            out.append(native_add_to_pairs(part, target, self.store))
        return out
