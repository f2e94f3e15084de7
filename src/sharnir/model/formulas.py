"""Functions given by formulas where a model takes functions: poses, vectors, constraints, signals of the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import ModelError, known
from ..kernels.algebra import ZERO3
from ..trace.formula import ByFormulas, Formulas
from ..trace.table import Table
from . import values
from .element import Element, element, element_field
from .pose import Axis, Pose, Rotation
from .values import AxisValue, Items, Names, Rows

if TYPE_CHECKING:
    from .motion import Motion

Item = str | float
Where = Mapping[str, Item | Table] | None
SIGNALS = ("q", "v", "parameter", "state", "position", "velocity")
"""q.joint, v.joint (with the coordinate's name behind where there are several), parameter.name, state.name, position.body.x, …"""
ENTRIES = ("rxx", "rxy", "rxz", "ryx", "ryy", "ryz", "rzx", "rzy", "rzz")
"""Entries of a rotation, row by row."""


@element()
class PoseFormula(Element):
    """A pose by formulas, of t for drives and bases, of the coordinates and t for a `CustomJoint`."""

    position: Sequence[Item] = element_field(Items(3), default=ZERO3, unit="m", meaning="three formulas")
    turns: Sequence[tuple[Axis, Item]] = element_field(
        Rows({"axis": (AxisValue(), None), "angle": (values.Item(), None)}),
        default=(),
        unit="rad",
        meaning="axis and angle of rotations one after another, each in the axes rotated by those before it",
    )
    quaternion: Sequence[Item] | None = element_field(
        Items(4), default=None, meaning="four formulas w x y z instead of turns; of any length but zero"
    )
    variables: Sequence[str] = element_field(
        Names(), default=("t",), key="of", meaning="names of the variables, in place of the usual ones (the coordinates, t)"
    )
    where: Where = element_field(
        values.Where(), default=None, meaning="named parts, each a formula of the variables and of the parts before it"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.turns and self.quaternion is not None:
            raise ModelError("pose by formulas: give turns or a quaternion, not both")
        angles = self.quaternion or [angle for _, angle in self.turns]
        self.__dict__["formulas"] = Formulas((*self.position, *angles), self.variables, self.where)
        self.__dict__["where"] = self.formulas.where or None  # with the tables of a file

    if TYPE_CHECKING:
        formulas: ClassVar[Formulas]

    def __call__(self, *arguments: Any) -> Pose:
        """(t), or (coordinates, t)."""
        values = (*arguments[0], arguments[1]) if len(arguments) == 2 else arguments
        x, y, z, *angles = self.formulas(values)
        if self.quaternion is not None:
            return Pose((x, y, z), Rotation.quaternion(*angles))
        turned: Any = None
        for (axis, _), angle in zip(self.turns, angles, strict=True):
            turn = Rotation.about(axis, angle)
            turned = turn if turned is None else turned @ turn
        return Pose((x, y, z), turned)


class ConstraintFormula(ByFormulas):
    """Constraints of a `ConstraintJoint`: formulas of x y z, of the entries rxx rxy … rzz of the rotation, and of t."""

    variables = ("x", "y", "z", *ENTRIES, "t")

    def __init__(self, *items: Item, where: Where = None) -> None:
        self.formulas = Formulas(items, self.variables, where)

    def __call__(self, pose: Pose, t: Any) -> tuple[Any, ...]:
        return self.formulas((*pose.position, *pose.rotation.entries, t))


class VectorFormula(ByFormulas):
    """Force or moment of a `Wrench`: three formulas of t and of signals (q.elbow, v.shoulder.first, parameter.k,
    position.hand.z, velocity.hand.z)."""

    def __init__(self, *items: Item, where: Where = None) -> None:
        if len(items) != 3:
            raise ModelError(f"vector: expected 3 formulas or numbers, got {items!r}")
        self.formulas = Formulas(items, ("t",), where, SIGNALS)
        self.reads_state = bool(self.formulas.signals)

    def __call__(self, t: Any, on: Motion | None = None) -> tuple[Any, ...]:
        return self.formulas((t,), None if on is None else lambda path: signal(on, path))


class SignalFormula(ByFormulas):
    """One formula of t and of signals, for an `Event` or a constraint."""

    def __init__(self, text: Item, where: Where = None) -> None:
        self.formulas = Formulas((text,), ("t",), where, SIGNALS)

    def __call__(self, on: Motion) -> Any:
        return self.formulas((on.t,), lambda path: signal(on, path))[0]


def signal(on: Motion, path: tuple[str, ...]) -> Any:
    """The value of a signal such as ("q", "elbow") or ("position", "hand", "z")."""
    root, name, *rest = path
    if root in ("parameter", "state"):
        return (on.parameter if root == "parameter" else on.state)(".".join(path[1:]))
    names: tuple[str, ...]
    if root in ("position", "velocity"):
        values, names = on.point(name)[root == "velocity"], ("x", "y", "z")
    else:
        values = on.speeds(name) if root == "v" else on.coordinates(name)
        names = on.joint(name).v_names() if root == "v" else on.joint(name).q_names()
        if not rest and len(values) == 1:
            return values[0]
    if len(rest) != 1 or rest[0] not in names or len(names) != len(values):
        raise ModelError(f"signal {'.'.join(path)!r}: name one of {known(names)} behind {root}.{name}")
    return values[names.index(rest[0])]
