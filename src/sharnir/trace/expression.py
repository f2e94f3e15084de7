"""A traced function: part of a graph with inputs and outputs, evaluated on any numbers, and differentiated."""

from __future__ import annotations

import contextlib
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from copy import copy
from functools import partial
from os import sep
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..errors import NOT_A_NUMBER, ModelError, SharnirError, TraceError, brief
from . import functions
from .graph import Graph, Number, Symbol
from .operations import OPERATIONS, operation

_PACKAGE = str(Path(__file__).parents[1])
_NUMPY = f"-packages{sep}numpy{sep}"
_FUNCTIONS = SimpleNamespace(**{name: (lambda *x, _n=name: functions.apply(_n, *x)) for name in OPERATIONS})


_generic: ContextVar[bool] = ContextVar("generic functions", default=False)


@contextlib.contextmanager
def generic_functions() -> Iterator[None]:
    """Expressions are evaluated inside as functions that may be anything (`generic.py`), whatever they are at these values."""
    token = _generic.set(True)
    try:
        yield
    finally:
        _generic.reset(token)


class Expression:
    """Outputs as functions of the inputs of a graph. Call it with floats, symbols of another graph, any numbers."""

    def __init__(self, graph: Graph, inputs: Sequence[Symbol], outputs: Sequence[Number]) -> None:
        self.graph = graph
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.program = needed(graph, self.outputs)
        used = set(self.program) - {x.index for x in self.inputs} if graph.parameters else ()
        self.parameters = tuple(name for name, x in graph.parameters.items() if x.index in used)
        """The parameters it depends on, beside its inputs."""
        self.defaults: Mapping[str, Number] = graph.defaults
        """Their values where a call gives no others."""

    def with_defaults(self, values: Mapping[str, Number]) -> Expression:
        """The expression with other values of the parameters where a call gives none."""
        out = copy(self)
        out.defaults = values
        return out

    @property
    def all_inputs(self) -> tuple[Symbol, ...]:
        """The inputs, then its parameters."""
        return (*self.inputs, *(self.graph.parameters[name] for name in self.parameters))

    def __call__(self, *values: Number, parameters: Mapping[str, Number] | None = None) -> tuple[Number, ...]:
        """`parameters`: where they are other than their defaults."""
        if len(values) != len(self.inputs):
            raise TypeError(f"expression of {len(self.inputs)} inputs called with {len(values)}")
        if _generic.get() and values and all(isinstance(x, float) for x in values):
            from .generic import on_generic

            return on_generic(partial(self, parameters=parameters), values)
        memory: dict[int, Number] = {x.index: value for x, value in zip(self.inputs, values, strict=True)}
        graph = self.graph
        own = self.defaults if parameters is None else parameters
        for name in self.parameters:
            if name not in own:
                raise ModelError(f"{name!r} is a parameter of another model: add it to this one with add_parameter")
            memory[graph.parameters[name].index] = own[name]
        nodes = self.graph.nodes
        for index in self.program:
            if index in memory:
                continue
            name, *args = nodes[index]
            memory[index] = args[0] if name == "const" else functions.apply(name, *[memory[a] for a in args])
        return tuple(memory[y.index] if isinstance(y, Symbol) else y for y in self.outputs)


def needed(graph: Graph, outputs: Sequence[Number]) -> list[int]:
    """The nodes the outputs depend on, arguments first."""
    seen: set[int] = set()
    stack = [y.index for y in outputs if isinstance(y, Symbol)]
    while stack:
        index = stack.pop()
        if index not in seen:
            seen.add(index)
            name, *args = graph.nodes[index]
            if name not in ("input", "const"):
                stack.extend(args)
    return sorted(seen)


def tangent(outputs: Sequence[Number], seeds: Mapping[Symbol, Number] | Sequence[tuple[Symbol, Number]]) -> tuple[Number, ...]:
    """Directional derivative: the rates of the outputs when each seeded symbol changes at the given rate.

    The result consists of new nodes of the same graph (rates may be symbols), so it can be differentiated again.
    """
    pairs = seeds.items() if isinstance(seeds, Mapping) else seeds
    rate: dict[int, Number] = {x.index: dx for x, dx in pairs}
    symbols = [y for y in outputs if isinstance(y, Symbol)]
    if not symbols:
        return tuple(0.0 for _ in outputs)
    graph = symbols[0].graph
    for index in needed(graph, outputs):
        if index in rate:
            continue
        name, *args = graph.nodes[index]
        if name in ("input", "const"):
            rate[index] = 0.0
            continue
        rates = [rate[a] for a in args]
        rule = operation(name).tangent
        if rule is None or all(isinstance(r, float) and r == 0.0 for r in rates):
            rate[index] = 0.0
            continue
        values = [Symbol(graph, a) if (c := graph.constant(a)) is None else c for a in args]
        rate[index] = rule(_FUNCTIONS, Symbol(graph, index), values, rates)
    return tuple(rate[y.index] if isinstance(y, Symbol) else 0.0 for y in outputs)


_LINALG = (
    "\n  It was given a symbol, a number not known yet, which functions of numpy.linalg do not take. A length is "
    "sharnir.sqrt(x*x + y*y + z*z), or sharnir.hypot(x, y); small systems of equations are written out"
)


def call_traced(function: Callable[..., Any], args: Sequence[Any], what: str) -> Any:
    """Call a user's function on symbols; an error is reported with `what` and the user's own line."""
    try:
        return function(*args)
    except Exception as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(_PACKAGE)]
        in_linalg = bool(frames) and f"{_NUMPY}linalg" in frames[-1].filename
        frames = [f for f in frames if _NUMPY not in f.filename and f.filename != contextlib.__file__]
        where = f" at {frames[-1].filename}:{frames[-1].lineno}: {frames[-1].line}" if frames else ""
        raise TraceError(
            f"{what} cannot be traced{where}\n  {type(error).__name__}: {error}{_LINALG if in_linalg else _hint(error, args)}"
        ) from error


def _hint(error: Exception, args: Sequence[Any]) -> str:
    """Hint for an error of code that took a symbol for a number, an array, or one of its own kind; or several for one."""
    if args and isinstance(args[0], tuple) and re.search(r"\b(tuple|sequence)\b|\(\(<symbol", str(error)):
        return "\n  The first argument holds the coordinates in their order, also where there is only one: write q[0], not q"
    if isinstance(error, SharnirError) or not any(word in str(error) for word in ("Symbol", "dtype('O')", "ufunc")):
        return ""
    return (
        "\n  It was given a symbol, which stands for one number not known yet: compute with + - * / **, the functions of sharnir "
        "(sharnir.sin, sharnir.select, …), or NumPy's of the same names"
    )


def check_numbers(values: Iterable[Any], graph: Graph, what: str) -> tuple[Number, ...]:
    """The outputs of a user's function as floats and symbols of this graph; anything else is refused."""
    out: list[Number] = []
    for value in values:
        if isinstance(value, Symbol):
            out.append(value if value.graph is graph else graph.adopted(value))
            continue
        try:
            out.append(float(value))
        except NOT_A_NUMBER:
            raise TraceError(f"{what} must return numbers, got {brief(value)}") from None
    return tuple(out)
