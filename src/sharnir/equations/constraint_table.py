"""All constraints of a model as one graph: what they keep at zero, its rate, the Jacobian and γ, by differentiation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backends.link import relink
from ..backends.run import run_program
from ..errors import ModelError
from ..model.constraints.base import Constraint
from ..model.structure import Structure
from ..programs import PROGRAMS
from ..trace import Expression, Graph, Number, Symbol, tangent
from .one_constraint import ConstraintRow, Named, OneConstraint

NOTHING = 1e-13
"""What rounding leaves of a row that does not move, relative to rows that do."""


@dataclass(frozen=True)
class TracedConstraints:
    """On the symbols of one graph: g (holonomic rows first), rate = Jv + …, J (rows × nv), gamma: J v̇ + gamma = 0."""

    g: tuple[Number, ...]
    rate: tuple[Number, ...]
    J: tuple[tuple[Number, ...], ...]
    gamma: tuple[Number, ...]


def table_of(model: Any) -> ConstraintTable:
    """The table of a model, made once."""
    structure = model.freeze()
    if "constraints" not in structure.cached:
        structure.cached["constraints"] = ConstraintTable(structure, model.constraints)
    return structure.cached["constraints"]


class ConstraintTable:
    """The rows of a model's constraints. Rows that hold whatever the motion are listed in `idle` and left out."""

    def __init__(self, structure: Structure, constraints: dict[str, Constraint]) -> None:
        self.structure = structure
        self._local = {name: OneConstraint(structure, name, constraint) for name, constraint in constraints.items()}
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
    def _values(self, inputs: dict[str, Any]) -> tuple[list[Named], list[Named]]:
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
        self, inputs: dict[str, Any], rows: list[Named], more: list[Named]
    ) -> tuple[list[Named], list[Named], list[ConstraintRow]]:
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


def _sorted(rows: list[Named]) -> tuple[list[Named], list[ConstraintRow]]:
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
