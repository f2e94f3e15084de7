"""One table, shown as plain text, as Markdown, as HTML, or by rich on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from rich.table import Table as RichTable

Item = TypeVar("Item")


class Cell(NamedTuple):
    text: str
    value: float | None = None
    """The value that a page sorts by."""
    style: str = ""
    """A key of `STYLES`, or a style of rich; a page uses it as a class."""


class Column(NamedTuple):
    title: str
    """A line break is one in the head."""
    numeric: bool = False
    """Whether cells are aligned to the right."""
    dropped: int = 0
    """Rank among columns that a narrow terminal drops: 1 goes first, 0 never."""


STYLES = {"best": "bold", "muted": "dim", "bad": "bold red"}


@dataclass(frozen=True)
class Table:
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    @classmethod
    def of_text(cls, rows: Iterable[Iterable[str]]) -> Table:
        """A table of texts, the first row of which is the head."""
        head, *body = rows
        return cls([Column(title) for title in head], [[Cell(text) for text in row] for row in body])

    def _lines(self) -> list[list[str]]:
        return [[c.title for c in self.columns], *([cell.text for cell in row] for row in self.rows)]

    def plain(self, widest: int = 1000, ruled: bool = False) -> str:
        """Aligned columns; a cell longer than `widest` is wrapped; `ruled`: a line below the head."""
        rows = [[wrap(text.replace("**", ""), widest) or [""] for text in row] for row in self._lines()]
        widths = [max(len(line) for row in rows for line in row[k]) for k in range(len(self.columns))]
        out = []
        for at, row in enumerate(rows):
            for k in range(max(map(len, row))):
                parts = ((cell[k] if k < len(cell) else "").ljust(w) for cell, w in zip(row, widths, strict=True))
                out.append("  ".join(parts).rstrip())
            if ruled and at == 0:
                out.append("  ".join("-" * w for w in widths))
        return "\n".join(out)

    def markdown(self) -> str:
        head, *body = [f"| {' | '.join(row)} |" for row in self._lines()]
        return "\n".join([head, "|" + "---|" * len(self.columns), *body])

    def html(self, caption: str = "") -> str:
        """A table for a notebook, in the colours of the page around it, dark or light."""
        sides = ["right" if column.numeric else "left" for column in self.columns]
        out = f'<table><caption style="text-align: left; font-weight: bold">{_html(caption)}</caption>'
        for k, row in enumerate(self._lines()):
            tag = "td" if k else "th"
            cells = (f'<{tag} style="text-align: {side}">{_html(text)}</{tag}>' for side, text in zip(sides, row, strict=True))
            out += f"<tr>{''.join(cells)}</tr>" * any(row)
        return f"{out}</table>"

    def rich(self, width: int) -> RichTable:
        """A rich table for a terminal of so many characters; columns are dropped until it fits."""
        from rich.console import Console

        console = Console(width=1000, file=StringIO())
        out = self._rich(0)
        for dropped in sorted({c.dropped for c in self.columns} - {0}):
            if console.measure(out).maximum <= width:
                break
            out = self._rich(dropped)
        return out

    def _rich(self, dropped: int) -> RichTable:
        from rich.table import Table as RichTable
        from rich.text import Text

        out = RichTable(box=None, padding=(0, 1), header_style="bold", pad_edge=False)
        shown = [k for k, c in enumerate(self.columns) if not 0 < c.dropped <= dropped]
        for k in shown:
            column = self.columns[k]
            out.add_column(Text(column.title), justify="right" if column.numeric else "left", no_wrap=True, vertical="bottom")
        for row in self.rows:
            out.add_row(*(Text(row[k].text, style=STYLES.get(row[k].style, row[k].style)) for k in shown))
        return out


def _html(text: str) -> str:
    return escape(text).replace("\n", "<br>")


class PrintedList(list[Item], Generic[Item]):
    """A list that prints as a table: subclasses define the head, and the row of an item."""

    head: ClassVar[tuple[str, ...]]

    @staticmethod
    def row(item: Item) -> Sequence[str]:
        raise NotImplementedError

    def __str__(self) -> str:
        return Table.of_text([self.head, *map(self.row, self)]).plain()

    __repr__ = __str__
