"""Entries of a file that are not elements of a model themselves, described as elements are (`model/element.py`); kinds of values
that only files have; the types of elements by their tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import ModelError, known
from ...kernels.algebra import ZERO3
from ...model import constraints, forces, joints, shapes
from ...model import values as kinds
from ...model.constraints.constraint_element import UserConstraint
from ...model.element import Element, element, element_field
from ...model.flexible import FlexibleBeam, ModalBody
from ...model.flexible.flexible_body import NOT_NEGATIVE
from ...model.flexible.tables import TableValue
from ...model.formulas import SignalFormula, VectorFormula
from ...model.parts import ACTING
from ...model.pose import Axis, Pose, Rotation
from ...model.settings import SimulationSettings
from ...model.topology import NUMBERINGS
from ...model.values import HERE
from ...model.visual import Visual
from ...trace.formula import Formula
from ...trace.table import KINDS, OUTSIDE, Table
from .faults import at

VERSION = 1
SHAPES = (shapes.Box, shapes.Cylinder, shapes.Sphere, shapes.Rod, shapes.Capsule, shapes.Torus)
SURFACES = (shapes.Plane, shapes.HeightFunction, shapes.Points)
JOINTS = (
    joints.Weld, joints.Revolute, joints.Prismatic, joints.Screw, joints.Cylindrical, joints.Universal, joints.Ball,
    joints.Planar, joints.Translation, joints.Free, joints.CustomJoint, joints.ConstraintJoint, joints.Compound,
)  # fmt: skip
FORCES = (
    forces.SpringDamper, forces.Bushing, forces.JointSpring, forces.JointStop, forces.JointFriction,
    forces.BristleFriction, forces.Motor, forces.PID, forces.DCMotor, forces.Actuator, forces.HydraulicCylinder,
    forces.Drag, forces.PointGravity, forces.Wrench, forces.Tendon, forces.MagicFormulaTyre, forces.BrushTyre,
    forces.Contact,
)  # fmt: skip
CONSTRAINTS = (
    constraints.Distance, constraints.Gear, constraints.PointOnSurface, constraints.PointOnCurve, constraints.Rolling,
    UserConstraint, constraints.SpeedConstraint,
)  # fmt: skip
FLEXIBLE = (FlexibleBeam, ModalBody)
"""The types of a file, by their tags, in the order in which messages list them."""


def optional(kind: kinds.Kind, meaning: str, unit: str = "") -> Any:
    """A field that may be left out; it is None then."""
    return element_field(kind, default=None, unit=unit, meaning=meaning)


# --- kinds of values ----------------------------------------------------------------------------------------------------------
class FileKind(kinds.Kind):
    """Checked when it is read."""

    def check(self, value: Any) -> Any:
        return value


class Grid(FileKind):
    """Rows of numbers."""


class PlaceValue(FileKind):
    """A pose, or the name of a frame."""


class Version(FileKind):
    """The version of the format."""


@dataclass(frozen=True)
class Block(FileKind):
    """Numbers in lists of lists, this many levels deep, each level of one length."""

    levels: int


@dataclass(frozen=True)
class Record(FileKind):
    """An entry with fields."""

    of: type[Element]


@dataclass(frozen=True)
class Tagged(FileKind):
    """One of some classes, selected by `type`; `beside`: an entry whose fields are put beside its own."""

    classes: tuple[type[Element], ...]
    beside: type[Element] | None = None


@dataclass(frozen=True)
class FlexibleValue(Tagged):
    """A flexible body; a modal one may be named by its archive."""


# --- poses and formulas -------------------------------------------------------------------------------------------------------
@element()
class PoseEntry(Element):
    """Where a frame is: a position and a rotation in one way of four."""

    position: Sequence[float] = element_field(kinds.Vector(3), default=ZERO3, unit="m", meaning="origin")
    quaternion: Sequence[float] | None = optional(kinds.Vector(4), "w x y z, of any length but zero")
    rpy: Sequence[float] | None = optional(
        kinds.Vector(3), "roll about x, then pitch about y, then yaw about z, fixed axes", "rad"
    )
    axis: Axis | None = optional(kinds.AxisValue(), "axis of a rotation by `angle`")
    angle: float | None = optional(kinds.Scalar(), "goes with `axis`", "rad")
    matrix: Any = optional(kinds.Matrix(((3, 3), (9,))), "direction cosines, 3×3 or nine numbers row by row")

    def rotation(self) -> Rotation | None:
        given = [name for name in ("quaternion", "rpy", "axis", "matrix") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ModelError(f"give the rotation once, not by {known(given)}")
        if (self.axis is None) != (self.angle is None):
            raise ModelError("axis and angle go together")
        with at(*given):
            if self.quaternion is not None:
                return Rotation.quaternion(*self.quaternion)
            if self.rpy is not None:
                return Rotation.rpy(*self.rpy)
            if self.axis is not None and self.angle is not None:
                return Rotation.about(self.axis, self.angle)
            return None if self.matrix is None else Rotation(self.matrix)


WHERE = "named parts, each a formula of the variables and of the parts before it"


@element()
class LongFormula(Element):
    """A formula with other names of its variables than usual, or with named parts."""

    formula: Any = element_field(kinds.Item(), meaning="the formula")
    of: Sequence[str] | None = optional(kinds.Names(), "names of the variables, in place of the usual ones")
    where: Mapping[str, Any] | None = optional(kinds.Where(), WHERE)

    def build(self, variables: Sequence[str]) -> Formula:
        return Formula(self.formula, self.of or variables, self.where)


@element()
class LongVector(Element):
    """Three formulas with named parts."""

    vector: Sequence[Any] = element_field(kinds.Items(3), meaning="the formulas")
    where: Mapping[str, Any] | None = optional(kinds.Where(), WHERE)

    def build(self) -> VectorFormula:
        return VectorFormula(*self.vector, where=self.where)


@element()
class TableEntry(Element):
    """A function by points, y at x, or z at x and y; formulas call it by its name."""

    x: Sequence[float] = element_field(kinds.Vector(), meaning="places of the points, ascending")
    y: Sequence[float] = element_field(kinds.Vector(), meaning="values there; of a table of two arguments places of the second")
    z: Any = optional(Grid(), "values of a table of two arguments, a row for each x")
    kind: str = element_field(
        kinds.Choice(tuple(KINDS)), default="cubic", meaning="straight lines, a smooth spline, or cubics that never overshoot"
    )
    outside: str = element_field(
        kinds.Choice(OUTSIDE), default="hold", meaning="the value at the end, an error, or the points are one period"
    )

    def build(self, name: str) -> Table:
        axes, values = ((self.x,), self.y) if self.z is None else ((self.x, self.y), self.z)
        return Table(axes, values, self.kind, self.outside, name)


# --- flexible bodies: those of the model, and modal bodies in archives beside the file ------------------------------------------
@element("modal")
class ModalArchive(Element):
    """A modal body in an archive of arrays that `ModalBody.save` has written. It is opened where meshes are: in the package of
    the file, or in `package_paths`."""

    file: str = element_field(kinds.Text(), meaning="the archive, .npz, from the folder of the file; package:// too")
    damping: Any = optional(kinds.ScalarOrVector(NOT_NEGATIVE), "ratio of critical damping, in place of that of the archive")
    rayleigh: Sequence[float] | None = optional(kinds.Vector(2, NOT_NEGATIVE), "damping α·mass + β·stiffness, likewise", "1/s, s")


@element()
class IntegralsEntry(Element):
    """Integrals over the mass of m modes Φ, at undeformed places x, in the body's axes."""

    linear: Any = element_field(TableValue(), unit="kg m", meaning="∫ Φ of each mode, m×3")
    first: Any = element_field(Block(3), unit="kg m²", meaning="∫ x Φᵀ of each mode, m×3×3")
    product: Any = element_field(Block(4), unit="kg m²", meaning="∫ Φ Φᵀ of each pair of modes, m×m×3×3")
    mass_matrix: Any = optional(TableValue(), "∫ Φᵀ Φ, m×m, where it is not the trace of `product`", "kg m²")


# --- entries of the sections ----------------------------------------------------------------------------------------------------
@element()
class BodyEntry(Element):
    """A rigid body: mass, com and inertia, or a shape with its mass or density; or a flexible one."""

    mass: float | None = optional(kinds.Scalar(), "mass", "kg")
    com: Sequence[float] | None = optional(kinds.Vector(3), "centre of mass in the body's frame", "m")
    inertia: Any = optional(
        kinds.Matrix(((3,), (6,), (3, 3))), "about the centre of mass: three numbers, six (xx yy zz xy xz yz) or 3×3", "kg m²"
    )
    shape: shapes.Shape | None = optional(Tagged(SHAPES), "a solid of uniform density that gives centre of mass and inertia")
    density: float | None = optional(kinds.Scalar(), "goes with a shape", "kg/m³")
    check_inertia: bool = element_field(kinds.Flag(), default=True, meaning="false accepts an inertia that no body can have")
    flexible: Any = optional(
        FlexibleValue((*FLEXIBLE, ModalArchive)), "how it deforms, in place of the other fields: mass and inertia follow"
    )


@element()
class FrameEntry(Element):
    """A named place on a body."""

    body: str = element_field(kinds.Name("body"), meaning="the body")
    at: Pose = element_field(kinds.PoseValue(), default=HERE, meaning="its pose in the body")


@element()
class JointPlacement(Element):
    """Between which bodies a joint is, and where."""

    parent: str = element_field(kinds.Name("body"), meaning="the name of a body, or ground")
    child: str = element_field(kinds.Name("body"), meaning="the name of a body")
    at: Pose | str | None = optional(PlaceValue(), "the joint frame in the parent: a pose or a frame")
    child_at: Pose | str | None = optional(PlaceValue(), "the joint frame in the child: a pose or a frame")
    cut: bool | None = optional(kinds.Flag(), "where it closes a loop: whether it is to be cut, or never; left out: as is best")


@element()
class PartPlacement(Element):
    """Where the part of a compound is."""

    at: Pose = element_field(
        kinds.PoseValue(), default=HERE, meaning="the part's frame in the frame that the part before it moves"
    )


@element()
class FixedJointEntry(Element):
    """A fixed joint of an imported file, whose links were merged into one body."""

    parent: str = element_field(kinds.Name(), meaning="a body or a frame")
    child: str = element_field(kinds.Name(), meaning="a body or a frame")


@element()
class CouplingEntry(Element):
    """x = ratio · (coordinate of the leader) + offset; both joints of one coordinate."""

    leader: str = element_field(kinds.Name("joint"), meaning="the joint that is followed")
    ratio: float = element_field(kinds.Scalar(), default=1.0)
    offset: float = element_field(kinds.Scalar(), default=0.0, unit="rad, m")


@element()
class StateEntry(Element):
    """A number that is integrated with the motion; forces and events read it."""

    initial: float = element_field(kinds.Scalar(), meaning="value at the start")
    rate: Any = element_field(
        kinds.NamedFormula(SignalFormula, example="sharnir.SignalFormula('q.elbow - 0.3')"),
        meaning="how fast it changes: a formula of t and of signals such as q.elbow, velocity.hand.x, state.name",
    )
    unit: str = element_field(kinds.Label(), default="", meaning="its unit, for plots")


@element()
class ModelEntry(Element):
    """A mechanism. SI units: metres, kilograms, seconds, newtons, radians."""

    sharnir: int = element_field(Version(), default=VERSION, meaning="version of the format")
    name: str = element_field(kinds.Label(), default="model")
    gravity: Sequence[float] = element_field(
        kinds.Vector(3), default=(0.0, 0.0, -9.81), unit="m/s²", meaning="acceleration of free fall in the world"
    )
    numbering: str = element_field(kinds.Choice(tuple(NUMBERINGS)), default="depth-first", meaning="how bodies are numbered")
    acting: str = element_field(
        kinds.Choice(ACTING),
        default="all",
        meaning="which options of joints act: all; all but limits; or neither limits nor friction",
    )
    base_motion: Any = optional(kinds.PoseFunction(lambda fields: ("t",)), "pose of the ground in the world, formulas of t")
    parameters: Mapping[str, float] = optional(
        kinds.ByName(kinds.Scalar(endless=True)), "numbers that formulas read as parameter.name"
    )
    tables: Mapping[str, TableEntry] = optional(
        kinds.ByName(Record(TableEntry)), "functions by points, which formulas call: grip(t)"
    )
    bodies: Mapping[str, BodyEntry] = optional(kinds.ByName(Record(BodyEntry)), "bodies by name; the base is called ground")
    frames: Mapping[str, FrameEntry] = optional(kinds.ByName(Record(FrameEntry)), "named places on bodies")
    joints: Mapping[str, Any] = optional(
        kinds.ByName(Tagged(JOINTS, JointPlacement)), "joints by name, in any order and direction; joints that close loops too"
    )
    floating: Sequence[str] = element_field(
        kinds.Names(), default=(), meaning="floating bodies: short for a free joint to the ground, named body + ' float'"
    )
    couplings: Mapping[str, CouplingEntry] = optional(
        kinds.ByName(Record(CouplingEntry)), "joints that follow others, by the name of the follower"
    )
    forces: Mapping[str, Any] = optional(kinds.ByName(Tagged(FORCES)), "forces by name")
    states: Mapping[str, StateEntry] = optional(
        kinds.ByName(Record(StateEntry)), "numbers that are integrated with the motion, by name"
    )
    constraints: Mapping[str, Any] = optional(kinds.ByName(Tagged(CONSTRAINTS)), "constraints beyond joints, by name")
    visuals: Sequence[Visual] = element_field(kinds.Elements(Visual), default=(), meaning="what to draw")
    fixed_joints: Mapping[str, FixedJointEntry] = optional(
        kinds.ByName(Record(FixedJointEntry)), "fixed joints of an imported file whose links were merged"
    )
    keyframes: Mapping[str, Sequence[float]] = optional(
        kinds.ByName(kinds.Vector()), "positions by name: all coordinates in order"
    )
    simulation: SimulationSettings | None = optional(Record(SimulationSettings), "how to simulate it")
