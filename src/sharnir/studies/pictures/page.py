"""A study as one HTML page with everything in it (`reporting/pages.py`): tables, and charts that answer the mouse.

Parallel coordinates and the scatter matrix are drawn on a canvas by the page itself: those of plotly.js compile code while they
run, which the policy of our pages forbids. The response surface is plotly's.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ...reporting.atomic_write import check_suffix, check_writable
from ...reporting.formats import count
from ...reporting.pages import SIZE, page, write_page
from .captions import caption, left_out
from .columns import read_table
from .page_data import FAILED_ROWS, charts, endings, extremes, kind_of, ranges

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
