"""How good a choice method="auto" is: every method timed on sixty models, and how far behind the fastest auto's choice is.

A method is timed as machine code on random states, one at a time and in a batch, interleaved with the others. Left out are those
whose code has more than twice the operations of the shortest, or whose loops take more than four times as long in one call: they
are not the fastest.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import sharnir as sh
from sharnir.backends import sizes
from sharnir.backends.compiled_programs import CompiledPrograms
from sharnir.backends.traced import TracedProgram
from sharnir.choice.calibrate import Call, prepared, race
from sharnir.choice.calibration import current
from sharnir.choice.choose import FASTEST, applies
from sharnir.equations.motion.constrained import ConstrainedEquations
from sharnir.machine import processor
from sharnir.programs.methods import METHODS as TABLE
from sharnir.reporting.pictures import new_figure
from sharnir.reporting.progress import ProgressBar
from sharnir.reporting.table import Table
from sharnir.solvers.constrained_code import ConstrainedCode
from sharnir.trace import GraphTooLarge, needed

from .choice_models import models
from .harness import results
from .report import Measure

ALLOWED = 0.15
METHODS = (*FASTEST, "recursive", "kosynka")
"""All whose time does not depend on the states before."""
SEVERAL = {"single": "one at a time", "batch": "in a batch"}


@dataclass(frozen=True)
class Trial:
    """One model: seconds a state of every method timed, by ("single" or "batch", method)."""

    kind: str
    name: str
    bodies: int
    freedoms: int
    backend: str
    chosen: str
    times: dict[tuple[str, str], float]

    def behind(self, how: str) -> float:
        """How much longer the choice takes than the fastest."""
        return self.times[how, self.chosen] / min(t for (h, _), t in self.times.items() if h == how) - 1.0

    def fastest(self, how: str) -> str:
        return min((m for h, m in self.times if h == how), key=lambda m: self.times[how, m])


def measure(quick: bool = False) -> Iterator[Measure | str]:
    yield f"calibration: {current()}"
    chosen = [x for x in models() if not quick or x[1] in ("chain of 4", "planar chain of 7", "four-bar", "star of 10, 1 axes")]
    trials = []
    with ProgressBar(None, "models", len(chosen)) as bar:
        for k, (kind, name, make) in enumerate(chosen):
            bar.update(k, name)
            trials.append(trial(kind, make(), name, 0.02 if quick else 0.06))
    yield from judged(trials)
    if not quick:
        write(trials)


def judged(trials: list[Trial]) -> Iterator[Measure | str]:
    for how, words in SEVERAL.items():
        behind = np.array([t.behind(how) for t in trials])
        worst = trials[int(np.argmax(behind))]
        yield Measure("choice", f"{len(trials)} models", f"states {words}: auto behind the fastest, at worst ({worst.name})",
                      100 * float(behind.max()), " %", 100 * ALLOWED, at_most=True)  # fmt: skip
        yield Measure(
            "choice", f"{len(trials)} models", f"states {words}: auto behind the fastest, mean", 100 * float(behind.mean()), " %"
        )


def trial(kind: str, model: sh.Model, name: str, seconds: float) -> Trial:
    d = sh.Dynamics(model)
    calls = dict(closed_calls(model)) if model.constraints else dict(tree_calls(model))
    times = race(calls, seconds)
    backend = "loops" if not model.constraints and d.backend == "loops" else "straight-line"
    return Trial(kind, name, len(model.bodies), model.nv, backend, d.method, times)


def tree_calls(model: sh.Model) -> Iterator[tuple[tuple[str, str], Call]]:
    compiled = CompiledPrograms(model.freeze(), "auto")
    runners, smallest = {}, np.inf
    for method in METHODS:
        if not applies(method, compiled.structure) or len(model.bodies) > sizes.BODIES:
            continue
        try:
            runners[method] = compiled.runner(f"forward/{method}", ("qdd",), backend="llvm")
        except GraphTooLarge:
            continue
        smallest = min(smallest, size(runners[method].traced))
    for method, runner in runners.items():
        if size(runner.traced) <= 2 * smallest:
            yield ("single", method), prepared(runner, model, False)
            yield ("batch", method), prepared(runner, model, True)
    if not runners:
        yield from loop_calls(model, compiled)


def loop_calls(model: sh.Model, compiled: CompiledPrograms) -> Iterator[tuple[tuple[str, str], Call]]:
    once: dict[str, tuple[Call, float]] = {}
    for method in METHODS:
        if not applies(method, compiled.structure):
            continue
        if model.nv > 300 and method in ("recursive", "kosynka", "direct", "stepanenko") and "chain" in model.name:
            continue  # n³ of them, a second each; 'composite' stands for them
        call = prepared(compiled.runner(f"forward/{method}", ("qdd",), backend="loops"), model, False)
        once[method] = call, race({method: call}, 0.0)[method]
    least = min(took for _, took in once.values())
    for method, (call, took) in once.items():
        if took <= 4 * least:
            yield ("single", method), call
            yield ("batch", method), call


def closed_calls(model: sh.Model) -> Iterator[tuple[tuple[str, str], Call]]:
    for method in (name for name, m in TABLE.items() if m.constrains in ("inertia", "sweeps")):
        runner = ConstrainedCode(ConstrainedEquations(model, TABLE[method])).solution("qdd")
        yield ("single", method), prepared(runner, model, False)
        yield ("batch", method), prepared(runner, model, True)


def size(traced: TracedProgram) -> int:
    return len(needed(traced.graph, [x for group in traced.outputs.values() for x in group if hasattr(x, "graph")]))


# --- what is written --------------------------------------------------------------------------------------------------------
def write(trials: list[Trial]) -> None:
    folder = results()
    with (folder / "choice.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["kind", "model", "bodies", "freedoms", "code", "states", "chosen", "fastest", "behind", *METHODS])
        for t in trials:
            for how in SEVERAL:
                times = [f"{1e9 * t.times[how, m]:.4g}" if (how, m) in t.times else "" for m in METHODS]
                facts = [t.kind, t.name, t.bodies, t.freedoms, t.backend, how, t.chosen, t.fastest(how), f"{t.behind(how):.4f}"]
                out.writerow([*facts, *times])
    draw(trials, folder / "choice.png")
    rows = [["", *SEVERAL.values()]]
    numbers = {how: np.array([t.behind(how) for t in trials]) for how in SEVERAL}
    rows.append(["the fastest itself", *(f"{(x == 0).sum()} of {len(x)}" for x in numbers.values())])
    rows += [[f"within {p} %", *(f"{(100 * x <= p).sum()}" for x in numbers.values())] for p in (2, 5, 10, 15)]
    rows.append(["mean", *(f"{100 * x.mean():.1f} %" for x in numbers.values())])
    rows.append(["worst", *(f"{100 * x.max():.1f} %, {trials[int(x.argmax())].name}" for x in numbers.values())])
    wins = {how: {m: sum(t.fastest(how) == m for t in trials) for m in METHODS} for how in SEVERAL}
    won = [["fastest method", *METHODS], *([SEVERAL[how], *(str(wins[how][m]) for m in METHODS)] for how in SEVERAL)]
    text = [
        "# How good a choice `method=\"auto\"` is",
        f"Written by `python -m benchmarks choice`. {processor()}, one thread; calibration: {current()}.",
        f"{len(trials)} models, none of them among those the calibration is fitted to. How much longer auto's choice takes "
        "than the fastest method:",
        Table.of_text(rows).markdown(),
        "![Every model: auto's choice behind the fastest](choice.png)",
        "How often each method is the fastest; between equal codes (of a body or two, and nearly so of closed loops) noise "
        "decides:",
        Table.of_text(won).markdown(),
        "Times of every method: [choice.csv](choice.csv), ns a state.",
    ]  # fmt: skip
    (folder / "choice.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")


COLOURS = {"chain": "#1f6f8b", "tree": "#5b7f2b", "robot": "#b5482a", "loop": "#7a5195"}


def draw(trials: list[Trial], path: Path) -> None:
    """Sorted by size: what auto loses on every model."""
    figure = new_figure((9, 4.6), dpi=150, layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, (how, words) in zip(axes, SEVERAL.items(), strict=True):
        for kind, colour in COLOURS.items():
            mine = [t for t in trials if t.kind == kind]
            ax.scatter([t.freedoms for t in mine], [100 * t.behind(how) for t in mine], s=26, color=colour, alpha=0.85, lw=0,
                       label=f"{kind}s", clip_on=False, zorder=3)  # fmt: skip
        ax.axhline(100 * ALLOWED, color="#888888", lw=0.9, ls=(0, (4, 3)))
        ax.set(xscale="log", xlabel="freedoms", ylim=(0, max(18.0, 105 * max(t.behind(how) for t in trials))))
        ax.set_title(f"States {words}", loc="left", fontsize=11)
        ax.spines[["top", "right"]].set_visible(False)
        for t in trials:
            if t.behind(how) > 0.08:
                left = t.freedoms > 30
                ax.annotate(f"{t.name}: {t.chosen}, not {t.fastest(how)}", (t.freedoms, 100 * t.behind(how)), fontsize=7.5,
                            xytext=(-5 if left else 5, 3), textcoords="offset points", ha="right" if left else "left",
                            color="#444444")  # fmt: skip
    axes[0].set_ylabel("auto behind the fastest method, %")
    axes[0].annotate("allowed", (1, 100 * ALLOWED), xytext=(0, 3), textcoords="offset points", fontsize=8, color="#777777")
    axes[1].legend(frameon=False, fontsize=9)
    figure.savefig(path)
