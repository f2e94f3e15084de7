"""The cost of a method besides time: operations as written and as compiled, and memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ..backends.counting import Count, count_compiled
from ..backends.traced import trace_program
from ..dialect.cache import Cache
from ..dialect.jit import host_lanes
from ..dialect.storage import allocate
from ..dynamics import Dynamics
from ..errors import MethodError
from ..model.structure import Structure
from ..programs import program_for
from ..programs.methods import Method
from ..trace import GraphTooLarge

MAX_WRITTEN = 1_000_000
"""Operations up to which a method is counted as written: each takes some 4 µs on counting numbers."""
HEAD = 40
"""Bytes before the code in each file of the cache."""


def programs_of(method: Method) -> tuple[str, ...]:
    """Programs that compute accelerations, or ṗ, by this method; none where a sparse solver does it."""
    if method.in_momenta:
        return "speeds", "momentum-rates"
    return (f"forward/{method.program}",) if method.program else ()


class TooLarge(Exception):
    """A contender that would take too long to compile or to run."""


def compiled_count(d: Dynamics, method: Method, limit: int) -> Count:
    """Operations left in the graph of a tree, which may have so many nodes."""
    s, total = d.structure, Count()
    for name in programs_of(method):
        program = program_for(s, name)
        constant: Any = {"wrench": np.zeros(6 * (s.nb + 1))} if "wrench" in program.inputs.__annotations__ else {}
        first = next(iter(program.outputs.__annotations__))
        try:
            total += count_compiled(trace_program(program, s, constant, (first,), limit))
        except GraphTooLarge:
            raise TooLarge(f"its graph has more than {limit} nodes, and would take long to compile") from None
    return total


def written_count(d: Dynamics, method: Method) -> tuple[Count | None, str]:
    """Operations of one evaluation with nothing folded; or why there is no such number."""
    if not programs_of(method):
        return None, "SciPy's sparse LU is not counted"
    expected = expected_operations(d.structure, method)
    if expected > MAX_WRITTEN:
        return None, f"some {expected:.0e} operations, too many to count one by one in Python"
    try:
        names = programs_of(method) if method.in_momenta else ("forward",)
        return sum((d.count(name) for name in names), Count()), ""
    except MethodError as error:
        return None, str(error)


def expected_operations(s: Structure, method: Method) -> int:
    """Upper bound on operations by the order of the method, to skip what would take too long."""
    sweeps = 1000 * s.nb
    if method.multiplier_matrix:
        return sweeps + 3 * (6 * s.nb - s.nv) ** 3  # the first step is a factorisation, and an inverse
    return sweeps if method.cost == "O(N)" else sweeps + 5 * s.nv**3


# --- memory -----------------------------------------------------------------------------------------------------------------
def loop_bytes(s: Structure, method: Method) -> int:
    """Bytes of the compiled loops of a method, for one state and for batches; compiles what is not in the cache."""
    from ..backends.loops import program_loop

    programs = [program_for(s, name) for name in programs_of(method)]
    pairs = [(p, lanes) for p in programs for lanes in ((1,) if p.loops_only else (1, host_lanes()))]
    return sum(program_loop(p, lanes, Cache()).compiled.size for p, lanes in pairs)


def code_bytes(folder: Path) -> int:
    """Bytes of object code in a folder of the cache."""
    return sum(file.stat().st_size - HEAD for file in folder.rglob("*") if file.is_file())


def work_arrays(s: Structure, method: Method) -> int:
    """Bytes of the work arrays of the loops of a method."""
    sizes: list[int] = []
    for name in programs_of(method):
        program = program_for(s, name)
        allocate(program.work, program.sizes(s), lambda shape: sizes.append(8 * prod(shape)))
    return sum(sizes)


def allocated_by(call: Callable[..., Any], *arguments: Any) -> int:
    """Peak allocation during a call, its result included."""
    traced_before = tracemalloc.is_tracing()  # the caller traces, and goes on
    if not traced_before:
        tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        call(*arguments)
        return max(0, tracemalloc.get_traced_memory()[1] - before)
    finally:
        if not traced_before:
            tracemalloc.stop()
