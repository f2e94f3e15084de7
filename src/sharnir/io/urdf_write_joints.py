"""Joints as elements of URDF; those that it cannot express are refused."""

from __future__ import annotations

import math
from typing import Any

from ..errors import NOT_A_NUMBER, FormatError
from ..model.joints import Free, Planar, Prismatic, Revolute, Weld
from ..model.placed_joint import PlacedJoint
from ..model.pose import Pose, Rotation, unit_axis
from .xml import attribute, numbers

UNLIMITED = 1e9
"""URDF needs numbers where there is no limit."""

KINDS = {Revolute: "revolute", Prismatic: "prismatic", Weld: "fixed", Free: "floating", Planar: "planar"}


def joint_lines(joint: PlacedJoint, before: Pose, after: Pose, backwards: bool) -> tuple[str, Pose, Pose, list[str]]:
    """Type, frame in the carrier, frame in the body, and the elements inside. `backwards`: the file has the other end
    as parent, which reverses the axis."""
    kind = KINDS.get(type(joint.type))
    _refuse(joint, kind, backwards)
    inside: list[str] = []
    if kind in ("revolute", "prismatic"):
        sign = -1.0 if backwards else 1.0
        inside.append(_axis(tuple(sign * x for x in unit_axis(joint.type.axis, joint.name))))  # type: ignore[attr-defined]
    if kind == "planar":
        normal, before, after = _planar(before, after)
        inside.append(_axis(normal))
    inside += _limit(joint, kind)
    damping, friction = (_one_number(joint, what) for what in ("damping", "friction"))
    if damping or friction:
        inside.append(f'<dynamics damping="{damping!r}" friction="{friction!r}"/>')
    if joint.follows:
        c = joint.follows
        inside.append(f'<mimic joint={attribute(c.leader)} multiplier="{c.ratio!r}" offset="{c.offset!r}"/>')
    unlimited = kind == "revolute" and joint.type.limits is None
    return "continuous" if unlimited else str(kind), before, after, inside


def _refuse(joint: PlacedJoint, kind: str | None, backwards: bool) -> None:
    label, type_name = f"joint {joint.name!r}", joint.type.type_name
    if kind is None:
        raise FormatError(
            f"{label}: URDF has no {type_name} joint, only revolute, prismatic, fixed, floating and planar ones. "
            "Save as .yaml, or build it from those"
        )
    if joint.type.motion is not None:
        raise FormatError(f"{label}: URDF cannot express a given motion. Save as .yaml")
    if backwards and kind in ("floating", "planar"):
        raise FormatError(f"{label}: its child carries its parent; a {kind} joint of URDF cannot be reversed. Swap its ends")
    for what in ("stiffness", "armature"):
        if _any(getattr(joint.type, what, 0.0)):
            raise FormatError(f"{label}: URDF has no {what}. Save as .yaml, or a copy without it")
    if kind in ("planar", "floating") and joint.type.limits is not None:
        raise FormatError(f"{label}: URDF has no limits for a {kind} joint. Save as .yaml, or a copy without them")


def _axis(axis: tuple[float, ...]) -> str:
    return f'<axis xyz="{numbers(x + 0.0 for x in axis)}"/>'


def _planar(before: Pose, after: Pose) -> tuple[tuple[float, ...], Pose, Pose]:
    """Our planes are normal to z. A joint that was read from URDF has the same rotation at both ends: that is its axis."""
    entries = after.rotation.entries
    normal = (entries[2], entries[5], entries[8])
    if after.position == (0.0, 0.0, 0.0) and tuple(Rotation.align_z(normal).entries) == tuple(entries):
        return normal, before @ after.inverse(), Pose()
    return (0.0, 0.0, 1.0), before, after


def _limit(joint: PlacedJoint, kind: str | None) -> list[str]:
    j = joint.type
    bounds = ""
    if kind in ("revolute", "prismatic") and (j.limits is not None or kind == "prismatic"):
        low, high = (-UNLIMITED, UNLIMITED) if j.limits is None else _pair(joint)
        bounds = f'lower="{low!r}" upper="{high!r}" '
    if not bounds and j.effort is None and j.velocity is None:
        return []
    effort, velocity = (UNLIMITED if x is None else _finite(float(x)) for x in (j.effort, j.velocity))  # type: ignore[arg-type]
    return [f'<limit {bounds}effort="{effort!r}" velocity="{velocity!r}"/>']


def _pair(joint: PlacedJoint) -> tuple[float, float]:
    try:
        low, high = (_finite(float(x)) for x in joint.type.limits)
    except NOT_A_NUMBER:
        raise FormatError(f"joint {joint.name!r}: limits are a pair (low, high), got {joint.type.limits!r}") from None
    return low, high


def _finite(x: float) -> float:
    return math.copysign(UNLIMITED, x) if math.isinf(x) else x


def _any(value: Any) -> bool:
    return any(value) if hasattr(value, "__len__") else bool(value)


def _one_number(joint: PlacedJoint, what: str) -> float:
    value = getattr(joint.type, what)
    values = {float(x) for x in value} if hasattr(value, "__len__") else {float(value)}
    if len(values) > 1:
        raise FormatError(f"joint {joint.name!r}: URDF has one number for {what}, the joint has {sorted(values)}")
    return values.pop() if values else 0.0
