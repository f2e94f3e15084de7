"""A method on a backend: compiled, checked against the oracle, counted, and made ready to be timed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import cycle, repeat
from pathlib import Path

import numpy as np

from ..backends.counting import Count
from ..choice.choose import TOLERATED
from ..dialect.cache import cached_in
from ..dynamics import Dynamics
from ..errors import AccuracyWarning, MethodError, SharnirError, known
from ..programs.methods import Method
from ..reporting.timing import Stopwatch, cpu_clock, repeated_over
from . import cost
from .oracle import Oracle, disagreement
from .row import FAILED, NOT_APPLICABLE, OK, TOO_LARGE, Row
from .states import States

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
        self.single: Stopwatch | None = None
        self.batch: Stopwatch | None = None

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
        except cost.TooLarge as error:
            self.row.status, self.row.reason = TOO_LARGE, str(error)
        except MethodError as error:
            self.row.status, self.row.reason = NOT_APPLICABLE, str(error)
        except SharnirError as error:
            self.row.status, self.row.reason = FAILED, str(error)
        except Exception as error:  # a contender that fails must not end the comparison
            self.row.status, self.row.reason = FAILED, f"{type(error).__name__}: {error}"

    def _prepare(self, context: ComparisonContext) -> None:
        row, model = self.row, context.oracle.model
        self._check_applicable(context)
        folder = context.folder / f"{row.method}-{row.backend}"
        cached = row.backend == "loops" and not context.cold
        if cached and not model.constraints:
            cost.loop_bytes(model.structure, self.method)  # compiles what is not in the cache
        with nullcontext() if cached else cached_in(folder):
            d, evaluate = self._compile(context)
            worst = self._disagreement(evaluate, context)
        if self.is_form or row.backend == "python" or cached:
            row.compile_single = row.compile_batch = None
        if not np.isfinite(worst):
            raise SharnirError("gives numbers that are not finite")
        row.disagreement = worst
        self._count(d, context)
        self._measure_memory(d, context, folder, evaluate)
        self._start_watches(evaluate, context)
        row.status = OK

    def _check_applicable(self, context: ComparisonContext) -> None:
        method, backend, model = self.method, self.row.backend, context.oracle.model
        if not self.is_form and backend not in method.backends:
            raise MethodError(f"method {method.name!r} runs on {known(method.backends)}, not on {backend!r}")
        expected = cost.expected_operations(model.structure, method)
        if backend == "python" and expected > MAX_INTERPRETED:
            raise cost.TooLarge(f"some {expected:.0e} operations, interpreted, would take seconds for each evaluation")
        if backend == "loops":
            Dynamics(model, method.name, backend)  # raises where it does not apply, and compiles nothing

    def _compile(self, context: ComparisonContext) -> tuple[Dynamics, Evaluation]:
        row = self.row
        start = cpu_clock()
        d = Dynamics(context.oracle.model, self.method.name, "auto" if self.is_form else row.backend)
        made = cpu_clock() - start
        if d.formulation.expected_error > TOLERATED:
            row.notes.append(f"agreement: {d.formulation.accuracy}")
        self._check_backend(d, context)
        evaluate = d.forward if row.gives == "q̈" else d.momentum_rates
        arguments = context.oracle.states.single(row.gives, 0)
        start = cpu_clock()
        evaluate(*arguments)
        row.compile_single = made + cpu_clock() - start
        return d, evaluate

    def _check_backend(self, d: Dynamics, context: ComparisonContext) -> None:
        row = self.row
        if d.constrained:
            if not self.is_form and d.constrained.backend != row.backend:
                raise MethodError(f"with closed loops {row.backend!r} would run the same code as {d.constrained.backend!r}")
        elif row.backend == "llvm":
            row.compiled = cost.compiled_count(d, self.method, context.graph_limit)

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
        if row.method not in context.counts:
            context.counts[row.method] = cost.written_count(d, self.method)
        row.written, why = context.counts[row.method]
        if why:
            row.notes.append(f"operations as written: {why}")
        if row.iterates and row.written:
            row.notes.append("operations as written: of a first step, which has no previous solution to start from")
        if row.backend == "llvm" and d.constrained:
            try:
                row.compiled = d.count(compiled=True)
            except SharnirError as error:
                row.notes.append(f"operations as compiled: {error}")

    def _measure_memory(self, d: Dynamics, context: ComparisonContext, folder: Path, evaluate: Evaluation) -> None:
        row, s = self.row, d.structure
        if row.backend == "llvm" or (row.backend == "loops" and context.cold):
            row.code_bytes = cost.code_bytes(folder)
        elif row.backend == "loops":
            row.code_bytes = cost.loop_bytes(s, self.method)
        uses_work_arrays = row.backend in ("loops", "python") and not d.constrained
        arguments = context.oracle.states.single(row.gives, 0)
        row.work_bytes = (cost.work_arrays(s, self.method) if uses_work_arrays else 0) + cost.allocated_by(evaluate, *arguments)

    def _start_watches(self, evaluate: Evaluation, context: ComparisonContext) -> None:
        row, motion = self.row, context.motion
        states = cycle([motion.single(row.gives, k) for k in range(len(motion))])
        self.single = Stopwatch(repeated_over(evaluate, states, cpu_clock), SAMPLE, limit=MAX_SECONDS)
        row.batch_size = max(1, min(context.batch, int(BATCH_SECONDS / self.single.warm_up())))
        *many, _ = motion.batch(row.gives, np.arange(row.batch_size) % len(motion))
        arguments = (*many, float(motion.t[0]))  # one time for all: the motion has no other
        batches = repeated_over(evaluate, repeat(arguments), cpu_clock)
        self.batch = Stopwatch(batches, SAMPLE, states=row.batch_size, limit=MAX_SECONDS)
        self.batch.warm_up()


def contenders(methods: list[Method], backends: list[str], closed: bool) -> list[Contender]:
    """Every method on every requested backend. A form of the equations solved by SciPy or NumPy has only that one."""
    out = []
    for method in methods:
        form = "dense" if closed and method.constrains == "form" else "sparse" if method.is_sparse_form else ""
        names = [form] if form else ["llvm", "loops", "python"]
        out += [Contender(method, name) for name in names if name in backends]
    return out
