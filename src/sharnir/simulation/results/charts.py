"""A motion as it is drawn: a panel for each unit, its lines as numbers; panels of one result or several as curves with colours.

Matplotlib, plotly, pages and the live view all draw these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...errors import StateError, brief
from ...reporting.pictures import COLOURS
from ...types import FloatArray
from .joint_motion import COORDINATE, SPEED
from .lines import Line
from .quantities import angle_lines, joint_lines, quantity
from .records import EventRecord
from .result import Result

FEW = 8
"""Lines of a panel where nothing was asked for: as many as there are colours."""
STILL = 1e-12
"""Rounding of what stands still, in metres and radians."""
NAMES = 3
"""Names that the label of an axis holds."""
MANY = 32
"""Lines of a panel at most: colours and dashes cannot tell more apart."""
TITLES = {
    "rad": "angle", "rad/s": "angular velocity", "rad/s²": "angular acceleration",
    "m": "position", "m/s": "velocity", "m/s²": "acceleration",
    "Pa": "pressure", "V": "voltage", "A": "current", "s": "time", "K": "temperature", "m³/s": "flow",
    "1": "quaternion", "N": "force", "N m": "moment", "J": "energy", "W": "power", "": "in units of its own",
}  # fmt: skip
"""Titles of panels by unit."""
DASHES = ("solid", "dashed", "dotted", "dashdot")
WIDER, WIDEST = 1.4, 4.2
"""Points by which a curve is wider than one that lies on it; the widest."""
MARKED = 40
"""Events that are marked; more would hide the curves."""
NAMED = 8
"""Events that are named at their marks."""

Results = Result | Sequence[Result] | Mapping[str, Result]


@dataclass(frozen=True, eq=False)
class Curve:
    """One line of a chart."""

    label: str
    x: FloatArray
    y: FloatArray
    colour: str
    dash: str
    width: float = 1.4
    """Wider where another curve lies on it, so that both can be seen."""


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
    curves: list[Curve] = field(default_factory=list)
    """In `Charts`: lines of all results, with colours."""
    is_path: bool = False
    """Over a quantity of the same unit: both axes have one scale."""

    @property
    def heading(self) -> str:
        """The title, and how many lines it leaves out."""
        shown = f" (the {len(self.lines)} of {len(self.lines) + self.left_out} that move most)"
        return self.title + shown * bool(self.left_out)

    @property
    def flat(self) -> tuple[float, float] | None:
        """The range of the axis where nothing moves but by rounding, which is not to be magnified."""
        every = np.concatenate([*self.lines.values(), *(curve.y for curve in self.curves), np.zeros(0)])
        every = every[np.isfinite(every)]
        still, most = STILL * (self.unit in ("rad", "m", "rad/s", "m/s")), float(np.abs(every).max(initial=0.0))
        if not every.size or np.ptp(every) > max(still, 1e-9 * most):
            return None
        room = 0.1 * most if most > still else 1e-3
        return float(every.min() - room), float(every.max() + room)

    @property
    def axis(self) -> str:
        """The label of its vertical axis: "angle, rad"."""
        return f"{self.title}, {self.unit}" if self.unit not in ("", "1") else self.title


@dataclass(frozen=True, eq=False)
class Charts:
    """One under the other, with a common horizontal axis."""

    title: str
    note: str
    axis: str
    """The label of the horizontal axis."""
    charts: list[Panel]
    events: list[EventRecord]
    """To be marked: of all results, where the horizontal axis is time."""
    unmarked: int
    """Events beyond those."""
    over_time: bool = True

    @property
    def named(self) -> list[EventRecord]:
        """Events to be named: the first of each name that has happened often, or all."""
        if len(self.events) <= NAMED:
            return self.events
        first = {event.name: event for event in reversed(self.events)}
        return sorted(first.values(), key=lambda event: event.t)[:NAMED]


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
        if order == COORDINATE:  # quaternions say nothing to a reader
            lines += [line for joint in r.model.joints for line in angle_lines(r, joint)]
        for unit in ("rad", "m", "rad/s", "m/s", ""):
            yield from (line for line in lines if line.unit == unit)
    yield from quantity(r, "energy")
    yield from quantity(r, "work")


def distinguishable(results: Sequence[Sequence[Panel]], most: int) -> list[list[Panel]]:
    """The same panels of several results with at most so many lines each, the same of all: those that move most."""
    sizes: dict[tuple[str, str], dict[str, float]] = {}
    for panel in (panel for one in results for panel in one):
        size = sizes.setdefault((panel.title, panel.unit), {})
        for label, values in panel.lines.items():
            finite = values[np.isfinite(values)]
            size[label] = max(size.get(label, 0.0), float(np.ptp(finite)) if finite.size else 0.0)
    kept = {key: set(sorted(size, key=lambda label: -size[label])[:most]) for key, size in sizes.items()}

    def only(panel: Panel) -> Panel:
        lines = {label: values for label, values in panel.lines.items() if label in kept[panel.title, panel.unit]}
        return Panel(panel.title, panel.unit, lines, len(panel.lines) - len(lines))

    return [[only(panel) for panel in one] for one in results]


def charts(results: Results, what: Sequence[str] = (), over: str | None = None) -> Charts:
    """`what`, by the names of `quantities.py`, over time or over another quantity; several results on the same axes."""
    named = named_results(results)
    every = distinguishable([grouped(r, what) for r in named.values()], FEW if not what else MANY)
    across = {name: Line("t", "s", r.t) if over is None else _abscissa(r, over) for name, r in named.items()}
    first, out = next(iter(across.values())), {(panel.title, panel.unit): panel for one in every for panel in one}
    for k, (name, one) in enumerate(zip(named, every, strict=True)):
        for panel in one:
            for j, (label, y) in enumerate(panel.lines.items()):
                colour, dash = (j, k) if len(panel.lines) > 1 and len(named) > 1 else (j + k, j // len(COLOURS))
                full, x = label if len(named) == 1 else f"{label}, {name}", across[name].values
                curve = Curve(full, x, y, COLOURS[colour % len(COLOURS)], DASHES[dash % len(DASHES)])
                out[panel.title, panel.unit].curves.append(curve)
    for key, panel in out.items():
        _widen(panel.curves)
        if over is not None:  # the axis has the names of what was asked for
            asked = list(dict.fromkeys(label for one in every for p in one if (p.title, p.unit) == key for label in p.lines))
            title = ", ".join(asked) if len(asked) <= NAMES else panel.title
            out[key] = replace(panel, title=title, is_path=panel.unit == first.unit and panel.unit not in ("", "1"))
    events = [event for r in named.values() for event in r.events] if over is None else []
    axis, left = Panel(first.label, first.unit).axis, max(0, len(events) - MARKED)
    models = dict.fromkeys(r.model.name for r in named.values())
    status = dict.fromkeys(r.status for r in named.values() if r.status != "done")
    how = list(dict.fromkeys(f"{r.cost.method}, {r.cost.integrator}" for r in named.values()))
    title = ", ".join(models) + (f"   {', '.join(status)}" if status else "")
    note = how[0] if len(how) == 1 else ""  # how it was computed, where all were computed alike
    return Charts(title, note, axis, list(out.values()), events[:MARKED], left, over is None)


def _widen(curves: list[Curve]) -> None:
    """A curve is wider than those that are drawn upon it: near it for at least half of the way."""
    near = 0.003 * np.nanmax([np.nanmax(np.abs(curve.y), initial=0.0) for curve in curves], initial=0.0)
    for k in reversed(range(len(curves))):
        x, y = curves[k].x, curves[k].y
        upon = [c.width for c in curves[k + 1 :] if c.x.shape == x.shape and np.median(np.abs(y - c.y)) <= near]
        curves[k] = replace(curves[k], width=min(max(upon, default=0.0) + WIDER, WIDEST)) if upon else curves[k]


def named_results(results: Results) -> dict[str, Result]:
    """Results, each under a name that tells it from the others: what it was called, or the first of its settings that differs."""
    if isinstance(results, Result):
        return {results.model.name: results}
    if isinstance(results, (str, bytes)) or not isinstance(results, (Mapping, Sequence)):
        raise StateError(f"expected a result, results in a list or {{name: result}}; got {brief(results)}")
    given: dict[Any, Any] = dict(enumerate(results))
    if isinstance(results, Mapping):
        given = {name if isinstance(name, str) else brief(name): r for name, r in results.items()}
    if not given:
        raise StateError("no results to plot: the list is empty")
    for name, r in given.items():
        if not isinstance(r, Result):
            raise StateError(f"results to plot: expected a Result, got {brief(r)} as number or name {name!r}")
    if isinstance(results, Mapping):
        return given
    several = list(given.values())
    for names in ([r.model.name for r in several], [r.cost.method for r in several], [r.cost.integrator for r in several]):
        if len(set(names)) == len(several):
            return dict(zip(names, several, strict=True))
    return {f"result {k + 1}": r for k, r in enumerate(several)}


def _abscissa(r: Result, over: str) -> Line:
    lines = quantity(r, over)
    if len(lines) != 1:
        raise StateError(f"over={over!r}: it is several numbers, {', '.join(line.label for line in lines)}; name one of them")
    return lines[0]
