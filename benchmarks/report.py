"""Measurements and their targets: printed, as JSON, as a picture."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sharnir.machine import machine
from sharnir.reporting.formats import figures
from sharnir.reporting.pictures import new_figure
from sharnir.reporting.table import Table

PACKAGES = ("numpy", "scipy", "llvmlite", "pin", "mujoco", "exudyn")


@dataclass(frozen=True)
class Measure:
    part: str
    subject: str
    what: str
    value: float
    unit: str
    """× (a ratio, larger is better for us), ns, s, %, GFlop/s."""
    target: float | None = None
    at_most: bool = False
    details: dict[str, float] = field(default_factory=dict)
    """Times behind a ratio, in microseconds."""

    @property
    def met(self) -> bool | None:
        if self.target is None:
            return None
        return self.value <= self.target if self.at_most else self.value >= self.target

    def row(self) -> list[str]:
        target, verdict = "", ""
        if self.target is not None:
            target = f"{'≤' if self.at_most else '≥'} {figures(self.target)}{self.unit}"
            verdict = "met" if self.met else "MISSED"
        details = ", ".join(f"{name} {figures(x)} µs" for name, x in self.details.items())
        return [self.subject, self.what, f"{figures(self.value)}{self.unit}", target, verdict, details]


def table(measures: Iterable[Measure]) -> str:
    head = ["of", "what", "measured", "target", "", "times"]
    return Table.of_text([head, *(m.row() for m in measures)]).plain(100, ruled=True)


def save(path: Path, measures: Sequence[Measure], notes: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"machine": machine(PACKAGES), "notes": list(notes), "measures": [{**asdict(m), "met": m.met} for m in measures]}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def draw(path: Path, measures: Sequence[Measure]) -> None:
    """Bars of the ratios against the peers, a tick where the target is."""
    ratios = [m for m in measures if m.part == "robots" and m.unit == "×"]
    kinds = list(dict.fromkeys(m.what for m in ratios))
    robots = list(dict.fromkeys(m.subject for m in ratios))
    if not ratios:
        return
    height = 0.9 + 0.3 * len(ratios) / 2 + 0.5 * (len(kinds) + 1) // 2
    pictures = new_figure((9, height), dpi=150, layout="constrained")
    axes = pictures.subplots((len(kinds) + 1) // 2, 2, squeeze=False).ravel()
    for ax, kind in zip(axes, kinds, strict=False):
        mine = {m.subject: m for m in ratios if m.what == kind}
        for at, robot in enumerate(robots):
            if robot not in mine:
                continue
            m = mine[robot]
            ax.barh(at, m.value, height=0.62, color="#b5482a" if m.met is False else "#1f6f8b")
            ax.annotate(f"{figures(m.value)}×", (m.value, at), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
            if m.target is not None:
                ax.plot([m.target] * 2, [at - 0.4, at + 0.4], color="black", lw=1.4)
        ax.set_yticks(range(len(robots)), robots, fontsize=8.5)
        ax.invert_yaxis()
        ax.set_title(kind, loc="left", fontsize=9.5)
        ax.set_xticks([])
        ax.margins(x=0.14)
        ax.spines[["top", "right", "bottom"]].set_visible(False)
        ax.tick_params(length=0)
    for ax in axes[len(kinds) :]:
        ax.set_axis_off()
    title = "How many times faster than Pinocchio, or what is named, called from Python. A black tick is the target"
    pictures.suptitle(title, x=0.01, ha="left", fontsize=10.5)
    pictures.savefig(path)
