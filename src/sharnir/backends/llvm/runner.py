"""A program as straight-line machine code: one state at a time, or as many as a vector register holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ..cache import Cache
from ..runner import Interface
from ..traced import TracedProgram, trace_program
from .emit import emit
from .jit import Compiled, compile_text, host_lanes

_pools: dict[int, ThreadPoolExecutor] = {}


def pool(threads: int) -> ThreadPoolExecutor:
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix="sharnir")
    return _pools[threads]


class LLVMRunner(Interface):
    """Compiled when first needed: `single` for one state, `lanes` for a batch."""

    def __init__(self, *args: Any, traced: TracedProgram | None = None, store: Cache | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._store = store or Cache()
        self.traced = traced or trace_program(self.program, self.structure, self.constant, tuple(self.outputs))

    @cached_property
    def single(self) -> Compiled:
        return compile_text(emit(self.traced, 1), self._store)

    @cached_property
    def lanes(self) -> Compiled:
        return compile_text(emit(self.traced, host_lanes()), self._store)

    def run(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], threads: int = 1) -> None:
        lanes = host_lanes()
        compiled = self.lanes if n >= lanes else self.single
        parts = max(1, min(threads, n // (16 * lanes)))
        edges = [round(n * k / parts / lanes) * lanes for k in range(parts)] + [n]
        lists = [self._arguments(a, b - a, inputs, outputs) for a, b in pairwise(edges)]
        if parts == 1:
            compiled.call(lists[0].ctypes.data)
        else:
            list(pool(parts).map(lambda x: compiled.call(x.ctypes.data), lists))

    def _arguments(self, first: int, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> np.ndarray:
        """Number of states, addresses and strides: what the compiled function reads (see emit.py)."""
        out = [n]
        for x in inputs:
            stride = x.shape[1] if len(x) > 1 else 0
            out += [x.ctypes.data + 8 * stride * first, stride]
        out += [y.ctypes.data + 8 * (y.size // len(y)) * first for y in outputs]
        return np.array(out, dtype=np.int64)

    def quick(self) -> Callable[..., list[np.ndarray] | None]:
        """A function for one state with next to no overhead: quick(*inputs) -> outputs, or None where an input is not
        simply a finite float array of the right shape (None means zeros, the time is a number).

        Inputs are copied into buffers whose addresses the compiled code knows. A buffer is in one thread's hands
        at a time: taken from a list, put back afterwards.
        """
        call = self.single.call_quick
        sizes, shapes = list(self.inputs.values()), list(self.outputs.values())
        spare: list[tuple[list[np.ndarray], list[np.ndarray], int, np.ndarray, np.ndarray]] = []
        array, exact, isfinite = np.ndarray, np.dtype(float), math.isfinite
        edges = list(accumulate(sizes, initial=0))

        def make() -> tuple[list[np.ndarray], list[np.ndarray], int, np.ndarray, np.ndarray]:
            flat = np.zeros(edges[-1])
            x, y = [flat[a:b] for a, b in pairwise(edges)], [np.zeros(shape) for shape in shapes]
            arguments = self._arguments(0, 1, [a[None] for a in x], [b.reshape(1, -1) for b in y])
            return x, y, arguments.ctypes.data, flat, arguments

        def quick(*values: Any) -> list[np.ndarray] | None:
            box = spare.pop() if spare else make()
            x, y, address, flat, _ = box
            for target, value in zip(x, values):  # noqa: B905 (strict costs a tenth of the call)
                if value.__class__ is array:
                    if value.dtype is not exact or value.shape != target.shape:
                        spare.append(box)
                        return None
                    target[:] = value
                elif value is None:
                    target.fill(0.0)
                elif value.__class__ is float:
                    target[0] = value
                else:
                    spare.append(box)
                    return None
            if not isfinite(flat.dot(flat)):
                spare.append(box)
                return None
            call(address)
            out = [b.copy() for b in y]
            spare.append(box)
            return out

        return quick
