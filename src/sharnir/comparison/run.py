"""`sharnir.compare`: every method on every backend, for one model."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..backends.compiled_programs import LIMIT
from ..dynamics import Dynamics
from ..errors import MethodError, ModelError, SingularError, known
from ..machine import machine
from ..model.garbage import no_collection
from ..model.model import Model
from ..programs.methods import METHODS, Method
from ..solvers.formulation import warn_renamed
from .comparison import Comparison, facts
from .contender import ComparisonContext, Contender, contenders
from .oracle import Oracle
from .progress import Bar
from .row import NOT_TRIED, Spread
from .states import STEP, States, motion, random_states
from .timing import TURN

BACKENDS = ("llvm", "loops", "python", "sparse", "dense")
"""In the order they are tried: the quickest first, in case there is no time for all."""
PREPARATION = 0.7
"""Share of the seconds granted after which no further contender is made ready: the rest is for timing."""


def compare(
    model: Model,
    methods: str | Iterable[str] | None = None,
    backends: str | Iterable[str] | None = None,
    *,
    states: int = 8,
    seed: int = 0,
    batch: int = 1024,
    rounds: int = 15,
    budget: float | None = None,
    cold: bool = False,
    graph_limit: int = LIMIT,
    progress: bool | None = None,
) -> Comparison:
    """Agreement, operations, time and memory of every method on every backend that applies. docs/compare.md says how.

    methods      names of `sharnir.methods()`; all, if none is given
    backends     of "llvm", "loops", "python", and "sparse", "dense" for what SciPy and NumPy solve; all, if none is given
    states       random states, assembled where there are loops, in which every method must agree with the oracle
    seed         of those states
    batch        states of a batch
    rounds       turns that each contender takes; the spread is over these
    budget       seconds for everything: what there was no time for is listed as not tried
    cold         compile the loops anew too, a second each: they are the same for all models, and kept from before
    graph_limit  nodes of a graph beyond which straight-line code is not compiled
    progress     show a bar (default: where a terminal is there to see it and it takes a while)

    Ctrl-C ends it early: what was measured until then is returned, with status "interrupted".
    """
    if not isinstance(model, Model):
        raise MethodError(f"compare needs a sharnir.Model, got {model!r}")
    chosen = [METHODS[name] for name in _names(methods, METHODS, "method")]
    wanted = _names(renamed(backends), BACKENDS, "backend")
    numbers = {"states": states, "batch": batch, "rounds": rounds, "graph_limit": graph_limit}
    for name, value in numbers.items():
        if not isinstance(value, int) or value < 1:
            raise MethodError(f"{name} must be a whole number, at least 1; got {value!r}")
    if budget is not None and not budget > 0.0:
        raise MethodError(f"budget must be a positive number of seconds, got {budget!r}")
    if not model.nv:
        raise MethodError(f"model {model.name!r} has no freedoms: there is nothing to solve for, and nothing to compare")
    begun = perf_counter()
    result = Comparison(
        model=facts(model),
        machine=machine(),
        settings={**numbers, "seed": seed, "cold": cold, "budget": budget, "turn": TURN, "step": STEP},
    )
    list_of = contenders(chosen, wanted, bool(model.constraints))
    result.rows = [c.row for c in list_of]
    deadline = None if budget is None else begun + budget
    with tempfile.TemporaryDirectory(prefix="sharnir-compare-", ignore_cleanup_errors=True) as folder:
        try:
            _choose(model, result)
            ground = _ground(model, numbers, seed, cold, Path(folder), chosen)
            result.oracle = ground.oracle.what
            _measure(list_of, ground, rounds, begun, deadline, result, progress)
        except KeyboardInterrupt:
            result.status = "interrupted"
        _finish(list_of, result)
    result.seconds = perf_counter() - begun
    return result


def renamed(backends: str | Iterable[str] | None) -> list[str] | None:
    """With the name that loops had in the first version."""
    names = [backends] if isinstance(backends, str) else backends
    return None if names is None else [warn_renamed() if name == "numba" else name for name in names]


def _names(given: str | Iterable[str] | None, there: Iterable[str], what: str) -> list[str]:
    names = list(there)
    if given is None:
        return names
    asked = [given] if isinstance(given, str) else list(given)
    for name in asked:
        if name not in names:
            raise MethodError(f"unknown {what} {name!r}; choose from {known(names, 20)}")
    if not asked:
        raise MethodError(f"no {what} was named; choose from {known(names, 20)}")
    return [name for name in names if name in asked]


def _choose(model: Model, result: Comparison) -> None:
    """What `auto` would take. A model that no method can solve is refused here, with the reason."""
    try:
        d = Dynamics(model)
        result.auto = {
            "method": d.method,
            "backend": d.constrained.backend if d.constrained else d.backend,
            "why": d.why,
        }
    except (ModelError, SingularError):
        raise
    except Exception as error:  # then at least the others can be compared
        result.auto = {"method": "", "backend": "", "why": f"{type(error).__name__}: {error}"}
    for row in result.rows:
        row.auto = (row.method, row.backend) == (result.auto["method"], result.auto["backend"])


def _ground(
    model: Model, numbers: dict[str, int], seed: int, cold: bool, folder: Path, methods: Sequence[Method]
) -> ComparisonContext:
    import llvmlite.binding  # noqa: F401  (its import is nobody's compilation)

    states = random_states(model, numbers["states"], seed)
    moving = motion(model, states)
    oracle = Oracle(model, states)
    oracle.answers()
    ground = ComparisonContext(oracle, moving, {}, numbers["batch"], numbers["graph_limit"], cold, folder)
    if any(method.name == "momentum" for method in methods) and not model.constraints and not model.structure.coupled:
        ground.momenta = {"states": _momenta(model, states), "motion": _momenta(model, moving)}
    return ground


def _momenta(model: Model, s: States) -> np.ndarray:
    """By the kernel as it is written: where they come from does not matter, only that they belong to the speeds."""
    d = Dynamics(model, "momentum", "python")
    return np.array([d.momenta(s.q[k], s.v[k], float(s.t[k])) for k in range(len(s))])


def _measure(
    all_of: list[Contender],
    ground: ComparisonContext,
    rounds: int,
    begun: float,
    deadline: float | None,
    result: Comparison,
    progress: bool | None,
) -> None:
    """Make all ready, then let them take turns."""
    in_order = sorted(all_of, key=lambda c: (not c.row.auto, BACKENDS.index(c.row.backend)))
    with Bar(progress, f"comparing on {ground.oracle.model.name}", 2 * len(in_order)) as bar:
        for k, contender in enumerate(in_order):
            bar.update(k, f"{contender.row.label}: make ready, check")
            if deadline is not None and perf_counter() > begun + PREPARATION * (deadline - begun):
                contender.row.reason = f"the budget of {deadline - begun:g} s was used up"
                result.status = "out of time"
                continue
            contender.prepare(ground)
        ready = [c for c in in_order if c.row.ok]
        with no_collection():  # it would fall on one contender or another
            for turn in range(rounds):
                bar.update(len(in_order) * (1 + turn / rounds), f"round {turn + 1} of {rounds}")
                if turn and deadline is not None and perf_counter() > deadline:
                    result.status = "out of time"
                    break
                for contender in ready:
                    for watch in (contender.one, contender.many):
                        assert watch is not None
                        watch.take_turn(first=turn == 0)


def _finish(all_of: list[Contender], result: Comparison) -> None:
    """Times into rows, and the rows in order."""
    for c in all_of:
        row: Any = c.row
        for kind, watch in (("single", c.one), ("batch", c.many)):
            if watch is not None and watch.seconds and row.ok:
                setattr(row, kind, Spread.of(watch.seconds))
        if row.status == NOT_TRIED and not row.reason:
            row.reason = "interrupted"
    result.rank()
