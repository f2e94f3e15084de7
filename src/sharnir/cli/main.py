"""`sharnir COMMAND …`: the commands and their options. What a command does is imported when it runs, so help is quick
(and plain: rich would take as long again).

Exit codes: 0 good, 1 the model, the file or the motion is at fault (a line on stderr), 2 the command line is,
130 interrupted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..errors import SharnirError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.callback()
def sharnir() -> None:
    """Dynamics of multibody systems."""


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(help="a model: .urdf, .xml, .mjcf, .yaml", show_default=False)],
    floating: Annotated[bool, typer.Option("--floating", help="Free the root from the ground.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a file that is not wholly honoured.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print data instead of a tree.")] = False,
    packages: Annotated[
        list[Path] | None, typer.Option("--package-path", help="A folder with ROS packages; may be repeated.")
    ] = None,
) -> None:
    """Show what a model file holds: bodies, joints, freedoms, masses, and what the import did with each part of it."""
    from .inspect import inspect_file

    inspect_file(file, floating=floating, strict=strict, as_json=json, packages=packages or [])


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="a model: .urdf, .xml, .mjcf, .yaml", show_default=False)],
    duration: Annotated[float | None, typer.Option(help="Seconds; negative: backward.")] = None,
    q0: Annotated[list[str] | None, typer.Option(help="Start: joint=value, or joint=w,x,y,z; may be repeated.")] = None,
    v0: Annotated[list[str] | None, typer.Option(help="Speeds at the start: joint=value; may be repeated.")] = None,
    tau: Annotated[list[str] | None, typer.Option(help="Constant joint forces: joint=value; may be repeated.")] = None,
    t0: Annotated[float | None, typer.Option(help="Time of the start.")] = None,
    method: Annotated[str | None, typer.Option(help="Method of forming the equations: separate, composite …")] = None,
    backend: Annotated[str | None, typer.Option(help="auto, llvm, loops or python.")] = None,
    integrator: Annotated[str | None, typer.Option(help="dop853, adams, radau, rk4 …")] = None,
    rtol: Annotated[float | None, typer.Option(help="Relative tolerance of adaptive integrators.")] = None,
    atol: Annotated[float | None, typer.Option(help="Absolute tolerance.")] = None,
    step: Annotated[float | None, typer.Option(help="Step of the others, seconds.")] = None,
    max_step: Annotated[float | None, typer.Option(help="Greatest step of adaptive integrators.")] = None,
    interval: Annotated[float | None, typer.Option(help="Seconds between rows of the result.")] = None,
    limits: Annotated[str | None, typer.Option(help="Of joints: ignore, stop or error.")] = None,
    stabilisation: Annotated[
        str | None, typer.Option(help="How constraints are kept: projection, partitioning, baumgarte, ggl, none.")
    ] = None,
    decay: Annotated[list[float] | None, typer.Option(help="Of baumgarte (α, then β) or ggl, 1/s; may be repeated.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the motion: .nc, or .csv.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the motion: .png, .svg, .pdf.")] = None,
    floating: Annotated[bool, typer.Option("--floating", help="Free the root from the ground.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a file that is not wholly honoured.")] = False,
    packages: Annotated[
        list[Path] | None, typer.Option("--package-path", help="A folder with ROS packages; may be repeated.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No bar, no summary.")] = False,
) -> None:
    """Simulate a model file: print a summary, write the motion and a picture. What the file says holds unless said here."""
    from .run import run_file

    run_file(
        file,
        floating=floating,
        strict=strict,
        packages=packages or [],
        output=output,
        plot=plot,
        quiet=quiet,
        states={"q0": q0 or [], "v0": v0 or [], "tau": tau or []},
        options={
            "duration": duration, "t0": t0, "method": method, "backend": backend, "integrator": integrator, "rtol": rtol,
            "atol": atol, "step": step, "max_step": max_step, "output": interval, "limits": limits,
            "stabilisation": stabilisation, "decay": decay or None,
        },
    )  # fmt: skip


@app.command()
def calibrate(
    shipped: Annotated[bool, typer.Option("--shipped", help="Forget this machine's calibration.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No bar.")] = False,
) -> None:
    """Measure what operations cost on this machine, for method=auto to choose by. Takes a minute or two; let nothing else run."""
    from .calibrate import calibrate_machine

    calibrate_machine(shipped, quiet)


@app.command()
def compare(
    file: Annotated[Path, typer.Argument(help="a model: .urdf, .xml, .mjcf, .yaml", show_default=False)],
    methods: Annotated[
        list[str] | None, typer.Option(help="Methods, with commas between; may be repeated. All, if none is named.")
    ] = None,
    backends: Annotated[
        list[str] | None, typer.Option(help="Of llvm, loops, python, sparse, dense; as --methods.", show_default=False)
    ] = None,
    states: Annotated[int, typer.Option(help="Random states in which all must agree.", min=1)] = 8,
    seed: Annotated[int, typer.Option(help="Of those states.", min=0)] = 0,
    batch: Annotated[int, typer.Option(help="States of a batch.", min=1)] = 1024,
    rounds: Annotated[int, typer.Option(help="Turns of each contender.", min=1)] = 15,
    budget: Annotated[float | None, typer.Option(help="Seconds for everything.", min=0.001)] = None,
    cold: Annotated[bool, typer.Option("--cold", help="Compile the loops anew too.")] = False,
    graph_limit: Annotated[int, typer.Option(help="Largest graph to compile, nodes.", min=1)] = 40_000,
    json: Annotated[Path | None, typer.Option(help="Write the numbers.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page that opens without a network.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw it: .png, .svg, .pdf.")] = None,
    floating: Annotated[bool, typer.Option("--floating", help="Free the root from the ground.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a file that is not wholly honoured.")] = False,
    packages: Annotated[
        list[Path] | None, typer.Option("--package-path", help="A folder with ROS packages; may be repeated.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No bar, no table.")] = False,
) -> None:
    """Compare every method on every backend for a model file: agreement, operations, time, memory. Ctrl-C keeps a part."""
    import os

    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # one thread for all; before numpy is imported
    from .compare import compare_file

    compare_file(
        file,
        floating=floating,
        strict=strict,
        packages=packages or [],
        names={"methods": methods or [], "backends": backends or []},
        files={"json": json, "html": html, "plot": plot},
        quiet=quiet,
        options={
            "states": states, "seed": seed, "batch": batch, "rounds": rounds, "budget": budget, "cold": cold,
            "graph_limit": graph_limit,
        },
    )  # fmt: skip


@app.command()
def schema() -> None:
    """Print the JSON schema of the native format, for editors (docs/native_format.md)."""
    from ..io.native.schema import schema_text

    print(schema_text(), end="")


def main() -> None:
    try:
        app()
    except SharnirError as error:
        print(f"sharnir: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:  # `sharnir inspect … | head`
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
