"""A comparison on the screen."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

from .comparison import TRUST
from .words import duration, mechanism, memory, number, plural, small, spread, total, verdicts

if TYPE_CHECKING:
    from .comparison import Comparison
    from .row import Row

WIDTH = 140
"""Of the text, where no terminal says how long lines may be."""
LEAVE_OUT = ("spread\n", "spread\n ", "work", "code", "compile,\none + batch", "operations\nwritten", "\ncompiled", "")
"""Columns a narrow terminal does without, in this order."""
COLOURS = {"llvm": "cyan", "loops": "green", "python": "yellow", "sparse": "magenta", "dense": "magenta"}


def table(c: Comparison, width: int = WIDTH) -> Any:
    """A rich table: the rows with an answer, in order of the time of one state. What is too wide for it is left out."""
    from rich.console import Console

    console = Console(width=1000, file=StringIO())
    left_out: list[str] = []
    for name in ("", *LEAVE_OUT):
        left_out.append(name)
        out = _table(c, left_out)
        if console.measure(out).maximum <= width:
            break
    return out


def _table(c: Comparison, left_out: list[str]) -> Any:
    from rich.table import Table
    from rich.text import Text

    out = Table(box=None, padding=(0, 1), header_style="bold", pad_edge=False)
    best, batch = c.best, c.best_batch
    rows = [row for row in c.rows if row.ok]
    columns: dict[str, list[Any]] = {
        "": [f"{k + 1}" for k in range(len(rows))],
        "method": [Text(row.method + ("*" if row.auto else "") + (" (ṗ)" if row.gives != "q̈" else "")) for row in rows],
        "backend": [Text(row.backend, style=COLOURS.get(row.backend, "")) for row in rows],
        "one\nstate": [Text(duration(row.time("single")), style="bold" if row is best else "") for row in rows],
        "spread\n ": [Text(spread(row.single), style="dim") for row in rows],
        "batch,\nper state": [Text(duration(row.time("batch")), style="bold" if row is batch else "") for row in rows],
        "spread\n": [Text(spread(row.batch), style="dim") for row in rows],
        "operations\nwritten": [number(total(row, "written")) for row in rows],
        "\ncompiled": [number(total(row, "compiled")) for row in rows],
        "compile,\none + batch": [compilation(row) for row in rows],
        "code": [memory(row.code_bytes) for row in rows],
        "work": [memory(row.work_bytes) for row in rows],
        "disagree-\nment": [Text(small(row.disagreement), style="" if is_close(row) else "bold red") for row in rows],
    }
    shown = {name: cells for name, cells in columns.items() if name not in left_out[1:]}
    for name in shown:
        out.add_column(name, justify="left" if name in ("method", "backend") else "right", no_wrap=True, vertical="bottom")
    for cells in zip(*shown.values(), strict=True):
        out.add_row(*cells)
    return out


def is_close(row: Row) -> bool:
    return row.disagreement is not None and row.disagreement <= TRUST


def compilation(row: Row) -> str:
    """Seconds for one state + for batches."""
    if row.compile_single is None:
        return "kept" if row.backend == "loops" else "–"
    return f"{row.compile_single:.1f} + {row.compile_batch or 0.0:.1f} s"


def text(c: Comparison, width: int = WIDTH, colours: bool = False) -> str:
    """Title, verdicts, table, and why some are not in it."""
    from rich.console import Console

    console = Console(file=StringIO(), width=width, highlight=False, force_terminal=colours, no_color=not colours)
    show(c, console)
    return console.file.getvalue().rstrip()  # type: ignore[attr-defined]


def show(c: Comparison, console: Any) -> None:
    from rich.markup import escape

    console.print(f"[bold]{escape(c.model['name'])}[/]: {escape(mechanism(c))}")
    for line in verdicts(c):
        console.print(escape(line))
    console.print()
    if any(row.ok for row in c.rows):
        console.print(table(c, console.width))
        for line in footnotes(c):
            console.print(f"[dim]{escape(line)}[/]")
    for status, rows in without_answer(c).items():
        console.print(f"\n[bold]{escape(status)}[/]")
        for names, reason in rows:
            console.print(f"  {escape(names)}: {escape(reason)}")


def footnotes(c: Comparison) -> list[str]:
    rows = [row for row in c.rows if row.ok]
    out = ["Times are the processor's, the least of the turns; spread: the middle half of the turns, above it. One thread."]
    if any(row.auto for row in rows):
        out.append("*  what method='auto' takes.")
    if any(row.gives != "q̈" for row in rows):
        out.append("(ṗ)  has no accelerations: timed are speeds from momenta and the momenta's rates; never called best.")
    if any(row.iterates for row in rows):
        step = c.settings["step"]
        out.append(f"Methods that iterate start from the last answer: all are timed on one motion in steps of {duration(step)}.")
    if any(row.backend == "loops" and row.compile_single is None for row in rows):
        out.append("kept: loops are the same for all models and come from the cache; cold=True (--cold) compiles them.")
    smaller = sorted({row.batch_size for row in rows if row.batch_size < c.settings["batch"]})
    if smaller:
        out.append(f"Slow methods had smaller batches, of {plural(smaller[0], 'state')} at least.")
    return out


def without_answer(c: Comparison) -> dict[str, list[tuple[str, str]]]:
    """{status: [(contenders, reason)]}: those with the same reason together."""
    same: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in c.rows:
        if not row.ok:
            reason = row.reason.replace(f"method {row.method!r} ", "", 1)
            same.setdefault((row.status, reason), {}).setdefault(row.method, []).append(row.backend)
    out: dict[str, list[tuple[str, str]]] = {}
    for (status, reason), found in same.items():
        by_backends: dict[str, list[str]] = {}
        for method, backends in found.items():
            by_backends.setdefault(", ".join(backends), []).append(method)
        names = "; ".join(f"{', '.join(methods)} · {backends}" for backends, methods in by_backends.items())
        out.setdefault(status, []).append((names, reason))
    return out
