"""The parameters of a model: their values by name, and refusal of values that no model can have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import NOT_A_NUMBER, ModelError, StateError, brief
from ..trace import Expression, Symbol, at_values
from ..trace.parameters import names_in
from .body import Body, inertia_fault
from .element import Element, element, element_field
from .per_structure import per_structure
from .substitution import formulas_in, substituted
from .values import Scalar

if TYPE_CHECKING:
    from .model import Model


class ParameterView(Mapping[str, float]):
    """Values by name, read only; the error for an attempt to change one names the remedy."""

    def __init__(self, values: Mapping[str, float], what: str = "model.parameters", remedy: str = "") -> None:
        """`remedy`: the one to name, with {} for {name: value}; by default that of a model's parameters."""
        self._values, self._what, self._remedy = values, what, remedy

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __setitem__(self, name: str, value: object) -> None:
        pair = f"{{{name!r}: {brief(value)}}}"
        if self._remedy:
            raise StateError(f"{self._what} is read only: {self._remedy.format(pair)}")
        raise ModelError(
            f"{self._what} is read only; pass parameters={pair} to the call (simulate, rollout, every "
            "question to Dynamics), or take model.with_parameters({…})"
        )

    def __delitem__(self, name: str) -> None:
        if self._remedy:
            raise StateError(f"{self._what} is read only: {name!r} cannot be removed")
        raise ModelError(f"{self._what} is read only: a parameter cannot be removed; model.without_parameters() has none")

    def __repr__(self) -> str:
        return repr(dict(self._values))

    def __reduce__(self) -> Any:
        return dict, (dict(self._values),)


def parameter_value(name: str, value: Any, error: type[Exception] = ModelError) -> float:
    """A finite number."""
    try:
        found = float(value)
    except NOT_A_NUMBER:
        raise error(f"parameter {name!r}: expected a number, got {brief(value)}") from None
    if not math.isfinite(found):
        raise error(f"parameter {name!r}: expected a finite number, got {found}")
    return found


# --- values that no model can have: masses below zero, unphysical inertias, fields out of bounds
KEPT = 4096
"""How many valid values are remembered, so that repeated calls, and results derived from a motion, are not checked
again."""
MANY = 64
"""The number of rows up to which every one is checked."""


Check = tuple[Expression, Callable[[np.ndarray], tuple[int, str] | None]]
"""Formulas of parameters, and the fault of their values (rows, formulas): the row and the words, or None."""


def check_values(model: Model, rows: np.ndarray) -> None:
    """Refuse rows of values of all parameters for which the model would make no sense."""
    if not rows.shape[1]:
        return
    of_bodies, of_elements, possible = _checks(model)
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
    for formulas, fault_of in of_bodies:
        found = formulas(parameters=named)
        fault = fault_of(np.stack([np.broadcast_to(np.asarray(x, dtype=float), len(rows)) for x in found], axis=1))
        if fault is not None:
            raise _refused(named, formulas, fault, number, every)
    own = model.structure.parameters
    changed = {name for name, x in named.items() if (x != own[name]).any()}  # the others were checked at building
    for label, part, values_of in of_elements:
        for row in _looked_at(values_of(parameters=named), len(rows)) if not changed.isdisjoint(values_of.parameters) else ():
            values = {name: float(x[row]) for name, x in named.items()}
            try:
                substituted(part, values)
            except ModelError as error:
                words = str(error) if str(error).startswith(label) else f"{label}: {error}"
                raise _refused(named, values_of, (row, words), number, every) from None
    if len(possible) < KEPT:
        possible.add(key)


@per_structure
def _checks(model: Model) -> tuple[list[Check], list[tuple[str, Any, Expression]], set[bytes]]:
    """Checks of bodies; elements with their labels and their numbers that depend on parameters, to be built again with their
    values, since constructors check; digests of values that were found valid."""
    parts = model.parts
    every: list[tuple[str, Any]] = [(f"joint {joint.name!r}", joint.type) for joint in parts.joints]
    every += [(f"coupling of {j.name!r}", NonZero(j.follows.ratio)) for j in parts.joints if j.follows is not None]
    every += [(f"force {name!r}", force) for name, force in parts.forces.items()]
    every += [(f"constraint {name!r}", constraint) for name, constraint in parts.constraints.items()]
    every += [(f"body {body.name!r}", body.shape) for body in parts.bodies]
    elements = [(*one, formulas) for one in every if isinstance(one[1], Element) and (formulas := formulas_in(one[1]))]
    numbers = [(label, part, Expression(formulas[0].graph, (), formulas)) for label, part, formulas in elements]
    return [check for body in parts.bodies for check in _of_body(body)], numbers, set()


def _first_of_equals(rows: np.ndarray) -> np.ndarray:
    """Which rows differ from the one before."""
    new = np.zeros(len(rows), dtype=bool)
    new[0] = True
    for x in rows.T:  # `any` along an axis of a few numbers takes ten times as long
        new[1:] |= x[1:] != x[:-1]
    return np.flatnonzero(new)


def _looked_at(values: Sequence[Any], n: int) -> list[int]:
    """All of n rows, or of many those at which a number of the element is extreme, or nearest to zero: its valid values are an
    interval, perhaps without zero."""
    if n <= MANY:
        return list(range(n))
    every = [np.broadcast_to(np.asarray(x, dtype=float), n) for x in values]
    return sorted({int(k) for x in every for k in (np.argmin(x), np.argmax(x), np.argmin(np.abs(x)))})


def _refused(
    named: Mapping[str, np.ndarray], formulas: Expression, fault: tuple[int, str], number: np.ndarray, every: int
) -> StateError:
    """The error for a fault. `number`: that of every checked row among `every` row."""
    row, what = fault
    shown = ", ".join(f"{name!r} = {named[name][row]:g}" for name in names_in(formulas.outputs))
    return StateError(f"parameters {shown}{f' (row {number[row]})' if every > 1 else ''}: {what}")


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

        yield Expression(body.mass.graph, (), [body.mass]), mass_fault
    formulas = tuple(x for x in body.inertia if isinstance(x, Symbol))
    if formulas:
        where = np.array([isinstance(x, Symbol) for x in body.inertia])
        now = np.array(at_values(body.inertia, formulas[0].graph.defaults), dtype=float)
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

        yield Expression(formulas[0].graph, (), formulas), moments_fault


def _surely_possible(moments: np.ndarray) -> np.ndarray:
    """Which rows of xx, yy, zz, xy, xz, yz are those of a body, by some margin."""
    xx, yy, zz, xy, xz, yz = moments.T
    a, b, c = np.linalg.eigvalsh(np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)).T
    return (a > 1e-6 * c) & (a + b > (1.0 + 1e-6) * c)


def _with_inertia(body: Body, moments: np.ndarray) -> Body:
    return Body(body.name, 1.0, (0.0, 0.0, 0.0), tuple(moments.tolist()))
