"""The outermost points of a mesh: what of it touches a floor."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import FormatError, brief
from ..types import FilePath, FloatArray, Vector, real_array
from .mesh_reading import MeshFault, file_state, read_pieces
from .paths import model_path

MOST = 32
"""Points of a mesh by default."""


def mesh_points(path: FilePath, scale: float | Vector = 1.0, most: int = MOST) -> FloatArray:
    """Points (n, 3) of a mesh file (STL, OBJ, DAE, glTF, PLY, OFF) for `sharnir.Points`: vertices of its convex hull, times
    `scale`, in metres. Where there are more than `most`, those that are farthest from each other."""
    file, scales, most = model_path(path), real_array(scale, "scale"), checked_count(most, "most")
    if scales.shape not in ((), (1,), (3,)) or not np.isfinite(scales).all():
        raise FormatError(f"scale: expected one finite number or three, got {brief(scale)}")
    try:
        return outermost(file, most) * scales
    except MeshFault as fault:
        raise FormatError(f"{file}: this mesh is {fault}") from None


def checked_count(most: object, what: str) -> int:
    if isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 1:
        raise FormatError(f"{what}: expected a whole number of at least 1, got {brief(most)}")
    return int(most)


def outermost(path: Path, most: int) -> FloatArray:
    """`mesh_points` without a scale; MeshFault where the file has none."""
    file_state(path)
    pieces, _ = read_pieces(path)
    return spread(hull_vertices(np.concatenate([piece.vertices[np.unique(piece.faces)] for piece in pieces])), most)


def hull_vertices(points: FloatArray) -> FloatArray:
    """The vertices of the convex hull; of points in a plane or on a line, all of them."""
    from scipy.spatial import ConvexHull, QhullError

    points = np.unique(points, axis=0)
    try:
        return points[np.sort(ConvexHull(points).vertices)]
    except (QhullError, ValueError):
        return points


def spread(points: FloatArray, most: int) -> FloatArray:
    """At most so many of the points: first the one farthest from the middle, then always the one farthest from all chosen."""
    if len(points) <= most:
        return points
    chosen = [int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))]
    distance = np.linalg.norm(points - points[chosen[0]], axis=1)
    while len(chosen) < most:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return points[sorted(chosen)]
