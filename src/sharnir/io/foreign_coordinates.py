"""Coordinates and speeds of Pinocchio and MuJoCo to ours and back, by the names of joints; one state or a batch.

| | Pinocchio | MuJoCo |
|---|---|---|
| quaternions, ours w x y z | x y z w | w x y z |
| speeds of a free joint, ours in the moved axes | as ours | linear part in the axes of the world |
| an angle without limits, ours the angle | cosine and sine | the angle |
| a planar joint, ours x, y, angle and their rates | x, y, cosine, sine; velocity in the moved axes | – |
| a joint that follows another or is driven, ours without a coordinate | a coordinate | a coordinate |

Neither package is imported: their models are read by their attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..equations.exponential import conjugate, rotated, unit
from ..errors import ModelError, StateError, brief, no_such
from ..model.joints import Compound, Free, Joint
from ..model.model import Model
from ..model.states import check_model
from ..trace import Expression
from ..types import FloatArray, State, real_array
from .mjcf_joints import WIDTH_Q, WIDTH_V, joint_names

ANGLE, PLANAR = (2, 1), (4, 3)
"""Numbers of coordinates and speeds of Pinocchio's joints that have a cosine and a sine in place of an angle."""


class Theirs(NamedTuple):
    """A joint of the other package."""

    name: str
    q: slice
    v: slice

    @property
    def size(self) -> tuple[int, int]:
        return self.q.stop - self.q.start, self.v.stop - self.v.start


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

    @property
    def size(self) -> tuple[int, int]:
        return self.q.stop - self.q.start, self.v.stop - self.v.start


class Package(NamedTuple):
    """The joints of a model of the other package, and its conventions."""

    name: str
    joints: list[Theirs]
    nq: int
    nv: int
    scalar_last: bool
    """Quaternions are x y z w."""
    linear_in_world: bool
    """So is the velocity of a free joint."""


def from_pinocchio(model: Model, pin_model: Any, q: Any, v: Any = None) -> FloatArray | tuple[FloatArray, FloatArray]:
    """Our q from Pinocchio's; with speeds v, our (q, v). Accelerations go as speeds do, but of planar joints.

    Of joints that follow others only the leaders are read."""
    return _from(model, _pinocchio(pin_model), q, v, ("q", "v"))


def to_pinocchio(
    model: Model, pin_model: Any, q: State, v: State = None, t: float = 0.0
) -> FloatArray | tuple[FloatArray, FloatArray]:
    """Pinocchio's q from ours; with speeds v, its (q, v). Driven joints are where they are at time t."""
    return _to(model, _pinocchio(pin_model), q, v, t)


def from_mujoco(model: Model, mj_model: Any, qpos: Any, qvel: Any = None) -> FloatArray | tuple[FloatArray, FloatArray]:
    """Our q from MuJoCo's qpos; with qvel, our (q, v). Of joints that follow others only the leaders are read."""
    return _from(model, _mujoco(mj_model), qpos, qvel, ("qpos", "qvel"))


def to_mujoco(
    model: Model, mj_model: Any, q: State, v: State = None, t: float = 0.0
) -> FloatArray | tuple[FloatArray, FloatArray]:
    """MuJoCo's qpos from our q; with speeds v, its (qpos, qvel). Driven joints are where they are at time t."""
    return _to(model, _mujoco(mj_model), q, v, t)


# --- joints of both sides -----------------------------------------------------------------------------------------------------
def _pinocchio(m: Any) -> Package:
    try:
        parts = zip(list(m.names), m.idx_qs, m.nqs, m.idx_vs, m.nvs, strict=True)
        joints = [Theirs(str(name), slice(q, q + nq), slice(v, v + nv)) for name, q, nq, v, nv in parts if nq]
        return Package("Pinocchio", joints, int(m.nq), int(m.nv), True, False)
    except AttributeError:
        raise ModelError(f"expected a pinocchio.Model, got {brief(m)}") from None


def _mujoco(m: Any) -> Package:
    try:
        joints = [Theirs(name, *_places(m, j)) for j, name in enumerate(_mujoco_names(m))]
        return Package("MuJoCo", joints, int(m.nq), int(m.nv), False, True)
    except AttributeError:
        raise ModelError(f"expected a mujoco.MjModel, got {brief(m)}") from None


def _mujoco_names(m: Any) -> list[str]:
    """As our reader of MJCF names them."""
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
        for part, kind in joint.type.moved_joints() if isinstance(joint.type, Compound) else ():
            n, nv = len(kind.q_names()), len(kind.v_names())
            drive = next((m.drive for m in kind.built(f"part {part!r}") if m.drive is not None), None)
            yield Ours(part, kind, slice(at, at + n), slice(of, of + nv), drive=drive)
            at, of = at + n, of + nv


def _pairs(model: Model, package: Package) -> list[tuple[Ours, Theirs]]:
    """Joints of one name; a floating base by any name."""
    there: dict[str, list[Ours]] = {}
    for own in _ours(check_model(model, "a conversion of coordinates")):
        there.setdefault(own.name, []).append(own)
    names = {theirs.name for theirs in package.joints}
    bases = [own for found in there.values() for own in found if isinstance(own.type, Free) and own.name not in names]
    pairs = []
    for theirs in package.joints:
        found = there.get(theirs.name) or (bases if theirs.size == (7, 6) and len(bases) == 1 else [])
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
    """Of a joint and a part of that name, the one with as many coordinates as theirs."""
    for own in found:
        size = own.size
        if theirs.size in (size, {(1, 1): ANGLE, (3, 3): PLANAR}.get(size)):
            return own
        if size == (0, 0) and own.drive is not None and theirs.size in ((1, 1), ANGLE):
            return own
    raise ModelError(
        f"joint {theirs.name!r} has {size[0]} coordinates and {size[1]} speeds, in {package.name} {theirs.size[0]} and "
        f"{theirs.size[1]}: it is not the same joint, or it is driven"
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
    pairs = _pairs(model, package)
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
        with_sine = own.size != theirs.size and theirs.size in (ANGLE, PLANAR)
        if with_sine and theirs.size == PLANAR and u is not None:
            u = _turned(u, -x[..., 2])
        if with_sine:
            x = np.concatenate([x[..., :-1], np.cos(x[..., -1:]), np.sin(x[..., -1:])], axis=-1)
        out[..., theirs.q] = _reordered(own.type, x, -1) if package.scalar_last else x
        if u is not None:
            rates[..., theirs.v] = u
    return out if speeds is None else (out, rates)


def _from(model: Model, package: Package, q: Any, v: Any, names: tuple[str, str]) -> FloatArray | tuple[FloatArray, FloatArray]:
    pairs = _pairs(model, package)
    rows, speeds = _both(_rows(q, names[0], package.nq), None if v is None else _rows(v, names[1], package.nv), names)
    out, rates = np.zeros((*rows.shape[:-1], model.nq)), np.zeros((*rows.shape[:-1], model.nv))
    for own, theirs in pairs:
        if own.follows or own.drive is not None:
            continue
        x, u = rows[..., theirs.q], None if speeds is None else speeds[..., theirs.v]
        if package.scalar_last:
            x = _reordered(own.type, x, 1)
        with_sine = own.size != theirs.size
        if with_sine:
            x = np.concatenate([x[..., :-2], np.arctan2(x[..., -1:], x[..., -2:-1])], axis=-1)
        if with_sine and theirs.size == PLANAR and u is not None:
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
