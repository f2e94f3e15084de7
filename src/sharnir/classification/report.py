"""A classification in words: a tree on the screen, and one page with every matrix, its numbers and the methods that solve it."""

from __future__ import annotations

from io import StringIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
DRAWN = 40_000
"""Numbers of a matrix up to which it is drawn on the page."""


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
        mark = "" if node.fits else "[yellow]does not fit[/]: " + escape(node.why_not)
        label = f"[bold]{node.title}[/] [cyan]{escape(node.equation)}[/]  {mark or escape(summary(node))}"
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


def summary(node: Node) -> str:
    """Unknowns, non-zeros, band, factors and growth in a line."""
    facts = []
    if node.matrix is not None:
        facts.append(f"{plural(node.size, 'unknown')}: " + " ".join(f"{letter} ({n})" for letter, n in node.unknowns if n))
        facts += [f"{count(node.nonzeros)} non-zeros", f"band {node.band}"]
    if node.cost is not None:
        facts.append(f"factors {count(node.cost.entries)}" + f" ({count(node.cost.fill)} fill-in)" * bool(node.cost.fill))
    if node.growth is not None:
        facts.append("factors ∝ {}, multiplications ∝ {}".format(*map(power, node.growth)))
    return ", ".join(facts)


def power(p: float) -> str:
    """N, N², or N to a power that was counted."""
    nearest = round(p)
    return f"N{['⁰', '', '²', '³'][nearest]}" if abs(p - nearest) < 0.1 and 0 <= nearest <= 3 else f"N^{p:.1f}"


def write_report(c: Classification, path: str | PathLike[str]) -> Path:
    check_writable(path, SIZE)
    nodes = list(c)
    assembled = [node for node in nodes if node.matrix is not None]
    filled = page(
        "sharnir.classification", "page.html", figures={}, c=c, nodes=nodes, mechanism=mechanism(c), missing=MISSING, count=count,
        cards={n.name: cards(n) for n in nodes}, letters=definitions()["letters"],
        matrices={n.name: drawing(n) for n in assembled},
    )  # fmt: skip
    return write_page(filled, path)


def cards(node: Node) -> list[tuple[str, str]]:
    """Pairs of a number and what it is."""
    out = []
    if node.matrix is not None:
        share = node.nonzeros / max(node.size**2, 1)
        out.append((count(node.size), "unknowns: " + " + ".join(f"{k} {letter}" for letter, k in node.unknowns if k)))
        out.append((count(node.nonzeros), f"non-zeros in this state, {share:.1%} of the matrix"))
        out.append((count(node.band), "half-bandwidth, unknowns ordered body by body"))
    if node.cost is not None:
        out.append((count(node.cost.entries), f"numbers in the factors, {count(node.cost.fill)} of them fill-in"))
        out.append((count(node.cost.multiplications), "multiplications to factorise"))
    if node.growth is not None:
        out.append((", ".join(map(power, node.growth)), "growth of both, N bodies"))
    return out


def drawing(node: Node) -> dict[str, Any]:
    """The matrix and its right-hand side as the page draws them."""
    (rows, columns, values), ends = node.entries, np.cumsum([0, *(n for _, n in node.unknowns)]).tolist()
    groups = [[letter, at, n] for (letter, n), at in zip(node.unknowns, ends, strict=False) if n]
    square = {"n": node.size, "groups": groups, "names": [name for name, _ in node.labels], "order": node.by_body.tolist()}
    if len(values) > DRAWN:
        return square | {"i": [], "j": [], "x": [], "b": []}
    x, b = ([float(f"{x:.4g}") for x in numbers.tolist()] for numbers in (values, node.right))
    return square | {"i": rows.tolist(), "j": columns.tolist(), "x": x, "b": b}
