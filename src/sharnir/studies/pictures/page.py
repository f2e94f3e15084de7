"""A study as one HTML page with everything in it (`reporting/pages.py`): tables, and charts that answer the mouse.

Parallel coordinates and the scatter matrix are drawn on a canvas by the page itself: those of plotly.js compile code while they
run, which the policy of our pages forbids. The response surface is plotly's.
"""

from __future__ import annotations

from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...reporting.atomic_write import check_suffix, check_writable
from ...reporting.formats import count
from ...reporting.pages import SIZE, Json, page, write_page
from ...types import IntArray
from ..summary import FAILED_ROWS, endings, extremes, kind_of, ranges
from .columns import Column, Table, caption, left_out, read_table, sample, thinned_grid
from .drawing import FAILED, WORD_COLOURS, chosen, colour_column, scale_of

if TYPE_CHECKING:
    from xarray import Dataset

SUFFIXES = (".html", ".htm")


def study_page(ds: Dataset, path: str | PathLike[str], title: str | None = None) -> Path:
    """One self-contained page that opens offline: how the runs ended, ranges of inputs and outputs, parallel coordinates and a
    scatter matrix in which runs are chosen with the mouse, a response surface, the failed runs."""
    check_suffix(path, SUFFIXES)
    check_writable(path, SIZE)
    table = read_table(ds)
    data, drawn = charts(table)
    ends, failed = endings(ds, table)
    n_failed = int((~table.ok).sum())
    text = page(
        "sharnir.studies.pictures",
        "study.html",
        figures={"study": data},
        title=title or table.title,
        caption=caption(table, drawn, left_out(table)),
        cards=[
            (count(len(table)), f"{'run' if len(table) == 1 else 'runs'} ({kind_of(table)})"),
            (count(n_failed), "failed"),
            (count(sum(c.varies for c in table.inputs)), "inputs vary"),
            (count(len(table.outputs)), "outputs"),
        ],
        endings=ends,
        ranges=ranges(table),
        extremes=extremes(table),
        varying=[c.label for c in table.inputs if c.varies],
        failed=failed,
        more_failed=count(n_failed) if n_failed > FAILED_ROWS else "",
        surface=bool(table.inputs and any(not c.words for c in table.outputs)),
    )
    return write_page(text, path)


RUNS = 4000
"""Most runs drawn in the charts."""
NODES = 20_000
"""Most nodes of a grid, for the response surface."""
PARALLEL, MATRIX = 10, 5
"""Columns that are drawn at first."""


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
    own = {name: getattr(c, name) for name in ("name", "label", "role", "units", "words", "varies")}
    return own | asdict(scale_of(c))


def _values(table: Table, columns: list[Column], rows: IntArray) -> Json:
    """Numbers for JSON, with as many digits as a chart can show."""
    values = [[float(f"{x:.7g}") if np.isfinite(x) else None for x in c.values[rows].tolist()] for c in columns]
    return {"ok": table.ok[rows].astype(int).tolist(), "values": values}


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
