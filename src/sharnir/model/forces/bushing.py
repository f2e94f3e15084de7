"""A rubber mount: stiffness and damping in all six directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import ModelError
from ...kernels.algebra import add, cross, mtv, mv, neg, sub
from ...trace import Number, at_values, has_parameters
from ..element import element, element_field
from ..motion import Motion
from ..pose import Pose, Rotation
from ..values import HERE, Label, Matrix, Name, PoseValue
from .force_element import ForceElement, Numbers
from .joint_spring import moment_of_turn, rotation_vector

MATRIX = Matrix(((), (6,), (6, 6)))
Matrix6 = float | Sequence[float] | Sequence[Sequence[float]] | np.ndarray


@element("bushing")
class Bushing(ForceElement):
    """Holds a frame of body b near a frame of body a: (force; moment) = −stiffness·(shift; turn) − damping·(its rates), in the
    axes of the frame on a. The turn is the rotation vector from a's frame to b's; for turns that are not small the moment is
    the one that goes with the stored energy."""

    a: str = element_field(Name("body"), meaning="body (or ground) of one frame")
    b: str = element_field(Name("body"), meaning="body (or ground) of the other frame")
    at_a: Pose = element_field(PoseValue(), default=HERE, meaning="the frame on a")
    at_b: Pose = element_field(PoseValue(), default=HERE, meaning="the frame on b")
    stiffness: Matrix6 = element_field(
        MATRIX, default=0.0, unit="N/m, N m/rad", meaning="one number, six (a diagonal) or 6×6: forces, then moments"
    )
    damping: Matrix6 = element_field(
        MATRIX, default=0.0, unit="N s/m, N m s/rad", meaning="one number, six (a diagonal) or 6×6: forces, then moments"
    )
    name: str | None = element_field(Label(), default=None, key="")
    at_places = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for what in ("stiffness", "damping"):
            self.__dict__[what] = self._shortest(what)
        if self.a == self.b:
            raise ModelError(f"{self.label}: both frames are on {self.a!r}; it would push nothing")

    def _shortest(self, what: str) -> Matrix6:
        """A symmetric, positive semidefinite matrix: by one number or by its diagonal where that gives all of it."""
        given = getattr(self, what)
        a = np.asarray(at_values(given))
        full = a if a.ndim == 2 else np.diag(np.broadcast_to(a, 6))
        size = np.abs(full).max()
        if np.abs(full - full.T).max() > 1e-12 * size or np.linalg.eigvalsh(full).min() < -1e-12 * max(size, 1e-300):
            raise ModelError(f"{self.label}: {what}: the matrix must be symmetric and positive semidefinite")
        if has_parameters(given):
            return given
        diagonal = np.diag(full).tolist()
        if repr(np.diag(diagonal).tolist()) != repr(full.tolist()):
            return tuple(map(tuple, full.tolist()))
        return diagonal[0] if repr(diagonal) == repr(diagonal[:1] * 6) else tuple(diagonal)

    def numbers(self, on: Motion) -> Numbers:
        poses = {name: (*at.position, *at.rotation.entries) for name, at in (("at_a", self.at_a), ("at_b", self.at_b))}
        return {**poses, "stiffness": _entries(self.stiffness), "damping": _entries(self.damping)}

    def formula(self, on: Motion, n: Numbers) -> Number:
        at_a, at_b = (Pose(x[:3], Rotation(x[3:])) for x in (n["at_a"], n["at_b"]))
        A, B = on.pose(self.a, at_a), on.pose(self.b, at_b)
        axes = A.rotation.entries  # frame of a -> world
        R = (A.rotation.T @ B.rotation).entries
        quaternion = (1.0 + R[0] + R[4] + R[8], R[7] - R[5], R[2] - R[6], R[3] - R[1])  # of any length but zero below half a turn
        shift = mtv(axes, sub(B.position, A.position))
        x = (*shift, *rotation_vector(quaternion))
        # rates as seen from a's frame, which itself turns
        (_, va), (_, vb) = on.point(self.a, at_a.position), on.point(self.b, at_b.position)
        wa, wb = mtv(axes, on.spin(self.a, at_a.position)), mtv(axes, on.spin(self.b, at_b.position))
        rate = (*sub(mtv(axes, sub(vb, va)), cross(wa, shift)), *sub(wb, wa))
        elastic = _times(n["stiffness"], x)
        elastic_wrench = (*elastic[:3], *moment_of_turn(x[3:], elastic[3:], 1.0))
        wrench = [-(k + c) for k, c in zip(elastic_wrench, _times(n["damping"], rate), strict=True)]
        force, moment = mv(axes, wrench[:3]), mv(axes, wrench[3:])
        on.push(self.b, force, at_b.position, moment)
        # equal and opposite at the same point, so that angular momentum is conserved
        arm = sub(B.position, A.position)
        on.push(self.a, neg(force), at_a.position, neg(add(moment, cross(arm, force))))
        return 0.5 * _dot(elastic, x)


def _entries(K: Matrix6) -> list[Number]:
    """The diagonal, or the matrix row by row."""
    rows: list[Any] = list(K) if isinstance(K, (tuple, list)) else [K] * 6
    return [x for row in rows for x in row] if isinstance(rows[0], (tuple, list)) else rows


def _times(K: Sequence[Number], x: Sequence[Number]) -> list[Number]:
    if len(K) == 6:
        return [k * v for k, v in zip(K, x, strict=True)]
    return [_dot(K[6 * i : 6 * i + 6], x) for i in range(6)]


def _dot(x: Sequence[Number], y: Sequence[Number]) -> Number:
    return sum((a * b for a, b in zip(x, y, strict=True)), 0.0)
