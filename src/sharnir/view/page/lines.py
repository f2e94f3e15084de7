"""Lines of plots on their way into a page: no more points than can be seen, and no peak lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ...reporting.pictures import COLOURS
from ...types import FloatArray
from .pack import Package

POINTS = 1500
"""Of a line: more than a plot has pixels."""


class Plotted(Protocol):
    """A `simulation.panels.Panel`: lines over time that share an axis."""

    @property
    def heading(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def lines(self) -> dict[str, FloatArray]: ...


def plots(package: Package, runs: Sequence[tuple[str, FloatArray, Sequence[Plotted]]]) -> list[dict[str, Any]]:
    """Panels of several runs (name, times, panels): those of one title and unit share a plot. The runs differ in their dashes."""
    out: dict[tuple[str, str], dict[str, Any]] = {}
    for k, (name, t, panels) in enumerate(runs):
        for panel in panels:
            plot = out.setdefault((panel.heading, panel.unit), {"title": panel.heading, "unit": panel.unit, "lines": []})
            known = {line["of"]: line["colour"] for line in plot["lines"]}
            for label, values in panel.lines.items():
                at = thinned(t, values)
                colour = known.setdefault(label, COLOURS[len(known) % len(COLOURS)])
                plot["lines"].append({
                    "label": label if len(runs) == 1 else f"{label}, {name}", "of": label, "colour": colour, "run": k,
                    "dash": k if len(runs) > 1 else (len(known) - 1) // len(COLOURS),
                    "t": package.add(t[at].astype(np.float32)), "y": package.add(np.asarray(values)[at].astype(np.float32)),
                })  # fmt: skip
    return list(out.values())


def thinned(t: FloatArray, y: FloatArray) -> np.ndarray:
    """The points that are drawn: all, or of every stretch of time the lowest and the highest."""
    if len(t) <= POINTS:
        return np.argsort(t, kind="stable")
    keep = {0, len(t) - 1}
    for stretch in np.array_split(np.arange(len(t)), POINTS // 2):
        part = np.asarray(y)[stretch]
        low, high = (
            (part, part) if np.isfinite(part).all() else (np.nan_to_num(part, nan=np.inf), np.nan_to_num(part, nan=-np.inf))
        )
        keep |= {int(stretch[low.argmin()]), int(stretch[high.argmax()])}
    kept = np.array(sorted(keep))
    return kept[np.argsort(t[kept], kind="stable")]
