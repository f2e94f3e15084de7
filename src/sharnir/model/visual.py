"""Visuals: the looks of bodies, recorded for viewers, without effect on the dynamics."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError, brief
from ..trace import Number, is_zero
from ..types import FilePath
from ..types import Vector as Numbers
from .element import Element, element, element_field
from .pose import Pose
from .shapes import Box, Capsule, Cylinder, Rod, Shape, Sphere, Torus
from .values import HERE, Choice, ColourValue, Flag, Label, Name, PoseValue, Text, Vector
from .values import FilePath as PathValue

THIN = 0.015
"""Radius of a rod without one, as a share of its length."""


@element()
class Visual(Element):
    """A primitive or a mesh on a body (or on "ground")."""

    body: str = element_field(Name("body"), meaning="the body it is fixed to")
    kind: str = element_field(
        Name(),
        meaning="box, cylinder, capsule, sphere, torus, ellipsoid, plane, mesh; imported files have others, drawn as boxes",
    )
    at: Pose = element_field(PoseValue(), default=HERE, meaning="its pose in the body")
    sizes: tuple[float, ...] = element_field(
        Vector(),
        default=(),
        unit="m",
        meaning="edges of a box; radius and length of a cylinder (and the radius of its bore) or of a capsule without its ends; "
        "radius of a sphere; radii of a torus and of its tube; half axes of an ellipsoid; edges of a plane, 0 if endless; "
        "of a height field (hfield) half its edges, greatest height, depth of its base",
    )
    uri: str = element_field(Text(), default="", meaning="a mesh as its file named it")
    path: Path | None = element_field(
        PathValue(), default=None, meaning="where the mesh is: STL, OBJ, DAE, glTF, GLB, PLY, OFF; opened when it is drawn"
    )
    scale: tuple[float, float, float] = element_field(Vector(3), default=(1.0, 1.0, 1.0), meaning="scale of a mesh")
    colour: tuple[float, float, float, float] | None = element_field(
        ColourValue(), default=None, meaning="red, green, blue and maybe opacity, 0 to 1; or a name: orange, '#ff8800'"
    )
    role: str = element_field(
        Choice(("visual", "collision", "both", "hidden")),
        default="visual",
        meaning="visual, collision for a shape that touches others, both; or hidden",
    )
    name: str = element_field(Label(), default="")
    link: str = element_field(Text(), default="", meaning="the link of an imported file it belonged to")
    own_colours: bool = element_field(
        Flag(), default=False, meaning="the colours of a mesh file, where it has any, come before `colour`, as in URDF"
    )


def make_visual(
    body: str, what: Shape | FilePath, at: Pose | None, scale: float | Numbers = 1.0, **options: Any
) -> Visual:  # fmt: skip
    """A visual from a shape, or from the path of a mesh; `at` is where that is in the body."""
    place = HERE if at is None else at
    if isinstance(what, Shape):
        if np.any(np.asarray(scale) != 1.0):
            raise ModelError(f"visual on {body!r}: scale is for meshes; give the shape its size")
        kind, sizes = primitive_of(what)
        return Visual(body, kind, place @ what.placement(), sizes, **options)
    if isinstance(what, (str, PathLike)) and str(what):
        scales: Any = scale if np.iterable(scale) else (scale,) * 3
        return Visual(body, "mesh", place, uri=str(what), path=Path(what).absolute(), scale=scales, **options)
    raise ModelError(
        f"visual on {body!r}: expected a shape such as sharnir.Box((0.1, 0.1, 0.5)) or the path of a mesh, got {brief(what)}"
    )


def primitive_of(shape: Shape) -> tuple[str, tuple[Number, ...]]:
    """Kind and sizes of a shape, about its placement."""
    match shape:
        case Box():
            return "box", tuple(shape.size)
        case Cylinder():
            return "cylinder", (shape.radius, shape.length, *([] if is_zero(shape.hole) else [shape.hole]))
        case Sphere():
            return "sphere", (shape.radius,)
        case Capsule():
            return "capsule", (shape.radius, shape.length)
        case Torus():
            return "torus", (shape.radius, shape.tube)
        case Rod():
            length = shape.length()
            return "cylinder", (THIN * length if is_zero(shape.radius) else shape.radius, length)
    raise ModelError(f"a {type(shape).__name__} has no picture of its own; give it a mesh")
