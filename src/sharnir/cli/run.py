"""`sharnir run`: simulate a model file; a summary on the screen, numbers and pictures in files."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..equations.assembly.fixed_coordinates import held_coordinates
from ..equations.motion.stabilisation import CHOICES, DECAYING
from ..errors import SaveError, SimulationError
from ..integrate.methods import INTEGRATORS
from ..integrate.methods import integrator as integrator_named
from ..integrate.trajectory import LIMITED
from ..io.load import load
from ..model.model import Model
from ..model.settings import overridden
from ..programs.methods import METHODS
from ..simulation.results.plots import check_plot_file
from ..simulation.results.quantities import understood
from ..simulation.results.result import Result
from ..simulation.results.storage import check_result_file
from ..simulation.run.checks import MAX_TIMES
from ..simulation.run.simulate import simulate
from ..solvers.formulation import BACKENDS
from ..viewer.page.page_files import check_page_file
from .parameters import initial_states, set_values
from .usage import INTERRUPTED, UsageError, check_name, check_usage, named_values

NAMES = {
    "method": ("auto", *METHODS),
    "backend": BACKENDS,
    "integrator": INTEGRATORS,
    "limits": ("ignore", "stop", "error"),
    "stabilisation": CHOICES,
}
"""Options that take a name, and the names."""
OLD_BACKEND = "numba"
"""A name of the first version, still accepted with a warning."""


def run_file(
    file: Path,
    *,
    floating: bool,
    strict: bool,
    packages: Sequence[Path],
    output: Path | None,
    plot: Path | None,
    page: Path | None,
    quantities: Sequence[str],
    quiet: bool,
    states: Mapping[str, Sequence[str]],
    initial: Sequence[str] = (),
    values: Sequence[str],
    options: Mapping[str, Any],
) -> None:
    """`states`: "q0", "v0", "tau" as words joint=value; `initial`: of states of forces, `values`: of parameters, both as words
    name=value; `quantities`: what to plot, by the names of `Result.plot`; `options`: those of `simulate`, which override the
    file's settings."""
    doing = "reading the model"
    try:
        _check_options(options, output, plot, page, quantities)
        model = load(file, floating=floating, strict=strict, package_paths=packages)
        for text in quantities:
            check_usage("--quantity", partial(understood, model), text)
        parameters = set_values(model, values)
        arguments = _arguments(model, states, options) | ({"parameters": parameters} if parameters else {})
        if initial:
            arguments["states"] = {**arguments.get("states", {}), **initial_states(model, initial)}
        doing = "compiling"
        result, failure, written = _simulated(model, arguments, output, quiet)
    except KeyboardInterrupt as error:  # from the first step on, Ctrl-C ends the run and leaves a result, until that is written
        nothing = [f"while {doing}; nothing was computed, nothing written"]
        print("sharnir: interrupted", *getattr(error, "__notes__", nothing), file=sys.stderr)
        sys.exit(INTERRUPTED)
    interrupted = result.status == "interrupted"
    if result.status in LIMITED:
        print(f"sharnir: {result.message}", file=sys.stderr, flush=True)
    _report(result, output if written else None, plot, page, quantities, quiet)
    if failure:
        print(f"sharnir: {failure}", file=sys.stderr)
    if failure or result.status in LIMITED:
        sys.exit(INTERRUPTED if interrupted else 1)


def _check_options(
    options: Mapping[str, Any], output: Path | None, plot: Path | None, page: Path | None, quantities: Sequence[str]
) -> None:
    """Check options as far as that is possible without the model."""
    for option, names in NAMES.items():
        if option in options and (option, options[option]) != ("backend", OLD_BACKEND):
            check_name(f"--{option}", options[option], names)
    if output is not None:
        check_usage("--output", check_result_file, output)
    if plot is not None:
        check_usage("--plot", check_plot_file, plot)
    if page is not None:
        check_usage("--animate", check_page_file, page)
    if quantities and plot is None and page is None:
        raise UsageError("--quantity", "it says what to draw: add --plot FILE or --animate FILE")


def _arguments(model: Model, states: Mapping[str, Sequence[str]], options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the file, overridden by the options."""
    named = {name: named_values(f"--{name}", words) for name, words in states.items() if words}
    for name, given in named.items():
        check_usage(f"--{name}", model.coordinates if name == "q0" else model.speeds, given)
    arguments = overridden(model.simulation, {**options, **named})
    if "duration" not in arguments:
        raise UsageError("--duration", "the file has no simulation settings: give --duration SECONDS")
    _check_combinations(model, options, arguments)
    return arguments


def _check_combinations(model: Model, options: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Refuse options that do not go with each other, or with the model."""
    integrator = integrator_named(arguments.get("integrator", "auto"))
    if integrator.adaptive and "step" in options:
        raise UsageError("--step", f"{integrator.name!r} is adaptive: give --rtol, --atol or --max-step instead")
    if not integrator.adaptive and "integrator" in options and "step" not in arguments:
        raise UsageError("--integrator", f"{integrator.name!r} has a fixed step: give --step SECONDS too")
    if "output" in options and (rows := abs(arguments["duration"]) / options["output"]) > MAX_TIMES:
        raise UsageError("--interval", f"{options['output']:g} s makes {rows:.0e} rows; take a longer one")
    if "fixed" in options:
        check_usage("--fixed", partial(held_coordinates, model), options["fixed"])
    if "stabilisation" in options and not model.constraints:
        raise UsageError("--stabilisation", f"model {model.name!r} has no closed loops and no constraints; leave it out")
    if "decay" in options and arguments.get("stabilisation") not in DECAYING:
        raise UsageError("--decay", f"it goes with --stabilisation {' or '.join(DECAYING)}; add that, or leave it out")


def _simulated(model: Model, arguments: dict[str, Any], output: Path | None, quiet: bool) -> tuple[Result, str, bool]:
    """The motion, a message where something went wrong, and whether the motion is in its file."""
    try:
        return simulate(model, progress=False if quiet else None, save=output, **arguments), "", True
    except (SimulationError, SaveError) as error:
        return error.result, str(error).rpartition(". The motion ")[0], not isinstance(error, SaveError)


def _report(
    result: Result, output: Path | None, plot: Path | None, page: Path | None, quantities: Sequence[str], quiet: bool
) -> None:
    if not quiet:
        print(result.summary())
    if plot is not None:
        result.plot(*quantities, path=plot)
    if page is not None:
        result.animate(page, plots=quantities, progress=False if quiet else None)
    for path in (output, plot, page):
        if path is not None and not quiet:
            print(f"written: {path}")
