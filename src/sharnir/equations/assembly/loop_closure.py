"""Closing the loops from one guess: a damped Newton method in the coordinates that may move, with steps of least length.

It ends in a closed position, or where |g| is least, never where only J is singular. Joints closed at half a turn: `turned_joint`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...backends import sizes
from ...backends.run import Values, with_bodies
from ...backends.traced import state_inputs
from ...errors import AssemblyError, SingularError
from ...model.constraints.closing import ClosingJoint
from ...model.model import Model
from ...model.motion import Motion
from ...model.per_structure import per_structure
from ...trace import Expression, Graph, Number, Symbol
from ..motion.retraction import retract
from ..rows.body_rows import body_rows
from ..rows.constraint_table import ConstraintTable, Numbers
from ..rows.one_constraint import ConstraintRow
from .fixed_coordinates import coordinate_rows
from .least_motion import Rows, Step, damped_newton, least_motion, of_speeds, stacked

TOLERANCE = 1e-11
"""Residuals of a closed position, relative to the sizes of their terms; most are brought down to rounding."""
ROUNDING = 2.0 * float(np.finfo(float).eps)
MAX_ITERATIONS = 100
STATIONARY = 1e-9
"""|Jᵀg| relative to |J| |g|: no small motion brings the mechanism nearer to a closed position."""
NEARLY = 1e-3
"""Relative residuals below which sizes are found anew: that takes as long as an iteration."""
PATIENCE, SLOW = 10, 0.98
"""Iterations in which the sum of squares must fall to this share of itself for the search to go on."""
MOTION = 0.5
"""The largest motion of a step, rad; of metres as many as the mechanism is open by."""


@dataclass(frozen=True)
class Closing:
    """The end of a search for a closed position."""

    q: np.ndarray
    g: np.ndarray
    """Residuals of the rows of position, then of held coordinates."""
    closed: bool
    turned: str = ""
    """The joint that is closed at half a turn from where it belongs: its rows vanish there too."""


class _Iterate(NamedTuple):
    """A position, its residuals with their Jacobian, and the sum of their squares."""

    q: np.ndarray
    g: np.ndarray
    J: Rows
    cost: float


class Closure:
    """The rows of position at one time as a system of equations in the speeds in `free` (nv,).

    held   coordinates without a speed of their own (the position of a free joint), and their values: rows of their own
    """

    def __init__(
        self,
        model: Model,
        table: ConstraintTable,
        t: float,
        free: np.ndarray,
        held: Sequence[int] = (),
        values: np.ndarray | None = None,
    ) -> None:
        self.model, self.table, self.t, self.free = model, table, t, free
        self.held, self.values = list(held), values
        self._at_rest = np.zeros(model.nv)

    def at(self, q: np.ndarray, check: bool = False) -> tuple[np.ndarray, Rows]:
        """g and J. `check`: what is not defined there is an error."""
        now = (self.table.finite if check else self.table.evaluate)(q, self._at_rest, self.t, sparse=True)
        g = now["g"]
        J: Rows = now["J"][: len(g)]
        if self.held:
            assert self.values is not None
            g = np.concatenate([g, q[self.held] - self.values])
            J = stacked(J, coordinate_rows(self.model, q, self.held, self.t))
        return g, of_speeds(J, self.free)

    def close(self, q: np.ndarray, iterations: int = MAX_ITERATIONS, enough: float = ROUNDING) -> Closing:
        """The closed position that the guess q leads to, or the position where the search ended; a SingularError where a row is
        not defined at the guess.

        enough   residuals, relative to the sizes of their terms, below which nothing more is done
        """
        start = self._iterate(retract(self.model, q, self._at_rest, self.t), check=True)
        before, gap, size = np.inf, np.inf, np.ones(len(start.g))
        tried = 0

        def step(now: _Iterate, damping: float, gain: float) -> Step | None:
            nonlocal before, gap, size, tried
            if tried % PATIENCE == 0:
                if now.cost > SLOW * before:
                    return None
                before = now.cost
            size = self.table.scale.of_rows(now.q, now.J) if gap < NEARLY or not tried else size
            gap, tried = _gap(now.g / size), tried + 1
            if gap <= enough:
                return None
            motion = least_motion(now.J, now.g, damping)
            motion *= min(1.0, MOTION * max(1.0, _gap(now.g)) / max(float(np.abs(motion).max(initial=0.0)), 1e-300))
            promised = now.cost - float(((now.g + now.J @ motion) ** 2).sum())
            if promised <= 0.0 or (damping and gap > TOLERANCE and _is_stationary(now.g, now.J)):
                return None
            return Step(motion, promised, 0.9 if gap <= TOLERANCE else None)  # down to rounding

        def moved(now: _Iterate, motion: np.ndarray) -> _Iterate:
            return self._iterate(retract(self.model, now.q, motion, self.t))

        q, g, J, _ = damped_newton(start, step, moved, iterations if np.isfinite(start.cost) else 0)
        closed = _gap(g / self.table.scale.of_rows(q, J)) <= max(TOLERANCE, enough)
        turned = turned_joint(self.model, q, self.t, self.table.parameters) if closed else ""
        return Closing(q, g, closed and not turned, turned)

    def _iterate(self, q: np.ndarray, check: bool = False) -> _Iterate:
        g, J = self.at(q, check)
        return _Iterate(q, g, J, float(g @ g))

    def close_if_defined(self, q: np.ndarray, iterations: int = MAX_ITERATIONS, enough: float = ROUNDING) -> Closing | None:
        """`close` from a start of our own choice: None where a row is not defined there."""
        try:
            return self.close(q, iterations, enough)
        except (SingularError, np.linalg.LinAlgError):
            return None

    def closed(self, q: np.ndarray, iterations: int = MAX_ITERATIONS, enough: float = ROUNDING) -> np.ndarray | None:
        """The closed position that q leads to; None where there is none, or a row is not defined at q."""
        found = self.close_if_defined(q, iterations, enough)
        return found.q if found is not None and found.closed else None


REMEDY = "check lengths and places of joints, give coordinates nearer to a closed position, or leave more joints free"


def not_closed(model: Model, table: ConstraintTable, found: Closing, remedy: str = REMEDY) -> AssemblyError:
    if found.turned:
        return AssemblyError(
            f"the mechanism cannot be assembled: joint {found.turned!r} closes only at half a turn from where it "
            f"belongs; {remedy}"
        )
    row, g = table.worst(found.g)
    return AssemblyError(f"the mechanism cannot be assembled: {row} stays violated by {off_by(model, row, g)}; {remedy}")


def off_by(model: Model, row: ConstraintRow, residual: float) -> str:
    """The violation of a row of position, in words: for a `Distance`, whose residual is another function, the distance."""
    constraint = next((x for name, x in model.constraints.items() if row.owner == f"constraint {name!r}"), None)
    amount = constraint.true_amount(row.what) if constraint is not None else None
    return row.amount(residual if amount is None else amount(residual), 0)


def _gap(g: np.ndarray) -> float:
    return float(np.abs(g).max(initial=0.0))


def _is_stationary(g: np.ndarray, J: Rows) -> bool:
    return bool(np.linalg.norm(J.T @ g) <= STATIONARY * np.sqrt(float((J * J).sum())) * np.linalg.norm(g))


# --- cut joints whose rows vanish at half a turn too: which side of it they are on
# An axis shared by two frames is perpendicular to the same two directions when it points the other way, and the vector part of a
# rotation vanishes at half a turn about any axis. Neither is a position of the joint. Where no motion turns the joint over, as in
# a plane, it is as it was built.
def turned_joint(model: Model, q: np.ndarray, t: float, parameters: Numbers = ()) -> str:
    """A cut joint that is half a turn from where it belongs, in a position that meets its rows; empty where there is none."""
    s, senses = model.structure, _senses(model)
    if not senses.names:
        return ""
    own = [float(x) for x in parameters] or list(s.parameters.values())
    values = senses.at({"q": q.tolist(), "v": [0.0] * s.nv, "parameter": own, "t": [float(t)]})
    return next((name for name, x in zip(senses.names, values, strict=True) if not x > 0.0), "")


def turned_rows(model: Model, q: np.ndarray, t: float, parameters: np.ndarray) -> np.ndarray:
    """(n,): whether there is one, of rows of positions and of values of all parameters; of models with few speeds."""
    senses = _senses(model)
    if not senses.names:
        return np.zeros(len(q), dtype=bool)
    found = senses.at({"q": [*q.T], "v": [0.0] * model.nv, "parameter": [*parameters.T], "t": [t]})
    return np.any([~(np.broadcast_to(x, len(q)) > 0.0) for x in found], axis=0)


class _Senses:
    """Numbers that are positive where cut joints are as they should be, of those that motion can turn over."""

    def __init__(self, model: Model) -> None:
        self.structure, self._local = model.structure, list[tuple[Expression, list[tuple[str, int]]]]()
        self.names = list[str]()
        turning = {row.owner for row in body_rows(model).rows if row.what.startswith("rotation")}  # the others' axes never move
        for name, constraint in model.constraints.items():
            if isinstance(constraint, ClosingJoint) and f"joint {name!r}" in turning:
                graph = Graph()
                on = Motion(self.structure, graph)
                sense = constraint.sense(on)
                if isinstance(sense, Symbol):
                    self.names.append(name)
                    self._local.append((Expression(graph, list(on.inputs.values()), [sense]), list(on.inputs)))

    def at(self, values: Values) -> list[float]:
        if self.structure.nv < sizes.SPEEDS:
            return list(self._flat(*(x for group in values.values() for x in group)))
        return [float(x) for x in self._of(with_bodies(self.structure, values, float))]

    def _of(self, motion: Values) -> list[Number]:
        return [local(*(motion[kind][index] for kind, index in reads))[0] for local, reads in self._local]

    @cached_property
    def _flat(self) -> Expression:
        """All of them as one expression of the state."""
        graph = Graph()
        inputs = state_inputs(self.structure, graph)
        outputs = self._of(with_bodies(self.structure, inputs))
        return Expression(graph, [x for group in inputs.values() for x in group], outputs)


@per_structure
def _senses(model: Model) -> _Senses:
    return _Senses(model)
