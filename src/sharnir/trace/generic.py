"""Generic numbers: a formula that is zero on them is zero everywhere, not only where it was evaluated.

Arithmetic, roots, logarithms and angles are what they are. A function that may be constant, vanish or exceed all bounds somewhere
(an exponential, a table, a floor) is an unknown number of about one instead, the same for the same arguments, and a branch a
mixture of both its sides: no time is too early, no range is left. Every number has the size of the terms it was made of; what is
below rounding of its own size is zero, however large other numbers are. A formula that is not zero is one of the unknowns too,
and zero at random ones with probability zero; one that is zero only by what is known of a function, exp(a + b) = exp(a) exp(b),
is taken for one that is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import numpy as np

from .graph import Number
from .operations import Operators, operation

ROUNDING = 1e-12
"""Rounding of sums of products along chains of bodies, relative to their size."""
SMALL_POWERS = 16.0
"""Exponents up to which a power is computed: it is neither too large nor too small for others to be seen beside it."""
_KNOWN: dict[Any, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative, "hypot": np.hypot,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "atan": np.arctan, "atan2": np.arctan2, "sqrt": lambda x: np.sqrt(np.abs(x)),
    "log": lambda x: np.log(np.abs(x)), "pow": lambda x, y: np.power(np.abs(x), y),
}  # fmt: skip
_FUNCTIONS = SimpleNamespace(select=np.where, **_KNOWN)
_CONDITIONS = {"less": np.less, "less_equal": np.less_equal}


class Generic(Operators):
    """A number, or an array of them, and the sizes of what it was computed from. `decides`: conditions hold or not as the numbers
    are, in place of the mixture of both sides."""

    __slots__ = ("decides", "positive", "size", "value")
    __array_ufunc__ = None  # arrays of numbers leave arithmetic with these to them

    def __init__(self, value: Any, size: Any = None, decides: bool = False, positive: bool = False) -> None:
        self.value, self.decides, self.positive = value, decides, positive
        self.size = np.abs(value) if size is None else size

    @property
    def vanishes(self) -> Any:
        """Whether a number is zero but for rounding; what is not finite is not."""
        return (np.abs(self.value) <= ROUNDING * self.size) & np.isfinite(self.size)

    def apply(self, name: Any, *args: Any) -> Generic:
        """One operation of the alphabet."""
        if name == "select":
            return self._selected(*args)
        if name == "abs":
            return self.apply("select", args[0] < 0.0, -args[0], args[0])
        if name == "mod":
            return args[0] - args[1] * self.apply("floor", self.apply("div", *args))
        if name == "less" and getattr(args[1], "positive", False) and np.all(args[0] == 0.0):  # a length is not zero
            return Generic(np.ones_like(args[1].value), None, self.decides)
        given = [x if isinstance(x, Generic) else Generic(x) for x in args]
        x = [one.value for one in given]
        if self.decides and name in _CONDITIONS:
            return Generic(1.0 * _CONDITIONS[name](*x), None, self.decides)
        if name not in _KNOWN or (name == "pow" and (isinstance(args[1], Generic) or np.any(np.abs(x[1]) > SMALL_POWERS))):
            return self._unknown(name, given)
        y, size = _KNOWN[name](*x), 0.0
        for k, one in enumerate(given):
            along = [float(j == k) for j in range(len(x))]
            size = size + np.abs(operation(name).tangent(_FUNCTIONS, y, x, along)) * one.size
        return Generic(y, np.abs(y) + size, self.decides, name in ("hypot", "sqrt"))

    def _selected(self, condition: Number, *sides: Number) -> Generic:
        w = condition.value if isinstance(condition, Generic) else np.asarray(condition, dtype=float)
        a, b = (x if isinstance(x, Generic) else Generic(x) for x in sides)

        def mixed(x: Any, y: Any) -> Any:
            return np.where(w == 1.0, x, np.where(w == 0.0, y, w * x + (1.0 - w) * y))

        return Generic(mixed(a.value, b.value), mixed(a.size, b.size), self.decides)

    def _unknown(self, name: Any, given: list[Generic]) -> Generic:
        """A number between ½ and 1½ in place of a function, between ¼ and ¾ in place of a condition."""
        own = name if isinstance(name, str) else f"{name.name} {name.constants.digest} {getattr(name, 'column', '')}"
        phase = crc32(own.encode()) / 2**20
        y = 1.0 + 0.5 * np.sin(phase + sum((1.3 + 0.7 * k) * x.value for k, x in enumerate(given)))
        return Generic(0.5 * y if name in _CONDITIONS else y, 1.0 + sum(x.size for x in given), self.decides)


def on_generic(function: Callable[..., Sequence[Number]], values: Sequence[float]) -> tuple[float, ...]:
    """The values of a function on floats, as those of a function that may be anything."""
    with np.errstate(all="ignore"):
        return tuple(float(x.value if isinstance(x, Generic) else x) for x in function(*map(Generic, values)))


def stacked(numbers: Sequence[Number], shape: tuple[int, ...]) -> Generic:
    """Generic scalars (…) as one array of them (numbers, …)."""
    parts = [(x.value, x.size) if isinstance(x, Generic) else (x, np.abs(x)) for x in numbers]
    value, size = (np.array([np.broadcast_to(part[k], shape) for part in parts], dtype=float) for k in range(2))
    return Generic(value.reshape(len(parts), *shape), size.reshape(len(parts), *shape))
