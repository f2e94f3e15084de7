"""A scene as batches: parts of one geometry are one mesh drawn at many places; a chain of a thousand links is one node."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...equations.assembly.exponential import product, rotated
from ...model.quaternions import quaternions_of
from ...types import FloatArray
from ..scene import GROUND, Colour, Geometry, Part, Scene, Span

SQUARE = 1e-6
"""Cosine up to which columns of a placement are orthogonal, so that it is rotation and scale; else it is put into the mesh."""


@dataclass(frozen=True, eq=False)
class Placed:
    """Where each instance of a batch is: (K, 3), (K, 4), (K, 3)."""

    position: FloatArray
    wxyz: FloatArray
    scale: FloatArray


@dataclass(frozen=True, eq=False)
class PartBatch:
    """Parts of one layer and one geometry."""

    layer: str
    geometry: Geometry
    parts: tuple[Part, ...]
    carrier: np.ndarray
    """(K,): bodies; −1 is the ground."""
    own: Placed
    """In the carriers' axes."""

    def placed(self, wxyz: FloatArray, position: FloatArray) -> Placed:
        """In the world, from the poses of all bodies (N, 4), (N, 3)."""
        fixed = self.carrier == GROUND
        Q = np.where(fixed[:, None], (1.0, 0.0, 0.0, 0.0), wxyz[self.carrier] if len(wxyz) else (1.0, 0.0, 0.0, 0.0))
        r = np.where(fixed[:, None], 0.0, position[self.carrier] if len(position) else 0.0)
        return Placed(r + rotated(Q, self.own.position), product(Q, self.own.wxyz), self.own.scale)

    @property
    def moves(self) -> bool:
        return bool((self.carrier != GROUND).any())

    @property
    def colours(self) -> tuple[Colour, ...]:
        return tuple(part.colour for part in self.parts)


@dataclass(frozen=True, eq=False)
class SpanBatch:
    """Spans of one layer and one geometry."""

    layer: str
    geometry: Geometry
    spans: tuple[Span, ...]

    def placed(self, rotation: FloatArray, position: FloatArray, row: int | None) -> Placed:
        """In the world, from the poses of all bodies (N, 3, 3), (N, 3). `row`: the time of the scene, None where it is none of
        them: what is known for its times only is not drawn then."""
        R, r = rotation[None], position[None]
        ends = np.zeros((len(self.spans), 2, 3))
        for k, span in enumerate(self.spans):
            if span.vector is None:
                ends[k] = np.concatenate(span.ends(R, r))
            elif row is not None:
                ends[k] = np.concatenate(replace(span, vector=span.vector[row : row + 1]).ends(R, r))
        way = ends[:, 1] - ends[:, 0]
        length = np.linalg.norm(way, axis=1)
        width = np.array([span.width for span in self.spans]) * (length > 0.0)
        return Placed(ends[:, 0], turns_from_z(way, length), np.stack([width, width, length], axis=1))

    @property
    def colours(self) -> tuple[Colour, ...]:
        return tuple(span.colour for span in self.spans)

    @property
    def moves(self) -> bool:
        return True


def part_batches(scene: Scene) -> list[PartBatch]:
    groups: dict[tuple[str, int, float], list[tuple[Part, Geometry, FloatArray]]] = {}
    for part in scene.parts:
        geometry, at = _rigid(part)
        groups.setdefault((part.layer, id(geometry), part.colour[3]), []).append((part, geometry, at))
    out = []
    for (layer, _, _), members in groups.items():
        at = np.array([placement for _, _, placement in members])
        scale = np.linalg.norm(at[:, :3, :3], axis=1)
        turn = at[:, :3, :3] / np.where(scale > 0.0, scale, 1.0)[:, None, :]
        carrier = np.array([part.carrier for part, _, _ in members])
        own = Placed(at[:, :3, 3].copy(), quaternions_of(turn), scale)
        out.append(PartBatch(layer, members[0][1], tuple(part for part, _, _ in members), carrier, own))
    return out


def span_batches(scene: Scene) -> list[SpanBatch]:
    groups: dict[tuple[str, int, float], list[Span]] = {}
    for span in scene.spans:
        groups.setdefault((span.layer, id(span.geometry), span.colour[3]), []).append(span)
    return [SpanBatch(layer, members[0].geometry, tuple(members)) for (layer, _, _), members in groups.items()]


def turns_from_z(way: FloatArray, length: FloatArray) -> FloatArray:
    """(K, 4): the least turns that bring z onto each way; none where it has no length."""
    z = np.divide(way[:, 2], length, out=np.ones_like(length), where=length > 0.0)
    half = np.stack([1.0 + z, -way[:, 1], way[:, 0], np.zeros_like(z)], axis=1)
    half[:, 1:3] /= np.where(length > 0.0, length, 1.0)[:, None]
    size = np.linalg.norm(half, axis=1, keepdims=True)
    unit: FloatArray = np.where(size > 1e-9, half / np.maximum(size, 1e-300), (0.0, 1.0, 0.0, 0.0))
    return unit


def _rigid(part: Part) -> tuple[Geometry, FloatArray]:
    """Geometry and placement such that the placement is a rotation, a scale along its axes and a shift."""
    at = np.asarray(part.at, dtype=float)
    M = at[:3, :3]
    scale = np.linalg.norm(M, axis=0)
    angles = (M.T @ M) / np.maximum(np.outer(scale, scale), 1e-300) - np.diag((scale > 0.0).astype(float))
    if np.abs(angles).max() <= SQUARE and np.linalg.det(M) > 0.0:
        return part.geometry, at
    g = part.geometry
    mirrored = np.linalg.det(M) < 0.0
    normals = g.normals @ np.linalg.pinv(M)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    faces = g.faces[:, ::-1] if mirrored else g.faces
    baked = Geometry((g.vertices @ M.T).astype(np.float32), faces, normals.astype(np.float32), g.colours)
    shift = np.eye(4)
    shift[:3, 3] = at[:3, 3]
    return baked, shift
