"""Visuals of a model, `model.visuals`, as geometries on bodies; mesh files as they are drawn. Start at `drawn_visuals`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..io.mesh_reading import MeshFault, Piece, allowed_path, file_state
from ..io.mesh_reading import read_pieces as _pieces
from ..model.body import GROUND, Body
from ..model.model import Model
from ..model.visual import Visual
from ..reporting.formats import plural
from ..types import FloatArray
from .bodies import SIZES, ellipsoid, solid
from .mesh_shading import reduced, shaded
from .outline import matrix
from .scene import Colour, Geometry
from .solids import ROUND, box

# --- meshes of files as they are drawn, simplified where they have too many triangles. They are read by `io/mesh_reading.py`
MESH_BUDGET = 30_000
"""Triangles of one mesh that are drawn."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """A mesh as it is drawn: a piece for each material."""

    pieces: tuple[Piece, ...]
    triangles: int
    """Number in the file; fewer are drawn where it had to be simplified."""
    left_out: tuple[str, ...]
    """References that are missing or not read: textures, materials."""

    @property
    def drawn(self) -> int:
        return sum(len(piece.faces) for piece in self.pieces)


def read_mesh(path: Path) -> Mesh:
    """A mesh of at most about `MESH_BUDGET` triangles; MeshFault where there is none. It is read once, until it changes."""
    found = _cached(path, *file_state(path))
    if isinstance(found, str):
        raise MeshFault(found)
    return found


@lru_cache(maxsize=512)
def _cached(path: Path, changed: int, size: int) -> Mesh | str:
    """The mesh, or its fault: a broken file is not read repeatedly either."""
    try:
        pieces, left_out = _pieces(path)
    except MeshFault as fault:
        return str(fault)
    triangles = sum(len(piece.faces) for piece in pieces)
    return Mesh(tuple(reduced(pieces, MESH_BUDGET)), triangles, tuple(left_out))


# --- visuals
MODEL_BUDGET = 300_000
"""Triangles of all meshes of a model that are drawn."""
NAMED = 3
"""Files that one note lists."""
PLAIN: Colour = (0.7, 0.7, 0.7, 1.0)
"""Colour of pieces without one beside pieces that have one."""


class Drawn(NamedTuple):
    """A geometry on a body."""

    body: str
    """Or "ground"."""
    geometry: Geometry
    at: FloatArray
    """(4, 4): geometry → body; it may scale."""
    colour: Colour | None
    """None where nothing says one."""
    label: str
    endless: bool = False
    """A plane without edges: a square of edge 1 is in its place."""


def drawn_visuals(model: Model, role: str = "visual", sides: int = ROUND) -> tuple[list[Drawn], list[str]]:
    """Visuals, or collision shapes, of a model without parameters; and notes on what is not drawn as the model says. `sides`: of
    what is round. Meshes are opened where the reader of the model's file allowed it."""
    drawing = _Drawing(model, role, sides)
    drawn = [one for visual in drawing.visuals for one in drawing.one(visual)]
    for why, names in drawing.faults.items():
        drawing.notes.append(f"drawn as boxes: {plural(len(names), 'mesh', 'meshes')} {why}: {_listed(names)}")
    return drawn, drawing.notes


class _Drawing:
    def __init__(self, model: Model, role: str, sides: int) -> None:
        self.model, self.sides, self.notes, self.boxed = model, sides, list[str](), set[str]()
        self.visuals = [v for v in model.visuals if v.role in (role, "both") and (v.colour is None or v.colour[3] > 0.0)]
        self.bodies = {body.name: body for body in model.bodies}
        self.faults: dict[str, list[str]] = {}
        """{fault: meshes that have it}."""
        self.meshes = self._read()

    def one(self, visual: Visual) -> list[Drawn]:
        if visual.kind in ("mesh", "sdf"):
            mesh = self.meshes.get(visual.path) if visual.path is not None else None
            return self._stand_ins(visual) if mesh is None else self._mesh(visual, mesh)
        made = solid(visual.kind, visual.at, visual.sizes, self.sides)
        if made is None:
            sizes = "sizes " + ", ".join(f"{x:g}" for x in visual.sizes) if visual.sizes else "no sizes"
            self._note(f"not drawn: a {visual.kind} of {sizes}, on {visual.body!r}")
            return []
        if visual.kind == "hfield":
            self._note("drawn flat: height fields, whose heights are not read")
        endless = visual.kind == "plane" and 0.0 in visual.sizes
        return [Drawn(visual.body, *made, visual.colour, _label(visual), endless)]

    def _note(self, words: str) -> None:
        if words not in self.notes:
            self.notes.append(words)

    # --- meshes -----------------------------------------------------------------------------------------------------------
    def _read(self) -> dict[Path, Mesh]:
        """Meshes by file, each with as many triangles as its share of the budget."""
        found: dict[Path, Mesh] = {}
        for visual in self.visuals:
            if visual.kind not in ("mesh", "sdf") or visual.path in found:
                continue
            name = Path(visual.uri).name or (visual.path.name if visual.path is not None else f"of {visual.link or visual.body}")
            try:
                path = allowed_path(visual, self.model.mesh_folders)
                found[path] = read_mesh(path)
            except MeshFault as fault:
                names = self.faults.setdefault(str(fault), [])
                names += [name] if name not in names else []
        most = _most_each([mesh.drawn for mesh in found.values()], MODEL_BUDGET)
        found = {path: mesh if mesh.drawn <= most else _smaller(mesh, most) for path, mesh in found.items()}
        simplified = [(path.name, mesh) for path, mesh in found.items() if mesh.drawn < mesh.triangles]
        if fewer := [f"{name} {m.triangles:,} → {m.drawn:,}".replace(",", " ") for name, m in simplified]:
            self.notes.append(f"drawn with fewer triangles: {_listed(fewer)}")
        if absent := [f"{what} of {path.name}" for path, mesh in found.items() for what in mesh.left_out]:
            self.notes.append(f"drawn without: {_listed(absent)}")
        return found

    def _mesh(self, visual: Visual, mesh: Mesh) -> list[Drawn]:
        scale = np.array(visual.scale, dtype=float)
        mirrored = bool(np.prod(scale) < 0.0)
        if not np.prod(scale):
            self._note(f"not drawn: a mesh of scale 0, on {visual.body!r}")
            return []
        # URDF: "assign materials only if the submesh does not have one already" (RViz, robot_link.cpp); MuJoCo: its own always
        painted = visual.colour is not None and not (visual.own_colours and any(p.colour for p in mesh.pieces))
        at = matrix(visual.at, (-scale if mirrored else scale).tolist())  # s v = (−s)(−v)
        looks = geometries(mesh, painted, mirrored)
        return [Drawn(visual.body, g, at, visual.colour if painted or own is None else own, _label(visual)) for g, own in looks]

    def _stand_ins(self, visual: Visual) -> list[Drawn]:
        """Shapes drawn once per body in place of its broken meshes: its other shapes, or the box of its inertia."""
        if visual.body in self.boxed:
            return []
        self.boxed.add(visual.body)
        label = _label(visual)
        others = [v for v in self.model.visuals if v.body == visual.body and v.kind in SIZES and v.kind != "plane"]
        solids = [made for v in others if (made := solid(v.kind, v.at, v.sizes, self.sides)) is not None]
        if not solids and visual.body != GROUND and (edges := inertia_box(self.bodies[visual.body])) is not None:
            solids = [(box(), edges)]
        if not solids:
            self._note(f"not drawn: meshes of {visual.body!r}, of which no size is known")
        return [Drawn(visual.body, geometry, at, visual.colour, label) for geometry, at in solids]


def _most_each(counts: Sequence[int], budget: int) -> int:
    """The largest n for which the sum of min(count, n) is within the budget: small meshes stay as they are."""
    left = budget
    for k, count in enumerate(ordered := sorted(counts)):
        if count * (len(ordered) - k) > left:
            return max(1, left // (len(ordered) - k))
        left -= count
    return max(counts, default=1)


@lru_cache(maxsize=512)
def _smaller(mesh: Mesh, most: int) -> Mesh:
    return replace(mesh, pieces=tuple(reduced(mesh.pieces, most)))


@lru_cache(maxsize=512)
def geometries(mesh: Mesh, painted: bool = False, mirrored: bool = False) -> tuple[tuple[Geometry, Colour | None], ...]:
    """A geometry for each opacity, with its colour; None where the file has none. `painted`: without the colours of the file.
    `mirrored`: turned inside out at the origin, for a scale that mirrors."""
    groups: dict[float, list[Piece]] = {}
    for piece in mesh.pieces:
        groups.setdefault(1.0 if painted or piece.colour is None else round(piece.colour[3], 2), []).append(piece)
    found = []
    for opacity, pieces in groups.items():
        colours = {piece.colour for piece in pieces}
        if painted or (len(colours) == 1 and all(piece.colours is None for piece in pieces)):
            one = _joined(pieces, None, mirrored)
            found.append((shaded(one), None if painted else pieces[0].colour))
        else:
            each = [np.broadcast_to(piece.colour or PLAIN, (len(piece.vertices), 4))[:, :3] for piece in pieces]
            each = [x if piece.colours is None else piece.colours for x, piece in zip(each, pieces, strict=True)]
            found.append((shaded(_joined(pieces, np.concatenate(each), mirrored)), (1.0, 1.0, 1.0, opacity)))
    return tuple(found)


def _joined(pieces: Sequence[Piece], colours: FloatArray | None, mirrored: bool) -> Piece:
    shift = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
    faces = np.concatenate([piece.faces + k for piece, k in zip(pieces, shift, strict=False)])
    vertices = np.concatenate([piece.vertices for piece in pieces])
    return Piece(-vertices, faces[:, ::-1], None, colours) if mirrored else Piece(vertices, faces, None, colours)


def inertia_box(body: Body) -> FloatArray | None:
    """Where a cube of edge 1 is to be for the box of uniform density with the mass and inertia of a body, a² = 6(J₂ + J₃ − J₁)/m;
    None for a body without mass or extent."""
    if not body.mass > 0.0 or not any(body.inertia):
        return None
    _, at = ellipsoid(body, 0.0, ROUND)
    at[:3, :3] *= math.sqrt(2.4)  # its half axes are √(5(J₂ + J₃ − J₁)/2m)
    return at


def _label(visual: Visual) -> str:
    owner = visual.link or visual.body
    return f"{owner}: {visual.name}" if visual.name else owner


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
