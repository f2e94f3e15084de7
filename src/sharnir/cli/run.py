"""`sharnir run`: a model file in, a motion out: a summary on the screen, numbers and pictures in files."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..equations.stabilisation import check_choice
from ..errors import SimulationError
from ..integrate.methods import integrator as integrator_named
from ..io.load import load
from ..model.model import Model
from ..simulation.result import Result
from ..simulation.run import simulate
from ..simulation.storage import check_writable, write
from .usage import INTERRUPTED, UsageError, check_usage


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
    """`states`: "q0", "v0", "tau" as words joint=value; `options`: those of `simulate`; where none is, the file decides."""
    doing = "reading the model"
    try:
        model = load(file, floating=floating, strict=strict, package_paths=packages)
        arguments = _arguments(model, states, options)
        for option, path in (("--output", output), ("--plot", plot)):
            if path is not None:
                check_usage(option, check_writable, path)
        doing = "compiling"
        result, failure = _simulated(model, arguments, quiet)
    except KeyboardInterrupt:  # from the first step on, Ctrl-C ends the run and leaves a result
        print(f"sharnir: interrupted while {doing}; nothing was computed, nothing written", file=sys.stderr)
        sys.exit(INTERRUPTED)
    _report(result, output, plot, quiet)
    if failure:
        print(f"sharnir: {failure}", file=sys.stderr)
        sys.exit(1)
    if result.status == "interrupted":
        print(f"sharnir: {result.message}", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _arguments(model: Model, states: Mapping[str, Sequence[str]], said: Mapping[str, Any]) -> dict[str, Any]:
    """What the command line says, then what the file says."""
    if "integrator" in said:
        check_usage("--integrator", integrator_named, said["integrator"])
    arguments = model.simulation.arguments() if model.simulation is not None else {}
    if "integrator" in said:  # a step of the file's integrator is not one of ours
        arguments.pop("step", None)
    if "stabilisation" in said:
        check_usage("--stabilisation", check_choice, said["stabilisation"])
        arguments.pop("decay", None)  # nor is its decay
    arguments |= said
    for name, words in states.items():
        if words:
            given = _named_values(f"--{name}", words)
            check_usage(f"--{name}", model.coordinates if name == "q0" else model.speeds, given)
            before = arguments.get(name)
            arguments[name] = {**before, **given} if isinstance(before, Mapping) else given
    if "duration" not in arguments:
        raise UsageError("--duration", "the file says nothing about it: give --duration SECONDS")
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
            raise UsageError(option, f"expected joint=number or joint=number,number,…; got {word!r}")
    return out


def _simulated(model: Model, arguments: dict[str, Any], quiet: bool) -> tuple[Result, str]:
    """The motion, whole or in part, and why it is in part."""
    try:
        return simulate(model, progress=False if quiet else None, **arguments), ""
    except SimulationError as error:
        return error.result, str(error).removesuffix(" The motion up to there is in the error's `result`").rstrip(".")


def _report(result: Result, output: Path | None, plot: Path | None, quiet: bool) -> None:
    if not quiet:
        print(result.summary())
    for path, make in ((output, lambda to: write(result, to)), (plot, lambda to: result.plot(path=to))):
        if path is not None:
            make(path)
            if not quiet:
                print(f"written: {path}")
