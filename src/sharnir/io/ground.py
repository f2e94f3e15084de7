"""`sharnir.add_ground`, the collision shapes of a model on a floor; `sharnir.mesh_points`, the outermost points of a mesh."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FormatError, ModelError, brief, known
from ..model.forces import Contact
from ..model.model import Model
from ..model.pose import Pose
from ..model.shapes import Box, Capsule, Cylinder, HeightFunction, Plane, Points, Sphere
from ..model.states import check_model
from ..model.visual import Visual
from ..reporting.formats import plural
from ..trace import at_values
from ..types import FilePath, FloatArray, Vector, real_array
from .mesh_reading import MeshFault, allowed_path, file_state, read_pieces
from .paths import model_path

# --- the outermost points of a mesh: what of it touches a floor
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
    """`mesh_points` without a scale; MeshFault where the file has none. Of points in a plane or on a line all are vertices; of
    too many first the one farthest from the middle, then always the one farthest from all chosen."""
    from scipy.spatial import ConvexHull, QhullError

    file_state(path)
    points = np.unique(np.concatenate([piece.vertices[np.unique(piece.faces)] for piece in read_pieces(path)[0]]), axis=0)
    with suppress(QhullError, ValueError):
        points = points[np.sort(ConvexHull(points).vertices)]
    if len(points) <= most:
        return points
    chosen = [int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))]
    distance = np.linalg.norm(points - points[chosen[0]], axis=1)
    while len(chosen) < most:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return points[sorted(chosen)]


# --- collision shapes on a floor
SINK = 1e-3
"""How deep a model sinks by its weight where four points carry it, metres: what the default stiffness is made for."""
DAMPING = 20.0
"""s/m: about critical where a model has sunk as deep as that, 2/√(g·SINK)."""
SLIP = 2e-2
"""m/s"""
CALLED = "ground contact of "


@dataclass(frozen=True)
class Ground:
    """The contacts that `add_ground` has added."""

    contacts: tuple[str, ...]
    """Names of the contacts among the forces of the model."""
    points: int
    """Points of contact in all."""
    stiffness: float
    """Stiffness of every point, N/m."""
    notes: tuple[str, ...]
    """How the stiffness was chosen; shapes that were left out or made simpler, and why."""

    def __str__(self) -> str:
        head = f"{plural(len(self.contacts), 'contact')} with the ground, {plural(self.points, 'point')}"
        return "\n".join([f"{head}, {self.stiffness:.4g} N/m each", *(f"  {note}" for note in self.notes)])


def add_ground(
    model: Model,
    height: float | None = None,
    stiffness: float | None = None,
    friction: float = 0.8,
    bodies: Iterable[str] | None = None,
    *,
    against: Plane | HeightFunction | None = None,
    damping: float = DAMPING,
    slip: float = SLIP,
    points: int = MOST,
    **options: Any,
) -> Ground:
    """A floor for the collision shapes of a model: a `Contact` for each, called "ground contact of <body>". Shapes are those that
    URDF calls <collision>, those of MJCF that touch others, and visuals added with role="collision" or "both".

    height     of the floor along the world's z, 0 by default; or `against`, a Plane or HeightFunction in the world
    stiffness  of every point of contact, N/m; by default the model sinks by 1 mm where four points carry its weight
    bodies     names of the bodies that touch, or of links of the file: "FR_foot"; by default all that have collision shapes
    points     of a mesh, at most: vertices of its convex hull
    damping, slip, options   as of `Contact`
    """
    check_model(model, "add_ground")
    if height is not None and against is not None:
        raise ModelError(
            f"add_ground: height={brief(height)} is of a level floor, against={brief(against)} says itself where it is: put the "
            f"height into it, at=sharnir.Pose((0, 0, {brief(height)})), or leave one of them out"
        )
    points = checked_count(points, "add_ground: points")
    shapes = _collision_shapes(model, bodies)
    if not shapes:
        raise ModelError(
            f"{model.name!r} has no collision shapes{'' if bodies is None else ' on these bodies'}: add them with "
            'add_visual(body, shape, role="collision"), or a sharnir.Contact by itself'
        )
    notes: list[str] = []
    if stiffness is None:
        weight = float(sum(at_values(body.mass) for body in model.bodies) * np.linalg.norm(at_values(tuple(model.gravity))))
        if not weight > 0.0:
            raise ModelError(f"{model.name!r} has no weight: give add_ground a stiffness")
        notes.append(f"stiffness: the weight of {weight:.4g} N sinks by {1e3 * SINK:g} mm where four points carry it")
        stiffness = weight / (4.0 * SINK)
    surface = Plane(Pose((0.0, 0.0, 0.0 if height is None else height))) if against is None else against
    made: dict[str, Contact] = {}
    for visual in shapes:
        shape = shape_of(visual, model, points, notes)
        if shape is not None:
            _refuse_twice(model, visual.body, shape)
            contact = Contact(
                visual.body, shape, surface, stiffness=stiffness, damping=damping, friction=friction, slip=slip, **options
            )
            name = f"{CALLED}{visual.body}"
            free = (x for x in chain([name], (f"{name} {k}" for k in count(2))) if x not in model.forces and x not in made)
            made[next(free)] = contact
    if not made:
        raise ModelError(f"{model.name!r}: none of its collision shapes can touch a ground: {'; '.join(notes)}")
    for name, contact in made.items():
        model.add_force(contact, name)
    in_all = sum(len(contact.parts(model.structure)) for contact in made.values())
    return Ground(tuple(made), in_all, stiffness, tuple(dict.fromkeys(notes)))


def _refuse_twice(model: Model, body: str, shape: Any) -> None:
    """A shape that stands on a ground already: a second one would carry it too, or lie unseen below the first."""
    for name, there in model.forces.items():
        if not name.startswith(CALLED) or not isinstance(there, Contact) or there.body != body:
            continue
        if type(there.shape) is type(shape) and there.shape.at == shape.at:
            raise ModelError(
                f"add_ground: {name!r} is there already: call it once, on a model that was just loaded or copied before; other "
                "bodies by bodies=[…]; a further surface is a sharnir.Contact of its own"
            )


def _collision_shapes(model: Model, bodies: Iterable[str] | None) -> list[Visual]:
    """Collision shapes of bodies that may move: shapes of the ground do not fall on it."""
    names = [body.name for body in model.bodies]
    found = [visual for visual in model.visuals if visual.role in ("collision", "both") and visual.body in names]
    if bodies is None:
        return found
    given = list(bodies) if isinstance(bodies, Iterable) and not isinstance(bodies, str) else [bodies]
    if not all(isinstance(name, str) for name in given):
        raise ModelError(f"add_ground: bodies: expected names, got {brief(bodies)}")
    wanted = set(given)
    links = {visual.link for visual in found if visual.link}
    for name in sorted(wanted - set(names) - links):
        raise ModelError(f"add_ground: no body {name!r} in {model.name!r}; the bodies are {known(names)}")
    return [visual for visual in found if not wanted.isdisjoint((visual.body, visual.link))]


def shape_of(visual: Visual, model: Model, points: int, notes: list[str]) -> Any:
    """The shape of a visual; None, and a note, where there is none that touches."""
    sizes = visual.sizes
    match visual.kind:
        case "sphere" if all(sizes):
            return Sphere(sizes[0], visual.at)
        case "box" if all(sizes):
            return Box(sizes, visual.at)
        case "cylinder" if all(sizes[:2]):
            return Cylinder(sizes[0], sizes[1], visual.at)
        case "capsule" if all(sizes):
            return Capsule(sizes[0], sizes[1], visual.at)
        case "ellipsoid" if all(sizes):
            notes.append(f"the ellipsoid on {visual.body!r} touches with {points} points of its surface")
            return Points([tuple(x) for x in (_on_a_ball(points) * np.array(sizes)).tolist()], visual.at)
        case "mesh" | "sdf":
            try:
                path = allowed_path(visual, model.mesh_folders)
                found = outermost(path, points)
            except MeshFault as fault:
                notes.append(f"left out: the mesh {visual.uri!r} on {visual.body!r}: {fault}")
                return None
            notes.append(f"the mesh {path.name} touches with {plural(len(found), 'point')} of its convex hull")
            return Points([tuple(x) for x in (found * np.array(visual.scale)).tolist()], visual.at)
    notes.append(f"left out: a {visual.kind} of sizes {sizes} on {visual.body!r}")
    return None


def _on_a_ball(n: int) -> np.ndarray:
    """Points of a unit sphere, evenly spread along a spiral (Vogel's)."""
    z, angle = 1.0 - (2.0 * np.arange(n) + 1.0) / n, np.pi * (3.0 - np.sqrt(5.0)) * np.arange(n)
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)
