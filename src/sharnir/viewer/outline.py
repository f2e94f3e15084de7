"""Where the parts of a model are: points of every body at which something is attached, and lengths to draw in proportion to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..model.constraints import Distance, Rolling
from ..model.flexible import FlexibleBeam, ModalBody
from ..model.forces import Bushing, SpringDamper, Tendon
from ..model.model import Model
from ..model.pose import Pose
from ..types import FloatArray
from .carriers import Carriers
from .scene import Anchor, Geometry

FEW = 200
"""Bodies up to which everything is drawn in full."""


@dataclass(frozen=True, eq=False)
class Outline:
    """A model without parameters, and its extent."""

    model: Model
    attached: list[list[FloatArray]]
    """Points of the joints and forces of every body, in its axes: first that of the joint which carries it."""
    extent: list[list[FloatArray]]
    """Points that a picture of the body must show: those, its centre of mass, and the corners of what it looks like."""
    fixed: list[FloatArray]
    """Such points of the ground."""
    lengths: FloatArray
    """(N,): largest distance between the points of every body."""
    size: float
    """Length of the mechanism, m."""
    carriers: Carriers

    @cached_property
    def rolling(self) -> frozenset[int]:
        """Bodies that roll on a plane."""
        return frozenset(self.model.body_index(c.body) for c in self.model.constraints.values() if isinstance(c, Rolling))

    @property
    def sides(self) -> int:
        """Sides of round solids: fewer for many bodies, each of which is small on the picture."""
        return 36 if len(self.lengths) <= FEW else 8

    def length(self, body: int) -> float:
        """Length of a body; for the ground, that of the mechanism."""
        return float(self.lengths[body]) if 0 <= body < len(self.lengths) else self.size

    def width(self, body: int) -> float:
        """Thickness of a bar of a body, or of its joints."""
        length = self.length(body)
        return float(min(max(0.045 * length, 0.0015 * self.size), 0.014 * self.size))

    def anchor(self, body: str, point: Iterable[float]) -> Anchor:
        carrier, at = self.carriers.carry(body, Pose(tuple(float(x) for x in point)))
        return Anchor(carrier, np.array(at.position, dtype=float))

    def carried(self, body: str, at: Pose, scale: Sequence[float] = (1.0, 1.0, 1.0)) -> tuple[int, FloatArray]:
        """The carrier of a part at a pose on a body, and where it is there (4, 4)."""
        carrier, pose = self.carriers.carry(body, at)
        return carrier, matrix(pose, scale)


def matrix(pose: Pose, scale: Sequence[float] = (1.0, 1.0, 1.0)) -> FloatArray:
    """(4, 4): scale, then pose."""
    out = np.eye(4)
    out[:3, :3] = np.asarray(pose.rotation.matrix, dtype=float) * np.asarray(scale)
    out[:3, 3] = pose.position
    return out


def box_corners(low: FloatArray, high: FloatArray) -> FloatArray:
    """(8, 3)."""
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def corners(geometry: Geometry, at: FloatArray) -> list[FloatArray]:
    """Corners of the box around a geometry, where it is placed."""
    box = box_corners(geometry.vertices.min(axis=0), geometry.vertices.max(axis=0))
    return list(box @ at[:3, :3].T + at[:3, 3])


def outline(
    carriers: Carriers, rotation: FloatArray, position: FloatArray, looks: Sequence[tuple[int, Sequence[FloatArray]]]
) -> Outline:
    """Outline of a model without parameters in the position given (N, 3, 3), (N, 3). `looks`: points of what bodies look like."""
    model, n = carriers.model, len(carriers.model.bodies)
    attached: list[list[FloatArray]] = [[] for _ in range(n)]
    fixed: list[FloatArray] = []

    def attach(body: str, point: Iterable[float]) -> None:
        (fixed if body == "ground" else attached[model.body_index(body)]).append(np.array(list(point), dtype=float))

    for body, joint in zip(model.bodies, model.joints, strict=True):  # first what carries a body
        attach(body.name, (joint.child_at if joint.child == body.name else joint.at).position)
    for joint in (*model.joints, *model.closing_joints):
        attach(joint.child, joint.child_at.position)
        attach(joint.parent, joint.at.position)
    for end in _ends(model):
        attach(*end)
    extent = [list(points) for points in attached]
    for i, body in enumerate(model.bodies):
        extent[i].append(np.array(body.com, dtype=float))
        extent[i].extend(_ends_of_flexible(body.flexible))
    for i, points in looks:
        if 0 <= i < n:
            extent[i].extend(points)
    lengths = np.array([_spread(points) for points in extent])
    world = [position[i] + x @ rotation[i].T for i, points in enumerate(extent) for x in (np.array(points),)]
    size = _spread(np.concatenate([*world, np.array(fixed).reshape(-1, 3)]))
    for i, points in looks:
        if not 0 <= i < n and (_spread(points) < size or not size > 0.0):  # a table counts, the floor of a hall does not
            fixed.extend(points)
    everything = np.concatenate([*world, np.array(fixed).reshape(-1, 3)])
    size = _spread(everything[np.isfinite(everything).all(axis=1)])
    size = size if size > 0.0 else float(_inertial_size(model)) or 1.0
    return Outline(model, attached, extent, fixed, np.where(lengths > 0.0, lengths, 0.2 * size), size, carriers)


def _ends(model: Model) -> Iterable[tuple[str, Iterable[float]]]:
    """Bodies and points between which forces and constraints act."""
    for x in (*model.forces.values(), *model.constraints.values()):
        if isinstance(x, (SpringDamper, Distance)):
            yield from ((x.a, x.at_a), (x.b, x.at_b))
        elif isinstance(x, Bushing):
            yield from ((x.a, x.at_a.position), (x.b, x.at_b.position))
        elif isinstance(x, Tendon):
            yield from x.points


def _ends_of_flexible(flexible: object) -> list[FloatArray]:
    """Points of the undeformed body that a picture must show."""
    if isinstance(flexible, FlexibleBeam):
        return [np.zeros(3), np.array([flexible.length, 0.0, 0.0])]
    return [np.array(x, dtype=float) for x in flexible.nodes.values()] if isinstance(flexible, ModalBody) else []


def _spread(points: Sequence[FloatArray] | FloatArray) -> float:
    """Diagonal of the box around points."""
    if len(points) < 2:
        return 0.0
    x = np.asarray(points)
    return float(np.linalg.norm(x.max(axis=0) - x.min(axis=0)))


def _inertial_size(model: Model) -> float:
    """Size of a model whose points coincide: from the largest radius of gyration."""
    radii = [math.sqrt(max(body.inertia[:3]) / body.mass) for body in model.bodies if body.mass > 0.0]
    return 3.0 * max(radii, default=0.0)
