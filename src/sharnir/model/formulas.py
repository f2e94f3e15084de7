"""What a model asks functions for, by formulas: poses, vectors, constraints, signals of the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ModelError, known
from ..trace.formula import Formulas
from .pose import Axis, Pose, Rotation, unit_axis

if TYPE_CHECKING:
    from .motion import Motion

Item = str | float
Where = Mapping[str, Item] | None
SIGNALS = ("q", "v", "parameter", "position", "velocity")
"""q.joint, v.joint (with the coordinate's name behind where there are several), parameter.name, position.body.x, …"""
ENTRIES = ("rxx", "rxy", "rxz", "ryx", "ryy", "ryz", "rzx", "rzy", "rzz")
"""Entries of a rotation, row by row."""


class PoseFormula:
    """A pose by formulas, of t for drives and bases, of the coordinates and t for a `CustomJoint`.

    position    three formulas
    turns       [(axis, angle), …], each in the axes turned by those before it; or
    quaternion  four formulas (w x y z), of any length but zero
    """

    def __init__(
        self,
        position: Sequence[Item] = (0.0, 0.0, 0.0),
        turns: Sequence[tuple[Axis, Item]] = (),
        quaternion: Sequence[Item] | None = None,
        variables: Sequence[str] = ("t",),
        where: Where = None,
    ) -> None:
        self.position, self.variables = _several(position, 3, "position"), tuple(variables)
        self.turns = tuple((axis if isinstance(axis, str) else tuple(axis), angle) for axis, angle in turns)
        self.quaternion = None if quaternion is None else _several(quaternion, 4, "quaternion")
        if turns and quaternion is not None:
            raise ModelError("pose by formulas: give turns or a quaternion, not both")
        for axis, _ in self.turns:
            unit_axis(axis, "turn")
        angles = self.quaternion or [angle for _, angle in self.turns]
        self.formulas = Formulas((*self.position, *angles), self.variables, where)

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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PoseFormula):
            return NotImplemented
        return (self.formulas, self.turns, self.quaternion) == (other.formulas, other.turns, other.quaternion)

    def __hash__(self) -> int:
        return hash((self.formulas, self.turns))


class ConstraintFormula:
    """Constraints of a `ConstraintJoint`: formulas of x y z, of the entries rxx rxy … rzz of the rotation, and of t."""

    variables = ("x", "y", "z", *ENTRIES, "t")

    def __init__(self, *items: Item, where: Where = None) -> None:
        self.formulas = Formulas(items, self.variables, where)

    def __call__(self, pose: Pose, t: Any) -> tuple[Any, ...]:
        return self.formulas((*pose.position, *pose.rotation.entries, t))

    def __eq__(self, other: object) -> bool:
        return self.formulas == other.formulas if isinstance(other, ConstraintFormula) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.formulas)


class VectorFormula:
    """Force or moment of a `Wrench`: three formulas of t and of signals (q.elbow, v.shoulder.first, parameter.k,
    position.hand.z, velocity.hand.z)."""

    def __init__(self, *items: Item, where: Where = None) -> None:
        self.formulas = Formulas(_several(items, 3, "vector"), ("t",), where, SIGNALS)
        self.reads_state = bool(self.formulas.signals)

    def __call__(self, t: Any, on: Motion | None = None) -> tuple[Any, ...]:
        return self.formulas((t,), None if on is None else lambda path: signal(on, path))

    def __eq__(self, other: object) -> bool:
        return self.formulas == other.formulas if isinstance(other, VectorFormula) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.formulas)


class SignalFormula:
    """One formula of t and of signals, for an `Event`."""

    def __init__(self, text: Item, where: Where = None) -> None:
        self.formulas = Formulas((text,), ("t",), where, SIGNALS)

    def __call__(self, on: Motion) -> Any:
        return self.formulas((on.t,), lambda path: signal(on, path))[0]

    def __eq__(self, other: object) -> bool:
        return self.formulas == other.formulas if isinstance(other, SignalFormula) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.formulas)


def signal(on: Motion, path: tuple[str, ...]) -> Any:
    """The number that a signal such as ("q", "elbow") or ("position", "hand", "z") means."""
    root, name, *rest = path
    if root == "parameter":
        return on.parameter(".".join(path[1:]))
    names: tuple[str, ...]
    if root in ("position", "velocity"):
        values, names = on.point(name)[root == "velocity"], ("x", "y", "z")
    else:
        placed = on._joint(name)
        values = on._coordinates(placed, int(root == "v"))
        names = placed.type.v_names() if root == "v" else placed.type.q_names()
        if not rest and len(values) == 1:
            return values[0]
    if len(rest) != 1 or rest[0] not in names or len(names) != len(values):
        raise ModelError(f"signal {'.'.join(path)!r}: name one of {known(names)} behind {root}.{name}")
    return values[names.index(rest[0])]


def _several(items: Sequence[Item], n: int, what: str) -> tuple[Item, ...]:
    if isinstance(items, str) or len(items) != n:
        raise ModelError(f"{what}: expected {n} formulas or numbers, got {items!r}")
    return tuple(items)
