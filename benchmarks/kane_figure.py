"""Figure 2 of [K]: operations of the inertia matrix against the number of links, printed and counted."""

from __future__ import annotations

import csv
import math
from itertools import combinations
from pathlib import Path

import numpy as np

from sharnir.reporting.pictures import new_figure

from .counts import count_rows, evaluate, fit
from .growth import crossings
from .kane_printed import TOTALS

COLOURS = {"kosynka": "#d55e00", "recursive": "#0072b2", "stepanenko": "#009e73", "composite": "#8a4f7d"}
"""After Okabe and Ito: safe for the colour-blind."""
LINKS = np.arange(1, 21)


def curves() -> dict[tuple[str, str], np.ndarray]:
    """Operations at 1 … 20 links, by algorithm, "printed" or "counted"."""
    found = {}
    for name in COLOURS:
        p = fit(lambda n, name=name: count_rows(f"inertia/{name}", n).total)
        found[name, "counted"] = np.array([evaluate(p, n) for n in LINKS])
        if name in TOTALS:
            found[name, "printed"] = np.array([sum(evaluate(p, n) for p in TOTALS[name]) for n in LINKS])
    return found


def write_csv(path: Path) -> None:
    """The numbers of the picture."""
    found = curves()
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["links", *(f"{name} {source}" for name, source in found)])
        out.writerows([int(n), *(f"{values[k]:g}" for values in found.values())] for k, n in enumerate(LINKS))


def places() -> str:
    """Where the curves change places, by the printed formulas and by our counts."""
    found, lines = curves(), []
    for source in ("printed", "counted"):
        by_name = {name: dict(zip(LINKS.tolist(), y.tolist(), strict=True)) for (name, s), y in found.items() if s == source}
        by_name = {name: {n: y for n, y in curve.items() if n > 1} for name, curve in by_name.items()}  # printed: −6 at one
        changes = []
        for a, b in combinations(by_name, 2):
            for c in crossings(by_name[a], by_name[b]):
                low, high = (b, a) if c.lower else (a, b)
                changes.append(f"{low} is the cheaper of {low} and {high} from {math.ceil(c.at)} links on")
        last = sorted(by_name, key=lambda name: by_name[name][int(LINKS[-1])])
        listed = "; ".join(changes) or "no two curves cross"
        lines.append(f"- {source.capitalize()}: {listed}. At {LINKS[-1]} links, from the cheapest: {', '.join(last)}.")
    return "\n".join(lines)


def draw(path: Path) -> None:
    figure = new_figure((8, 5.2), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    ends = []
    for (name, source), values in curves().items():
        axes.plot(LINKS, values / 1000, color=COLOURS[name], lw=1.8, ls=(0, (4, 2)) if source == "printed" else "-")
        ends.append((values[-1] / 1000, f"{name}, {source}", COLOURS[name]))
    top = 72.0
    for y, text, colour in _spread(sorted(ends), 2.5):
        if y < top:
            axes.annotate(text, (20, y), xytext=(6, 0), textcoords="offset points", va="center", color=colour, fontsize=9.5)
    kosynka = curves()["kosynka", "printed"] / 1000
    at = float(np.interp(62, kosynka, LINKS))
    axes.annotate("kosynka, printed", (at, 62), xytext=(-7, 0), textcoords="offset points", ha="right", va="center",
                  color=COLOURS["kosynka"], fontsize=9.5)  # fmt: skip
    axes.set(xlim=(1, 20), ylim=(0, top), xticks=[1, 5, 10, 15, 20], xlabel="links", ylabel="operations, thousands")
    axes.set_title("Multiplications and additions of the inertia matrix of a chain", loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3)
    figure.savefig(path)


def _spread(ends: list[tuple[float, str, str]], gap: float) -> list[tuple[float, str, str]]:
    """Labels from the lowest up, neighbours pushed apart, each half of the way, until none covers another."""
    y = [end[0] for end in ends]
    for _ in range(100):
        for k in range(len(y) - 1):
            push = max(0.0, gap - (y[k + 1] - y[k])) / 2
            y[k], y[k + 1] = y[k] - push, y[k + 1] + push
    return [(at, text, colour) for at, (_, text, colour) in zip(y, ends, strict=True)]
