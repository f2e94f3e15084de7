"""Camera of a scene, and the projection of points onto the picture: the same for pages, live views and pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..errors import StateError, brief, known, no_such
from ..types import FloatArray, real_array
from .outline import box_corners
from .scene import Scene

ViewDirection: TypeAlias = str | Sequence[float] | None
"""A view by name, the direction from the mechanism to the camera, or None: a little from above and aside."""
FIELD = 35.0
"""Vertical angle of view in degrees: narrow, for little distortion by perspective."""
MARGIN = 1.12
"""Room around the mechanism."""


@dataclass(frozen=True, eq=False)
class Camera:
    """A pinhole camera."""

    position: FloatArray
    target: FloatArray
    up: FloatArray
    field: float = FIELD

    def axes(self) -> FloatArray:
        """(3, 3): right, up and backward in the world, as rows."""
        back = (self.position - self.target) / np.linalg.norm(self.position - self.target)
        right = np.cross(self.up, back)
        right = right / np.linalg.norm(right)
        return np.array([right, np.cross(back, right), back])

    def project(self, points: FloatArray, width: float, height: float) -> FloatArray:
        """(…, 3): pixels to the right and down from the upper left corner, and depth in front of the camera, m."""
        x, y, z = np.moveaxis((points - self.position) @ self.axes().T, -1, 0)
        focal = 0.5 * height / math.tan(math.radians(self.field) / 2)
        return np.stack([0.5 * width + focal * x / -z, 0.5 * height - focal * y / -z, -z], axis=-1)


def camera_for(scene: Scene, aspect: float = 16 / 9, direction: Sequence[float] | None = None) -> Camera:
    """A camera that sees the whole motion. By default from where a planar mechanism is seen flat, a little from above and
    aside; `direction` from the mechanism to the camera, in the world."""
    centre = 0.5 * (scene.low + scene.high)
    half = np.maximum(0.5 * (scene.high - scene.low), 0.04 * scene.size)
    away = _three_quarters(scene) if direction is None else np.array(direction, dtype=float)
    away = away / np.linalg.norm(away)
    up = scene.up
    if abs(up @ away) >= 0.999:  # seen from above: x, or the axis most like it, is to the right
        up = np.cross(up, np.eye(3)[0 if abs(up[0]) < 0.9 else 1])
        up = up / np.linalg.norm(up)
    axes = Camera(centre + away, centre, up).axes()
    corners = box_corners(-half, half) @ axes.T
    slope, shift, distance = math.tan(math.radians(FIELD) / 2), np.zeros(3), 0.0
    for _ in range(6):  # what is nearer looks larger: the middle of the picture is not the middle of the box
        right, above, back = (corners - shift).T
        distance = MARGIN * float(max((np.abs(above) / slope + back).max(), (np.abs(right) / (slope * aspect) + back).max()))
        seen = (corners - shift)[:, :2] / (distance - back)[:, None]
        shift[:2] += 0.5 * (seen.max(axis=0) + seen.min(axis=0)) * distance
    target = centre + shift @ axes
    return Camera(target + away * max(1.02 * distance, 1e-9), target, up)


VIEWS = ("front", "side", "top")
"""Directions that have names: a flat mechanism is seen flat from the front."""


def direction_of(scene: Scene, view: ViewDirection) -> Sequence[float] | None:
    """Direction from the mechanism to the camera, checked."""
    if view is None:
        return None
    if isinstance(view, str):
        if view not in VIEWS:
            raise StateError(f"view: {no_such('view', view, VIEWS)}, or give a direction: three numbers, to the camera")
        front = _front(scene)
        found: FloatArray = {"front": front, "side": np.cross(scene.up, front), "top": scene.up}[view]
    else:
        found = real_array(view, "view")
        if found.shape != (3,) or not np.isfinite(found).all() or not found.any():
            expected = f"{known(VIEWS)} or three numbers, from the mechanism to the camera"
            raise StateError(f"view: expected {expected}, got {brief(view)}")
    return found.tolist()


def _front(scene: Scene) -> FloatArray:
    """Direction of the thinnest horizontal side."""
    up, extent = scene.up, scene.high - scene.low
    sides = [e for e in np.eye(3) if abs(e @ up) < 0.9]
    front = min(sides, key=lambda e: float(e @ extent))
    front = front - (front @ up) * up
    front = front / np.linalg.norm(front)
    return front if front @ np.array([1.0, -1.0, 0.5]) >= 0.0 else -front


def _three_quarters(scene: Scene) -> FloatArray:
    """Direction from the front, turned by 35° and raised by 20°; a flat mechanism is turned less."""
    up, front, extent = scene.up, _front(scene), scene.high - scene.low
    flat = 1.0 - min(1.0, 2.0 * float(np.abs(front) @ extent / max(extent.max(), 1e-300)))
    aside = np.cross(up, front)
    turn, rise = math.radians(35.0 - 15.0 * flat), math.radians(20.0 - 5.0 * flat)
    level: FloatArray = math.cos(turn) * front + math.sin(turn) * aside
    return math.cos(rise) * level + math.sin(rise) * up
