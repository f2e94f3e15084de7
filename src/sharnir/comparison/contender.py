"""A method on a backend: compiled, checked against the oracle, its operations and memory counted, and made ready to be timed."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import cycle, repeat
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ..backends.counting import Count, count_compiled
from ..backends.traced import trace_program
from ..choice.choose import TOLERATED
from ..dialect.cache import Cache, cached_in
from ..dialect.jit import host_lanes
from ..dialect.storage import allocate
from ..dynamics import Dynamics
from ..errors import AccuracyWarning, MethodError, SharnirError, known
from ..model.structure import Structure
from ..programs import program_for
from ..programs.methods import Method
from ..reporting.timing import Stopwatch, cpu_clock, repeated_over
from ..trace import GraphTooLarge
from .comparison import FAILED, NOT_APPLICABLE, OK, TOO_LARGE, Row
from .oracle import Oracle, disagreement
from .states import States

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


SAMPLE = 0.01
"""Seconds of a sample, which is one evaluation at least."""
MAX_SECONDS = 1.5
"""Seconds after which no more samples are taken of a contender whose evaluation is slow."""
BATCH_SECONDS = 0.02
"""Slow methods get smaller batches: as many states as fit this."""
CHECK_SECONDS = 1.0
"""Slow methods are checked in fewer states: as many as fit this."""
MAX_INTERPRETED = 2_000_000
"""Operations of an evaluation up to which it is interpreted, by an upper bound: some 0.3 µs each."""
LANES = 16
"""States enough for the vectorized code of batches to be used, on any processor."""

Evaluation = Callable[..., np.ndarray]
"""`Dynamics.forward`, or `Dynamics.momentum_rates`."""


@dataclass
class ComparisonContext:
    """Everything that all contenders have in common."""

    oracle: Oracle
    motion: States
    batch: int
    graph_limit: int
    cold: bool
    folder: Path
    """Code compiled for this comparison is cached here, in a folder for each contender."""
    counts: dict[str, tuple[Count | None, str]] = field(default_factory=dict)
    """Operations as written by method, the same on all backends; or why there is no such number."""


class Contender:
    def __init__(self, method: Method, backend: str) -> None:
        self.method = method
        gives = "ṗ" if method.in_momenta else "q̈"
        self.row = Row(method.name, backend, method.what, gives, iterates=method.iterates)
        self.watches: list[Stopwatch] = []
        """For one state and for batches, once it is prepared."""

    @property
    def is_form(self) -> bool:
        """Whether SciPy or NumPy solves it: none of our backends is involved."""
        return self.row.backend in ("sparse", "dense")

    def prepare(self, context: ComparisonContext) -> None:
        """Compile, check, count; the row's status says how far it got."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AccuracyWarning)  # a note of the row says it
                self._prepare(context)
        except (TooLarge, SharnirError) as error:
            refused = NOT_APPLICABLE if isinstance(error, MethodError) else FAILED
            self.row.status, self.row.reason = TOO_LARGE if isinstance(error, TooLarge) else refused, str(error)
        except Exception as error:  # a contender that fails must not end the comparison
            self.row.status, self.row.reason = FAILED, f"{type(error).__name__}: {error}"

    def _prepare(self, context: ComparisonContext) -> None:
        row, model = self.row, context.oracle.model
        self._check_applicable(context)
        folder = context.folder / f"{row.method}-{row.backend}"
        cached = row.backend == "loops" and not context.cold
        if cached and not model.constraints:
            loop_bytes(model.structure, self.method)  # compiles what is not in the cache
        with nullcontext() if cached else cached_in(folder):
            d, evaluate = self._compile(context)
            worst = self._disagreement(evaluate, context)
        if self.is_form or row.backend == "python" or cached:
            row.compile_single = row.compile_batch = None
        if not np.isfinite(worst):
            raise SharnirError("gives numbers that are not finite")
        row.disagreement = worst
        self._count(d, context)
        if row.backend == "llvm" or (row.backend == "loops" and context.cold):
            row.code_bytes = code_bytes(folder)
        elif row.backend == "loops":
            row.code_bytes = loop_bytes(d.structure, self.method)
        uses_work_arrays = row.backend in ("loops", "python") and not d.constrained
        row.work_bytes = allocated_by(evaluate, *context.oracle.states.single(row.gives, 0))
        row.work_bytes += work_arrays(d.structure, self.method) if uses_work_arrays else 0
        self._start_watches(evaluate, context)
        row.status = OK

    def _check_applicable(self, context: ComparisonContext) -> None:
        method, backend, model = self.method, self.row.backend, context.oracle.model
        if not self.is_form and backend not in method.backends:
            raise MethodError(f"method {method.name!r} runs on {known(method.backends)}, not on {backend!r}")
        expected = expected_operations(model.structure, method)
        if backend == "python" and expected > MAX_INTERPRETED:
            raise TooLarge(f"some {expected:.0e} operations, interpreted, would take seconds for each evaluation")
        if backend == "loops":
            Dynamics(model, method.name, backend)  # raises where it does not apply, and compiles nothing

    def _compile(self, context: ComparisonContext) -> tuple[Dynamics, Evaluation]:
        row = self.row
        start = cpu_clock()
        d = Dynamics(context.oracle.model, self.method.name, "auto" if self.is_form else row.backend)
        made = cpu_clock() - start
        if d.formulation.expected_error > TOLERATED:
            row.notes.append(f"agreement: {d.formulation.accuracy}")
        if d.constrained and not self.is_form and d.constrained.backend != row.backend:
            raise MethodError(f"with closed loops {row.backend!r} would run the same code as {d.constrained.backend!r}")
        if not d.constrained and row.backend == "llvm":
            row.compiled = compiled_count(d, self.method, context.graph_limit)
        evaluate = d.forward if row.gives == "q̈" else d.momentum_rates
        arguments = context.oracle.states.single(row.gives, 0)
        start = cpu_clock()
        evaluate(*arguments)
        row.compile_single = made + cpu_clock() - start
        return d, evaluate

    def _disagreement(self, evaluate: Evaluation, context: ComparisonContext) -> float:
        """Largest disagreement over the states, evaluated one by one and, since that is other code, as a batch."""
        row, states = self.row, context.oracle.states
        start = cpu_clock()
        found = [evaluate(*states.single(row.gives, 0))]
        affordable = int(CHECK_SECONDS / max(cpu_clock() - start, 1e-9))
        checked = max(1, min(len(states), affordable))
        found += [evaluate(*states.single(row.gives, k)) for k in range(1, checked)]
        which = np.arange(max(2, min(affordable, max(LANES, checked)))) % checked
        arguments = states.batch(row.gives, which)
        start = cpu_clock()
        batch = evaluate(*arguments)
        row.compile_batch = cpu_clock() - start
        if checked < len(states):
            row.notes.append(f"agreement: a slow method, checked in {checked} of {len(states)} states")
        right = context.oracle.answers(row.gives)
        return max(disagreement(np.array(found), right[:checked]), disagreement(batch, right[which]))

    def _count(self, d: Dynamics, context: ComparisonContext) -> None:
        row = self.row
        if row.backend == "dense":
            row.notes.append("operations: NumPy's dense solution is not counted")
            if row.method == "extended":
                row.notes.append("agreement: this is the oracle itself")
            return
        row.written, why = context.counts[row.method] = context.counts.get(row.method) or written_count(d, self.method)
        if why:
            row.notes.append(f"operations as written: {why}")
        if row.iterates and row.written:
            row.notes.append("operations as written: of a first step, which has no previous solution to start from")
        if row.backend == "llvm" and d.constrained:
            try:
                row.compiled = d.count(compiled=True)
            except SharnirError as error:
                row.notes.append(f"operations as compiled: {error}")

    def _start_watches(self, evaluate: Evaluation, context: ComparisonContext) -> None:
        row, motion = self.row, context.motion
        states = cycle([motion.single(row.gives, k) for k in range(len(motion))])
        single = Stopwatch(repeated_over(evaluate, states, cpu_clock), SAMPLE, limit=MAX_SECONDS)
        row.batch_size = max(1, min(context.batch, int(BATCH_SECONDS / single.warm_up())))
        *many, _ = motion.batch(row.gives, np.arange(row.batch_size) % len(motion))
        arguments = (*many, float(motion.t[0]))  # one time for all: the motion has no other
        batches = repeated_over(evaluate, repeat(arguments), cpu_clock)
        batch = Stopwatch(batches, SAMPLE, states=row.batch_size, limit=MAX_SECONDS)
        batch.warm_up()
        self.watches = [single, batch]


def contenders(methods: list[Method], backends: list[str], closed: bool) -> list[Contender]:
    """Every method on every requested backend. A form of the equations solved by SciPy or NumPy has only that one."""
    out = []
    for method in methods:
        form = "dense" if closed and method.constrains == "form" else "sparse" if method.is_sparse_form else ""
        names = [form] if form else ["llvm", "loops", "python"]
        out += [Contender(method, name) for name in names if name in backends]
    return out
