"""A program as straight-line machine code: one state at a time, or as many as a vector register holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..cache import Cache
from ..runner import Interface
from ..traced import TracedProgram, trace_program
from .emit import emit
from .jit import Compiled, compile_text, host_lanes

_pools: dict[int, ThreadPoolExecutor] = {}


def share(work: Callable[[Any], Any], parts: Sequence[Any], threads: int) -> None:
    """work(part) for every part, in so many threads, this one among them; each takes the next part when it is done with one,
    so that a thread that is held up by others on the machine holds up nobody."""
    rest = iter(parts)  # taking from it is one operation of the interpreter: no two threads get the same

    def take() -> None:
        for part in rest:
            work(part)

    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads - 1, thread_name_prefix="sharnir")
    helpers = [_pools[threads].submit(take) for _ in range(threads - 1)]
    try:
        take()
    finally:
        for helper in helpers:
            helper.result()


class Prepared:
    """Machine code with its arguments, and all that must live as long as it is called."""

    def __init__(self, compiled: Compiled, arguments: np.ndarray, keep: Any) -> None:
        self._call, self._address = compiled.call, arguments.ctypes.data
        self._keep = (compiled, arguments, keep)

    def __call__(self) -> None:
        self._call(self._address)


class GraphRunner:
    """A graph as machine code, compiled when first needed: `single` for one state, `lanes` for a batch."""

    def __init__(self, traced: TracedProgram, outputs: dict[str, tuple[int, ...]], store: Cache) -> None:
        self.traced, self._store = traced, store
        self.inputs = {name: len(symbols) for name, symbols in traced.inputs.items()}
        self.outputs = outputs
        """The shapes of the traced outputs, in their order."""

    @cached_property
    def single(self) -> Compiled:
        return compile_text(emit(self.traced, 1), self._store)

    @cached_property
    def lanes(self) -> Compiled:
        return compile_text(emit(self.traced, host_lanes()), self._store)

    def run(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], threads: int = 1) -> None:
        lanes = host_lanes()
        if n == 0:
            return
        if n < lanes:
            check = np.empty(n)
            self.single.call(self.arguments(0, n, inputs, outputs, check).ctypes.data)
            return
        compiled = self.lanes
        threads = max(1, min(threads, n // (16 * lanes)))
        parts = 1 if threads == 1 else min(8 * threads, n // (8 * lanes))
        edges = [round(n * k / parts / lanes) * lanes for k in range(parts)] + [n]
        lists = [self.arguments(a, b - a, inputs, outputs) for a, b in pairwise(edges)]
        if parts == 1:
            compiled.call(lists[0].ctypes.data)
        else:
            share(lambda x: compiled.call(x.ctypes.data), lists, threads)

    def prepared(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], batch: bool) -> Callable[[], None]:
        """A call on these very arrays, to be made again and again: nothing but the compiled code, in lanes or state by state."""
        check = np.empty(n)
        arguments = self.arguments(0, n, inputs, outputs, None if batch else check)
        compiled = self.lanes if batch else self.single
        return Prepared(compiled, arguments, (check, inputs, outputs))

    def arguments(
        self, first: int, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], check: np.ndarray | None = None
    ) -> np.ndarray:
        """Number of states, addresses and strides: what the compiled function reads (see emit.py).
        `check` (n,) is written by the one-lane function only, which must have it."""
        out = [n]
        for x in inputs:
            stride = x.shape[1] if len(x) > 1 else 0
            out += [x.ctypes.data + 8 * stride * first, stride]
        out += [y.ctypes.data + 8 * (y.size // len(y)) * first for y in outputs]
        out.append(0 if check is None else check.ctypes.data)
        return np.array(out, dtype=np.int64)


class LLVMRunner(GraphRunner, Interface):
    """A program of one model."""

    def __init__(self, *args: Any, traced: TracedProgram | None = None, store: Cache | None = None, **options: Any) -> None:
        Interface.__init__(self, *args, **options)
        traced = traced or trace_program(self.program, self.structure, self.constant, tuple(self.outputs))
        GraphRunner.__init__(self, traced, self.outputs, store or Cache())
