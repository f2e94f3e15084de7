"""Triangles that reach behind the camera: the part in front of it."""

from __future__ import annotations

import numpy as np

from ...types import FloatArray
from .kernels.place import Placed, View
from .stage import Stage

Clipped = tuple[FloatArray, FloatArray, FloatArray, np.ndarray, np.ndarray, np.ndarray]


def clipped(stage: Stage, placed: Placed, view: View) -> Clipped:
    """Screen, normals, colours, faces, which faces are opaque and which translucent: those given, where nothing reaches behind
    the camera."""
    screen, faces = placed.screen, stage.faces
    whole = screen, placed.turned, stage.colours, faces, stage.opaque, stage.translucent
    if not (screen[:, 2] < 0.0).any():
        return whole
    behind = screen[faces, 2] < 0.0
    cut = np.flatnonzero(behind.any(axis=1) & ~behind.all(axis=1))
    if not len(cut):
        return whole
    at = faces[cut]
    corners = np.concatenate([_in_axes(stage, placed, view, at), placed.turned[at], stage.colours[at]], axis=2)
    depth = -corners[:, :, 2] - view.near[0]
    made, source = [], []
    for f, triangle, d in zip(cut, corners, depth, strict=True):
        polygon = _in_front(triangle, d)
        for j in range(1, len(polygon) - 1):
            made.append([polygon[0], polygon[j], polygon[j + 1]])
            source.append(f)
    new = np.array(made).reshape(-1, 10)
    see_through = np.isin(source, stage.translucent)
    first = len(faces) + np.arange(len(source))
    return (
        np.concatenate([screen, _projected(new[:, :3], view)]),
        np.concatenate([placed.turned, new[:, 3:6]]),
        np.concatenate([stage.colours, new[:, 6:]]),
        np.concatenate([faces, len(screen) + np.arange(len(new)).reshape(-1, 3)]),
        np.concatenate([stage.opaque, first[~see_through]]),
        np.concatenate([stage.translucent, first[see_through]]),
    )


def _in_axes(stage: Stage, placed: Placed, view: View, at: np.ndarray) -> FloatArray:
    """(…, 3): vertices in the axes of the camera."""
    pose = placed.pose[stage.item[at]]
    world = np.einsum("...ij,...j->...i", pose[..., :9].reshape(*at.shape, 3, 3), stage.vertices[at]) + pose[..., 18:]
    seen: FloatArray = (world - view.camera[:3]) @ view.camera[3:12].reshape(3, 3).T
    return seen


def _in_front(corners: FloatArray, d: FloatArray) -> list[FloatArray]:
    """The polygon where d > 0 (Sutherland, Hodgman 1974)."""
    out = []
    for j in range(3):
        a, b, da, db = corners[j - 1], corners[j], d[j - 1], d[j]
        if (da > 0.0) != (db > 0.0):
            out.append(a + da / (da - db) * (b - a))
        if db > 0.0:
            out.append(b)
    return out


def _projected(points: FloatArray, view: View) -> FloatArray:
    focal, x, y = view.camera[12:]
    w = -1.0 / points[:, 2]
    return np.stack([x + focal * w * points[:, 0], y - focal * w * points[:, 1], w], axis=1)
