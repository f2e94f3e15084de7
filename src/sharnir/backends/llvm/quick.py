"""One state, or a plain batch, straight from NumPy arrays to machine code: the call as short as Python allows.

A function is written out for the inputs of one program, without loops over them. It answers None whenever an argument
is not simply a float array of the expected shape or something is not finite; the caller then takes the careful way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .jit import host_lanes

if TYPE_CHECKING:
    from .runner import GraphRunner

_TEMPLATE = """
def quick({parameters}, t):
    if t.__class__ is number and {all_single}:
        box = spare.pop() if spare else make()
        {buffers}, time, result, check, call, address = box
        {copies}
        time[0] = t
        call(address)
        out = result.copy() if check[0] == 0.0 else None
        spare.append(box)
        return out
    return None
"""
_SINGLE = "({x}.__class__ is array and {x}.dtype is exact and {x}.shape == shape_{k} or {x} is None)"
_COPY = "buffer_{k}[:] = {zero} if {x} is None else {x}"


def quick_single(runner: GraphRunner) -> Callable[..., np.ndarray | None]:
    """quick(*inputs, t) -> the first output of one state, or None. None as an input means zeros.

    Inputs are copied into buffers whose addresses the compiled code knows. A set of buffers is in one thread's hands at
    a time: taken from a list, put back afterwards.
    """
    names = [name for name in runner.inputs if name != "t"]
    shape = next(iter(runner.outputs.values()))
    kept: list[np.ndarray] = []

    def make() -> tuple[Any, ...]:
        inputs, result, check = [np.zeros(size) for size in runner.inputs.values()], np.zeros(shape), np.zeros(1)
        arguments = runner.arguments(0, 1, [x[None] for x in inputs], [result.reshape(1, -1)], check)
        kept.append(arguments)
        return (*inputs, result, check, runner.single.call_quick, arguments.ctypes.data)

    text = _TEMPLATE.format(
        parameters=", ".join(names),
        all_single=" and ".join(_SINGLE.format(x=x, k=k) for k, x in enumerate(names)),
        buffers=", ".join(f"buffer_{k}" for k in range(len(names))),
        copies="\n        ".join(_COPY.format(x=x, k=k, zero=0.0) for k, x in enumerate(names)),
    )
    space: dict[str, Any] = {
        "array": np.ndarray, "exact": np.dtype(float), "number": float,
        "spare": [], "make": make,
        **{f"shape_{k}": (runner.inputs[name],) for k, name in enumerate(names)},
    }  # fmt: skip
    exec(text, space)
    return space["quick"]


def quick_batch(runner: GraphRunner) -> Callable[..., np.ndarray | None]:
    """quick(out, *inputs, t) -> the first output of a batch, or None. Each input is a batch, one row for all, or None."""
    lanes = host_lanes()
    names = [name for name in runner.inputs if name != "t"]
    sizes, shape = [runner.inputs[name] for name in names], next(iter(runner.outputs.values()))
    zeros = {name: np.zeros(size) for name, size in zip(names, sizes, strict=True)}
    exact = np.dtype(float)

    def quick(out: Any, *values: Any) -> np.ndarray | None:
        n, t = 0, values[-1]
        if t.__class__ is not float:
            return None
        time = np.array((t,))
        arguments: list[int] = [0]
        for name, size, value in zip(names, sizes, values, strict=False):
            x = zeros[name] if value is None else value
            if x.__class__ is not np.ndarray or x.dtype is not exact or not x.flags.c_contiguous or x.shape[-1:] != (size,):
                return None
            rows = x.shape[0] if x.ndim == 2 else 0
            if x.ndim > 2 or (rows and n and rows != n) or (x.ndim == 2 and rows == 0):
                return None
            if out is not None and np.may_share_memory(out, x):  # the last block may be computed twice
                return None
            n = n or rows
            arguments += (x.ctypes.data, size if rows else 0)
        if n < lanes:
            return None
        if out is None:
            out = np.empty((n, *shape))
        elif out.__class__ is not np.ndarray or out.dtype is not exact or out.shape != (n, *shape) or not out.flags.c_contiguous:
            return None
        arguments += (time.ctypes.data, 0, out.ctypes.data, 0)  # no check with several lanes
        arguments[0] = n
        listed = np.array(arguments, dtype=np.int64)
        runner.lanes.call(listed.ctypes.data)
        return out

    return quick
