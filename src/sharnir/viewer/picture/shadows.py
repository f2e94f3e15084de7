"""The lamp of a picture, and the shadows it throws: soft on the ground, the softer the higher up what throws them."""

from __future__ import annotations

import numpy as np

from ...types import FloatArray
from ..camera import Camera
from ..scene import Scene

TEXELS = 768
"""Squares along a side of what the lamp sees."""

ABOVE_ALL = 1e29
"""No surface is so high."""

MARGIN = 0.12
"""Room for soft edges, as a share of that side."""


def lamp(scene: Scene, camera: Camera) -> FloatArray:
    """Direction to the lamp: over the left shoulder of who looks."""
    right = camera.axes()[0]
    right = right - (right @ scene.up) * scene.up
    right /= max(float(np.linalg.norm(right)), 1e-12)
    toward = np.cross(right, scene.up)
    direction: FloatArray = scene.up - 0.42 * right + 0.5 * toward
    return direction / np.linalg.norm(direction)


def cast_map(scene: Scene, direction: FloatArray, height: float, texels: int = TEXELS) -> tuple[FloatArray, float]:
    """(4, 3) of `kernels.place.View.sun`, and texels in a metre. The whole motion has room: it is the same for all frames."""
    up = scene.up
    e = np.eye(3)[int(np.argmin(np.abs(up)))]
    e1 = e - (e @ up) * up
    e1 /= np.linalg.norm(e1)
    e2 = np.cross(up, e1)
    rows = np.stack([axis - (axis @ direction) / (up @ direction) * up for axis in (e1, e2)])
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    corners = scene.low + corners * (scene.high - scene.low)
    base = 0.5 * (scene.low + scene.high)
    base = base + (height - up @ base) * up
    seen = (corners - base) @ rows.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    side = max(float((high - low).max()), 1e-3 * scene.size, 1e-9) * (1.0 + 2.0 * MARGIN)
    scale = texels / side
    middle = 0.5 * (low + high)
    origin = base + (middle[0] - 0.5 * side) * e1 + (middle[1] - 0.5 * side) * e2
    return np.vstack([scale * rows, scale * up, origin]), scale


def soft(lowest: FloatArray) -> FloatArray:
    """(n/2, n/2) 0 to 1: the shadow on the ground, from the height (texels) of the lowest surface over each of n × n squares.

    What is near the ground throws a sharp shadow, what is high a soft and paler one.
    """
    from scipy.ndimage import gaussian_filter

    lowest = np.minimum(lowest[::2], lowest[1::2])
    lowest = 0.5 * np.minimum(lowest[:, ::2], lowest[:, 1::2])
    n = lowest.shape[0]
    covered = lowest < ABOVE_ALL
    if not covered.any():
        return np.zeros((n, n))
    height = np.minimum(lowest, n).astype(np.float32) / n
    near = np.where(covered, np.exp(height * (-1 / 0.06)), 0.0)
    middle = np.where(covered, np.exp(height * (-1 / 0.22)), 0.0) - near
    far = covered - near - middle
    out = gaussian_filter(near, 1.0, truncate=2.5)
    for layer, sigma, strength, step in ((middle, 3.5, 0.9, 2), (far, 8.0, 0.75, 4)):
        out += strength * _enlarged(gaussian_filter(_reduced(layer, step), sigma / step, truncate=2.5), step)
    return np.clip(out, 0.0, 1.0).astype(float)


def _reduced(layer: np.ndarray, step: int) -> np.ndarray:
    """Means of squares."""
    while step > 1:
        rows = layer[::2] + layer[1::2]
        layer, step = (rows[:, ::2] + rows[:, 1::2]) * np.float32(0.25), step // 2
    return layer


def _enlarged(small: np.ndarray, step: int) -> np.ndarray:
    """Linear between the middles of the squares."""
    from scipy.ndimage import uniform_filter1d

    for axis in (0, 1):
        small = uniform_filter1d(np.repeat(small, step, axis=axis), step, axis=axis)
    return small
