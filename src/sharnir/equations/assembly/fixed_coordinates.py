"""Coordinates that an assembly holds: by the name of a joint, or of one coordinate of a joint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from ...backends.differentiated import displacements
from ...errors import AssemblyError, ModelError, brief, choices
from ...kernels.joint_stage import BALL, FREE, SCREW, TURN
from ...model.coordinates import entries
from ...model.model import Model
from ...model.per_structure import per_structure
from ...model.references import is_name_in, listed_names
from ...model.structure import Structure
from .exponential import rotated, unit


@dataclass(frozen=True)
class Held:
    """Speeds that are zero, and coordinates held that are no single speed's own (the position of a free joint)."""

    speeds: np.ndarray
    """(nv,): which speeds are zero while positions are searched for."""
    rows: tuple[int, ...]
    """Coordinates that need rows of their own."""
    coordinates: tuple[int, ...]
    """All held ones that are numbers of their own, in the order they were named: quaternions are held or not as a whole."""
    names: tuple[str, ...] = ()
    whole: tuple[int, ...] = ()
    """Coordinates of joints that are held as a whole because they have quaternions."""


def held_coordinates(model: Model, names: Sequence[str], what: str = "fixed") -> Held:
    """Coordinates to hold, by joint (of a follower: its leader's), or one by one, "joint.coordinate"."""
    s = model.structure
    own, speeds = own_speeds(s), np.zeros(model.nv, dtype=bool)
    rows, order, whole = list[int](), list[int](), list[int]()
    quaternions = {k + i for k in s.quaternions.tolist() for i in range(4)}
    names = listed_names(names, what)
    for name in names:
        if is_name_in(s.joint_number, name):
            follows = model.joints[s.joint_number[name]].follows
            joint = follows.leader if follows else name
            at, of = model.q_slice(joint), model.v_slice(joint)
            speeds[of] = True
            order += [k for k in range(at.start, at.stop) if own[k] >= 0]
            whole += [k for k in range(at.start, at.stop) if own[k] < 0]
            continue
        one = entries(s, name, "q")
        if one is None:
            raise ModelError(_unknown(model, name, what, model.q_names))
        k = one.start
        if k in quaternions:
            raise ModelError(f"{what}: {name!r} is part of a quaternion, which is held as a whole: name its joint")
        order.append(k)
        if own[k] >= 0:
            speeds[own[k]] = True
        else:
            rows.append(k)
    rows = [k for k in rows if not speeds[_speeds_of(s, k)].all()]
    return Held(speeds, tuple(dict.fromkeys(rows)), tuple(dict.fromkeys(order)), tuple(names), tuple(whole))


def undeformed(model: Model, held: Held) -> Held | None:
    """These and all elastic coordinates of flexible bodies held too; None where there are none to hold. Loops are closed by
    joints, not by bending bodies."""
    s, speeds, coordinates = model.structure, held.speeds.copy(), list(held.coordinates)
    speeds[s.elastic_speeds] = True
    for d in s.deformations.values():
        coordinates += range(int(s.q_first[d.row]), int(s.q_first[d.row + 1]))
    if np.array_equal(speeds, held.speeds):
        return None
    return replace(held, speeds=speeds, coordinates=tuple(dict.fromkeys(coordinates)))


def stiff_first(model: Model, held: Held, find: Callable[[Held], np.ndarray]) -> np.ndarray:
    """The result of `find` with elastic coordinates held too, where there is one, else without."""
    if (stiff := undeformed(model, held)) is not None:
        with suppress(AssemblyError):
            return find(stiff)
    return find(held)


def held_speeds(model: Model, names: Sequence[str]) -> Held:
    """Speeds to hold, by joint, or one by one, "joint.speed"."""
    s, speeds = model.structure, np.zeros(model.nv, dtype=bool)
    for name in names:
        where = entries(s, name, "v")
        assert where is not None
        speeds[where] = True
    return Held(speeds, (), ())


def _unknown(model: Model, name: object, what: str, coordinates: list[str]) -> str:
    joints = [j.name for j in model.joints]
    if any(name == j.name for j in model.closing_joints):
        return f"no joint {brief(name)} to hold fixed; {model.structure.where_is(str(name))}"
    more = [x for x in coordinates if x not in joints]
    known = choices(name, [*joints, *more], "joints and coordinates" if more else "joints")
    return f"no joint {brief(name)} to hold fixed; {known}"


def _speeds_of(s: Structure, k: int) -> slice:
    """Speeds of the joint of coordinate k."""
    i = int(np.searchsorted(s.q_first, k, side="right")) - 1
    return slice(int(s.v_first[i]), int(s.v_first[i + 1]))


@per_structure
def own_speeds(s: Structure) -> np.ndarray:
    """(nq,): the speed that is the rate of each coordinate, −1 where there is none."""
    j, out = s.joints, np.full(s.nq, -1)
    adds = (j.coordinates > 0) & (j.kind != BALL) & (j.kind != FREE) & (j.coordinates == j.axes)
    for q_at, v_at, n in zip(j.q_at[adds], j.v_at[adds], j.axes[adds], strict=True):
        out[q_at : q_at + n] = np.arange(v_at, v_at + n)
    return out


@per_structure
def angles(s: Structure) -> np.ndarray:
    """(nv,): which speeds are those of rotations; of the user's own joints none is known to be."""
    j, out = s.joints, np.zeros(s.nv, dtype=bool)
    for kind, first, last in ((TURN, 0, 1), (SCREW, 0, 1), (BALL, 0, 3), (FREE, 3, 6)):
        for at in j.v_at[(j.kind == kind) & (j.coordinates > 0)].tolist():
            out[at + first : at + last] = True
    return out


def coordinate_rows(model: Model, q: np.ndarray, which: Sequence[int], t: float) -> np.ndarray:
    """(coordinates, nv): rows of N, the rates of some coordinates at unit speeds."""
    s, own = model.structure, own_speeds(model.structure)
    out = np.zeros((len(which), s.nv))
    for row, k in enumerate(which):
        if own[k] >= 0:
            out[row, own[k]] = 1.0
            continue
        free = np.flatnonzero(
            (s.joints.kind == FREE) & (s.joints.q_at <= k) & (k < s.joints.q_at + 3) & (s.joints.coordinates > 0)
        )
        if free.size:  # the velocity of its origin is given in moved axes
            at, of = int(s.joints.q_at[free[0]]), int(s.joints.v_at[free[0]])
            out[row, of : of + 3] = rotated(unit(q[None, at + 3 : at + 7]), np.eye(3))[:, k - at]
            continue
        speeds = _speeds_of(s, k)
        units = np.eye(s.nv)[speeds].tolist()
        out[row, speeds] = [dq[k] for dq in displacements(s, q.tolist(), units, [t], float)]
    return out
