"""Joints of Pinocchio and MuJoCo matched with ours by name. Their models are read by attributes: neither is imported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..errors import ModelError, brief, no_such
from ..model.joints import Compound, Free, Joint
from ..model.model import Model
from ..model.states import check_model
from ..trace import Expression
from .mjcf_joints import WIDTH_Q, WIDTH_V, joint_names

ANGLE, PLANAR = (2, 1), (4, 3)
"""Numbers of coordinates and speeds of Pinocchio's joints that have a cosine and a sine in place of an angle."""


class Theirs(NamedTuple):
    """A joint of the other package."""

    name: str
    q: slice
    v: slice


class Ours(NamedTuple):
    """A joint of ours, or a part of a compound one: x = ratio · q + offset, or what drives it."""

    name: str
    type: Joint
    q: slice
    v: slice
    ratio: float = 1.0
    offset: float = 0.0
    follows: bool = False
    drive: Expression | None = None


def size_of(joint: Theirs | Ours) -> tuple[int, int]:
    """Numbers of coordinates and speeds."""
    return joint.q.stop - joint.q.start, joint.v.stop - joint.v.start


class Package(NamedTuple):
    """The joints of a model of the other package, and its conventions."""

    name: str
    joints: list[Theirs]
    nq: int
    nv: int
    scalar_last: bool
    """Quaternions are x y z w."""
    linear_in_world: bool
    """The linear velocity of a free joint is in the axes of the world."""


def pinocchio_package(m: Any) -> Package:
    try:
        parts = zip(list(m.names), m.idx_qs, m.nqs, m.idx_vs, m.nvs, strict=True)
        joints = [Theirs(str(name), slice(q, q + nq), slice(v, v + nv)) for name, q, nq, v, nv in parts if nq]
        return Package("Pinocchio", joints, int(m.nq), int(m.nv), True, False)
    except AttributeError:
        raise ModelError(f"expected a pinocchio.Model, got {brief(m)}") from None


def mujoco_package(m: Any) -> Package:
    try:
        joints = [Theirs(name, *_places(m, j)) for j, name in enumerate(_mujoco_names(m))]
        return Package("MuJoCo", joints, int(m.nq), int(m.nv), False, True)
    except AttributeError:
        raise ModelError(f"expected a mujoco.MjModel, got {brief(m)}") from None


def _mujoco_names(m: Any) -> list[str]:
    """The names that our reader of MJCF gives them."""
    names: list[str] = []
    for body in range(m.nbody):
        ids = range(int(m.body_jntadr[body]), int(m.body_jntadr[body]) + int(m.body_jntnum[body]))
        names += joint_names(
            [m.joint(j).name for j in ids], [int(m.jnt_type[j]) for j in ids], m.body(body).name or f"body{body}"
        )
    return names


def _places(m: Any, j: int) -> tuple[slice, slice]:
    q, v, kind = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j]), int(m.jnt_type[j])
    return slice(q, q + WIDTH_Q[kind]), slice(v, v + WIDTH_V[kind])


def _ours(model: Model) -> Iterator[Ours]:
    for joint in model.joints:
        leader = joint if joint.follows is None else model.joints[model.joint_index(joint.follows.leader)]
        q, v = model.q_slice(leader.name), model.v_slice(leader.name)
        drive = next((m.drive for m in leader.motions if m.drive is not None), None)
        if joint.follows is not None:
            yield Ours(joint.name, joint.type, q, v, joint.follows.ratio, joint.follows.offset, True, drive)
            continue
        yield Ours(joint.name, joint.type, q, v, drive=drive)
        at, of = q.start, v.start
        for part, kind, _ in joint.type.moved_joints() if isinstance(joint.type, Compound) else ():
            n, nv = len(kind.q_names()), len(kind.v_names())
            drive = next((m.drive for m in kind.built(f"part {part!r}") if m.drive is not None), None)
            yield Ours(part, kind, slice(at, at + n), slice(of, of + nv), drive=drive)
            at, of = at + n, of + nv


def joint_pairs(model: Model, package: Package) -> list[tuple[Ours, Theirs]]:
    """Joints of one name; a floating base by any name."""
    there: dict[str, list[Ours]] = {}
    for own in _ours(check_model(model, "a conversion of coordinates")):
        there.setdefault(own.name, []).append(own)
    names = {theirs.name for theirs in package.joints}
    bases = [own for found in there.values() for own in found if isinstance(own.type, Free) and own.name not in names]
    pairs = []
    for theirs in package.joints:
        found = there.get(theirs.name) or (bases if size_of(theirs) == (7, 6) and len(bases) == 1 else [])
        if not found:
            raise ModelError(
                f"{package.name} has a joint that model {model.name!r} has not: {no_such('joint', theirs.name, there)}"
            )
        pairs.append((_fitting(found, theirs, package), theirs))
    covered = np.zeros(model.nq, dtype=bool)
    for own, _ in pairs:
        covered[own.q] = True
    if not covered.all():
        missing = model.q_names[int(covered.argmin())]
        raise ModelError(f"{package.name} has no joint for {missing!r} of model {model.name!r}; its joints are {sorted(names)}")
    return pairs


def _fitting(found: list[Ours], theirs: Theirs, package: Package) -> Ours:
    """The joint or part, of those with one name, that has as many coordinates as theirs."""
    wanted = size_of(theirs)
    for own in found:
        size = size_of(own)
        if wanted in (size, {(1, 1): ANGLE, (3, 3): PLANAR}.get(size)):
            return own
        if size == (0, 0) and own.drive is not None and wanted in ((1, 1), ANGLE):
            return own
    raise ModelError(
        f"joint {theirs.name!r} has {size[0]} coordinates and {size[1]} speeds, in {package.name} {wanted[0]} and "
        f"{wanted[1]}: it is not the same joint, or it is driven"
    )
