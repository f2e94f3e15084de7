"""A study in a few lines of text: how its runs ended, the range of every output, and which inputs gave its ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..reporting.formats import MISSING, count, plural
from ..reporting.table import Table as TextTable
from .pictures.captions import runs
from .pictures.columns import Column, Table, read_table
from .pictures.page_data import endings, kind_of
from .statuses import NOT_RUN

if TYPE_CHECKING:
    from xarray import Dataset

MOST_INPUTS = 6
"""Inputs named where an output is least or greatest."""
WIDEST = 60
"""Characters of a cell."""
MOST_MESSAGES = 3
"""Messages shown for every way in which runs fail."""


class Counts(NamedTuple):
    """Numbers of runs of a study."""

    all: int
    done: int
    """Runs that were made, failed ones too."""
    failed: int


def counted(ds: Dataset) -> Counts:
    table = read_table(ds, [])
    made = ~np.isin(table.status.astype(str), ("", NOT_RUN))
    return Counts(len(table), int(made.sum()), int((made & ~table.ok).sum()))


def summary(ds: Dataset) -> str:
    """How many runs there are, what became of those that failed, and the range of every output."""
    n = counted(ds)
    title = str(ds.attrs.get("title") or "study")
    if not n.done:
        return f"{title}: none of {runs(n.all)} done"
    table = read_table(ds)
    made = runs(n.all) if n.done == n.all else f"{count(n.done)} of {runs(n.all)} done"
    failed = "none failed" if not n.failed else f"{count(n.failed)} failed" if n.failed < n.done else "all failed"
    lines = [f"{title}: {made} ({kind_of(table)}), {failed}", *_failures(ds, table)]
    if table.outputs and n.failed < n.done:
        head = ("output", "min", "with", "mean", "max", "with")
        lines.append(TextTable.of_text([head, *(_row(table, c) for c in table.outputs)]).plain(WIDEST))
    if table.left_out:
        are = "is" if len(table.left_out) == 1 else "are"
        lines.append(f"{', '.join(table.left_out)} {are} more than one number per run: not shown here")
    return "\n".join(lines)


def _failures(ds: Dataset, table: Table) -> Iterator[str]:
    for way in endings(ds, table)[0]:
        if way.status not in ("", NOT_RUN) and way.messages:
            for k, message in enumerate(way.messages[:MOST_MESSAGES]):
                yield f"  {f'{way.runs} {way.status}: ' if not k else '  '}{message}"


def _row(table: Table, c: Column) -> tuple[str, ...]:
    if c.words or not len(c.finite):
        return c.label, MISSING, "", MISSING, MISSING, ""
    low, high = c.extremes
    return c.label, c.text(low), _inputs(table, low), f"{c.finite.mean():.6g}", c.text(high), _inputs(table, high)


def _inputs(table: Table, row: int) -> str:
    varied = [c for c in table.inputs if c.varies]
    shown = ", ".join(f"{c.name} = {c.text(row)}" for c in varied[:MOST_INPUTS])
    more = f" and {plural(len(varied) - MOST_INPUTS, 'more input')}" if len(varied) > MOST_INPUTS else ""
    return (shown + more if table.is_grid else f"run {row}: {shown}{more}").rstrip(": ")
