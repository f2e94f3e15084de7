"""Triangles of a file prepared for drawing: fewer where there are too many, normals smooth across faces that meet
flatly and sharp across edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..io.mesh_reading import Piece
from ..types import FloatArray
from .scene import Geometry

CREASE = math.radians(30.0)
"""Faces that meet at a larger angle have an edge between them."""
MANY = 64
"""Faces at one vertex beyond which normals stay flat: the tip of a fan has no smooth one."""
FEWEST = 20
"""Triangles that a piece keeps, however small its share."""
CROWDED = 20
"""Times as many triangles as wanted beyond which vertices in one cell of a grid are merged first: collapsing takes its time."""
GRID = 256
"""Cells of that grid along the longest side."""


def reduced(pieces: Sequence[Piece], budget: int) -> list[Piece]:
    """The pieces with about `budget` triangles in all, by collapsing the edges that matter least (Garland and Heckbert 1997)."""
    total = sum(len(piece.faces) for piece in pieces)
    if total <= budget:
        return list(pieces)
    return [_reduced(piece, max(FEWEST, int(budget * len(piece.faces) / total))) for piece in pieces]


def _reduced(piece: Piece, target: int) -> Piece:
    import fast_simplification

    if len(piece.faces) <= target:
        return piece
    merge = clustered if len(piece.faces) > CROWDED * target else welded
    vertices, faces = merge(piece.vertices, piece.faces)
    if len(faces) > target:
        points, triangles = np.ascontiguousarray(vertices, dtype=np.float32), np.ascontiguousarray(faces, dtype=np.int32)
        points, faces = fast_simplification.simplify(points, triangles, target_count=target)
        vertices = np.asarray(points, dtype=float)
    if len(faces) > 2 * target:  # triangles that do not hang together cannot be collapsed: a share of them is drawn
        faces = faces[:: math.ceil(len(faces) / target)]
    colours = piece.colours
    if colours is not None:
        from scipy.spatial import cKDTree

        colours = colours[cKDTree(piece.vertices).query(vertices)[1]]
    return replace(piece, vertices=vertices, faces=np.asarray(faces), colours=colours)


def welded(vertices: FloatArray, faces: np.ndarray) -> tuple[FloatArray, np.ndarray]:
    """Vertices at one place as one, faces without area left out: files list the corners of each triangle separately."""
    number, first = _classes(vertices.astype(np.float32))
    return vertices[first], _proper(number[faces])


def clustered(vertices: FloatArray, faces: np.ndarray) -> tuple[FloatArray, np.ndarray]:
    """Vertices in one cell of a grid as one, in their middle."""
    vertices = vertices[faces.reshape(-1)]  # only those that are in use
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    cells = ((vertices - low) * ((GRID - 1) / max(float((high - low).max()), 1e-300))).astype(np.int32)
    cell = (cells[:, 0] * GRID + cells[:, 1]) * GRID + cells[:, 2]
    taken = np.zeros(GRID**3, dtype=bool)
    taken[cell] = True
    number = np.cumsum(taken, dtype=np.int32)[cell] - 1
    counts = np.bincount(number)
    middle = np.stack([np.bincount(number, x) / counts for x in vertices.T], axis=1)
    return middle, _proper(number.reshape(-1, 3))


def _proper(faces: np.ndarray) -> np.ndarray:
    """Faces with three different corners."""
    return faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]


def _classes(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of the class of equal rows that each belongs to, and a member of each class."""
    bits = np.ascontiguousarray(rows + np.float32(0.0)).view(np.uint32).astype(np.uint64)  # −0 is 0
    key = np.zeros(len(rows), dtype=np.uint64)
    for column in bits.T:  # a hash of 64 bits: sorting rows themselves takes ten times as long
        key = (key ^ column) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return np.asarray(number).reshape(-1), first


def shaded(piece: Piece) -> Geometry:
    """A geometry with normals: at every corner of a face the mean of those of the faces around that it has no edge with."""
    vertices, faces = piece.vertices, piece.faces
    number, _ = _classes(vertices.astype(np.float32))
    across = np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]])
    area = np.linalg.norm(across, axis=1)
    faces, across, area = faces[area > 0.0], across[area > 0.0], area[area > 0.0]
    flat = across / area[:, None]
    corners = faces.reshape(-1)
    smooth = _corner_normals(number[corners], flat, across, math.cos(CREASE))
    columns = [vertices[corners], np.round(smooth, 3), *([] if piece.colours is None else [piece.colours[corners]])]
    place, first = _classes(np.column_stack(columns).astype(np.float32))
    normals = smooth[first] / np.linalg.norm(smooth[first], axis=1, keepdims=True)
    colours = None if piece.colours is None else piece.colours[corners][first].astype(np.float32)
    placed = vertices[corners][first].astype(np.float32), place.reshape(-1, 3).astype(np.int32)
    return Geometry(*placed, normals.astype(np.float32), colours)


def _corner_normals(at: np.ndarray, flat: FloatArray, across: FloatArray, least: float) -> FloatArray:
    """(3F, 3) from the vertex of every corner: all pairs of corners at one vertex are compared."""
    face = np.repeat(np.arange(len(flat)), 3)
    order = np.argsort(at, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(at[order]) != 0])
    counts = np.diff(np.r_[starts, len(at)])
    normals = flat[face]
    for many in np.unique(counts[(counts > 1) & (counts <= MANY)]):  # vertices of equally many faces at once
        group = order[starts[counts == many][:, None] + np.arange(many)]
        of = face[group]
        alike = np.einsum("gik,gjk->gij", flat[of], flat[of]) >= least
        normals[group] = np.einsum("gij,gjk->gik", alike.astype(float), across[of])
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
