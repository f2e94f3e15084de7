"""Panels of one result or several as curves with colours: what Matplotlib and plotly draw alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...errors import StateError, brief
from ...reporting.pictures import COLOURS
from ...types import FloatArray
from .lines import Line
from .panels import FEW, MANY, Panel, distinguishable, grouped
from .quantities import quantity
from .records import EventRecord
from .result import Result

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
class Chart:
    """A panel as it is drawn."""

    panel: Panel
    curves: list[Curve] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Charts:
    """One under the other, with a common horizontal axis."""

    title: str
    note: str
    axis: str
    """The label of the horizontal axis."""
    charts: list[Chart]
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


def charts(results: Results, what: Sequence[str] = (), over: str | None = None) -> Charts:
    """`what`, by the names of `quantities.py`, over time or over another quantity; several results on the same axes."""
    named = named_results(results)
    panels = distinguishable([grouped(r, what) for r in named.values()], FEW if not what else MANY)
    across = {name: _abscissa(r, over) for name, r in named.items()}
    out = {(panel.title, panel.unit): Chart(panel) for one in panels for panel in one}
    for k, (name, one) in enumerate(zip(named, panels, strict=True)):
        for panel in one:
            chart = out[panel.title, panel.unit]
            for j, (label, y) in enumerate(panel.lines.items()):
                colour, dash = (j, k) if len(panel.lines) > 1 and len(named) > 1 else (j + k, j // len(COLOURS))
                full = label if len(named) == 1 else f"{label}, {name}"
                x = across[name].values
                chart.curves.append(Curve(full, x, y, COLOURS[colour % len(COLOURS)], DASHES[dash % len(DASHES)]))
    for chart in out.values():
        _widen(chart.curves)
    first = next(iter(across.values()))
    events = [event for r in named.values() for event in r.events] if over is None else []
    axis, left = Panel(first.label, first.unit).axis, max(0, len(events) - MARKED)
    return Charts(_title(named), _note(named), axis, list(out.values()), events[:MARKED], left, over is None)


def _widen(curves: list[Curve]) -> None:
    """A curve is wider than those that are drawn upon it."""
    size = np.nanmax([np.nanmax(np.abs(curve.y), initial=0.0) for curve in curves], initial=0.0)
    for k in reversed(range(len(curves))):
        upon = [c.width for c in curves[k + 1 :] if _coincide(curves[k], c, 0.003 * size)]
        curves[k] = replace(curves[k], width=min(max(upon, default=0.0) + WIDER, WIDEST)) if upon else curves[k]


def _coincide(a: Curve, b: Curve, distance: float) -> bool:
    """For at least half of the way."""
    return a.x.shape == b.x.shape and bool(np.median(np.abs(a.y - b.y)) <= distance)


def named_results(results: Results) -> dict[str, Result]:
    """Each under a name that tells it from the others: what it was called, or the first of its settings that differs."""
    if isinstance(results, Result):
        return {results.model.name: results}
    if isinstance(results, Mapping):
        return _checked({name if isinstance(name, str) else brief(name): r for name, r in results.items()})
    if isinstance(results, (str, bytes)) or not isinstance(results, Sequence):
        raise StateError(f"expected a result, results in a list or {{name: result}}; got {brief(results)}")
    several = list(results)
    _checked(dict(enumerate(several)))
    for names in ([r.model.name for r in several], [r.cost.method for r in several], [r.cost.integrator for r in several]):
        if len(set(names)) == len(several):
            return dict(zip(names, several, strict=True))
    return {f"result {k + 1}": r for k, r in enumerate(several)}


def _checked(named: dict[Any, Any]) -> dict[Any, Result]:
    if not named:
        raise StateError("no results to plot: the list is empty")
    for name, r in named.items():
        if not isinstance(r, Result):
            raise StateError(f"results to plot: expected a Result, got {brief(r)} as number or name {name!r}")
    return named


def _abscissa(r: Result, over: str | None) -> Line:
    if over is None:
        return Line("t", "s", r.t)
    lines = quantity(r, over)
    if len(lines) != 1:
        raise StateError(f"over={over!r}: it is several numbers, {', '.join(line.label for line in lines)}; name one of them")
    return lines[0]


def _title(named: Mapping[str, Result]) -> str:
    models = list(dict.fromkeys(r.model.name for r in named.values()))
    status = [r.status for r in named.values() if r.status != "done"]
    return ", ".join(models) + (f"   {', '.join(dict.fromkeys(status))}" if status else "")


def _note(named: Mapping[str, Result]) -> str:
    """How it was computed, where all were computed alike."""
    how = list(dict.fromkeys(f"{r.cost.method}, {r.cost.integrator}" for r in named.values()))
    return how[0] if len(how) == 1 else ""
