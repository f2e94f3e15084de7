"""Forces and reactions as arrows, all of one layer to one scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.joints.elastic import Elastic
from ..simulation.results.result import Result
from ..types import FloatArray
from .outline import Outline
from .scene import Anchor, Colour, Span
from .solids import cone, rod

ROUNDING = 1e-6
"""A moment below that of its force at this share of the mechanism's size counts as zero."""
PREFIXES = {-2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G"}
LONGEST = 0.3
"""The longest arrow of a layer, in sizes of the mechanism."""
COLOURS: dict[str, tuple[Colour, Colour]] = {
    "forces": ((0.10, 0.55, 0.35, 1.0), (0.45, 0.65, 0.10, 1.0)),
    "reactions": ((0.80, 0.18, 0.28, 1.0), (0.62, 0.25, 0.72, 1.0)),
}
"""Colours of forces and of moments, by layer."""


@dataclass(frozen=True, eq=False)
class Load:
    """A force or a moment over time, at a point of a body."""

    name: str
    start: Anchor
    vector: FloatArray
    """(T, 3) in the world, N or N m."""
    is_moment: bool


def arrows(layer: str, loads: Sequence[Load], size: float) -> tuple[list[Span], str]:
    """Shafts and heads, and what their length means; a moment has two heads."""
    spans, words, least = list[Span](), list[str](), 0.0
    for moments, unit in ((False, "N"), (True, "N m")):
        alike = [x for x in loads if x.is_moment == moments]
        most = max((float(np.nanmax(np.linalg.norm(x.vector, axis=1), initial=0.0)) for x in alike), default=0.0)
        if most <= least:
            continue
        least = 1e-9 * most * size  # moments of forces that are known to rounding
        power = min(max(math.floor(math.log10(most) / 3), -2), 3)
        words.append(f"{most / 1000.0**power:.3g} {PREFIXES[power]}{unit}")
        for x in alike:
            way = x.vector * (LONGEST * size / most)
            if float(np.nanmax(np.abs(way), initial=0.0)) > 1e-3 * size:
                spans += _arrow(layer, x, way, 0.005 * size, COLOURS[layer][moments])
    return spans, f"{layer}: longest arrow of the run {' or '.join(words)}" if words else ""


def _arrow(layer: str, load: Load, way: FloatArray, width: float, colour: Colour) -> Iterable[Span]:
    way = np.where(np.isfinite(way), way, 0.0)
    yield Span(load.name, layer, rod(8), colour, width, load.start, vector=way, share=(0.0, 0.8))
    for share in ((0.62, 0.81), (0.81, 1.0)) if load.is_moment else ((0.76, 1.0),):
        yield Span(load.name, layer, cone(8), colour, 2.6 * width, load.start, vector=way, share=share)


def reactions(o: Outline, r: Result) -> list[Load]:
    """Reaction of every joint on the body it carries, at the joint."""
    found = []
    for joint in (*o.model.joints, *o.model.closing_joints):
        if isinstance(joint.type, Elastic):
            continue
        wrench, name = r.reaction(joint.name, axes="world", at="joint"), f"reaction of {joint.name}"
        start = o.anchor(joint.child, joint.child_at.position)
        found += [Load(name, start, wrench[:, :3], False), Load(name, start, wrench[:, 3:], True)]
    return found


def forces(o: Outline, r: Result) -> list[Load]:
    """Loads of every force of the model on every body, at the points where they act."""
    found, bodies = [], {b.name for b in o.model.bodies}
    rotation, _ = r.poses
    for name, action in r.force_actions.items():
        for body, wrench in action.items():
            if body not in bodies or wrench.ndim != 2 or wrench.shape[1] != 6:
                continue  # on a joint: not an arrow
            i = o.carriers.index(body)
            force, moment = wrench[:, :3], wrench[:, 3:]
            point = _point_of(force, moment, o.size)
            left = moment - np.cross(point, force)
            left[np.linalg.norm(left, axis=1) < ROUNDING * o.size * np.linalg.norm(force, axis=1)] = 0.0
            start, R = Anchor(i, point), rotation[:, i]
            found.append(Load(f"force {name} on {body}", start, np.einsum("tij,tj->ti", R, force), False))
            found.append(Load(f"moment {name} on {body}", start, np.einsum("tij,tj->ti", R, left), True))
    return found


def _point_of(force: FloatArray, moment: FloatArray, size: float) -> FloatArray:
    """Where a force acts on a body, from its moments at all times: the shortest p with moment = p × force, by least squares. The
    body's origin where that is far away: such a load is rather a moment."""
    good = np.isfinite(force).all(axis=1) & np.isfinite(moment).all(axis=1)
    f, m = force[good], moment[good]
    if not f.any():
        return np.zeros(3)
    rows = -np.cross(f[:, None, :], np.eye(3)[None]).transpose(0, 2, 1).reshape(-1, 3)  # p × f = −f × p
    point = np.asarray(np.linalg.lstsq(rows, m.reshape(-1), rcond=1e-9)[0], dtype=float)
    return point if np.linalg.norm(point) < size else np.zeros(3)
