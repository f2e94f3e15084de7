"""`sharnir run`: simulate a model file; a summary on the screen, numbers and pictures in files."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping
from functools import partial
from typing import Any

from ..equations.assembly.fixed_coordinates import held_coordinates
from ..equations.motion.stabilisation import DECAYING
from ..errors import SaveError, SimulationError
from ..integrate.methods import INTEGRATORS
from ..integrate.methods import integrator as integrator_named
from ..integrate.trajectory import LIMITED
from ..model.element import described
from ..model.model import Model
from ..model.settings import SimulationSettings, overridden
from ..model.values import Choice
from ..programs.methods import METHODS
from ..simulation.results.plots import check_plot_file
from ..simulation.results.quantities import understood
from ..simulation.results.result import Result
from ..simulation.results.storage import check_result_file
from ..simulation.run.checks import MAX_TIMES
from ..simulation.run.simulate import simulate
from ..solvers.formulation import BACKENDS
from ..viewer.page.animate import check_page_file
from .usage import INTERRUPTED, UsageError, check_name, check_usage, end, initial_states, load_model, set_values, values_by_joint

SETTINGS = {one.name: one.kind for one in described(SimulationSettings)}
NAMES = {name: kind.words for name, kind in SETTINGS.items() if isinstance(kind, Choice)} | {
    "method": ("auto", *METHODS),
    "backend": BACKENDS,
    "integrator": tuple(INTEGRATORS),
}
"""Options that take a name, and the names."""
OLD_BACKEND = "numba"
"""A name of the first version, still accepted with a warning."""
BY_JOINT = ("q0", "v0", "tau")
"""Options that are words joint=value."""


def command(options: Namespace) -> None:
    doing = "reading the model"
    try:
        settings = _settings(options)
        model = load_model(options)
        for text in options.quantity:
            check_usage("--quantity", partial(understood, model), text)
        parameters = set_values(model, options.set)
        arguments = _arguments(model, options, settings) | ({"parameters": parameters} if parameters else {})
        if options.state:
            arguments["states"] = {**arguments.get("states", {}), **initial_states(model, options.state)}
        doing = "compiling"
        result, failure, written = _simulated(model, arguments, options)
    except KeyboardInterrupt as error:  # from the first step on, Ctrl-C ends the run and leaves a result, until that is written
        nothing = [f"while {doing}; nothing was computed, nothing written"]
        end(" ".join(["interrupted", *getattr(error, "__notes__", nothing)]), INTERRUPTED)
    code = INTERRUPTED if result.status == "interrupted" else 1
    if result.status in LIMITED:
        print(f"sharnir: {result.message}", file=sys.stderr, flush=True)
    _report(result, options, written)
    if failure:
        end(failure, code)
    if result.status in LIMITED:
        sys.exit(code)


def _settings(options: Namespace) -> dict[str, Any]:
    """Options of `simulate`, all options checked as far as that is possible without the model."""
    out = {name: x for name, x in vars(options).items() if name in SETTINGS and name not in BY_JOINT and x != []}
    if options.nearest:
        out["nearest"] = True
    if options.fixed:
        out["fixed"] = [name for name in options.fixed if name]
    for option, names in NAMES.items():
        if option in out and (option, out[option]) != ("backend", OLD_BACKEND):
            check_name(f"--{option}", out[option], names)
    check_usage("--output", check_result_file, options.numbers)
    check_usage("--plot", check_plot_file, options.plot)
    check_usage("--animate", check_page_file, options.animate)
    if options.quantity and options.plot is None and options.animate is None:
        raise UsageError("--quantity", "it says what to draw: add --plot FILE or --animate FILE")
    return out


def _arguments(model: Model, options: Namespace, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the file, overridden by the options."""
    named = {name: numbers for name, numbers in values_by_joint(model, options, *BY_JOINT).items() if numbers}
    arguments = overridden(model.simulation, {**settings, **named})
    if "duration" not in arguments:
        raise UsageError("--duration", "the file has no simulation settings: give --duration SECONDS")
    _check_combinations(model, settings, arguments)
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


def _simulated(model: Model, arguments: dict[str, Any], options: Namespace) -> tuple[Result, str, bool]:
    """The motion, a message where something went wrong, and whether the motion is in its file."""
    try:
        return simulate(model, progress=False if options.quiet else None, save=options.numbers, **arguments), "", True
    except (SimulationError, SaveError) as error:
        return error.result, str(error).rpartition(". The motion ")[0], not isinstance(error, SaveError)


def _report(result: Result, options: Namespace, written: bool) -> None:
    """Print the summary and draw; `written`: whether the motion is in its file."""
    if not options.quiet:
        print(result.summary())
    if options.plot is not None:
        result.plot(*options.quantity, path=options.plot)
    if options.animate is not None:
        result.animate(options.animate, plots=options.quantity, progress=False if options.quiet else None)
    for path in (options.numbers if written else None, options.plot, options.animate):
        if path is not None and not options.quiet:
            print(f"written: {path}")
