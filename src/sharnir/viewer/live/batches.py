"""A scene as batches: parts of one geometry are one mesh drawn at many places; a chain of a thousand links is one node."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...equations.assembly.exponential import product, rotated
from ...model.quaternions import quaternions_of
from ...types import FloatArray
from ..picture.themes import linear
from ..scene import GROUND, Geometry, Part, Scene, Span, groups

SQUARE = 1e-6
"""Cosine up to which columns of a placement are orthogonal, so that it is rotation and scale; else it is put into the mesh."""


class Poses(NamedTuple):
    """Poses of all bodies: (N, 3, 3), (N, 3), and as quaternions (N, 4)."""

    rotation: FloatArray
    position: FloatArray
    wxyz: FloatArray
    row: int | None = None
    """The time of the scene; None where it is none of them: what is known for its times only is not drawn then."""


class Placements(NamedTuple):
    """Where each instance of a batch is: (K, 3), (K, 4), (K, 3)."""

    position: FloatArray
    wxyz: FloatArray
    scale: FloatArray


@dataclass(frozen=True, eq=False)
class PartBatch:
    """Parts of one layer, geometry and opacity."""

    members: Sequence[Part]
    carrier: np.ndarray
    """(K,): bodies; −1 is the ground."""
    own: Placements
    """In the carriers' axes."""

    def placed(self, poses: Poses) -> Placements:
        """Placements in the world."""
        Q = np.vstack([poses.wxyz, (1.0, 0.0, 0.0, 0.0)])[self.carrier]  # the last row is the ground: −1
        r = np.vstack([poses.position, np.zeros(3)])[self.carrier]
        return Placements(r + rotated(Q, self.own.position), product(Q, self.own.wxyz), self.own.scale)

    @property
    def layer(self) -> str:
        return self.members[0].layer

    @property
    def moves(self) -> bool:
        return bool((self.carrier != GROUND).any())


@dataclass(frozen=True, eq=False)
class SpanBatch:
    """Spans of one layer, geometry and opacity."""

    members: Sequence[Span]
    moves = True

    def placed(self, poses: Poses) -> Placements:
        """Placements in the world."""
        R, r, row = poses.rotation[None], poses.position[None], poses.row
        ends = np.zeros((len(self.members), 2, 3))
        for k, span in enumerate(self.members):
            if span.vector is None or row is not None:
                ends[k] = np.concatenate(span.ends(R, r, row))
        way = ends[:, 1] - ends[:, 0]
        length = np.linalg.norm(way, axis=1)
        width = np.array([span.width for span in self.members]) * (length > 0.0)
        return Placements(ends[:, 0], turns_from_z(way, length), np.stack([width, width, length], axis=1))

    @property
    def layer(self) -> str:
        return self.members[0].layer


Batch = PartBatch | SpanBatch


def part_batches(scene: Scene) -> list[PartBatch]:
    out = []
    for members in groups([_rigid(part) for part in scene.parts]):
        at = np.array([part.at for part in members])
        scale = np.linalg.norm(at[:, :3, :3], axis=1)
        turn = at[:, :3, :3] / np.where(scale > 0.0, scale, 1.0)[:, None, :]
        carrier = np.array([part.carrier for part in members])
        out.append(PartBatch(members, carrier, Placements(at[:, :3, 3].copy(), quaternions_of(turn), scale)))
    return out


def span_batches(scene: Scene) -> list[SpanBatch]:
    return [SpanBatch(members) for members in groups(scene.spans)]


def turns_from_z(way: FloatArray, length: FloatArray) -> FloatArray:
    """(K, 4): the least turns that bring z onto each way; none where it has no length."""
    z = np.divide(way[:, 2], length, out=np.ones_like(length), where=length > 0.0)
    half = np.stack([1.0 + z, -way[:, 1], way[:, 0], np.zeros_like(z)], axis=1)
    half[:, 1:3] /= np.where(length > 0.0, length, 1.0)[:, None]
    size = np.linalg.norm(half, axis=1, keepdims=True)
    unit: FloatArray = np.where(size > 1e-9, half / np.maximum(size, 1e-300), (0.0, 1.0, 0.0, 0.0))
    return unit


def _rigid(part: Part) -> Part:
    """The part with a placement that is a rotation, a scale along its axes and a shift."""
    at, g = np.asarray(part.at, dtype=float), part.geometry
    M = at[:3, :3]
    scale = np.linalg.norm(M, axis=0)
    angles = (M.T @ M) / np.maximum(np.outer(scale, scale), 1e-300) - np.diag((scale > 0.0).astype(float))
    mirrored = np.linalg.det(M) < 0.0
    if np.abs(angles).max() <= SQUARE and np.linalg.det(M) > 0.0:
        return replace(part, at=at)
    normals = g.normals @ np.linalg.pinv(M)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    faces = g.faces[:, ::-1] if mirrored else g.faces
    baked = Geometry((g.vertices @ M.T).astype(np.float32), faces, normals.astype(np.float32), g.colours)
    shift = np.eye(4)
    shift[:3, 3] = at[:3, 3]
    return replace(part, geometry=baked, at=shift)


# --- a geometry with colours of its own as binary glTF 2.0: the only meshes of viser that have such colours and instances
FLOAT, UINT = 5126, 5125
ROUGH = 0.6


def glb(g: Geometry) -> bytes:
    """Matt, seen from both sides."""
    assert g.colours is not None
    arrays: dict[str, tuple[np.ndarray, int, str]] = {
        "POSITION": (np.ascontiguousarray(g.vertices, dtype="<f4"), FLOAT, "VEC3"),
        "NORMAL": (np.ascontiguousarray(g.normals, dtype="<f4"), FLOAT, "VEC3"),
        "COLOR_0": (np.ascontiguousarray(linear(g.colours), dtype="<f4"), FLOAT, "VEC3"),
        "indices": (np.ascontiguousarray(g.faces, dtype="<u4").ravel(), UINT, "SCALAR"),
    }
    views, accessors, binary = list[dict[str, Any]](), list[dict[str, Any]](), b""
    for name, (array, kind, shape) in arrays.items():
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": array.nbytes})
        accessors.append({"bufferView": len(views) - 1, "componentType": kind, "count": len(array), "type": shape})
        if name == "POSITION":
            accessors[-1] |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        binary += array.tobytes()  # every array is a multiple of four bytes
    primitive = {"attributes": {"POSITION": 0, "NORMAL": 1, "COLOR_0": 2}, "indices": 3, "material": 0, "mode": 4}
    material = {"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": ROUGH}, "doubleSided": True}
    document = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [primitive]}], "materials": [material],
        "accessors": accessors, "bufferViews": views, "buffers": [{"byteLength": len(binary)}],
    }  # fmt: skip
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
