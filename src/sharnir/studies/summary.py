"""A study in a few lines of text, and in tables: how its runs ended, the range of every output, which inputs gave its ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import shortened
from ..reporting.formats import MISSING, count, plural
from ..reporting.table import Table as TextTable
from .pictures.columns import RUN, Column, Table, by_run, read_table, runs, statuses
from .statuses import COMPLETED, NOT_RUN

if TYPE_CHECKING:
    from xarray import Dataset

MOST_INPUTS = 6
"""Inputs named where an output is least or greatest."""
WIDEST = 60
"""Characters of a cell."""
MOST_MESSAGES, LONGEST_MESSAGE = 3, 300
"""Messages shown for every way in which runs fail, and characters of each."""
FAILED_ROWS = 200


class Counts(NamedTuple):
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
            for k, message in enumerate(way.messages):
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


# --- the tables of its page
class Ending(NamedTuple):
    status: str
    runs: str
    messages: list[str]


class Extremes(NamedTuple):
    """Extremes of an output, over the runs that count."""

    label: str
    least: str
    least_at: str
    mean: str
    most: str
    most_at: str
    missing: str


def endings(ds: Dataset, table: Table) -> tuple[list[Ending], list[list[str]]]:
    """Ways in which runs ended, each with its first messages; and the rows of failed runs: number, inputs, status, message."""
    said = by_run(ds, "message", table.dims, table.shape) if "message" in ds else np.full(len(table), "")
    status = table.status.astype(str)
    found = []
    for name, n in statuses(table).items():
        first = np.flatnonzero(status == name)[:1000].tolist() if name not in COMPLETED else []
        texts = list(dict.fromkeys(_short(said[k]) for k in first if str(said[k])))
        found.append(Ending(name, count(n), texts[:MOST_MESSAGES]))
    inputs = [c for c in table.inputs if c.varies]
    failed = np.flatnonzero(~table.ok)[:FAILED_ROWS].tolist()
    rows = [[str(k), *(c.text(k) for c in inputs), status[k], _short(said[k]) or MISSING] for k in failed]
    return found, rows


def _short(message: Any) -> str:
    return shortened(" ".join(str(message).split()), LONGEST_MESSAGE)


def ranges(table: Table) -> list[tuple[str, str, str]]:
    """Label of every input, its values in words, and how many there are."""
    out = []
    for c in table.inputs:
        n = len(c.words) or len(np.unique(c.finite))
        if c.words:
            text = ", ".join(c.words[:8]) + (f" and {n - 8} more" if n > 8 else "")
        else:
            text = " … ".join(f"{x:.6g}" for x in ([c.finite.min(), c.finite.max()] if n > 1 else c.finite[:1])) or MISSING
        out.append((c.label, text, count(n)))
    return out


def extremes(table: Table) -> list[Extremes]:
    out = []
    for c in table.outputs:
        missing = count(len(table) - len(c.finite))
        if c.words or not len(c.finite):
            words = ", ".join(c.words[:8]) or MISSING
            out.append(Extremes(c.label, words, "", MISSING, MISSING, "", missing))
            continue
        (low, high), mean = c.extremes, f"{c.finite.mean():.6g}"
        out.append(Extremes(c.label, c.text(low), table.where(low), mean, c.text(high), table.where(high), missing))
    return out


def kind_of(table: Table) -> str:
    """`grid of 3 × 4`, `design`, `single run`."""
    if table.dims == (RUN,):
        return "design"
    return f"grid of {' × '.join(map(str, table.shape))}" if table.dims else "single run"
