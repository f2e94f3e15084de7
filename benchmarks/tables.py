"""Tables of text: aligned for a terminal, or in Markdown. The first row is the head."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

Table = Sequence[Sequence[str]]


def plain(table: Table, widest: int = 100) -> str:
    """Columns aligned; a cell beyond `widest` characters goes on in the lines below it."""
    rows = [[wrap(cell.replace("**", ""), widest) or [""] for cell in row] for row in table]
    widths = [max(len(line) for row in rows for line in row[k]) for k in range(len(table[0]))]
    lines = []
    for at, row in enumerate(rows):
        for k in range(max(map(len, row))):
            parts = ((cell[k] if k < len(cell) else "").ljust(w) for cell, w in zip(row, widths, strict=True))
            lines.append("  ".join(parts).rstrip())
        if at == 0:
            lines.append("  ".join("-" * w for w in widths))
    return "\n".join(lines)


def markdown(table: Table) -> str:
    head, *body = [f"| {' | '.join(row)} |" for row in table]
    return "\n".join([head, "|" + "---|" * len(table[0]), *body])
