"""HTML pages with everything in them: they open offline, and their policy forbids the browser to fetch anything.

`templates/base.html` is the head of every page, `templates/colours.css` its colours, dark and light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .formats import duration, plural

if TYPE_CHECKING:
    from jinja2 import Environment


def templates(package: str) -> Environment:
    """The templates of a package, and those that all pages share: everything is escaped, and an undefined name is an error."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(package), PackageLoader("sharnir.reporting")])
    out = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    out.filters |= {"duration": duration, "plural": plural}
    out.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "allow_nan": False}
    return out
