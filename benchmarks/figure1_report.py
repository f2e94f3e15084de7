"""figure1.md: what the curves say, in words and tables made from the numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sharnir.machine import machine
from sharnir.reporting.formats import figures
from sharnir.reporting.table import Table

from .figure1_claims import claims
from .figure1_models import AXES, BEND, CHAINS, SPEED, TREES, Subject
from .figure1_plan import ITERATIVE, METHODS, Measured, Plan
from .growth import Curve, crossings, exponent, last_decade, reigns

SHOWN = (2, 5, 10, 20, 50, 100, 300, 1000)
"""Numbers of bodies in the tables; the CSV files have all."""
MARGIN = 1.1
"""A lead of less is a draw."""

OURS = {
    "composite": "LᵀDL along the tree; on a chain that is the dense factorisation",
    "separate": "",
    "lagrange1": "multipliers eliminated body by body on the tree, the band never stored; Cholesky on the band of (3.10), as "
    "printed, is the form `lagrange1-banded` of `sharnir.forms`, in NumPy and not timed",
    "inverse-iterative": "inertia matrix by composite bodies",
    "direct-iterative": "our reading: the paper refers to another for it",
}


def text(chains: Measured, trees: Measured, steps: Measured, plan: Plan, load: tuple[float, float]) -> str:
    parts = [
        "# Time per step of integration: Figure 1 of [I], and beyond",
        made(plan, load),
        "## What is measured",
        method_text(plan),
        methods_table(),
        "## Chains",
        "![time per step against bodies, chains](figure1_chains.png)",
        times(chains, CHAINS, plan),
        leaders(chains, CHAINS, plan),
        "## Trees",
        "![time per step against bodies, trees](figure1_trees.png)",
        times(trees, TREES, plan),
        leaders(trees, TREES, plan),
        "## Growth",
        growth_text(),
        growth(chains, trees, plan),
        "## Size of the step",
        "![iterations and time against the size of the step](figure1_step_size.png)",
        steps_text(),
        steps_table(steps, plan),
        steps_words(steps, plan),
        "## Beside the paper",
        "First what [I] says of the methods in §4 and §5, in our words; the verdicts follow from the numbers of this run.",
        claims(chains, trees, steps, plan),
    ]
    left_out = dict.fromkeys(chains.stopped + trees.stopped + steps.stopped)
    if left_out:
        parts += ["## Not measured", "\n".join(f"- {note}" for note in left_out)]
    return "\n\n".join(part for part in parts if part) + "\n"


def made(plan: Plan, load: tuple[float, float]) -> str:
    m = machine()
    command = f"python -m benchmarks figure1{' --quick' if plan.quick else ''}"
    return (
        f"Written by `{command}` on {m['date'][:10]}. {m['processor']}, {m['cores']} cores, one thread; Python {m['python']}, "
        f"sharnir {m['sharnir']}. Load average {load[0]:.1f} before, {load[1]:.1f} after; this run "
        f"accounts for one. Remarks by hand: [README.md](README.md)."
    )


def method_text(plan: Plan) -> str:
    return (
        "[I] plots the time spent on a step of integration, in milliseconds, and says neither by which integrator nor at which "
        "step, with which links or on which machine. Here a step is one of classical Runge–Kutta, **four evaluations** of the "
        "accelerations; divide by four for one. Integrator and equations are machine code without Python between, "
        "quaternions are normalized after every step; minimum over samples of the methods in turn. "
        f"Links of 0.3 m and 1 kg, joints bent and turning at random (up to {BEND:g} rad, "
        f"{SPEED:g} rad/s), gravity; the step is {1e3 * plan.step:g} ms unless stated. The iterative methods run along the "
        "motion with the matrix of the evaluation before, to a residual of 1e-13 or to rounding.\n\n"
        "Each method runs as *loops*, compiled once for all mechanisms (solid lines: exponents are to be compared there), and "
        "where `auto` takes it as *straight-line code*, compiled for the one mechanism (dashed; the line ends where the graph is "
        "beyond the limit and `auto` changes over to loops). The iterative methods branch on values and are always loops."
    )


def methods_table() -> str:
    rows = [[str(k), what, f"`{m}`", OURS[m]] for m, (k, what) in METHODS.items()]
    return Table.of_text([["", "[I] §5", "here", ""], *rows]).markdown()


def times(measured: Measured, subjects: list[Subject], plan: Plan) -> str:
    sizes = [n for n in SHOWN if n in plan.sizes]
    rows = [["µs per step", "method", "code", *(f"N = {n}" for n in sizes)]]
    for subject in subjects:
        for backend, shown in ((plan.loops, "loops"), ("llvm", "straight-line")):
            for method in METHODS:
                curve = measured.curve(subject.shape, subject.axes, method, backend)
                if curve:
                    cells = [figures(curve[n]) if n in curve else "" for n in sizes]
                    rows.append([subject.title, f"{METHODS[method][0]} `{method}`", shown, *cells])
    return Table.of_text(rows).markdown()


def leaders(measured: Measured, subjects: list[Subject], plan: Plan) -> str:
    """Who is the fastest where, and where the others change places."""
    lines = []
    for subject in subjects:
        shape = (subject.shape, subject.axes)
        loops = {m: c for m in METHODS if (c := measured.curve(*shape, m, plan.loops))}
        natural = {m: tried(measured.natural(*shape, m, plan.loops), plan) for m in METHODS}
        lines.append(f"- **{subject.title}**. Fastest in loops: {ruling(loops)}. Of what `auto` runs: {ruling(natural)}.")
        lines.append(f"  In loops {'; '.join(pairs(loops))}.")
        ends = [
            f"`{m}` to {max(measured.curve(*shape, m, 'llvm'), default=0)}"
            for (s, a, m) in measured.beyond
            if (s, a) == shape
        ]  # fmt: skip
        if ends:
            lines.append(f"  Straight-line code, of the sizes tried: {', '.join(ends)} bodies.")
    return "\n".join(lines)


def tried(curve: Curve, plan: Plan) -> Curve:
    """Without the sizes between that were measured in loops alone."""
    return {n: y for n, y in curve.items() if n in plan.straight or n > max(plan.straight, default=0)}


def ruling(curves: Mapping[str, Curve]) -> str:
    found = reigns(curves, MARGIN)
    return ", ".join(f"`{r.name}` at {r.first:g}" if r.first == r.last else f"`{r.name}` {r.first:g}–{r.last:g}" for r in found)


def pairs(curves: Mapping[str, Curve]) -> list[str]:
    """Where each of the others overtakes composite bodies with their factorisation."""
    words = []
    for method in list(METHODS)[1:]:
        if method not in curves or "composite" not in curves:
            continue
        a, b = curves["composite"], curves[method]
        found = crossings(a, b, MARGIN)
        if found:
            changes = [f"{'overtakes' if c.lower else 'falls behind'} `composite` at N ≈ {c.at:.0f}" for c in found]
            words.append(f"`{method}` {', '.join(changes)}")
        else:
            n = max(set(a) & set(b))
            faster = b[n] < a[n]
            ratio = a[n] / b[n] if faster else b[n] / a[n]
            words.append(
                f"`{method}` never crosses `composite` (at N = {n:g} {figures(ratio)}× {'faster' if faster else 'slower'})"
            )
    return words


def growth_text() -> str:
    return (
        "p of time ∝ N^p, loops, by least squares in logarithms: over the last decade of sizes that were measured (the range is "
        "given), and over N = 10 … 50, the paper's range, where fixed costs still count."
    )


def growth(chains: Measured, trees: Measured, plan: Plan) -> str:
    rows = [["mechanism", *(f"{METHODS[m][0]} `{m}`" for m in METHODS)]]
    for measured, subjects in ((chains, CHAINS), (trees, TREES)):
        for subject in subjects:
            cells = []
            for method in METHODS:
                curve = measured.curve(subject.shape, subject.axes, method, plan.loops)
                first, last = last_decade(curve)
                tail, early = exponent(curve, first, last), exponent(curve, 10, 50)
                sizes = [n for n in curve if n >= first]
                late = f"**{tail:.2f}** ({min(sizes):g}–{last:g})" if tail is not None else "—"
                cells.append(late + (f", {early:.2f}" if early is not None else ""))
            rows.append([subject.title, *cells])
    return Table.of_text(rows).markdown()


# --- the size of the step ---------------------------------------------------------------------------------------------------
def steps_text() -> str:
    return (
        "Iterations per evaluation, the mean along one motion, and time per step over that of `composite`, which factorises "
        "anew every time. In brackets: the share of evaluations in which the method gave up and refactorised."
    )


def steps_table(steps: Measured, plan: Plan) -> str:
    rows = [["chain", "method", *(f"{h:g} s" for h in plan.steps)]]
    for axes, sizes in plan.stepped.items():
        for n in sizes:
            for method in ITERATIVE:
                counts, again = (steps.over_steps(axes, n, method, what) for what in ("iterations", "restarts"))
                ratio = steps.beside_composite(axes, n, method)
                cells = []
                for h in plan.steps:
                    share = f" ({100 * again[h]:.0f} %)" if again.get(h, 0.0) > 0.005 else ""
                    cells.append(f"{counts[h]:.1f}{share}, {ratio[h]:.2f}×" if h in counts else "")
                rows.append([f"{AXES[axes]}, N = {n}", f"`{method}`", *cells])
    return Table.of_text(rows).markdown()


def steps_words(steps: Measured, plan: Plan) -> str:
    """Break-even steps, one line for every kind of chain and method."""
    lines = []
    low, high = min(plan.steps), max(plan.steps)
    for axes, sizes in plan.stepped.items():
        for method in ITERATIVE:
            found = {n: steps.break_even(axes, n, method) for n in sizes}
            never = [n for n, h in found.items() if h == 0.0]
            always = [n for n, h in found.items() if math.isinf(h)]
            some = [f"{h:.1g} s at N = {n}" for n, h in found.items() if 0.0 < h < math.inf]
            words = [f"below a step of {', '.join(some)}"] if some else []
            words += [f"at every step from {low:g} to {high:g} s for N = {', '.join(map(str, always))}"] if always else []
            words += [f"at none of them for N = {', '.join(map(str, never))}"] if never else []
            lines.append(f"- {AXES[axes]}: `{method}` is faster than factorising {'; '.join(words)}.")
    return "\n".join(lines)
