"""The statements of [I] about its methods, checked against a run: numbers, and a verdict that follows from them."""

from __future__ import annotations

import math
from itertools import pairwise

from sharnir.reporting.formats import figures
from sharnir.reporting.table import Table

from .figure1_models import CHAINS, TREES, Subject
from .figure1_plan import ITERATIVE, LINEAR, Measured, Plan
from .growth import crossings, exponent, last_decade

PAPER_MS = {1: (50, 80.0), 2: (30, 60.0), 3: (30, 60.0)}
"""Ends of the axes of the paper's panels: bodies, milliseconds."""

TELLING = 500
"""Freedoms of the largest mechanism from which an exponent is taken for a law of growth: before, lower powers of N count."""

Claim = tuple[str, str, bool | None]


def claims(chains: Measured, trees: Measured, steps: Measured, plan: Plan) -> str:
    found = [
        linear(chains, trees, plan),
        cubic(chains, plan),
        quadratic(chains, trees, plan),
        large_constant(2, "separate", chains, plan),
        large_constant(3, "lagrange1", chains, plan),
        freedoms(chains, plan),
        binary(chains, trees, plan),
        structure(chains, trees, plan),
        small_steps(steps, plan),
        speed(chains, plan),
    ]
    verdicts = {True: "agrees", False: "differs", None: "—"}
    return Table.of_text(
        [["the paper", "this run", ""], *([claim, seen, verdicts[holds]] for claim, seen, holds in found)]
    ).markdown()


class Tails:
    """Exponents of curves over their last decades."""

    def __init__(self, measured: Measured, subjects: list[Subject], methods: tuple[str, ...], plan: Plan) -> None:
        curves = [(s, measured.curve(s.shape, s.axes, m, plan.loops)) for s in subjects for m in methods]
        found = [(p, s.axes * max(c)) for s, c in curves if c and (p := exponent(c, *last_decade(c))) is not None]
        self.exponents = [p for p, _ in found]
        self.freedoms = min((reach for _, reach in found), default=0)
        """Of the largest mechanism that was measured, where a curve ends first."""

    @property
    def shown(self) -> str:
        if not self.exponents:
            return "not measured"
        low, high = min(self.exponents), max(self.exponents)
        return f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}"

    def within(self, low: float, high: float) -> bool | None:
        """Whether all are, or None where mechanisms were too small for the law to show."""
        return all(low <= p <= high for p in self.exponents) if self.freedoms >= TELLING else None

    def remark(self) -> str:
        small = self.exponents and self.freedoms < TELLING
        return f"; curves end at {self.freedoms} freedoms, too few for a law of growth" if small else ""


def linear(chains: Measured, trees: Measured, plan: Plan) -> Claim:
    on_chains, on_trees = Tails(chains, CHAINS, LINEAR, plan), Tails(trees, TREES, LINEAR, plan)
    seen = f"exponents {on_chains.shown} on chains, {on_trees.shown} on trees{on_chains.remark() or on_trees.remark()}"
    return "methods 2 and 3 cost O(N), whatever the structure", seen, both(on_chains.within(0.8, 1.2), on_trees.within(0.8, 1.2))


def both(one: bool | None, other: bool | None) -> bool | None:
    return None if one is None or other is None else one and other


def cubic(chains: Measured, plan: Plan) -> Claim:
    p = Tails(chains, CHAINS, ("composite",), plan)
    return "method 1 costs O(N³) on a chain", f"exponents {p.shown}{p.remark()}", p.within(2.5, 3.5)


def quadratic(chains: Measured, trees: Measured, plan: Plan) -> Claim:
    on_chains, on_trees = Tails(chains, CHAINS, ITERATIVE, plan), Tails(trees, TREES, ITERATIVE, plan)
    curve = {r.bodies: r.iterations for r in chains.records if (r.axes, r.method) == (1, ITERATIVE[0])}
    few, many = min((n for n in curve if n >= 10), default=min(curve)), max(curve)
    seen = (
        f"exponents {on_chains.shown} on chains, {on_trees.shown} on trees, at a step of {1e3 * plan.step:g} ms"
        f"{on_chains.remark() or on_trees.remark()}. An iteration is O(N²); their number is not constant: {curve[few]:.1f} at "
        f"N = {few}, {curve[many]:.1f} at N = {many} (`{ITERATIVE[0]}`, one-axis chain), and where the method gives up a "
        "factorisation is added"
    )
    holds = both(on_chains.within(1.5, 2.3), on_trees.within(1.5, 2.3))
    return "the iterative methods 4 and 5 cost O(N²) for every structure", seen, holds


class Overtaking:
    """From which N a method is faster than composite bodies for good, or what the sizes that were measured say of it."""

    def __init__(self, chains: Measured, subject: Subject, method: str, plan: Plan) -> None:
        a, b = (chains.curve(subject.shape, subject.axes, m, plan.loops) for m in ("composite", method))
        found = crossings(a, b, 1.1)
        last = max(set(a) & set(b))
        if found:
            met = found[-1].at if found[-1].lower == 1 else None
        else:
            met = min(a) if b[last] < a[last] else None
        self.least, self.most = (last, math.inf) if met is None else (met, met)

    def __str__(self) -> str:
        if math.isinf(self.most):
            return f"more than {self.least:g}"
        return f"{self.least:.0f}" if self.least > 1 else "1 (always)"


def places(chains: Measured, method: str, plan: Plan) -> list[Overtaking]:
    return [Overtaking(chains, subject, method, plan) for subject in CHAINS]


def large_constant(number: int, method: str, chains: Measured, plan: Plan) -> Claim:
    found = places(chains, method, plan)
    known = all(math.isfinite(place.most) for place in found)
    holds = False if any(place.most <= 5 for place in found) else True if known else None
    seen = f"in loops {number} overtakes 1 at N: {', '.join(map(str, found))} (1, 2, 3 axes)"
    return f"method {number}, of linear cost, has a large constant and pays only when bodies are many", seen, holds


def freedoms(chains: Measured, plan: Plan) -> Claim:
    three = places(chains, "lagrange1", plan)
    pairs = list(pairwise(three))
    if any(later.least >= earlier.most for earlier, later in pairs):
        holds: bool | None = False
    else:  # of two that lie beyond the largest N it is not known which comes first
        holds = True if all(later.most <= earlier.least for earlier, later in pairs) else None
    seen = f"the N at which 3 overtakes 1 goes {' → '.join(map(str, three))} as joints get 1, 2, 3 axes"
    return "which method is best depends on the freedoms of the joints: more of them favour the multipliers", seen, holds


def binary(chains: Measured, trees: Measured, plan: Plan) -> Claim:
    chain, tree = (Tails(m, subjects, ("composite",), plan) for m, subjects in ((chains, CHAINS[:1]), (trees, TREES[:1])))
    holds = tree.within(0.0, 1.5)
    seen = f"exponent of method 1, one axis: {chain.shown} on the chain, {tree.shown} on the binary tree{tree.remark()}"
    if holds is False:
        seen += "; factorising is nearly linear there, but the matrix is stored dense, and clearing it is O(N²)"
    return "for a binary tree Lagrange's second kind comes near to O(N)", seen, holds


def structure(chains: Measured, trees: Measured, plan: Plan) -> Claim:
    ratios = []
    for subject in TREES:
        for method in LINEAR:
            tree = trees.curve(subject.shape, subject.axes, method, plan.loops)
            chain = chains.curve("chain", subject.axes, method, plan.loops)
            n = max(set(tree) & set(chain))
            ratios.append(tree[n] / chain[n])
    low, high = min(ratios), max(ratios)
    seen = f"trees over chains at the largest N: {low:.2f} to {high:.2f} times"
    return "the speed of methods 2 and 3 hardly depends on the structure", seen, low >= 0.6 and high <= 1.67


def small_steps(steps: Measured, plan: Plan) -> Claim:
    axes, sizes = next(iter(plan.stepped.items()))
    n = max(sizes)
    counts = steps.over_steps(axes, n, ITERATIVE[0], "iterations")
    seen = (
        f"one-axis chain of {n}: {counts[min(counts)]:.1f} iterations per evaluation at a step of {min(counts):g} s, "
        f"{counts[max(counts)]:.1f} at {max(counts):g} s"
    )
    return "small steps need far fewer than n + 1 iterations", seen, counts[min(counts)] < 0.5 * (n * axes + 1)


def speed(chains: Measured, plan: Plan) -> Claim:
    parts = []
    for subject in CHAINS:
        n, shown = PAPER_MS[subject.axes]
        here = [
            c[n] for m in ("composite", *LINEAR, *ITERATIVE) if n in (c := chains.curve("chain", subject.axes, m, plan.loops))
        ]
        fast = [c[n] for m in LINEAR if n in (c := chains.natural("chain", subject.axes, m, plan.loops))]
        if here:
            best = min(here + fast)
            parts.append(f"{subject.axes}: {figures(1e-3 * max(here))} and {figures(1e-3 * best)} ms at N = {n} ({shown:g} ms)")
    seen = "slowest and fastest of ours by axes (end of the paper's axis): " + "; ".join(parts) if parts else "not measured"
    return "axes of the panels end at 80 ms for 50 bodies with one axis, at 60 ms for 30 with two and three (2012)", seen, None
