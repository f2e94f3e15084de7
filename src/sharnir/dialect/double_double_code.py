"""Code whose numbers are double-double: every operation is a call of a function of double_double.py, a number a vector of two.

The functions a module calls are part of it, once each and not inlined, so that long code stays short and compiles quickly.
`PairWriter` is for straight-line code, `PairArithmetic` for loops.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .arithmetic import Arithmetic, Mismatch, Options
from .kernels import double_double as dd
from .text import Writer, double
from .values import Complex, Flag, Number, is_integer, is_known

PAIR = "<2 x double>"
PAIRS = Options(lanes=2, branches=True, pairs=True)
"""Options of loops in double-double: arrays have one more axis, of two."""


@dataclass(frozen=True)
class Pairwise:
    """An operation: its function, how many pairs it takes, and functions of the C library on their first parts, whose results,
    right to double precision, follow the pairs."""

    function: Callable[..., Any]
    arity: int = 1
    starts: tuple[str, ...] = ()


OPERATIONS = {
    "add": Pairwise(dd.add, 2),
    "sub": Pairwise(dd.sub, 2),
    "mul": Pairwise(dd.mul, 2),
    "div": Pairwise(dd.div, 2),
    "neg": Pairwise(dd.neg),
    "abs": Pairwise(dd.absolute),
    "sqrt": Pairwise(dd.root),
    "less": Pairwise(dd.less, 2),
    "less_equal": Pairwise(dd.less_equal, 2),
    "sin": Pairwise(dd.sine),
    "cos": Pairwise(dd.cosine),
    "sincos": Pairwise(dd.sine_and_cosine),
    "tan": Pairwise(dd.tangent),
    "asin": Pairwise(dd.arcsine, 1, ("asin",)),
    "acos": Pairwise(dd.arccosine, 1, ("acos",)),
    "atan": Pairwise(dd.arctangent, 1, ("atan",)),
    "atan2": Pairwise(dd.angle, 2, ("atan2",)),
    "exp": Pairwise(dd.exponential),
    "log": Pairwise(dd.logarithm, 1, ("log",)),
    "pow": Pairwise(dd.power, 2, ("pow", "log")),
    "sinh": Pairwise(dd.hyperbolic_sine),
    "cosh": Pairwise(dd.hyperbolic_cosine),
    "tanh": Pairwise(dd.hyperbolic_tangent),
    "hypot": Pairwise(dd.length, 2),
    "floor": Pairwise(dd.whole, 1, ("floor",)),
    "mod": Pairwise(dd.rest, 2, ("fmod",)),
}
"""Operations by their names in expression graphs, where `select` needs no function; and "sincos", both at once."""

_RETURNED = {"less": "i1", "less_equal": "i1", "sincos": f"{{ {PAIR}, {PAIR} }}"}


class PairWriter(Writer):
    """Numbers are pairs, conditions single."""

    pairs = True

    def __init__(self) -> None:
        super().__init__(2)
        self.bools = "i1"
        self.operations: set[str] = set()

    def const(self, x: float) -> str:
        return f"<double {double(x)}, double {double(0.0)}>"

    def high(self, x: str) -> str:
        return self.let(f"extractelement {PAIR} {x}, i32 0")

    def nonzero(self, x: str) -> str:
        return self.let(f"fcmp une double {self.high(x)}, {double(0.0)}")

    def operation(self, name: str, *args: str) -> str:
        """An operation of OPERATIONS: a pair, or a condition."""
        return self.let(self.called(name, *args))

    def called(self, name: str, *args: str) -> str:
        self.operations.add(name)
        return f"call {_RETURNED.get(name, PAIR)} @dd.{name}({', '.join(f'{PAIR} {x}' for x in args)})"

    def sine_and_cosine(self, x: str) -> tuple[str, str]:
        both = self.operation("sincos", x)
        sine, cosine = (self.let(f"extractvalue {_RETURNED['sincos']} {both}, {k}") for k in range(2))
        return sine, cosine


class PairArithmetic(Arithmetic):
    """Arithmetic of loops. Every number is a pair; doubles that all lanes share become pairs where they meet one."""

    w: PairWriter

    def _does(self, name: str, *args: Any) -> str:
        return self.pure(self.w.called(name, *(self.number(x) for x in args)))

    def number(self, x: Any) -> str:
        if is_known(x):
            return self.w.const(float(x))
        if isinstance(x, Number) and x.wide:
            return x.name
        return self.pure(f"insertelement {PAIR} zeroinitializer, double {self.narrow(x)}, i32 0")

    def _operate(self, verb: str, a: Any, b: Any) -> Number:
        return Number(self._does(verb, a, b), True)

    def _call(self, name: str, *args: Any) -> Number:
        if name not in OPERATIONS:
            raise Mismatch(f"{name!r} is not among the operations of double-double numbers")
        return Number(self._does(name, *args), True)

    def negative(self, x: Any) -> Any:
        return Number(self._does("neg", x), True) if isinstance(x, Number) else super().negative(x)

    def compare(self, op: type, a: Any, b: Any) -> Any:
        known = is_known(a) and is_known(b)
        if known or isinstance(a, Complex) or isinstance(b, Complex) or (is_integer(a) and is_integer(b)):
            return super().compare(op, a, b)
        if op in (ast.Eq, ast.NotEq):
            same = self.joined("and", self.compare(ast.LtE, a, b), self.compare(ast.GtE, a, b))
            return same if op is ast.Eq else self.negated(same)
        name = "less" if op in (ast.Lt, ast.Gt) else "less_equal"
        return Flag(self._does(name, a, b) if op in (ast.Lt, ast.LtE) else self._does(name, b, a), False, True)

    def elementary(self, name: str, x: Any) -> Any:
        return Number(self._does(name, x), True)

    def absolute(self, x: Any) -> Any:
        return Number(self._does("abs", x), True) if isinstance(x, Number) else super().absolute(x)

    def as_integer(self, x: Any) -> Any:
        return super().as_integer(Number(self.w.high(x.name), False) if isinstance(x, Number) and x.wide else x)


def prelude(operations: Iterable[str], declarations: set[str]) -> list[str]:
    """The functions @dd.name of these operations, as parts of a module; what they need declared is added."""
    from .compiler import Unit

    if not operations:
        return []
    unit = Unit(Options(exact=True, branches=True, inline=120), "dd.")
    unit.declarations = declarations
    return unit.body([_function(unit, name) for name in sorted(operations)])


def _function(unit: Any, name: str) -> str:
    from .compiler import Function
    from .frame import Frame

    operation = OPERATIONS[name]
    names = [f"%a{k}" for k in range(operation.arity)]
    function = Function(unit, f"dd.{name}", [f"{PAIR} {x}" for x in names])
    w = function.w
    parts = [tuple(Number(w.let(f"extractelement {PAIR} {x}, i32 {k}"), False) for k in range(2)) for x in names]
    first = [part[0].name for part in parts]
    starts = []
    for start in operation.starts:
        of = [w.call("fabs", first[0])] if (name, start) == ("pow", "log") else first
        starts.append(Number(w.libm(start, *of), False))
    result = Frame(function, operation.function, [*parts, *starts]).run()
    returned = _RETURNED.get(name, PAIR)
    if returned == "i1":
        function.give_back(returned, [("i1", result.name)])
    else:
        numbers = [function.a.narrow(x) for x in result]
        function.give_back(returned, [(PAIR, _pair(w, *numbers[k : k + 2])) for k in range(0, len(numbers), 2)])
    return function.text(returned, "noinline nounwind")


def _pair(w: Writer, high: str, low: str) -> str:
    one = w.let(f"insertelement {PAIR} poison, double {high}, i32 0")
    return w.let(f"insertelement {PAIR} {one}, double {low}, i32 1")
