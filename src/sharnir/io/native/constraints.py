"""Constraints that are not joints."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ...model import constraints as types
from ...model.constraints.base import UserConstraint
from ...model.formulas import SignalFormula
from .fields import Axis, Name, Number, Vector, at
from .formulas import Arguments, FormulaField, Item, Where

SURFACE = ("x", "y", "z", "t")


class OfConstraint(Arguments):
    """A constraint by its type; fields are the arguments of the class of that name."""

    def build(self) -> types.Constraint:
        return self.made()


class DistanceFields(OfConstraint):
    """Two points stay apart by a length: a rod without mass."""

    makes: ClassVar[type] = types.Distance
    type: Literal["distance"]
    a: Name
    b: Name
    at_a: Vector = (0.0, 0.0, 0.0)
    at_b: Vector = (0.0, 0.0, 0.0)
    length: Number = 1.0


class GearFields(OfConstraint):
    """Coordinates tied together: the sum of ratio times coordinate is the offset."""

    makes: ClassVar[type] = types.Gear
    type: Literal["gear"]
    ratios: dict[Name, Number]
    """By the name of the joint."""
    offset: Number = 0.0


class PointOnSurfaceFields(OfConstraint):
    """A point of a body on a surface."""

    makes: ClassVar[type] = types.PointOnSurface
    formulas: ClassVar[dict[str, tuple[str, ...]]] = {"surface": SURFACE}
    type: Literal["point-on-surface"]
    body: Name
    surface: FormulaField
    """Zero on the surface: a formula of x, y, z and t."""
    at: Vector = (0.0, 0.0, 0.0)
    of: Name = "ground"
    """The body in whose axes x, y, z are."""


class PointOnCurveFields(OfConstraint):
    """A point of a body on the section of two surfaces."""

    makes: ClassVar[type] = types.PointOnCurve
    formulas: ClassVar[dict[str, tuple[str, ...]]] = {"first": SURFACE, "second": SURFACE}
    type: Literal["point-on-curve"]
    body: Name
    first: FormulaField
    second: FormulaField
    at: Vector = (0.0, 0.0, 0.0)
    of: Name = "ground"


class RollingFields(OfConstraint):
    """A thin disc rolls on a plane without slipping."""

    makes: ClassVar[type] = types.Rolling
    type: Literal["rolling"]
    body: Name
    radius: Number
    axis: Axis = "z"
    """Of the disc, in the body's axes."""
    centre: Vector = (0.0, 0.0, 0.0)
    normal: Axis = "z"
    """Of the plane, in the world."""
    point: Vector = (0.0, 0.0, 0.0)


class PositionFields(OfConstraint):
    """A formula of t and signals (q.elbow, position.hand.z …) kept at zero."""

    type: Literal["position"]
    zero: Item
    where: Where | None = None

    def build(self) -> types.Constraint:
        with at("zero"):
            return UserConstraint(SignalFormula(self.zero, self.where))


class SpeedFields(OfConstraint):
    """A formula, linear in speeds (v.elbow, velocity.hand.x …), kept at zero."""

    type: Literal["speed"]
    zero: Item
    where: Where | None = None

    def build(self) -> types.Constraint:
        with at("zero"):
            return types.SpeedConstraint(SignalFormula(self.zero, self.where))


TYPES: tuple[type[OfConstraint], ...] = (
    DistanceFields, GearFields, PointOnSurfaceFields, PointOnCurveFields, RollingFields, PositionFields, SpeedFields,
)  # fmt: skip
BY_TYPE: dict[type[types.Constraint], type[OfConstraint]] = {cls.makes: cls for cls in TYPES if hasattr(cls, "makes")}
ConstraintField = Annotated[
    DistanceFields | GearFields | PointOnSurfaceFields | PointOnCurveFields | RollingFields | PositionFields | SpeedFields,
    Field(discriminator="type"),
]
