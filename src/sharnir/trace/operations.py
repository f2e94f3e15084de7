"""The elementary operations of expression graphs, each with its value on floats and its tangent.

Tangent rules are written with ordinary operators and the functions of this table, so they work on any numbers. Everything that
runs a graph (evaluation, counting, code generation) must implement exactly the names in `OPERATIONS`, and the lookups of
`lookup.py`, which stand in a graph in place of a name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Operation:
    name: str
    arity: int
    value: Callable[..., float]
    tangent: Callable[..., Any] | None
    """tangent(f, y, args, dargs): f = namespace of functions, y = the value itself, args, their tangents."""
    commutative: bool = False


class Operators:
    """The operators of numbers that apply operations themselves, by `apply(name, *args)`."""

    __slots__ = ()
    apply: Callable[..., Any]

    # fmt: off
    def __add__(self, other: Any) -> Any: return self.apply("add", self, other)
    def __radd__(self, other: Any) -> Any: return self.apply("add", other, self)
    def __sub__(self, other: Any) -> Any: return self.apply("sub", self, other)
    def __rsub__(self, other: Any) -> Any: return self.apply("sub", other, self)
    def __mul__(self, other: Any) -> Any: return self.apply("mul", self, other)
    def __rmul__(self, other: Any) -> Any: return self.apply("mul", other, self)
    def __truediv__(self, other: Any) -> Any: return self.apply("div", self, other)
    def __rtruediv__(self, other: Any) -> Any: return self.apply("div", other, self)
    def __neg__(self) -> Any: return self.apply("neg", self)
    def __abs__(self) -> Any: return self.apply("abs", self)
    def __lt__(self, other: Any) -> Any: return self.apply("less", self, other)
    def __le__(self, other: Any) -> Any: return self.apply("less_equal", self, other)
    def __gt__(self, other: Any) -> Any: return self.apply("less", other, self)
    def __ge__(self, other: Any) -> Any: return self.apply("less_equal", other, self)
    # fmt: on


def _select(condition: float, a: float, b: float) -> float:
    return a if condition else b


def _divide(a: float, b: float) -> float:
    """IEEE division: inf or nan as in compiled code, never an exception."""
    if b == 0.0:
        if a == 0.0 or a != a:
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def _guard(function: Callable[..., float]) -> Callable[..., float]:
    """nan outside the domain of a function and inf on overflow, as in compiled code."""

    def guarded(*x: float) -> float:
        try:
            return function(*x)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return guarded


def _sinh(x: float) -> float:
    return math.copysign(math.inf, x) if abs(x) > 710.5 else math.sinh(x)


def _pow(a: float, b: float) -> float:
    if a == 0.0 and b < 0.0:
        return math.copysign(math.inf, a) if b % 2.0 == 1.0 else math.inf
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0.0 and b % 2.0 == 1.0 else math.inf


def _log(x: float) -> float:
    return -math.inf if x == 0.0 else math.log(x)


def _floor(x: float) -> float:
    return float(math.floor(x)) if abs(x) < math.inf else x


def _mod(a: float, b: float) -> float:
    return a % b if b and abs(a) < math.inf else math.nan


def _tangent_of_mod(f: Any, y: Any, x: Any, d: Any) -> Any:
    """a − b·floor(a/b), whose whole number has no slope."""
    if isinstance(d[1], float) and d[1] == 0.0:
        return d[0]
    return d[0] - d[1] * f.floor((x[0] - y) / x[1] + 0.5)


def _tangent_of_hypot(f: Any, y: Any, x: Any, d: Any) -> Any:
    """At the origin, where the slope has no direction, it is zero: the friction of a body at rest stays a number."""
    return f.select(y > 0.0, (x[0] * d[0] + x[1] * d[1]) / y, 0.0)


def _tangent_of_power(f: Any, y: Any, x: Any, d: Any) -> Any:
    """d(a^b): the log(a) term only where the exponent varies, so that a negative base is allowed."""
    total = d[0] * x[1] * f.pow(x[0], x[1] - 1.0)
    if isinstance(d[1], float) and d[1] == 0.0:
        return total
    return total + d[1] * f.log(x[0]) * y


_TABLE = [
    Operation("add", 2, lambda a, b: a + b, lambda f, y, x, d: d[0] + d[1], commutative=True),
    Operation("sub", 2, lambda a, b: a - b, lambda f, y, x, d: d[0] - d[1]),
    Operation("mul", 2, lambda a, b: a * b, lambda f, y, x, d: d[0] * x[1] + x[0] * d[1], commutative=True),
    Operation("div", 2, _divide, lambda f, y, x, d: (d[0] - y * d[1]) / x[1]),
    Operation("neg", 1, lambda a: -a, lambda f, y, x, d: -d[0]),
    Operation("sqrt", 1, _guard(math.sqrt), lambda f, y, x, d: d[0] * 0.5 / y),
    Operation("sin", 1, _guard(math.sin), lambda f, y, x, d: d[0] * f.cos(x[0])),
    Operation("cos", 1, _guard(math.cos), lambda f, y, x, d: -(d[0] * f.sin(x[0]))),
    Operation("tan", 1, _guard(math.tan), lambda f, y, x, d: d[0] * (1.0 + y * y)),
    Operation("asin", 1, _guard(math.asin), lambda f, y, x, d: d[0] / f.sqrt(1.0 - x[0] * x[0])),
    Operation("acos", 1, _guard(math.acos), lambda f, y, x, d: -(d[0] / f.sqrt(1.0 - x[0] * x[0]))),
    Operation("atan", 1, math.atan, lambda f, y, x, d: d[0] / (1.0 + x[0] * x[0])),
    Operation("atan2", 2, math.atan2, lambda f, y, x, d: (x[1] * d[0] - x[0] * d[1]) / (x[0] * x[0] + x[1] * x[1])),
    Operation("exp", 1, _guard(math.exp), lambda f, y, x, d: d[0] * y),
    Operation("log", 1, _guard(_log), lambda f, y, x, d: d[0] / x[0]),
    Operation("pow", 2, _guard(_pow), _tangent_of_power),
    Operation("sinh", 1, _guard(_sinh), lambda f, y, x, d: d[0] * f.cosh(x[0])),
    Operation("cosh", 1, _guard(math.cosh), lambda f, y, x, d: d[0] * f.sinh(x[0])),
    Operation("tanh", 1, math.tanh, lambda f, y, x, d: d[0] * (1.0 - y * y)),
    Operation("abs", 1, abs, lambda f, y, x, d: f.select(x[0] < 0.0, -d[0], d[0])),
    Operation("hypot", 2, math.hypot, _tangent_of_hypot),
    Operation("floor", 1, _floor, None),
    Operation("mod", 2, _mod, _tangent_of_mod),
    Operation("less", 2, lambda a, b: float(a < b), None),
    Operation("less_equal", 2, lambda a, b: float(a <= b), None),
    Operation("select", 3, _select, lambda f, y, x, d: f.select(x[0], d[1], d[2])),
]

OPERATIONS: dict[str, Operation] = {operation.name: operation for operation in _TABLE}


def operation(name: Any) -> Any:
    """The operation that the first word of a node stands for: one by its name, or a lookup itself."""
    return OPERATIONS[name] if isinstance(name, str) else name
