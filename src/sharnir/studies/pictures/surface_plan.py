"""Plan of a response surface: which inputs are its axes, which have panels, and at which values the others are held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import StateError, no_such
from ...types import IntArray
from .columns import Column, Table, sample

PANELS = 6
NODES = 300
"""Most values of an axis of a grid."""
POINTS = 3000
"""Most runs of a design."""


@dataclass(frozen=True)
class Panel:
    heading: str
    rows: IntArray
    """Runs drawn: for a grid (values of y, values of x), for a design (runs,)."""


@dataclass(frozen=True)
class Plan:
    x: Column
    y: Column | None
    """None: curves over x."""
    lines: Column | None
    """The input whose words have a curve each."""
    panels: list[Panel]
    averaged: list[Column]
    """Inputs of a design that vary as well: the surface is a mean over them."""
    notes: list[str]


def plan(table: Table, x: str | None, y: str | None) -> Plan:
    """The plan of a surface: numbers are axes before words, in the order of the study; words are curves or panels."""
    across, up, lines, rest = _axes(table, x, y)
    return (_grid if table.is_grid else _design)(table, across, up, lines, rest)


def _axes(table: Table, x: str | None, y: str | None) -> tuple[Column, Column | None, Column | None, list[Column]]:
    inputs = {c.name: c for c in table.inputs}
    if not inputs:
        raise StateError("the study has no inputs: there is nothing to draw its outputs over")
    for name in (x, y):
        if name is not None and name not in inputs:
            raise StateError(no_such("input", name, inputs))
    if x is not None and x == y:
        raise StateError(f"x and y are both {x!r}; a response surface needs two inputs")
    free = [c for c in inputs.values() if c.varies and c.name not in (x, y)]
    free.sort(key=lambda c: bool(c.words))
    if x is None and y is not None and len(inputs) == 1:
        raise StateError(f"y is {y!r}, the only input: give it as x to draw a curve")
    across = inputs[x] if x is not None else free.pop(0) if free else next(c for c in inputs.values() if c.name != y)
    up = lines = None
    if y is not None:
        up = inputs[y]
    elif free and (not free[0].words or across.words):
        up = free.pop(0)
    elif free:
        lines = free.pop(0)
    free.sort(key=lambda c: not c.words)
    return across, up, lines, free


def _grid(table: Table, x: Column, y: Column | None, lines: Column | None, rest: list[Column]) -> Plan:
    """Slices of a grid: a panel for each value of one more input, the rest held at its middle."""
    rows = np.arange(len(table)).reshape(table.shape)
    notes, held = [], []
    across = [c for c in (lines or y, x) if c is not None]
    kept = {}
    for c in across:
        kept[c.name] = _in_order(table, c, None if c.words else NODES)
        if len(kept[c.name]) < len(_in_order(table, c)):
            notes.append(f"{len(kept[c.name])} values of {c.name} are drawn")
    for c in rest[1:]:
        at = _in_order(table, c)
        kept[c.name] = at[[len(at) // 2]]
        held.append(f"{c.name} = {c.text(int(_along(table, c)[kept[c.name][0]]))}")
    if rest:
        kept[rest[0].name] = _in_order(table, rest[0], PANELS)
        if len(kept[rest[0].name]) < len(_in_order(table, rest[0])):
            notes.append(f"panels at {len(kept[rest[0].name])} values of {rest[0].name}")
    order = [c.name for c in (*rest[:1], *across) if c.name in table.dims]
    for axis, d in enumerate(table.dims):
        rows = np.take(rows, kept.get(d, np.array([0])), axis=axis)
    fixed = [d for d in table.dims if d not in order]
    rows = rows.transpose([table.dims.index(d) for d in (*fixed, *order)])
    rows = rows.reshape(len(kept[rest[0].name]) if rest else 1, len(kept[across[0].name]) if len(across) == 2 else 1, -1)
    panels = [Panel(_heading(rest[:1], int(r.flat[0])), r) for r in rows]
    if held:
        notes.insert(0, f"at {', '.join(held)} (the middle)")
    return Plan(x, y, lines, panels, [], notes)


def _design(table: Table, x: Column, y: Column | None, lines: Column | None, rest: list[Column]) -> Plan:
    """Panels of a design, by the words of one input; over all other inputs the surface is a mean."""
    drawn = [x, *([y] if y else []), *table.outputs]
    rows = sample(table, drawn, POINTS)
    notes = []
    split = rest[0] if rest and rest[0].words else None
    panels = [Panel("", rows)]
    if split:
        parts = [rows[split.values[rows] == k] for k in range(len(split.words))]
        panels = [Panel(_heading([split], int(part[0])), part) for part in parts if len(part)]
        if len(panels) > PANELS:
            notes.append(f"{len(panels) - PANELS} more values of {split.name} are not drawn")
        panels = panels[:PANELS]
    return Plan(x, y, lines, panels, [c for c in rest if c is not split], notes)


def _along(table: Table, c: Column) -> IntArray:
    """Runs along the dimension of an input, the others at their first value."""
    axis = table.dims.index(c.name)
    return np.arange(table.shape[axis]) * int(np.prod(table.shape[axis + 1 :]))


def _in_order(table: Table, c: Column, most: int | None = None) -> IntArray:
    """Indices along the dimension of an input by rising value; at most so many, evenly spaced with both ends."""
    if c.name not in table.dims:  # constant
        return np.array([0])
    along = _along(table, c)
    n = len(along)
    order = np.arange(n) if c.words else np.argsort(c.values[along], kind="stable")
    if most is not None and n > most:
        order = order[np.linspace(0, n - 1, most).round().astype(int)]
    return order


def _heading(columns: list[Column], row: int) -> str:
    return ", ".join(f"{c.name} = {c.text(row)}" + (f" {c.units}" if c.units not in ("", "1") else "") for c in columns)
