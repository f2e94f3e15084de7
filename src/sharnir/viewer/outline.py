"""Where the parts of a model are: what carries them, at which points bodies are attached, and lengths to draw in proportion to.

A flexible body has no single pose: whatever is drawn of it hangs on a place, which has a row of poses of its own and moves with
the deformation. Renderers need not know: to them a place is one more body.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..model.constraints import Distance
from ..model.deformation import Material, material
from ..model.flexible import FlexibleBeam, ModalBody
from ..model.forces import Bushing, SpringDamper, Tendon
from ..model.model import Model
from ..model.pose import Pose
from ..types import FloatArray
from .scene import GROUND, Anchor, Geometry, box_corners


@dataclass(eq=False)
class Carriers:
    """Rows of poses of a model without parameters. Places are added while a scene is made."""

    model: Model
    places: list[tuple[int, Pose]] = field(default_factory=list)
    """Bodies and places on them, where they are undeformed; their rows follow those of bodies and base."""

    @property
    def first(self) -> int:
        """The row of the first place."""
        return len(self.model.bodies) + (self.model.base_motion is not None)

    @property
    def names(self) -> tuple[str, ...]:
        """Name of every row: of a place, that of its body."""
        bodies = [body.name for body in self.model.bodies]
        return (*bodies, *["base"] * (self.model.base_motion is not None), *(bodies[i] for i, _ in self.places))

    @property
    def hidden(self) -> frozenset[int]:
        """Rows that are no bodies: the elastic coordinates of a body are a row of the tree."""
        return frozenset(d.row - 1 for d in self.model.structure.deformations.values())

    def index(self, body: str) -> int:
        """The row of a body. A base that moves counts as one more body, after all others."""
        if body != "ground":
            return self.model.body_index(body)
        return GROUND if self.model.base_motion is None else len(self.model.bodies)

    def is_flexible(self, i: int) -> bool:
        return i + 1 in self.model.structure.deformations

    def carry(self, body: str, at: Pose) -> tuple[int, Pose]:
        """The row that carries something at a pose on a body, and its pose there."""
        i = self.index(body)
        if not self.is_flexible(i):
            return i, at
        for k, (owner, there) in enumerate(self.places):
            if owner == i and there.position == at.position:
                return self.first + k, Pose(rotation=at.rotation)
        self.places.append((i, Pose(at.position)))
        self.__dict__.pop("_by_body", None)
        return self.first + len(self.places) - 1, Pose(rotation=at.rotation)

    def nearest(self, body: str, point: FloatArray) -> Anchor:
        """A point of a body, on the nearest existing row: for additions to a finished scene."""
        i = self.index("ground" if body == "base" else body)
        own = [(k, np.array(at.position, dtype=float)) for k, (owner, at) in enumerate(self.places) if owner == i]
        if not self.is_flexible(i) or not own:
            return Anchor(i, point)
        k, at = min(own, key=lambda x: float(np.linalg.norm(x[1] - point)))
        return Anchor(self.first + k, point - at)

    def poses(self, t: FloatArray, q: FloatArray, rotation: FloatArray, position: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(T, rows, 3, 3), (T, rows, 3) at coordinates q (T, nq), from the poses of the bodies."""
        R, r = [rotation], [position]
        if self.model.base_motion is not None:
            base = [self.model.base_motion(float(x)) for x in t]
            R.append(np.array([pose.rotation.matrix for pose in base], dtype=float)[:, None])
            r.append(np.array([pose.position for pose in base], dtype=float)[:, None])
        if self.places:
            turned, moved = np.empty((len(q), len(self.places), 3, 3)), np.empty((len(q), len(self.places), 3))
            for i, rows, there in self._by_body:
                d = self.model.structure.deformations[i + 1]
                first = int(self.model.structure.q_first[d.row])
                now = there.moved(q[:, None, first : first + d.n])
                turned[:, rows] = rotation[:, i, None] @ now.rotation
                moved[:, rows] = position[:, i, None] + (rotation[:, i, None] @ now.position[..., None])[..., 0]
            R.append(turned)
            r.append(moved)
        return np.concatenate(R, axis=1), np.concatenate(r, axis=1)

    @cached_property
    def _by_body(self) -> list[tuple[int, list[int], Material]]:
        """Flexible bodies with their places; computed anew when places were added."""
        made = []
        for i in dict.fromkeys(owner for owner, _ in self.places):
            rows = [k for k, (owner, _) in enumerate(self.places) if owner == i]
            points = np.array([self.places[k][1].position for k in rows], dtype=float)
            made.append((i, rows, material(self.model.structure.deformations[i + 1].shapes, points)))
        return made


# --- the extent of a model
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


def corners(geometry: Geometry, at: FloatArray) -> list[FloatArray]:
    """Corners of the box around a geometry, where it is placed."""
    box = box_corners(geometry.vertices.min(axis=0), geometry.vertices.max(axis=0))
    return list(box @ at[:3, :3].T + at[:3, 3])


def outline(
    carriers: Carriers, rotation: FloatArray, position: FloatArray, looks: Sequence[tuple[int, Sequence[FloatArray]]]
) -> Outline:
    """Outline of a model without parameters in the position given (N, 3, 3), (N, 3). `looks`: points of what bodies look like."""
    model, n, fixed = carriers.model, len(carriers.model.bodies), list[FloatArray]()
    attached: list[list[FloatArray]] = [[] for _ in range(n)]

    def attach(body: str, point: Iterable[float]) -> None:
        (fixed if body == "ground" else attached[model.body_index(body)]).append(np.array(list(point), dtype=float))

    for body, joint in zip(model.bodies, model.joints, strict=True):  # first what carries a body
        attach(body.name, (joint.child_at if joint.child == body.name else joint.at).position)
    for joint in (*model.joints, *model.closing_joints):
        attach(joint.child, joint.child_at.position)
        attach(joint.parent, joint.at.position)
    for x in (*model.forces.values(), *model.constraints.values()):
        if isinstance(x, (SpringDamper, Distance)):
            attach(x.a, x.at_a)
            attach(x.b, x.at_b)
        elif isinstance(x, Bushing):
            attach(x.a, x.at_a.position)
            attach(x.b, x.at_b.position)
        elif isinstance(x, Tendon):
            for end in x.points:
                attach(*end)
    extent = [[*points, np.array(body.com, dtype=float)] for points, body in zip(attached, model.bodies, strict=True)]
    for own, body in zip(extent, model.bodies, strict=True):  # flexible ones as they are undeformed
        if isinstance(body.flexible, FlexibleBeam):
            own += [np.zeros(3), np.array([body.flexible.length, 0.0, 0.0])]
        elif isinstance(body.flexible, ModalBody):
            own += [np.array(at, dtype=float) for at in body.flexible.nodes.values()]
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
    if not size > 0.0:  # all points coincide: by the largest radius of gyration
        size = 3.0 * max((math.sqrt(max(b.inertia[:3]) / b.mass) for b in model.bodies if b.mass > 0.0), default=0.0) or 1.0
    return Outline(model, attached, extent, fixed, np.where(lengths > 0.0, lengths, 0.2 * size), size, carriers)


def _spread(points: Sequence[FloatArray] | FloatArray) -> float:
    """Diagonal of the box around points."""
    if len(points) < 2:
        return 0.0
    x = np.asarray(points)
    return float(np.linalg.norm(x.max(axis=0) - x.min(axis=0)))
