"""A graph in every execution: straight-line machine code for one state, for as many as a vector register holds, or in
double-double arithmetic, made when first needed; and interpreted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from ..dialect.cache import Cache
from ..dialect.jit import Compiled, compile_text, host_lanes
from ..dialect.native import Native, address
from ..trace import Expression, Number, Symbol
from .llvm.emit import emit
from .runner import Interface
from .traced import TracedProgram, trace_program

OPERATIONS_OF_A_CALL = 2**28

_pools: dict[tuple[int, str], ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):  # a forked process has none of its parent's threads
    os.register_at_fork(after_in_child=_pools.clear)


def pool_of(threads: int, purpose: str) -> ThreadPoolExecutor:
    """The threads beside this one where there are so many in all; those of one purpose do not wait for those of another."""
    if (threads, purpose) not in _pools:
        _pools[threads, purpose] = ThreadPoolExecutor(threads - 1, thread_name_prefix="sharnir")
    return _pools[threads, purpose]


def share(work: Callable[[Any], Any], parts: Sequence[Any], threads: int) -> None:
    """work(part) for every part, on so many threads including this one; each takes the next part when it has finished one,
    so that a thread that is preempted does not delay the others."""
    if threads == 1 or len(parts) == 1:
        for part in parts:
            work(part)
        return
    rest = iter(parts)  # next() on it is atomic under the GIL: no two threads get the same part

    def take() -> None:
        for part in rest:
            work(part)

    pool = pool_of(threads, "batches")
    helpers = [pool.submit(take) for _ in range(threads - 1)]
    try:
        take()
    finally:
        for _ in rest:  # after an exception, or Ctrl-C, no thread begins another part
            pass
        for helper in helpers:
            helper.result()


class GraphFunction:
    """Outputs as functions of inputs, symbols of one graph: bound to arrays by name, or run on rows of states."""

    def __init__(
        self, traced: TracedProgram, store: Cache | None = None, outputs: Mapping[str, tuple[int, ...]] | None = None
    ) -> None:
        """`outputs`: their shapes, where they are not just rows."""
        self.traced, self.store = traced, store or Cache()
        self.inputs = {name: len(symbols) for name, symbols in traced.inputs.items()}
        self.outputs = dict(outputs or {name: (len(x),) for name, x in traced.outputs.items()})
        assert not self.inputs.keys() & self.outputs.keys(), "arrays are given by name: an input is not called like an output"
        self._codes: dict[tuple[int, bool, bool], Compiled] = {}

    @classmethod
    def of(
        cls, inputs: Mapping[str, Sequence[Symbol]], outputs: Mapping[str, Iterable[Number]], store: Cache | None = None
    ) -> GraphFunction:
        return cls(TracedProgram.of(inputs, outputs), store)

    @cached_property
    def interpreted(self) -> GraphInterpreter:
        """The same function without machine code."""
        return GraphInterpreter(self.traced, self.outputs)

    def code(self, lanes: int, innermost: bool = False, pairs: bool = False) -> Compiled:
        key = lanes, innermost, pairs
        if key not in self._codes:
            self._codes[key] = compile_text(emit(self.traced, lanes, pairs, innermost), self.store, quick=pairs)
        return self._codes[key]

    @cached_property
    def longest(self) -> int:
        """States of one call, after which Ctrl-C is heard: about a tenth of a second."""
        return max(1024, OPERATIONS_OF_A_CALL // max(len(self.traced.graph.nodes), 1))

    @cached_property
    def _lanes(self) -> Compiled:
        return self.code(host_lanes())

    def bind(self, arrays: Mapping[str, np.ndarray], n: int = 1, lanes: int = 1, pairs: bool = False) -> Native:
        """The graph bound to n states in arrays by name, inputs and outputs: a row for each state, or one row for all.

        With one lane there may be an array `check` (n,): 0 for each state all of whose numbers are finite, else nan.
        With several there must be as many states as lanes. `pairs`: in double-double arithmetic, with one lane; every array has
        one more axis, of two.
        """
        descriptor, width = [n], 2 if pairs else 1
        assert not pairs or lanes == 1
        for name, size in self.inputs.items():
            place, stride = _rows(name, arrays[name], size * width, n)
            descriptor += place, stride // width
        for name, shape in self.outputs.items():
            if arrays[name].size != n * width * prod(shape):
                raise ValueError(f"{name!r}: {arrays[name].size} numbers for {n} results of {prod(shape)}")
            descriptor.append(address(arrays[name]))
        check = arrays.get("check", np.zeros(n)) if lanes == 1 else np.zeros(0)
        return Native(self.code(lanes, pairs=pairs), [*descriptor, address(check)], (arrays, check))

    def bind_vector(self, arrays: Mapping[str, np.ndarray]) -> Native:
        """The graph bound to as many states as the processor has lanes, in arrays (…, lanes) by name: no state is moved."""
        lanes = host_lanes()
        descriptor = [lanes]
        for name, size in (self.inputs | {name: prod(shape) for name, shape in self.outputs.items()}).items():
            if arrays[name].size != lanes * size:
                raise ValueError(f"{name!r}: {arrays[name].size} numbers, not {lanes} times {size}")
            descriptor += (address(arrays[name]), size) if name in self.inputs else (address(arrays[name]),)
        return Native(self.code(lanes, innermost=True), [*descriptor, 0], arrays)

    def call(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> None:
        """`bind` and one call in lanes, as short as Python allows. Inputs are checked by the caller: rows (n, size), or one
        (size,) for all."""
        descriptor = [n]
        for x in inputs:
            descriptor += (x.ctypes.data, x.shape[1] if x.ndim == 2 else 0)
        descriptor += (*(x.ctypes.data for x in outputs), 0)
        listed = np.array(descriptor, dtype=np.int64)
        self._lanes.call(listed.ctypes.data)

    def chain(self, arrays: Mapping[str, np.ndarray], threads: int = 1) -> list[Native]:
        """Native functions that evaluate one state when called in this order; straight-line code is too short to be shared."""
        return [self.bind(arrays)]

    def run(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], threads: int = 1) -> None:
        lanes = host_lanes()
        if n < lanes:
            if n:
                self._part(inputs, outputs, 0, n, n, 1)()
            return
        threads = max(1, min(threads, n // (16 * lanes)))
        parts = max(1 if threads == 1 else min(8 * threads, n // (8 * lanes)), -(-n // self.longest))
        edges = [round(n * k / parts / lanes) * lanes for k in range(parts)] + [n]
        share(Native.__call__, [self._part(inputs, outputs, a, b, n, lanes) for a, b in pairwise(edges)], threads)

    def prepared(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], batch: bool) -> Native:
        """The compiled code bound to these arrays, for repeated calls, in lanes or state by state."""
        return self._part(inputs, outputs, 0, n, n, host_lanes() if batch else 1)

    def _part(self, inputs: Sequence[Any], outputs: Sequence[Any], first: int, last: int, n: int, lanes: int) -> Native:
        """States first … last of n. Inputs are rows (n, size), or (1, size) for all."""
        rows = {name: x if len(x) == 1 else x[first:last] for name, x in zip(self.inputs, inputs, strict=True)}
        rows |= {name: y[first:last] for name, y in zip(self.outputs, outputs, strict=True)}
        return self.bind(rows, last - first, lanes)


def _rows(name: str, x: np.ndarray, size: int, n: int) -> tuple[int, int]:
    """Address, and numbers from one state to the next."""
    if x.size not in (size, n * size):
        raise ValueError(f"{name!r}: {x.size} numbers, not {size} or {n} times {size}")
    return address(x), size if x.size == n * size and n > 1 else 0


class LLVMRunner(GraphFunction, Interface):
    """A program of one model."""

    def __init__(self, *args: Any, traced: TracedProgram | None = None, store: Cache | None = None, **options: Any) -> None:
        Interface.__init__(self, *args, **options)
        traced = traced or trace_program(self.program, self.structure, self.constant, tuple(self.outputs))
        GraphFunction.__init__(self, traced, store, self.outputs)


class GraphInterpreter:
    """A graph evaluated node by node on floats: what `backend="python"` runs where a question is a graph and no program.
    `outputs`: their shapes."""

    def __init__(self, traced: TracedProgram, outputs: Mapping[str, tuple[int, ...]]) -> None:
        self.traced = traced
        self.inputs = {name: len(symbols) for name, symbols in traced.inputs.items()}
        self.outputs = dict(outputs)
        symbols = [x for group in traced.inputs.values() for x in group]
        self._expression = Expression(traced.graph, symbols, [x for name in self.outputs for x in traced.outputs[name]])

    def chain(self, arrays: Mapping[str, np.ndarray], threads: int = 1) -> list[Native]:
        raise NotImplementedError("a graph that is interpreted is no native function")

    def run(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], threads: int = 1) -> None:
        edges = np.cumsum([prod(shape) for shape in self.outputs.values()])[:-1]
        for b in range(n):
            row = [value for x in inputs for value in x[b if len(x) > 1 else 0].tolist()]
            with np.errstate(all="ignore"):  # nan and inf are values, not warnings
                found = np.array(self._expression(*row), dtype=float)
            for y, part in zip(outputs, np.split(found, edges), strict=True):
                y[b] = part
