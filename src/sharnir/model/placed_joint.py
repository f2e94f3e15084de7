"""A joint in its place between two bodies, and the coupling of one joint to another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ..errors import ModelError, brief, no_such
from ..trace import Number, at_values, is_zero
from .joints import Joint
from .joints.joint_type import ElementaryMotion
from .large_models import fast_constructor
from .pose import Pose, numbers
from .references import is_name_in
from .tree_rows import distinct

T = TypeVar("T")


@dataclass(frozen=True)
class Coupling:
    """x = ratio · (the leader's coordinate) + offset."""

    leader: str
    ratio: Number
    offset: Number


@dataclass(frozen=True, slots=True, repr=False)
class PlacedJoint:
    """A joint between two bodies, as the user named them."""

    name: str
    type: Joint
    parent: str
    child: str
    at: Pose
    child_at: Pose
    cut: bool | None
    """Whether it is to be cut where it closes a loop, or never; None: whichever is best."""
    motions: list[ElementaryMotion]
    follows: Coupling | None = None

    @property
    def q_names(self) -> tuple[str, ...]:
        """Names of the coordinates of its own: none where it follows another joint."""
        return () if self.follows else self.type.q_names()

    @property
    def v_names(self) -> tuple[str, ...]:
        return () if self.follows else self.type.v_names()

    @property
    def nq(self) -> int:
        return len(self.q_names)

    @property
    def q_units(self) -> tuple[str, ...]:
        """Units of the coordinates of its own: rad, m, or "" of parts of a quaternion and of what only the user knows."""
        free = [run for run in self.type.segments(f"joint {self.name!r}") if run.is_free] if not self.follows else []
        return tuple(unit if unit != "1" else "" for run in free for unit in run.q_units)

    @property
    def nv(self) -> int:
        return len(self.v_names)

    @property
    def words(self) -> str:
        """Name, type, axis, coupling and limits in a line, as trees of a model show them."""
        text = f"{self.name}: {self.type.type_name.lower().removesuffix('joint')}"
        axis = getattr(self.type, "axis", None)
        if axis is not None:
            text += f" {axis}" if isinstance(axis, str) else " (" + " ".join(f"{x:.3g}" for x in axis) + ")"
        if self.follows:
            c = self.follows
            text += f", follows {c.leader}: {c.ratio:g} × it" + (f" + {c.offset:g}" if c.offset else "")
        if self.type.motion is not None:
            text += ", driven"
        limits = self.type.limits
        if limits is not None and len(limits) == 2 and not hasattr(limits[0], "__len__"):
            text += f" in [{limits[0]:.4g}, {limits[1]:.4g}]"
        return text

    def __repr__(self) -> str:
        """The arguments of `Model.add_joint`, without the defaults."""
        shown = [repr(x) for x in (self.name, self.type, self.parent, self.child)]
        shown += [f"{end}={pose!r}" for end, pose in (("at", self.at), ("child_at", self.child_at)) if not pose.is_identity]
        shown += [f"cut={self.cut}"] * (self.cut is not None) + ([f"follows={self.follows!r}"] if self.follows else [])
        return f"PlacedJoint({', '.join(shown)})"


new_placed_joint = fast_constructor(PlacedJoint)


def by_type(joints: Sequence[PlacedJoint], of: Callable[[Joint], T]) -> list[T]:
    """A property of the type of every joint, evaluated once for joints that share one."""
    types, which = distinct([j.type for j in joints])
    found = [of(joint) for joint in types]
    return [found[k] for k in which.tolist()]


# --- one joint follows another: `Model.couple`
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
