"""Numbers of sixty digits: the kernels run on them as on any other numbers, and give what rounding would have hidden.

The methods that solve for accelerations differ in what they lose where masses differ much (docs/theory/conditioning.md);
`accelerations` says what is right.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

import sharnir as sh
from sharnir.backends.run import input_sizes, run_program
from sharnir.equations.motion.constrained import ConstrainedEquations
from sharnir.programs import program_for
from sharnir.programs.methods import METHODS

DIGITS = 60


class Precise:
    """A decimal number of `DIGITS` digits with the operations of the kernels."""

    __slots__ = ("value",)

    def __init__(self, value: Decimal | float) -> None:
        self.value = Decimal(value)  # a float has a finite decimal expansion: nothing is rounded

    def apply(self, name: str, *args: Any) -> Any:
        if name == "select":
            return args[1] if args[0] else args[2]
        return Precise(_FUNCTIONS[name](*(_decimal(x) for x in args)))

    def __add__(self, other: Any) -> Precise:
        return Precise(self.value + _decimal(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Precise:
        return Precise(self.value - _decimal(other))

    def __rsub__(self, other: Any) -> Precise:
        return Precise(_decimal(other) - self.value)

    def __mul__(self, other: Any) -> Precise:
        return Precise(self.value * _decimal(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Precise:
        return self.apply("div", self, other)

    def __rtruediv__(self, other: Any) -> Precise:
        return self.apply("div", other, self)

    def __neg__(self) -> Precise:
        return Precise(-self.value)

    def __abs__(self) -> Precise:
        return Precise(abs(self.value))

    def __lt__(self, other: Any) -> bool:
        return self.value < _decimal(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= _decimal(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > _decimal(other)

    def __ge__(self, other: Any) -> bool:
        return self.value >= _decimal(other)

    def __eq__(self, other: object) -> bool:
        return self.value == _decimal(other)

    def __float__(self) -> float:
        return float(self.value)

    __hash__ = None  # type: ignore[assignment]


def _decimal(x: Any) -> Decimal:
    return x.value if isinstance(x, Precise) else Decimal(float(x))


def _divide(a: Decimal, b: Decimal) -> Decimal:
    return a / b if b else Decimal("nan")


def _series(x: Decimal, first: int) -> Decimal:
    """Taylor's series of the sine (first = 1) or cosine (0); with more digits than the result has, for angles of a few turns."""
    with localcontext() as c:
        c.prec += 20
        term, total, k = (x if first else Decimal(1)), Decimal(0), first
        while abs(term) > Decimal(10) ** -(c.prec):
            total += term
            term *= -x * x / ((k + 1) * (k + 2))
            k += 2
    return +total


_FUNCTIONS: dict[str, Callable[..., Decimal]] = {
    "div": _divide,
    "sqrt": lambda x: x.sqrt() if x >= 0 else Decimal("nan"),
    "sin": lambda x: _series(x, 1),
    "cos": lambda x: _series(x, 0),
    "abs": abs,
}


def accelerations(model: sh.Model, q: Any, v: Any, tau: Any, t: float = 0.0) -> np.ndarray:
    """q̈ of a model, right to the last digit of a float: by separate bodies, with constraints by the multipliers of rows that
    are independent."""
    with localcontext() as c:
        c.prec = DIGITS
        structure = model.structure
        values: dict[str, Any] = {"q": q, "v": v, "tau": tau, "t": [t], "wrench": np.zeros(6 * (structure.nb + 1))}
        precise = {name: [Precise(float(x)) for x in np.ravel(values[name])] for name in values}
        precise["parameter"] = [Precise(x) for x in structure.parameters.values()]
        if model.constraints:
            found = ConstrainedEquations(model, METHODS["composite"], "python").accelerations(precise, object, exact=True)
        else:
            program = program_for(structure, "forward/composite" if structure.coupled else "forward/separate")
            given = {name: precise[name] for name in input_sizes(program, structure)}
            found = run_program(program, structure, given, object, number=Precise)
        return np.array([float(x) for x in found.qdd])
