"""Coordinates and speeds of Pinocchio and MuJoCo to ours and back, by the names of joints; one state or a batch.
Their models are read by attributes: neither is imported.

| | Pinocchio | MuJoCo |
|---|---|---|
| quaternions, ours w x y z | x y z w | w x y z |
| speeds of a free joint, ours in the moved axes | as ours | linear part in the axes of the world |
| an angle without limits, ours the angle | cosine and sine | the angle |
| a planar joint, ours x, y, angle and their rates | x, y, cosine, sine; velocity in the moved axes | – |
| a joint that follows another or is driven, ours without a coordinate | a coordinate | a coordinate |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from ..equations.assembly.exponential import conjugate, rotated, unit
from ..errors import ModelError, StateError, brief, no_such
from ..model.joints import Compound, Free, Joint
from ..model.model import Model
from ..model.states import check_model
from ..trace import Expression
from ..types import FloatArray, State, real_array
from .mjcf_joints import WIDTH_Q, WIDTH_V, joint_names

ANGLE, PLANAR = (2, 1), (4, 3)
"""Numbers of coordinates and speeds of Pinocchio's joints that have a cosine and a sine in place of an angle."""


@overload
def from_pinocchio(model: Model, pin_model: Any, q: ArrayLike, v: None = None) -> FloatArray: ...
@overload
def from_pinocchio(model: Model, pin_model: Any, q: ArrayLike, v: ArrayLike) -> tuple[FloatArray, FloatArray]: ...
def from_pinocchio(
    model: Model, pin_model: Any, q: ArrayLike, v: ArrayLike | None = None
) -> FloatArray | tuple[FloatArray, FloatArray]:
    """Our q from Pinocchio's; with speeds v, our (q, v). Accelerations go as speeds do, but of planar joints.

    Of joints that follow others only the leaders are read."""
    return _from(model, pinocchio_package(pin_model), q, v, ("q", "v"))


@overload
def to_pinocchio(model: Model, pin_model: Any, q: State, v: None = None, t: float = 0.0) -> FloatArray: ...
@overload
def to_pinocchio(
    model: Model, pin_model: Any, q: State, v: ArrayLike | Mapping[str, ArrayLike], t: float = 0.0
) -> tuple[FloatArray, FloatArray]: ...
def to_pinocchio(
    model: Model, pin_model: Any, q: State, v: State = None, t: float = 0.0
) -> FloatArray | tuple[FloatArray, FloatArray]:
    """Pinocchio's q from ours; with speeds v, its (q, v). Driven joints are where they are at time t."""
    return _to(model, pinocchio_package(pin_model), q, v, t)


@overload
def from_mujoco(model: Model, mj_model: Any, qpos: ArrayLike, qvel: None = None) -> FloatArray: ...
@overload
def from_mujoco(model: Model, mj_model: Any, qpos: ArrayLike, qvel: ArrayLike) -> tuple[FloatArray, FloatArray]: ...
def from_mujoco(
    model: Model, mj_model: Any, qpos: ArrayLike, qvel: ArrayLike | None = None
) -> FloatArray | tuple[FloatArray, FloatArray]:
    """Our q from MuJoCo's qpos; with qvel, our (q, v). Of joints that follow others only the leaders are read."""
    return _from(model, mujoco_package(mj_model), qpos, qvel, ("qpos", "qvel"))


@overload
def to_mujoco(model: Model, mj_model: Any, q: State, v: None = None, t: float = 0.0) -> FloatArray: ...
@overload
def to_mujoco(
    model: Model, mj_model: Any, q: State, v: ArrayLike | Mapping[str, ArrayLike], t: float = 0.0
) -> tuple[FloatArray, FloatArray]: ...
def to_mujoco(
    model: Model, mj_model: Any, q: State, v: State = None, t: float = 0.0
) -> FloatArray | tuple[FloatArray, FloatArray]:
    """MuJoCo's qpos from our q; with speeds v, its (qpos, qvel). Driven joints are where they are at time t."""
    return _to(model, mujoco_package(mj_model), q, v, t)


# --- whose joint is whose
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
    """Joints by the names that our reader of MJCF gives them."""
    joints: list[Theirs] = []
    try:
        for body in range(m.nbody):
            ids = range(int(m.body_jntadr[body]), int(m.body_jntadr[body]) + int(m.body_jntnum[body]))
            kinds = [int(m.jnt_type[j]) for j in ids]
            names = joint_names([m.joint(j).name for j in ids], kinds, m.body(body).name or f"body{body}")
            for j, kind, name in zip(ids, kinds, names, strict=True):
                q, v = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
                joints.append(Theirs(name, slice(q, q + WIDTH_Q[kind]), slice(v, v + WIDTH_V[kind])))
        return Package("MuJoCo", joints, int(m.nq), int(m.nv), False, True)
    except AttributeError:
        raise ModelError(f"expected a mujoco.MjModel, got {brief(m)}") from None


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


# --- values -------------------------------------------------------------------------------------------------------------------
def _rows(x: Any, what: str, n: int) -> FloatArray:
    a = real_array(x, what)
    if a.ndim not in (1, 2) or a.shape[-1] != n:
        raise StateError(f"{what}: expected ({n},) or (B, {n}), got {a.shape}")
    return a


def _both(q: FloatArray, v: FloatArray | None, names: tuple[str, str]) -> tuple[FloatArray, FloatArray | None]:
    """Coordinates and speeds of as many states."""
    if v is None or q.shape[:-1] == v.shape[:-1]:
        return q, v
    if q.ndim == v.ndim:
        raise StateError(f"batches of different sizes ({names[0]}: {len(q)}, {names[1]}: {len(v)})")
    n = max(q.shape[:-1], v.shape[:-1])
    return np.broadcast_to(q, (*n, q.shape[-1])), np.broadcast_to(v, (*n, v.shape[-1]))


def _to(model: Model, package: Package, q: State, v: State, t: float) -> FloatArray | tuple[FloatArray, FloatArray]:
    pairs = joint_pairs(model, package)
    rows = _rows(model.coordinates(q) if q is None or isinstance(q, Mapping) else q, "q", model.nq)
    speeds = None if v is None else _rows(model.speeds(v) if isinstance(v, Mapping) else v, "v", model.nv)
    rows, speeds = _both(rows, speeds, ("q", "v"))
    out, rates = np.zeros((*rows.shape[:-1], package.nq)), np.zeros((*rows.shape[:-1], package.nv))
    for own, theirs in pairs:
        x, u = rows[..., own.q], None if speeds is None else speeds[..., own.v]
        if own.drive is not None:
            now = own.drive(float(t))
            x, u = np.full((*rows.shape[:-1], 1), now[0]), np.full((*rows.shape[:-1], 1), now[1])
        x, u = own.ratio * x + own.offset, None if u is None else own.ratio * u
        if package.linear_in_world and isinstance(own.type, Free) and u is not None:
            u = np.concatenate([rotated(unit(x[..., 3:]), u[..., :3]), u[..., 3:]], axis=-1)
        if size_of(own) != size_of(theirs) and size_of(theirs) in (ANGLE, PLANAR):  # which have a sine
            if size_of(theirs) == PLANAR and u is not None:
                u = _turned(u, -x[..., 2])
            x = np.concatenate([x[..., :-1], np.cos(x[..., -1:]), np.sin(x[..., -1:])], axis=-1)
        out[..., theirs.q] = _reordered(own.type, x, -1) if package.scalar_last else x
        if u is not None:
            rates[..., theirs.v] = u
    return out if speeds is None else (out, rates)


def _from(model: Model, package: Package, q: Any, v: Any, names: tuple[str, str]) -> FloatArray | tuple[FloatArray, FloatArray]:
    pairs = joint_pairs(model, package)
    rows, speeds = _both(_rows(q, names[0], package.nq), None if v is None else _rows(v, names[1], package.nv), names)
    out, rates = np.zeros((*rows.shape[:-1], model.nq)), np.zeros((*rows.shape[:-1], model.nv))
    for own, theirs in pairs:
        if own.follows or own.drive is not None:
            continue
        x, u = rows[..., theirs.q], None if speeds is None else speeds[..., theirs.v]
        if package.scalar_last:
            x = _reordered(own.type, x, 1)
        if size_of(own) != size_of(theirs):
            x = np.concatenate([x[..., :-2], np.arctan2(x[..., -1:], x[..., -2:-1])], axis=-1)
            if size_of(theirs) == PLANAR and u is not None:
                u = _turned(u, x[..., 2])
        if package.linear_in_world and isinstance(own.type, Free) and u is not None:
            u = np.concatenate([rotated(conjugate(unit(x[..., 3:])), u[..., :3]), u[..., 3:]], axis=-1)
        out[..., own.q] = x
        if u is not None:
            rates[..., own.v] = u
    return out if speeds is None else (out, rates)


def _reordered(joint: Joint, x: FloatArray, places: int) -> FloatArray:
    """Quaternions w x y z to x y z w, places = −1, or back, 1."""
    out = np.array(x)
    for k in joint.quaternions():
        out[..., k : k + 4] = np.roll(x[..., k : k + 4], places, axis=-1)
    return out


def _turned(u: FloatArray, angle: FloatArray) -> FloatArray:
    """The first two of three speeds in axes turned back by the angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * u[..., 0] - s * u[..., 1], s * u[..., 0] + c * u[..., 1], u[..., 2]], axis=-1)
