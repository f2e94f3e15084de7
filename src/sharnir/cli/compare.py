"""`sharnir compare`: every method on every backend for a model file; a table on the screen, data, a picture, a page."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..comparison.comparison import Comparison
from ..comparison.run import BACKENDS, compare
from ..io.load import load
from ..programs.methods import METHODS
from .inspect import PIPE_WIDTH
from .parameters import set_values
from .usage import INTERRUPTED, check_file, check_name, check_picture


def compare_file(
    file: Path,
    *,
    floating: bool,
    strict: bool,
    packages: Sequence[Path],
    names: Mapping[str, Sequence[str]],
    files: Mapping[str, Path | None],
    values: Sequence[str],
    quiet: bool,
    options: Mapping[str, Any],
) -> None:
    """`names`: of "methods" and "backends", commas allowed; `files`: "json", "html", "plot"; `options`: those of `compare`."""
    chosen: dict[str, Any] = {
        "methods": _names("--methods", names["methods"], METHODS),
        "backends": _names("--backends", names["backends"], BACKENDS, old=("numba",)),
    }
    for option, path in files.items():
        if path is not None:
            (check_picture if option == "plot" else check_file)(f"--{option}", path)
    try:
        model = load(file, floating=floating, strict=strict, package_paths=packages)
        parameters = set_values(model, values)
        result = compare(model, **chosen, **options, parameters=parameters or None, progress=False if quiet else None)
    except KeyboardInterrupt:  # while the model was read
        print("sharnir: interrupted before the comparison began", file=sys.stderr)
        sys.exit(INTERRUPTED)
    _report(result, files, quiet)
    if result.status == "interrupted":
        print("sharnir: interrupted; what was measured so far is shown", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _names(option: str, words: Sequence[str], known: Iterable[str], old: Sequence[str] = ()) -> list[str] | None:
    """Names from words, each of which may hold several with commas between; `old` names are accepted but not listed."""
    names = [name for word in words for name in word.split(",") if name]
    for name in names:
        if name not in old:
            check_name(option, name, known)
    return names or None


def _report(result: Comparison, files: Mapping[str, Path | None], quiet: bool) -> None:
    if not quiet:
        from rich.console import Console

        from ..comparison.table import WIDTH, show

        show(result, Console(highlight=False, width=None if sys.stdout.isatty() else max(WIDTH, PIPE_WIDTH)))
    timed = any(row.ok for row in result.rows)
    for option, make in (("json", result.to_json), ("html", result.report), ("plot", result.plot)):
        path = files.get(option)
        if path is None:
            continue
        if option == "plot" and not timed:
            print(f"sharnir: no contender was timed, so {path} was not drawn", file=sys.stderr)
            continue
        make(path)
        if not quiet:
            print(f"written: {path}")
