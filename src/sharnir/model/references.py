"""Names that the user gives to refer to bodies, frames and joints: each is resolved, or refused with the names there are."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..errors import ModelError, SharnirError, brief, no_such
from .body import GROUND
from .pose import Pose

if TYPE_CHECKING:
    from .placed_joint import PlacedJoint


def is_name_in(names: Container[str], name: object) -> bool:
    """Whether a name is one of these; anything but text is not (a list cannot be hashed)."""
    return isinstance(name, str) and name in names


def readings(name: object, owners: Container[str]) -> Iterator[tuple[str, str]]:
    """Every owner and part of it that a name can mean: an owner itself, with no part, then "owner.part". Names may contain dots
    themselves: the longest owner comes first."""
    if not isinstance(name, str):
        return
    if name in owners:
        yield name, ""
    for k in range(len(name) - 2, 0, -1):
        if name[k] == "." and name[:k] in owners:
            yield name[:k], name[k + 1 :]


def is_part(name: object, owners: Container[str], parts_of: Callable[[str], Container[str]]) -> bool:
    """Whether it is one of several parts, such as one coordinate of a joint: "joint.coordinate"."""
    return any(part in parts_of(owner) for owner, part in readings(name, owners) if part)


def names_of_parts(name: str, parts: Sequence[str]) -> list[str]:
    """A name for each part: the owner's, followed by `.part` where there are several."""
    return [name] if len(parts) == 1 else [f"{name}.{part}" for part in parts]


def listed_names(names: object, what: str, error: type[SharnirError] = ModelError) -> list[Any]:
    """The items of a list of names; a single text, and anything but a list, is refused."""
    if isinstance(names, (str, bytes, Mapping)) or not np.iterable(names):
        raise error(f"{what}: expected names, a list; got {brief(names)}")
    return list(names)


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


def located(where: object, bodies: Mapping[str, int], frames: Mapping[str, tuple[str, Pose]]) -> tuple[int, Pose]:
    """The number of a body, −1 of the ground, and a pose on it: of a body's name, a frame's name, or the pair (body, Pose).

    A body comes before a frame of the same name; the pair `model.frames[name]` means the frame.
    """
    if is_name_in((GROUND,), where):
        return -1, Pose()
    if is_name_in(bodies, where):
        return bodies[cast(str, where)], Pose()
    if is_name_in(frames, where):
        body, at = frames[cast(str, where)]
        return bodies.get(body, -1), at
    if isinstance(where, tuple) and len(where) == 2 and isinstance(where[1], Pose):
        if not is_name_in((GROUND, *bodies), where[0]):
            raise ModelError(no_such("body", where[0], [GROUND, *bodies], "bodies"))
        return bodies.get(where[0], -1), where[1]
    pair_meant = "; a place on a body is (body, sharnir.Pose)" if isinstance(where, tuple) else ""
    raise ModelError(no_such("body or frame", where, [GROUND, *bodies, *frames], "bodies and frames") + pair_meant)


def pose(at: object, label: str) -> Pose:
    if isinstance(at, Pose):
        return at
    raise ModelError(
        f"{label}: expected a sharnir.Pose, such as sharnir.Pose((1, 0, 0)), or the name of a frame, got {brief(at)}"
    )


def check_joints(names: Sequence[str], joints: Sequence[PlacedJoint], places: Mapping[str, int], label: str) -> None:
    """Refuse names that are neither a joint nor one speed of a joint."""
    for name in names:
        if not is_name_in(places, name) and not is_part(name, places, lambda owner: joints[places[owner]].type.speeds):
            raise ModelError(f"{label}: {no_such('joint', name, sorted(places))}")


def name_taken(kind: str, name: str) -> ModelError:
    return ModelError(f"there is a {kind} {name!r} already; names must differ")


def pair(parent: str, child: str) -> tuple[str, str]:
    """Two bodies, whichever is named first."""
    return (parent, child) if parent < child else (child, parent)
