"""`sharnir COMMAND …`: the commands and their options. What a command does is imported when it runs, so help is quick;
argparse, because every other parser takes longer to be imported than most commands to be carried out.

Exit codes: 0 good, 1 the model, the file or the motion is at fault (a line on stderr), 2 the command line is,
130 interrupted.
"""

from __future__ import annotations

import re
import sys
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ..errors import SharnirError
from .usage import INTERRUPTED, UsageError


class Parser(ArgumentParser):
    """One command. Faults are said in a line, not below the list of all options."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (try `{self.prog} --help`)\n")

    def option(self, *names: str, **options: Any) -> None:
        """One that may be left out, and is then not passed on."""
        self.add_argument(*names, default=SUPPRESS, **options)

    def flag(self, *names: str, what: str) -> None:
        self.add_argument(*names, action="store_true", help=what)

    def list_option(self, name: str, what: str, kind: Callable[[str], Any] = str, metavar: str | None = None) -> None:
        self.add_argument(name, action="append", default=[], type=kind, help=f"{what}; may be repeated", metavar=metavar)


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a number, got {text!r}") from None


def whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a whole number, got {text!r}") from None


def at_least(least: float, kind: Callable[[str], float] = whole) -> Callable[[str], float]:
    def checked(text: str) -> float:
        value = kind(text)
        if not value >= least:
            raise ArgumentTypeError(f"expected at least {least}, got {text}")
        return value

    return checked


def parser() -> Parser:
    """`call` of what it finds is the command to carry out, `parser` the one of that command."""
    out = Parser("sharnir", description="Dynamics of multibody systems.", allow_abbrev=False)
    commands = out.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for add, call in (
        (add_inspect, inspect), (add_run, run), (add_calibrate, calibrate), (add_compare, compare), (add_schema, schema),
    ):  # fmt: skip
        of_command = commands.add_parser(call.__name__, help=add.__doc__, description=add.__doc__, allow_abbrev=False)
        of_command.set_defaults(call=call, parser=of_command)
        add(of_command)
    return out


def add_file(p: Parser) -> None:
    p.add_argument("file", type=Path, metavar="FILE", help="a model: .urdf, .xml, .mjcf, .yaml")
    p.flag("--floating", what="free the root from the ground")
    p.flag("--strict", what="refuse a file that is not wholly honoured")
    p.list_option("--package-path", "a folder with ROS packages", Path, "FOLDER")


def add_inspect(p: Parser) -> None:
    """Show what a model file holds: bodies, joints, freedoms, masses, and what the import did with each part of it."""
    add_file(p)
    p.flag("--json", what="print data instead of a tree")


def inspect(said: Namespace) -> None:
    from .inspect import inspect_file

    inspect_file(said.file, floating=said.floating, strict=said.strict, as_json=said.json, packages=said.package_path)


def add_run(p: Parser) -> None:
    """Simulate a model file: print a summary, write the motion and a picture. What the file says holds unless said here."""
    add_file(p)
    p.option("--duration", type=number, metavar="SECONDS", help="negative: backward")
    p.list_option("--q0", "start: joint=value, or joint=w,x,y,z", metavar="JOINT=VALUE")
    p.list_option("--v0", "speeds at the start: joint=value", metavar="JOINT=VALUE")
    p.list_option("--tau", "constant joint forces: joint=value", metavar="JOINT=VALUE")
    p.option("--t0", type=number, metavar="SECONDS", help="time of the start")
    p.option("--method", metavar="NAME", help="method of forming the equations: separate, composite …")
    p.option("--backend", metavar="NAME", help="auto, llvm, loops or python")
    p.option("--integrator", metavar="NAME", help="dop853, adams, radau, rk4 …")
    p.option("--rtol", type=number, metavar="NUMBER", help="relative tolerance of adaptive integrators")
    p.option("--atol", type=number, metavar="NUMBER", help="absolute tolerance")
    p.option("--step", type=number, metavar="SECONDS", help="step of the others")
    p.option("--max-step", type=number, metavar="SECONDS", help="greatest step of adaptive integrators")
    p.option("--interval", type=number, metavar="SECONDS", dest="output", help="between rows of the result")
    p.option("--limits", metavar="NAME", help="of joints: ignore, stop or error")
    p.option("--stabilisation", metavar="NAME", help="how constraints are kept: projection, partitioning, baumgarte, ggl, none")
    p.list_option("--decay", "of baumgarte (α, then β) or ggl, 1/s", number, "NUMBER")
    p.add_argument("-o", "--output", type=Path, metavar="FILE", dest="numbers", help="write the motion: .nc, or .csv")
    p.add_argument("--plot", type=Path, metavar="FILE", help="draw the motion: .png, .svg, .pdf")
    p.flag("-q", "--quiet", what="no bar, no summary")


OF_SIMULATE = ("duration", "t0", "method", "backend", "integrator", "rtol", "atol", "step", "max_step", "output", "limits",
               "stabilisation")  # fmt: skip


def run(said: Namespace) -> None:
    from .run import run_file

    options = {name: getattr(said, name) for name in OF_SIMULATE if name in said}
    run_file(
        said.file,
        floating=said.floating,
        strict=said.strict,
        packages=said.package_path,
        output=said.numbers,
        plot=said.plot,
        quiet=said.quiet,
        states={"q0": said.q0, "v0": said.v0, "tau": said.tau},
        options=options | ({"decay": said.decay} if said.decay else {}),
    )


def add_calibrate(p: Parser) -> None:
    """Measure what operations cost on this machine, for method=auto to choose by. Takes a minute or two; let nothing else run."""
    p.flag("--shipped", what="forget this machine's calibration")
    p.flag("-q", "--quiet", what="no bar")


def calibrate(said: Namespace) -> None:
    from .calibrate import calibrate_machine

    calibrate_machine(said.shipped, said.quiet)


def add_compare(p: Parser) -> None:
    """Compare every method on every backend for a model file: agreement, operations, time, memory. Ctrl-C keeps a part."""
    add_file(p)
    p.list_option("--methods", "methods, with commas between; all, if none is named", metavar="NAMES")
    p.list_option("--backends", "of llvm, loops, python, sparse, dense; with commas between", metavar="NAMES")
    p.option("--states", type=at_least(1), metavar="NUMBER", help="random states in which all must agree (default: 8)")
    p.option("--seed", type=at_least(0), metavar="NUMBER", help="of those states (default: 0)")
    p.option("--batch", type=at_least(1), metavar="NUMBER", help="states of a batch (default: 1024)")
    p.option("--rounds", type=at_least(1), metavar="NUMBER", help="turns of each contender (default: 15)")
    p.option("--budget", type=at_least(0.001, number), metavar="SECONDS", help="for everything")
    p.flag("--cold", what="compile the loops anew too")
    p.option("--graph-limit", type=at_least(1), metavar="NODES", help="largest graph to compile (default: 40000)")
    p.add_argument("--json", type=Path, metavar="FILE", help="write the numbers")
    p.add_argument("--html", type=Path, metavar="FILE", help="write a page that opens without a network")
    p.add_argument("--plot", type=Path, metavar="FILE", help="draw it: .png, .svg, .pdf")
    p.flag("-q", "--quiet", what="no bar, no table")


OF_COMPARE = ("states", "seed", "batch", "rounds", "budget", "cold", "graph_limit")


def compare(said: Namespace) -> None:
    import os

    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # one thread for all; before numpy is imported
    from .compare import compare_file

    compare_file(
        said.file,
        floating=said.floating,
        strict=said.strict,
        packages=said.package_path,
        names={"methods": said.methods, "backends": said.backends},
        files={"json": said.json, "html": said.html, "plot": said.plot},
        quiet=said.quiet,
        options={name: getattr(said, name) for name in OF_COMPARE if name in said},
    )


def add_schema(p: Parser) -> None:
    """Print the JSON schema of the native format, for editors (docs/native_format.md)."""


def schema(said: Namespace) -> None:
    from ..io.native.schema import schema_text

    print(schema_text(), end="")


def main() -> None:
    try:
        said = _said(sys.argv[1:])
        try:
            said.call(said)
        except UsageError as fault:
            said.parser.error(str(fault))
        sys.exit(0)
    except SharnirError as error:
        print(f"sharnir: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:  # where the command has nothing to keep; those that have see to it themselves
        print("sharnir: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # `sharnir inspect … | head`
        sys.stderr.close()
        sys.exit(0)


def _said(words: Sequence[str]) -> Namespace:
    """What stands on the command line."""
    whole_line = parser()
    if not words:
        whole_line.print_help(sys.stderr)
        sys.exit(2)
    said, rest = whole_line.parse_known_args(_joined(words))
    if rest and rest[0].startswith("-"):
        from difflib import get_close_matches

        name = rest[0].partition("=")[0]
        near = get_close_matches(name, re.findall(r"--[\w-]+", said.parser.format_help()), 1)
        said.parser.error(f"no option {name}{f'; did you mean {near[0]}?' if near else ''}")
    if rest:
        said.parser.error(f"unexpected argument {rest[0]!r}")
    return said


def _joined(words: Sequence[str]) -> list[str]:
    """`--duration -1e-3` as `--duration=-1e-3`: argparse takes such numbers for options."""
    out: list[str] = []
    for word in words:
        if out and out[-1].startswith("--") and "=" not in out[-1] and word.startswith("-") and _is_number(word):
            out[-1] += f"={word}"
        else:
            out.append(word)
    return out


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    main()
