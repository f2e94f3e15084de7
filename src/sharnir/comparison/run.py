"""`sharnir.compare`: every method on every backend, for one model."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import perf_counter

from ..backends.sizes import PROGRAM
from ..dynamics import Dynamics
from ..errors import AccuracyWarning, MethodError, ModelError, SingularError, brief, known, suggesting, unknown
from ..machine import machine
from ..model.large_models import no_collection
from ..model.model import Model
from ..model.references import is_name_in, listed_names
from ..programs.methods import METHODS
from ..reporting.progress import ProgressBar
from ..reporting.timing import interleaved
from ..simulation.run.checks import number, whole
from ..solvers.formulation import warn_renamed
from .comparison import NOT_TRIED, Comparison, Settings, Spread, facts
from .contender import SAMPLE, ComparisonContext, Contender, contenders
from .oracle import Oracle
from .states import STEP, motion, random_states

BACKENDS = ("llvm", "loops", "python", "sparse", "dense")
"""Backends in the order they are tried: the fastest first, in case there is no time for all."""
PREPARATION = 0.7
"""Share of the time budget after which no further contender is prepared: the rest is for timing."""


@suggesting
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
    graph_limit: int = PROGRAM,
    parameters: Mapping[str, float] | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Agreement, operations, time and memory of every method on every backend that applies; docs/compare.md explains them.

    methods      names of `sharnir.methods()`; default: all
    backends     of "llvm", "loops", "python", and "sparse", "dense" for what SciPy and NumPy solve; default: all
    states       random states, assembled where there are closed loops, in which every method must agree with the oracle
    seed         of those states
    batch        states of a batch
    rounds       samples taken of each contender; the spread is over these
    budget       seconds for everything: contenders there was no time for are listed as not tried
    cold         recompile the loops too, a second each: they are the same for all models, and cached
    graph_limit  nodes of a graph beyond which straight-line code is not compiled
    parameters   {name: value} of the model; the rest as the model has them
    progress     show a progress bar (default: on a terminal and in a notebook, after a second)

    Ctrl-C ends it early: what was measured so far is returned, with status "interrupted".
    """
    if not isinstance(model, Model):
        raise MethodError(f"compare needs a sharnir.Model, got {brief(model)}")
    chosen = [METHODS[name] for name in _names(methods, METHODS, "method")]
    wanted = _names(backends, BACKENDS, "backend")
    for name, value in (("states", states), ("batch", batch), ("rounds", rounds), ("graph_limit", graph_limit)):
        whole(value, name, 1)
    whole(seed, "seed")
    if budget is not None and not number(budget, "budget", "a number of seconds") > 0.0:
        raise MethodError(f"budget must be a positive number of seconds, got {brief(budget)}")
    if parameters is not None:
        model = model.with_parameters(parameters)
    if not model.nv:
        raise MethodError(f"model {model.name!r} has no degree of freedom: there is nothing to compare")
    begun = perf_counter()
    settings = Settings(
        states=states, seed=seed, batch=batch, rounds=rounds, graph_limit=graph_limit, cold=cold, budget=budget,
        turn=SAMPLE, step=STEP,
    )  # fmt: skip
    field = contenders(chosen, wanted, bool(model.constraints))
    result = Comparison(facts(model), machine(), settings, rows=[c.row for c in field])
    with tempfile.TemporaryDirectory(prefix="sharnir-compare-", ignore_cleanup_errors=True) as folder:
        try:
            _find_automatic_choice(model, result)
            momenta = any(c.row.gives == "ṗ" for c in field) and not model.constraints and not model.structure.deformations
            context = _context(model, result, Path(folder), momenta)
            result.oracle = context.oracle.what
            _measure(field, context, begun, result, progress)
        except KeyboardInterrupt:
            result.status = "interrupted"
        _finish(field, result)
    result.seconds = perf_counter() - begun
    return result


def _names(given: str | Iterable[str] | None, there: Iterable[str], what: str) -> list[str]:
    names = list(there)
    if given is None:
        return names
    requested = [given] if isinstance(given, str) else listed_names(given, f"{what}s", MethodError)
    if what == "backend":  # loops were called "numba" in the first version
        requested = [warn_renamed() if is_name_in(("numba",), name) else name for name in requested]
    for name in requested:
        if not is_name_in(names, name):
            raise MethodError(unknown(f"{what} {brief(name)}", name, names, f"{what}s"))
    if not requested:
        raise MethodError(f"no {what} was named; choose from {known(names, 20)}")
    return [name for name in names if name in requested]


def _find_automatic_choice(model: Model, result: Comparison) -> None:
    """Record the choice of `auto`. A model that no method can solve is refused here, with the reason."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)  # notes of the rows say it
            d = Dynamics(model)
        d.formulation.check_inertia()
        result.auto = {"method": d.method, "backend": d.backend, "why": d.why.details}
    except (ModelError, SingularError):
        raise
    except Exception as error:  # the others can still be compared
        result.auto = {"method": "", "backend": "", "why": f"{type(error).__name__}: {error}"}
    for row in result.rows:
        row.auto = (row.method, row.backend) == (result.auto["method"], result.auto["backend"])


def _context(model: Model, result: Comparison, folder: Path, momenta: bool) -> ComparisonContext:
    import llvmlite.binding  # noqa: F401  (importing it must not count as compilation of a contender)

    settings = result.settings
    states = random_states(model, settings["states"], settings["seed"])
    path = motion(model, states)
    if momenta:
        states, path = states.with_momenta(model), path.with_momenta(model)
    oracle = Oracle(model, states)
    oracle.answers()
    return ComparisonContext(oracle, path, settings["batch"], settings["graph_limit"], settings["cold"], folder)


def _measure(field: list[Contender], context: ComparisonContext, begun: float, result: Comparison, progress: bool | None) -> None:
    """Prepare all, then sample them in turn."""
    budget, rounds = result.settings["budget"], result.settings["rounds"]
    in_order = sorted(field, key=lambda c: (not c.row.auto, BACKENDS.index(c.row.backend)))
    with ProgressBar(progress, f"comparing on {context.oracle.model.name}", 2 * len(in_order)) as bar:
        for k, contender in enumerate(in_order):
            bar.update(k, f"preparing {contender.row.label}")
            if budget is not None and perf_counter() - begun > PREPARATION * budget:
                contender.row.reason = f"the budget of {budget:g} s was used up"
                result.status = "out of time"
                continue
            contender.prepare(context)
        watches = [watch for c in in_order if c.row.ok for watch in c.watches]
        with no_collection():  # it would fall on one contender or another
            for k in interleaved(watches, rounds):
                bar.update(len(in_order) * (1 + k / rounds), f"round {k + 1} of {rounds}")
                if k and budget is not None and perf_counter() - begun > budget:
                    result.status = "out of time"
                    break


def _finish(field: list[Contender], result: Comparison) -> None:
    """Put times into rows, and rows in order."""
    for c in field:
        row = c.row
        if row.ok:
            row.single, row.batch = (Spread.of(watch.seconds) for watch in c.watches)
        if row.status == NOT_TRIED and not row.reason:
            row.reason = "interrupted"
    result.rank()
