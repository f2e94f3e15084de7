"""Pictures of parameter studies, chosen by what the study is and what is asked for; and the page of a study, one HTML file with
everything in it (`reporting/pages.py`): tables, and charts that answer the mouse.

Parallel coordinates and the scatter matrix are drawn on a canvas by the page itself: those of plotly.js compile code while they
run, which the policy of our pages forbids. The response surface is plotly's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...errors import StateError, brief, choices
from ...reporting.atomic_write import check_suffix, check_writable, file_path
from ...reporting.formats import count
from ...reporting.pages import SIZE, Json, page, write_page
from ...types import IntArray
from ..summary import FAILED_ROWS, endings, extremes, kind_of, ranges
from .columns import RUN, Column, Table, caption, inputs_of, left_out, outputs_of, read_table, sample, thinned_grid
from .drawing import FAILED, WORD_COLOURS, chosen, colour_column, scale_of
from .runs import parallel_coordinates, scatter_matrix
from .surface import response_surface

if TYPE_CHECKING:
    from matplotlib.figure import Figure
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


KINDS = ("parallel", "scatter", "surface", "page")
OPTIONS = {
    "parallel": ("names", "color"), "scatter": ("names", "color"), "surface": ("output", "x", "y"), "page": ("title",),
}  # fmt: skip
"""Options of each kind."""
FEW_DIMENSIONS = 3
"""Most inputs of a grid that is drawn as a surface by default; for a design, one less."""


def plot_study(
    ds: Dataset,
    path: str | PathLike[str] | None = None,
    kind: str | None = None,
    *,
    names: Sequence[str] = (),
    color: str | None = None,
    output: str | None = None,
    x: str | None = None,
    y: str | None = None,
    title: str | None = None,
) -> Figure | Path:
    """A picture of a study: a Matplotlib figure, or the path of a page.

    path    a file: .png, .svg, .pdf; .html for an interactive page that opens offline
    kind    "parallel": parallel coordinates; "scatter": a scatter matrix; "surface": an output over inputs; "page".
            None: a page for .html, a surface where few inputs vary, otherwise parallel coordinates
    names   columns of parallel coordinates and scatter matrices; none: as many as are legible
    color   the input or output that colours their runs; None: the first output that varies
    output  that of a surface; None: the first one
    x, y    inputs of a surface; None: the first two that vary
    title   that of a page
    """
    if kind is not None and kind not in KINDS:
        raise StateError(f"unknown kind of picture {brief(kind)}; {choices(kind, KINDS, 'kinds')}")
    given: dict[str, object] = {"names": tuple(names) or None, "color": color, "output": output, "x": x, "y": y, "title": title}
    given = {name: value for name, value in given.items() if value is not None}
    if isinstance(names, str):
        raise StateError(f"names: expected a list of names, got {names!r}; write [{names!r}]")
    if kind is None:
        kind = _kind(ds, path, given)
    for name in given:
        if name not in OPTIONS[kind]:
            fits = " and ".join(repr(k) for k, options in OPTIONS.items() if name in options)
            raise StateError(f"{name} is not for pictures of kind {kind!r}, but for {fits}")
    if kind == "page":
        if path is None:
            raise StateError("a page is a file: give its name, path='study.html'")
        return study_page(ds, path, title)
    if kind == "surface":
        return response_surface(ds, output if output is not None else _first_output(ds), x, y, path)
    return (parallel_coordinates if kind == "parallel" else scatter_matrix)(ds, *names, color=color, path=path)


def _kind(ds: Dataset, path: str | PathLike[str] | None, given: dict[str, object]) -> str:
    """Kind of picture: a page by its suffix; otherwise the kind that has the options given, and then what suits the study."""
    if path is not None and file_path(path).suffix.lower() in SUFFIXES:
        return "page"
    for kind in ("surface", "parallel"):
        if any(name in OPTIONS[kind] for name in given):
            return kind
    varied = sum(ds[name].size > 1 for name in inputs_of(ds))
    return "surface" if outputs_of(ds) and 1 <= varied <= FEW_DIMENSIONS - (RUN in ds.dims) else "parallel"


def _first_output(ds: Dataset) -> str:
    found = outputs_of(ds)
    if not found:
        raise StateError("the study has no output that is one value per run: there is no surface to draw")
    return next((name for name in found if ds[name].dtype.kind in "iuf"), found[0])
