"""Numbers that depend on parameters of a model: recognized, evaluated, written as formulas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from ..errors import FormatError
from .expression import Expression, needed
from .graph import Number, ParameterGraph, Symbol

INFIX = {"add": (" + ", 1), "sub": (" - ", 1), "mul": ("*", 2), "div": ("/", 2), "pow": ("**", 4)}
"""Operators and how strongly they bind."""
COMPARED = {"less": " < ", "less_equal": " <= "}


def is_parametric(x: object) -> TypeGuard[Symbol]:
    """Whether a number depends on parameters."""
    return isinstance(x, Symbol) and isinstance(x.graph, ParameterGraph)


def has_parameters(x: Any) -> bool:
    """Whether any number in it depends on parameters."""
    return next(parametric_in(x), None) is not None


def parametric_in(x: Any) -> Iterator[Symbol]:
    """The numbers that depend on parameters, in a number or in tuples, lists and mappings of them."""
    if is_parametric(x):
        yield x
    elif isinstance(x, (tuple, list)):
        for item in x:
            yield from parametric_in(item)
    elif isinstance(x, Mapping):
        yield from parametric_in(list(x.values()))


def at_values(x: Any, values: Mapping[str, Number] | None = None) -> Any:
    """Numbers with parameters at these values, or at their defaults; tuples and lists of them likewise."""
    if is_parametric(x):
        return Expression(x.graph, (), [x])(parameters=values)[0]
    if isinstance(x, (tuple, list)):
        return type(x)([at_values(item, values) for item in x])
    return x


def names_in(symbols: Iterable[Symbol]) -> list[str]:
    """The parameters that numbers depend on."""
    return list(dict.fromkeys(name for x in symbols for name in Expression(x.graph, (), [x]).parameters))


def formula_text(x: Symbol) -> str:
    """A formula that gives the number again: `2*parameter.L + 0.1`."""
    names = {symbol.index: name for name, symbol in x.graph.parameters.items()}
    return _text(x.graph, x.index, names, 0)


def file_text(x: Symbol) -> str:
    """The formula for a file, which has no text for a table of parameters."""
    if any(not isinstance(x.graph.nodes[k][0], str) for k in needed(x.graph, [x])):
        raise FormatError(
            f"{x!r}: a number that is looked up in a table by parameters cannot be written; use the table in a force"
        )
    return formula_text(x)


def _text(graph: Any, index: int, names: Mapping[int, str], above: int) -> str:
    """`above`: how strongly the operator binds whose argument this is."""
    name, *args = graph.nodes[index]
    if name == "input":
        own = names[index]
        return f"parameter.{own}" if own.isidentifier() else f"parameter[{own!r}]"
    if name == "const":
        return repr(args[0]) if args[0] >= 0.0 else f"({args[0]!r})"
    if name in COMPARED:
        return COMPARED[name].join(_text(graph, a, names, 0) for a in args)
    if name == "neg":
        return f"(-{_text(graph, args[0], names, 3)})"
    if name in INFIX:
        sign, strength = INFIX[name]
        left, right = _text(graph, args[0], names, strength), _text(graph, args[1], names, strength + 1)
        return f"({left}{sign}{right})" if strength < above or name == "pow" else f"{left}{sign}{right}"
    name = name if isinstance(name, str) else repr(name)  # a lookup has no text that could be read again
    return f"{name}({', '.join(_text(graph, a, names, 0) for a in args)})"


def same(a: Any, b: Any) -> bool:
    """Equality of values some of whose numbers may be symbols: a symbol equals itself, and the same formula of parameters."""
    if isinstance(a, (tuple, list)) and type(a) is type(b):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(x, b[name]) for name, x in a.items())
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        return a is b or (isinstance(a, Symbol) and isinstance(b, Symbol) and a.graph is b.graph and a.index == b.index)
    return bool(a == b)


def is_zero(x: Any) -> bool:
    """Whether a number, or every one of several, is the constant zero: never so where it depends on anything."""
    return all(map(is_zero, x)) if hasattr(x, "__len__") else not isinstance(x, Symbol) and not x
