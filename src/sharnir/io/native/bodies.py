"""Bodies, their shapes, frames, and what is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ...errors import ModelError
from ...model.model import Model
from ...model.shapes import Box, Cylinder, Rod, Shape, Sphere
from ...model.visual import Visual
from . import checks
from .checks import NUMBER, array, either, leaf
from .fields import Fields, Flag, Four, Many, Name, Number, Place, Text, Vector, at, place_of

INERTIA = either(array(NUMBER, 3), array(NUMBER, 6), array(array(NUMBER, 3), 3))


class OfShape(Fields):
    """A solid shape of uniform density."""

    makes: ClassVar[type[Shape]]

    def build(self) -> Shape:
        given = {name: getattr(self, name) for name in type(self).model_fields if name != "type"}
        if "at" in given:
            with at("at"):
                given["at"] = place_of(given["at"])
        return self.makes(**given)


class BoxFields(OfShape):
    """A block."""

    makes: ClassVar[type[Shape]] = Box
    type: Literal["box"]
    size: Vector
    """Edges along x, y, z, m."""
    at: Place = (0.0, 0.0, 0.0)
    """Pose of its middle in the body."""


class CylinderFields(OfShape):
    """A round bar along its z."""

    makes: ClassVar[type[Shape]] = Cylinder
    type: Literal["cylinder"]
    radius: Number
    length: Number
    at: Place = (0.0, 0.0, 0.0)
    hole: Number = 0.0
    """Radius of a bore, m."""


class SphereFields(OfShape):
    """A ball."""

    makes: ClassVar[type[Shape]] = Sphere
    type: Literal["sphere"]
    radius: Number
    at: Place = (0.0, 0.0, 0.0)


class RodFields(OfShape):
    """A straight rod between two points, thin unless it has a radius."""

    makes: ClassVar[type[Shape]] = Rod
    type: Literal["rod"]
    start: Vector
    end: Vector
    radius: Number = 0.0


ShapeField = Annotated[BoxFields | CylinderFields | SphereFields | RodFields, Field(discriminator="type")]
SHAPES: dict[type[Shape], type[OfShape]] = {cls.makes: cls for cls in (BoxFields, CylinderFields, SphereFields, RodFields)}


class BodyFields(Fields):
    """A rigid body: mass, com and inertia, or a shape with its mass or density."""

    mass: Number | None = None
    """kg"""
    com: Vector | None = None
    """Centre of mass in the body's frame, m."""
    inertia: Annotated[Any, *leaf(checks.matrix((3,), (6,), (3, 3)), INERTIA)] = None
    """About the centre of mass, kg m²: three numbers, six (xx yy zz xy xz yz) or 3×3."""
    shape: ShapeField | None = None
    """A solid that gives centre of mass and inertia."""
    density: Number | None = None
    """kg/m³; goes with a shape."""
    check_inertia: Flag = True
    """false takes an inertia that no body can have as it stands."""

    def add(self, model: Model, name: str) -> None:
        shape = None
        if self.shape is not None:
            with at("shape"):
                shape = self.shape.build()
        options: Any = {"shape": shape, "density": self.density, "check_inertia": self.check_inertia}
        model.add_body(name, self.mass, self.com, self.inertia, **options)


class FrameFields(Fields):
    """A named place on a body."""

    body: Name
    at: Place = (0.0, 0.0, 0.0)

    def add(self, model: Model, name: str) -> None:
        with at("at"):
            pose = place_of(self.at)
        model.add_frame(name, self.body, pose)


class VisualFields(Fields):
    """Something to draw; it plays no part in the dynamics."""

    body: Name
    kind: Name
    """box, cylinder, capsule, sphere, mesh; imported files have others."""
    at: Place = (0.0, 0.0, 0.0)
    sizes: Many = ()
    """Edges of a box; radius and length; radius. m"""
    uri: Text = ""
    """A mesh, as its file named it."""
    path: Text | None = None
    """Where the mesh is; kept, not opened."""
    scale: Vector = (1.0, 1.0, 1.0)
    colour: Four | None = None
    """Red, green, blue, opacity, 0 to 1."""
    role: Annotated[str, *leaf(checks.one_of("visual", "collision"), {"enum": ["visual", "collision"]})] = "visual"
    name: Text = ""
    link: Text = ""
    """The link of an imported file it belonged to."""

    def add(self, model: Model) -> None:
        if self.body != "ground" and self.body not in model._body_names:
            raise ModelError(f"no body {self.body!r}")
        if self.path is not None and "\0" in self.path:
            raise ModelError("a path has no null characters")
        with at("at"):
            pose = place_of(self.at)
        given: Any = {n: getattr(self, n) for n in ("sizes", "uri", "scale", "colour", "role", "name", "link")}
        model.visuals.append(Visual(self.body, self.kind, pose, path=None if self.path is None else Path(self.path), **given))


class FixedJointFields(Fields):
    """A fixed joint of an imported file, whose links were merged into one body."""

    parent: Name
    child: Name
