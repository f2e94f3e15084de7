"""Curves of a motion as numbers: one panel for each unit. Pictures, pages and the live view all draw these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...errors import StateError, brief
from ...types import FloatArray
from .joint_motion import COORDINATE, SPEED
from .lines import Line
from .quantities import joint_lines, quantity

if TYPE_CHECKING:
    from .result import Result

FEW = 8
"""Lines of a panel where nothing was asked for: as many as there are colours."""
MANY = 32
"""Lines of a panel at most: colours and dashes cannot tell more apart."""
TITLES = {
    "rad": "angle", "rad/s": "angular velocity", "rad/s²": "angular acceleration",
    "m": "position", "m/s": "velocity", "m/s²": "acceleration",
    "Pa": "pressure", "V": "voltage", "A": "current", "s": "time", "K": "temperature", "m³/s": "flow",
    "1": "quaternion", "N": "force", "N m": "moment", "J": "energy", "W": "power", "": "in units of its own",
}  # fmt: skip
"""Titles of panels by unit."""


@dataclass(frozen=True, eq=False)
class Panel:
    """Lines over time that share an axis."""

    title: str
    unit: str
    """SI; "1" of pure numbers, "" where only the user knows."""
    lines: dict[str, FloatArray] = field(default_factory=dict)
    """By label: (T,)."""
    left_out: int = 0
    """Lines that were asked for and are not here, as too many to be told apart."""

    @property
    def heading(self) -> str:
        """The title, and how many lines it leaves out."""
        if not self.left_out:
            return self.title
        return f"{self.title} (the {len(self.lines)} of {len(self.lines) + self.left_out} that move most)"

    @property
    def axis(self) -> str:
        """The label of its vertical axis: "angle, rad"."""
        return f"{self.title}, {self.unit}" if self.unit not in ("", "1") else self.title


def panels(r: Result, what: Sequence[str] = ()) -> list[Panel]:
    """Panels of the quantities with these names (`quantities.py`); by default coordinates, speeds, energies and work."""
    return distinguishable([grouped(r, what)], FEW if not what else MANY)[0]


def grouped(r: Result, what: Sequence[str] = ()) -> list[Panel]:
    """Every line that was asked for, in panels."""
    if not len(r):
        raise StateError("nothing to plot: the result has no times")
    if isinstance(what, str):
        raise StateError(f"what to show is a list of names; got the text {brief(what)}")
    out: dict[tuple[str, str], Panel] = {}
    for line in _everything(r) if not what else (line for text in what for line in quantity(r, text)):
        title = line.topic or TITLES.get(line.unit, "value")
        out.setdefault((title, line.unit), Panel(title, line.unit)).lines[line.label] = line.values
    return list(out.values())


def _everything(r: Result) -> Iterable[Line]:
    for order in (COORDINATE, SPEED):
        lines = [line for joint in r.model.joints if joint.type.coordinates for line in joint_lines(r, joint, order)]
        for unit in ("rad", "m", "rad/s", "m/s", "", "1"):  # a quaternion says the least to a reader: last
            yield from (line for line in lines if line.unit == unit)
    yield from quantity(r, "energy")
    yield from quantity(r, "work")


def distinguishable(results: Sequence[Sequence[Panel]], most: int) -> list[list[Panel]]:
    """The same panels of several results with at most so many lines each, the same of all: those that move most."""
    sizes: dict[tuple[str, str], dict[str, float]] = {}
    for panel in (panel for one in results for panel in one):
        size = sizes.setdefault((panel.title, panel.unit), {})
        for label, values in panel.lines.items():
            size[label] = max(size.get(label, 0.0), _movement(values))
    kept = {key: set(sorted(size, key=lambda label: -size[label])[:most]) for key, size in sizes.items()}
    return [[_only(panel, kept[panel.title, panel.unit]) for panel in one] for one in results]


def _only(panel: Panel, kept: set[str]) -> Panel:
    lines = {label: values for label, values in panel.lines.items() if label in kept}
    return Panel(panel.title, panel.unit, lines, len(panel.lines) - len(lines))


def _movement(values: FloatArray) -> float:
    """How far a line goes up and down."""
    finite = values[np.isfinite(values)]
    return float(np.ptp(finite)) if finite.size else 0.0
