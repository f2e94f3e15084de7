"""Arithmetic on the values of a function that is being compiled: one lane or several, integers, numbers, complex numbers.

Known values are evaluated at compile time. With `exact` arithmetic nothing else is simplified or reordered, and results have the
bits of the interpreter; without, a product with a known zero is zero, as when the text is traced, and LLVM may reorder.
A division by zero gives inf or nan, as in compiled code everywhere.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .sincos import sines_and_cosines
from .text import Writer, double
from .values import Complex, Flag, Integer, Number, as_complex, is_integer, is_known

RELAXED = "contract nsz arcp reassoc"
"""No nnan, no ninf: a nan in a lane must come out as a nan in that lane."""


class Mismatch(Exception):
    """An operation that does not exist for these values; the caller adds file and line."""


@dataclass(frozen=True)
class Options:
    lanes: int = 1
    exact: bool = False
    """Evaluate as written, bit by bit."""
    branches: bool = False
    """Whether branches may depend on numbers, those that are the same for all lanes; and abs, min, max and powers exist."""
    inline: int = 300
    """Functions with more nodes than this, those they call included, are not inlined."""
    unrolled: int = 600
    """The most syntax nodes that a loop of known length may become where it is unrolled."""
    vectorize: bool = False
    """LLVM's loop vectoriser runs, which doubles the time to compile: for long loops along rows of matrices."""
    pairs: bool = False
    """In double-double arithmetic (double_double_code.py): of two lanes, the parts of a number. Branches may depend on them."""


STEPPING = Options(exact=True, branches=True, inline=60)
"""Options of code that branches on numbers and calls other code: bit for bit the interpreter, quick to compile."""


def side_by_side(lanes: int) -> Options:
    """The parts of such code that do not branch, for as many runs as there are lanes: to rounding the interpreter."""
    return Options(lanes, branches=True, inline=10_000, unrolled=10_000)


_VERBS: dict[type, str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
_KNOWN: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
_COMPARE: dict[type, tuple[str, str, Callable[[Any, Any], bool]]] = {
    ast.Eq: ("oeq", "eq", operator.eq), ast.NotEq: ("une", "ne", operator.ne), ast.Lt: ("olt", "slt", operator.lt),
    ast.LtE: ("ole", "sle", operator.le), ast.Gt: ("ogt", "sgt", operator.gt), ast.GtE: ("oge", "sge", operator.ge),
}  # fmt: skip


class Arithmetic:
    def __init__(self, w: Writer, options: Options) -> None:
        self.w, self.options = w, options
        self.flags = "" if options.exact else RELAXED
        self._seen: dict[tuple[str, ...], str] = {}  # of the block `_seen_in`: instructions, sines and cosines by their arguments
        self._seen_in = ""

    # --- text ---------------------------------------------------------------------------------------------------------------
    def pure(self, text: str) -> str:
        """An instruction without effect: within a block the same text is the same value."""
        if self._seen_in != self.w.here:
            self._seen.clear()
            self._seen_in = self.w.here
        if (text,) not in self._seen:
            self._seen[text,] = self.w.let(text)
        return self._seen[text,]

    def integer(self, x: Any) -> str:
        if isinstance(x, int):
            return str(int(x))
        if isinstance(x, Flag):
            return self.pure(f"zext i1 {x.name} to i64")
        if isinstance(x, Integer):
            return x.name
        raise Mismatch("a number stands where an integer is needed")

    def narrow(self, x: Any) -> str:
        """A number that is the same for all lanes."""
        if is_known(x):
            return double(float(x))
        if isinstance(x, Integer):
            return self.pure(f"sitofp i64 {x.name} to double")
        if isinstance(x, Flag) and not x.wide:
            return self.pure(f"uitofp i1 {x.name} to double")
        if isinstance(x, Number):
            return x.name
        raise Mismatch("a number is needed")

    def number(self, x: Any) -> str:
        """A number of the width of the lanes."""
        w = self.w
        if is_known(x):
            return w.const(float(x))
        if isinstance(x, Number) and (x.wide or w.lanes == 1):
            return x.name
        if w.lanes == 1:
            return self.narrow(x)
        first = self.pure(f"insertelement {w.T} poison, double {self.narrow(x)}, i32 0")
        return self.pure(f"shufflevector {w.T} {first}, {w.T} poison, <{w.lanes} x i32> zeroinitializer")

    def alike(self, a: Any, b: Any, *others: Any) -> tuple[bool, str, str, str]:
        """Two numbers of one width, that of all values: whether it is that of the lanes, their type, and both."""
        wide = any(isinstance(x, (Number, Flag)) and x.wide for x in (a, b, *others))
        convert = self.number if wide else self.narrow
        return wide, self.w.T if wide else "double", convert(a), convert(b)

    # --- operations ---------------------------------------------------------------------------------------------------------
    def binary(self, op: type, a: Any, b: Any) -> Any:
        if isinstance(a, Complex) or isinstance(b, Complex):
            return self._complex(op, a, b)
        if is_known(a) and is_known(b):
            return self._known(op, a, b)
        if op is not ast.Div and is_integer(a) and is_integer(b):
            return self._integers(op, a, b)
        if op is ast.Pow:
            return self._call("pow", a, b)
        if op is ast.Mod:
            return self._float_mod(a, b)
        if op not in _VERBS:
            raise Mismatch(f"the operator {op.__name__} is not one of numbers")
        return self._numbers(op, a, b)

    def _known(self, op: type, a: Any, b: Any) -> Any:
        if op is ast.Div:
            if b == 0:
                return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)
            return a / b
        return _KNOWN[op](a, b)

    def _integers(self, op: type, a: Any, b: Any) -> Any:
        if op is ast.Mult and 1 in (a, b):
            return b if a == 1 else a
        if (op is ast.Add and a == 0) or (op in (ast.Add, ast.Sub) and b == 0):
            return b if op is ast.Add and a == 0 else a
        x, y = self.integer(a), self.integer(b)
        if op in _VERBS:
            return Integer(self.pure(f"{_VERBS[op]} nsw i64 {x}, {y}"))
        if op not in (ast.FloorDiv, ast.Mod):
            raise Mismatch(f"the operator {op.__name__} is not one of integers")
        rest = self.pure(f"srem i64 {x}, {y}")  # rounds towards zero; Python rounds down
        differ = self.pure(f"icmp slt i64 {self.pure(f'xor i64 {rest}, {y}')}, 0")
        off = self.pure(f"and i1 {differ}, {self.pure(f'icmp ne i64 {rest}, 0')}")
        if op is ast.Mod:
            return Integer(self.pure(f"select i1 {off}, i64 {self.pure(f'add i64 {rest}, {y}')}, i64 {rest}"))
        quotient = self.pure(f"sdiv i64 {x}, {y}")
        return Integer(self.pure(f"sub i64 {quotient}, {self.pure(f'zext i1 {off} to i64')}"))

    def _numbers(self, op: type, a: Any, b: Any) -> Any:
        if not self.options.exact:
            zero_a, zero_b = is_known(a) and a == 0, is_known(b) and b == 0
            if op is ast.Mult and (zero_a or zero_b):
                return 0.0
            if op is ast.Add and (zero_a or zero_b):
                return b if zero_a else a
            if op is ast.Sub and zero_b:
                return a
            if op is ast.Sub and zero_a:
                return self.negative(b)
        if op is ast.Mult and is_known(a) and a == 1:
            return b
        if op in (ast.Mult, ast.Div) and is_known(b) and b == 1:
            return a
        return self._operate(_VERBS[op], a, b)

    def _operate(self, verb: str, a: Any, b: Any) -> Number:
        wide, kind, x, y = self.alike(a, b)
        return Number(self.pure(f"f{verb} {self.flags} {kind} {x}, {y}"), wide)

    def _float_mod(self, a: Any, b: Any) -> Any:
        rest = self._call("fmod", a, b)
        differ = self._flag("ne", self.compare(ast.Lt, rest, 0.0), self.compare(ast.Lt, b, 0.0))
        some = self.compare(ast.NotEq, rest, 0.0)
        none = Number(self.w.call("copysign", self.w.const(0.0), self.number(b)), False)  # a zero has the sign of the divisor
        return self.choose(some, self.choose(differ, self._numbers(ast.Add, rest, b), rest), none)

    def _flag(self, verb: str, a: Any, b: Any) -> Flag:
        x, y = (str(f).lower() if isinstance(f, bool) else f.name for f in (a, b))
        return Flag(self.pure(f"icmp {verb} i1 {x}, {y}"))

    def _call(self, name: str, *args: Any) -> Number:
        if not self.options.branches:
            raise Mismatch(f"{name!r} is not among the functions of ops")
        return Number(self.w.libm(name, *(self.number(x) for x in args)), self.w.lanes > 1)

    def negative(self, x: Any) -> Any:
        if is_known(x):
            return -x
        if isinstance(x, Complex):
            return Complex(self.negative(x.re), self.negative(x.im))
        if is_integer(x):
            return Integer(self.pure(f"sub nsw i64 0, {self.integer(x)}"))
        if not isinstance(x, Number):
            raise Mismatch("only numbers have a negative")
        return Number(self.pure(f"fneg {self.w.T if x.wide else 'double'} {x.name}"), x.wide)

    def _complex(self, op: type, a: Any, b: Any) -> Complex:
        """Complex arithmetic of Python; division after Smith, as in NumPy."""
        a, b = as_complex(a), as_complex(b)
        do = self.binary
        if op in (ast.Add, ast.Sub):
            return Complex(do(op, a.re, b.re), do(op, a.im, b.im))
        if op is ast.Mult:
            re = do(ast.Sub, do(ast.Mult, a.re, b.re), do(ast.Mult, a.im, b.im))
            return Complex(re, do(ast.Add, do(ast.Mult, a.re, b.im), do(ast.Mult, a.im, b.re)))
        if op is not ast.Div:
            raise Mismatch(f"the operator {op.__name__} is not one of complex numbers")
        larger = self.compare(ast.GtE, self.absolute(b.re), self.absolute(b.im))
        big, small = self.choose(larger, b.re, b.im), self.choose(larger, b.im, b.re)
        share = do(ast.Div, small, big)
        scale = do(ast.Div, 1.0, do(ast.Add, big, do(ast.Mult, small, share)))

        def part(x: Any, y: Any, sign: type) -> Any:
            one = do(sign, x, do(ast.Mult, y, share))
            other = do(sign, do(ast.Mult, x, share), y)
            return do(ast.Mult, self.choose(larger, one, other), scale)

        return Complex(part(a.re, a.im, ast.Add), part(a.im, a.re, ast.Sub))

    # --- comparisons and choices --------------------------------------------------------------------------------------------
    def compare(self, op: type, a: Any, b: Any) -> Any:
        of_numbers, of_integers, known = _COMPARE[op]
        if is_known(a) and is_known(b):
            return known(a, b)
        if isinstance(a, Complex) or isinstance(b, Complex):
            a, b = as_complex(a), as_complex(b)
            if op not in (ast.Eq, ast.NotEq):
                raise Mismatch("complex numbers are equal or not; neither is less")
            parts = self.compare(op, a.re, b.re), self.compare(op, a.im, b.im)
            return self.joined("or" if op is ast.NotEq else "and", *parts)
        if is_integer(a) and is_integer(b):
            return Flag(self.pure(f"icmp {of_integers} i64 {self.integer(a)}, {self.integer(b)}"))
        wide, kind, x, y = self.alike(a, b)
        return Flag(self.pure(f"fcmp {of_numbers} {kind} {x}, {y}"), wide, True)

    def truth(self, x: Any) -> Any:
        """A Flag of one lane, or a known bool."""
        if is_known(x):
            return bool(x)
        if isinstance(x, Integer):
            return Flag(self.pure(f"icmp ne i64 {x.name}, 0"))
        if not isinstance(x, Flag):
            raise Mismatch("write a comparison")
        return x

    def joined(self, verb: str, a: Any, b: Any) -> Any:
        """Both conditions ("and"), or one of them at least ("or")."""
        for x, y in ((a, b), (b, a)):
            if isinstance(x, bool):
                return y if x == (verb == "and") else x
        if a.wide != b.wide:
            raise Mismatch("a condition on lanes and one on integers: nest select instead")
        of_numbers = a.of_numbers or b.of_numbers
        if a.wide:
            return Flag(self.pure(f"{verb} {self.w.bools} {a.name}, {b.name}"), True, of_numbers)
        arms = f"i1 {b.name}, i1 false" if verb == "and" else f"i1 true, i1 {b.name}"  # b counts only where a does not settle it
        return Flag(self.pure(f"select i1 {a.name}, {arms}"), False, of_numbers)

    def negated(self, x: Any) -> Any:
        x = self.truth(x)
        if isinstance(x, bool):
            return not x
        ones = "true" if not x.wide else "<" + ", ".join(["i1 true"] * self.w.lanes) + ">"
        return Flag(self.pure(f"xor {self.w.bools if x.wide else 'i1'} {x.name}, {ones}"), x.wide, x.of_numbers)

    def choose(self, condition: Any, a: Any, b: Any) -> Any:
        """a where the condition holds, else b; both are there already."""
        if isinstance(condition, bool):
            return a if condition else b
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return tuple(self.choose(condition, x, y) for x, y in zip(a, b, strict=True))
        if isinstance(a, Complex) or isinstance(b, Complex):
            a, b = as_complex(a), as_complex(b)
            return Complex(self.choose(condition, a.re, b.re), self.choose(condition, a.im, b.im))
        if is_integer(a) and is_integer(b) and not condition.wide:
            return Integer(self.pure(f"select i1 {condition.name}, i64 {self.integer(a)}, i64 {self.integer(b)}"))
        wide, kind, x, y = self.alike(a, b, condition)
        mask = self.w.bools if condition.wide else "i1"
        return Number(self.pure(f"select {mask} {condition.name}, {kind} {x}, {kind} {y}"), wide)

    # --- functions ----------------------------------------------------------------------------------------------------------
    def elementary(self, name: str, x: Any) -> Any:
        """A function of ops with one argument."""
        if is_known(x):
            x = Number(self.w.const(float(x)), self.w.lanes > 1)
        wide = self.number(x)
        if name == "sqrt":
            return Number(self.w.call("sqrt", wide), self.w.lanes > 1)
        if self.options.exact:  # the bits of the interpreter
            return Number(self.w.libm(name, wide), self.w.lanes > 1)
        if self._seen_in != self.w.here or ("sin", wide) not in self._seen:
            seen = dict(self._seen) if self._seen_in == self.w.here else {}
            sine, cosine = sines_and_cosines(self.w, [wide])[0]
            self._seen = seen | {("sin", wide): sine, ("cos", wide): cosine}  # what came before is known here too
            self._seen_in = self.w.here
        return Number(self._seen[name, wide], self.w.lanes > 1)

    def absolute(self, x: Any) -> Any:
        if is_known(x) and self.options.branches:
            return abs(x)
        if is_integer(x) and self.options.branches:
            return self.choose(self.compare(ast.Lt, x, 0), self.negative(x), x)
        if not isinstance(x, Number) or not self.options.branches:
            raise Mismatch("'abs' is not among the functions of ops")
        return Number(self.w.call("fabs", self.number(x)), self.w.lanes > 1)

    def extreme(self, op: type, values: list[Any]) -> Any:
        """min (op Lt) or max (op Gt), as Python has it: a later value is taken where it compares so with those before."""
        best = values[0]
        for x in values[1:]:
            best = self.choose(self.compare(op, x, best), x, best)
        return best

    def as_integer(self, x: Any) -> Any:
        if is_known(x):
            return int(x)
        if is_integer(x):
            return Integer(self.integer(x))
        if not isinstance(x, Number) or x.wide:
            raise Mismatch("an integer cannot be had from this")
        return Integer(self.pure(f"fptosi double {x.name} to i64"))
