"""The equations of a tree with constraints: M v̇ = right + Jᵀλ, J v̇ + γ = 0.

Up to some size they are one graph with the solution in it, straight-line code for one state or a batch. Beyond, only the
equations at a state are straight-line code, and their solution is a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..backends.llvm.runner import GraphRunner
from ..backends.traced import TracedProgram
from ..dialect.arithmetic import STEPPING
from ..dialect.cache import Cache
from ..dialect.native import Loop
from ..dialect.storage import allocate
from ..errors import MethodError, known
from ..forms.closed import CLOSED_FORMS
from ..forms.matrices import Matrices
from ..kernels.constrained import ON_FORCES
from ..model.model import Model
from ..programs.methods import METHODS, Method
from ..trace import Graph, GraphTooLarge, Number, Symbol
from . import solution
from .constraint_table import table_of
from .evaluation import Values, evaluate, state_inputs
from .partition import Partition, reconsider, recover
from .projection import Projected, project_by_calls
from .projector import Projector
from .retraction import displacement
from .solution import ConstrainedState, Responses, StabilisationTerms

LIMIT = 40_000
"""Nodes of a graph beyond which the solution is a loop. The equations at a state are straight-line code even then, so that
less is saved by it than in a tree."""

LOOPS: dict[Callable[..., int], tuple[type, ...]] = {
    solution.solve: (ConstrainedState,),
    solution.solve_baumgarte: (ConstrainedState, StabilisationTerms),
    solution.solve_ggl: (ConstrainedState, StabilisationTerms),
    solution.find_responses: (Responses,),
    project_by_calls: (ConstrainedState, Projected),
    recover: (Partition,),
    reconsider: (Partition,),
}
"""Functions for models too large for one graph, and the groups of arrays they take."""


class ConstrainedEquations:
    """Of one model by one method. `table` names the rows."""

    def __init__(self, model: Model, method: Method, backend: str = "auto", store: Cache | None = None) -> None:
        self.model, self.structure = model, model.structure
        if not method.constrains:
            able = known(name for name, other in METHODS.items() if other.constrains)
            raise MethodError(f"method {method.name!r} does not handle closed loops and constraints; choose {able}")
        self.form = CLOSED_FORMS[method.name] if method.constrains == "form" else None
        """A dense matrix form, where the method is one; then the equations are those of "composite"."""
        self.method = METHODS["composite"] if self.form else method
        self.by_sweeps = self.method.constrains == "sweeps"
        """Whether W = M⁻¹Jᵀ comes from sweeps over the tree and not from an inertia matrix."""
        self.backend = "python" if backend == "python" else "llvm"
        self.table = table_of(model)
        self.store = store or Cache()
        s = self.structure
        self.sizes = {"n": s.nv, "nq": s.nq, "m": len(self.table), "mh": self.table.n_holonomic}
        self.sizes["nm"] = 0 if self.by_sweeps else s.nv
        self._functions: dict[tuple[bool, bool], GraphRunner] = {}
        self._whole: dict[bool, tuple[Graph, dict[str, tuple[Symbol, ...]], ConstrainedState]] = {}

    def allocate(self) -> ConstrainedState:
        """Arrays for compiled code."""
        return allocate(ConstrainedState, self.sizes)

    def empty(self, dtype: type) -> ConstrainedState:
        """Arrays of numbers of any kind."""
        return allocate(ConstrainedState, self.sizes, lambda shape: np.full(shape, np.nan, dtype=dtype))

    # --- the equations at a state -------------------------------------------------------------------------------------------
    def state(self, values: Values, dtype: type) -> ConstrainedState:
        """Everything in `ConstrainedState` that follows from q, v, tau, wrench, parameter and t, on numbers of any kind."""
        c = self.empty(dtype)
        self.fill(c, values, dtype)
        return c

    def fill(self, c: ConstrainedState, values: Values, dtype: type) -> None:
        s = self.structure
        values = {"wrench": [0.0] * (6 * (s.nb + 1)), "tau": [0.0] * s.nv, **values}

        def put(target: Any, numbers: Iterable[Number]) -> None:
            target.reshape(-1)[:] = list(numbers)

        rows = self.table.trace(values)
        counted = values.get("counted", [1.0] * len(rows.J))  # 0 where a row is left out
        J = [[x * k for x in row] for row, k in zip(rows.J, counted, strict=True)]
        if self.by_sweeps:
            put(c.free, evaluate(s, "forward/separate", values, dtype).qdd)
            at_rest = evaluate(s, "speeds", {**values, "p": [0.0] * s.nv}, dtype).v
            for k, row in enumerate(J):
                put(c.W[k], evaluate(s, "speeds", {**values, "p": row}, dtype).v - at_rest)
        else:
            put(c.M, evaluate(s, f"inertia/{self.method.inertia}", values, dtype).M.ravel())
            put(c.right, (x - h for x, h in zip(values["tau"], evaluate(s, "bias", values, dtype).h, strict=True)))
        put(c.J, (x for row in J for x in row))
        put(c.gamma, (x * k for x, k in zip(rows.gamma, counted, strict=True)))
        put(c.g, (x * k for x, k in zip(rows.g, counted, strict=False)))
        put(c.rate, (x * k for x, k in zip(rows.rate, counted, strict=True)))
        put(c.qrate, evaluate(s, "rates", values, dtype).rate)

    def inputs(self, graph: Graph, wrenches: bool = False) -> dict[str, tuple[Symbol, ...]]:
        s = self.structure
        inputs = state_inputs(s, graph, tau=s.nv)
        return inputs | {"wrench": tuple(graph.inputs(6 * (s.nb + 1)))} if wrenches else inputs

    # --- accelerations ------------------------------------------------------------------------------------------------------
    def accelerations(
        self, values: Values, dtype: type = object, stabilisation: str = "", share: float = ON_FORCES
    ) -> ConstrainedState:
        """With qdd, lam, and in qrate the rates of the coordinates, on numbers of any kind. Where `stabilisation` is
        "baumgarte" or "ggl", `values` have its `decay`. `share`: what is added to the diagonal of S (kernels/constrained.py)."""
        c = self.state(values, dtype)
        solution.weights(c)
        self._stabilise(c, values, dtype, stabilisation)
        solution.solve_weighted(c, share)
        return c

    def _stabilise(self, c: ConstrainedState, values: Values, dtype: type, name: str) -> None:
        def displace(c: Any, s: Any) -> None:
            s.dq[:] = displacement(self.structure, values["q"], c.delta.tolist(), values["t"], dtype)
            s.change[:] = self.table.rate_along(values, s.dq.tolist())

        if not name:
            return
        decay: np.ndarray = np.array(values["decay"], dtype=dtype)
        sizes = self.sizes | {"nd": len(decay), "nc": 0}
        terms = allocate(StabilisationTerms, sizes, lambda shape: np.full(shape, np.nan, dtype=dtype))._replace(decay=decay)
        if name == "baumgarte":
            solution.add_baumgarte(c, terms)
        else:
            solution.add_ggl(displace, c, terms)

    # --- as one graph -------------------------------------------------------------------------------------------------------
    @cached_property
    def is_small(self) -> bool:
        """Whether everything fits one graph."""
        m, n = self.sizes["m"], self.sizes["n"]
        if n**3 / 6 + n * n * m + n * m * m + m**3 / 6 > LIMIT:
            return False
        try:
            self._whole[False] = self._traced(Graph(LIMIT), False)
        except GraphTooLarge:
            return False
        return True

    def whole(self, wrenches: bool = False) -> tuple[Graph, dict[str, tuple[Symbol, ...]], ConstrainedState]:
        """The graph of a small model, its inputs, and the equations with their solution on its symbols."""
        assert self.is_small
        if wrenches not in self._whole:
            self._whole[wrenches] = self._traced(Graph(), wrenches)
        return self._whole[wrenches]

    def _traced(self, graph: Graph, wrenches: bool) -> tuple[Graph, dict[str, tuple[Symbol, ...]], ConstrainedState]:
        inputs = self.inputs(graph, wrenches)
        c = self.accelerations(inputs)
        graph.limit = None  # derivatives and energies are added to it without a limit
        return graph, inputs, c

    # --- one state ----------------------------------------------------------------------------------------------------------
    def solve(
        self,
        q: np.ndarray,
        v: np.ndarray,
        tau: np.ndarray,
        t: float,
        wrench: np.ndarray | None = None,
        parameters: Sequence[float] | np.ndarray | None = None,
        stabilisation: str = "",
        decay: Sequence[float] = (),
    ) -> ConstrainedState:
        """As arrays. Only forms and the interpreter take a stabilisation with a decay: compiled runs have their own code."""
        s = self.structure
        values_of = np.array(list(s.parameters.values()) if parameters is None else parameters, dtype=float)
        given = {"q": q, "v": v, "tau": tau, "parameter": values_of, "t": np.array([t])}
        if wrench is not None:
            given["wrench"] = np.ascontiguousarray(wrench).ravel()
        name = stabilisation if len(decay) else ""
        if self.form or self.backend == "python":
            values: Values = {"decay": decay, **{key: x.tolist() for key, x in given.items()}}
            with np.errstate(all="ignore"):
                return self._by_form(given, values, name) if self.form else self.accelerations(values, float, name)
        assert not name
        c = self.allocate()
        arrays = {key: np.ascontiguousarray(x, dtype=float) for key, x in given.items()}
        self.function(wrench is not None).bind(arrays | c._asdict())()
        if not self.is_small:
            self.loop(solution.solve).bind(c)()
        return c

    def _by_form(self, given: dict[str, np.ndarray], values: Values, stabilisation: str) -> ConstrainedState:
        assert self.form is not None
        q, v, t = given["q"], given["v"], float(given["t"][0])
        if stabilisation:
            c = self.state(values, float)
            solution.weights(c)
            self._stabilise(c, values, float, stabilisation)
        else:
            c = self.allocate()._replace(**self.table.evaluate(q, v, t, given["parameter"]))
        if not (np.isfinite(c.J).all() and np.isfinite(c.gamma).all()):  # a number as of compiled code, not an error of LAPACK
            return c._replace(qrate=np.full(len(q), np.nan), qdd=np.full(len(v), np.nan), lam=np.full(len(c.gamma), np.nan))
        wrench = given.get("wrench")
        named = dict(zip(self.model.parameters, given["parameter"].tolist(), strict=True))
        loads = None if wrench is None else wrench.reshape(-1, 6)[1:]
        m = Matrices(self.model, q, v, t, loads, sparse=False, parameters=named)
        qdd, lam = self.form(m, given["tau"] + m.load, (c.J, c.gamma))
        return c._replace(qrate=c.qrate if stabilisation else m.q_rate, qdd=qdd, lam=lam)

    def responses(self, M: np.ndarray, J: np.ndarray) -> Responses:
        """Of states with M (ns, n, n), which is overwritten, and J (ns, m, n)."""
        x = allocate(Responses, self.sizes | {"ns": len(M)})._replace(M=np.ascontiguousarray(M), J=np.ascontiguousarray(J))
        if self.backend == "python":
            with np.errstate(all="ignore"):  # nan and inf are values, not warnings
                solution.find_responses(x)
        else:
            self.loop(solution.find_responses).bind(x)()
        return x

    @cached_property
    def projector(self) -> Projector:
        return Projector(self)

    # --- as machine code ----------------------------------------------------------------------------------------------------
    def loop(self, entry: Callable[..., int]) -> Loop:
        """A function of `LOOPS` as machine code."""
        return Loop(entry, LOOPS[entry], STEPPING, store=self.store)

    def function(self, wrenches: bool = False, solved: bool | None = None) -> GraphRunner:
        """Straight-line code that fills a `ConstrainedState` from q, v, tau, parameter, t; `solved`: with its solution, which is
        the default where all fits one graph."""
        solved = self.is_small if solved is None else solved
        if (wrenches, solved) not in self._functions:
            if solved:
                graph, inputs, c = self.whole(wrenches)
            else:
                graph = Graph()
                inputs = self.inputs(graph, wrenches)
                c = self.state(inputs, object)
            unset = ("y", "S", "L", "z", "d", "e", "delta", *(() if solved else ("lam", "qdd")))
            unset += ("M", "right") if self.by_sweeps or solved else ()
            unset += ("W", "free") if not self.by_sweeps and not solved else ()
            outputs = {name: tuple(x.ravel()) for name, x in c._asdict().items() if name not in unset}
            self._functions[wrenches, solved] = GraphRunner(TracedProgram(graph, inputs, outputs), store=self.store)
        return self._functions[wrenches, solved]
