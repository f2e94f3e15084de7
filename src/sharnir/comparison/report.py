"""A comparison as one HTML page with everything in it (`reporting/pages.py`)."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ..reporting.formats import duration, error, plural
from ..reporting.pages import SIZE, page, write_page
from ..simulation.results.storage import check_writable
from .charts import charts
from .page_charts import figure
from .summary import conclusions, footnotes, mechanism, without_answer
from .table import NAMES, measurements

if TYPE_CHECKING:
    from .comparison import Comparison


def write_report(c: Comparison, path: str | PathLike[str]) -> Path:
    check_writable(path, SIZE)
    return write_page(_page(c), path)


def _page(c: Comparison) -> str:
    shown = charts(c.rows)
    table = measurements(c)
    return page(
        "sharnir.comparison",
        "page.html",
        name=c.model["name"],
        mechanism=mechanism(c),
        joints=", ".join(f"{n} {kind}" for kind, n in c.model["joints"].items()),
        cards=_cards(c),
        conclusions=conclusions(c),
        charts=shown,
        figures={key: figure(chart) for key, chart in shown.items()},
        columns=table.columns[NAMES:],
        rows=list(zip([row for row in c.rows if row.ok], [cells[NAMES:] for cells in table.rows], strict=True)),
        footnotes=footnotes(c),
        missing=without_answer(c),
        oracle=c.oracle or "the oracle",
        settings=c.settings,
        facts={**c.machine, "measured in": duration(c.seconds), "status": c.status},
    )


def _cards(c: Comparison) -> list[tuple[str, str]]:
    """A number, and what it is."""
    best, batch, chosen, ratio = c.best, c.best_batch, c.chosen, c.behind("single")
    cards = []
    if best:
        cards.append((duration(best.time("single")), f"one state, by {best.label}"))
    if batch:
        cards.append((duration(batch.time("batch")), f"per state of a batch, by {batch.label}"))
    if chosen and ratio is not None:
        relative = "the fastest" if ratio < 1.005 else f"{ratio:.2f}×"
        cards.append((relative, f"the choice of method='auto' ({chosen.label}), relative to the fastest for one state"))
    if c.disagreement is not None:
        what = f"of {plural(sum(row.ok for row in c.rows), 'contender')} in {plural(c.settings['states'], 'state')}"
        cards.append((error(c.disagreement), f"largest relative disagreement with the oracle, {what}"))
    return cards
