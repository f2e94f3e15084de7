"""Coordinates and speeds of the joints of a tree: their names, neutral and random values, arrays from {joint: value}."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from ..errors import StateError
from ..reporting.formats import plural
from ..types import FloatArray, State, real_array
from .joints import Joint
from .per_structure import per_structure
from .placed_joint import PlacedJoint, by_type
from .references import names_of_parts, readings

if TYPE_CHECKING:
    from .structure import Structure

T = TypeVar("T")


def full_names(joints: Sequence[PlacedJoint], parts_of: Callable[[Joint], tuple[str, ...]]) -> list[str]:
    """A name for every entry of q or v: the joint's, followed by `.part` where it has several."""
    return [full for joint, parts in _independent(joints, parts_of) for full in names_of_parts(joint.name, parts)]


def entries(s: Structure, name: object, of: Literal["q", "v"]) -> slice | None:
    """The entries of q or v of a joint, or the one called "joint.part"; None where nothing has that name."""
    for owner, part in readings(name, s.joint_number):
        i = s.joint_number[owner]
        where, parts = (s.q_slice(i + 1), s.placed[i].q_names) if of == "q" else (s.v_slice(i + 1), s.placed[i].v_names)
        if not part:
            return where
        if len(parts) > 1 and part in parts:
            k = where.start + parts.index(part)
            return slice(k, k + 1)
    return None


@per_structure
def single_entries(s: Structure, of: Literal["q", "v"]) -> dict[str, int]:
    """The only entry of q or v of every joint that has just one, by its name."""
    found = {joint.name: entries(s, joint.name, of) for joint in s.placed}
    return {name: at.start for name, at in found.items() if at is not None and at.stop - at.start == 1}


def neutral(joints: Sequence[PlacedJoint]) -> FloatArray:
    return np.array([x for _, values in _independent(joints, lambda joint: joint.neutral()) for x in values], dtype=float)


def random_q(joints: Sequence[PlacedJoint], rng: np.random.Generator) -> FloatArray:
    out, waiting = list[float](), 0  # coordinates since the last joint that draws its own: drawn together
    for joint, uniform in _independent(joints, _uniform_coordinates):
        if uniform is None:
            out += [*rng.uniform(-1.0, 1.0, waiting).tolist(), *joint.type.random(rng)]
            waiting = 0
        else:
            waiting += uniform
    return np.array([*out, *rng.uniform(-1.0, 1.0, waiting).tolist()], dtype=float)


def filled(values: State, default: FloatArray, single: Mapping[str, int], where: Callable[[str], slice], what: str) -> FloatArray:
    """`default` with the values of the named joints put in, at their `single` entries or `where` they are; an array is returned
    as it is."""
    if values is None:
        return default
    if not isinstance(values, Mapping):
        return real_array(values, what)
    for joint, value in values.items():
        if value.__class__ is float and joint.__class__ is str and joint in single:  # the rule, in a tenth of the time
            default[single[joint]] = value
            continue
        part = default[where(joint)]
        given = np.atleast_1d(real_array(value, f"{what} of joint {joint!r}"))
        if given.size and not part.size:
            raise StateError(f"{what} of joint {joint!r}: it has none of its own, it is driven in time or a weld; leave it out")
        if given.shape != part.shape:
            raise StateError(f"{what} of joint {joint!r}: expected {plural(part.size, 'number')}, got {given.size}")
        part[:] = given
    return default


def _independent(joints: Sequence[PlacedJoint], of: Callable[[Joint], T]) -> Iterator[tuple[PlacedJoint, T]]:
    """Joints that have coordinates of their own, each with a property of its type."""
    return ((j, found) for j, found in zip(joints, by_type(joints, of), strict=True) if j.follows is None)


def _uniform_coordinates(joint: Joint) -> int | None:
    """How many coordinates a joint has, if a random value of each is uniform in [−1, 1]; None where it draws its own."""
    return len(joint.q_names()) if type(joint).random is Joint.random and not joint.quaternions() else None
