"""What the processor can do at most: a compiled loop of nothing but fused multiply-adds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sharnir.backends.graph_function import share
from sharnir.dialect.jit import Compiled, host_lanes, object_code

from .harness import race

CHAINS = 12
"""Independent chains: enough to fill two pipelines of four or five cycles, few enough for sixteen registers."""


def kernel_text(lanes: int, chains: int = CHAINS) -> str:
    """f(address of {number of iterations, address of the results}): each iteration is one fma on every chain."""
    T, name = f"<{lanes} x double>", f"llvm.fma.v{lanes}f64"
    factor, term = (f"<{', '.join([f'double {x}'] * lanes)}>" for x in ("0.5", "1.0"))
    each = range(chains)
    return "\n".join(
        [
            f"declare {T} @{name}({T}, {T}, {T})",
            "define void @f(ptr %args) nounwind {",
            "entry:",
            "  %count = load i64, ptr %args",
            "  %slot = getelementptr i64, ptr %args, i64 1",
            "  %address = load i64, ptr %slot",
            "  %out = inttoptr i64 %address to ptr",
            *(f"  %start{k} = getelementptr double, ptr %out, i64 {k * lanes}" for k in each),
            *(f"  %first{k} = load {T}, ptr %start{k}, align 8" for k in each),
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
            *(f"  %x{k} = phi {T} [ %first{k}, %entry ], [ %y{k}, %loop ]" for k in each),
            *(f"  %y{k} = call {T} @{name}({T} %x{k}, {T} {factor}, {T} {term})" for k in each),
            "  %next = add i64 %i, 1",
            "  %more = icmp slt i64 %next, %count",
            "  br i1 %more, label %loop, label %exit",
            "exit:",
            *(f"  store {T} %y{k}, ptr %start{k}, align 8" for k in each),
            "  ret void",
            "}",
        ]
    )


def loop(iterations: int, threads: int = 1) -> Callable[[], np.ndarray]:
    """A call of so many iterations of the loop, shared among threads. Reiterations the numbers it worked on, all 2."""
    kernel = Compiled(object_code(kernel_text(host_lanes())))
    out = np.zeros((threads, CHAINS * host_lanes()))
    lists = [np.array([iterations // threads, row.ctypes.data], dtype=np.int64) for row in out]

    def run() -> np.ndarray:
        if threads == 1:
            kernel.call(lists[0].ctypes.data)
        else:
            share(lambda x: kernel.call(x.ctypes.data), lists, threads)
        return out

    return run


def peak_gflops(iterations: int = 100_000) -> float:
    """Operations a nanosecond on one core; a fused multiply-add is two."""
    call = loop(iterations)
    seconds = race({"peak": call}, rounds=30)["peak"]
    if not np.allclose(call(), 2.0):  # the fixed point of x / 2 + 1: the work was really done
        raise AssertionError("the loop of fused multiply-adds gave a wrong result")
    return 2 * CHAINS * host_lanes() * iterations / seconds / 1e9
