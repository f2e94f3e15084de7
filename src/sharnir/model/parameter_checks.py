"""Refusal of values of parameters that no model can have: masses below zero, unphysical inertias, fields out of bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import ModelError, StateError
from ..trace import Expression, Symbol
from ..trace.parameters import names_in
from .body import Body, inertia_fault
from .element import Element, element, element_field
from .parametric import floats
from .per_structure import per_structure
from .substitution import formulas_in, substituted
from .values import Scalar

if TYPE_CHECKING:
    from .model import Model

KEPT = 4096
"""How many valid values are remembered, so that repeated calls, and results derived from a motion, are not checked
again."""
MANY = 64
"""The number of rows up to which every one is checked."""


class Check(NamedTuple):
    """Formulas of parameters, and the fault of their values (rows, formulas): the row and the words, or None."""

    formulas: tuple[Symbol, ...]
    fault: Callable[[np.ndarray], tuple[int, str] | None]


def check_values(model: Model, rows: np.ndarray) -> None:
    """Refuse rows of values of all parameters for which the model would make no sense."""
    if not rows.shape[1]:
        return
    checks, elements, possible = _checks(model)
    every = len(rows)
    if every > 1:  # of a motion every row may be the same
        number = _first_of_equals(rows)
        rows = rows[number]
        key = blake2b(rows.tobytes()).digest()
    else:
        number = np.zeros(1, dtype=np.int64)
        key = rows.tobytes()
    if key in possible:
        return
    bad = ~np.isfinite(rows)
    if bad.any():
        k = int(np.argwhere(bad)[0, 1])
        raise StateError(f"parameter {list(model.structure.parameters)[k]!r} must be a finite number, got {rows[bad][0]}")
    named = dict(zip(model.structure.parameters, rows.T, strict=True))
    for check, expression in checks:
        found = expression(parameters=named)
        numbers = np.stack([np.broadcast_to(np.asarray(x, dtype=float), len(rows)) for x in found], axis=1)
        fault = check.fault(numbers)
        if fault is not None:
            raise _refused(named, check.formulas, fault, number, every)
    own = model.structure.parameters
    changed = {name for name, x in named.items() if (x != own[name]).any()}  # the others were checked at building
    for label, part, values_of, names in elements:
        for row in _looked_at(values_of(parameters=named), len(rows)) if not changed.isdisjoint(names) else ():
            values = {name: float(x[row]) for name, x in named.items()}
            try:
                substituted(part, values)
            except ModelError as error:
                words = str(error) if str(error).startswith(label) else f"{label}: {error}"
                raise _refused(named, formulas_in(part), (row, words), number, every) from None
    if len(possible) < KEPT:
        possible.add(key)


class Checks(NamedTuple):
    """Checks of the values of all parameters of a model."""

    of_bodies: list[tuple[Check, Expression]]
    of_elements: list[tuple[str, Any, Expression, list[str]]]
    """Label, element, its numbers that depend on parameters, and the names of these."""
    possible: set[bytes]
    """Digests of values that were found valid."""


@per_structure
def _checks(model: Model) -> Checks:
    of_bodies = [check for body in model.parts.bodies for check in _of_body(body)]
    return Checks(
        [(check, Expression(check.formulas[0].graph, (), check.formulas)) for check in of_bodies],
        [(label, part, _values_of(part), names_in(formulas_in(part))) for label, part in _elements(model)],
        set(),
    )


def _first_of_equals(rows: np.ndarray) -> np.ndarray:
    """Which rows differ from the one before."""
    new = np.zeros(len(rows), dtype=bool)
    new[0] = True
    for x in rows.T:  # `any` along an axis of a few numbers takes ten times as long
        new[1:] |= x[1:] != x[:-1]
    return np.flatnonzero(new)


def _values_of(part: Any) -> Expression:
    """The numbers of an element that depend on parameters."""
    formulas = formulas_in(part)
    return Expression(formulas[0].graph, (), formulas)


def _looked_at(values: Sequence[Any], n: int) -> list[int]:
    """All of n rows, or of many those at which a number of the element is extreme, or nearest to zero: its valid values are an
    interval, perhaps without zero."""
    if n <= MANY:
        return list(range(n))
    every = [np.broadcast_to(np.asarray(x, dtype=float), n) for x in values]
    return sorted({int(k) for x in every for k in (np.argmin(x), np.argmax(x), np.argmin(np.abs(x)))})


def _refused(
    named: Mapping[str, np.ndarray], formulas: Sequence[Symbol], fault: tuple[int, str], number: np.ndarray, every: int
) -> StateError:
    """The error for a fault. `number`: that of every checked row among `every` row."""
    row, what = fault
    shown = ", ".join(f"{name!r} = {named[name][row]:g}" for name in names_in(formulas))
    return StateError(f"parameters {shown}{f' (row {number[row]})' if every > 1 else ''}: {what}")


def _elements(model: Model) -> Iterator[tuple[str, Any]]:
    """Elements that depend on parameters, to be built again with their values: constructors check."""
    for joint in model.parts.joints:
        yield from _parametric(f"joint {joint.name!r}", joint.type)
        if joint.follows is not None and formulas_in(joint.follows.ratio):
            yield f"coupling of {joint.name!r}", NonZero(joint.follows.ratio)
    for name, force in model.parts.forces.items():
        yield from _parametric(f"force {name!r}", force)
    for name, constraint in model.parts.constraints.items():
        yield from _parametric(f"constraint {name!r}", constraint)
    for body in model.parts.bodies:
        yield from _parametric(f"body {body.name!r}", body.shape)


def _parametric(label: str, part: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(part, Element) and formulas_in(part):
        yield label, part


@element()
class NonZero(Element):
    """A number that must not vanish."""

    ratio: float = element_field(Scalar(nonzero=True))


def _of_body(body: Body) -> Iterator[Check]:
    label = f"body {body.name!r}"
    if isinstance(body.mass, Symbol):

        def mass_fault(values: np.ndarray) -> tuple[int, str] | None:
            row = int(np.argmin(values[:, 0]))
            mass = values[row, 0]
            return None if mass >= 0.0 else (row, f"{label} would have a mass of {mass:g} kg; it must be zero or positive")

        yield Check((body.mass,), mass_fault)
    formulas = tuple(x for x in body.inertia if isinstance(x, Symbol))
    if formulas:
        inertia = np.array(body.inertia, dtype=object)
        where = np.array([isinstance(x, Symbol) for x in body.inertia])
        now = floats(inertia, formulas[0].graph.defaults)
        if inertia_fault(_with_inertia(body, now)) is not None:  # accepted as it is: check_inertia=False
            return

        def moments_fault(values: np.ndarray) -> tuple[int, str] | None:
            moments = np.tile(now, (len(values), 1))
            moments[:, where] = values
            for row in np.flatnonzero(~_surely_possible(moments)).tolist():
                fault = inertia_fault(_with_inertia(body, moments[row]))
                if fault:
                    return row, f"the inertia of {label} {fault}"
            return None

        yield Check(formulas, moments_fault)


def _surely_possible(moments: np.ndarray) -> np.ndarray:
    """Which rows of xx, yy, zz, xy, xz, yz are those of a body, by some margin."""
    xx, yy, zz, xy, xz, yz = moments.T
    a, b, c = np.linalg.eigvalsh(np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)).T
    return (a > 1e-6 * c) & (a + b > (1.0 + 1e-6) * c)


def _with_inertia(body: Body, moments: np.ndarray) -> Body:
    return Body(body.name, 1.0, (0.0, 0.0, 0.0), tuple(moments.tolist()))
