"""The fast path: one state, or a plain batch, straight from NumPy arrays to machine code.

A function is generated for the inputs of one program, without loops over them. It returns None whenever an argument is not
a float array of the expected shape or a number is not finite; the caller then takes the general path, which checks and explains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..dialect.jit import host_lanes, in_background
from .graph_function import GraphFunction
from .loops import BODIES_OF_A_CALL
from .runner import Runner, empty_outputs

_TEMPLATE = """
def fast({parameters}, t):
    if t.__class__ is number and {all_single}:
        box = spare.pop() if spare else make()
        {buffers}, time, {results}, check, call = box
        {copies}
        time[0] = t
        call()
        out = {copied} if check[0] == 0.0 else None
        spare.append(box)
        return out
    return None
"""
_SINGLE = "({x}.__class__ is array and {x}.dtype is exact and {x}.shape == shape_{k}{absent})"
_COPY = "buffer_{k}[:] = 0.0 if {x} is None else {x}"
LEFT_OUT = ("v", "tau", "qdd")
"""Inputs that are zero where they are left out."""
HOLD_BELOW = 1000
"""Below this many numbers in and out a call takes microseconds and holds the GIL."""


class FastPath(NamedTuple):
    """`single(*inputs)` and `batch(out, *inputs)` return the result, or None where the fast path does not apply."""

    single: Callable[..., Any]
    batch: Callable[..., Any]
    inputs: tuple[str, ...]
    """In the order both expect; the time last."""

    def __call__(self, out: np.ndarray | None, *inputs: Any) -> Any:
        """The result of whichever of the two applies."""
        done = self.single(*inputs)
        return self.batch(out, *inputs) if done is None else done if out is None else placed(done, out)

    def row(self, rows: Mapping[str, np.ndarray]) -> Any:
        """The result for one state, given as checked rows by name."""
        if not self.inputs:
            return None
        return self.single(*[rows[name][0] for name in self.inputs if name != "t"], float(rows["t"][0, 0]))


def placed(found: Any, out: object) -> Any:
    """The only result of one state in the array `out`; None where that is no place for it."""
    if found.__class__ is not np.ndarray or not isinstance(out, np.ndarray) or out.shape != found.shape:
        return None
    if out.dtype != found.dtype or not out.flags.c_contiguous or not out.flags.writeable:
        return None
    out[...] = found
    return out


def fast_path(runner: Runner | None, threads: int = 1) -> FastPath:
    """The fast path of a runner; without one, a fast path that never applies."""
    if runner is None:
        return FastPath(_never, _never, ())
    batch: Callable[..., Any] = _never
    if threads == 1 and isinstance(runner, GraphFunction):
        batch = fast_batch(runner)
    return FastPath(fast_single(runner, threads), batch, tuple(runner.inputs))


def _never(*values: Any) -> None:
    return None


def fast_single(runner: Runner, threads: int = 1) -> Callable[..., Any]:
    """fast(*inputs, t) -> the output of one state (a tuple where there are several), or None.

    None for speeds, forces or accelerations means zeros. Inputs are copied into buffers whose addresses the compiled
    code knows. A set of buffers is used by one thread at a time: taken from a list, returned afterwards.
    """
    names = [name for name in runner.inputs if name != "t"]
    alive: list[Any] = []

    def make() -> tuple[Any, ...]:
        arrays: dict[str, np.ndarray] = {name: np.zeros(size) for name, size in runner.inputs.items()}
        arrays |= {name: np.zeros(shape) for name, shape in runner.outputs.items()} | {"check": np.zeros(1)}
        natives = runner.chain(arrays, threads)
        alive.append(natives)
        numbers = sum(x.size for x in arrays.values())
        hold, long = numbers < HOLD_BELOW, numbers > BODIES_OF_A_CALL
        steps = [native.call_with_gil if hold else native for native in natives]

        def call() -> None:
            for step in steps:
                in_background(step, long)

        return (*arrays.values(), steps[0] if len(steps) == 1 and not long else call)

    results = [f"result_{k}" for k in range(len(runner.outputs))]
    text = _TEMPLATE.format(
        parameters=", ".join(names),
        all_single=" and ".join(
            _SINGLE.format(x=x, k=k, absent=f" or {x} is None" if x in LEFT_OUT else "") for k, x in enumerate(names)
        ),
        buffers=", ".join(f"buffer_{k}" for k in range(len(names))),
        results=", ".join(results),
        copies="\n        ".join(_COPY.format(x=x, k=k) for k, x in enumerate(names)),
        copied=f"{results[0]}.copy()" if len(results) == 1 else f"({', '.join(f'{x}.copy()' for x in results)})",
    )
    space: dict[str, Any] = {
        "array": np.ndarray, "exact": np.dtype(float), "number": float,
        "spare": [], "make": make,
        **{f"shape_{k}": (runner.inputs[name],) for k, name in enumerate(names)},
    }  # fmt: skip
    exec(text, space)
    return space["fast"]


def fast_batch(runner: GraphFunction) -> Callable[..., Any]:
    """fast(out, *inputs, t) -> the output of a batch (a tuple where there are several), or None. Each input is a batch, one row
    for all, or None; `out` is an array for the only output."""
    lanes = host_lanes()
    names = [name for name in runner.inputs if name != "t"]
    sizes, shapes = [runner.inputs[name] for name in names], list(runner.outputs.values())
    zeros = [np.zeros(size) if name in LEFT_OUT else None for name, size in zip(names, sizes, strict=True)]
    exact = np.dtype(float)

    def fast(out: Any, *values: Any) -> Any:
        n, t, rows = 0, values[-1], []
        if t.__class__ is not float:
            return None
        for size, zero, value in zip(sizes, zeros, values, strict=False):
            x = zero if value is None else value
            if x.__class__ is not np.ndarray or x.dtype is not exact or not x.flags.c_contiguous or x.shape[-1:] != (size,):
                return None
            if x.ndim == 2:
                if n and x.shape[0] != n:
                    return None
                n = x.shape[0]
            if x.ndim > 2 or (x.ndim == 2 and not n):
                return None
            if out is not None and np.may_share_memory(out, x):  # the last block may be computed twice
                return None
            rows.append(x)
        if n < lanes or n > runner.longest:
            return None
        if out is None:
            found = empty_outputs(n, shapes)
        elif (
            len(shapes) > 1
            or out.__class__ is not np.ndarray
            or out.dtype is not exact
            or out.shape != (n, *shapes[0])
            or not out.flags.c_contiguous
            or not out.flags.writeable
        ):
            return None
        else:
            found = [out]
        rows.append(np.array((t,)))
        runner.call(n, rows, found)
        return found[0] if len(found) == 1 else tuple(found)

    return fast
