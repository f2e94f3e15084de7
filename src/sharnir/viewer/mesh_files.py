"""Meshes of files as they are drawn, simplified where they have too many triangles. They are read by `io/mesh_reading.py`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..io.mesh_reading import MeshFault, Piece, file_state
from ..io.mesh_reading import read_pieces as _pieces
from .mesh_shading import reduced

MESH_BUDGET = 30_000
"""Triangles of one mesh that are drawn."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """A mesh as it is drawn: a piece for each material."""

    pieces: tuple[Piece, ...]
    triangles: int
    """In the file; more than are drawn where it had to be simplified."""
    left_out: tuple[str, ...]
    """What it refers to and is not there, or not read: textures, materials."""

    @property
    def drawn(self) -> int:
        return sum(len(piece.faces) for piece in self.pieces)


def read_mesh(path: Path, budget: int = MESH_BUDGET) -> Mesh:
    """A mesh of at most about `budget` triangles; MeshFault where there is none. A file that has not changed is read once."""
    found = _cached(path, *file_state(path), budget)
    if isinstance(found, str):
        raise MeshFault(found)
    return found


@lru_cache(maxsize=512)
def _cached(path: Path, changed: int, size: int, budget: int) -> Mesh | str:
    """The mesh, or what is wrong with it: a broken file is not read again and again either."""
    try:
        pieces, left_out = _pieces(path)
    except MeshFault as fault:
        return str(fault)
    triangles = sum(len(piece.faces) for piece in pieces)
    return Mesh(tuple(reduced(pieces, budget)), triangles, tuple(left_out))


def numbers(mesh: Mesh, name: str) -> str:
    """How much of a mesh is drawn: `rock.stl 2 000 000 → 30 000`."""
    return f"{name} {mesh.triangles:,} → {mesh.drawn:,}".replace(",", " ")
