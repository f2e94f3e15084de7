"""All constraints of a model as one graph: what they keep at zero, its rate, the Jacobian and γ, by differentiation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ModelError, StateError, TraceError
from ..model.constraints.base import Constraint, Row
from ..model.constraints.closing import ClosingJoint
from ..model.forces.loads import Loads
from ..model.structure import Structure
from ..programs import PROGRAMS
from ..trace import Expression, Graph, Number, Symbol, call_traced, check_numbers, tangent
from .link import relink
from .run import run_program

NOTHING = 1e-13
"""What rounding leaves of a row that does not move, relative to rows that do."""


@dataclass(frozen=True)
class ConstraintRow:
    """Where a row comes from, and what it forbids."""

    owner: str
    what: str

    def __str__(self) -> str:
        return f"{self.owner}: {self.what}" if self.what else self.owner


_Named = tuple[ConstraintRow, Number]


@dataclass(frozen=True)
class TracedConstraints:
    """On the symbols of one graph: g (holonomic rows first), rate = Jv + …, J (rows × nv), gamma: J v̇ + gamma = 0."""

    g: tuple[Number, ...]
    rate: tuple[Number, ...]
    J: tuple[tuple[Number, ...], ...]
    gamma: tuple[Number, ...]


class ConstraintTable:
    """The rows of a model's constraints. Rows that hold whatever the motion are listed in `idle` and left out."""

    def __init__(self, structure: Structure, constraints: dict[str, Constraint]) -> None:
        self.structure = structure
        self._local = {name: _Local(structure, name, constraint) for name, constraint in constraints.items()}
        graph = Graph()
        sizes = {"q": structure.nq, "v": structure.nv, "parameter": len(structure.parameters), "t": 1}
        inputs = {name: tuple(graph.inputs(size)) for name, size in sizes.items()}
        holonomic, others = self._values(inputs)
        rows, idle = _sorted(holonomic)
        more, idle_too = _sorted(others)
        rows, more, never = self._without_rounding(inputs, rows, more)
        self.n_holonomic = len(rows)
        self.rows = [row for row, _ in rows + more]
        self.idle = idle + idle_too + never
        self.traced_inputs = inputs
        self.traced = self._differentiated(inputs, [x for _, x in rows], [x for _, x in more])
        self._check_linear()
        self.moves_by_itself = self._depends_on_time()
        """Whether any row asks for motion at zero speeds, so that its forces do work."""

    def __len__(self) -> int:
        return len(self.rows)

    def trace(self, inputs: dict[str, tuple[Symbol, ...]]) -> TracedConstraints:
        """The same on the symbols of another graph."""
        symbols = [x for group in self.traced_inputs.values() for x in group]
        t = self.traced
        flat = [*t.g, *t.rate, *(x for row in t.J for x in row), *t.gamma]
        values = Expression(symbols[0].graph, symbols, flat)(*(x for name in self.traced_inputs for x in inputs[name]))
        m, n, at = len(self), self.structure.nv, len(t.g)
        J = [values[at + m + k * n : at + m + (k + 1) * n] for k in range(m)]
        return TracedConstraints(values[:at], values[at : at + m], tuple(J), values[at + m + m * n :])

    def evaluate(self, q: np.ndarray, v: np.ndarray, t: float, parameters: Sequence[float] = ()) -> dict[str, np.ndarray]:
        """g, rate, J, gamma in one state, as arrays."""
        parameters = parameters if len(parameters) else list(self.structure.parameters.values())
        floats = {"q": q.tolist(), "v": v.tolist(), "parameter": list(parameters), "t": [float(t)]}
        found = self.trace(floats)
        arrays = {name: np.array(getattr(found, name), dtype=float) for name in ("g", "rate", "J", "gamma")}
        return arrays | {"J": arrays["J"].reshape(len(self), self.structure.nv)}

    def violation(self, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """(T,): the largest of what is kept at zero, over states (T, nq), (T, nv), (T,), (T, parameters): rows of position,
        and the rates of those that are rows of speeds alone."""
        if not len(t) or not self.rows:
            return np.zeros(len(t))
        symbols = [x for group in self.traced_inputs.values() for x in group]
        kept = [*self.traced.g, *self.traced.rate[self.n_holonomic :]]
        found = Expression(symbols[0].graph, symbols, kept)(*q.T, *v.T, *parameters.T, t)
        return np.abs(np.array([np.broadcast_to(x, len(t)) for x in found], dtype=float)).max(axis=0)

    def wrenches(self, motion: dict[str, Any], lam: Sequence[Number]) -> dict[str, dict[str, list[Number]]]:
        """What multipliers do to the bodies: {constraint: {body: force and moment at its origin, its axes}}, on numbers of
        any kind. `motion`: q, v, t, parameter and what the program "motion" gives."""
        of_row, bodies = dict(zip(self.rows, lam, strict=True)), self.structure.bodies
        found = {name: local.wrenches(motion, of_row) for name, local in self._local.items()}
        return {name: {bodies[row - 1].name: x for row, x in wrenches.items()} for name, wrenches in found.items()}

    # --- inside -----------------------------------------------------------------------------------------------------------
    def _values(self, inputs: dict[str, Any]) -> tuple[list[_Named], list[_Named]]:
        motion = dict(inputs)
        program = PROGRAMS["motion"]
        state = {name: inputs[name] for name in ("q", "v", "t")}
        found = run_program(program, self.structure, state, relink(program.function), dtype=object)
        motion.update({name: x.ravel() for name, x in found._asdict().items()})
        holonomic, others = [], []
        for local in self._local.values():
            first, second = local(motion)
            holonomic += first
            others += second
        return holonomic, others

    def _differentiated(self, inputs: dict[str, Any], g: list[Number], speeds: list[Number]) -> TracedConstraints:
        program = PROGRAMS["rates"]
        state = {name: inputs[name] for name in ("q", "v", "t")}
        rates = run_program(program, self.structure, state, relink(program.function), dtype=object).rate
        flow = [*zip(inputs["q"], rates, strict=True), (inputs["t"][0], 1.0)]
        rate = (*tangent(g, flow), *speeds)
        columns = [tangent(rate, [(x, 1.0)]) for x in inputs["v"]]
        J = tuple(tuple(column[k] for column in columns) for k in range(len(rate)))
        return TracedConstraints(tuple(g), rate, J, tangent(rate, flow))

    def _without_rounding(
        self, inputs: dict[str, Any], rows: list[_Named], more: list[_Named]
    ) -> tuple[list[_Named], list[_Named], list[ConstraintRow]]:
        """Rows without those that nothing moves but rounding: tried at a few places. A row of rounding errors, divided by its
        own size, would be taken seriously."""
        if not rows and not more:
            return rows, more, []
        traced = self._differentiated(inputs, [x for _, x in rows], [x for _, x in more])
        symbols = [x for group in inputs.values() for x in group]
        n, m = self.structure.nv, len(rows) + len(more)
        flat = Expression(symbols[0].graph, symbols, [*traced.g, *traced.rate, *(x for row in traced.J for x in row)])
        rng = np.random.default_rng(11)
        largest, gaps = np.zeros(m), []
        for _ in range(3):
            values = np.array(flat(*rng.uniform(-1.0, 1.0, len(symbols)).tolist()), dtype=float)
            if not np.isfinite(values).all():
                return rows, more, []
            g, rate, J = np.split(values, [len(rows), len(rows) + m])
            gaps.append(g)
            largest = np.maximum(largest, np.maximum(np.abs(rate), np.abs(J.reshape(m, n)).max(axis=1, initial=0.0)))
        moved = largest > NOTHING * max(1.0, float(largest.max()))
        for (row, _), moves, gap in zip(rows, moved, np.transpose(gaps), strict=False):
            if not moves and np.ptp(gap) < 1e-9 < abs(gap[0]):
                raise ModelError(f"{row} can never be met: it stays at {gap[0]:.6g} whatever the motion")
        never = [row for (row, _), moves in zip(rows + more, moved, strict=True) if not moves]
        kept = [x for x, moves in zip(rows + more, moved, strict=True) if moves]
        first = int(moved[: len(rows)].sum())
        return kept[:first], kept[first:], never

    def _check_linear(self) -> None:
        """Rows of speeds must not have factors that depend on speeds."""
        speeds = [(x, 1.0 + 0.1 * k) for k, x in enumerate(self.traced_inputs["v"])]
        for row, factors in zip(self.rows[self.n_holonomic :], self.traced.J[self.n_holonomic :], strict=True):
            if any(isinstance(x, Symbol) or x != 0.0 for x in tangent(factors, speeds)):
                raise ModelError(f"{row}: a constraint of speeds must be linear in them")

    def _depends_on_time(self) -> bool:
        """Tried at a few places, at rest."""
        symbols = [x for group in self.traced_inputs.values() for x in group]
        rng = np.random.default_rng(3)
        for _ in range(3):
            values = [x for name, group in self.traced_inputs.items() for x in rng.uniform(0.1, 0.9, len(group)) * (name != "v")]
            if any(abs(x) > 1e-12 for x in Expression(symbols[0].graph, symbols, self.traced.rate)(*values)):
                return True
        return False


class _Local:
    """One constraint by itself, as an expression of the motion of its bodies and joints."""

    def __init__(self, structure: Structure, name: str, constraint: Constraint) -> None:
        self.name = name
        graph = Graph()
        on = Loads(structure, graph)
        label = f"joint {name!r}" if isinstance(constraint, ClosingJoint) else f"constraint {name!r}"
        first = _asked(constraint.positions, on, label)
        self._of_speed = {key for key in on.inputs if key[0] in ("v", "velocity")}
        second = _asked(constraint.speeds, on, label)
        if on.wrenches or on.torques:
            raise StateError(f"{label}: a constraint looks, it does not push")
        values = check_numbers([x for _, x in (*first, *second)], graph, label)
        if first and self._depends_on_speed(on, values[: len(first)]):
            raise ModelError(
                f"{label}: what a constraint of position keeps at zero must not depend on speeds; use SpeedConstraint"
            )
        self.first = [ConstraintRow(label, what) for what, _ in first]
        self.second = [ConstraintRow(label, what) for what, _ in second]
        self._keys = list(on.inputs)
        self._graph, self._inputs = graph, dict(on.inputs)
        self._expression = Expression(graph, list(on.inputs.values()), values)

    def _depends_on_speed(self, on: Loads, values: Sequence[Number]) -> bool:
        speeds = [(on.inputs[key], 1.0) for key in self._of_speed]
        return bool(speeds) and any(isinstance(x, Symbol) or x != 0.0 for x in tangent(values, speeds))

    def __call__(self, motion: dict[str, Any]) -> tuple[list[_Named], list[_Named]]:
        values = self._expression(*(motion[kind][index] for kind, index in self._keys))
        n = len(self.first)
        return list(zip(self.first, values[:n], strict=True)), list(zip(self.second, values[n:], strict=True))

    def wrenches(self, motion: dict[str, Any], lam: dict[ConstraintRow, Number]) -> dict[int, list[Number]]:
        """{row of a body: λ times the derivatives of the rows by its velocity}.

        A body that moves along its axis c moves r by row c of G (world → body); one that turns about it turns the other two.
        """
        forces = [lam.get(row, 0.0) for row in (*self.first, *self.second)]
        values = self._gradient(*(motion[kind][index] for kind, index in self._keys))
        slopes = dict[tuple[str, int], Number]()
        for k, key in enumerate(self._slopes):
            terms = values[k * len(forces) : (k + 1) * len(forces)]
            slopes[key] = sum((x * d for x, d in zip(forces, terms, strict=True) if not _is_zero(d)), 0.0)
        out = {}
        for body in sorted({index // 9 for kind, index in self._keys if kind == "G"} - {0}):
            G = motion["G"][9 * body : 9 * body + 9]
            r = [slopes.get(("r", 3 * body + k), 0.0) for k in range(3)]
            T = [slopes.get(("G", 9 * body + k), 0.0) for k in range(9)]
            u = [slopes.get(("velocity", 6 * body + c), 0.0) for c in range(6)]
            force = [u[c] + sum(r[k] * G[3 * c + k] for k in range(3)) for c in range(3)]
            moment = list[Number]()
            for c in range(3):
                one, two = 3 * ((c + 1) % 3), 3 * ((c + 2) % 3)
                moment.append(u[3 + c] + sum(T[one + k] * G[two + k] - T[two + k] * G[one + k] for k in range(3)))
            out[body] = force + moment
        return out

    @cached_property
    def _slopes(self) -> list[tuple[str, int]]:
        """The inputs that follow the bodies."""
        return [key for key in self._keys if key[0] in ("r", "G", "velocity")]

    @cached_property
    def _gradient(self) -> Expression:
        """Derivatives of all rows by each of `_slopes`: rows of position by places, rows of speeds by velocities."""
        n, flat = len(self.first), list[Number]()
        values = self._expression.outputs
        for key in self._slopes:
            seed = [(self._inputs[key], 1.0)]
            of_speed = key[0] == "velocity"
            flat += [0.0] * n if of_speed else tangent(values[:n], seed)
            flat += tangent(values[n:], seed) if of_speed else [0.0] * len(self.second)
        return Expression(self._graph, list(self._inputs.values()), flat)


def _is_zero(x: Number) -> bool:
    return isinstance(x, float) and x == 0.0


def _asked(function: Any, on: Loads, label: str) -> list[Row]:
    """The rows of a constraint; what sharnir itself refuses is said without a traceback."""
    try:
        return list(call_traced(function, [on], label))
    except TraceError as error:
        if isinstance(error.__cause__, ModelError):
            raise ModelError(f"{label}: {error.__cause__}") from None
        raise


def _sorted(rows: list[_Named]) -> tuple[list[_Named], list[ConstraintRow]]:
    """Rows with something to say, and those that hold whatever the motion."""
    kept, idle = [], []
    for row, value in rows:
        if isinstance(value, Symbol):
            kept.append((row, value))
        elif abs(value) < 1e-9:
            idle.append(row)
        else:
            raise ModelError(f"{row} can never be met: it stays at {value:.6g} whatever the motion")
    return kept, idle
