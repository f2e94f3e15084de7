"""One constraint by itself: its rows as expressions of the motion of its bodies, and the forces of its multipliers on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import ModelError, StateError, TraceError
from ..model.constraints.base import Constraint
from ..model.constraints.closing import ClosingJoint
from ..model.joints.closing_rows import Row
from ..model.motion import Motion
from ..model.structure import Structure
from ..trace import Expression, Graph, Number, Symbol, call_traced, check_numbers, tangent

UNITS = {"position": "m", "distance": "m", "touching": "m", "slip": "m", "rotation": "rad", "turn": "rad"}
"""Of the residual of a row, by the first word of what it forbids."""


@dataclass(frozen=True)
class ConstraintRow:
    """Where a row comes from, and what it forbids."""

    owner: str
    what: str

    def __str__(self) -> str:
        return f"{self.owner}: {self.what}" if self.what else self.owner

    def amount(self, x: float, order: int) -> str:
        """|x| with its unit, x being a derivative of that order in time: "3 m/s²", or "3 /s²" where the unit is not known."""
        unit = UNITS.get(self.what.split(" ")[0], "") + ("", "/s", "/s²")[order]
        return f"{abs(x):.3g} {unit}".rstrip()


Named = tuple[ConstraintRow, Number]


class OneConstraint:
    """One constraint by itself, as an expression of the motion of its bodies and joints."""

    def __init__(self, structure: Structure, name: str, constraint: Constraint) -> None:
        self.name = name
        graph = Graph()
        on = Motion(structure, graph)
        label = f"joint {name!r}" if isinstance(constraint, ClosingJoint) else f"constraint {name!r}"
        first = _rows(constraint.positions, on, label)
        self._of_speed = {key for key in on.inputs if key[0] in ("v", "velocity")}
        second = _rows(constraint.speeds, on, label)
        if on.wrenches or on.torques:
            raise StateError(f"{label}: a constraint must not apply forces; use add_force for that")
        values = check_numbers([x for _, x in (*first, *second)], graph, label)
        if first and self._depends_on_speed(on, values[: len(first)]):
            raise ModelError(f"{label}: the residual of a constraint of position must not depend on speeds; use SpeedConstraint")
        self.first = [ConstraintRow(label, what) for what, _ in first]
        self.second = [ConstraintRow(label, what) for what, _ in second]
        self._keys = list(on.inputs)
        self._graph, self._inputs = graph, dict(on.inputs)
        self._expression = Expression(graph, list(on.inputs.values()), values)

    def _depends_on_speed(self, on: Motion, values: Sequence[Number]) -> bool:
        speeds = [(on.inputs[key], 1.0) for key in self._of_speed]
        return bool(speeds) and any(isinstance(x, Symbol) or x != 0.0 for x in tangent(values, speeds))

    def __call__(self, motion: Mapping[str, Sequence[Number]]) -> tuple[list[Named], list[Named]]:
        values = self._expression(*(motion[kind][index] for kind, index in self._keys))
        n = len(self.first)
        return list(zip(self.first, values[:n], strict=True)), list(zip(self.second, values[n:], strict=True))

    def wrenches(self, motion: Mapping[str, Sequence[Number]], lam: Mapping[ConstraintRow, Number]) -> dict[int, list[Number]]:
        """{number of a body: λ times the derivatives of the rows by its velocity}.

        A motion along body axis c changes r by row c of G (world → body); a rotation about it rotates the other two rows.
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
        """The inputs that depend on the motion of bodies."""
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


def _rows(function: Callable[[Motion], Sequence[Row]], on: Motion, label: str) -> list[Row]:
    """The rows of a constraint; a ModelError of sharnir's own is raised without the traceback of the trace."""
    try:
        found = call_traced(function, [on], label)
    except TraceError as error:
        if isinstance(error.__cause__, ModelError):
            raise ModelError(f"{label}: {error.__cause__}") from None
        raise
    rows = list(found) if np.iterable(found) else [found]
    if not all(isinstance(row, (tuple, list)) and len(row) == 2 for row in rows):
        raise ModelError(f"{label}: a constraint class must return rows [(name, residual), …], got {rows!r}")
    return rows
