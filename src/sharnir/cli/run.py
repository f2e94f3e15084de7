"""`sharnir run`: a model file in, a motion out: a summary on the screen, numbers and pictures in files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from ..closed.stabilisation import check_choice
from ..errors import SharnirError, SimulationError
from ..integrate.methods import integrator as integrator_named
from ..io.load import load
from ..model.model import Model
from ..simulation.result import Result
from ..simulation.run import simulate
from ..simulation.storage import check_writable, write

INTERRUPTED = 130
"""What a shell expects of a program that Ctrl-C ended."""


def run_file(
    file: Path,
    *,
    floating: bool,
    strict: bool,
    packages: Sequence[Path],
    output: Path | None,
    plot: Path | None,
    quiet: bool,
    states: Mapping[str, Sequence[str]],
    options: Mapping[str, Any],
) -> None:
    """`states`: "q0", "v0", "tau" as words joint=value; `options`: those of `simulate`, None where the file may decide."""
    try:
        model = load(file, floating=floating, strict=strict, package_paths=packages)
        arguments = _arguments(model, states, options)
        for option, path in (("--output", output), ("--plot", plot)):
            if path is not None:
                _usage(option, check_writable, path)
        result, failure = _simulated(model, arguments, quiet)
    except KeyboardInterrupt:  # while the model was read or its equations were compiled
        print("sharnir: interrupted before the run began", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    _report(result, output, plot, quiet)
    if failure:
        print(f"sharnir: {failure}", file=sys.stderr)
        raise typer.Exit(1)
    if result.status == "interrupted":
        print(f"sharnir: {result.message}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)


def _arguments(model: Model, states: Mapping[str, Sequence[str]], options: Mapping[str, Any]) -> dict[str, Any]:
    """What the command line says, then what the file says."""
    said = {name: x for name, x in options.items() if x is not None}
    if "integrator" in said:
        _usage("--integrator", integrator_named, said["integrator"])
    arguments = model.simulation.arguments() if model.simulation is not None else {}
    if "integrator" in said:  # a step of the file's integrator is not one of ours
        arguments.pop("step", None)
    if "stabilisation" in said:
        _usage("--stabilisation", check_choice, said["stabilisation"])
        arguments.pop("decay", None)  # nor is its decay
    arguments |= said
    for name, words in states.items():
        if words:
            given = _named_values(f"--{name}", words)
            _usage(f"--{name}", model.coordinates if name == "q0" else model.speeds, given)
            before = arguments.get(name)
            arguments[name] = {**before, **given} if isinstance(before, Mapping) else given
    if "duration" not in arguments:
        raise typer.BadParameter("the file says nothing about it: give --duration SECONDS", param_hint="--duration")
    return arguments


def _named_values(option: str, words: Sequence[str]) -> dict[str, list[float]]:
    """{joint: numbers} from joint=1 or joint=1,0,0,0."""
    out = {}
    for word in words:
        joint, equals, text = word.rpartition("=")
        try:
            out[joint] = [float(x) for x in text.split(",")]
        except ValueError:
            equals = ""
        if not equals or not joint:
            raise typer.BadParameter(f"expected joint=number or joint=number,number,…; got {word!r}", param_hint=option)
    return out


def _usage(option: str, check: Callable[[Any], Any], value: Any) -> None:
    """A refusal of what stands on the command line is a fault of the command line."""
    try:
        check(value)
    except SharnirError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def _simulated(model: Model, arguments: dict[str, Any], quiet: bool) -> tuple[Result, str]:
    """The motion, whole or in part, and why it is in part."""
    try:
        return simulate(model, progress=False if quiet else None, **arguments), ""
    except SimulationError as error:
        return error.result, str(error).removesuffix(" The motion up to there is in the error's `result`").rstrip(".")


def _report(result: Result, output: Path | None, plot: Path | None, quiet: bool) -> None:
    if not quiet:
        print(result.summary())
    for path, make in ((output, lambda: write(result, output)), (plot, lambda: result.plot(path=plot))):
        if path is not None:
            make()
            if not quiet:
                print(f"written: {path}")
