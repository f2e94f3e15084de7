"""Table 1 and Figure 2 of [K], printed and counted: `python -m benchmarks.kane_table [--out docs/results]`."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import sharnir as sh
from sharnir.backends.counting import Count
from sharnir.reporting.table import Table

from .counts import add, compiled, count_from_joints, count_parts, count_rows, evaluate, fit, general_chain, product_RMR, shown
from .harness import SETTINGS, results
from .kane_figure import draw, places
from .kane_figure import write_csv as write_figure_csv
from .kane_printed import ALGORITHMS, BY_ITS_OWN_RULES, TABLE_1, TOTALS, Row

N = 6
"""Joints of the arm in [K]'s example that move at one time."""

Formulas = tuple[Sequence[float], Sequence[float]]


def formulas(count: Callable[[int], Count]) -> Formulas:
    """Multiplications and additions as polynomials in N, from a function that counts at N."""
    return fit(lambda n: count(n).multiplications), fit(lambda n: count(n).additions)


def revolute_only(n: int) -> Count:
    """What the recursive kernel would cost if it knew of revolute joints only: row 1 not needed, row 10 the bare product."""
    parts = count_parts("recursive", n)
    rows = [parts[row.kernel] for row in TABLE_1 if row.kernel not in ("row_masses", "row_A")]
    return add(*rows, *[product_RMR()] * (n * (n + 1) // 2))


def cells(p: Formulas) -> list[str]:
    m, a = (evaluate(x, N) for x in p)
    return [shown(p[0]), shown(p[1]), f"{m:g} + {a:g} = {m + a:g}"]


def rows() -> Iterator[tuple[Row, Formulas, Formulas]]:
    """Each row of Table 1: what it is, printed, counted."""
    for row in TABLE_1:
        counted = formulas(lambda n, row=row: count_parts("recursive", n)[row.kernel])
        yield row, (row.multiplications, row.additions), counted


def totals() -> Iterator[tuple[str, str, Formulas]]:
    """Each algorithm: its name, the source of the count, the count."""
    sums = [[sum(c) for c in zip_longest(*(row[k] for row in TABLE_1), fillvalue=0)] for k in (2, 3)]
    yield "recursive", "as printed", TOTALS["recursive"]
    yield "recursive", "the printed rows added up", (sums[0], sums[1])
    yield "recursive", "corrected, every row by [K]'s rules", BY_ITS_OWN_RULES
    yield "recursive", "counted", formulas(lambda n: count_rows("recursive", n))
    yield "recursive", "rows 2–9 counted, row 10 the bare RᵀMR", formulas(revolute_only)
    for name in ALGORITHMS[1:]:
        if name in TOTALS:
            yield name, "as printed", TOTALS[name]
        yield name, "counted", formulas(lambda n, name=name: count_rows(name, n))


def rows_table() -> list[list[str]]:
    head = ["row", "what", "[K] ×", "[K] +", f"[K], N = {N}", "ours ×", "ours +", f"ours, N = {N}", "why they differ"]
    return [head, *([row.number, row.what, *cells(printed), *cells(counted), row.why] for row, printed, counted in rows())]


def totals_table() -> list[list[str]]:
    return [["inertia matrix", "source", "×", "+", f"N = {N}"], *([name, source, *cells(p)] for name, source, p in totals())]


def whole_table() -> list[list[str]]:
    head = [
        "inertia matrix",
        "× from joints on",
        "+ from joints on",
        f"N = {N}",
        f"compiled, chain of {N}",
        "compiled, manipulator",
    ]
    chain, arm = general_chain(N), sh.samples.manipulator()
    body = []
    for name in ALGORITHMS:
        written = cells(formulas(lambda n, name=name: count_from_joints(name, n)))
        body.append([name, *written, _sum(compiled(name, chain)), _sum(compiled(name, arm))])
    return [head, *body]


def _sum(c: Count) -> str:
    functions = f" + {c.functions} sin, cos" if c.functions else ""
    return f"{c.multiplications} + {c.additions}{functions} = {c.total}"


ROWS_TEXT = (
    "Chains of N revolute joints in general position, every joint and body different. The printed formula stands beside the "
    "one through our counts: exact interpolation, verified at further N. Ours are the operations our kernels do as they are "
    "written, those on zeros included; each row is a function of `kernels/kane.py`. They serve trees and joints of any kind, "
    "[K]'s rows chains of revolute joints. Printed rows have misprints of their own (docs/theory/errata.md)."
)
TOTALS_TEXT = (
    "The scope of Table 1: all vectors are in the axes the algorithm works in already (those of the world for recursive and "
    "kosynka, those of the bodies for the others). Kosynka is our reading of a name: [K] takes its count from a dissertation."
)
WHOLE_TEXT = (
    "Conversion to world axes, [K] (1)–(6), is not in Table 1. *From joints on* adds it for the two algorithms that need it: "
    "the cost to compare by. *Compiled* is everything from coordinates to matrix, with the joints' own sines, once constants "
    "are folded, zeros are gone and equal parts are shared: what the machine does. The manipulator has seven joints with axes "
    "along x, y, z."
)


FIGURE_TEXT = (
    "Dashed: the formulas of Table 1. Solid: our kernels, counted in the same scope. The recursive kernel serves joints of any "
    "kind, and its entries pay for that; kept to revolute joints it would cost what the "
    "fifth line of totals says, a sum of counts and not a kernel that was run."
)


def sections() -> list[tuple[str, str, list[list[str]]]]:
    return [
        ("Row by row", ROWS_TEXT, rows_table()),
        ("Totals", TOTALS_TEXT, totals_table()),
        ("From joints to matrix, and compiled", WHOLE_TEXT, whole_table()),
    ]


def write_csv(path: Path) -> None:
    """All formulas, one a line."""
    lines = [[f"row {row.number}", source, p] for row, a, b in rows() for source, p in (("as printed", a), ("counted", b))]
    lines += [list(total) for total in totals()]
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["what", "source", "multiplications", "additions", f"multiplications at {N}", f"additions at {N}"])
        for what, source, p in lines:
            out.writerow([what, source, shown(p[0]), shown(p[1]), *(f"{evaluate(x, N):g}" for x in p)])


def write_markdown(path: Path, parts: list[tuple[str, str, list[list[str]]]]) -> None:
    text = [
        "# Table 1 and Figure 2 of [K], printed and counted",
        "Made by `python -m benchmarks kane`. Counts, the same on every machine.",
    ]
    for title, words, table in parts:
        text += [f"## {title}", words, Table.of_text(table).markdown()]
    text += ["## Figure 2", FIGURE_TEXT, places(), "![operations against the number of links](kane_fig2.png)"]
    path.write_text("\n\n".join(text) + "\n", encoding="utf-8")


def main(quick: bool = False, write: bool = True) -> None:
    parts = sections()
    for title, _, table in parts:
        print(f"\n{title}\n{Table.of_text(table).plain(60, ruled=True)}")
    if write:
        out = results()
        write_markdown(out / "kane_table.md", parts)
        write_csv(out / "kane_table.csv")
        write_figure_csv(out / "kane_fig2.csv")
        draw(out / "kane_fig2.png")
        print(f"\nwritten to {out}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kane_table", description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for kane_table.md, kane_table.csv, kane_fig2.png and kane_fig2.csv")
    SETTINGS.out = parser.parse_args().out
    main(write=SETTINGS.out is not None)
