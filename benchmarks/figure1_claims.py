"""The statements of [I] about its methods, checked against a run: numbers, and a verdict that follows from them."""

from __future__ import annotations

from itertools import pairwise

from sharnir.reporting.formats import figures
from sharnir.reporting.table import Table

from .figure1_models import CHAINS, TREES, Subject
from .figure1_plan import ITERATIVE, LINEAR, Measured, Plan
from .growth import Curve, crossings, exponent, last_decade

PAPER_MS = {1: (50, 80.0), 2: (30, 60.0), 3: (30, 60.0)}
"""Ends of the axes of the paper's panels: bodies, milliseconds."""

Claim = tuple[str, str, bool | None]


def claims(chains: Measured, trees: Measured, steps: Measured, plan: Plan) -> str:
    found = [
        linear(chains, trees, plan),
        cubic(chains, plan),
        quadratic(chains, trees, plan),
        large_constant(chains, plan),
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


def tail(curve: Curve) -> float | None:
    return exponent(curve, *last_decade(curve)) if curve else None


def tails(measured: Measured, subjects: list[Subject], methods: tuple[str, ...], plan: Plan) -> list[float]:
    curves = [measured.curve(s.shape, s.axes, m, plan.loops) for s in subjects for m in methods]
    return [p for p in map(tail, curves) if p is not None]


def between(values: list[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}" if values else "not measured"


def within(values: list[float], low: float, high: float) -> bool | None:
    return all(low <= x <= high for x in values) if values else None


def linear(chains: Measured, trees: Measured, plan: Plan) -> Claim:
    p = tails(chains, CHAINS, LINEAR, plan) + tails(trees, TREES, LINEAR, plan)
    return "methods 2 and 3 cost O(N), whatever the structure", f"exponents {between(p)}", within(p, 0.8, 1.2)


def cubic(chains: Measured, plan: Plan) -> Claim:
    p = tails(chains, CHAINS, ("composite",), plan)
    return "method 1 costs O(N³) on a chain", f"exponents {between(p)}", within(p, 2.5, 3.5)


def quadratic(chains: Measured, trees: Measured, plan: Plan) -> Claim:
    on_chains, on_trees = tails(chains, CHAINS, ITERATIVE, plan), tails(trees, TREES, ITERATIVE, plan)
    curve = {r.bodies: r.iterations for r in chains.records if (r.axes, r.method) == (1, ITERATIVE[0])}
    few, many = min((n for n in curve if n >= 10), default=min(curve)), max(curve)
    seen = (
        f"exponents {between(on_chains)} on chains, {between(on_trees)} on trees, at a step of {1e3 * plan.step:g} ms. An "
        f"iteration is O(N²); their number is not constant: {curve[few]:.1f} at N = {few}, {curve[many]:.1f} at N = {many} "
        f"(`{ITERATIVE[0]}`, one-axis chain), and where the method gives up a factorisation is added"
    )
    return "the iterative methods 4 and 5 cost O(N²) for every structure", seen, within(on_chains + on_trees, 1.5, 2.3)


def overtaking(measured: Measured, subject: Subject, method: str, plan: Plan) -> float | None:
    """From which N a method is faster than composite bodies, for good."""
    a, b = (measured.curve(subject.shape, subject.axes, m, plan.loops) for m in ("composite", method))
    found = crossings(a, b, 1.1)
    if found:
        return found[-1].at if found[-1].lower == 1 else None
    n = max(set(a) & set(b))
    return min(a) if b[n] < a[n] else None


def places(measured: Measured, method: str, plan: Plan) -> list[float | None]:
    return [overtaking(measured, subject, method, plan) for subject in CHAINS]


def listed(found: list[float | None]) -> str:
    return ", ".join("never" if n is None else f"{n:.0f}" if n > 1 else "1 (always)" for n in found)


def large_constant(chains: Measured, plan: Plan) -> Claim:
    two, three = places(chains, "separate", plan), places(chains, "lagrange1", plan)
    seen = f"in loops 2 overtakes 1 at N ≈ {listed(two)} (1, 2, 3 axes), 3 overtakes 1 at N ≈ {listed(three)}"
    holds = all(n is not None and n > 5 for n in three)
    if holds and not all(n is not None and n > 5 for n in two):
        seen += ": true of 3; for 2 the constant is small here"
    return "methods of linear cost have a large constant and pay only when bodies are many", seen, holds


def freedoms(chains: Measured, plan: Plan) -> Claim:
    three = [n for n in places(chains, "lagrange1", plan) if n is not None]
    holds = len(three) == len(CHAINS) and all(later < earlier for earlier, later in pairwise(three))
    seen = f"the N at which 3 overtakes 1 goes {' → '.join(f'{n:.0f}' for n in three)} as joints get 1, 2, 3 axes"
    return "which method is best depends on the freedoms of the joints: more of them favour the multipliers", seen, holds


def binary(chains: Measured, trees: Measured, plan: Plan) -> Claim:
    chain, tree = (tails(m, subjects, ("composite",), plan) for m, subjects in ((chains, CHAINS[:1]), (trees, TREES[:1])))
    seen, holds = "not measured", None
    if chain and tree:
        seen, holds = (
            f"exponent of method 1, one axis: {chain[0]:.2f} on the chain, {tree[0]:.2f} on the binary tree",
            tree[0] < 1.5,
        )
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
    seen = f"trees over chains at the largest N: {between(ratios)} times"
    return "the speed of methods 2 and 3 hardly depends on the structure", seen, within(ratios, 0.6, 1.67)


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
