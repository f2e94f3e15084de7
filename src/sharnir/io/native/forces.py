"""Forces of every type."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ...model import forces as types
from ...model.forces.gravity import EARTH
from ...model.formulas import VectorFormula
from . import checks
from .checks import NUMBER, array, either, leaf
from .fields import EndlessNumber, Fields, Flag, Name, Number, OneOrMany, Place, Vector, Whole, place_of
from .formulas import Arguments, FormulaField, LongVector, VectorField, number_or_formula

Stiffness = Annotated[Any, *leaf(checks.matrix((), (6,), (6, 6)), either(NUMBER, array(NUMBER, 6), array(array(NUMBER, 6), 6)))]


class OfForce(Arguments):
    """A force by its type; fields are the arguments of the class of that name."""

    def build(self) -> types.Force:
        return self.made()

    def convert(self, name: str, value: Any) -> Any:
        if name in self.formulas and name != "law":
            return number_or_formula(value, self.formulas[name])
        return super().convert(name, value)


class SpringDamperFields(OfForce):
    """A spring and a damper along the line between two points."""

    makes: ClassVar[type] = types.SpringDamper
    formulas: ClassVar[dict[str, tuple[str, ...]]] = {"law": ("length", "rate")}
    type: Literal["spring-damper"]
    a: Name
    """Body (or ground) at one end."""
    b: Name
    at_a: Vector = (0.0, 0.0, 0.0)
    """The point in the body's axes, m."""
    at_b: Vector = (0.0, 0.0, 0.0)
    stiffness: Number = 0.0
    """N/m"""
    damping: Number = 0.0
    """N s/m"""
    length: Number = 0.0
    """Length at which the spring is free, m."""
    law: FormulaField | None = None
    """Tension as a formula of `length` and `rate`, in place of the three numbers."""


class BushingFields(OfForce):
    """Stiffness and damping in six directions between two frames."""

    makes: ClassVar[type] = types.Bushing
    type: Literal["bushing"]
    a: Name
    b: Name
    at_a: Place = (0.0, 0.0, 0.0)
    at_b: Place = (0.0, 0.0, 0.0)
    stiffness: Stiffness = 0.0
    """One number, six, or 6×6: forces, then moments; in the axes of the frame on a."""
    damping: Stiffness = 0.0

    def convert(self, name: str, value: Any) -> Any:
        return place_of(value) if name in ("at_a", "at_b") else value


class JointSpringFields(OfForce):
    """A spring and a damper in a joint."""

    makes: ClassVar[type] = types.JointSpring
    formulas: ClassVar[dict[str, tuple[str, ...]]] = {"law": ("x", "v")}
    type: Literal["joint-spring"]
    joint: Name
    stiffness: OneOrMany = 0.0
    damping: OneOrMany = 0.0
    rest: OneOrMany | None = None
    """Where the spring is free; of a ball joint a quaternion."""
    law: FormulaField | None = None
    """Force as a formula of `x` and `v`, for a joint of one coordinate."""


class JointStopFields(OfForce):
    """A springy end of a joint's travel."""

    makes: ClassVar[type] = types.JointStop
    type: Literal["joint-stop"]
    joint: Name
    low: EndlessNumber | None = None
    """The ends; those of the joint's limits where nothing is said."""
    high: EndlessNumber | None = None
    stiffness: Number = 1e5
    damping: Number = 1e2
    onset: Number = 1e-3
    """Depth over which it comes in smoothly."""


class JointFrictionFields(OfForce):
    """Dry friction in a joint."""

    makes: ClassVar[type] = types.JointFriction
    type: Literal["joint-friction"]
    joint: Name
    coulomb: Number | None = None
    """Force when sliding; the joint's own friction where nothing is said."""
    static: Number | None = None
    stribeck: Number = 0.1
    viscous: Number = 0.0
    slip: Number = 1e-3


class MotorFields(OfForce):
    """torque + kp·(target − x) + kd·(target_speed − v), within ±limit."""

    makes: ClassVar[type] = types.Motor
    formulas: ClassVar[dict[str, tuple[str, ...]]] = {"torque": ("t", "x", "v"), "target": ("t",), "target_speed": ("t",)}
    type: Literal["motor"]
    joint: Name
    torque: FormulaField = 0.0
    """A number or a formula of t, x, v."""
    kp: Number = 0.0
    kd: Number = 0.0
    target: FormulaField = 0.0
    """A number or a formula of t."""
    target_speed: FormulaField = 0.0
    limit: Number | None = None
    """Largest force; the joint's own effort where nothing is said."""
    soft: Flag = False


class DragFields(OfForce):
    """The resistance of a medium."""

    makes: ClassVar[type] = types.Drag
    type: Literal["drag"]
    body: Name
    linear: Number = 0.0
    quadratic: Number = 0.0
    angular: Number = 0.0
    at: Vector = (0.0, 0.0, 0.0)
    wind: Vector = (0.0, 0.0, 0.0)


class PointGravityFields(OfForce):
    """The pull of a centre."""

    makes: ClassVar[type] = types.PointGravity
    type: Literal["point-gravity"]
    mu: Number = EARTH
    """GM, m³/s²; the Earth's where nothing is said."""
    centre: Vector = (0.0, 0.0, 0.0)
    gradient: Flag = True


class WrenchFields(OfForce):
    """A force and a moment on a body: numbers, or formulas of t and of signals (q.elbow, v.ball.wx, parameter.k,
    position.hand.z, velocity.hand.z)."""

    makes: ClassVar[type] = types.Wrench
    type: Literal["wrench"]
    body: Name
    force: VectorField = (0.0, 0.0, 0.0)
    moment: VectorField = (0.0, 0.0, 0.0)
    at: Vector = (0.0, 0.0, 0.0)
    axes: Annotated[str, *leaf(checks.one_of("world", "body"), {"enum": ["world", "body"]})] = "world"

    def convert(self, name: str, value: Any) -> Any:
        if isinstance(value, LongVector):
            return VectorFormula(*value.vector, where=value.where)
        return VectorFormula(*value) if isinstance(value, tuple) and any(isinstance(x, str) for x in value) else value


class TendonTerm(Fields):
    """A coordinate that a tendon's length depends on."""

    joint: Name
    q: Whole = 0
    """Which coordinate of the joint, from zero."""
    v: Whole = 0
    """Which speed of the joint, from zero."""
    coefficient: Number


class TendonPoint(Fields):
    """A point that a tendon runs through."""

    body: Name
    at: Vector = (0.0, 0.0, 0.0)


class TendonFields(OfForce):
    """Spring and damper on a length: a sum of coordinates, or a line through points."""

    type: Literal["tendon"]
    stiffness: Number = 0.0
    damping: Number = 0.0
    low: EndlessNumber = 0.0
    """The spring is slack between low and high."""
    high: EndlessNumber = 0.0
    terms: list[TendonTerm] = Field(default_factory=list)
    points: list[TendonPoint] = Field(default_factory=list)

    def build(self) -> types.Force:
        from ..mjcf_tendons import Place as Coordinate
        from ..mjcf_tendons import Tendon

        terms = [(Coordinate(x.joint, x.q, x.v), x.coefficient) for x in self.terms]
        points = [(x.body, x.at) for x in self.points]
        return Tendon(None, self.stiffness, self.damping, self.low or 0.0, self.high or 0.0, terms, points)


TYPES: tuple[type[OfForce], ...] = (
    SpringDamperFields, BushingFields, JointSpringFields, JointStopFields, JointFrictionFields, MotorFields, DragFields,
    PointGravityFields, WrenchFields,
)  # fmt: skip
BY_TYPE: dict[type[types.Force], type[OfForce]] = {cls.makes: cls for cls in TYPES}
ForceField = Annotated[
    SpringDamperFields | BushingFields | JointSpringFields | JointStopFields | JointFrictionFields | MotorFields | DragFields
    | PointGravityFields | WrenchFields | TendonFields,
    Field(discriminator="type"),
]  # fmt: skip
