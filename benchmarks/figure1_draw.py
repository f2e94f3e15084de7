"""The pictures of Figure 1: time per step against bodies, and against the size of the step."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sharnir.reporting.pictures import new_figure

from .figure1_models import AXES, CHAINS, TREES, Subject
from .figure1_plan import ITERATIVE, METHODS, Measured, Plan

COLOURS = {
    "composite": "#0072b2",
    "separate": "#d55e00",
    "lagrange1": "#009e73",
    "inverse-iterative": "#cc79a7",
    "direct-iterative": "#8c6d00",
}
"""Of Okabe and Ito, safe for the colour-blind; the last one darkened to be read on white."""
MARKERS = {"composite": "o", "separate": "s", "lagrange1": "^", "inverse-iterative": "D", "direct-iterative": "v"}
SHADES = ["#440154", "#31688e", "#1f9e89", "#6db33f", "#c9a100"]
"""Small to large, dark to light."""
DASHED = (0, (3.5, 1.6))


def _figure(width: float, height: float, rows: int, columns: int, **options: Any) -> tuple[Any, Any]:
    figure = new_figure((width, height), dpi=160, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for ax in axes.ravel():
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(length=3, labelsize=8.5)
        ax.grid(visible=True, which="major", lw=0.4, color="#dddddd")
        ax.set_axisbelow(True)
    return figure, axes


def _curves(ax: Any, subject: Subject, measured: Measured, loops: str, largest: float, scale: float, size: float = 3.2) -> None:
    """Loops solid, straight-line code dashed with open marks."""
    for method, colour in COLOURS.items():
        for backend in (loops, "llvm"):
            curve = {n: y for n, y in measured.curve(subject.shape, subject.axes, method, backend).items() if n <= largest}
            if curve:
                solid = backend == loops
                style = {"ls": "-" if solid else DASHED, "mfc": colour if solid else "white", "lw": 1.5 if solid else 1.1}
                ax.plot(list(curve), [scale * y for y in curve.values()], color=colour, marker=MARKERS[method], ms=size, **style)


def _legend(figure: Any, dashes: bool = True) -> None:
    from matplotlib.lines import Line2D

    marks = [Line2D([], [], color=COLOURS[m], marker=MARKERS[m], ms=4.5, lw=1.6, label=f"{METHODS[m][0]}  {m}") for m in METHODS]
    if dashes:
        marks.append(Line2D([], [], color="#555555", lw=1.5, label="loops"))
        marks.append(
            Line2D([], [], color="#555555", lw=1.1, ls=DASHED, marker="o", mfc="white", ms=4, label="straight-line code")
        )
    figure.legend(handles=marks, loc="outside upper left", ncols=len(marks), frameon=False, fontsize=9, handlelength=2.6,
                  columnspacing=1.4)  # fmt: skip


def chains(path: Path, measured: Measured, plan: Plan) -> None:
    """Above: the paper's axes. Below: to the largest size, in logarithms."""
    figure, axes = _figure(12.5, 7.6, 2, 3)
    for subject, (above, below) in zip(CHAINS, axes.T, strict=True):
        largest = min(subject.paper, max(plan.sizes))
        _curves(above, subject, measured, plan.loops, largest, 1e-3)
        above.set(xlim=(0, 1.02 * largest), xlabel="bodies N")
        above.set_ylim(bottom=0.0)
        above.set_title(f"{AXES[subject.axes]}; N as in [I]", loc="left", fontsize=10)
        _curves(below, subject, measured, plan.loops, max(plan.sizes), 1e-3, 2.8)
        below.set(xscale="log", yscale="log", xlabel="bodies N")
        below.set_title(f"{AXES[subject.axes]}; to N = {max(plan.sizes)}", loc="left", fontsize=10)
        _slopes(below, measured, subject, plan)
    for ax in axes[:, 0]:
        ax.set_ylabel("time per step of rk4, ms")
    _same_limits(axes[1])
    _legend(figure)
    figure.savefig(path)


def trees(path: Path, measured: Measured, plan: Plan) -> None:
    figure, axes = _figure(12.5, 8.0, 2, 2)
    for subject, ax in zip(TREES, axes.ravel(), strict=True):
        _curves(ax, subject, measured, plan.loops, max(plan.sizes), 1e-3, 3.0)
        ax.set(xscale="log", yscale="log", xlabel="bodies N")
        ax.set_title(subject.title, loc="left", fontsize=10)
        _slopes(ax, measured, subject, plan)
    for ax in axes[:, 0]:
        ax.set_ylabel("time per step of rk4, ms")
    _same_limits(axes.ravel())
    _legend(figure)
    figure.savefig(path)


def _slopes(ax: Any, measured: Measured, subject: Subject, plan: Plan) -> None:
    """Thin lines that grow as N, N² and N³, below the curves, to hold them against."""
    curve = measured.curve(subject.shape, subject.axes, "separate", plan.loops)
    x, over = 0.15 * max(plan.sizes), 4.0
    y = 1e-3 * min(y for n, y in curve.items() if n >= x) / 40.0
    for power, mark in ((1, "N"), (2, "N²"), (3, "N³")):
        end = (over * x, y * over**power)
        ax.plot([x, end[0]], [y, end[1]], color="#888888", lw=0.9, ls=":")
        ax.annotate(mark, end, xytext=(3, 0), textcoords="offset points", fontsize=8, color="#666666", va="center")


def _plain_ticks(*axes: Any) -> None:
    """0.5 instead of 5 × 10⁻¹, and ticks at 1, 2 and 5 of every decade."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis in axes:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
        axis.set_minor_formatter(NullFormatter())


def _same_limits(axes: Iterable[Any]) -> None:
    axes = list(axes)
    low, high = min(ax.get_ylim()[0] for ax in axes), max(ax.get_ylim()[1] for ax in axes)
    for ax in axes:
        ax.set_ylim(low, high)


# --- against the size of the step ---------------------------------------------------------------------------------------
def step_size(path: Path, measured: Measured, plan: Plan) -> None:
    """Iterations, time relative to factorisation, and the step at which both cost the same."""
    figure, axes = _figure(12.5, 7.6, len(plan.stepped), 3)
    for row, (joint, sizes) in zip(axes, plan.stepped.items(), strict=True):
        shown = list(sizes)[::-2][:4][::-1]  # every second one: eight curves are enough
        for n, colour in zip(shown, SHADES, strict=False):
            for method in ITERATIVE:
                style = {"color": colour, "ls": "-" if method == ITERATIVE[0] else DASHED, "lw": 1.4, "ms": 3.0}
                counts = measured.over_steps(joint, n, method, "iterations")
                label = f"N = {n}" if method == ITERATIVE[0] else None
                row[0].plot(list(counts), list(counts.values()), marker=MARKERS[method], label=label, **style)
                ratio = measured.beside_composite(joint, n, method)
                row[1].plot(list(ratio), list(ratio.values()), marker=MARKERS[method], **style)
        row[0].legend(fontsize=8.5, frameon=False, loc="upper left")
        row[0].set(
            xscale="log",
            xlabel="step, s",
            ylabel="iterations per evaluation",
            title=f"{AXES[joint]}: iterations, 0 if refactorised",
        )
        row[0].set_ylim(bottom=0.0)
        row[1].axhline(1.0, color="#333333", lw=0.9)
        row[1].set(xscale="log", yscale="log", xlabel="step, s", ylabel="time over that of composite")
        row[1].set_title(f"{AXES[joint]}: below 1, faster than factorising")
        _break_even_panel(row[2], measured, joint, plan)
        _plain_ticks(row[1].yaxis, row[2].xaxis)
        for ax in row:
            ax.set_title(ax.get_title(), loc="left", fontsize=10)
            ax.set_title("")
    from matplotlib.lines import Line2D

    marks = [Line2D([], [], color="#333333", marker=MARKERS[m], ms=4.5, lw=1.4, ls="-" if m == ITERATIVE[0] else DASHED,
                    label=f"{METHODS[m][0]}  {m}") for m in ITERATIVE]  # fmt: skip
    figure.legend(handles=marks, loc="outside upper left", ncols=2, frameon=False, fontsize=9, handlelength=3.2)
    figure.savefig(path)


def _break_even_panel(ax: Any, measured: Measured, joint: int, plan: Plan) -> None:
    low, high = min(plan.steps), max(plan.steps)
    ax.axhspan(high, 2.5 * high, color="#f0f0f0", lw=0)
    ax.axhspan(low / 2.5, low, color="#f0f0f0", lw=0)
    sizes = plan.stepped[joint]
    for method in ITERATIVE:
        at = {n: measured.break_even(joint, n, method) for n in sizes}
        shown = {n: min(max(h, low / 1.6), 1.6 * high) for n, h in at.items()}
        style = {"ls": "-" if method == ITERATIVE[0] else DASHED, "mfc": COLOURS[method]}
        ax.plot(list(shown), list(shown.values()), color=COLOURS[method], marker=MARKERS[method], ms=4, lw=1.4, **style)
    ax.set(xscale="log", yscale="log", xlabel="bodies N", ylabel="step, s", ylim=(low / 2.5, 2.5 * high))
    ax.text(0.02, 0.985, "faster at every step tried", transform=ax.transAxes, fontsize=8, color="#666666", va="top")
    low_end = {"va": "bottom", "ha": "right"}
    ax.text(0.98, 0.015, "slower at every step tried", transform=ax.transAxes, fontsize=8, color="#666666", **low_end)
    ax.set_title(f"{AXES[joint]}: step at which both cost the same")
