"""A classification in words: a tree on the screen, and one page with every matrix, its numbers and the methods that solve it."""

from __future__ import annotations

from io import StringIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..model.mobility import counted_bodies
from ..reporting.atomic_write import check_writable
from ..reporting.formats import MISSING, count, duration, plural
from ..reporting.pages import page, write_page
from .classify import definitions

if TYPE_CHECKING:
    from rich.console import Console

    from .classification import Classification, Node

SIZE = 4_000_000
"""Bytes of a page, most of which are numbers of matrices."""
DRAWN, SAID = 20_000, 1_000
"""Numbers of a matrix up to which it is drawn on the page, and up to which each tells its value."""


def text(c: Classification) -> str:
    """The classification as text: the model, then the tree."""
    from rich.console import Console

    out = StringIO()
    show(c, Console(file=out, width=150, highlight=False, no_color=True))
    return out.getvalue().rstrip()


def show(c: Classification, console: Console) -> None:
    from rich.markup import escape
    from rich.tree import Tree

    console.print(f"[bold]{escape(c.model.name)}[/]: {escape(mechanism(c))}")
    branches: dict[str, Tree] = {}
    for node in c:
        numbers = ", ".join(map(" ".join, facts(node)))
        mark = "" if node.fits else "[yellow]does not fit[/]: " + escape(node.why_not)
        label = f"[bold]{node.title}[/] [cyan]{escape(node.equation)}[/]  {mark or escape(numbers)}"
        branches[node.name] = branches[node.parent].add(label) if node.parent else Tree(label)
        for use in node.methods:
            cost = [f"{count(use.operations.total)} operations"] if use.operations else []
            cost += [f"{duration(use.predicted)} predicted"] if use.predicted else []
            cost += [f"{duration(use.measured)} measured"] if use.measured else []
            why_not = escape(use.why_not.removeprefix(f"method {use.name!r} "))
            how = f"[dim]{why_not}[/]" if use.why_not else ", ".join(cost)
            branches[node.name].add(f"method [green]{use.name}[/]{'*' * use.auto}  {how}")
    console.print(branches[c.root.name])
    console.print(escape(f"*  the choice of method='auto': {c.why}"))


def mechanism(c: Classification) -> str:
    return f"{counted_bodies(len(c.model.bodies), len(c.model.structure.deformations))}, {c.mobility.summary}"


def facts(node: Node) -> list[tuple[str, str]]:
    """Pairs of a number and what it is."""
    out = []
    if node.matrix is not None:
        out.append((plural(node.size, "unknown"), " ".join(f"{letter} ({n})" for letter, n in node.unknowns if n)))
        out.append((count(node.nonzeros), "non-zeros"))
        out.append((count(node.band), "half-bandwidth"))
    if node.cost is not None:
        out.append((count(node.cost.entries), f"in the factors, {count(node.cost.fill)} of them fill-in"))
        out.append((count(node.cost.multiplications), "multiplications"))
    if node.growth is not None:
        out.append(("∝ {}, ∝ {}".format(*map(power, node.growth)), "growth of both"))
    return out


def power(p: float) -> str:
    """N, N², or N to a power that was counted."""
    nearest = round(p)
    return f"N{['⁰', '', '²', '³'][nearest]}" if abs(p - nearest) < 0.1 and 0 <= nearest <= 3 else f"N^{p:.1f}"


def write_report(c: Classification, path: str | PathLike[str]) -> Path:
    check_writable(path, SIZE)
    nodes = list(c)
    filled = page(
        __package__, "page.html", figures={}, c=c, nodes=nodes, mechanism=mechanism(c), missing=MISSING, count=count,
        facts={node.name: facts(node) for node in nodes}, letters=definitions()["letters"],
        pictures={node.name: pictures(node) for node in nodes},
    )  # fmt: skip
    return write_page(filled, path)


def pictures(node: Node) -> list[tuple[str, list[tuple[int, int, str]]]]:
    """Numbers of the matrix and of the right-hand side beside it, as written and body by body: column, row, and what is said."""
    if node.matrix is None or node.nonzeros > DRAWN:
        return []
    (rows, columns, values), n, right = node.entries, node.size, np.flatnonzero(node.right)
    rows, columns = np.append(rows, right), np.append(columns, np.full(len(right), n))
    values, names = np.append(values, node.right[right]), [*(name for name, _ in node.labels), "right-hand side"]
    said = [""] * len(values)
    if len(values) <= SAID:
        said = [f"{names[i]}, {names[j]}: {x:.4g}" for i, j, x in zip(rows, columns, values, strict=True)]
    orders = {"Matrix and right-hand side": np.arange(n), "Ordered body by body": node.by_body}
    if (node.by_body == np.arange(n)).all():
        del orders["Ordered body by body"]
    out = []
    for title, order in orders.items():
        place = [*np.argsort(order).tolist(), n + max(1, n // 20)]
        out.append((title, [(place[j], place[i], text) for i, j, text in zip(rows, columns, said, strict=True)]))
    return out
