"""`sharnir COMMAND …`: the commands and their options.

The module of a command is imported when it runs, so that help is fast; argparse, because other parsers take longer to import
than most commands take to run.

Exit codes: 0 success; 1 an error in the model, the file, the motion or the output (one line on stderr); 2 an error on the
command line; 130 interrupted.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from .. import __version__
from ..errors import SharnirError, known, suggestion
from .streams import readable
from .usage import INTERRUPTED, UsageError, at_least, by_joint, named_number, not_zero, number, port, positive

COMMANDS = (
    "inspect", "run", "equilibrium", "modes", "derive", "study", "calibrate", "compare", "classify", "view", "studio", "schema",
)  # fmt: skip


class Parser(ArgumentParser):
    """One command. Errors are reported in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (try `{self.prog} --help`)\n")

    def option(self, *names: str, **options: Any) -> None:
        """An option that is absent from the namespace where it is not given."""
        self.add_argument(*names, default=SUPPRESS, **options)

    def flag(self, *names: str, what: str) -> None:
        self.add_argument(*names, action="store_true", help=what)

    def list_option(self, name: str, what: str, kind: Callable[[str], Any] = str, metavar: str | None = None) -> None:
        self.add_argument(name, action="append", default=[], type=kind, help=f"{what}; may be repeated", metavar=metavar)

    def by_joint(self, name: str, what: str) -> None:
        self.list_option(name, what, by_joint, "JOINT=VALUE")

    def parameters(self) -> None:
        kind = named_number("a parameter or a path such as link3.mass")
        self.list_option("--set", "a parameter, or any number of the model: k=400, link3.mass=2", kind, "NAME=VALUE")

    def file(self, *names: str, what: str, **options: Any) -> None:
        self.add_argument(*names, type=Path, metavar="FILE", help=what, **options)


def parser() -> Parser:
    """The parser of all commands. In its namespace `command` is the command's name, and `parser` the parser of that command."""
    out = Parser("sharnir", description="Dynamics of multibody systems.", allow_abbrev=False)
    out.add_argument("--version", action="version", version=f"sharnir {__version__}")
    commands = out.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        add = globals()[f"add_{name}"]
        of_command = commands.add_parser(name, help=add.__doc__, description=add.__doc__, allow_abbrev=False)
        of_command.set_defaults(parser=of_command)
        add(of_command)
    return out


def add_file(p: Parser) -> None:
    p.file("file", what="a model: .urdf, .xml, .mjcf, .yaml")
    add_reading(p)


def add_reading(p: Parser) -> None:
    p.flag("--floating", what="let the root move freely instead of fixing it to the ground")
    p.flag("--strict", what="refuse a file with elements that would be ignored")
    acting = "of robots: motion, the bare equations, or all: limits and friction of joints, contacts of MJCF"
    p.add_argument("--acting", choices=("motion", "all"), help=acting)
    p.list_option("--package-path", "a folder with ROS packages", Path, "FOLDER")


def add_inspect(p: Parser) -> None:
    """Show a model file: bodies, joints, freedoms, masses, and what the import did with each part of it."""
    add_file(p)
    p.flag("--json", what="print data instead of a tree")


def add_run(p: Parser) -> None:
    """Simulate a model file: print a summary, write the motion and a picture. Options override the settings in the file."""
    add_file(p)
    p.option("--duration", type=not_zero, metavar="SECONDS", help="negative: backward in time")
    p.by_joint("--q0", "initial coordinates: joint=value, or joint=w,x,y,z")
    p.by_joint("--v0", "initial speeds: joint=value")
    p.list_option(
        "--fixed",
        "joint or coordinate (float.x) that keeps its q0 while the others close the loops (default: all in --q0; '': none)",
        metavar="NAME",
    )
    p.flag("--nearest", what="take --q0 and --v0 as guesses: start from the nearest state that closes the loops")
    p.by_joint("--tau", "constant joint forces: joint=value")
    state = named_number("a state of the model or of a force")
    p.list_option("--state", "initial value of a state: integral=0.3, friction.bristle=1e-5", state, "NAME=VALUE")
    p.parameters()
    p.option("--t0", type=number, metavar="SECONDS", help="initial time")
    p.option("--method", metavar="NAME", help="method of forming the equations: separate, composite …")
    p.option("--backend", metavar="NAME", help="auto, llvm, loops or python")
    p.option("--integrator", metavar="NAME", help="auto (the default), dop853, adams, radau, rk4 …")
    p.option("--rtol", type=at_least(0, number), metavar="NUMBER", help="relative tolerance of adaptive integrators")
    p.option("--atol", type=at_least(0, number), metavar="NUMBER", help="absolute tolerance")
    p.option("--step", type=positive, metavar="SECONDS", help="step of the fixed-step integrators")
    p.option("--max-step", type=positive, metavar="SECONDS", help="largest step of adaptive integrators")
    p.option("--max-steps", type=at_least(1), metavar="NUMBER", help="end after so many steps, with the motion so far")
    p.option("--max-seconds", type=positive, metavar="SECONDS", help="end after so many seconds of computing, likewise")
    p.option("--interval", type=positive, metavar="SECONDS", dest="output", help="between rows of the result")
    p.option("--limits", metavar="NAME", help="at joint limits: act (as elastic stops), ignore, stop or error")
    p.option("--stabilisation", metavar="NAME", help="constraint stabilisation: projection, partitioning, baumgarte, ggl, none")
    p.list_option("--decay", "of baumgarte (α, then β) or ggl, 1/s", positive, "NUMBER")
    p.file("-o", "--output", what="write the motion: .nc, or .csv", dest="numbers")
    p.file("--plot", what="draw the motion: .png, .svg, .pdf; .html, interactive")
    p.file("--animate", what="the motion as a page that opens in any browser: .html")
    p.list_option("--quantity", "what to plot: 'A', 'piston.x', 'speed of A', 'reaction of B', 'energy' …", metavar="NAME")
    p.flag("-q", "--quiet", what="no progress bar, no summary")


def add_equilibrium(p: Parser) -> None:
    """Find where a model file rests under its forces, or moves steadily; say whether that is stable."""
    add_file(p)
    p.by_joint("--hold", "hold a joint at a value: joint=value, or joint=w,x,y,z")
    p.parameters()
    p.by_joint("--guess", "where to search from: joint=value")
    p.by_joint("--tau", "constant joint forces: joint=value")
    p.by_joint("--speed", "of a joint driven at constant speed: joint=value")
    p.add_argument("--time", type=number, default=0.0, metavar="SECONDS", help="at which drives are where they are (default: 0)")
    p.option("--starts", type=at_least(1), metavar="NUMBER", help="positions to search from (default: 8)")
    p.option("--seed", type=at_least(0), metavar="NUMBER", help="of the random ones among them (default: 0)")
    kind = p.add_mutually_exclusive_group()
    kind.add_argument("--stable", action="store_true", help="only an equilibrium that is not unstable")
    kind.add_argument("--nearest", action="store_true", help="the nearest to the guess, of any kind")
    p.flag("--json", what="print data instead of a summary")


def add_modes(p: Parser) -> None:
    """Show the modes of a model file near a position: frequencies, damping ratios, and which joints move."""
    add_file(p)
    p.by_joint("--at", "where: joint=value, or joint=w,x,y,z; the rest neutral, loops assembled")
    p.by_joint("--speed", "of a steady motion: joint=value")
    p.parameters()
    p.by_joint("--tau", "constant joint forces: joint=value")
    p.add_argument("--time", type=number, default=0.0, metavar="SECONDS", help="of driven joints and forces (default: 0)")
    p.flag("--equilibrium", what="where the model rests, searched from --at; joints with --speed are driven at it")
    p.flag("--json", what="print data instead of a table")
    p.file("--plot", what="draw eigenvalues and modes: .png, .svg, .pdf")


def add_derive(p: Parser) -> None:
    """Print the equations of motion of a model file as formulas: LaTeX, or Python; write a page."""
    add_file(p)
    p.option("--form", metavar="NAME", help="auto (the default), lagrange2, lagrange1 (with constraints), hamilton")
    p.list_option(
        "--letter", "a parameter, or a path such as link3.mass, that stays a letter (default: all parameters)", metavar="NAME"
    )
    kind = p.add_mutually_exclusive_group()
    kind.add_argument("--latex", action="store_true", help="print LaTeX (the default where no page is written)")
    kind.add_argument("--python", action="store_true", help="print a module of Python that needs NumPy alone")
    p.file("--html", what="write a page that opens offline")


def add_study(p: Parser) -> None:
    """Run a model for many values of its inputs, as a study file says: print a summary, write the dataset and pictures of it."""
    p.file("file", what="a study: .yaml (docs/studies_file.md)")
    p.option("--scheduler", metavar="ADDRESS", help="of a Dask cluster that computes the runs: tcp://host:8786")
    p.option(
        "--store", type=Path, metavar="PATH", help="a folder, or .nc file, for results; a study that was ended goes on there"
    )
    p.option("--workers", type=at_least(1), metavar="NUMBER", help="threads, or processes (default: one for each core)")
    p.flag("--processes", what="compute in processes instead of threads")
    p.option("--seed", type=at_least(0), metavar="NUMBER", help="of what is drawn")
    p.option("--runs", type=at_least(1), metavar="NUMBER", help="how many runs are drawn")
    p.file("-o", "--output", what="write the dataset: .nc, or .csv with a row for each run")
    p.file("--page", what="all of it as a page that opens in any browser: .html")
    p.file("--plot", what="draw it: .png, .svg, .pdf")
    p.flag("-q", "--quiet", what="no progress bar, no summary")


def add_calibrate(p: Parser) -> None:
    """Measure what operations cost on this machine, for method=auto to choose by. Takes a minute or two on an idle machine."""
    p.flag("--shipped", what="go back to the shipped calibration")
    p.flag("-q", "--quiet", what="no progress bar")


def add_compare(p: Parser) -> None:
    """Compare every method on every backend for a model file: agreement, operations, time, memory. Ctrl-C shows what there is."""
    add_file(p)
    p.list_option("--methods", "methods, separated by commas; default: all", metavar="NAMES")
    p.list_option("--backends", "of llvm, loops, python, sparse, dense, separated by commas; default: all", metavar="NAMES")
    p.option("--states", type=at_least(1), metavar="NUMBER", help="random states in which all must agree (default: 8)")
    p.option("--seed", type=at_least(0), metavar="NUMBER", help="of those states (default: 0)")
    p.option("--batch", type=at_least(1), metavar="NUMBER", help="states of a batch (default: 1024)")
    p.option("--rounds", type=at_least(1), metavar="NUMBER", help="samples of each contender (default: 15)")
    p.option("--budget", type=positive, metavar="SECONDS", help="for everything")
    p.parameters()
    p.flag("--cold", what="recompile the loops too")
    p.option("--graph-limit", type=at_least(1), metavar="NODES", help="largest graph to compile (default: 20000)")
    p.file("--json", what="write the numbers")
    p.file("--html", what="write a page that opens offline")
    p.file("--plot", what="draw it: .png, .svg, .pdf")
    p.flag("-q", "--quiet", what="no progress bar, no table")


def add_classify(p: Parser) -> None:
    """Show every form of the equations of a model file: unknowns, matrices, cost, methods, and why a form fits or does not."""
    add_file(p)
    p.by_joint("--at", "where: joint=value, or joint=w,x,y,z; the rest neutral, loops assembled")
    p.by_joint("--speed", "of a joint")
    p.add_argument("--time", type=number, default=0.0, metavar="SECONDS", help="of driven joints (default: 0)")
    p.parameters()
    p.flag("--measure", what="time every method that can solve the model")
    p.file("--html", what="write a page with every matrix and its numbers, which opens offline")
    p.flag("-q", "--quiet", what="no tree")


def add_server(p: Parser) -> None:
    p.option("--port", type=port, metavar="NUMBER", help="of the server (default: the first free one from 8080)")
    p.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS",
        help="address to listen on; any but the default opens the page to other machines, by a token in the address",
    )  # fmt: skip
    p.flag("--no-browser", what="print the address, and open nothing")


def add_view(p: Parser) -> None:
    """Show a model file in the browser, with a slider for every coordinate; or saved results, which are played."""
    p.file("files", what="a model: .urdf, .xml, .mjcf, .yaml; or results: .nc", nargs="+")
    add_reading(p)
    p.by_joint("--q0", "position at first: joint=value, or joint=w,x,y,z")
    p.parameters()
    p.list_option("--show", "a layer that is on at first: bodies, joints, frames, mass …, or all", metavar="LAYER")
    p.list_option("--quantity", "of results: a quantity over time, as of Result.plot", metavar="NAME")
    add_server(p)


def add_studio(p: Parser) -> None:
    """Open a page to load, edit, run, watch and compare models of a folder. Ctrl-C ends it."""
    p.file("file", what="a model or a result to begin with", nargs="?")
    p.add_argument("--folder", type=Path, help="nothing outside it is read or written (default: the current one, or FILE's)")
    add_server(p)


def add_schema(p: Parser) -> None:
    """Print the JSON schema of the native format, for editors (docs/native_format.md)."""


def run_command(options: Namespace) -> None:
    if options.command == "compare":
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(name, "1")  # one thread for all; before numpy is imported
    if options.command == "schema":
        from ..io.native.schema import schema_text

        print(schema_text(), end="")
    else:
        import_module(f".{options.command}", __package__).command(options)
        if (line := getattr(options, "remark", "")) and not getattr(options, "quiet", False):
            print(f"sharnir: {line}", file=sys.stderr)


def main() -> None:
    with readable() as (out, err), warnings.catch_warnings():
        warnings.showwarning = lambda message, category, *where: print(f"sharnir: {message}", file=err)
        code = _code()
        out.flush()
        if out.error is not None:
            print(f"sharnir: cannot write the output: {out.error.strerror}", file=err)
            code = code or 1
        err.flush()
    sys.exit(code)


def _code() -> int:
    try:
        options = parse(sys.argv[1:])
        try:
            run_command(options)
        except UsageError as error:
            options.parser.error(str(error))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except (SharnirError, OSError) as error:
        print(f"sharnir: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:  # where there is no partial result; commands that have one catch it themselves
        print("sharnir: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def parse(words: Sequence[str]) -> Namespace:
    command_line = parser()
    if not words:
        command_line.print_help(sys.stderr)
        sys.exit(2)
    if not words[0].startswith("-") and words[0] not in COMMANDS:
        of_file = f"say what to do with the file: sharnir run {words[0]}. " if Path(words[0]).suffix else ""
        hint = of_file or suggestion(words[0], COMMANDS)
        command_line.error(f"no command {words[0]!r}; {hint}The commands are {known(COMMANDS, 99)}")
    options, rest = command_line.parse_known_args(_joined(words))
    if rest and rest[0].startswith("-"):
        name = rest[0].partition("=")[0]
        hint = suggestion(name.lstrip("-"), re.findall(r"--([\w-]+)", options.parser.format_help())).replace("'", "'--", 1)
        options.parser.error(f"no option {name}{'; ' if hint else ''}{hint}".rstrip())
    if rest:
        options.parser.error(f"unexpected argument {rest[0]!r}")
    return options


def _joined(words: Sequence[str]) -> list[str]:
    """Write `--duration -1e-3` as `--duration=-1e-3`: argparse mistakes such numbers for options."""
    out: list[str] = []
    for word in words:
        if out and out[-1].startswith("--") and "=" not in out[-1] and word.startswith("-"):
            with suppress(ValueError):
                float(word)
                out[-1] += f"={word}"
                continue
        out.append(word)
    return out


if __name__ == "__main__":
    main()
