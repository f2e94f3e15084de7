"""Texts of the studio about a model, a run and a comparison, as HTML. Everything that comes from a file is escaped: names of
bodies are text, whatever they contain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from ...comparison.comparison import Comparison
from ...comparison.summary import conclusions, footnotes, without_answer
from ...comparison.table import measurements
from ...model.import_report import VERDICTS
from ...model.model import Model
from ...reporting.formats import plural
from ...simulation.results.result import Result
from ..page.facts import energy_account, loops, sentence, tree, warnings_of
from .folder import Opened

MOST_PLACES = 60
"""Lines of an import report."""
STYLE = (
    "<style>.st{font-size:.82em;line-height:1.45;overflow-wrap:anywhere;padding:.2em .9em}"
    ".st h4{margin:.8em 0 .2em;font-size:1em}.st p{margin:.3em 0}"
    ".st pre{white-space:pre-wrap;font-size:.95em;margin:.3em 0}"
    ".st table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}"
    ".st td,.st th{padding:.12em .5em .12em 0;text-align:left;vertical-align:top;border-bottom:1px solid #8883}"
    ".st td+td,.st th+th{text-align:right;white-space:nowrap}"
    ".st .wide{overflow-x:auto}.st .wide td,.st .wide th{white-space:nowrap}"
    ".st .named td:nth-child(-n+3),.st .named th:nth-child(-n+3){text-align:left}"
    ".st .words td+td,.st .words th+th{text-align:left;white-space:normal}"
    ".st .soft{opacity:.65}.st .bad{color:#d0453a}</style>"
)


def block(*parts: str) -> str:
    """One piece of the page."""
    return f'{STYLE}<div class="st">{"".join(parts)}</div>'


def table(rows: Iterable[Sequence[str]], head: Sequence[str] = (), kind: str = "") -> str:
    cells = "".join(f"<tr>{''.join(f'<td>{escape(str(x))}</td>' for x in row)}</tr>" for row in rows)
    top = f"<tr>{''.join(f'<th>{escape(x)}</th>' for x in head)}</tr>" if head else ""
    return f'<div class="{kind}"><table>{top}{cells}</table></div>'


def paragraphs(lines: Iterable[str], kind: str = "") -> str:
    return "".join(f'<p class="{kind}">{escape(line)}</p>' for line in lines)


def model_text(opened: Opened, mobility: str) -> str:
    """Name, freedoms, tree with masses, loops, parameters."""
    model = opened.model
    branches, left_out = tree(model)
    freedoms, *reasons = mobility.splitlines() or [""]
    rows = "".join(
        f'<tr><td style="padding-left:{b.depth}em">{escape(b.body)}<br><span class="soft">{escape(b.joint)}</span></td>'
        f"<td>{escape(b.mass)} kg</td></tr>"
        for b in branches
    )
    parts = [
        f"<h4>{escape(model.name)}</h4>",
        paragraphs([sentence(model)]),
        paragraphs(freedoms.split("; ")),
        f"<table>{rows}</table>",
    ]
    if left_out:
        parts.append(paragraphs([f"and {plural(left_out, 'more body', 'more bodies')}"], "soft"))
    if closing := loops(model):
        parts += ["<h4>Loops and constraints</h4>", paragraphs(closing), paragraphs(reasons, "soft")]
    if opened.notes:
        parts += [paragraphs(opened.notes, "bad")]
    return block(*parts)


def import_text(model: Model) -> str:
    """The import report: what was done with each part of the file."""
    report = model.import_report
    if report is None:
        return block(paragraphs(["sharnir's own format says everything: nothing was converted"], "soft"))
    parts = [paragraphs([report.summary()])]
    for verdict, meaning in VERDICTS.items():
        groups = report.groups(verdict)
        if groups:
            rows = [(f"{len(places)} × {what}", why or places[0]) for what, why, places in groups[:MOST_PLACES]]
            more = paragraphs([f"and {len(groups) - MOST_PLACES} more"], "soft") if len(groups) > MOST_PLACES else ""
            parts += [f"<h4>{escape(verdict)}: {escape(meaning)}</h4>", table(rows, kind="words"), more]
    return block(*parts)


def run_text(result: Result, warnings: Sequence[str] = ()) -> str:
    """How it ended, the account of energy, the summary."""
    said = [*warnings_of(result), *warnings]
    return block(
        *([f"<h4>Warnings</h4>{paragraphs(said, 'bad')}"] if said else []),
        "<h4>Energy, J</h4>" + table(energy_account(result), ("", "start", "end", "change")) if len(result) else "",
        "<h4>Summary</h4>",
        f"<pre>{escape(result.summary())}</pre>",
    )


def comparison_text(c: Comparison) -> str:
    """The fastest, and the measurements."""
    shown = measurements(c)
    head = [column.title.replace("\n", " ") for column in shown.columns]
    rows = [[cell.text for cell in row] for row in shown.rows]
    parts = [paragraphs(conclusions(c)), table(rows, head, "wide named") if rows else "", paragraphs(footnotes(c), "soft")]
    for status, reasons in without_answer(c).items():
        parts.append(f"<h4>{escape(status)}</h4>" + table([(names, why) for names, why in reasons], kind="words"))
    return block(*parts)
