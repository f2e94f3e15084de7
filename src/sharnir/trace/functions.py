"""Elementary functions that work on floats, on arrays and on symbols: what a user's own formulas are written with."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import nan, pi
from typing import Any

from ..errors import NOT_A_NUMBER, SharnirError, TraceError, brief
from .graph import Number, Symbol
from .operations import OPERATIONS, operation

_ODD = {"sin", "tan", "asin", "atan", "sinh", "tanh"}
_EVEN = {"cos", "cosh", "abs"}


def apply(name: Any, *args: Number) -> Number:
    """One operation on any numbers: floats give a float, one symbol makes a symbol, an array works element by element."""
    if name in _OPERATORS:
        return _OPERATORS[name](*args)
    symbol = next((x for x in args if isinstance(x, Symbol)), None)
    if symbol is not None and len(args) > 1 and any(getattr(x, "ndim", 0) for x in args):
        return _elementwise(partial(apply, name), args)
    if symbol is None:
        own = next((x for x in args if hasattr(x, "apply") and not hasattr(x, "ndim")), None)  # another kind of number: it
        if own is not None:  # applies operations itself
            return own.apply(name, *args)
        if any(getattr(x, "ndim", 0) for x in args):
            import numpy as np  # loaded already, since there is an array; formulas alone do without

            empty = not np.broadcast(*args).size  # for which the type of the result must be given
            return np.vectorize(lambda *x: apply(name, *x), [float] if empty else None)(*args)
        return operation(name).value(*args)
    node = symbol.graph.nodes[symbol.index]
    if node[0] == "neg" and len(args) == 1:  # sin(−x) = −sin x, cos(−x) = cos x
        if name in _EVEN:
            return apply(name, Symbol(symbol.graph, node[1]))
        if name in _ODD:
            return -apply(name, Symbol(symbol.graph, node[1]))
    if name in _SYMBOLIC:
        return _SYMBOLIC[name](*args)
    return symbol.graph.record(name, *args)


def _select(condition: Number, a: Number, b: Number) -> Number:
    if not isinstance(condition, Symbol):
        return a if condition else b
    if a is b or (isinstance(a, Symbol) and isinstance(b, Symbol) and a.graph is b.graph and a.index == b.index):
        return a
    if isinstance(a, float) and isinstance(b, float) and a == b:
        return a
    return condition.graph.record("select", condition, a, b)


_SYMBOLIC: dict[str, Callable[..., Any]] = {"select": _select, "div": operator.truediv, "pow": operator.pow}
"""Operations that are simplified by the operators of Symbol; on floats they follow the table, which never raises."""


def quotient(a: Number, b: Number) -> Number:
    """a // b, a whole number: rounded after the rest is taken off, since a/b alone may round up to the next one."""
    return apply("floor", apply("div", a - apply("mod", a, b), b) + 0.5)


_OPERATORS: dict[str, Callable[..., Any]] = {
    "quotient": quotient,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "less": operator.lt,
    "less_equal": operator.le,
}


@contextmanager
def numbers_expected(what: str, args: Sequence[Any]) -> Iterator[None]:
    """Errors of arithmetic inside are reported as faults of these arguments."""
    try:
        yield
    except (*NOT_A_NUMBER, ArithmeticError, RecursionError) as error:
        if isinstance(error, SharnirError):
            raise
        raise TraceError(f"{what}: expected numbers, arrays or symbols, got {brief(tuple(args))}") from error


def _function(name: str, doc: str) -> Callable[..., Any]:
    arity = OPERATIONS[name].arity

    def function(*args: Number) -> Number:
        if len(args) != arity:
            raise TraceError(f"{function.__name__} has {arity} argument{'s' * (arity > 1)}, got {len(args)}")
        with numbers_expected(function.__name__, args):
            return apply(name, *args)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


sin = _function("sin", "Sine of a number, an array or a symbol.")
cos = _function("cos", "Cosine of a number, an array or a symbol.")
tan = _function("tan", "Tangent of a number, an array or a symbol.")
asin = _function("asin", "Arc sine of a number, an array or a symbol.")
acos = _function("acos", "Arc cosine of a number, an array or a symbol.")
atan = _function("atan", "Arc tangent of a number, an array or a symbol.")
atan2 = _function("atan2", "atan2(y, x): the angle of the point (x, y).")
sqrt = _function("sqrt", "Square root of a number, an array or a symbol.")
exp = _function("exp", "Exponential of a number, an array or a symbol.")
log = _function("log", "Natural logarithm of a number, an array or a symbol.")
power = _function("pow", "power(a, b): a to the power b.")
sinh = _function("sinh", "Hyperbolic sine of a number, an array or a symbol.")
cosh = _function("cosh", "Hyperbolic cosine of a number, an array or a symbol.")
tanh = _function("tanh", "Hyperbolic tangent of a number, an array or a symbol.")
hypot = _function("hypot", "hypot(x, y): the length of the vector (x, y); at the origin its derivative is zero.")
floor = _function("floor", "The largest whole number that is not above x.")
mod = _function("mod", "mod(x, y): what remains of x after division by y, with the sign of y, as Python's %.")
abs = _function("abs", "Absolute value of a number, an array or a symbol.")
select = _function("select", "select(condition, a, b): a where the condition holds, else b; both are evaluated.")


def _less(a: Number, b: Number, what: str) -> Number:
    try:
        return a < b
    except (*NOT_A_NUMBER, ArithmeticError) as error:  # also that of decimal
        if isinstance(error, SharnirError):
            raise
        raise TraceError(f"{what}: expected two numbers, arrays or symbols, got {brief((a, b))}") from error


def minimum(a: Number, b: Number) -> Number:
    """The smaller of two numbers."""
    return select(_less(a, b, "minimum"), a, b)


def maximum(a: Number, b: Number) -> Number:
    """The larger of two numbers."""
    return select(_less(a, b, "maximum"), b, a)


def sign(x: Number) -> Number:
    """1 where x > 0, −1 where x < 0, 0 where x = 0; nan stays nan."""
    with numbers_expected("sign", [x]):
        return select(x > 0.0, 1.0, select(x < 0.0, -1.0, select(x <= 0.0, 0.0, nan)))


# --- functions made of pieces: a smooth step, and functions that repeat ---------------------------------------------------------
def step(x: Number, x0: Number, h0: Number, x1: Number, h1: Number) -> Number:
    """h0 up to x0, h1 from x1 on, between them the cubic that meets both without a kink (STEP of ADAMS)."""
    if isinstance(x0, (int, float)) and isinstance(x1, (int, float)) and not x0 < x1:
        raise TraceError(f"step(x, x0, h0, x1, h1): x0 must be less than x1, got x0 = {brief(x0)}, x1 = {brief(x1)}")
    with numbers_expected("step", (x, x0, h0, x1, h1)):
        s = minimum(maximum((x - x0) / (x1 - x0), 0.0), 1.0)
        return h0 + (h1 - h0) * (s * s * (3.0 - 2.0 * s))


def sawtooth(x: Number, period: Number) -> Number:
    """Rises from 0 to 1 in every period, and falls back at its end."""
    with numbers_expected("sawtooth", (x, period)):
        return mod(x, _positive(period, "sawtooth")) / period


def triangle(x: Number, period: Number) -> Number:
    """Rises from 0 to 1 in the first half of every period, and back to 0 in the second."""
    with numbers_expected("triangle", (x, period)):
        return 1.0 - operator.abs(1.0 - 2.0 * mod(x, _positive(period, "triangle")) / period)


def pulse(x: Number, period: Number, share: Number) -> Number:
    """1 for the first share of every period (0.5: half of it), 0 for the rest."""
    with numbers_expected("pulse", (x, period, share)):
        return select(mod(x, _positive(period, "pulse")) < share * period, 1.0, 0.0)


def _positive(period: Number, what: str) -> Number:
    if isinstance(period, (int, float)) and not period > 0.0:
        raise TraceError(f"{what}: the period must be positive, got {brief(period)}")
    return period


# --- functions of NumPy, when one of their arguments is a symbol ----------------------------------------------------------------
_OF_ONE_NAME = (sin, cos, sqrt, exp, log, sinh, cosh, tanh, tan, hypot, sign, floor, minimum, maximum)
_UFUNCS: dict[str, Callable[..., Any]] = {
    **{function.__name__: function for function in _OF_ONE_NAME},
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "true_divide": operator.truediv, "negative": operator.neg, "power": operator.pow, "absolute": abs, "fabs": abs,
    "square": lambda x: x * x, "remainder": mod, "mod": mod, "floor_divide": operator.floordiv,
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "arcsin": asin, "arccos": acos, "arctan": atan, "arctan2": atan2, "positive": operator.pos, "conjugate": operator.pos,
    "deg2rad": lambda x: x * (pi / 180.0), "radians": lambda x: x * (pi / 180.0),
    "rad2deg": lambda x: x * (180.0 / pi), "degrees": lambda x: x * (180.0 / pi), "reciprocal": lambda x: 1.0 / x,
}  # fmt: skip
_REFUSED = ("rint", "log1p", "expm1", "log2", "log10", "exp2", "cbrt", "arcsinh", "arccosh", "arctanh", "fmod", "ceil", "trunc")
_INSTEAD = {
    "fmod": "sharnir.mod(x, y)",
    "ceil": "-sharnir.floor(-x)",
    "trunc": "sharnir.sign(x)*sharnir.floor(abs(x))",
    "rint": "sharnir.floor(x + 0.5)",
    "log10": "sharnir.log(x)/math.log(10)",
    "log2": "sharnir.log(x)/math.log(2)",
    "exp2": "2**x",
    "heaviside": "sharnir.select(x < 0, 0, 1), or sharnir.step for a smooth one",
}


for _name in (*_UFUNCS, *_REFUSED):  # np.sin of an array of symbols calls the method `sin` of each
    setattr(Symbol, _name, lambda *inputs, _name=_name: apply_ufunc(_name, inputs))


def apply_ufunc(name: str, inputs: Sequence[Any]) -> Any:
    """The result of `np.<name>(…)` when one of its arguments is a symbol."""
    if name not in _UFUNCS:
        instead = f"write {_INSTEAD[name]}; " if name in _INSTEAD else ""
        raise TraceError(f"numpy.{name} cannot be traced; {instead}those that can are {', '.join(sorted(_UFUNCS))}")
    inputs = tuple(x.item() if getattr(x, "ndim", None) == 0 else x for x in inputs)
    if any(getattr(x, "ndim", 0) for x in inputs):
        return _elementwise(_UFUNCS[name], inputs)
    return _UFUNCS[name](*inputs)


def apply_numpy(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The result of other functions of NumPy on a symbol; most work on it as on any object."""
    if function.__name__ == "where" and len(args) == 3:
        return select(*args)
    if function.__name__ == "clip" and len(args) == 3 and not kwargs:
        x, low, high = args
        return apply_ufunc("minimum", (apply_ufunc("maximum", (x, low)), high))
    if function.__name__ == "interp":
        raise TraceError(
            "numpy.interp cannot be traced: make a table once, curve = sharnir.table(xp, fp, kind='linear'), outside of the "
            "traced function, and write curve(x) in it"
        )
    import numpy as np

    return np.empty(0).__array_function__(function, (), args, kwargs)


def _elementwise(function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    import numpy as np  # loaded already, see above

    shape = np.broadcast_shapes(*(np.shape(x) if hasattr(x, "ndim") else () for x in inputs))
    out = np.empty(shape, dtype=object)
    spread = [np.broadcast_to(x, shape) if hasattr(x, "ndim") else x for x in inputs]
    for k in np.ndindex(*shape):
        out[k] = function(*(x[k] if hasattr(x, "ndim") else x for x in spread))
    return out
