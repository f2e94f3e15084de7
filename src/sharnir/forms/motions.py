"""Every joint type restated as a list of motions, and those motions, from their definitions: a matrix, its derivatives, columns.

Turns and shifts by Rodrigues' formula, quaternions by their matrix, a user's pose by differentiating its expression, a
user's constraints by solving them for the velocity, numerically and in every state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import MethodError
from ..model.joints import Ball, Compound, ConstraintJoint, CustomJoint, Free, Joint, Weld
from ..model.joints.axes import AxisJoint
from ..model.joints.elastic import Elastic
from ..model.joints.joint_type import ElementaryMotion, traced_drives
from ..model.pose import Pose, Rotation, unit_axis
from ..trace import Expression, Graph, Number, call_traced, check_numbers, tangent
from .jets import column, hat, identities, inverse_column, inverse_jet, jet

if TYPE_CHECKING:
    from ..model.flexible import Shapes


class Evaluated(NamedTuple):
    """A motion in one state."""

    jet: np.ndarray
    columns: np.ndarray
    """(nv, 2, 4, 4)."""
    q_rate: np.ndarray
    """(nq): rates of its coordinates."""
    q_second: np.ndarray
    """(nq): their second derivatives at constant speeds."""
    q_slopes: np.ndarray
    """(nv, nq): ∂q̇/∂speed."""


def matrix_of(pose: Pose) -> np.ndarray:
    """The 4×4 matrix of a placement."""
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = pose.rotation.matrix, pose.position
    return out


# --- turns, shifts and screws: all of a model at once ---------------------------------------------------------------------
def about_axes(axis: np.ndarray, turn: np.ndarray, slide: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(m, 4, 4): turns by turn·x about unit axes and shifts by slide·x along them; R = E + sin θ ũ + (1 − cos θ) ũ²."""
    K = hat(np.concatenate([np.zeros_like(axis), axis], axis=-1))[..., :3, :3]
    angle = (turn * x)[..., None, None]
    out = np.zeros((len(x), 4, 4))
    out[:, :3, :3] = np.eye(3) + np.sin(angle) * K + 2 * np.sin(angle / 2) ** 2 * (K @ K)
    out[:, :3, 3] = (slide * x)[:, None] * axis
    out[:, 3, 3] = 1.0
    return out


# --- quaternions ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class QuaternionMotion:
    """A ball joint (quaternion), or a free one (position, quaternion); speeds are components of the velocity in moved axes."""

    nq: int

    @property
    def nv(self) -> int:
        return self.nq - 1

    def __call__(self, q: np.ndarray, v: np.ndarray, t: float) -> Evaluated:
        axes = np.eye(6)[6 - len(v) :]
        return self.moved(q, axes.T @ v, np.zeros(6), axes, np.zeros_like(axes))

    def matrix(self, q: np.ndarray) -> np.ndarray:
        H, U = np.eye(4), hat(np.array([0, 0, 0, *q[-3:]]))[:3, :3]
        H[:3, :3] += 2 * (q[-4] * U + U @ U) / (q[-4:] @ q[-4:])
        H[:3, 3] = q[:-4] if self.nq == 7 else 0.0
        return H

    def moved(self, q: np.ndarray, V: np.ndarray, V_rate: np.ndarray, A: np.ndarray, A_rate: np.ndarray) -> Evaluated:
        """The motion with velocity V, columns A (nv, 6), and the rates of both, all in moved axes.                      (J8)"""
        H, Q, where = self.matrix(q), q[-4:], slice(0, self.nq - 4)

        def rates(twist: np.ndarray) -> np.ndarray:
            return np.concatenate([(H[:3, :3] @ twist[:3])[where], _quaternion_rate(Q, twist[3:])])

        spun = np.concatenate([np.cross(V[3:], V[:3]), np.zeros(3)])
        second = rates(V_rate + spun)
        second[-4:] += _quaternion_rate(_quaternion_rate(Q, V[3:]), V[3:])
        slopes = np.array([rates(a) for a in A]).reshape(len(A), self.nq)
        return Evaluated(jet(H, V, V_rate), column(H, V, A, A_rate), rates(V), second, slopes)


def _quaternion_rate(Q: np.ndarray, spin: np.ndarray) -> np.ndarray:
    """Q̇ = ½ Q∘(0, ω), ω in moved axes."""
    return np.concatenate([[-Q[1:] @ spin], Q[0] * spin + np.cross(Q[1:], spin)]) / 2


# --- a pose as a function of coordinates and time -------------------------------------------------------------------------
class PoseMotion:
    """A pose given as a formula: H, Ḣ, Ḧ, ∂H/∂q_k and their rates are exact derivatives of its expression. [I] (2.2)–(2.6)"""

    def __init__(self, given: Expression) -> None:
        """`given`: an expression of (q, v, t) that begins with ρ (3) and G (9)."""
        self.nq = self.nv = n = (len(given.inputs) - 1) // 2
        q, v, t = given.inputs[:n], given.inputs[n : 2 * n], given.inputs[-1]
        flow = [*zip(q, v, strict=True), (t, 1.0)]
        pose = given.outputs[:12]
        first = tangent(pose, flow)
        outputs = [pose, first, tangent(first, flow)]
        for x in q:
            slope = tangent(pose, [(x, 1.0)])
            outputs += [slope, tangent(slope, flow)]
        self._expression = Expression(given.graph, given.inputs, [y for output in outputs for y in output])

    def with_parameters(self, values: Mapping[str, float]) -> PoseMotion:
        out = copy(self)
        out._expression = self._expression.with_defaults(values)
        return out

    def __call__(self, q: np.ndarray, v: np.ndarray, t: float) -> Evaluated:
        values = np.array(self._expression(*q.tolist(), *v.tolist(), float(t)), dtype=float).reshape(-1, 12)
        H = np.zeros((len(values), 4, 4))
        H[:, :3, 3], H[:, :3, :3] = values[:, :3], values[:, 3:].reshape(-1, 3, 3).transpose(0, 2, 1)
        H[0, 3, 3] = 1.0
        return Evaluated(H[:3], H[3:].reshape(-1, 2, 4, 4), v, np.zeros_like(v), np.eye(len(v)))


# --- flexible bodies ------------------------------------------------------------------------------------------------------
class ElasticMotion:
    """Elastic coordinates: they move no frame by themselves."""

    def __init__(self, n: int) -> None:
        self.nq = self.nv = n

    def __call__(self, q: np.ndarray, v: np.ndarray, t: float) -> Evaluated:
        return Evaluated(identities(1)[0], np.zeros((self.nv, 2, 4, 4)), v, np.zeros_like(v), np.eye(len(v)))


class PlaceMotion:
    """Motion from the frame of a flexible body to a place of it or back: y = x + Φe + ½Γee, turned by Cayley's vector ½Ψe."""

    def __init__(self, shapes: Shapes, at: Pose, inverse: bool) -> None:
        phi, psi, gamma = shapes.at(at.position)
        n = len(shapes.names)
        self.nq = self.nv = n
        self._at, self._inverse = matrix_of(at), inverse
        self._phi, self._psi = np.array(phi, dtype=float).reshape(3, n), np.array(psi, dtype=float).reshape(3, n)
        self._gamma = np.zeros((3, n, n)) if gamma is None else np.array(gamma, dtype=float)

    def __call__(self, q: np.ndarray, v: np.ndarray, t: float) -> Evaluated:
        C, C1 = _tilde(self._psi @ q / 2), _tilde(self._psi @ v / 2)
        back = np.linalg.inv(np.eye(3) - C)
        R = (np.eye(3) + C) @ back
        R1 = (C1 + R @ C1) @ back  # of R(E − c̃) = E + c̃, differentiated
        jet, columns = np.zeros((3, 4, 4)), np.zeros((self.nv, 2, 4, 4))
        jet[0, 3, 3] = 1.0
        bend = self._gamma @ q  # (3, n)
        jet[0, :3, 3] = self._at[:3, 3] + self._phi @ q + bend @ q / 2
        jet[1, :3, 3], jet[2, :3, 3] = (self._phi + bend) @ v, self._gamma @ v @ v
        jet[:, :3, :3] = np.array([R, R1, 2 * R1 @ C1 @ back]) @ self._at[:3, :3]
        for k in range(self.nv):
            Ck = _tilde(self._psi[:, k] / 2)
            Rk = (Ck + R @ Ck) @ back
            columns[k, :, :3, :3] = np.array([Rk, (R1 @ Ck + Rk @ C1) @ back]) @ self._at[:3, :3]
            columns[k, :, :3, 3] = self._phi[:, k] + bend[:, k], self._gamma[:, k] @ v
        if self._inverse:
            columns, jet = inverse_column(jet, columns), inverse_jet(jet)
        return Evaluated(jet, columns, v, np.zeros_like(v), np.eye(len(v)))


def _tilde(x: np.ndarray) -> np.ndarray:
    return hat(np.array([0.0, 0.0, 0.0, *x]))[:3, :3]


# --- a joint given by what it forbids -------------------------------------------------------------------------------------
class ConstraintMotion:
    """ξ(H, t) = 0: Zᵀ by derivatives of ξ along six unit twists; dependent components of the velocity V by a solve. (J4), (J5)

    Differentiated once more, Zᵀ V̇ = −(Żᵀ V + (∂ξ/∂t)˙), which gives V̇ at constant speeds, and Zᵀ ȧ = −Żᵀ a for the columns.
    """

    nq = 7

    def __init__(self, joint: ConstraintJoint, label: str) -> None:
        graph = Graph()
        h, V, t = graph.inputs(12), graph.inputs(6), graph.input()
        pose = Pose(h[:3], Rotation(h[3:]))
        found = call_traced(joint.constraints, (pose, t), f"{label}: the constraints")
        xi = check_numbers(found if hasattr(found, "__len__") else [found], graph, f"{label}: the constraints")
        flow = [*zip(h, _along(h, V), strict=True), (t, 1.0)]
        rows = [tangent(xi, list(zip(h, _along(h, unit), strict=True))) for unit in np.eye(6).tolist()]
        by_time = tangent(xi, [(t, 1.0)])
        first: list[Number] = [y for row in (*rows, by_time) for y in row]
        self._expression = Expression(graph, [*h, *V, t], [*first, *tangent(first, flow)])
        self.m = len(xi)
        self.free = list(joint.independent)
        self.nv = len(self.free)
        self.dependent = [k for k in range(6) if k not in self.free]
        self._free_motion = QuaternionMotion(7)

    def __call__(self, q: np.ndarray, v: np.ndarray, t: float) -> Evaluated:
        H = self._free_motion.matrix(q)
        Z, by_time = self._rows(H, np.zeros(6), t)[0]
        A = np.zeros((6, len(self.free)))
        A[self.free] = np.eye(len(self.free))
        V = A @ v
        solve = np.linalg.inv(Z[:, self.dependent])
        A[self.dependent] = -solve @ Z[:, self.free]
        V[self.dependent] = -solve @ (Z[:, self.free] @ v + by_time)
        Z_rate, by_time_rate = self._rows(H, V, t)[1]
        A_rate, V_rate = np.zeros_like(A), np.zeros(6)
        A_rate[self.dependent] = -solve @ Z_rate @ A
        V_rate[self.dependent] = -solve @ (Z_rate @ V + by_time_rate)
        return self._free_motion.moved(q, V, V_rate, A.T, A_rate.T)

    def _rows(self, H: np.ndarray, V: np.ndarray, t: float) -> list[tuple[np.ndarray, np.ndarray]]:
        """(Zᵀ, ∂ξ/∂t) and their rates along V."""
        values = self._expression(*H[:3, 3].tolist(), *H[:3, :3].ravel().tolist(), *V.tolist(), float(t))
        both = np.array(values, dtype=float).reshape(2, 7, self.m)
        return [(x[:6].T, x[6]) for x in both]


def _along(h: Sequence[Number], V: Sequence[Number]) -> list[Number]:
    """Rates of position and rotation, row by row, of a frame that moves with V in its own axes: ṗ = Ru, Ṙ = Rω̃."""
    R = [h[3:6], h[6:9], h[9:12]]
    u, (x, y, z) = V[:3], V[3:]
    linear = [row[0] * u[0] + row[1] * u[1] + row[2] * u[2] for row in R]
    return linear + [s for a, b, c in R for s in (b * z - c * y, c * x - a * z, a * y - b * x)]


# --- joint types ----------------------------------------------------------------------------------------------------------
class AxisMotion(NamedTuple):
    """A turn about an axis and a shift along it, free or driven in time."""

    axis: tuple[float, float, float]
    turn: float
    slide: float
    drive: Expression | None


General = QuaternionMotion | PoseMotion | ConstraintMotion | ElasticMotion | PlaceMotion
MotionPart = Pose | AxisMotion | General


def parts(joint: Joint, label: str) -> Iterator[MotionPart]:
    """The motions of a joint type from the carrier outward, as the type defines them."""
    if isinstance(joint, Compound):
        for name, part, where in joint.moved_joints(label):
            yield from ([] if where.is_identity else [where])
            yield from parts(part, f"{label}, part {name!r}")
    elif isinstance(joint, AxisJoint):
        drives = traced_drives(joint, label)
        for name, axis, turn, slide in joint.steps(label):
            yield AxisMotion(unit_axis(axis, label), turn, slide, drives.get(name))
    elif isinstance(joint, (Ball, Free)) and joint.motion is None:
        yield QuaternionMotion(len(joint.coordinates))
    elif isinstance(joint, (Ball, Free, CustomJoint)):
        (motion,) = joint.built(label)
        assert motion.given is not None
        yield PoseMotion(motion.given)
    elif isinstance(joint, ConstraintJoint):
        yield ConstraintMotion(joint, label)
    elif isinstance(joint, Elastic):
        yield ElasticMotion(len(joint.coordinates))
    elif not isinstance(joint, Weld):  # a type of the user's own, known by its elementary motions only
        yield from (_elementary(motion, label) for motion in joint.built(label))


def with_parameters(part: MotionPart, values: Mapping[str, float]) -> MotionPart:
    """A motion whose functions have these values of the model's parameters."""
    if isinstance(part, AxisMotion) and part.drive is not None:
        return part._replace(drive=part.drive.with_defaults(values))
    return part.with_parameters(values) if isinstance(part, PoseMotion) else part


def _elementary(motion: ElementaryMotion, label: str) -> MotionPart:
    if motion.placement is not None:
        return motion.placement
    if motion.given is not None and motion.nq == motion.nv:
        return PoseMotion(motion.given)
    if motion.given is None and motion.nv in (3, 6):
        return QuaternionMotion(motion.nq)
    if motion.turn or motion.slide:
        return AxisMotion((0.0, 0.0, 1.0), motion.turn, motion.slide, motion.drive)
    raise MethodError(f"{label}: the matrix forms cannot compute this joint; derive its type from ConstraintJoint or CustomJoint")
