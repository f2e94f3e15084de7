"""A comparison as one HTML page with everything in it: it opens offline, and its policy forbids the browser to fetch anything.

The page is made by the templates in `templates/`: everything is escaped, and an undefined name is an error.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ..reporting.formats import duration, error, plural
from ..reporting.pages import templates
from ..reporting.whole_file import file_path, whole_file
from ..simulation.storage import check_writable
from .charts import charts
from .page_charts import figure
from .summary import conclusions, footnotes, mechanism, without_answer
from .table import NAMES, measurements

if TYPE_CHECKING:
    from .comparison import Comparison

SIZE = 6_000_000
"""Bytes of a page, nearly all of them plotly.js."""


def write_report(c: Comparison, path: str | PathLike[str]) -> Path:
    check_writable(path, SIZE)
    text = page(c)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
    return file_path(path)


def page(c: Comparison) -> str:
    from plotly.offline import get_plotlyjs

    shown = charts(c.rows)
    table = measurements(c)
    return (
        templates("sharnir.comparison")
        .get_template("page.html")
        .render(
            name=c.model["name"],
            mechanism=mechanism(c),
            joints=", ".join(f"{n} {kind}" for kind, n in c.model["joints"].items()),
            cards=_cards(c),
            conclusions=conclusions(c),
            charts=shown,
            figures={key: figure(chart) for key, chart in shown.items()},
            plotly=get_plotlyjs() if shown else "",
            columns=table.columns[NAMES:],
            rows=list(zip([row for row in c.rows if row.ok], [cells[NAMES:] for cells in table.rows], strict=True)),
            footnotes=footnotes(c),
            missing=without_answer(c),
            oracle=c.oracle or "the oracle",
            settings=c.settings,
            facts={**c.machine, "measured in": duration(c.seconds), "status": c.status},
        )
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
