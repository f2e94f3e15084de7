"""Which joint of a closed loop is cut: one that can be, that leaves few constraints, and whose coordinate nothing reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import ModelError
from ..trace import is_zero
from .constraints import Constraint
from .forces import Force
from .joints import Joint
from .placed_joint import PlacedJoint, by_type


def check_cuts(closing: Sequence[PlacedJoint], needed: Mapping[str, str], constraints: Mapping[str, Constraint]) -> None:
    """Refuse a closing joint that cannot be cut, or whose coordinate is needed."""
    for joint in closing:
        name = joint.name
        if not joint.type.can_be_cut:
            kind = f"{joint.type.type_name} joint{' driven like this' if joint.type.motion is not None else ''}"
            raise ModelError(
                f"joint {name!r} closes a loop, and a {kind} cannot be cut: what it forbids cannot be said without its "
                f"coordinates; split a body instead: model.split({name!r})"
            )
        if needed.get(name):
            raise ModelError(
                f"joint {name!r} closes a loop and would be cut, but {needed[name]} needs its coordinate; "
                f"mark another joint of the loop with cut=True, or split a body: model.split({name!r})"
            )
        if name in constraints:
            raise ModelError(f"there is a joint and a constraint {name!r}; closing joints and constraints need different names")


def cut_ranks(joints: Sequence[PlacedJoint], needed: Mapping[str, str]) -> list[int]:
    """Of the joints of a loop the one of highest rank is cut: more freedoms leave fewer constraints. Last come joints whose
    coordinates are needed, and those that cannot be cut."""
    ranks = by_type(joints, lambda joint: len(joint.v_names()) if joint.can_be_cut else -1)
    return [-1 if j.name in needed else rank for j, rank in zip(joints, ranks, strict=True)]


def needed_coordinates(
    joints: Sequence[PlacedJoint], forces: Mapping[str, Force], constraints: Mapping[str, Constraint]
) -> dict[str, str]:
    """Joints whose coordinates something reads or acts on, and what; "" where the joint only stores limits or friction."""
    out: dict[str, str] = {}
    for j, own in zip(joints, by_type(joints, _own_need), strict=True):
        if own is not None:
            out[j.name] = own or out.get(j.name, "")
        if j.follows:
            out[j.name] = out[j.follows.leader] = f"the coupling of {j.name!r} to {j.follows.leader!r}"
    for name, force in forces.items():
        out |= dict.fromkeys(force.joints(), f"force {name!r}")
    for name, constraint in constraints.items():
        out |= dict.fromkeys(constraint.joints(), f"constraint {name!r}")
    return out


def _own_need(joint: Joint) -> str | None:
    """What in a joint needs its own coordinates; "" where it is only stored with the joint, None where nothing does."""
    if not is_zero((joint.damping, joint.stiffness, joint.armature)):
        return "its own damping, stiffness or armature"
    return "" if joint.limits is not None or not is_zero(joint.friction) else None
