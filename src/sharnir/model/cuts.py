"""Which joint of a closed loop is cut: one that can be, whose coordinate nothing reads, that leaves every other joint some mass
to move and few constraints; and the reasons in words. Where these say nothing, `loop_cuts.py` decides by the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import ModelError
from ..reporting.formats import plural
from ..trace import is_zero
from .body import Body
from .carried_mass import idle_ends
from .constraints import Constraint
from .forces import Force
from .joints import Free, Joint
from .loop_cuts import IDLE
from .placed_joint import PlacedJoint, by_type
from .topology import Tree, path

KEPT, FLOAT, ORDINARY = -1, IDLE, IDLE + 1
"""Ranks: of joints that are never cut; of floats, which are if no other joint will do; of others, to which their freedoms are
added. One whose cut leaves a joint without mass to move comes before floats."""


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
        if joint.cut is False:
            raise ModelError(
                f"joint {name!r} closes a loop in which no other joint can be cut in its place, so cut=False cannot be met; "
                f"leave it out here or at another joint of the loop, or split a body: model.split({name!r})"
            )
        if needed.get(name):
            raise ModelError(
                f"joint {name!r} closes a loop and would be cut, but {needed[name]} needs its coordinate; "
                f"mark another joint of the loop with cut=True, or split a body: model.split({name!r})"
            )
        if name in constraints:
            raise ModelError(f"there is a joint and a constraint {name!r}; closing joints and constraints need different names")


def cut_ranks(
    bodies: Sequence[Body], joints: Sequence[PlacedJoint], needed: Mapping[str, str]
) -> tuple[list[int], list[tuple[bool, bool]]]:
    """The rank of every joint, of which in a loop the highest is cut: more freedoms leave fewer constraints; and which ends of
    joints are idle."""
    ranks = by_type(joints, _rank)
    kept = [KEPT if j.name in needed or j.cut is False else rank for j, rank in zip(joints, ranks, strict=True)]
    return kept, idle_ends(bodies, joints)


def _rank(joint: Joint) -> int:
    if not joint.can_be_cut:
        return KEPT
    return FLOAT if isinstance(joint, Free) and joint.v_names() else ORDINARY + len(joint.v_names())


def cut_reasons(tree: Tree, bodies: Sequence[Body], joints: Sequence[PlacedJoint], needed: Mapping[str, str]) -> list[str]:
    """A sentence for every joint that is cut: why this one of its loop."""
    if not tree.closing:
        return []
    ranks, idle = cut_ranks(bodies, joints, needed)
    number = {bodies[k].name: i for i, k in enumerate(tree.bodies)}
    out = []
    for k in tree.closing:
        joint = joints[k]
        a, b = (path(tree.carriers, number.get(end, -1)) for end in (joint.parent, joint.child))
        loop = [tree.joints[i] for i in set(a).symmetric_difference(b)]
        equal = sum(ranks[i] == ranks[k] for i in loop)
        if joint.cut:
            why = "marked cut=True"
        elif all(ranks[i] < ranks[k] for i in loop):
            why = "no other joint of the loop can be cut with as few constraints"
        elif any(ranks[i] > ranks[k] for i in loop):
            why = "a cut elsewhere would leave a joint that moves no mass, or make the other loops longer"
        else:
            mass = "every joint moves some mass, and " * any(any(idle[i]) for i in loop if idle)
            why = f"of {equal + 1} joints that leave as few constraints; so {mass}loops and branches are short"
        out.append(f"joint {joint.name!r} is cut, of the {plural(len(loop) + 1, 'joint')} of its loop: {why}")
    return out


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
