"""All constraints of a model as one graph: their residuals, the rates of these, the Jacobian and γ, by differentiation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..backends.fast_path import fast_single
from ..backends.llvm.runner import GraphRunner
from ..backends.traced import TracedProgram
from ..errors import AssemblyError, ModelError, SingularError
from ..model.constraints.base import Constraint
from ..model.model import Model
from ..model.structure import Structure
from ..trace import Expression, Graph, Number, Symbol, needed, tangent
from .evaluation import Values, evaluate, state_inputs, with_bodies
from .one_constraint import ConstraintRow, Named, OneConstraint

Numbers = Sequence[float] | np.ndarray
"""Values of all parameters; none: the model's own."""
INTERPRETED = 40
"""Evaluations of single states after which the rows are compiled: the first assembly should not wait for that."""
MAX_COMPILED = 20_000
"""Nodes of a graph that is compiled for that."""
ROUNDING = 1e-13
"""Rates and Jacobian of a row that nothing moves, relative to those of rows that move."""


@dataclass(frozen=True)
class TracedConstraints:
    """On the symbols of one graph: g (holonomic rows first), rate = Jv + …, J (rows × nv), gamma: J v̇ + gamma = 0."""

    g: tuple[Number, ...]
    rate: tuple[Number, ...]
    J: tuple[tuple[Number, ...], ...]
    gamma: tuple[Number, ...]


def table_of(model: Model) -> ConstraintTable:
    """The table of a model, made once."""
    structure = model.structure
    if "constraints" not in structure.cached:
        structure.cached["constraints"] = ConstraintTable(structure, model.constraints)
    return structure.cached["constraints"]


class ConstraintTable:
    """The rows of a model's constraints. Rows that hold whatever the motion are left out and listed in `trivial`."""

    def __init__(self, structure: Structure, constraints: dict[str, Constraint]) -> None:
        self.structure = structure
        self._evaluations = 0
        self._local = {name: OneConstraint(structure, name, constraint) for name, constraint in constraints.items()}
        inputs = state_inputs(structure, Graph())
        holonomic, nonholonomic = self._values(inputs)
        rows, trivial = _without_constants(holonomic)
        more, more_trivial = _without_constants(nonholonomic)
        rows, more, unmoved, self._conditions = self._without_rounding(inputs, rows, more)
        self.n_holonomic = len(rows)
        self.rows = [row for row, _ in rows + more]
        self.trivial = trivial + more_trivial + unmoved
        self.traced_inputs = inputs
        self.traced = self._differentiated(inputs, [x for _, x in rows], [x for _, x in more])
        self._check_linear()
        self.is_rheonomic = self._depends_on_time()
        """Whether any row prescribes motion in time, so that constraint forces do work."""

    def __len__(self) -> int:
        return len(self.rows)

    def trace(self, inputs: Values) -> TracedConstraints:
        """The same on numbers of any kind: floats, symbols of another graph."""
        values = self._flat(*(x for name in self.traced_inputs for x in inputs[name]))
        m, n, at = len(self), self.structure.nv, self.n_holonomic
        J = [values[at + m + k * n : at + m + (k + 1) * n] for k in range(m)]
        return TracedConstraints(values[:at], values[at : at + m], tuple(J), values[at + m + m * n :])

    @cached_property
    def _flat(self) -> Expression:
        t = self.traced
        return self._expression([*t.g, *t.rate, *(x for row in t.J for x in row), *t.gamma])

    def rate_along(self, values: Values, dq: Sequence[Number]) -> tuple[Number, ...]:
        """The change of `rate` along a displacement dq of the coordinates, speeds and time held, on numbers of any kind."""
        return self._rate_change(*(x for name in self.traced_inputs for x in values[name]), *dq)

    @cached_property
    def _rate_change(self) -> Expression:
        q = self.traced_inputs["q"]
        dq = self._graph.inputs(len(q))
        return self._expression(tangent(self.traced.rate, list(zip(q, dq, strict=True))), *dq)

    def evaluate(self, q: np.ndarray, v: np.ndarray, t: float, parameters: Numbers = ()) -> dict[str, np.ndarray]:
        """g, rate, J, gamma in one state, as arrays."""
        parameters = parameters if len(parameters) else list(self.structure.parameters.values())
        self._evaluations += 1
        if self._evaluations > INTERPRETED and len(self._graph.nodes) < MAX_COMPILED:
            return self._compiled(q, v, parameters, t)
        floats = {"q": q.tolist(), "v": v.tolist(), "parameter": list(parameters), "t": [float(t)]}
        found = self.trace(floats)
        arrays = {name: np.array(getattr(found, name), dtype=float) for name in ("g", "rate", "J", "gamma")}
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
    def _runner(self) -> GraphRunner:
        t = self.traced
        outputs = {"g": t.g, "rate": t.rate, "J": tuple(x for row in t.J for x in row), "gamma": t.gamma}
        shapes = {name: (len(x),) for name, x in outputs.items()} | {"J": (len(self), self.structure.nv)}
        return GraphRunner(TracedProgram(self._graph, dict(self.traced_inputs), outputs), shapes)

    def check_conditions(self, parameters: Numbers = ()) -> None:
        """Rows that nothing moves hold for some values of the parameters only: an error names one that does not."""
        own = list(parameters) or list(self.structure.parameters.values())
        for row, value in self._conditions:
            numbers = [
                x for name, group in self.traced_inputs.items() for x in (own if name == "parameter" else [0.0] * len(group))
            ]
            gap = float(self._expression([value])(*numbers)[0])
            if abs(gap) > 1e-9:
                raise AssemblyError(
                    f"{row} cannot be met with these parameters: it stays at {gap:.6g} whatever the motion; change "
                    "them, or leave the constraint out"
                )

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

    def finite(self, q: np.ndarray, v: np.ndarray, t: float, parameters: Numbers = ()) -> dict[str, np.ndarray]:
        """The same for whoever solves with it: a row that is not defined in this state is an error, not a number."""
        now = self.evaluate(q, v, t, parameters)
        if undefined := self.undefined(now):
            shown = np.array2string(q, precision=6, separator=", ", threshold=20, suppress_small=True)
            raise SingularError(
                f"{undefined} is not finite at q = {shown}, t = {t:g}: the constraint is not defined in this position; start "
                "from another one (q0=…)"
            )
        return now

    def undefined(self, now: dict[str, np.ndarray]) -> ConstraintRow | None:
        """The first row with a number that is not finite."""
        bad = ~(np.isfinite(now["J"]).all(axis=1) & np.isfinite(now["rate"]) & np.isfinite(now["gamma"]))
        bad[: self.n_holonomic] |= ~np.isfinite(now["g"])
        return self.rows[int(bad.argmax())] if bad.any() else None

    def violation(self, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """(T,): the largest residual, over states (T, nq), (T, nv), (T,), (T, parameters): of holonomic rows g, of
        nonholonomic ones the rate."""
        if not len(t) or not self.rows:
            return np.zeros(len(t))
        residuals = [*self.traced.g, *self.traced.rate[self.n_holonomic :]]
        found = self._expression(residuals)(*q.T, *v.T, *parameters.T, t)
        return np.abs(np.array([np.broadcast_to(x, len(t)) for x in found], dtype=float)).max(axis=0)

    def wrenches(self, motion: Values, lam: Sequence[Number]) -> dict[str, dict[str, list[Number]]]:
        """The forces of the multipliers on the bodies: {constraint: {body: force and moment at its origin, in its axes}}, on
        numbers of any kind. `motion`: q, v, t, parameter and what the program "motion" gives."""
        of_row, bodies = dict(zip(self.rows, lam, strict=True)), self.structure.bodies
        found = {name: local.wrenches(motion, of_row) for name, local in self._local.items()}
        return {name: {bodies[row - 1].name: x for row, x in wrenches.items()} for name, wrenches in found.items()}

    # --- inside -----------------------------------------------------------------------------------------------------------
    @property
    def _graph(self) -> Graph:
        return self.traced_inputs["t"][0].graph

    def _expression(self, outputs: Sequence[Number], *more: Symbol) -> Expression:
        """Of the state, and where `more` inputs are given, of these."""
        return Expression(self._graph, [*(x for group in self.traced_inputs.values() for x in group), *more], outputs)

    def _values(self, inputs: Values) -> tuple[list[Named], list[Named]]:
        """Residuals of holonomic and of nonholonomic rows."""
        motion = with_bodies(self.structure, inputs)
        holonomic, nonholonomic = [], []
        for local in self._local.values():
            first, second = local(motion)
            holonomic += first
            nonholonomic += second
        return holonomic, nonholonomic

    def _differentiated(self, inputs: Values, g: list[Number], speeds: list[Number]) -> TracedConstraints:
        rates = evaluate(self.structure, "rates", {name: inputs[name] for name in ("q", "v", "t")}).rate
        flow = [*zip(inputs["q"], rates, strict=True), (inputs["t"][0], 1.0)]
        rate = (*tangent(g, flow), *speeds)
        columns = [tangent(rate, [(x, 1.0)]) for x in inputs["v"]]
        J = tuple(tuple(column[k] for column in columns) for k in range(len(rate)))
        return TracedConstraints(tuple(g), rate, J, tangent(rate, flow))

    def _without_rounding(
        self, inputs: Values, rows: list[Named], more: list[Named]
    ) -> tuple[list[Named], list[Named], list[ConstraintRow], list[Named]]:
        """Rows without those whose rates and Jacobian are rounding errors, tested at a few states: scaled by their own size
        they would count as constraints. Then these, and those of them that depend on parameters."""
        if not rows and not more:
            return rows, more, [], []
        traced = self._differentiated(inputs, [x for _, x in rows], [x for _, x in more])
        symbols = [x for group in inputs.values() for x in group]
        n, m = self.structure.nv, len(rows) + len(more)
        flat = Expression(symbols[0].graph, symbols, [*traced.g, *traced.rate, *(x for row in traced.J for x in row)])
        rng = np.random.default_rng(11)
        largest, gaps = np.zeros(m), []
        for _ in range(3):
            values = np.array(flat(*self._sampled(inputs, rng, -1.0, 1.0)), dtype=float)
            if not np.isfinite(values).all():
                return rows, more, [], []
            g, rate, J = np.split(values, [len(rows), len(rows) + m])
            gaps.append(g)
            largest = np.maximum(largest, np.maximum(np.abs(rate), np.abs(J.reshape(m, n)).max(axis=1, initial=0.0)))
        moved = largest > ROUNDING * max(1.0, float(largest.max()))
        for (row, _), moves, gap in zip(rows, moved, np.transpose(gaps), strict=False):
            if not moves and np.ptp(gap) < 1e-9 < abs(gap[0]):
                raise ModelError(f"{row} can never be met: it stays at {gap[0]:.6g} whatever the motion")
        unmoved = [row for (row, _), moves in zip(rows + more, moved, strict=True) if not moves]
        conditions = [x for x, moves in zip(rows, moved, strict=False) if not moves and self._of_parameters(inputs, x[1])]
        moving = [x for x, moves in zip(rows + more, moved, strict=True) if moves]
        first = int(moved[: len(rows)].sum())
        return moving[:first], moving[first:], unmoved, conditions

    def _sampled(self, inputs: Values, rng: np.random.Generator, low: float, high: float, at_rest: bool = False) -> list[float]:
        """Numbers for the inputs: of the state anywhere, of parameters near their values."""
        own = np.array(list(self.structure.parameters.values()), dtype=float)
        out: list[float] = []
        for name, group in inputs.items():
            x = rng.uniform(low, high, len(group))
            out += (
                own * (1.0 + 0.1 * x) + 0.01 * x if name == "parameter" else 0.0 * x if at_rest and name == "v" else x
            ).tolist()
        return out

    @staticmethod
    def _of_parameters(inputs: Values, value: Number) -> bool:
        """Whether parameters are all that a number depends on, and it does depend on them."""
        if not isinstance(value, Symbol):
            return False
        used = set(needed(value.graph, [value]))
        reads = {name for name, group in inputs.items() for x in group if isinstance(x, Symbol) and x.index in used}
        return reads == {"parameter"}

    def _check_linear(self) -> None:
        """Nonholonomic rows must be linear in the speeds."""
        speeds = [(x, 1.0 + 0.1 * k) for k, x in enumerate(self.traced_inputs["v"])]
        for row, factors in zip(self.rows[self.n_holonomic :], self.traced.J[self.n_holonomic :], strict=True):
            if any(isinstance(x, Symbol) or x != 0.0 for x in tangent(factors, speeds)):
                raise ModelError(f"{row}: a constraint of speeds must be linear in them")

    def _depends_on_time(self) -> bool:
        """Whether rates are other than zero at rest, tested at a few states."""
        rng = np.random.default_rng(3)
        for _ in range(3):
            values = self._sampled(self.traced_inputs, rng, 0.1, 0.9, at_rest=True)
            if any(abs(x) > 1e-12 for x in self._expression(self.traced.rate)(*values)):
                return True
        return False


def _without_constants(rows: list[Named]) -> tuple[list[Named], list[ConstraintRow]]:
    """Rows that depend on the state, and those that hold whatever the motion."""
    variable, trivial = [], []
    for row, value in rows:
        if isinstance(value, Symbol):
            variable.append((row, value))
        elif abs(value) < 1e-9:
            trivial.append(row)
        else:
            raise ModelError(f"{row} can never be met: it stays at {value:.6g} whatever the motion")
    return variable, trivial
