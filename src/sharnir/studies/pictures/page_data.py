"""Data of the page of a study: numbers for its charts, rows of its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import shortened
from ...reporting.formats import MISSING, count
from ...reporting.pages import Json
from ...types import FloatArray, IntArray
from ..statuses import COMPLETED
from .captions import statuses
from .colours import WORD_COLOURS, colour_column
from .columns import RUN, Column, Table, by_run
from .drawing import FAILED, chosen
from .sampling import sample, thinned_grid
from .scales import scale_of

if TYPE_CHECKING:
    from xarray import Dataset

RUNS = 4000
"""Most runs drawn in the charts."""
NODES = 20_000
"""Most nodes of a grid, for the response surface."""
FAILED_ROWS = 200
FIRST_MESSAGES = 3
LONGEST_MESSAGE = 300
PARALLEL, MATRIX = 10, 5
"""Columns that are drawn at first."""


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


def charts(table: Table) -> tuple[Json, IntArray]:
    """The numbers of all charts, and which runs are drawn."""
    columns = [*table.inputs, *table.outputs]
    rows = sample(table, columns, RUNS)
    first, _ = chosen(columns, PARALLEL)
    few, _ = chosen([c for c in columns if c.varies] or columns, MATRIX)
    by = colour_column(table.columns, table.outputs, None)
    at = {c.name: k for k, c in enumerate(columns)}
    data = {
        "columns": [_about(c) for c in columns],
        "runs": {"index": rows.tolist(), **_values(table, columns, rows)},
        "grid": _grid(table, columns, rows, at),
        "parallel": [at[c.name] for c in first],
        "matrix": [at[c.name] for c in few],
        "colour": at[by.name] if by else -1,
        "failed": FAILED,
        "palette": list(WORD_COLOURS),
    }
    return data, rows


def _about(c: Column) -> Json:
    scale = scale_of(c)
    return {
        "name": c.name, "label": c.label, "role": c.role, "units": c.units, "words": list(c.words), "varies": c.varies,
        "low": scale.low, "high": scale.high, "log": scale.log, "ticks": list(scale.ticks), "texts": list(scale.texts),
    }  # fmt: skip


def _values(table: Table, columns: list[Column], rows: IntArray) -> Json:
    return {"ok": table.ok[rows].astype(int).tolist(), "values": [_numbers(c.values[rows]) for c in columns]}


def _numbers(values: FloatArray) -> list[float | None]:
    """Numbers for JSON, with as many digits as a chart can show."""
    return [float(f"{x:.7g}") if np.isfinite(x) else None for x in values.tolist()]


def _grid(table: Table, columns: list[Column], drawn: IntArray, at: dict[str, int]) -> Json | None:
    """The nodes of a grid for the response surface; None for a design. Without values, the runs are the nodes."""
    if not table.is_grid or not table.dims:
        return None
    kept = thinned_grid(table.shape, NODES)
    shape = [len(k) for k in kept]
    if np.prod(shape, dtype=float) > NODES:  # so many inputs that two values of each are too many nodes
        return None
    out: Json = {"dims": [at[d] for d in table.dims], "shape": shape}
    if len(drawn) == len(table):
        return out
    rows = np.arange(len(table)).reshape(table.shape)[np.ix_(*kept)].reshape(-1)
    return {**out, **_values(table, columns, rows)}


def endings(ds: Dataset, table: Table) -> tuple[list[Ending], list[list[str]]]:
    """Ways in which runs ended, each with its first messages; and the rows of failed runs: number, inputs, status, message."""
    said = by_run(ds, "message", table.dims, table.shape) if "message" in ds else np.full(len(table), "")
    status = table.status.astype(str)
    found = []
    for name, n in statuses(table).items():
        first = np.flatnonzero(status == name)[:1000].tolist() if name not in COMPLETED else []
        texts = list(dict.fromkeys(_short(said[k]) for k in first if str(said[k])))
        found.append(Ending(name, count(n), texts[:FIRST_MESSAGES]))
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
        elif not n:
            text = MISSING
        elif n == 1:
            text = f"{c.finite[0]:.6g}"
        else:
            text = f"{c.finite.min():.6g} … {c.finite.max():.6g}"
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
        low, high = c.extremes
        mean = f"{c.finite.mean():.6g}"
        out.append(Extremes(c.label, c.text(low), table.where(low), mean, c.text(high), table.where(high), missing))
    return out


def kind_of(table: Table) -> str:
    """`grid of 3 × 4`, `design`, `single run`."""
    if table.dims == (RUN,):
        return "design"
    return f"grid of {' × '.join(map(str, table.shape))}" if table.dims else "single run"
