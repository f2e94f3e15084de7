"""`sharnir compare`: every method on every backend for a model file; a table on the screen, data, a picture, a page."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence

from ..comparison.comparison import Comparison
from ..comparison.run import BACKENDS, compare
from ..programs.methods import METHODS
from ..reporting.atomic_write import check_writable
from ..reporting.pictures import check_picture
from .inspect import PIPE_WIDTH
from .usage import INTERRUPTED, check_name, check_usage, end, given, load_model, set_values


def command(options: Namespace) -> None:
    methods = _names("--methods", options.methods, METHODS)
    backends = _names("--backends", options.backends, BACKENDS, old=("numba",))
    check_usage("--json", check_writable, options.json)
    check_usage("--html", check_writable, options.html)
    check_usage("--plot", check_picture, options.plot)
    try:
        model = load_model(options)
        result = compare(
            model,
            methods,
            backends,
            **given(options, "states", "seed", "batch", "rounds", "budget", "cold", "graph_limit"),
            parameters=set_values(model, options.set) or None,
            progress=False if options.quiet else None,
        )
    except KeyboardInterrupt:  # while the model was read
        end("interrupted before the comparison began", INTERRUPTED)
    _report(result, options)
    if result.status == "interrupted":
        end("interrupted; what was measured so far is shown", INTERRUPTED)


def _names(option: str, words: Sequence[str], known: Iterable[str], old: Sequence[str] = ()) -> list[str] | None:
    """Names from words, each of which may hold several with commas between; `old` names are accepted but not listed."""
    names = [name for word in words for name in word.split(",") if name]
    for name in names:
        if name not in old:
            check_name(option, name, known)
    return names or None


def _report(result: Comparison, options: Namespace) -> None:
    if not options.quiet:
        from rich.console import Console

        from ..comparison.report import WIDTH, show

        show(result, Console(highlight=False, width=None if sys.stdout.isatty() else max(WIDTH, PIPE_WIDTH)))
    timed = any(row.ok for row in result.rows)
    for path, write in ((options.json, result.to_json), (options.html, result.report), (options.plot, result.plot)):
        if path is None:
            continue
        if path is options.plot and not timed:
            print(f"sharnir: no contender was timed, so {path} was not drawn", file=sys.stderr)
            continue
        write(path)
        if not options.quiet:
            print(f"written: {path}")
