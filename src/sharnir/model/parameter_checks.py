"""Values of parameters that no model can have: a mass below zero, an inertia that no body has, a field out of its bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import StateError
from ..trace import Expression, Symbol
from ..trace.parameters import names_in
from .body import Body, inertia_fault
from .element import Element, described
from .parametric import floats
from .substitution import formulas_in
from .values import Fault, Scalar, ScalarOrVector, Vector

if TYPE_CHECKING:
    from .model import Model

KEPT = 4096
"""Values found to be possible that are remembered, so that repeated calls are not checked again."""


class Check(NamedTuple):
    """Formulas of parameters, and what is wrong with their values (rows, formulas): the row and the words, or None."""

    formulas: tuple[Symbol, ...]
    fault: Callable[[np.ndarray], tuple[int, str] | None]


def check_values(model: Model, rows: np.ndarray) -> None:
    """Refuse rows of values of all parameters for which the model would make no sense."""
    cached = model.structure.cached
    if "parameter checks" not in cached:
        cached["parameter checks"] = list(_checks(model)), set()
    checks, possible = cached["parameter checks"]
    key = rows.tobytes() if len(rows) == 1 else None
    if key in possible:
        return
    bad = ~np.isfinite(rows)
    if bad.any():
        k = int(np.argwhere(bad)[0, 1])
        raise StateError(f"parameter {list(model.parameters)[k]!r} must be a finite number, got {rows[bad][0]}")
    named = dict(zip(model.parameters, rows.T, strict=True))
    for check in checks:
        found = Expression(check.formulas[0].graph, (), check.formulas)(parameters=named)
        values = np.stack([np.broadcast_to(np.asarray(x, dtype=float), len(rows)) for x in found], axis=1)
        fault = check.fault(values)
        if fault is not None:
            row, what = fault
            shown = ", ".join(f"{name!r} = {named[name][row]:g}" for name in names_in(check.formulas))
            where = f" (row {row})" if len(rows) > 1 else ""
            raise StateError(f"parameters {shown}{where}: {what}")
    if key is not None and len(possible) < KEPT:
        possible.add(key)


def _checks(model: Model) -> Iterator[Check]:
    for body in model._bodies:
        yield from _of_body(body)
    elements = [
        *((f"joint {joint.name!r}", joint.type) for joint in model._joints),
        *((f"force {name!r}", force) for name, force in model._forces.items()),
        *((f"constraint {name!r}", constraint) for name, constraint in model._constraints.items()),
        *((f"body {body.name!r}", body.shape) for body in model._bodies),
    ]
    for label, part in elements:
        if isinstance(part, Element):
            yield from _of_element(label, part)


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
            for row, numbers in enumerate(np.unique(values, axis=0)):
                moments = now.copy()
                moments[where] = numbers
                fault = inertia_fault(_with_inertia(body, moments))
                if fault:
                    row = int(np.argmin(np.abs(values - numbers).sum(axis=1)))
                    return row, f"the inertia of {label} {fault}"
            return None

        yield Check(formulas, moments_fault)


def _with_inertia(body: Body, moments: np.ndarray) -> Body:
    return Body(body.name, 1.0, (0.0, 0.0, 0.0), tuple(moments.tolist()))


def _of_element(label: str, element: Element) -> Iterator[Check]:
    """Every number that has bounds of its own."""
    for one in described(type(element)):
        kind: Any = one.kind
        bounds = kind if isinstance(kind, Scalar) else kind.of if isinstance(kind, (Vector, ScalarOrVector)) else None
        value = getattr(element, one.name)
        if isinstance(bounds, Scalar):
            for formula in formulas_in(value):
                yield Check((formula,), _bound_fault(bounds, f"{label}: {one.name}"))
        elif isinstance(value, Element):
            yield from _of_element(label, value)


def _bound_fault(bounds: Scalar, what: str) -> Callable[[np.ndarray], tuple[int, str] | None]:
    def fault(values: np.ndarray) -> tuple[int, str] | None:
        for row in (int(np.argmin(values[:, 0])), int(np.argmax(values[:, 0]))):
            try:
                bounds.number(float(values[row, 0]))
            except Fault as error:
                return row, f"{what}: {error.what}"
        return None

    return fault
