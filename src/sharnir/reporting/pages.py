"""HTML pages with everything in them: they open offline, and their policy forbids the browser to fetch anything.

A page is a template of its package that extends `templates/base.html`, the head and the colours, dark and light; or
`frame.html`, which adds the looks of a text with charts; `parts.html` has numbers and tables for it. Everything is escaped, and
an undefined name is an error. Charts are plotly figures by name, `figures`; each is drawn in the colours of the page into the
element `chart-<name>`, unless the page draws them itself (block `drawing`).
"""

from __future__ import annotations

from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .atomic_write import atomic_write, file_path
from .formats import duration, plural

if TYPE_CHECKING:
    from jinja2 import Environment

SIZE = 6_000_000
"""Bytes of a page with charts, most of which are plotly.js."""
Json = dict[str, Any]


def page(package: str, template: str, *, figures: dict[str, Json], **values: Any) -> str:
    """The text of a page, from a template of a package."""
    plotly = ""
    if figures:
        from plotly.offline import get_plotlyjs

        plotly = get_plotlyjs()
    return templates(package).get_template(template).render(figures=figures, plotly=plotly, **values)


def write_page(text: str, path: str | PathLike[str]) -> Path:
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")
    return file_path(path)


@cache
def templates(package: str) -> Environment:
    """Templates of the package, then those that all pages share."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(package), PackageLoader("sharnir.reporting")])
    out = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    out.filters |= {"duration": duration, "plural": plural}
    out.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "allow_nan": False}
    return out
