"""What a body looks like: recorded for viewers, without effect on the dynamics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import ModelError, brief
from ..trace import at_values
from .element import Element, element, element_field
from .pose import Pose
from .shapes import Box, Cylinder, Rod, Shape, Sphere
from .values import HERE, Choice, ColourValue, FilePath, Flag, Label, Name, PoseValue, Text, Vector

THIN = 0.01
"""Radius of a rod without one, as a share of its length."""


@element()
class Visual(Element):
    """A primitive or a mesh on a body (or on "ground")."""

    body: str = element_field(Name("body"), meaning="the body it is fixed to")
    kind: str = element_field(
        Name(), meaning="box, cylinder, capsule, sphere, ellipsoid, plane, mesh; imported files have others, drawn as boxes"
    )
    at: Pose = element_field(PoseValue(), default=HERE, meaning="its pose in the body")
    sizes: tuple[float, ...] = element_field(
        Vector(),
        default=(),
        unit="m",
        meaning="edges of a box; radius and length of a cylinder (and the radius of its bore) or of a capsule without its ends; "
        "radius of a sphere; half axes of an ellipsoid; edges of a plane, 0 for an endless one",
    )
    uri: str = element_field(Text(), default="", meaning="a mesh as its file named it")
    path: Path | None = element_field(
        FilePath(), default=None, meaning="where the mesh is: STL, OBJ, DAE, glTF, GLB, PLY, OFF; opened when it is drawn"
    )
    scale: tuple[float, float, float] = element_field(Vector(3), default=(1.0, 1.0, 1.0), meaning="scale of a mesh")
    colour: tuple[float, float, float, float] | None = element_field(
        ColourValue(), default=None, meaning="red, green, blue and maybe opacity, 0 to 1; or a name: orange, '#ff8800'"
    )
    role: str = element_field(
        Choice(("visual", "collision", "both")),
        default="visual",
        meaning="visual, collision for the shape that touches others, or both",
    )
    name: str = element_field(Label(), default="")
    link: str = element_field(Text(), default="", meaning="the link of an imported file it belonged to")
    own_colours: bool = element_field(
        Flag(), default=False, meaning="the colours of a mesh file, where it has any, come before `colour`, as in URDF"
    )


def make_visual(body: str, what: Shape | str | Path, at: Pose | None, **options: Any) -> Visual:
    """From a shape, or from the path of a mesh; `at` is where that is in the body."""
    place = HERE if at is None else at
    if isinstance(what, (str, Path)):
        if not str(what):
            raise ModelError(f"visual on {body!r}: the path of a mesh is empty")
        return Visual(body, "mesh", place, uri=str(what), path=Path(what).absolute(), **options)
    if not isinstance(what, Shape):
        raise ModelError(
            f"visual on {body!r}: expected a shape such as sharnir.Box((0.1, 0.1, 0.5)) or the path of a mesh, got {brief(what)}"
        )
    if options.pop("scale", (1.0, 1.0, 1.0)) != (1.0, 1.0, 1.0):
        raise ModelError(f"visual on {body!r}: scale is for meshes; give the shape its size")
    kind, sizes = primitive(what)
    return Visual(body, kind, place @ what.placement(), sizes, **options)


def primitive(shape: Shape) -> tuple[str, tuple[float, ...]]:
    """Kind and sizes of a shape, about its placement; parameters at their values."""
    if isinstance(shape, Box):
        x, y, z = (float(at_values(x)) for x in shape.size)
        return "box", (x, y, z)
    if isinstance(shape, Cylinder):
        radius, length, hole = (float(at_values(x)) for x in (shape.radius, shape.length, shape.hole))
        return "cylinder", (radius, length, hole) if hole else (radius, length)
    if isinstance(shape, Sphere):
        return "sphere", (float(at_values(shape.radius)),)
    if isinstance(shape, Rod):
        length = float(at_values(shape.length()))
        return "cylinder", (float(at_values(shape.radius)) or THIN * length, length)
    raise ModelError(f"a {type(shape).__name__} has no picture of its own; give it a mesh")
