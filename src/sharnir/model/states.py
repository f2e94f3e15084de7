"""Checks at the public boundary: states, joint forces and wrenches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import NOT_A_NUMBER, ModelError, StateError, brief, known
from ..types import FloatArray, State, real_array
from .model import Model


def check_model(model: object, caller: str) -> Model:
    if not isinstance(model, Model):
        hint = f"; sharnir.load({brief(model)}) reads a file" if isinstance(model, str) else ""
        hint = "; its model is the attribute `model`" if isinstance(getattr(model, "model", None), Model) else hint
        raise ModelError(f"{caller} needs a sharnir.Model, got {brief(model)}{hint}")
    return model


def check_array(x: ArrayLike, what: str, n: int, names: Callable[[], Sequence[str]] = list) -> FloatArray:
    """(n,) floats; `names` of them are computed only when there are more or fewer."""
    a = real_array(x, what)
    if a.shape != (n,):
        raise StateError(f"{what}: expected ({n},){numbers_of(names())}, got {a.shape}")
    return a


def numbers_of(names: Sequence[str]) -> str:
    """`, one number each for 'shoulder', 'elbow'`"""
    return f", one number each for {known(names, 8)}" if names else ""


def check_state(model: Model, q: State, v: State, t: float) -> tuple[FloatArray, FloatArray, float]:
    """One state as arrays; joints that are not named are neutral, their speeds zero."""
    positions = check_array(
        model.coordinates(q) if q is None or isinstance(q, Mapping) else q, "q", model.nq, lambda: model.q_names
    )
    speeds = check_array(model.speeds(v) if v is None or isinstance(v, Mapping) else v, "v", model.nv, lambda: model.v_names)
    check_finite(positions, lambda: model.q_names, "q")
    check_finite(speeds, lambda: model.v_names, "v")
    check_quaternions(model, positions)
    return positions, speeds, check_time(t)


def check_time(t: float) -> float:
    try:
        value = float(t)
    except NOT_A_NUMBER:
        raise StateError(f"t: expected a number, got {brief(t)}") from None
    if not math.isfinite(value):
        raise StateError(f"t: expected a finite time, got {value}")
    return value


def check_tau(model: Model, tau: State) -> FloatArray:
    """Joint forces, zero by default."""
    out = check_array(
        model.speeds(tau) if tau is None or isinstance(tau, Mapping) else tau, "tau", model.nv, lambda: model.v_names
    )
    check_finite(out, lambda: model.v_names, "tau")
    return out


def check_wrenches(model: Model, wrenches: State) -> FloatArray:
    """(N, 6) wrenches at body origins in body axes; or {body: six numbers}, the rest zero."""
    N = len(model.bodies)
    out = np.zeros((N, 6))
    if wrenches is None:
        return out
    if isinstance(wrenches, Mapping):
        for body, wrench in wrenches.items():
            out[model.body_index(body)] = check_array(wrench, f"wrench on body {brief(body)}", 6)
    else:
        out = real_array(wrenches, "wrenches")
        if out.shape != (N, 6):
            raise StateError(f"wrenches: expected ({N}, 6), got {out.shape}")
    bad = np.flatnonzero(~np.isfinite(out).all(axis=1))
    if bad.size:
        raise StateError(f"wrenches: the one on body {model.bodies[bad[0]].name!r} is not finite")
    return out


def check_finite(x: np.ndarray, names: Callable[[], Sequence[str]], what: str) -> None:
    """`names` of the entries are computed only when one is at fault."""
    bad = np.flatnonzero(~np.isfinite(x))
    if bad.size:
        more = f" (and {bad.size - 1} more)" if bad.size > 1 else ""
        raise StateError(f"{what}: {names()[bad[0]]!r} is {x[bad[0]]}{more}")


def check_quaternions(model: Model, q: np.ndarray) -> None:
    s = model.structure
    zero = np.flatnonzero(~q[s.quaternions[:, None] + np.arange(4)].any(axis=1))
    if zero.size:
        joint = model.joints[int(np.searchsorted(s.q_first, s.quaternions[zero[0]], side="right")) - 2]
        raise StateError(f"q: the quaternion of joint {joint.name!r} is zero; the neutral one is (1, 0, 0, 0)")
