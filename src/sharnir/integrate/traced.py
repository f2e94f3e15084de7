"""A right-hand side written as a plain Python function of symbols, compiled to machine code, its Jacobian too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..backends.graph_function import GraphFunction
from ..dialect.cache import Cache
from ..dialect.jit import host_lanes
from ..dialect.native import Native
from ..errors import StateError
from ..trace import Graph, Number, Symbol, call_traced, check_numbers, needed, tangent
from .system import System, buffers


def from_traced(
    f: Callable[..., Any],
    n: int,
    *,
    events: Callable[..., Any] | None = None,
    projection: Callable[..., Any] | None = None,
    jacobian: bool = True,
    parameters: np.ndarray | None = None,
    split: int | None = None,
    store: Cache | None = None,
) -> System:
    """A compiled system: f(t, x) -> dx, events(t, x) -> numbers, projection(t, x) -> x, all on symbols.

    With `parameters`, an array of floats, each function has it as its third argument; changing the array changes the
    system.
    """
    store = store or Cache()
    graph = Graph()
    x, (t,) = graph.inputs(n), graph.inputs(1)
    p = graph.inputs(len(parameters)) if parameters is not None else ()
    symbols: tuple[Any, ...] = (t, np.array(x, dtype=object), *([np.array(p, dtype=object)] if parameters is not None else []))

    def traced(function: Callable[..., Any], what: str, size: int | None) -> tuple[Number, ...]:
        values = list(np.ravel(np.array(call_traced(function, symbols, what), dtype=object)))
        if size is not None and len(values) != size:
            raise StateError(f"{what} must return {size} numbers, got {len(values)}")
        return check_numbers(values, graph, what)

    dx = traced(f, f"the right-hand side {_name(f)}", n)
    g = traced(events, f"the event function {_name(events)}", None) if events else ()
    onto = traced(projection, f"the projection {_name(projection)}", n) if projection else ()
    b = buffers(n, events=len(g), jacobian=jacobian)
    inputs: dict[str, tuple[Symbol, ...]] = {"x": x, "t": (t,), "p": p}
    arrays = {"x": b.X, "t": b.T, "p": parameters if parameters is not None else np.zeros(0)}

    def call(outputs: tuple[Number, ...], target: np.ndarray) -> list[Native]:
        return [GraphFunction.of(inputs, {"y": outputs}, store).bind({**arrays, "y": target})]

    return System(
        b,
        call(dx, b.DX),
        events=call(g, b.G) if g else (),
        projection=call(onto, b.X) if onto else (),
        jacobian=_jacobian(graph, inputs, arrays, dx, b.J, store) if jacobian and n else (),
        split=split,
    )


def _name(function: Any) -> str:
    return repr(getattr(function, "__name__", type(function).__name__))


def _jacobian(
    graph: Graph,
    inputs: dict[str, tuple[Symbol, ...]],
    arrays: dict[str, np.ndarray],
    dx: tuple[Number, ...],
    J: np.ndarray,
    store: Cache,
) -> list[Native]:
    """Whichever is less work: all columns in one graph, where zeros vanish and equal parts are shared; or the derivative
    along one direction, run for all directions as a batch, some in each vector register."""
    x, n = inputs["x"], len(inputs["x"])
    seed = graph.inputs(n)
    along = tangent(dx, list(zip(x, seed, strict=True)))
    columns = tuple(y for symbol in x for y in tangent(dx, [(symbol, 1.0)]))
    lanes = host_lanes() if n >= host_lanes() else 1
    if len(needed(graph, columns)) <= len(needed(graph, along)) * -(-n // lanes):
        return [GraphFunction.of(inputs, {"J": columns}, store).bind({**arrays, "J": J})]
    batch = GraphFunction.of({**inputs, "seed": seed}, {"J": along}, store)
    return [batch.bind({**arrays, "seed": np.eye(n), "J": J}, n, lanes)]
