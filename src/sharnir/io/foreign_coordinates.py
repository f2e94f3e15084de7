"""Coordinates and speeds of Pinocchio and MuJoCo to ours and back, by the names of joints; one state or a batch.

| | Pinocchio | MuJoCo |
|---|---|---|
| quaternions, ours w x y z | x y z w | w x y z |
| speeds of a free joint, ours in the moved axes | as ours | linear part in the axes of the world |
| an angle without limits, ours the angle | cosine and sine | the angle |
| a planar joint, ours x, y, angle and their rates | x, y, cosine, sine; velocity in the moved axes | – |
| a joint that follows another or is driven, ours without a coordinate | a coordinate | a coordinate |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from ..equations.assembly.exponential import conjugate, rotated, unit
from ..errors import StateError
from ..model.joints import Free, Joint
from ..model.model import Model
from ..types import FloatArray, State, real_array
from .foreign_joints import ANGLE, PLANAR, Package, joint_pairs, mujoco_package, pinocchio_package, size_of


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
        with_sine = size_of(own) != size_of(theirs) and size_of(theirs) in (ANGLE, PLANAR)
        if with_sine and size_of(theirs) == PLANAR and u is not None:
            u = _turned(u, -x[..., 2])
        if with_sine:
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
        with_sine = size_of(own) != size_of(theirs)
        if with_sine:
            x = np.concatenate([x[..., :-2], np.arctan2(x[..., -1:], x[..., -2:-1])], axis=-1)
        if with_sine and size_of(theirs) == PLANAR and u is not None:
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
