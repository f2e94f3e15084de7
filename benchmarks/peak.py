"""What the processor can do at most: a compiled loop of nothing but fused multiply-adds."""

from __future__ import annotations

import numpy as np

from sharnir.backends.llvm.jit import Compiled, host_lanes, object_code

from .timing import race

CHAINS = 12
"""Independent chains: enough to fill two pipelines of four or five cycles, few enough for sixteen registers."""


def kernel_text(lanes: int, chains: int = CHAINS) -> str:
    """f(address of {number of turns, address of the results}): each turn is one fma on every chain."""
    T, name = f"<{lanes} x double>", f"llvm.fma.v{lanes}f64"
    factor, term = (f"<{', '.join([f'double {x}'] * lanes)}>" for x in ("0.5", "1.0"))
    turn = range(chains)
    return "\n".join(
        [
            f"declare {T} @{name}({T}, {T}, {T})",
            "define void @f(ptr %args) nounwind {",
            "entry:",
            "  %turns = load i64, ptr %args",
            "  %slot = getelementptr i64, ptr %args, i64 1",
            "  %address = load i64, ptr %slot",
            "  %out = inttoptr i64 %address to ptr",
            *(f"  %start{k} = getelementptr double, ptr %out, i64 {k * lanes}" for k in turn),
            *(f"  %first{k} = load {T}, ptr %start{k}, align 8" for k in turn),
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
            *(f"  %x{k} = phi {T} [ %first{k}, %entry ], [ %y{k}, %loop ]" for k in turn),
            *(f"  %y{k} = call {T} @{name}({T} %x{k}, {T} {factor}, {T} {term})" for k in turn),
            "  %next = add i64 %i, 1",
            "  %more = icmp slt i64 %next, %turns",
            "  br i1 %more, label %loop, label %exit",
            "exit:",
            *(f"  store {T} %y{k}, ptr %start{k}, align 8" for k in turn),
            "  ret void",
            "}",
        ]
    )


def peak_gflops(turns: int = 100_000) -> float:
    """Operations a nanosecond on one core; a fused multiply-add is two."""
    lanes = host_lanes()
    kernel = Compiled(object_code(kernel_text(lanes)))
    out = np.zeros(CHAINS * lanes)
    arguments = np.array([turns, out.ctypes.data], dtype=np.int64)
    seconds = race({"peak": lambda: kernel.call(arguments.ctypes.data)}, rounds=30)["peak"]
    if not np.allclose(out, 2.0):  # the fixed point of x / 2 + 1: the work was really done
        raise AssertionError("the loop of fused multiply-adds gave a wrong result")
    return 2 * CHAINS * lanes * turns / seconds / 1e9
