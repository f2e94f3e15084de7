"""Table 1 and Figure 2 of [K], printed and counted, and the vector b: `python -m benchmarks.kane_table [--out docs/results]`."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import sharnir as sh
from sharnir.backends.counting import Count
from sharnir.reporting.table import Table

from .counts import add, compiled, count_from_joints, count_parts, count_rows, evaluate, fit, general_chain, shown
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


def cells(p: Formulas) -> list[str]:
    m, a = (evaluate(x, N) for x in p)
    return [shown(p[0]), shown(p[1]), f"{m:g} + {a:g} = {m + a:g}"]


def rows() -> Iterator[tuple[Row, Formulas, Formulas]]:
    """Each row of Table 1: what it is, printed, counted."""
    for row in TABLE_1:
        counted = formulas(lambda n, row=row: count_parts("inertia/recursive", n)[row.kernel])
        yield row, (row.multiplications, row.additions), counted


def totals() -> Iterator[tuple[str, str, Formulas]]:
    """Each algorithm: its name, the source of the count, the count."""
    sums = [[sum(c) for c in zip_longest(*(row[k] for row in TABLE_1), fillvalue=0)] for k in (2, 3)]
    yield "recursive", "as printed", TOTALS["recursive"]
    yield "recursive", "the printed rows added up", (sums[0], sums[1])
    yield "recursive", "corrected, every row by [K]'s rules", BY_ITS_OWN_RULES
    yield "recursive", "counted", formulas(lambda n: count_rows("inertia/recursive", n))
    yield "recursive", "counted, origins beside the axes", formulas(lambda n: count_rows("inertia/recursive", n, beside=True))
    for name in ALGORITHMS[1:]:
        if name in TOTALS:
            yield name, "as printed", TOTALS[name]
        yield name, "counted", formulas(lambda n, name=name: count_rows(f"inertia/{name}", n))


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
        written = cells(formulas(lambda n, name=name: count_from_joints(f"inertia/{name}", n)))
        body.append([name, *written, _sum(compiled(f"inertia/{name}", chain)), _sum(compiled(f"inertia/{name}", arm))])
    return [head, *body]


def b_table() -> list[list[str]]:
    """The vector b, step by step, and beside the bias by two sweeps in body axes; A and b together."""

    def parts(*names: str, program: str = "bias/recursive") -> list[str]:
        return cells(formulas(lambda n: add(*(count_parts(program, n)[name] for name in names))))

    def both(matrix: str, bias: str, shared: tuple[str, ...] = ()) -> list[str]:
        def count(n: int) -> Count:
            twice = add(*(count_parts(bias, n)[name] for name in shared))
            return count_from_joints(f"inertia/{matrix}", n) + count_from_joints(bias, n) - twice

        return cells(formulas(count))

    lines = [["", "×", "+", f"N = {N}"]]
    lines += [["b, " + what, *parts(name)] for name, what in STEPS_OF_B.items()]
    lines.append(["**b**, all vectors in the axes of the world", *parts(*STEPS_OF_B)])
    lines.append(["conversion of wrenches (7)", *parts("row_wrench")])
    lines.append(["conversion (1), (2), (6), the same for A", *parts("poses", "to_world")])
    lines.append(["b from joints on", *cells(formulas(lambda n: count_from_joints("bias/recursive", n)))])
    lines.append(["the same by sweeps in body axes, `bias`", *cells(formulas(lambda n: count_from_joints("bias", n)))])
    lines.append(["A and b by [K] from joints on", *both("recursive", "bias/recursive", ("poses", "to_world"))])
    lines.append(["A by [K], b by sweeps", *both("recursive", "bias")])
    lines += [[f"A by {name}, b by sweeps", *both(name, "bias")] for name in ("stepanenko", "composite")]
    return lines


STEPS_OF_B = {
    "row_motion": "motion of the bodies (3)–(5)",
    "row_body_forces": "inertial forces and moments (11)",
    "row_force_sums": "their sums (17)–(19)",
    "row_b": "projection (21)",
}


def _sum(c: Count) -> str:
    functions = f" + {c.functions} sin, cos" if c.functions else ""
    return f"{c.multiplications} + {c.additions}{functions} = {c.total}"


ROWS_TEXT = (
    "Chains of N revolute joints in general position, every joint and body different. The printed formula stands beside the "
    "one through our counts: exact interpolation, verified at further N. Ours are the operations our kernels do as they are "
    "written, those on zeros included; each row is a function of `kernels/kane.py`. They serve trees and joints of any kind; of "
    "a chain of revolute joints through the origins of its bodies they do what [K] does, because they ask the structure which "
    "joints are hinges. Printed rows have misprints of their own (docs/theory/errata.md)."
)
TOTALS_TEXT = (
    "The scope of Table 1: all vectors are in the axes the algorithm works in already (those of the world for recursive and "
    "kosynka, those of the bodies for the others). *Origins beside the axes*: the same chain with origins of bodies off the "
    "axes, so that joints shift them; the terms that [K] leaves out with T_rel = 0 then act in every row. [K] takes the count of "
    '"kosynka" from a dissertation and states no recurrences; the name of ours, the sum (9) over the triangle, is our choice, '
    "and its count is not a check of the printed one."
)
WHOLE_TEXT = (
    "Conversion to world axes, [K] (1)–(6), is not in Table 1. *From joints on* adds it for the two algorithms that need it: "
    "the cost to compare by. *Compiled* is everything from coordinates to matrix, with the joints' own sines, once constants "
    "are folded, zeros are gone and equal parts are shared: what the machine does. The manipulator has seven joints with axes "
    "along x, y, z."
)
B_TEXT = (
    "[K] counts A only. The steps of b are functions of `kernels/kane_forces.py`, on the same chains; (19b) is summed as a "
    "recursion. Bodies carry wrenches."
)


def compiled_forces_text() -> str:
    """Compiled counts of both ways to b, in words."""
    chain, arm = general_chain(N), sh.samples.manipulator()
    counts = {
        what: [_sum(compiled(name, model)) for name in ("bias/recursive", "bias")]
        for what, model in ((f"chain of {N}", chain), ("manipulator", arm))
    }
    both = "; ".join(f"{what}, {a} by [K], {b} by sweeps" for what, (a, b) in counts.items())
    return f"Compiled, from coordinates and speeds to b, without wrenches: {both}."


FIGURE_TEXT = "Dashed: the formulas of Table 1. Solid: our kernels, counted in the same scope, on chains of revolute joints."


def headline_text() -> str:
    """[K]'s claim, the recursive algorithm against Stepanenko's at six joints, in the scopes it may be read in."""
    scopes = {
        "printed": {name: sum(evaluate(p, N) for p in TOTALS[name]) for name in ("recursive", "stepanenko")},
        "counted in the scope of Table 1": {x: count_rows(f"inertia/{x}", N).total for x in ("recursive", "stepanenko")},
        "from joints on": {x: count_from_joints(f"inertia/{x}", N).total for x in ("recursive", "stepanenko")},
        "compiled": {x: compiled(f"inertia/{x}", general_chain(N)).total for x in ("recursive", "stepanenko")},
    }
    pairs = {scope: (x["recursive"], x["stepanenko"]) for scope, x in scopes.items()}
    says = [f"- {scope}: {a:g} against {b:g}, {'holds' if a < b else 'does not hold'}" for scope, (a, b) in pairs.items()]
    costs = {x: {n: count_from_joints(f"inertia/{x}", n).total for n in range(2, 40)} for x in ("recursive", "stepanenko")}
    first = next((n for n in costs["recursive"] if costs["recursive"][n] < costs["stepanenko"][n]), None)
    last = "With the conversion the recursive algorithm is the cheaper one " + (
        f"from {first} links on." if first else "nowhere."
    )
    return (
        f"[K]: at N = {N} the recursive algorithm takes fewer operations than Stepanenko's.\n\n" + "\n".join(says) + f"\n\n{last}"
    )


def sections() -> list[tuple[str, str, list[list[str]]]]:
    return [
        ("Row by row", ROWS_TEXT, rows_table()),
        ("Totals", TOTALS_TEXT, totals_table()),
        ("From joints to matrix, and compiled", WHOLE_TEXT, whole_table()),
        ("The right-hand side b", f"{B_TEXT} {compiled_forces_text()}", b_table()),
    ]


def write_csv(path: Path) -> None:
    """All formulas, one a line."""
    lines = [[f"row {row.number}", source, p] for row, a, b in rows() for source, p in (("as printed", a), ("counted", b))]
    lines += [list(total) for total in totals()]
    steps = {**STEPS_OF_B, "": "together"}
    for name, what in steps.items():
        names = (name,) if name else tuple(STEPS_OF_B)
        counted = formulas(lambda n, names=names: add(*(count_parts("bias/recursive", n)[x] for x in names)))
        lines.append([f"b, {what}", "counted", counted])
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["what", "source", "multiplications", "additions", f"multiplications at {N}", f"additions at {N}"])
        for what, source, p in lines:
            out.writerow([what, source, shown(p[0]), shown(p[1]), *(f"{evaluate(x, N):g}" for x in p)])


def write_markdown(path: Path, parts: list[tuple[str, str, list[list[str]]]]) -> None:
    text = [
        "# Table 1, Figure 2 and the vector b of [K], printed and counted",
        "Made by `python -m benchmarks kane`. Counts, the same on every machine.",
    ]
    for title, words, table in parts:
        text += [f"## {title}", words, Table.of_text(table).markdown()]
    text += [
        "## The claim",
        headline_text(),
        "## Figure 2",
        FIGURE_TEXT,
        places(),
        "![operations against the number of links](kane_fig2.png)",
    ]
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
