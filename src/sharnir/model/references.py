"""Names that the user gives to refer to bodies, frames and joints: each is resolved, or refused with the names there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import ModelError, no_such
from .placed_joint import PlacedJoint
from .pose import Pose


def place(at: Pose | str, body: str, frames: Mapping[str, tuple[str, Pose]], label: str) -> Pose:
    """A pose on a body, or that of the named frame."""
    if not isinstance(at, str):
        return pose(at, label)
    if at not in frames:
        raise ModelError(f"{label}: {no_such('frame', at, frames)}")
    owner, found = frames[at]
    if owner != body:
        raise ModelError(f"{label}: the frame {at!r} is on body {owner!r}, not on {body!r}")
    return found


def pose(at: object, label: str) -> Pose:
    if isinstance(at, Pose):
        return at
    raise ModelError(f"{label}: expected a sharnir.Pose, such as sharnir.Pose((1, 0, 0)), or the name of a frame, got {at!r}")


def check_joints(names: Sequence[str], joints: Sequence[PlacedJoint], places: Mapping[str, int], label: str) -> None:
    """Refuse names that are neither a joint nor one speed of a joint."""
    for name in names:
        if name not in places and not _is_speed(name, joints, places):
            raise ModelError(f"{label}: {no_such('joint', name, sorted(places))}")


def name_taken(kind: str, name: str) -> ModelError:
    return ModelError(f"there is a {kind} {name!r} already; names must differ")


def pair(parent: str, child: str) -> tuple[str, str]:
    """Two bodies, whichever is named first."""
    return (parent, child) if parent < child else (child, parent)


def _is_speed(name: str, joints: Sequence[PlacedJoint], places: Mapping[str, int]) -> bool:
    """Whether it is one speed of a joint: `joint.part`. Names of joints may contain dots too."""
    ends = [k for k, letter in enumerate(name) if letter == "." and name[:k] in places]
    return any(name[k + 1 :] in joints[places[name[:k]]].type.v_names() for k in ends)
