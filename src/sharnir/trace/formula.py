"""Functions given by formulas as text: they act on floats and symbols like any Python function, and can be written to files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..errors import NOT_A_NUMBER, ModelError, brief, no_such
from .formula_parser import Signal, Tree, evaluate, parse, signals, tables_in
from .graph import Number, Symbol
from .parameters import file_text, is_parametric
from .table import Table

MAX_PARTS = 1000
PARAMETER = "parameter"
"""The first word of a signal that is a parameter: parameter.L"""

_known: ContextVar[Mapping[str, Symbol]] = ContextVar("known parameters")
_tables: ContextVar[Mapping[str, Table]] = ContextVar("known tables")


@contextmanager
def known_names(parameters: Mapping[str, Symbol], tables: Mapping[str, Table]) -> Iterator[None]:
    """Formulas that are made inside, as those of a file are, may use these parameters and tables."""
    tokens = _known.set(parameters), _tables.set(tables)
    try:
        yield
    finally:
        _known.reset(tokens[0])
        _tables.reset(tokens[1])


class Formulas:
    """Several formulas (or plain numbers) of the same variables, with named parts for repeated expressions."""

    def __init__(
        self,
        items: Sequence[str | float],
        variables: Sequence[str] = (),
        where: Mapping[str, str | float | Table] | None = None,
        roots: Sequence[str] = (),
    ) -> None:
        """`where`: named parts, each a formula of the variables and the parts before it, a number that depends on parameters
        of a model, or a table, which formulas call. `roots`: see `parse`."""
        self.items = tuple(x if isinstance(x, str) else _number(x) for x in items)
        if where is not None and not isinstance(where, Mapping):
            raise ModelError(f"formula: where names parts, {{name: formula}}; got {brief(where)}")
        if not np.iterable(variables):
            raise ModelError(f"formula: expected the names of its variables, got {brief(variables)}")
        self.variables = tuple(variables)
        self.where: dict[str, Any] = {name: _part(name, x) for name, x in (where or {}).items()}
        _check_names([*self.variables, *self.where])
        names = list(self.variables)
        own = {name: x for name, x in self.where.items() if isinstance(x, Table)}
        given = {name: x for name, x in _tables.get({}).items() if name not in names and name not in self.where}
        tables = given | own
        self._parameters = dict(_known.get({}))
        roots = [*roots, *([PARAMETER] if self._parameters and PARAMETER not in roots else [])]
        self._parts: list[tuple[str, Tree]] = []
        for name, text in self.where.items():
            if name not in own:
                self._parts.append((name, _parsed(text, names, roots, tables)))
                names.append(name)
        self._trees = [_parsed(x, names, roots, tables) for x in self.items]
        used = {table.name for tree in self._all_trees for table in tables_in(tree)} if given else ()
        self.where |= {name: x for name, x in given.items() if name in used}  # as if they had been given here
        for signal in self.signals if self._parameters else ():
            if signal[0] == PARAMETER and ".".join(signal[1:]) not in self._parameters:
                raise ModelError(f"formula: {no_such(PARAMETER, '.'.join(signal[1:]), self._parameters)}")

    def __call__(self, values: Sequence[Number], read: Callable[[Signal], Number] | None = None) -> tuple[Number, ...]:
        if len(values) != len(self.variables):
            raise TypeError(f"a formula of {len(self.variables)} variables {self.variables} was called with {len(values)} values")
        named = dict(zip(self.variables, values, strict=True))
        read = read or self._parameter
        for name, tree in self._parts:
            named[name] = evaluate(tree, named, read)
        return tuple(evaluate(tree, named, read) for tree in self._trees)

    def _parameter(self, signal: Signal) -> Symbol:
        return self._parameters[".".join(signal[1:])]

    @property
    def signals(self) -> set[Signal]:
        """The quantities that are read besides the variables, e.g. ("q", "elbow")."""
        return set().union(*(signals(tree) for tree in self._all_trees))

    @property
    def _all_trees(self) -> list[Tree]:
        return [*self._trees, *(tree for _, tree in self._parts)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Formulas):
            return NotImplemented
        return (self.items, self.variables, self.where) == (other.items, other.variables, other.where)

    def __hash__(self) -> int:
        return hash((self.items, self.variables, tuple(self.where)))


class ByFormulas:
    """A function that consists of formulas: equal to another of its class with the same text."""

    formulas: Formulas

    def __eq__(self, other: object) -> bool:
        return self.formulas == other.formulas if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.formulas)

    def __repr__(self) -> str:
        where = [f"where={self.formulas.where!r}"] if self.formulas.where else []
        return f"{type(self).__name__}({', '.join([*map(repr, self.formulas.items), *where])})"


class Formula(ByFormulas):
    """One function by its text, e.g. `formula("a*sin(2*t)", "t", where={"a": "0.1*t"})`."""

    def __init__(
        self, text: str | float, variables: Sequence[str] = (), where: Mapping[str, str | float | Table] | None = None
    ) -> None:
        self.formulas = Formulas((text,), variables, where)

    @property
    def text(self) -> str:
        return str(self.formulas.items[0])

    @property
    def variables(self) -> tuple[str, ...]:
        return self.formulas.variables

    @property
    def where(self) -> Mapping[str, Any]:
        return self.formulas.where

    def __call__(self, *values: Number) -> Number:
        return self.formulas(values)[0]

    def __repr__(self) -> str:
        rest = "".join(f", {name!r}" for name in self.variables) + (f", where={self.where!r}" if self.where else "")
        return f"formula({self.formulas.items[0]!r}{rest})"


def formula(text: str | float, *variables: str, where: Mapping[str, str | float | Table] | None = None) -> Formula:
    """A function of the named variables: numbers, + − * / // % **, pi, e and the functions of sharnir (sin … select).

    A model with formulas in place of Python functions can be written to a file: motion=formula("0.3*sin(2*t)", "t").
    `where` names parts, and tables: formula("2*grip(x)", "x", where={"grip": table(…)}).
    """
    return Formula(text, variables, where)


def constant(text: str) -> Number:
    """The value of a formula without variables: `pi/2`, or `2*parameter.L` where parameters are known."""
    found = Formulas((text,))(())[0]
    return found if is_parametric(found) else float(found)


def _parsed(item: str | Number, names: Sequence[str], roots: Sequence[str], tables: Mapping[str, Table]) -> Tree:
    return parse(item, names, roots, tables) if isinstance(item, str) else ("number", item)


def _part(name: str, x: Any) -> Any:
    if isinstance(x, Table):
        return x.named(name)
    return x if isinstance(x, str) or is_parametric(x) else _number(x)


def parameter_hint(text: str) -> str:
    """Hint for a formula that was meant to use parameters and could not be read; empty where none are meant."""
    words = set(re.findall(r"[^\W\d]\w*", text))
    if PARAMETER in words:
        return " "
    meant = next((name for name in _known.get({}) if name in words), None)
    return f"; of a parameter write {PARAMETER}.{meant}" if meant else ""


def part_text(x: str | Number) -> str | float:
    """A named part as a file has it."""
    return file_text(x) if is_parametric(x) else x


def _number(x: float) -> float:
    try:
        return float(x)
    except NOT_A_NUMBER:
        raise ModelError(f"expected a formula or a number, got {brief(x)}") from None


def _check_names(names: Sequence[str]) -> None:
    if len(names) > MAX_PARTS:
        raise ModelError(f"formula: more than {MAX_PARTS} names")
    for name in names:
        if not isinstance(name, str) or not name.isidentifier():
            raise ModelError(f"formula: names consist of letters, digits and _, got {brief(name)}")
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise ModelError(f"formula: the name {twice[0]!r} is given twice")
