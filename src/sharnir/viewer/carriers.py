"""Carriers of the parts of a scene, a row of poses each: bodies, a base that moves, places of flexible bodies.

A flexible body has no single pose: whatever is drawn of it hangs on a place, which has a row of its own and moves with the
deformation. Renderers need not know: to them a place is one more body.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..model.deformation import Material, material
from ..model.model import Model
from ..model.pose import Pose
from ..types import FloatArray

GROUND = -1
"""The carrier of what does not move."""


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

    def nearest(self, body: str, point: FloatArray) -> tuple[int, FloatArray]:
        """The nearest existing row, and a point in its axes: for additions to a finished scene."""
        i = self.index(body)
        own = [(k, np.array(at.position, dtype=float)) for k, (owner, at) in enumerate(self.places) if owner == i]
        if not self.is_flexible(i) or not own:
            return i, point
        k, at = min(own, key=lambda x: float(np.linalg.norm(x[1] - point)))
        return self.first + k, point - at

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
