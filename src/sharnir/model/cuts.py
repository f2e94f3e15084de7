"""Which joint of a closed loop is cut: one that can be, whose coordinate nothing reads, that leaves every other joint some mass
to move and few constraints; and the reasons in words. Where these say nothing, `loop_cuts.py` decides. `split` splits a body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelError, no_such
from ..kernels.joint_stage import BALL, FREE, GIVEN
from ..reporting.formats import plural
from ..trace import is_zero
from .body import Body
from .constraints import Constraint
from .forces import Force
from .joints import Free, Joint, Weld
from .joints.joint_type import ElementaryMotion
from .loop_cuts import IDLE
from .placed_joint import PlacedJoint, by_type
from .pose import Pose
from .references import is_name_in, pair
from .topology import SpanningTree, path
from .values import check_name

if TYPE_CHECKING:
    from .model import Model


# --- whether a joint moves mass in all its freedoms where one body is all that it carries: a hinge through a point mass does not
NOTHING = 1e-12
"""Inertia that counts as none, relative to the largest that the joint might have with such a body."""


def idle_ends(bodies: Sequence[Body], joints: Sequence[PlacedJoint]) -> list[tuple[bool, bool]]:
    """For every joint, whether some motion of it moves nothing where its parent, or its child, is all it carries. At neutral
    coordinates; what depends on parameters, and joints of the user's own, are taken to move mass. Empty where none is idle."""
    found: dict[object, bool] = {}  # large models have many equal bodies and joints

    def once(key: tuple[object, ...], find: Callable[[], bool]) -> bool:
        if key not in found:
            found[key] = find()
        return found[key]

    def is_hollow(body: Body) -> bool:
        plain = all(type(x) is float for x in (body.mass, *body.com, *body.inertia))
        return plain and once((body.mass, body.inertia), lambda: not body.is_solid)

    hollow = {body.name: body for body in bodies if is_hollow(body)}
    if not hollow:
        return []

    def at_end(end: str, joint: PlacedJoint, at: Pose) -> bool:
        body = hollow.get(end)
        if body is None:
            return False
        return once((body.mass, body.com, body.inertia, *joint.motions, at), lambda: _is_idle(body, joint.motions, at))

    out = [(at_end(j.parent, j, j.at), at_end(j.child, j, j.child_at)) for j in joints]
    return out if any(map(any, out)) else []


def _is_idle(body: Body, motions: Sequence[ElementaryMotion], at: Pose) -> bool:
    columns = _columns(motions, at, np.array(body.com))
    if not columns:
        return False
    V, W = (np.array(x) for x in zip(*columns, strict=True))
    J, reach = body.inertia_matrix(), np.square([*body.com, *at.position]).sum()
    inertia = np.linalg.eigvalsh(body.mass * V @ V.T + W @ J @ W.T)
    largest = max(inertia[-1], np.square(W).sum() * (body.mass * reach + np.trace(J)))  # where rounding is all there is
    return bool(inertia[0] <= NOTHING * largest)


def _columns(motions: Sequence[ElementaryMotion], at: Pose, com: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Velocity of the centre of mass and angular velocity at unit speed in each freedom, in the body, where the joint is at `at`;
    an empty list where they are not plain numbers."""
    out, here = list[tuple[np.ndarray, np.ndarray]](), at
    for motion in motions:
        if motion.placement is not None:
            here = here @ motion.placement
        if motion.kind == GIVEN and motion.given is not None:
            return []
        numbers = (*here.position, *here.rotation.entries, motion.turn, motion.slide)
        if not all(isinstance(x, (float, int)) for x in numbers):
            return []
        axes, arm = np.array(here.rotation.entries, dtype=float).reshape(3, 3).T, com - np.array(here.position)
        if motion.kind == FREE:
            out += [(axis, np.zeros(3)) for axis in axes]
        if motion.kind in (BALL, FREE):
            out += [(np.cross(axis, arm), axis) for axis in axes] if motion.nv else []
        elif motion.nv:
            axis = axes[2]
            out.append((motion.slide * axis + motion.turn * np.cross(axis, arm), motion.turn * axis))
    return out


# --- a loop closed by splitting a body instead of cutting a joint: `Model.split`
def split(model: Model, joint: str) -> None:
    """The child of the joint becomes two halves of half the mass; the joint carries the second, a cut weld ties them."""
    places = model.parts.joint_names
    if not is_name_in(places, joint):
        raise ModelError(no_such("joint", joint, places))
    placed = model.parts.joints[places[joint]]
    body = next((k for k, b in enumerate(model.parts.bodies) if b.name == placed.child), None)
    if body is None:
        raise ModelError(f"cannot split at {joint!r}: its child is the ground; name the joint the other way round")
    whole = model.parts.bodies[body]
    if whole.flexible is not None or whole.name in model.parts.deformations.values():
        raise ModelError(f"cannot split at {joint!r}: its child {whole.name!r} is flexible; split where it is rigid")
    half = replace(whole, mass=0.5 * whole.mass, inertia=tuple(0.5 * x for x in whole.inertia))
    other, tie = check_name(f"{whole.name} (half of {joint})", "body"), check_name(f"{joint} tie", "joint")
    model.parts.bodies[body] = half
    model.parts.bodies.append(replace(half, name=other))
    model.parts.body_names.add(other)
    model.parts.joints[places[joint]] = replace(placed, child=other, cut=False)
    model.parts.joined.pop(pair(placed.parent, placed.child), None)
    model.parts.joined[pair(placed.parent, other)] = joint
    model.add_joint(tie, Weld(), whole.name, other, cut=True)


# --- ranks of joints, and the reasons for a cut
KEPT, FLOAT, ORDINARY = -1, IDLE, IDLE + 1
"""Ranks: of joints that are never cut; of floats, which are if no other joint will do; of others, to which their freedoms are
added. One whose cut leaves a joint without mass to move ranks below floats."""


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


def cut_reasons(
    tree: SpanningTree, bodies: Sequence[Body], joints: Sequence[PlacedJoint], needed: Mapping[str, str]
) -> list[str]:
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
    joints: Sequence[PlacedJoint], forces: Mapping[str, Force], constraints: Mapping[str, Constraint], acting: bool
) -> dict[str, str]:
    """Joints whose coordinates something reads or acts on, and what; "" where the joint only stores limits or friction, because
    they are not `acting`."""
    out: dict[str, str] = {}
    for j, own in zip(joints, by_type(joints, partial(_own_need, acting=acting)), strict=True):
        if own is not None:
            out[j.name] = own or out.get(j.name, "")
        if j.follows:
            out[j.name] = out[j.follows.leader] = f"the coupling of {j.name!r} to {j.follows.leader!r}"
    for name, force in forces.items():
        out |= dict.fromkeys(force.joints(), f"force {name!r}")
    for name, constraint in constraints.items():
        out |= dict.fromkeys(constraint.joints(), f"constraint {name!r}")
    return out


def _own_need(joint: Joint, acting: bool) -> str | None:
    """The reason why a joint needs its own coordinates; "" where options are only stored with it, None where there is none."""
    if not is_zero((joint.damping, joint.stiffness, joint.armature)):
        return "its own damping, stiffness or armature"
    ends = () if joint.limits is None else np.array(joint.limits, dtype=float)  # nan where there is none
    if not np.isfinite(ends).any() and is_zero(joint.friction):
        return None
    return "its own limits or friction" if acting else ""
