"""Texts of the studio about a model, a run and a comparison, as HTML by `templates/texts.html`. All that comes from a file is
escaped: names of bodies are text, whatever they contain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...comparison.comparison import Comparison
from ...comparison.report import conclusions, footnotes, measurements, without_answer
from ...model.import_report import VERDICTS
from ...model.model import Model
from ...reporting.pages import templates
from ...simulation.results.result import Result
from ..page.facts import energy_account, loops, sentence, tree, warnings_of
from .folder import Opened

MOST_PLACES = 60
"""Lines of an import report."""


def _html(macro: str, *values: object) -> str:
    """A text by its macro in the template."""
    return str(getattr(templates(__package__).get_template("texts.html").module, macro)(*values))


def sentences(lines: Iterable[str], kind: str = "") -> str:
    """Sentences, a paragraph each; `kind`: soft or bad."""
    return _html("sentences", lines, kind)


def model_text(opened: Opened, mobility: str) -> str:
    """Name, freedoms, tree with masses, loops, parameters."""
    model = opened.model
    freedoms, *reasons = mobility.splitlines() or [""]
    about = (model.name, sentence(model), freedoms.split("; "))
    return _html("model", *about, *tree(model), loops(model), reasons, opened.notes)


def import_text(model: Model) -> str:
    """The import report: what was done with each part of the file."""
    report = model.import_report
    if report is None:
        return sentences(["sharnir's own format says everything: nothing was converted"], "soft")
    verdicts = []
    for verdict, meaning in VERDICTS.items():
        if groups := report.groups(verdict):
            rows = [(f"{len(places)} × {what}", why or places[0]) for what, why, places in groups[:MOST_PLACES]]
            verdicts.append((f"{verdict}: {meaning}", rows, max(0, len(groups) - MOST_PLACES)))
    return _html("imported", report.summary(), verdicts)


def run_text(result: Result, warnings: Sequence[str] = ()) -> str:
    account = energy_account(result) if len(result) else []
    return _html("run", [*warnings_of(result), *warnings], account, result.summary())


def comparison_text(c: Comparison) -> str:
    shown = measurements(c)
    head = [column.title.replace("\n", " ") for column in shown.columns]
    rows = [[cell.text for cell in row] for row in shown.rows]
    return _html("comparison", conclusions(c), head, rows, footnotes(c), without_answer(c))
