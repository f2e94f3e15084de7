"""Rotations and poses on generic scalars: floats when a model is built, symbols when a custom joint is traced."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, TypeGuard, overload

import numpy as np

from ..errors import NOT_A_NUMBER, ModelError, brief, suggesting
from ..kernels import algebra
from ..trace.functions import cos, sin
from ..trace.graph import Number, Symbol
from ..trace.parameters import same
from ..types import FloatArray

Axis: TypeAlias = str | Sequence[float]
Vector3: TypeAlias = tuple[Number, Number, Number]
EXPECTED = "rotation: expected a sharnir.Rotation, a quaternion (w, x, y, z) or 3×3 numbers"


def is_float(x: object) -> bool:
    return not isinstance(x, Symbol)


def three_floats(x: object) -> TypeGuard[tuple[float, float, float]]:
    """Whether x needs no conversion: a quick check for large models, which have millions of vectors."""
    if type(x) is not tuple or len(x) != 3:
        return False
    a, b, c = x
    return type(a) is type(b) is type(c) is float and math.isfinite(a + b + c)


def vector3(x: Sequence[Number] | FloatArray, what: str) -> Vector3:
    """Three finite numbers; an error names `what`."""
    if three_floats(x):
        return x
    try:
        values = tuple(v if isinstance(v, Symbol) else float(v) for v in x)
    except NOT_A_NUMBER:
        raise ModelError(f"{what}: expected three numbers, got {brief(x)}") from None
    if len(values) != 3:
        raise ModelError(f"{what}: expected three numbers, got {len(values)}")
    if not all(math.isfinite(v) for v in values if is_float(v)):
        raise ModelError(f"{what}: the numbers must be finite, got {values}")
    return values


def numbers(values: Sequence[Any], what: str) -> tuple[Number, ...]:
    """Symbols as they are, the rest as floats."""
    try:
        return tuple(v if isinstance(v, Symbol) else float(v) for v in values)
    except NOT_A_NUMBER:
        raise ModelError(f"{what}: expected numbers, got {brief(values)}") from None


def unit_axis(axis: Axis, what: str) -> tuple[float, float, float]:
    """A unit vector from "x", "-y" or three numbers; other lengths are refused, not normalized silently."""
    if isinstance(axis, str):
        letter = axis.removeprefix("-").removeprefix("+")
        if letter not in ("x", "y", "z"):
            raise ModelError(f"{what}: unknown axis {brief(axis)}; use 'x', 'y', 'z', '-x' … or three numbers")
        sign = -1.0 if axis.startswith("-") else 1.0
        return (sign * (letter == "x"), sign * (letter == "y"), sign * (letter == "z"))
    x = vector3(axis, what)
    if not all(map(is_float, x)):
        raise ModelError(f"{what}: an axis cannot depend on a parameter; rotate the joint's place: at=Pose(…, Rotation.about(…))")
    length = math.sqrt(algebra.dot(x, x))
    if length == 0.0:
        raise ModelError(f"{what}: the axis has length zero; give a direction, e.g. (0, 0, 1)")
    unit = tuple(v / length for v in x)
    if abs(length - 1.0) > 1e-6:
        shown = ", ".join(f"{v:.9g}" for v in unit)
        raise ModelError(f"{what}: the axis {tuple(x)} has length {length:.6g}, not 1; did you mean ({shown})?")
    return unit


class Rotation:
    """Rotates a vector from moved axes into fixed ones: `R @ x`. `entries` are its nine numbers row by row."""

    __slots__ = ("entries",)

    def __init__(self, entries: Iterable[Any]) -> None:
        """Nine numbers row by row, or a 3×3 array."""
        flat = _flatten(entries)
        if len(flat) != 9:
            angles = "; of three angles: sharnir.Rotation.rpy(roll, pitch, yaw)" if len(flat) == 3 else ""
            raise ModelError(f"{EXPECTED}, got {len(flat)} numbers{angles}")
        self.entries = flat
        if all(is_float(x) for x in flat):
            _check_orthonormal(flat)

    @staticmethod
    def about(axis: Axis, angle: Number) -> Rotation:
        """The rotation by `angle` (radians) about a unit axis."""
        (angle,) = numbers((angle,), "angle")
        if is_float(angle) and abs(angle) > 4.0 * math.pi:
            from .units import warn_of_angle  # which depends on this module

            warn_of_angle("rotation: the angle", angle)
        aligned = Rotation.align_z(unit_axis(axis, "rotation"))
        turn = unchecked_rotation(algebra.transpose(algebra.cosines_z(cos(angle), sin(angle))))
        return aligned @ turn @ aligned.T

    @staticmethod
    def quaternion(w: Number, x: Number, y: Number, z: Number) -> Rotation:
        """The rotation of a quaternion (w x y z); of any length but zero."""
        w, x, y, z = numbers((w, x, y, z), "quaternion")
        if all(is_float(v) for v in (w, x, y, z)) and w * w + x * x + y * y + z * z == 0.0:
            raise ModelError("rotation: a quaternion of length zero is not a rotation; the identity is (1, 0, 0, 0)")
        return unchecked_rotation(algebra.transpose(algebra.cosines_quaternion(w, x, y, z)))

    @staticmethod
    def rpy(roll: Number, pitch: Number, yaw: Number) -> Rotation:
        """Roll about x, then pitch about y, then yaw about z, all fixed axes (the convention of URDF)."""
        return Rotation.about("z", yaw) @ Rotation.about("y", pitch) @ Rotation.about("x", roll)

    @staticmethod
    def identity() -> Rotation:
        return unchecked_rotation(algebra.IDENTITY)

    @staticmethod
    def align_z(direction: Sequence[float]) -> Rotation:
        """Some rotation whose third axis is the given unit vector; signed permutations for coordinate axes."""
        x, y, z = vector3(direction, "direction")
        if (x, y, z) == (0.0, 0.0, 1.0):
            return Rotation.identity()
        if (x, y, z) == (0.0, 0.0, -1.0):
            return unchecked_rotation((1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0))
        if z == 0.0 and (x == 0.0 or y == 0.0):  # ±x, ±y: cyclic, entries 0 and ±1 only
            if y == 0.0:
                return unchecked_rotation((0.0, 0.0, x, 1.0, 0.0, 0.0, 0.0, x, 0.0))
            return unchecked_rotation((0.0, 1.0, 0.0, 0.0, 0.0, y, y, 0.0, 0.0))
        helper = (1.0, 0.0, 0.0) if abs(x) < 0.5 else (0.0, 1.0, 0.0)
        side = algebra.cross(helper, (x, y, z))
        side = algebra.scale(side, 1.0 / math.sqrt(algebra.dot(side, side)))
        up = algebra.cross((x, y, z), side)
        return unchecked_rotation((side[0], up[0], x, side[1], up[1], y, side[2], up[2], z))

    @property
    def T(self) -> Rotation:
        return unchecked_rotation(algebra.transpose(self.entries))

    @property
    def matrix(self) -> np.ndarray:
        """3×3 NumPy array."""
        return np.array(self.entries, dtype=float if all(map(is_float, self.entries)) else object).reshape(3, 3)

    @overload
    def __matmul__(self, other: Rotation) -> Rotation: ...
    @overload
    def __matmul__(self, other: Sequence[Number] | FloatArray) -> Vector3: ...
    def __matmul__(self, other: Rotation | Sequence[Number] | FloatArray) -> Rotation | Vector3:
        if isinstance(other, Rotation):
            return unchecked_rotation(algebra.mm(self.entries, other.entries))
        x, y, z = algebra.mv(self.entries, vector3(other, "vector"))
        return x, y, z

    def __eq__(self, other: object) -> bool:
        return same(tuple(self.entries), tuple(other.entries)) if isinstance(other, Rotation) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.entries))

    def __repr__(self) -> str:
        return f"Rotation({tuple(self.entries)})"


class Pose:
    """The place of a frame: the position of its origin and the rotation of its axes, both seen from another frame.

    Pose((0, 0, 1)), Pose((0, 0, 1), Rotation.about("y", 0.3)), Pose((0, 0, 1), Rotation.rpy(0.1, 0.2, 0.3)).
    """

    __slots__ = ("position", "rotation")

    @suggesting
    def __init__(
        self, position: Sequence[Number] | FloatArray = (0.0, 0.0, 0.0), rotation: Rotation | Iterable[Any] | None = None
    ) -> None:
        """`rotation`: a Rotation, a 3×3 array, a quaternion (w, x, y, z), or None for parallel axes."""
        self.position = vector3(position, "position")
        if rotation is None:
            self.rotation = Rotation.identity()
        elif isinstance(rotation, Rotation):
            self.rotation = rotation
        else:
            flat = _flatten(rotation)
            self.rotation = Rotation.quaternion(*flat) if len(flat) == 4 else Rotation(flat)

    @overload
    def __matmul__(self, other: Pose) -> Pose: ...
    @overload
    def __matmul__(self, other: Sequence[Number] | FloatArray) -> Vector3: ...
    def __matmul__(self, other: Pose | Sequence[Number] | FloatArray) -> Pose | Vector3:
        """The product of two poses, or the outer coordinates of a point given in the frame."""
        if isinstance(other, Pose):
            return Pose(self @ other.position, self.rotation @ other.rotation)
        x, y, z = algebra.add(self.position, self.rotation @ other)
        return x, y, z

    def inverse(self) -> Pose:
        back = self.rotation.T
        return Pose(algebra.neg(back @ self.position), back)

    @property
    def is_identity(self) -> bool:
        numbers = (*self.position, *self.rotation.entries)
        return all(map(is_float, numbers)) and numbers == (*algebra.ZERO3, *algebra.IDENTITY)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pose):
            return NotImplemented
        return same(self.position, other.position) and self.rotation == other.rotation

    def __hash__(self) -> int:
        return hash((self.position, self.rotation))

    def __repr__(self) -> str:
        if self.rotation == Rotation.identity():
            return f"Pose({self.position})"
        return f"Pose({self.position}, {self.rotation!r})"


def unchecked_rotation(entries: Sequence[Number]) -> Rotation:
    """The rotation of nine numbers that are known to be one."""
    out = object.__new__(Rotation)
    out.entries = tuple(entries)
    return out


def roll_pitch_yaw(rotation: Rotation) -> tuple[float, float, float]:
    """Angles of `Rotation.rpy`. Roll is computed after undoing the yaw, which loses no digits near pitch = ±90°."""
    r00, r01, r02, r10, r11, r12, r20, _, _ = (float(x) for x in rotation.entries)
    yaw = math.atan2(r10, r00)
    c, s = math.cos(yaw), math.sin(yaw)
    return math.atan2(s * r02 - c * r12, c * r11 - s * r01), math.atan2(-r20, c * r00 + s * r10), yaw


def quaternion_of(rotation: Rotation) -> tuple[float, float, float, float]:
    """The unit quaternion (w x y z) with w ≥ 0 of a numerical rotation (Shepperd's choice of the largest part)."""
    a, b, c, d, e, f, g, h, i = rotation.entries
    parts = (1.0 + a + e + i, 1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i)
    k = max(range(4), key=lambda j: parts[j])
    quaternion = (
        (parts[0], h - f, c - g, d - b),
        (h - f, parts[1], b + d, c + g),
        (c - g, b + d, parts[2], f + h),
        (d - b, c + g, f + h, parts[3]),
    )[k]
    sign = -1.0 if quaternion[0] < 0.0 else 1.0
    length = sign * math.sqrt(sum(x * x for x in quaternion))
    return tuple(x / length for x in quaternion)


def _flatten(x: Iterable[Any]) -> tuple[Number, ...]:
    flat: list[Number] = []
    try:
        for row in x:
            flat.extend(row) if hasattr(row, "__len__") or hasattr(row, "__iter__") else flat.append(row)
    except TypeError:
        raise ModelError(f"{EXPECTED}, got {brief(x)}") from None
    return numbers(flat, "rotation")


def _check_orthonormal(entries: Sequence[float]) -> None:
    product = algebra.mm(entries, algebra.transpose(entries))
    error = max(abs(a - b) for a, b in zip(product, algebra.IDENTITY, strict=True))
    right = algebra.dot(algebra.cross(entries[0:3], entries[3:6]), entries[6:9])
    if not error < 1e-6:
        raise ModelError(f"rotation: the matrix is not orthonormal (R Rᵀ differs from the identity by {error:.3g})")
    if right < 0.0:
        raise ModelError("rotation: the matrix is a reflection (determinant −1); its axes must be right-handed")
