"""The start of a motion: what was asked for, what had to be moved to close the loops, speeds that meet the constraints.

What is asked for is held or refused, in every start alike. Coordinates and speeds by name are asked for; those that are not named
are a guess, and an assembly moves them. A whole array is asked for too where a motion starts from it: a closure that is off by
rounding, or by the digits of a file, is corrected silently, any larger motion is an error; `assemble` takes it as a guess.
`fixed` says otherwise: what it names is held, everything else is a guess (speeds that v0 names are held beside it, with fixed=[]
nothing is); `nearest`: all is a guess but what `fixed` names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ...errors import AssemblyError
from ...model.model import Model
from ...model.states import check_state
from ...model.units import warn_of_degrees
from ...types import truth
from ..rows.constraint_table import ConstraintTable, Numbers, table_of
from ..rows.one_constraint import Scale
from .continuation import turned_alike
from .fixed_coordinates import Held, coordinate_rows, held_coordinates, held_speeds, stiff_first, undeformed
from .least_motion import Rows, least_motion, of_speeds, stacked
from .loop_closure import Closure, off_by
from .search import closed_position

MOVED = 1e-6
"""A coordinate or speed that was changed by more than this, relative to the largest of its kind, was moved."""
NEARLY_CLOSED = 10.0 * MOVED
"""Residuals, relative to the sizes of their terms, of a position that closes but for rounding or the digits of a file."""
SHOWN = 6
"""Coordinates that are named in a sentence."""


@dataclass(frozen=True, eq=False)
class StartState:
    """q0, v0 as they were asked for (neutral, at rest where nothing was said) and q, v from which a motion starts."""

    model: Model
    asked_q: np.ndarray
    asked_v: np.ndarray
    q: np.ndarray
    v: np.ndarray
    held: tuple[str, ...] = ()
    """Joints and coordinates that were held: named in q0 or in `fixed`."""

    kept: tuple[np.ndarray, np.ndarray] | None = None
    """(nv,) each: which coordinates, as speeds, and which speeds were held; None where none were."""

    @property
    def free(self) -> np.ndarray:
        """(2, nv): which coordinates, as speeds, and which speeds an assembly may move."""
        return np.ones((2, self.model.nv), dtype=bool) if self.kept is None else ~np.array(self.kept)

    @cached_property
    def moved(self) -> dict[str, float]:
        """Coordinates by name, and by how much they were moved."""
        change = self.q - turned_alike(self.model, self.asked_q, self.q)
        return _changes(self.model.q_names, change, self._scale.of_coordinates(self.q)) if change.any() else {}

    @cached_property
    def moved_speeds(self) -> dict[str, float]:
        """Speeds by name, and by how much they were changed."""
        change = self.v - self.asked_v
        return _changes(self.model.v_names, change, self._scale.of_speeds(self.q, self.v)) if change.any() else {}

    @cached_property
    def _scale(self) -> Scale:
        return Scale(self.model.structure, self.model.constraints)

    @property
    def words(self) -> str:
        """A sentence on what was held and moved; empty where the motion starts as it was asked to."""
        parts = [f"{' and '.join(map(repr, self.held)) if len(self.held) < 3 else f'{len(self.held)} coordinates'} held"] * bool(
            self.held and (self.moved or self.moved_speeds)
        )
        parts += [f"to meet the constraints {in_words(self.moved)}"] * bool(self.moved)
        parts += [f"speeds changed: {in_words(self.moved_speeds)}"] * bool(self.moved_speeds)
        return "; ".join(parts)


def in_words(moved: Mapping[str, float]) -> str:
    """'B' moved by −0.28, 'S' by 0.44 and 3 more: the largest first."""
    largest = sorted(moved.items(), key=lambda item: -abs(item[1]))
    shown = ", ".join(f"{name!r} {'moved ' if k == 0 else ''}by {x:.3g}" for k, (name, x) in enumerate(largest[:SHOWN]))
    return shown + (f" and {len(largest) - SHOWN} more" if len(largest) > SHOWN else "")


def _changes(names: Sequence[str], change: np.ndarray, size: np.ndarray) -> dict[str, float]:
    return {names[k]: float(change[k]) for k in np.flatnonzero(np.abs(change) > MOVED * size).tolist()}


def is_moved(model: Model, asked: np.ndarray, used: np.ndarray) -> np.ndarray:
    """(…,): whether positions (…, nq) differ by more than rounding, or the digits of a file."""
    change = np.abs(used - turned_alike(model, asked, used))
    return np.asarray((change > MOVED * table_of(model).scale.of_coordinates(used)).any(axis=-1))


@dataclass(frozen=True)
class Asked:
    """How a start was asked for: coordinates and speeds that were named, None where whole arrays were given; and what `fixed`
    names, None where nothing was said."""

    coordinates: Sequence[str] | None = None
    speeds: Sequence[str] | None = None
    fixed: Sequence[str] | None = None

    @classmethod
    def by(cls, q0: Start, v0: Start, fixed: Sequence[str] | None = None) -> Asked:
        coordinates, speeds = ([*(x or ())] if x is None or isinstance(x, Mapping) else None for x in (q0, v0))
        return cls(coordinates, speeds, fixed)

    @property
    def whole_q(self) -> bool:
        """Whether all coordinates are as they must be."""
        return self.coordinates is None and self.fixed is None

    @property
    def whole_v(self) -> bool:
        return self.speeds is None and self.fixed is None

    def held(self, model: Model) -> Held:
        """Coordinates."""
        return held_coordinates(model, (self.coordinates or []) if self.fixed is None else self.fixed)

    def held_speeds(self, model: Model) -> Held:
        if self.speeds is None and self.fixed is not None:
            return self.held(model)
        return held_speeds(model, [] if self.fixed is not None and not len(self.fixed) else self.speeds or [])


def as_guess(
    model: Model, q0: Start, v0: Start, fixed: Sequence[str] | None, nearest: bool
) -> tuple[Start, Start, Sequence[str] | None]:
    """q0, v0 and `fixed` of a start; with `nearest` nothing is asked for by its name."""
    if not truth(nearest, "nearest"):
        return q0, v0, fixed
    return model.coordinates(q0), None if v0 is None else model.speeds(v0), fixed or []


def assemble(
    model: Model,
    q0: Start = None,
    v0: Start = None,
    t: float = 0.0,
    fixed: Sequence[str] | None = None,
    parameters: Mapping[str, float] | None = None,
    nearest: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds that meet all constraints: what q0 and v0 name is held, whole arrays are guesses."""
    warn_of_degrees(model, q0)
    q0, v0, fixed = as_guess(model, q0, v0, fixed, nearest)
    q, v, t = check_state(model, q0, v0, t)
    asked = Asked.by(q0, v0, fixed)
    if fixed is None:
        asked = Asked(asked.coordinates or [], asked.speeds or [])
    start = start_at(model, q, v, t, table_of(model).at(tuple(model.parameter_values(parameters).values())), asked)
    return start.q, start.v


def assemble_start(
    model: Model,
    q0: Start,
    v0: Start,
    t: float,
    constraints: ConstraintTable,
    parameters: Numbers = (),
    fixed: Sequence[str] | None = None,
) -> StartState:
    """The start of a motion. An AssemblyError where what was asked for cannot be held."""
    q, v, t = check_state(model, q0, v0, t)
    return start_at(model, q, v, t, constraints.at(parameters), Asked.by(q0, v0, fixed))


def start_at(
    model: Model, asked_q: np.ndarray, asked_v: np.ndarray, t: float, table: ConstraintTable, asked: Asked
) -> StartState:
    """The start of a motion from arrays."""
    held, named_v = asked.held(model), asked.held_speeds(model)
    q = closed_start(model, table, guided(model, table, asked_q, t, asked), t, held, asked.fixed is not None)
    v = _nearly_met(model, table, q, asked_v, t, named_v)
    check_accelerations(table, q, v, t)
    same = [q[list(held.coordinates)] == asked_q[list(held.coordinates)], v[named_v.speeds] == asked_v[named_v.speeds]]
    kept = held.speeds & bool(same[0].all()), named_v.speeds & bool(same[1].all())
    start = StartState(model, asked_q, asked_v, q, v, held.names, kept)
    if asked.whole_q and start.moved:
        row, gap = table.worst(table.evaluate(asked_q, asked_v, t)["g"])
        raise AssemblyError(
            f"q0 does not close the loops: {row} is off by {off_by(model, row, gap)}; the nearest closed position found "
            f"has {in_words(start.moved)}. Name what must stay, fixed=[joints], or take all of "
            "q0 as a guess, nearest=True"
        )
    if asked.whole_v and start.moved_speeds:
        row, rate = table.worst(table.evaluate(q, asked_v, t)["rate"])
        raise AssemblyError(
            f"v0 does not meet the constraints: {row} changes by {row.amount(rate, 1)}; the nearest speeds that do "
            f"have {in_words(start.moved_speeds)}. Name what must stay, fixed=[joints], or take all of "
            "it as a guess, nearest=True"
        )
    return start


def guided(model: Model, table: ConstraintTable, q: np.ndarray, t: float, asked: Asked) -> np.ndarray:
    """The guess q moved as near to closing as it comes with all that is named where it is, beside `fixed` too: so a guess by name
    chooses the branch, and is not one of many coordinates."""
    if not asked.fixed or not asked.coordinates:
        return q
    named = held_coordinates(model, [*asked.fixed, *asked.coordinates])
    free = ~(undeformed(model, named) or named).speeds
    end = Closure(model, table, t, free, named.rows, q[list(named.rows)]).close_if_defined(q)
    return q if end is None else np.where(np.isin(np.arange(model.nq), [*named.rows, *named.whole]), q, end.q)


def closed_start(model: Model, table: ConstraintTable, asked: np.ndarray, t: float, held: Held, is_fixed: bool) -> np.ndarray:
    """The position a motion starts from; `is_fixed`: what is held was said by `fixed`."""
    if not is_fixed and (q := _nearly_closed(model, table, asked, t, held)) is not None:
        return q
    try:
        return closed_position(model, table, asked, t, held)
    except AssemblyError as error:
        if is_fixed or not held.names:
            raise
        names = ", ".join(map(repr, held.names[:SHOWN])) + f" and {len(held.names) - SHOWN} more" * (len(held.names) > SHOWN)
        raise AssemblyError(
            f"{error}. What q0 names is held ({names}): name what must stay, fixed=[…], or take it as a guess, nearest=True"
        ) from None


def _nearly_closed(model: Model, table: ConstraintTable, asked: np.ndarray, t: float, held: Held) -> np.ndarray | None:
    """The closed position next to one that closes but for rounding, or for the digits of a file; else None.

    Where as many coordinates are named as this one names, none of them could give way otherwise."""
    free = ~(undeformed(model, held) or held).speeds
    g, J = Closure(model, table, t, free).at(asked)
    if not held.coordinates or not (np.abs(g) <= NEARLY_CLOSED * table.scale.of_rows(asked, J)).all():
        return None
    if (exact := Closure(model, table, t, free, held.rows, asked[list(held.rows)]).close(asked)).closed:
        return exact.q
    near = Closure(model, table, t, np.ones(model.nv, dtype=bool)).close(asked)
    return near.q if near.closed and not is_moved(model, asked, near.q) else None


def _nearly_met(model: Model, table: ConstraintTable, q: np.ndarray, asked: np.ndarray, t: float, held: Held) -> np.ndarray:
    try:
        return stiff_first(model, held, lambda held: nearest_speeds(model, table, q, asked, t, held))
    except AssemblyError:
        v = nearest_speeds(model, table, q, asked, t, held_speeds(model, []))
        if (np.abs(v - asked) > MOVED * table.scale.of_speeds(q, v)).any():
            raise
        return v


# --- speeds and accelerations that meet the constraints
RANK = 1e-7
"""Singular values of J below this, relative to the largest, are zero: a straight position is known to no more than the root of
rounding, and speeds that follow from so small a number mean nothing."""

SPEEDS_MET, ACCELERATIONS_MET = 1e-9, 1e-6
"""Tolerances of the rates of constraints, and of their accelerations, relative to the sizes of their terms."""
MOST_SOLUTIONS = 20
"""Limit on the refinements of the solution of a large linear system."""

Start = ArrayLike | Mapping[str, ArrayLike] | None
"""Coordinates or speeds: an array, {joint: value}, or None for the neutral position at rest."""


def nearest_speeds(model: Model, table: ConstraintTable, q: np.ndarray, v: np.ndarray, t: float, held: Held) -> np.ndarray:
    """The speeds nearest to v that meet the constraints, those held not changing."""
    now = table.finite(q, v, t, sparse=True)
    J, rate = now["J"], now["rate"]
    if not np.abs(rate).max(initial=0.0):
        return v
    if held.rows:
        J = stacked(J, coordinate_rows(model, q, held.rows, t))
        rate = np.concatenate([rate, np.zeros(len(held.rows))])
    v = v + np.where(held.speeds, 0.0, _least_change(of_speeds(J, ~held.speeds), rate))
    now = table.evaluate(q, v, t, sparse=True)
    if (np.abs(now["rate"]) > SPEEDS_MET * table.scale.of_rates(q, v, now["J"])).any():
        raise refusal(table, now["rate"], 1)
    return v


def check_accelerations(table: ConstraintTable, q: np.ndarray, v: np.ndarray, t: float) -> None:
    """Refuse speeds that no accelerations continue: those of drives may disagree, and a position may be singular."""
    now = table.finite(q, v, t, sparse=True)
    J, gamma = now["J"], now["gamma"]
    if not gamma.any():
        return
    left = J @ _least_change(J, gamma) + gamma
    if (np.abs(left) > ACCELERATIONS_MET * table.scale.of_accelerations(q, gamma, J)).any():
        raise refusal(table, left, 2)


def _least_change(J: Rows, wanted: np.ndarray) -> np.ndarray:
    """The least x with J x = −wanted, as nearly as that can be, to rounding."""
    if isinstance(J, np.ndarray):
        return -np.linalg.lstsq(J, wanted, rcond=RANK)[0]
    x, left = np.zeros(J.shape[1]), wanted
    for _ in range(MOST_SOLUTIONS):
        more = x + least_motion(J, left)
        still = wanted + J @ more
        if not np.abs(still).max() < np.abs(left).max():
            break
        x, left = more, still
    return x


_REMEDIES = {
    1: "check that drives agree with one another and with the speeds that are named or held, or leave more of them free; "
    "nearest=True takes what is named as a guess",
    2: "check that drives agree with one another, and speeds in singular positions",
}
"""Remedies where speeds (1) or accelerations (2) cannot be found."""


def refusal(table: ConstraintTable, left: np.ndarray, order: int) -> AssemblyError:
    """The error that names the worst row; `left`: derivatives of the residuals of that order in time."""
    row, most = table.worst(left)
    what = "the mechanism cannot be assembled" if order < 2 else "no accelerations meet the constraints"
    return AssemblyError(f"{what}: {row} stays violated by {row.amount(most, order)}; {_REMEDIES[order]}")
