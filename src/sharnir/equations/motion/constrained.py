"""The equations of a tree with constraints: M v̇ = right + Jᵀλ, J v̇ + γ = 0.

Up to some size they are one graph with the solution in it, straight-line code for one state or a batch. Beyond, only the
equations at a state are straight-line code, and their solution is a loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...backends import sizes
from ...backends.differentiated import displacement
from ...backends.graph_function import GraphFunction
from ...backends.run import Values, evaluate
from ...backends.traced import state_inputs
from ...dialect.cache import Cache
from ...dialect.native import Native, bind_kernel
from ...dialect.storage import allocate
from ...errors import MethodError, known
from ...forms.closed import CLOSED_FORMS
from ...forms.matrices import Matrices
from ...kernels.constrained import EXACT
from ...model.model import Model
from ...programs.methods import METHODS, Method
from ...trace import Graph, Number, Symbol
from ..kernels import solution
from ..kernels.solution import ConstrainedState, Iteration, Responses, StabilisationTerms
from ..rows.constraint_table import table_of
from .projector import Projector
from .share import closed_structure, share_of
from .sparse import SparseEquations

ITERATIONS = {
    "inverse-iterative": solution.weights_by_inverse_iteration,
    "direct-iterative": solution.weights_by_direct_iteration,
}


class ConstrainedEquations:
    """Equations of motion with constraints by one method: accelerations and multipliers, on generic scalars and as machine code.

    `table` names the rows."""

    def __init__(self, model: Model, method: Method, backend: str = "auto", store: Cache | None = None) -> None:
        self.model, self.structure = model, model.structure
        if not method.constrains:
            able = known(name for name, other in METHODS.items() if other.constrains)
            raise MethodError(f"method {method.name!r} does not handle closed loops and constraints; choose {able}")
        self.form = CLOSED_FORMS[method.name] if method.constrains == "form" else None
        """A dense matrix form, where the method is one; then the equations are those of "composite"."""
        self.iterates = method.name if method.constrains == "iteration" else ""
        """The iterative method, if it is one: it finds M⁻¹ times the right-hand side and Jᵀ; the rest is as for "composite"."""
        self.method = METHODS["composite"] if self.form or self.iterates else method
        self.backend = "python" if backend == "python" else "llvm"
        self.table = table_of(model)
        self.store = store or Cache()
        self.sparse = SparseEquations(model, self.store) if self.method.constrains == "elimination" else None
        """The equations by elimination, where multipliers are eliminated with bodies and not by an inertia matrix."""
        s = self.structure
        self.sizes = {"n": s.nv, "nq": s.nq, "m": len(self.table), "mh": self.table.n_holonomic}
        again = 0 if self.iterates else closed_structure(model).sizes["nsr"]  # those sweeps take factors of M
        self.sizes |= {"nm": 0 if self.sparse else s.nv, "nsr": again}
        self.share = share_of(model)
        self._functions: dict[tuple[bool, bool], GraphFunction] = {}
        self._whole: dict[bool, tuple[dict[str, tuple[Symbol, ...]], ConstrainedState]] = {}

    def allocate(self) -> ConstrainedState:
        """Arrays for compiled code."""
        return allocate(ConstrainedState, self.sizes)._replace(share=np.array([self.share]))

    def empty(self, dtype: type, exact: bool = False) -> ConstrainedState:
        """Arrays of generic scalars. exact: for double-double arithmetic, less is added to the diagonal of S."""
        c = allocate(ConstrainedState, self.sizes, lambda shape: np.full(shape, np.nan, dtype=dtype))
        return c._replace(share=[EXACT if exact else self.share])

    def memory(self, tolerance: float) -> Iteration | None:
        """Arrays that the iterative method keeps from call to call, empty; None for other methods."""
        if not self.iterates:
            return None
        made = allocate(Iteration, self.sizes)._replace(tolerance=np.array([tolerance]))
        made.H.fill(np.nan)
        return made

    def weighing(self, c: ConstrainedState, memory: Iteration | None) -> Native:
        """A native function (interpreted on that backend) that finds W and free of c from M and right."""
        compiled = self.backend != "python"
        if memory is None:
            return bind_kernel(solution.weights, c, store=self.store, compiled=compiled)
        return bind_kernel(ITERATIONS[self.iterates], c, memory, store=self.store, compiled=compiled)

    # --- the equations at a state -------------------------------------------------------------------------------------------
    def state(self, values: Values, dtype: type, exact: bool = False) -> ConstrainedState:
        """Everything in `ConstrainedState` that follows from q, v, tau, wrench, parameter and t, on generic scalars."""
        c = self.empty(dtype, exact)
        self.fill(c, values, dtype)
        return c

    def fill(self, c: ConstrainedState, values: Values, dtype: type) -> None:
        s = self.structure
        values = {"wrench": [0.0] * (6 * (s.nb + 1)), "tau": [0.0] * s.nv, **values}

        def put(target: Any, numbers: Iterable[Number]) -> None:
            target.reshape(-1)[:] = list(numbers)

        rows = self.table.trace(values)
        put(c.M, evaluate(s, f"inertia/{self.method.inertia}", values, dtype).M.ravel())
        put(c.right, (x - h for x, h in zip(values["tau"], evaluate(s, self.method.bias, values, dtype).h, strict=True)))
        counted = values.get("counted", [1.0] * len(rows.J))  # 0 where a row is left out
        put(c.J, (x * k for row, k in zip(rows.J, counted, strict=True) for x in row))
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
        self, values: Values, dtype: type = object, stabilisation: str = "", exact: bool = False
    ) -> ConstrainedState:
        """The state with qdd, lam, and in qrate the rates of the coordinates, on generic scalars. Where `stabilisation` is
        "baumgarte" or "ggl", `values` have its `decay`. exact: for double-double arithmetic."""
        if self.sparse:
            return self._eliminated(self.sparse, values, dtype, stabilisation, exact)
        c = self.state(values, dtype, exact)
        solution.weights(c)
        self._stabilise(c, values, dtype, stabilisation)
        solution.solve_weighted(c)
        return c

    def _eliminated(
        self, sparse: SparseEquations, values: Values, dtype: type, stabilisation: str, exact: bool
    ) -> ConstrainedState:
        """Without J: nothing here is a matrix over all coordinates. The inverse pivots are on the diagonal of L."""
        s, c = self.structure, self.empty(dtype)
        values = {"wrench": [0.0] * (6 * (s.nb + 1)), **values}
        rows = sparse.trace(values, dtype)
        c.g[:], c.rate[:], c.gamma[:] = rows.g, rows.rate, rows.gamma
        c.qrate[:] = evaluate(s, "rates", values, dtype).rate
        self._stabilise(c, values, dtype, stabilisation)
        found = sparse.accelerations(values, c.gamma.tolist(), rows.K, dtype, exact)
        c.qdd[:], c.lam[:], c.L[np.diag_indices(len(c.L))] = found.qdd, found.lam, found.inverse
        return c

    def correct(self, name: str, c: ConstrainedState, values: Values, dtype: type, exact: bool = False) -> None:
        """In c.delta the motion, least in the metric of the masses, that closes the gaps "g" (L8), or the change of speeds after
        which every "rate" vanishes (L9). exact: as c is."""
        if self.sparse:
            rows = self.sparse.trace(values, dtype)
            c.delta[:] = self.sparse.correction(values, getattr(rows, name), rows.K, dtype, exact)
        else:
            self.fill(c, values, dtype)
            (solution.position_correction if name == "g" else solution.speed_correction)(c)

    def _stabilise(self, c: ConstrainedState, values: Values, dtype: type, name: str) -> None:
        def correct(c: Any, s: Any) -> None:
            assert self.sparse
            gap = c.rate.copy()
            gap[: len(c.g)] += s.decay[0] * c.g
            c.delta[:] = self.sparse.correction(values, gap.tolist(), self.sparse.trace(values, dtype).K, dtype)

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
            solution.add_ggl(correct if self.sparse else solution.correct_drift, displace, c, terms)

    # --- as one graph -------------------------------------------------------------------------------------------------------
    @cached_property
    def is_small(self) -> bool:
        """Whether everything fits one graph."""
        if self.sparse:
            limit, least = sizes.PROGRAM, float(sizes.NODES_A_BODY * self.structure.nb)
        else:
            limit, least = sizes.EQUATIONS, sizes.dense_operations(self.sizes["n"], self.sizes["m"])
        whole = sizes.fits(lambda: self._traced(Graph(limit), False)) if least <= limit else None
        if whole:
            self._whole[False] = whole
        return whole is not None

    @property
    def is_sparse(self) -> bool:
        """Whether everything is loops over bodies and constraints, without a matrix over all coordinates."""
        return self.sparse is not None and self.backend == "llvm" and not self.is_small

    def whole(self, wrenches: bool = False) -> tuple[dict[str, tuple[Symbol, ...]], ConstrainedState]:
        """Inputs, symbols of the graph of a small model, and the equations with their solution on them."""
        assert self.is_small
        if wrenches not in self._whole:
            self._whole[wrenches] = self._traced(Graph(), wrenches)
        return self._whole[wrenches]

    def _traced(self, graph: Graph, wrenches: bool) -> tuple[dict[str, tuple[Symbol, ...]], ConstrainedState]:
        inputs = self.inputs(graph, wrenches)
        c = self.accelerations(inputs)
        graph.limit = None  # derivatives and energies are added to it without a limit
        return inputs, c

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
        memory: Iteration | None = None,
    ) -> ConstrainedState:
        """The solution as arrays. Only forms and the interpreter take a stabilisation here: compiled runs have their own code.
        `memory`: of iterative methods, which are lost without one."""
        s = self.structure
        values_of = np.array(list(s.parameters.values()) if parameters is None else parameters, dtype=float)
        given = {"q": q, "v": v, "tau": tau, "parameter": values_of, "t": np.array([t])}
        if wrench is not None:
            given["wrench"] = np.ascontiguousarray(wrench).ravel()
        name = stabilisation if len(decay) else ""
        if self.form or self.backend == "python":
            values: Values = {"decay": decay, **{key: x.tolist() for key, x in given.items()}}
            with np.errstate(all="ignore"):
                if self.form:
                    return self._by_form(given, values, name)
                if memory is not None:
                    c = self.state(values, float)
                    self.weighing(c, memory)()
                    self._stabilise(c, values, float, name)
                    solution.solve_weighted(c)
                    return c
                c = self.accelerations(values, float, name)
                return c._replace(J=self.table.evaluate(q, v, float(t), given["parameter"])["J"]) if self.sparse else c
        if name or self.sparse:
            raise MethodError(
                f"method {self.method.name!r} does not answer this: the system is too large for straight-line code; choose the "
                "method 'composite', or fewer modes of flexible bodies"
            )
        c = self.allocate()
        arrays = {key: np.ascontiguousarray(x, dtype=float) for key, x in given.items()}
        solved = memory is None and self.is_small
        self.function(wrench is not None, solved).bind(arrays | c._asdict())()
        if not solved:
            self.weighing(c, memory)()
            bind_kernel(solution.solve_weighted, c, store=self.store)()
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
        named = dict(zip(self.model.structure.parameters, given["parameter"].tolist(), strict=True))
        loads = None if wrench is None else wrench.reshape(-1, 6)[1:]
        m = Matrices(self.model, q, v, t, loads, sparse=False, parameters=named)
        qdd, lam = self.form(m, given["tau"] + m.load, (c.J, c.gamma))
        return c._replace(qrate=c.qrate if stabilisation else m.q_rate, qdd=qdd, lam=lam)

    def responses(self, M: np.ndarray, J: np.ndarray) -> Responses:
        """Responses of states with M (ns, n, n), which is overwritten, and J (ns, m, n)."""
        given = {"M": np.ascontiguousarray(M), "J": np.ascontiguousarray(J), "share": np.array([self.share])}
        x = allocate(Responses, self.sizes | {"ns": len(M)})._replace(**given)
        bind_kernel(solution.find_responses, x, store=self.store, compiled=self.backend != "python")()
        return x

    @cached_property
    def with_inertia(self) -> ConstrainedEquations:
        """The same equations by an inertia matrix, where its factors are needed."""
        return ConstrainedEquations(self.model, METHODS["composite"], self.backend, self.store) if self.sparse else self

    @cached_property
    def projector(self) -> Projector:
        return Projector(self)

    # --- as machine code ----------------------------------------------------------------------------------------------------
    def function(self, wrenches: bool = False, solved: bool | None = None) -> GraphFunction:
        """Equations by an inertia matrix: straight-line code fills a `ConstrainedState` from q, v, tau, parameter, t; `solved`:
        with its solution, which is the default where all fits one graph."""
        solved = self.is_small if solved is None else solved
        if (wrenches, solved) not in self._functions:
            if solved:
                inputs, c = self.whole(wrenches)
            else:
                inputs = self.inputs(Graph(), wrenches)
                c = self.state(inputs, object)
            unset = ("share", "diagonal", "y", "S", "L", "z", "d", "e", "delta", "again", *(() if solved else ("lam", "qdd")))
            unset += ("M", "right") if solved else ("W", "free")
            outputs = {name: tuple(x.ravel()) for name, x in c._asdict().items() if name not in unset}
            self._functions[wrenches, solved] = GraphFunction.of(inputs, outputs, self.store)
        return self._functions[wrenches, solved]
