"""A comparison as one HTML page with everything in it: it opens without a network, and asks none for anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..simulation.storage import check_writable
from .charts import charts
from .table import compilation, footnotes, is_close, without_answer
from .words import duration, mechanism, memory, number, plural, small, spread, total, verdicts

if TYPE_CHECKING:
    from .comparison import Comparison
    from .row import Row, Spread

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
"""The browser itself sees to it that nothing is fetched."""

CAPTIONS = {
    "single": ("Time of one state", "From the quickest turn (mark) to three quarters of the turns (line). Left is better."),
    "batch": ("Time per state of a batch", "The same, when many states are given at once; one thread."),
    "operations": ("Operations", "Straight-line code folds constants, drops zeros and shares equal parts of one model."),
    "against": ("Time over operations", "Rings: one state, with the cost of a call. Marks: in batches. Down and left is better."),
}


def write_report(c: Comparison, path: str | PathLike[str]) -> Path:
    check_writable(path, 6_000_000)
    Path(path).write_text(page(c), encoding="utf-8")
    return Path(path)


def page(c: Comparison) -> str:
    from plotly.offline import get_plotlyjs

    name, drawn = escape(c.model["name"]), charts(c)
    code = get_plotlyjs() if drawn else ""
    here = files(__package__)
    style, script = (here.joinpath(f"page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    body = [
        f"<header><h1>{name}</h1>\n<p>{escape(mechanism(c))}. {_joints(c)}</p></header>",
        _cards(c),
        *(f"<p>{escape(line)}</p>" for line in verdicts(c)),
        _figures(drawn),
        _numbers(c),
        _reasons(c),
        _measured(c),
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<link rel="icon" href="data:,">',
            f"<title>{name}: methods compared</title>",
            f"<style>\n{style}</style>",
            "</head>",
            "<body>",
            *body,
            f'<script type="application/json" id="charts">{_safe_json(drawn)}</script>',
            *([f"<script>{code}</script>", f"<script>\n{script}</script>"] if drawn else []),
            "</body>",
            "</html>",
            "",
        ]
    )


def _safe_json(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _joints(c: Comparison) -> str:
    kinds = c.model["joints"]
    return "Joints: " + escape(", ".join(f"{n} {kind}" for kind, n in kinds.items())) + "." if kinds else ""


def _cards(c: Comparison) -> str:
    best, batch, chosen = c.best, c.best_batch, c.chosen
    cards = []
    if best:
        cards.append((duration(best.time("single")), f"one state, by {best.label}"))
    if batch:
        cards.append((duration(batch.time("batch")), f"per state of a batch, by {batch.label}"))
    ratio = c.behind("single")
    if chosen and ratio is not None:
        told = "the quickest" if ratio < 1.005 else f"{ratio:.2f}×"
        cards.append((told, f"what method='auto' takes ({chosen.label}), against the quickest for one state"))
    if c.disagreement is not None:
        answered = sum(row.ok for row in c.rows)
        states = plural(c.settings["states"], "state")
        cards.append((small(c.disagreement), f"largest relative disagreement of {answered} with the oracle, {states}"))
    items = "".join(f"<li><b>{escape(figure)}</b><span>{escape(words)}</span></li>" for figure, words in cards)
    return f'<ul class="cards">{items}</ul>' if cards else ""


def _figures(drawn: dict[str, Any]) -> str:
    out = []
    for key in drawn:
        title, caption = CAPTIONS[key]
        label = f"{title}. The numbers are in the table below."
        out.append(
            f"<figure><h3>{title}</h3><figcaption>{caption}</figcaption>"
            f'<div id="chart-{key}" role="img" aria-label="{label}"></div></figure>'
        )
    return f'<h2>In pictures</h2>\n<div class="charts">{"".join(out)}</div>' if out else ""


# --- tables -----------------------------------------------------------------------------------------------------------------
Cell = tuple[str, float | int | None, str]
"""Text, what it is sorted by, class."""
COLUMNS: dict[str, Callable[[Comparison, Row], Cell]] = {
    "one state": lambda c, r: (duration(r.time("single")), r.time("single"), "best" if r is c.best else ""),
    "spread": lambda c, r: (spread(r.single), _width(r.single), "soft"),
    "per state\nof a batch": lambda c, r: (duration(r.time("batch")), r.time("batch"), "best" if r is c.best_batch else ""),
    "spread ": lambda c, r: (spread(r.batch), _width(r.batch), "soft"),
    "operations\nwritten": lambda c, r: (number(total(r, "written")), total(r, "written"), ""),
    "operations\ncompiled": lambda c, r: (number(total(r, "compiled")), total(r, "compiled"), ""),
    "compile,\none + batch": lambda c, r: (compilation(r), r.compile_single, ""),
    "code": lambda c, r: (memory(r.code_bytes), r.code_bytes, ""),
    "work": lambda c, r: (memory(r.work_bytes), r.work_bytes, ""),
    "disagree-\nment": lambda c, r: (small(r.disagreement), r.disagreement, "" if is_close(r) else "bad"),
}


def _width(s: Spread | None) -> float | None:
    return None if s is None else s.three_quarters / s.least


def _numbers(c: Comparison) -> str:
    rows = [row for row in c.rows if row.ok]
    if not rows:
        return ""
    head = "".join(f'<th data-kind="number" scope="col"><button>{name.strip()}</button></th>' for name in COLUMNS)
    names = "".join(f'<th class="name" scope="col"><button>{name}</button></th>' for name in ("method", "backend"))
    lines = []
    for row in rows:
        tag = '<span class="tag">auto</span>' if row.auto else ""
        shown = escape(row.method) + (" (ṗ)" if row.gives != "q̈" else "")
        title = escape("; ".join([row.what, f"batches of {row.batch_size}", *row.notes]), quote=True)
        cells = f'<th scope="row" title="{title}">{shown}{tag}</th><td class="name">{escape(row.backend)}</td>'
        for make in COLUMNS.values():
            text, value, kind = make(c, row)
            cells += f'<td data-value="{"" if value is None else value}"{f" class={kind}" if kind else ""}>{escape(text)}</td>'
        lines.append(f"<tr>{cells}</tr>")
    notes = "".join(f'<p class="soft">{escape(line)}</p>' for line in footnotes(c))
    return (
        "<h2>In numbers</h2>\n<p>Press a column's head to sort by it; rest on a method to read what it is.</p>\n"
        '<div class="scroll" tabindex="0" role="region" aria-label="All measurements"><table class="sortable">'
        f"<thead><tr>{names}{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>\n{notes}"
    )


def _reasons(c: Comparison) -> str:
    out = []
    for status, found in without_answer(c).items():
        lines = "".join(f"<tr><td>{escape(names)}</td><td>{escape(reason)}</td></tr>" for names, reason in found)
        out.append(
            f"<h2>{escape(status.capitalize())}</h2>\n"
            f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(status)}"><table class="long">'
            '<thead><tr><th class="name" scope="col">contender</th><th class="name" scope="col">why</th></tr></thead>'
            f"<tbody>{lines}</tbody></table></div>"
        )
    return "\n".join(out)


def _measured(c: Comparison) -> str:
    s = c.settings
    told = [
        f"Every contender answered in {plural(s['states'], 'random state')} (seed {s['seed']}), assembled where there are loops, "
        f"one at a time and as a batch; the largest difference from {c.oracle or 'the oracle'} is relative to the largest "
        "number of the state.",
        f"Times, of the processor: {s['rounds']} rounds at most, in which the contenders take turns of {duration(s['turn'])}, "
        f"so that the machine's noise falls on all alike; "
        f"on one motion in steps of {duration(s['step'])}, there and back; one thread.",
        "Compile: from an empty cache to the first answer, and to the first batch. Code: object code of both. Work: arrays kept "
        "between calls and the most that one more call allocates.",
    ]
    facts = {**c.machine, "measured in": duration(c.seconds), "status": c.status}
    items = "".join(f"<dt>{escape(str(key))}</dt><dd>{escape(str(value))}</dd>" for key, value in facts.items())
    return "<h2>How it was measured</h2>\n" + "".join(f"<p>{escape(x)}</p>" for x in told) + f"\n<dl>{items}</dl>"
