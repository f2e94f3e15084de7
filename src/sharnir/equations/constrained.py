"""The equations of a tree with constraints: M v̇ = right + Jᵀλ, J v̇ + γ = 0.

Up to some size they are one graph with the solution in it, straight-line code for one state or a batch. Beyond, only what
the state gives is straight-line code, and the solution a loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..backends.link import relink
from ..backends.llvm.runner import GraphRunner
from ..backends.run import run_program
from ..backends.traced import TracedProgram
from ..dialect.arithmetic import STEPPING
from ..dialect.cache import Cache
from ..dialect.native import Loop
from ..dialect.storage import allocate
from ..errors import MethodError, known
from ..forms.closed import CLOSED_FORMS
from ..forms.matrices import Matrices
from ..model.model import Model
from ..programs import program_for
from ..programs.methods import METHODS, Method
from ..trace import Graph, GraphTooLarge, Number
from . import solution
from .assembly import moved
from .constraint_table import table_of
from .normalization import normalize
from .partition import Partition, reconsider, recover
from .solution import Closed, Correction, Keeping

LIMIT = 40_000
"""Nodes of a graph beyond which the solution is a loop. What the state gives is straight-line code even then, so that less is
saved by it than in a tree."""

LOOPS: dict[Any, tuple[Any, ...]] = {
    solution.solve: (Closed,),
    solution.correct: (Correction, Closed),
    solution.solve_damped: (Keeping, Closed),
    solution.solve_drifting: (Keeping, Closed),
    recover: (Partition,),
    reconsider: (Partition,),
}
"""Functions for models too large for one graph, and the groups of arrays they take."""


class ConstrainedEquations:
    """Of one model by one method. `table` names the rows."""

    more_inputs: Mapping[str, int] = {}
    """Beside the state, of the derivative as a graph: none."""

    def __init__(self, model: Model, method: Method, backend: str = "auto", store: Cache | None = None) -> None:
        self.model, self.structure = model, model.freeze()
        if not method.constrains:
            able = known(name for name, other in METHODS.items() if other.constrains)
            raise MethodError(f"method {method.name!r} does not handle closed loops and constraints; choose {able}")
        self.form = CLOSED_FORMS[method.name] if method.constrains == "form" else None
        """Where the method stays a dense form: state by state."""
        self.method = METHODS["composite"] if self.form else method
        self.by_sweeps = self.method.constrains == "sweeps"
        """Whether W = M⁻¹Jᵀ comes from sweeps over the tree and not from an inertia matrix."""
        self.backend = "python" if backend == "python" else "llvm"
        self.table = table_of(model)
        self.store = store or Cache()
        s = self.structure
        self.sizes = {"n": s.nv, "nq": s.nq, "m": len(self.table), "mh": self.table.n_holonomic}
        self.sizes["nm"] = 0 if self.by_sweeps else s.nv
        self._functions: dict[bool, GraphRunner] = {}
        self._whole: dict[bool, tuple[Graph, dict[str, Any], Any]] = {}

    def allocate(self) -> Any:
        return allocate(Closed, self.sizes)

    # --- what the state gives ---------------------------------------------------------------------------------------------
    def state(self, values: dict[str, Any], dtype: type) -> Any:
        """Everything in `Closed` that follows from q, v, tau, wrench, parameter and t, on numbers of any kind."""
        s = self.structure
        values = {"wrench": [0.0] * (6 * (s.nb + 1)), "tau": [0.0] * s.nv, **values}

        def run(name: str, more: dict[str, Any] | None = None) -> Any:
            program = program_for(s, name)
            function = None if dtype is float else relink(program.function)
            return run_program(program, s, values | (more or {}), function, dtype=dtype)

        def put(target: np.ndarray, numbers: Any) -> None:
            target.reshape(-1)[:] = list(numbers)

        c: Any = allocate(Closed, self.sizes, lambda shape: np.full(shape, np.nan, dtype=dtype))
        rows = self.table.trace(values)
        if self.by_sweeps:
            put(c.free, run("forward/separate").qdd)
            still = run("speeds", {"p": [0.0] * s.nv}).v
            for k, row in enumerate(rows.J):
                put(c.W[k], run("speeds", {"p": row}).v - still)
        else:
            put(c.M, run(f"inertia/{self.method.inertia}").M.ravel())
            put(c.right, (x - h for x, h in zip(values["tau"], run("bias").h, strict=True)))
        put(c.J, (x for row in rows.J for x in row))
        put(c.gamma, rows.gamma)
        put(c.g, rows.g)
        put(c.rate, rows.rate)
        put(c.qrate, run("rates").rate)
        return c

    def inputs(self, graph: Graph, wrenches: bool = False) -> dict[str, Any]:
        s = self.structure
        sizes = {"q": s.nq, "v": s.nv, "tau": s.nv, "parameter": len(s.parameters), "t": 1}
        if wrenches:
            sizes["wrench"] = 6 * (s.nb + 1)
        return {name: tuple(graph.inputs(size)) for name, size in sizes.items()}

    # --- as one graph -----------------------------------------------------------------------------------------------------
    def accelerations(self, values: dict[str, Any], dtype: type = object) -> Any:
        """`Closed` with qdd and lam, on numbers of any kind."""
        c = self.state(values, dtype)
        solution.solve(c)
        return c

    def moved(self, values: dict[str, Any]) -> list[Number]:
        """Coordinates after one step of Newton's method towards the constraints, on symbols."""
        c = self.state(values, object)
        solution.close_gap(c)
        s, program = self.structure, program_for(self.structure, "rates")
        state = {name: values[name] for name in ("q", "t")}
        function = relink(program.function)
        rates = [run_program(program, s, state | {"v": v}, function, dtype=object).rate for v in (c.delta, [0.0] * s.nv)]
        return [x + a - b for x, a, b in zip(values["q"], *rates, strict=True)]

    def stopped(self, values: dict[str, Any]) -> list[Number]:
        """Speeds without what breaks the constraints, on symbols."""
        c = self.state(values, object)
        solution.stop_slip(c)
        return [x + d for x, d in zip(values["v"], c.delta, strict=True)]

    @cached_property
    def corrections(self) -> tuple[GraphRunner, GraphRunner]:
        """One step of positions towards the constraints, quaternions made right; and the speeds without what breaks them."""
        out = []
        for kind in ("moved", "stopped"):
            graph = Graph()
            inputs = self.inputs(graph)
            numbers = self.stopped(inputs)
            if kind == "moved":
                numbers = normalize(self.model, self.moved(inputs), inputs["t"][0])
            out.append(GraphRunner(TracedProgram(graph, inputs, {"x": tuple(numbers)}), store=self.store))
        return out[0], out[1]

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

    def whole(self, wrenches: bool = False) -> tuple[Graph, dict[str, Any], Any]:
        """The graph of a small model, its inputs, and `Closed` with qdd and lam on its symbols."""
        assert self.is_small
        if wrenches not in self._whole:
            self._whole[wrenches] = self._traced(Graph(), wrenches)
        return self._whole[wrenches]

    def _traced(self, graph: Graph, wrenches: bool) -> tuple[Graph, dict[str, Any], Any]:
        inputs = self.inputs(graph, wrenches)
        c = self.accelerations(inputs)
        graph.limit = None  # whoever adds to it may
        return graph, inputs, c

    # --- one state --------------------------------------------------------------------------------------------------------
    def solve(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, t: float, wrench: np.ndarray | None = None) -> Any:
        """Everything in `Closed` of one state, as arrays."""
        s = self.structure
        if self.form:
            return self._by_form(q, v, tau, t, wrench)
        given = {"q": q, "v": v, "tau": tau, "parameter": np.array(list(s.parameters.values()), dtype=float), "t": np.array([t])}
        if wrench is not None:
            given["wrench"] = np.ascontiguousarray(wrench).ravel()
        if self.backend == "python":
            with np.errstate(all="ignore"):
                return self.accelerations({name: x.tolist() for name, x in given.items()}, float)
        c = self.allocate()
        arrays = {name: np.ascontiguousarray(x, dtype=float) for name, x in given.items()}
        self.function(wrench is not None).bind(arrays | c._asdict())()
        if not self.is_small:
            self.loop(solution.solve).bind(c)()
        return c

    def _by_form(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, t: float, wrench: np.ndarray | None) -> Any:
        assert self.form is not None
        rows = self.table.evaluate(q, v, t)
        loads = None if wrench is None else np.asarray(wrench).reshape(-1, 6)[1:]
        m = Matrices(self.model, q, v, t, loads, sparse=False)
        qdd, lam = self.form(m, tau + m.load, (rows["J"], rows["gamma"]))
        return self.allocate()._replace(**rows, qrate=m.q_rate, qdd=qdd, lam=lam)

    def project(self, q: np.ndarray, v: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """The state brought back onto the constraints, interpreted."""
        values: dict[str, Any] = {"parameter": list(self.structure.parameters.values()), "t": [t]}
        for _ in range(solution.TURNS):
            c = self.state(values | {"q": q.tolist(), "v": v.tolist()}, float)
            solution.close_gap(c)
            q = moved(self.model, q, c.delta, t)
        c = self.state(values | {"q": q.tolist(), "v": v.tolist()}, float)
        solution.stop_slip(c)
        return q, v + c.delta

    def loop(self, entry: Any) -> Loop:
        """A function of solution.py or partition.py as machine code."""
        return Loop(entry, LOOPS[entry], STEPPING, store=self.store)

    def function(self, wrenches: bool = False) -> GraphRunner:
        """Straight-line code that fills a `Closed` from q, v, tau, parameter, t: all of it, or what the state gives."""
        if wrenches not in self._functions:
            if self.is_small:
                graph, inputs, c = self.whole(wrenches)
            else:
                graph = Graph()
                inputs = self.inputs(graph, wrenches)
                c = self.state(inputs, object)
            unset = ("y", "S", "L", "z", "d", "e", "delta", *(() if self.is_small else ("lam", "qdd")))
            unset += ("M", "right") if self.by_sweeps or self.is_small else ()
            unset += ("W", "free") if not self.by_sweeps and not self.is_small else ()
            outputs = {name: tuple(x.ravel()) for name, x in c._asdict().items() if name not in unset}
            self._functions[wrenches] = GraphRunner(TracedProgram(graph, inputs, outputs), store=self.store)
        return self._functions[wrenches]
