"""Joints of every type, alone and as parts of a compound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, create_model

from ...errors import ModelError
from ...model import joints as types
from ...model.formulas import ConstraintFormula
from ...model.model import Model
from ...trace.formula import Formula
from .fields import Axis, Fields, Name, Names, Number, Place, Whole, at, place_of
from .formulas import Items, PoseByFormulas, Where
from .joint_fields import OfJoint, PartPlacement, Placement


class WeldFields(OfJoint):
    """No freedom."""

    makes: ClassVar[type[types.Joint]] = types.Weld
    type: Literal["weld"]


class RevoluteFields(OfJoint):
    """A hinge: a turn about an axis, rad."""

    makes: ClassVar[type[types.Joint]] = types.Revolute
    type: Literal["revolute"]
    axis: Axis = "z"


class PrismaticFields(OfJoint):
    """A slider: a shift along an axis, m."""

    makes: ClassVar[type[types.Joint]] = types.Prismatic
    type: Literal["prismatic"]
    axis: Axis = "z"


class ScrewFields(OfJoint):
    """A turn about an axis that shifts along it."""

    makes: ClassVar[type[types.Joint]] = types.Screw
    type: Literal["screw"]
    axis: Axis = "z"
    pitch: Number
    """Metres per radian."""


class CylindricalFields(OfJoint):
    """A shift along an axis and a turn about it. Coordinates: distance, angle."""

    makes: ClassVar[type[types.Joint]] = types.Cylindrical
    type: Literal["cylindrical"]
    axis: Axis = "z"


class UniversalFields(OfJoint):
    """A turn about `first`, fixed in the parent, then about `second`, fixed in the child."""

    makes: ClassVar[type[types.Joint]] = types.Universal
    type: Literal["universal"]
    first: Axis = "x"
    second: Axis = "y"


class BallFields(OfJoint):
    """Any turn about a point. Coordinates: a quaternion w x y z."""

    makes: ClassVar[type[types.Joint]] = types.Ball
    type: Literal["ball"]


class PlanarFields(OfJoint):
    """Shifts x and y, then a turn about z: coordinates x, y, angle."""

    makes: ClassVar[type[types.Joint]] = types.Planar
    type: Literal["planar"]


class TranslationFields(OfJoint):
    """Shifts x, y, z."""

    makes: ClassVar[type[types.Joint]] = types.Translation
    type: Literal["translation"]


class FreeFields(OfJoint):
    """Every motion: position and quaternion."""

    makes: ClassVar[type[types.Joint]] = types.Free
    type: Literal["free"]


class CustomFields(OfJoint):
    """A joint by its pose, formulas of its coordinates and t."""

    makes: ClassVar[type[types.Joint]] = types.CustomJoint
    type: Literal["custom"]
    dof: Whole
    """Number of coordinates."""
    names: Names | None = None
    """Names of the coordinates; q, or q1, q2 … where nothing is said."""
    pose: PoseByFormulas

    def make(self, options: dict[str, Any]) -> types.Joint:
        if not 0 <= self.dof <= 6:
            raise ModelError(f"dof must be a whole number from 0 to 6, got {self.dof}")
        names = self.names or (("q",) if self.dof == 1 else tuple(f"q{k + 1}" for k in range(self.dof)))
        with at("pose"):
            pose = self.pose.build((*names, "t"))
        return types.CustomJoint(self.dof, pose, self.names, **options)


class ConstraintFields(OfJoint):
    """A joint by what it keeps at zero: formulas of x y z, of the rotation's entries rxx rxy … rzz, and of t."""

    makes: ClassVar[type[types.Joint]] = types.ConstraintJoint
    type: Literal["constraint"]
    constraints: Items
    """One to six formulas."""
    start: Place = (0.0, 0.0, 0.0)
    """A pose that meets them at t = 0."""
    where: Where | None = None
    """Named parts of the formulas."""

    def make(self, options: dict[str, Any]) -> types.Joint:
        with at("start"):
            start = place_of(self.start)
        for k, text in enumerate(self.constraints):
            with at("constraints", k):
                Formula(text, ConstraintFormula.variables, self.where)
        return types.ConstraintJoint(ConstraintFormula(*self.constraints, where=self.where), start, **options)


class CompoundFields(OfJoint):
    """Several joints one after another, no mass between them; limits, damping … are those of the parts."""

    makes: ClassVar[type[types.Joint]] = types.Compound
    type: Literal["compound"]
    parts: dict[Name, PartField]
    """From the parent outward."""

    def make(self, options: dict[str, Any]) -> types.Joint:
        parts: dict[str, Any] = {}
        for name, part in self.parts.items():
            with at("parts", name):
                parts[name] = part.build(), place_of(part.at)
        return types.Compound(parts, **options)


TYPES: tuple[type[OfJoint], ...] = (
    WeldFields, RevoluteFields, PrismaticFields, ScrewFields, CylindricalFields, UniversalFields, BallFields, PlanarFields,
    TranslationFields, FreeFields, CustomFields, ConstraintFields, CompoundFields,
)  # fmt: skip
BY_TYPE: dict[type[types.Joint], type[OfJoint]] = {cls.makes: cls for cls in TYPES}


def _union(placement: type[Fields], prefix: str) -> Any:
    """One of all types, each with its placement, chosen by `type`."""
    out: Any = None
    for cls in TYPES:
        made = create_model(prefix + cls.__name__.removesuffix("Fields"), __base__=(cls, placement), __doc__=cls.__doc__)
        out = made if out is None else out | made
    return Annotated[out, Field(discriminator="type")]


if TYPE_CHECKING:
    PartField = Any
    JointField = Any
else:
    PartField = _union(PartPlacement, "Part")
    JointField = _union(Placement, "")


def add_joint(model: Model, name: str, fields: Any) -> None:
    label = f"joint {name!r}"
    for end in ("parent", "child"):
        with at(end):
            model._known_body(getattr(fields, end), label)
    joint = fields.build()
    places = {}
    for end, body in (("at", fields.parent), ("child_at", fields.child)):
        with at(end):
            places[end] = place_of(getattr(fields, end))
            model._place(places[end], body, label)
    model.add_joint(name, joint, fields.parent, fields.child, cut=fields.cut, **places)
