"""Objects as small tables, pages in frames and bars of progress in a notebook. IPython is never imported, only found."""

from __future__ import annotations

import sys
from base64 import b64encode
from collections.abc import Sequence
from gzip import compress
from html import escape
from math import isnan
from time import perf_counter
from typing import Any

from .formats import duration
from .table import Table

Fact = tuple[str, object, str]
"""Name, value, and unit of the value."""
HEIGHT = 620
"""Pixels of a frame."""
LARGEST = 2_500_000
"""Characters of an output: Jupyter's server drops more than 3 MB in 3 s."""
REST = 0.2
"""Seconds between two updates of a bar, each a message to the browser."""
LOADER = """<script>(async () => {
  const packed = Uint8Array.from(atob("%s"), c => c.charCodeAt(0));
  const page = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const text = await new Response(page).text();
  document.open(); document.write(text); document.close();
})()</script>"""
"""A page that unpacks another, three quarters of which are three.js."""


def kernel_shell() -> Any:
    """The shell of a Jupyter kernel; None anywhere else, IPython on a terminal included."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell if hasattr(shell, "kernel") else None


class Shown:
    """An object that a notebook shows as a small table, and `print` as one line: subclasses say what it is, and its facts."""

    def _facts(self) -> tuple[str, Sequence[Fact]]:
        raise NotImplementedError

    def _texts(self) -> tuple[str, list[tuple[str, str, str]]]:
        """The facts as text, without counts of nothing, empty texts, and what is not a number."""
        name, facts = self._facts()
        kept = [fact for fact in facts if (not isnan(fact[1]) if isinstance(fact[1], float) else fact[1])]
        texts = [(what, f"{x:.6g}" if isinstance(x, float) else str(x), unit) for what, x, unit in kept]
        return f"{type(self).__name__} {name!r}", texts

    def _repr_html_(self) -> str:
        title, texts = self._texts()
        return Table.of_text([("", "", ""), *texts]).html(title)

    def __str__(self) -> str:
        title, texts = self._texts()
        return f"{title}: {', '.join(' '.join(part for part in row if part) for row in texts)}"


def frame(**attributes: str) -> str:
    """A frame as wide as the notebook, for `src` or `srcdoc`."""
    given = " ".join(f'{name}="{escape(text)}"' for name, text in attributes.items())
    return f'<iframe {given} allowfullscreen style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'


class Page(str):
    """The text of an HTML page, which a notebook shows in a frame."""

    def _repr_html_(self) -> str:
        packed = b64encode(compress(self.encode(), mtime=0)).decode()
        if len(packed) > LARGEST:
            return f'A page of {len(packed) / 1e6:.1f} MB is more than Jupyter takes: write it to a file, animate("run.html").'
        return frame(srcdoc=LOADER % packed, sandbox="allow-scripts allow-downloads")

    def __repr__(self) -> str:
        return f"<Page of {len(self) / 1e6:.2f} MB>"


class NotebookBar:
    """A bar of progress in the output of a cell. In the end it is a line: taken back, it would leave an empty output."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._handle: Any = None
        self._next = 0.0

    def update(self, share: float, text: str) -> None:
        if perf_counter() >= self._next:
            self._next = perf_counter() + REST
            bar = f'<progress value="{share:.4f}" style="width: 20em; vertical-align: middle"></progress>'
            self._show(f"{bar} {share:.0%}&ensp;{escape(text)}")

    def end(self, how: str, seconds: float) -> None:
        if self._handle is not None:
            self._show(f'<span style="opacity: 0.7">{escape(self._title)}: {how} {duration(seconds)}</span>')

    def _show(self, html: str) -> None:
        data = {"text/html": html}
        if self._handle is None:
            self._handle = sys.modules["IPython"].display.display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)
