"""All constraints of a model as one graph: their residuals, the rates of these, the Jacobian and γ, by differentiation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, TypeVar

import numpy as np

from ...backends import sizes
from ...backends.fast_path import fast_single
from ...backends.graph_function import GraphFunction
from ...backends.run import Values, evaluate, with_bodies
from ...backends.traced import TracedProgram, state_inputs
from ...dialect.jit import host_lanes
from ...errors import AssemblyError, SingularError
from ...model.model import Model
from ...model.per_structure import per_structure
from ...trace import Expression, Graph, Number, Symbol, needed, tangent
from .body_rows import body_rows
from .one_constraint import ConstraintRow, Scale, label_of
from .sparse_rows import SparseRows

T = TypeVar("T")

Numbers = Sequence[float] | np.ndarray
"""Values of all parameters; none: the model's own."""
INTERPRETED = 40
"""Evaluations of single states by one user of a table after which the rows are compiled: an assembly should not wait for that,
and what it finds does not depend, in the last bit, on the assemblies before it."""


@dataclass(frozen=True)
class TracedConstraints:
    """On the symbols of one graph: g (holonomic rows first), rate = Jv + …, J (rows × nv), gamma: J v̇ + gamma = 0."""

    g: tuple[Number, ...]
    rate: tuple[Number, ...]
    J: tuple[tuple[Number, ...], ...]
    gamma: tuple[Number, ...]

    @property
    def groups(self) -> dict[str, tuple[Number, ...]]:
        """g, rate, J and gamma, flat."""
        return {"g": self.g, "rate": self.rate, "J": tuple(x for row in self.J for x in row), "gamma": self.gamma}


def table_of(model: Model) -> ConstraintTable:
    """The table of a model for one user, whose evaluations are counted from zero; everything else is made once."""
    return _table(model).view([0], ())


@per_structure
def _table(model: Model) -> ConstraintTable:
    return ConstraintTable(model)


class ConstraintTable:
    """Rows of all constraints as functions of the state: g, rate, J, γ; of small models one graph, else from `on_bodies`.

    Rows that hold whatever the motion are left out and listed in `trivial`."""

    __slots__ = ("__dict__", "_evaluations", "parameters")

    def __init__(self, model: Model) -> None:
        self.structure = model.structure
        self._evaluations = [0]
        self.parameters: Numbers = ()
        self.on_bodies = body_rows(model)
        """The same rows as functions of the motion of the bodies they touch."""
        self.rows, self.n_holonomic, self.trivial = self.on_bodies.rows, self.on_bodies.n_holonomic, self.on_bodies.trivial
        self.why_undefined = {label_of(name, one): one.undefined for name, one in model.constraints.items()}
        self.scale = Scale(self.structure, model.constraints, self.rows)

    def view(self, evaluations: list[int], parameters: Numbers) -> ConstraintTable:
        """The same table with another count of evaluations, at other values of the parameters."""
        own = ConstraintTable.__new__(ConstraintTable)
        own.__dict__, own._evaluations, own.parameters = self.__dict__, evaluations, parameters
        return own

    def at(self, parameters: Numbers) -> ConstraintTable:
        """The table of this user at values of all parameters. An AssemblyError where some rows cannot be met with them."""
        self.check_conditions(parameters)
        return self.view(self._evaluations, parameters)

    def __len__(self) -> int:
        return len(self.rows)

    def trace(self, inputs: Values) -> TracedConstraints:
        """The rows on generic scalars: floats, symbols of another graph."""
        values = self._flat(*(x for name in self.traced_inputs for x in inputs[name]))
        m, n, at = len(self), self.structure.nv, self.n_holonomic
        J = [values[at + m + k * n : at + m + (k + 1) * n] for k in range(m)]
        return TracedConstraints(values[:at], values[at : at + m], tuple(J), values[at + m + m * n :])

    @cached_property
    def _flat(self) -> Expression:
        return self._expression([x for group in self.traced.groups.values() for x in group])

    def rate_along(self, values: Values, dq: Sequence[Number]) -> tuple[Number, ...]:
        """The change of `rate` along a displacement dq of the coordinates, speeds and time held, on generic scalars."""
        return self._rate_change(*(x for name in self.traced_inputs for x in values[name]), *dq)

    @cached_property
    def _rate_change(self) -> Expression:
        q = self.traced_inputs["q"]
        dq = self._graph.inputs(len(q))
        return self._expression(tangent(self.traced.rate, list(zip(q, dq, strict=True))), *dq)

    @cached_property
    def sparse(self) -> SparseRows:
        """The rows by work in proportion to their number and to the lengths of the loops."""
        return SparseRows(self.structure, self.on_bodies)

    @property
    def may_compile(self) -> bool:
        """Whether the rows are one graph that compiles in reasonable time."""
        return not self.is_large and len(self._graph.nodes) < sizes.PROGRAM

    @cached_property
    def is_large(self) -> bool:
        """Whether rows are evaluated on bodies, in groups of one shape: one graph would take long to trace and compile."""
        s = self.structure
        return sizes.is_large(s) or max(len(self), s.nb) * s.nv > sizes.DENSE_ROWS

    def evaluate(self, q: np.ndarray, v: np.ndarray, t: Any, parameters: Numbers = (), sparse: bool = False) -> dict[str, Any]:
        """g, rate, J, gamma in one state, as arrays. `sparse`: J of a large model as a `scipy.sparse.csr_array` of a pattern that
        is the same in all states. States (T, nq), (T, nv), (T,), (T, parameters) of a small model: (T, …), the same for any T."""
        if q.ndim > 1:
            return _on_lanes(self._runner, q, v, t, np.asarray(parameters))
        parameters = parameters if len(parameters) else self.parameters
        if self.is_large:
            found = self.sparse.evaluate(q, v, t, parameters)
            return found if sparse else found | {"J": found["J"].toarray()}
        parameters = parameters if len(parameters) else list(self.structure.parameters.values())
        self._evaluations[0] += 1
        if self._evaluations[0] > INTERPRETED and self.may_compile:
            return self._compiled(q, v, parameters, t)
        floats = {"q": q.tolist(), "v": v.tolist(), "parameter": list(parameters), "t": [float(t)]}
        arrays = {name: np.array(x, dtype=float) for name, x in self.trace(floats).groups.items()}
        return arrays | {"J": arrays["J"].reshape(len(self), self.structure.nv)}

    def _compiled(self, *state: Any) -> dict[str, np.ndarray]:
        """The same by straight-line code."""
        q, v, parameters, t = state
        done = self._fast(q, v, np.asarray(parameters, dtype=float), float(t))
        if done is not None:
            return dict(zip(self._runner.outputs, done, strict=True))
        rows = [np.array(x, dtype=float).reshape(1, -1) for x in state]
        found = [np.empty((1, *shape)) for shape in self._runner.outputs.values()]
        self._runner.run(1, rows, [x.reshape(1, -1) for x in found])
        return {name: x[0] for name, x in zip(self._runner.outputs, found, strict=True)}

    @cached_property
    def _fast(self) -> Callable[..., Any]:
        return fast_single(self._runner)

    @cached_property
    def _runner(self) -> GraphFunction:
        outputs = self.traced.groups
        shapes = {name: (len(x),) for name, x in outputs.items()} | {"J": (len(self), self.structure.nv)}
        return GraphFunction(TracedProgram.of(self.traced_inputs, outputs), outputs=shapes)

    def compile(self) -> None:
        """Use straight-line code from now on, wherever it may: the last bits then do not depend on the evaluations before."""
        self._evaluations[0] = max(self._evaluations[0], INTERPRETED)

    @cached_property
    def reads(self) -> np.ndarray:
        """(P,): which parameters the rows may depend on; of large models, all."""
        inputs = self.traced_inputs["parameter"]
        if self.is_large or self.on_bodies.has_conditions:
            return np.ones(len(inputs), dtype=bool)
        used = set(needed(self._graph, self._flat.outputs))
        return np.array([x.index in used for x in inputs], dtype=bool)

    def check_conditions(self, parameters: Numbers = ()) -> None:
        """Rows that nothing moves hold for some values of the parameters only: an error names one that does not."""
        for row, gap in self.on_bodies.conditions(list(parameters) or list(self.structure.parameters.values())):
            if abs(gap) > 1e-9 * ((self.scale.length or 1.0) if row.unit == "m" else 1.0):
                raise AssemblyError(
                    f"{row} cannot be met with these parameters: it stays at {gap:.6g} whatever the motion; change "
                    "them, or leave the constraint out"
                )

    @cached_property
    def is_rheonomic(self) -> bool:
        """Whether any row prescribes motion in time, so that constraint forces do work: its formula is not zero at rest."""
        return self.on_bodies.moves_at_rest()

    def change(
        self, q: np.ndarray, v: np.ndarray, t: float, parameters: Numbers, dq: Sequence[float], dv: np.ndarray, dp: np.ndarray
    ) -> dict[str, np.ndarray]:
        """The changes of g and rate along a displacement of coordinates (dq as they are counted in q), speeds and parameters."""
        state = [*q.tolist(), *v.tolist(), *(float(x) for x in parameters), float(t)]
        found = np.array(self._change(*state, *dq, *dv.tolist(), *dp.tolist()), dtype=float)
        return {"g": found[: self.n_holonomic], "rate": found[self.n_holonomic :]}

    @cached_property
    def _change(self) -> Expression:
        moved = [x for name in ("q", "v", "parameter") for x in self.traced_inputs[name]]
        dx = self._graph.inputs(len(moved))
        return self._expression(tangent([*self.traced.g, *self.traced.rate], list(zip(moved, dx, strict=True))), *dx)

    def finite(self, q: np.ndarray, v: np.ndarray, t: float, parameters: Numbers = (), sparse: bool = False) -> dict[str, Any]:
        """`evaluate` for a solution: a row that is not defined in this state is an error, not a number. `sparse`: of
        large models J may be sparse."""
        now = self.evaluate(q, v, t, parameters, sparse)
        if undefined := self.undefined(now):
            why = self.why_undefined.get(undefined.owner)
            shown = np.array2string(q, precision=6, separator=", ", threshold=20, suppress_small=True)
            raise SingularError(
                f"{undefined} is not finite at q = {shown}, t = {t:g}: "
                + (
                    why
                    or "the constraint is not defined in this position; start from another one (q0=…), or at another time (t0=…)"
                )
            )
        return now

    def undefined(self, now: dict[str, np.ndarray]) -> ConstraintRow | None:
        """The first row with a number that is not finite."""
        bad = ~(np.isfinite(abs(now["J"]).sum(axis=1)) & np.isfinite(now["rate"]) & np.isfinite(now["gamma"]))
        bad[: self.n_holonomic] |= ~np.isfinite(now["g"])
        return self.rows[int(bad.argmax())] if bad.any() else None

    def worst(self, left: np.ndarray) -> tuple[ConstraintRow, float]:
        """The row with the largest residual, or rate of it, and that number; `left` may go on beyond the rows."""
        k = int(np.abs(left[: len(self)]).argmax())
        return self.rows[k], float(left[k])

    def violation(self, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """(T,): the largest residual, over states (T, nq), (T, nv), (T,), (T, parameters): of holonomic rows g, of
        nonholonomic ones the rate."""
        if not len(t) or not self.rows:
            return np.zeros(len(t))
        if self.is_large:
            answers = self.on_bodies.evaluate(q, v, t, parameters, ("g", "speed")).values()
            return np.abs(np.concatenate(list(answers), axis=1)).max(axis=1)
        found = self._expression(self._residuals)(*q.T, *v.T, *parameters.T, t)
        return np.abs(np.array([np.broadcast_to(x, len(t)) for x in found], dtype=float)).max(axis=0)

    def relative_violation(self, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """`violation` relative to the sizes of the terms, on the lanes of the processor, of small models."""
        if not len(t) or not self.rows:
            return np.zeros(len(t))
        found = _on_lanes(self._residual_code, q, v, t, parameters)["residual"]
        return np.asarray(np.abs(found / self.scale.of_rows(q)).max(axis=1))

    @property
    def _residuals(self) -> tuple[Number, ...]:
        return (*self.traced.g, *self.traced.rate[self.n_holonomic :])

    @cached_property
    def _residual_code(self) -> GraphFunction:
        return GraphFunction.of(self.traced_inputs, {"residual": self._residuals})

    def wrenches(self, motion: Values, lam: Sequence[Number]) -> dict[str, dict[str, list[Number]]]:
        """The forces of the multipliers on the bodies: {constraint: {body: force and moment at its origin, in its axes}}, on
        generic scalars. `motion`: q, v, t, parameter and what the program "motion" gives."""
        return self._by_name(self.on_bodies.wrenches(motion, lam))

    def wrench_rows(
        self, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray | None, lam: np.ndarray
    ) -> dict[str, dict[str, np.ndarray]]:
        """`wrenches` for rows of states and of multipliers (n, rows), as arrays (n, 6)."""
        K = self.on_bodies.evaluate(q, v, t, parameters, ["K"])["K"]
        return self._by_name(dict(self.on_bodies.wrench_rows(K, lam)))

    def _by_name(self, found: Mapping[str, Mapping[int, T]]) -> dict[str, dict[str, T]]:
        bodies = self.structure.bodies
        return {name: {bodies[row - 1].name: x for row, x in wrenches.items()} for name, wrenches in found.items()}

    # --- inside -----------------------------------------------------------------------------------------------------------
    @property
    def _graph(self) -> Graph:
        return self.traced_inputs["t"][0].graph

    def _expression(self, outputs: Sequence[Number], *more: Symbol) -> Expression:
        """Outputs as an expression of the state and of `more` inputs."""
        return Expression(self._graph, [*(x for group in self.traced_inputs.values() for x in group), *more], outputs)

    @cached_property
    def traced_inputs(self) -> dict[str, tuple[Symbol, ...]]:
        """The symbols of `traced`: q, v, parameter, t."""
        return state_inputs(self.structure, Graph())

    @cached_property
    def traced(self) -> TracedConstraints:
        """All rows as one graph of the state: for models whose J fits one."""
        inputs = self.traced_inputs
        g, speeds = self.on_bodies.traced(with_bodies(self.structure, inputs), ("g", "speed"))
        rates = evaluate(self.structure, "rates", {name: inputs[name] for name in ("q", "v", "t")}).rate
        flow = [*zip(inputs["q"], rates, strict=True), (inputs["t"][0], 1.0)]
        rate = (*tangent(g, flow), *speeds)
        columns = [tangent(rate, [(x, 1.0)]) for x in inputs["v"]]
        J = tuple(tuple(column[k] for column in columns) for k in range(len(rate)))
        return TracedConstraints(tuple(g), rate, J, tangent(rate, flow))


def _on_lanes(code: GraphFunction, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray) -> dict[str, np.ndarray]:
    """Outputs of code for states, at least as many as there are lanes: the last one again and again."""
    n, few = len(t), max(host_lanes() - len(t), 0) if len(t) else 0
    states = [np.concatenate([x, np.repeat(x[-1:], few, axis=0)]) for x in (q, v, parameters, t[:, None])]
    found = {name: np.empty((n + few, *shape)) for name, shape in code.outputs.items()}
    code.run(n + few, states, [x.reshape(n + few, prod(x.shape[1:])) for x in found.values()])
    return {name: x[:n] for name, x in found.items()}
