"""A method on a backend: made ready, checked against the oracle, with its stopwatches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from ..backends.counting import Count
from ..dialect.cache import Cache, kept_in
from ..dialect.jit import host_lanes
from ..dynamics import Dynamics
from ..errors import MethodError, SharnirError, known
from ..forms.closed import CLOSED_FORMS
from ..model.structure import Structure
from ..programs import program_for
from ..programs.methods import Method
from . import cost
from .oracle import Oracle, disagreement
from .row import FAILED, NOT_APPLICABLE, OK, TOO_LARGE, Row
from .states import States
from .timing import Stopwatch, clock

BATCH_SECONDS = 0.02
"""Slow methods get smaller batches: as many states as fit this."""
CHECK_SECONDS = 1.0
"""Slow methods are checked in fewer states: as many as fit this."""
MAX_INTERPRETED = 2_000_000
"""Operations of an evaluation that Python may be asked for (by an estimate from above): some 0.3 µs each."""
LANES = 16
"""Rows that are enough for the code of batches to be used, whatever the processor."""


@dataclass
class ComparisonContext:
    """What all contenders have in common."""

    oracle: Oracle
    motion: States
    momenta: dict[str, np.ndarray]
    """p of the oracle's states ("states") and of the motion ("motion"); made where the form in momenta is tried."""
    batch: int
    graph_limit: int
    cold: bool
    folder: Path
    """Where code is kept that is compiled now: each contender has a folder of its own in it."""
    counts: dict[tuple[str, str], tuple[Count | None, str]] = field(default_factory=dict)


class Contender:
    def __init__(self, method: Method, backend: str) -> None:
        self.method = method
        self.row = Row(method.name, backend, method.what, iterates="iterative" in method.name)
        if method.name == "momentum":
            self.row.gives = "ṗ"
        self.one: Stopwatch | None = None
        self.many: Stopwatch | None = None

    @property
    def by_form(self) -> bool:
        """Solved by SciPy or NumPy: no backend of ours is involved."""
        return self.row.backend in ("sparse", "dense")

    def prepare(self, ground: ComparisonContext) -> None:
        """Compile, check, count; afterwards the row says how far it came."""
        try:
            self._prepare(ground)
        except _TooLarge as error:
            self.row.status, self.row.reason = TOO_LARGE, str(error)
        except MethodError as error:
            self.row.status, self.row.reason = NOT_APPLICABLE, str(error)
        except SharnirError as error:
            self.row.status, self.row.reason = FAILED, str(error)
        except Exception as error:  # one that breaks must not take the others with it
            self.row.status, self.row.reason = FAILED, f"{type(error).__name__}: {error}"

    def _prepare(self, ground: ComparisonContext) -> None:
        row, method, model = self.row, self.method, ground.oracle.model
        if row.backend not in ("sparse", "dense", *method.backends):
            raise MethodError(f"method {method.name!r} runs on {known(method.backends)}, not on {row.backend!r}")
        expected = cost.expected_operations(model.structure, method)
        if row.backend == "python" and expected > MAX_INTERPRETED:
            raise _TooLarge(f"some {expected:.0e} operations, interpreted, would take seconds each time")
        own = ground.folder / f"{method.name}-{row.backend}"
        loops_kept = row.backend == "loops" and not ground.cold
        asked = "auto" if self.by_form else row.backend
        if row.backend == "loops":
            Dynamics(model, method.name, asked)  # refuses at once what it cannot do; compiles nothing
            self._make_loops_ready(ground)
        with nullcontext() if loops_kept else kept_in(own):
            start = clock()
            d = Dynamics(model, method.name, asked)
            made = clock() - start
            self._check_backend(d, ground)
            answer = d.forward if row.gives == "q̈" else d.momentum_rates
            states, x = ground.oracle.states, self._speeds(ground, "states")
            first = (states.q[0], x[0], states.tau[0], float(states.t[0]))
            start = clock()
            answer(*first)
            row.compile_single = made + clock() - start
            start = clock()
            found = [answer(*first)]
            affordable = int(CHECK_SECONDS / max(clock() - start, 1e-9))
            checked = max(1, min(len(states), affordable))
            found += [answer(states.q[k], x[k], states.tau[k], float(states.t[k])) for k in range(1, checked)]
            which = np.arange(max(2, min(affordable, max(LANES, checked)))) % checked
            many = states.taken(which)
            start = clock()
            batch = answer(many.q, np.ascontiguousarray(x[which]), many.tau, many.t)
            row.compile_batch = clock() - start
        if self.by_form or row.backend == "python" or loops_kept:
            row.compile_single = row.compile_batch = None
        right = ground.oracle.answers(row.gives)
        worst = max(disagreement(np.array(found), right[:checked]), disagreement(batch, right[which]))
        if checked < len(states):
            row.notes.append(f"agreement: checked in {checked} of {len(states)} states, being slow")
        if not np.isfinite(worst):
            row.status, row.reason = FAILED, "gives numbers that are not finite"
            return
        row.disagreement = worst
        self._count(d, ground)
        self._weigh(d, ground, own, lambda: answer(*first))
        self._start_watches(answer, ground)
        row.status = OK

    def _make_loops_ready(self, ground: ComparisonContext) -> None:
        """Loops are the same for all models: from the cache, unless their own compilation is to be measured."""
        if not ground.cold and not ground.oracle.model.constraints:
            self._loop_bytes(ground.oracle.model.structure)

    def _loop_bytes(self, structure: Structure) -> int:
        """Of the code for one state and for lanes; made where it is not in the cache."""
        from ..backends.loops import program_loop

        programs = [program_for(structure, name) for name in cost.programs_of(self.method)]
        pairs = [(p, lanes) for p in programs for lanes in ((1,) if p.loops_only else (1, host_lanes()))]
        return sum(program_loop(p, lanes, Cache()).compiled.size for p, lanes in pairs)

    def _check_backend(self, d: Dynamics, ground: ComparisonContext) -> None:
        row = self.row
        if d.constrained:
            if not self.by_form and d.constrained.backend != row.backend:
                raise MethodError(f"with closed loops {row.backend!r} would run the same code as {d.constrained.backend!r}")
            return
        if row.backend == "llvm":
            row.compiled, why = self._counted(d, ground, "compiled")
            if row.compiled is None:
                kind = _TooLarge if "nodes" in why else MethodError
                raise kind(f"{why}, and would take long to compile" if kind is _TooLarge else why)

    def _speeds(self, ground: ComparisonContext, which: str) -> np.ndarray:
        rows = ground.oracle.states if which == "states" else ground.motion
        return rows.v if self.row.gives == "q̈" else ground.momenta[which]

    def _count(self, d: Dynamics, ground: ComparisonContext) -> None:
        row = self.row
        if row.backend == "dense":
            row.notes.append("operations: NumPy's dense solution is not counted")
            if row.method == "extended":
                row.notes.append("agreement: this is the oracle itself")
            return
        for kind in ("written", "compiled") if row.backend == "llvm" else ("written",):  # the others do what is written
            number, why = self._counted(d, ground, kind)
            setattr(row, kind, number)
            if why:
                row.notes.append(f"operations as {kind}: {why}")
        if row.iterates and row.written:
            row.notes.append("operations as written: of a first step, which has no step before it to improve on")

    def _counted(self, d: Dynamics, ground: ComparisonContext, kind: str) -> tuple[Count | None, str]:
        """Of a method once, for all its backends."""
        key = (self.method.name, kind)
        if key not in ground.counts:
            written = kind == "written"
            ground.counts[key] = (
                cost.written_count(d, self.method) if written else cost.compiled_count(d, self.method, ground.graph_limit)
            )
        return ground.counts[key]

    def _weigh(self, d: Dynamics, ground: ComparisonContext, own: Path, again: Callable[[], Any]) -> None:
        row, s = self.row, d.structure
        if row.backend == "llvm" or (row.backend == "loops" and ground.cold):
            row.code_bytes = cost.kept_code(own)
        elif row.backend == "loops":
            row.code_bytes = self._loop_bytes(s)
        loops = row.backend in ("loops", "python") and not d.constrained
        row.work_bytes = (cost.work_arrays(s, self.method) if loops else 0) + cost.allocated_by(again)

    def _start_watches(self, answer: Callable[..., Any], ground: ComparisonContext) -> None:
        row, motion, x = self.row, ground.motion, self._speeds(ground, "motion")
        t = float(motion.t[0])
        states = [(motion.q[k].copy(), x[k].copy(), motion.tau[k].copy(), t) for k in range(len(motion))]
        self.one = Stopwatch(answer, cycle(states))
        each = self.one.warm_up()
        row.batch_size = max(1, min(ground.batch, int(BATCH_SECONDS / each)))
        many = motion.taken(np.arange(row.batch_size) % len(motion))
        inputs = (many.q, np.ascontiguousarray(x[np.arange(row.batch_size) % len(motion)]), many.tau, t)
        self.many = Stopwatch(answer, _always(inputs), row.batch_size)
        self.many.warm_up()


class _TooLarge(Exception):
    """Not begun: see `graph_limit`."""


def _always(arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    while True:
        yield arguments


def contenders(methods: list[Method], backends: list[str], closed: bool) -> list[Contender]:
    """Every method with every backend that was asked for. Where a method is a form solved by SciPy, that is its only one."""
    out = []
    for method in methods:
        form = "dense" if closed and method.name in CLOSED_FORMS else "sparse" if "sparse" in method.backends else ""
        names = [form] if form else ["llvm", "loops", "python"]
        out += [Contender(method, name) for name in names if name in backends]
    return out
