"""One joint follows another: `Model.couple`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..errors import ModelError, brief, no_such
from ..trace import Number, at_values, is_zero
from .placed_joint import Coupling, PlacedJoint
from .pose import numbers
from .references import is_name_in


def couple(
    joints: list[PlacedJoint], places: Mapping[str, int], follower: str, leader: str, ratio: Number, offset: Number
) -> None:
    """Replace the follower in `joints` by one that follows; `places` are the indices of joints by name. Chains of followers
    are resolved to the joint that leads them all."""
    label = f"coupling of {brief(follower)} to {brief(leader)}"
    for name in (follower, leader):
        if not is_name_in(places, name):
            raise ModelError(f"{label}: {no_such('joint', name, places)}")
    first, second = joints[places[follower]], joints[places[leader]]
    _check(first, second, label)
    try:
        ratio, offset = numbers((ratio, offset), label)
    except ModelError:
        raise ModelError(f"{label}: ratio and offset must be numbers, got {brief(ratio)}, {brief(offset)}") from None
    now = at_values((ratio, offset))
    if not (all(map(math.isfinite, now)) and now[0]):
        raise ModelError(f"{label}: ratio must be a finite number other than zero and offset finite, got {now[0]}, {now[1]}")
    if second.follows:
        ratio, offset = ratio * second.follows.ratio, ratio * second.follows.offset + offset
        leader = second.follows.leader
        if leader == follower:
            raise ModelError(f"{label}: {follower!r} leads {second.name!r} already")
    joints[places[follower]] = replace(first, follows=Coupling(leader, ratio, offset))
    for k, joint in enumerate(joints):  # those that followed the follower
        if joint.follows and joint.follows.leader == follower:
            c = joint.follows
            joints[k] = replace(joint, follows=Coupling(leader, c.ratio * ratio, c.ratio * offset + c.offset))


def couplings(joints: Iterable[PlacedJoint]) -> dict[str, PlacedJoint]:
    """Followers by the names of what makes them follow."""
    return {f"coupling of {j.name}": j for j in joints if j.follows}


def _check(follower: PlacedJoint, leader: PlacedJoint, label: str) -> None:
    for joint in (follower, leader):
        if len(joint.type.coordinates) != 1 or not any(m.turn or not is_zero(m.slide) for m in joint.motions):
            raise ModelError(f"{label}: {joint.name!r} is of type {joint.type.type_name}; only joints of one axis can be coupled")
        if joint.cut:
            raise ModelError(f"{label}: {joint.name!r} is cut, it has no coordinate")
    if follower is leader:
        raise ModelError(f"{label}: {follower.name!r} follows itself")
    if follower.follows:
        raise ModelError(f"{label}: {follower.name!r} follows another joint already")
    if not follower.type.q_names():
        raise ModelError(f"{label}: {follower.name!r} follows a given motion already")
