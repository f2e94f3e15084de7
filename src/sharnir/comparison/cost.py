"""What a method costs besides time: operations as written and as compiled, and memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..backends.counting import Count, count_compiled
from ..backends.traced import trace_program
from ..dialect.storage import allocate
from ..dynamics import Dynamics
from ..errors import MethodError, SharnirError
from ..model.structure import Structure
from ..programs import program_for
from ..programs.methods import Method
from ..trace import GraphTooLarge

MAX_WRITTEN = 1_000_000
"""Operations up to which a method is counted as it is written: each takes some 4 µs on counting numbers."""
HEAD = 40
"""Bytes that the cache puts before the code in each file."""


def programs_of(method: Method) -> tuple[str, ...]:
    """What runs when this method is asked for accelerations, or for ṗ; nothing where a sparse solver does it."""
    if method.name == "momentum":
        return "speeds", "momentum-rates"
    return (f"forward/{method.program}",) if method.program else ()


def compiled_count(d: Dynamics, method: Method, limit: int) -> tuple[Count | None, str]:
    """Operations left in the graph of this model; or why there is no such number."""
    s = d.structure
    try:
        if d.constrained:
            return d.count(compiled=True), ""
        total = Count()
        for name in programs_of(method):
            program = program_for(s, name)
            if program.loops_only:
                return None, "never straight-line code: it looks at numbers to stop"
            constant: Any = {"wrench": np.zeros(6 * (s.nb + 1))} if "wrench" in program.inputs.__annotations__ else {}
            first = next(iter(program.outputs.__annotations__))
            total = _sum(total, count_compiled(trace_program(program, s, constant, (first,), limit)))
        return (total, "") if total.total else (None, "SciPy's sparse LU is not counted")
    except GraphTooLarge:
        return None, f"its graph has more than {limit} nodes"
    except SharnirError as error:
        return None, str(error)


def written_count(d: Dynamics, method: Method) -> tuple[Count | None, str]:
    """Operations of one evaluation with nothing folded; or why there is no such number."""
    if not programs_of(method):
        return None, "SciPy's sparse LU is not counted"
    expected = expected_operations(d.structure, method)
    if expected > MAX_WRITTEN:
        return None, f"some {expected:.0e} operations: too many to be counted one by one in Python"
    try:
        what = programs_of(method) if method.name == "momentum" else ("forward",)
        total = Count()
        for name in what:
            total = _sum(total, d.count(name))
        return total, ""
    except MethodError as error:
        return None, str(error)


def expected_operations(s: Structure, method: Method) -> int:
    """A bound from above, by the order of the method: only to know what not to begin."""
    sweeps = 1000 * s.nb
    if method.name.endswith("iterative-multipliers"):
        return sweeps + 3 * (6 * s.nb - s.nv) ** 3  # the first step is a factorisation, and an inverse
    return sweeps if method.cost == "O(N)" else sweeps + 5 * s.nv**3


def _sum(a: Count, b: Count) -> Count:
    return Count(
        a.multiplications + b.multiplications,
        a.additions + b.additions,
        a.divisions + b.divisions,
        a.functions + b.functions,
    )


# --- memory -----------------------------------------------------------------------------------------------------------------
def kept_code(folder: Path) -> int:
    """Bytes of object code in a folder of the cache."""
    return sum(file.stat().st_size - HEAD for file in folder.rglob("*") if file.is_file())


def work_arrays(s: Structure, method: Method) -> int:
    """Bytes of the arrays in which the loops of a method work."""
    need = [0]

    def add(shape: tuple[int, ...]) -> None:
        need[0] += 8 * int(np.prod(shape, dtype=float))

    for name in programs_of(method):
        program = program_for(s, name)
        allocate(program.work, program.sizes(s), add)
    return need[0]


def allocated_by(call: Callable[[], Any]) -> int:
    """The most that is allocated at one time during a call, its result included."""
    if tracemalloc.is_tracing():  # somebody else's measurement is not to be disturbed
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        call()
        return max(0, tracemalloc.get_traced_memory()[1] - before)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        call()
        return max(0, tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
