"""A rubber mount: stiffness and damping in all six directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import ModelError
from ...kernels.algebra import cross, mtv, mv, neg, sub
from ...trace import Number
from ..motion import Motion
from ..pose import Pose, Rotation
from .base import Force, Numbers
from .joint_spring import moment_of_turn, rotation_vector


class Bushing(Force):
    """Holds a frame of body b near a frame of body a: (force; moment) = −stiffness·(shift; turn) − damping·(its rates).

    stiffness, damping: 6×6, six numbers (a diagonal) or one; in the axes of the frame on a. The turn is the rotation
    vector from a's frame to b's; for turns that are not small the moment is the one that goes with the stored energy.
    """

    def __init__(
        self,
        a: str,
        b: str,
        at_a: Pose | None = None,
        at_b: Pose | None = None,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        name: str | None = None,
    ) -> None:
        self.a, self.b, self.name = a, b, name
        self.at_a, self.at_b = at_a or Pose(), at_b or Pose()
        self.stiffness, self.damping = _matrix(stiffness, "stiffness"), _matrix(damping, "damping")
        if a == b:
            raise ModelError(f"bushing: both frames are on {a!r}; it would push nothing")

    def bodies(self) -> Sequence[str]:
        return self.a, self.b

    def numbers(self, on: Motion) -> Numbers:
        poses = {name: (*at.position, *at.rotation.entries) for name, at in (("at_a", self.at_a), ("at_b", self.at_b))}
        return {**poses, "stiffness": _entries(self.stiffness), "damping": _entries(self.damping)}

    def formula(self, on: Motion, n: Numbers) -> Number:
        at_a, at_b = (Pose(x[:3], Rotation._made(x[3:])) for x in (n["at_a"], n["at_b"]))
        A, B = on.pose(self.a) @ at_a, on.pose(self.b) @ at_b
        axes = A.rotation.entries  # frame of a -> world
        turn = (A.rotation.T @ B.rotation).entries
        shift = mtv(axes, sub(B.position, A.position))
        x = (*shift, *rotation_vector(_quaternion(turn)))
        # rates as seen from a's frame, which itself turns
        (_, va), (_, vb) = on.point(self.a, at_a.position), on.point(self.b, at_b.position)
        wa, wb = mtv(axes, on.spin(self.a)), mtv(axes, on.spin(self.b))
        rate = (*sub(mtv(axes, sub(vb, va)), cross(wa, shift)), *sub(wb, wa))
        elastic = _times(n["stiffness"], x)
        elastic_wrench = (*elastic[:3], *moment_of_turn(x[3:], elastic[3:], 1.0))
        wrench = [-(k + c) for k, c in zip(elastic_wrench, _times(n["damping"], rate), strict=True)]
        force, moment = mv(axes, wrench[:3]), mv(axes, wrench[3:])
        on.push(self.b, force, at_b.position, moment)
        # equal and opposite at the same place, so that no moment appears from nowhere
        arm = sub(B.position, A.position)
        on.push(self.a, neg(force), at_a.position, neg(_sum(moment, cross(arm, force))))
        return 0.5 * _dot(elastic, x)


def _matrix(x: Any, what: str) -> np.ndarray:
    try:
        a = np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"bushing: {what}: expected numbers, got {x!r}") from None
    if a.ndim < 2:
        a = np.diag(np.broadcast_to(a, 6)) if a.shape in ((), (6,)) else a
    if a.shape != (6, 6) or not np.isfinite(a).all():
        raise ModelError(f"bushing: {what}: expected one finite number, six, or 6×6; got shape {np.shape(x)}")
    if np.abs(a - a.T).max() > 1e-12 * np.abs(a).max() or np.linalg.eigvalsh(a).min() < -1e-12 * max(np.abs(a).max(), 1e-300):
        raise ModelError(f"bushing: {what} must be symmetric and not negative")
    return a


def _entries(K: np.ndarray) -> list[float]:
    """The diagonal, where there is nothing beside it; else row by row."""
    diagonal = np.diag(K)
    return (diagonal if np.count_nonzero(K) == np.count_nonzero(diagonal) else K.ravel()).tolist()


def _times(K: Sequence[Number], x: Sequence[Number]) -> list[Number]:
    if len(K) == 6:
        return [k * v for k, v in zip(K, x, strict=True)]
    return [_dot(K[6 * i : 6 * i + 6], x) for i in range(6)]


def _dot(x: Sequence[Number], y: Sequence[Number]) -> Number:
    return sum((a * b for a, b in zip(x, y, strict=True)), 0.0)


def _sum(x: Sequence[Number], y: Sequence[Number]) -> tuple[Number, ...]:
    return tuple(a + b for a, b in zip(x, y, strict=True))


def _quaternion(R: Sequence[Number]) -> tuple[Number, ...]:
    """A quaternion of a rotation, of any length but zero while the turn is less than a half."""
    return (1.0 + R[0] + R[4] + R[8], R[7] - R[5], R[2] - R[6], R[3] - R[1])
