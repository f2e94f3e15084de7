"""The measurements of a comparison as one table, for the terminal and for the page; and the whole comparison as text."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING

from ..reporting.formats import MISSING, count, duration, error, memory
from ..reporting.table import Cell, Column, Table
from .comparison import TRUST
from .summary import conclusions, footnotes, mechanism, without_answer

if TYPE_CHECKING:
    from rich.console import Console

    from .comparison import Comparison
    from .row import Row, Spread

WIDTH = 140
"""Characters of a line where there is no terminal."""
COLOURS = {"llvm": "cyan", "loops": "green", "python": "yellow", "sparse": "magenta", "dense": "magenta"}
NAMES = 3
"""The first columns, which name a row."""


def measurements(c: Comparison) -> Table:
    """A row for each contender with an answer: rank, method, backend, then the numbers."""
    rows = [row for row in c.rows if row.ok]
    names = [Column("", numeric=True, dropped=8), Column("method"), Column("backend")]
    return Table(
        [*names, *(column for column, _ in NUMBERS)],
        [
            [Cell(f"{k}", k), Cell(row.name + "*" * row.auto), Cell(row.backend, style=COLOURS.get(row.backend, ""))]
            + [cell(c, row) for _, cell in NUMBERS]
            for k, row in enumerate(rows, 1)
        ],
    )


def _time(kind: str) -> Callable[[Comparison, Row], Cell]:
    return lambda c, row: Cell(duration(row.time(kind)), row.time(kind), "best" if row is c.fastest(kind) else "")


def _spread(kind: str) -> Callable[[Comparison, Row], Cell]:
    """Cells that say where the middle half of the samples lies above the minimum: +2…9 %."""

    def cell(c: Comparison, row: Row) -> Cell:
        s: Spread | None = getattr(row, kind)
        if s is None or s.turns < 2:
            return Cell(MISSING, style="muted")
        low, high = (100.0 * (x / s.least - 1.0) for x in (s.quarter, s.three_quarters))
        return Cell(f"+{low:.0f}…{high:.0f} %", high, "muted")

    return cell


def _operations(kind: str) -> Callable[[Comparison, Row], Cell]:
    return lambda c, row: Cell(count(row.operations(kind)), row.operations(kind))


def _compilation(c: Comparison, row: Row) -> Cell:
    """Seconds for single states + for batches."""
    if row.compile_single is None:
        return Cell("cached" if row.backend == "loops" else MISSING)
    return Cell(f"{row.compile_single:.1f} + {row.compile_batch or 0.0:.1f} s", row.compile_single)


def _disagreement(c: Comparison, row: Row) -> Cell:
    close = row.disagreement is not None and row.disagreement <= TRUST
    return Cell(error(row.disagreement), row.disagreement, "" if close else "bad")


NUMBERS: list[tuple[Column, Callable[[Comparison, Row], Cell]]] = [
    (Column("one\nstate", True), _time("single")),
    (Column("spread", True, dropped=2), _spread("single")),
    (Column("batch,\nper state", True), _time("batch")),
    (Column("spread", True, dropped=1), _spread("batch")),
    (Column("operations\nwritten", True, dropped=6), _operations("written")),
    (Column("operations\ncompiled", True, dropped=7), _operations("compiled")),
    (Column("compile,\none + batch", True, dropped=5), _compilation),
    (Column("code", True, dropped=4), lambda c, row: Cell(memory(row.code_bytes), row.code_bytes)),
    (Column("work", True, dropped=3), lambda c, row: Cell(memory(row.work_bytes), row.work_bytes)),
    (Column("disagree-\nment", True), _disagreement),
]


def text(c: Comparison, width: int = WIDTH) -> str:
    """The comparison as text: title, conclusions, table, and why some contenders are not in it."""
    from rich.console import Console

    out = StringIO()
    show(c, Console(file=out, width=width, highlight=False, no_color=True))
    return out.getvalue().rstrip()


def show(c: Comparison, console: Console) -> None:
    from rich.markup import escape

    console.print(f"[bold]{escape(c.model['name'])}[/]: {escape(mechanism(c))}")
    for line in conclusions(c):
        console.print(escape(line))
    console.print()
    if any(row.ok for row in c.rows):
        console.print(measurements(c).rich(console.width))
        for line in footnotes(c):
            console.print(f"[dim]{escape(line)}[/]")
    for status, rows in without_answer(c).items():
        console.print(f"\n[bold]{escape(status)}[/]")
        for names, reason in rows:
            console.print(f"  {escape(names)}: {escape(reason)}")
