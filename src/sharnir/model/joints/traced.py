"""Joints as functions of time and coordinates, traced: the laws that drive coordinates, and poses written in plain Python, made
into all quantities of the joint stage by differentiation (theory 2.3–2.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ModelError
from ...kernels import algebra
from ...trace import Expression, Graph, Number, Symbol, call_traced, check_numbers, generic_functions, tangent
from ..pose import Pose, Rotation


def pose_expression(pose: Callable[..., Any], n: int, label: str) -> Expression:
    """Values of a GIVEN motion with n coordinates: pose(q, t) -> Pose, or pose(t) where n = 0.

    Inputs (q, v, t); outputs rho 3, G 9, v 6, w 6, rates n, A 6n, dA 6n.
    """
    expression = moved_frame(pose, n, label)
    _check_pose(expression, n, label)
    return expression


def moved_frame(pose: Callable[..., Any], n: int, label: str, rates: bool = True) -> Expression:
    """The same for any function of n coordinates, whether or not all of them move something; `rates=False` where they belong to
    another joint."""
    graph = Graph()
    q, v, t = graph.inputs(n), graph.inputs(n), graph.input()
    position, entries = _as_pose(call_traced(pose, (q, t) if n else (t,), f"{label}: the pose"), graph, label)
    flow = [*zip(q, v, strict=True), (t, 1.0)]

    rate = tangent(position + entries, flow)
    linear = algebra.mtv(entries, rate[:3])  # (2.3)
    spin = algebra.mm(algebra.transpose(entries), rate[3:])  # (2.4)
    velocity = (*linear, spin[7], spin[2], spin[3])
    return Expression(graph, [*q, *v, t], motion_values(position, entries, velocity, v, v if rates else (), flow))


def motion_values(
    position: Sequence[Number],
    entries: Sequence[Number],
    velocity: tuple[Number, ...],
    speeds: Sequence[Symbol],
    rates: Sequence[Number],
    flow: Sequence[tuple[Symbol, Number]],
) -> tuple[Number, ...]:
    """The list a GIVEN motion is read from, once its velocity is known as a function of coordinates, speeds and t."""
    columns = [tangent(velocity, [(s, 1.0)]) for s in speeds]  # (2.5)
    acceleration = tangent(velocity, flow)
    centripetal = algebra.cross(velocity[3:], velocity[:3])
    acceleration = algebra.add(acceleration[:3], centripetal) + acceleration[3:]  # (2.6)
    flat = tuple(x for column in columns for x in column)
    return (*position, *algebra.transpose(entries), *velocity, *acceleration, *rates, *flat, *tangent(flat, flow))


def _as_pose(value: Any, graph: Graph, label: str) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
    if isinstance(value, Rotation):
        value = Pose(rotation=value)
    if not isinstance(value, Pose):
        raise ModelError(f"{label}: the pose function must return a sharnir.Pose, got {value!r}")
    position, entries = (check_numbers(x, graph, label) for x in (value.position, value.rotation.entries))
    return position, entries


def _check_pose(expression: Expression, n: int, label: str) -> None:
    """Refuse a matrix that is seen not to be a rotation, and coordinates that move nothing whatever its functions are: at the
    values tried they may be constant."""
    rng = np.random.default_rng(1)
    ranks = []
    for _ in range(3):
        place = rng.uniform(0.1, 0.9, 2 * n + 1).tolist()
        values = np.array(expression(*place), dtype=float)
        G = values[3:12].reshape(3, 3)
        with generic_functions():
            A = np.array(expression(*place)[24 + n : 24 + 7 * n], dtype=float).reshape(n, 6)
        if n and np.isfinite(A).all():
            ranks.append(int(np.linalg.matrix_rank(A)))
        if not np.isfinite(values).all():
            continue  # outside the domain of the user's formula
        if np.abs(G @ G.T - np.eye(3)).max() > 1e-9 or np.linalg.det(G) < 0:
            raise ModelError(
                f"{label}: the pose function returns a matrix that is not a rotation; build it with sharnir.Rotation"
            )
    if ranks and max(ranks) < n:
        raise ModelError(
            f"{label}: its {n} coordinates move the body in only {max(ranks)} independent ways; leave out the idle ones"
        )


# --- the coordinates of a joint in runs that move together: each run free, or moved by a law of time
TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")


@dataclass(frozen=True)
class Segment:
    """Some coordinates of a joint, in its order. It is free where it has neither `drive` nor `given`."""

    q_units: tuple[str, ...]
    """Unit of each coordinate; "1" for parts of a quaternion, empty where only the user knows."""
    v_units: tuple[str, ...]
    drive: Expression | None = None
    """(t) -> value, first and second derivative of one coordinate."""
    given: Expression | None = None
    """(t) -> the values of a GIVEN motion (`traced.py`): a pose, its velocity and acceleration."""
    twist: tuple[int, ...] | None = None
    """Components of the relative velocity, in the moved axes, that are the speeds of the coordinates of a pose,
    (x y z) qw qx qy qz; None for other coordinates."""

    @property
    def is_free(self) -> bool:
        return self.drive is None and self.given is None


def one_coordinate(unit: str, drive: Expression | None = None) -> Segment:
    """A coordinate whose speed is its rate."""
    return Segment((unit,), (f"{unit}/s" if unit else "",), drive)


def pose_segment(coordinates: Sequence[str], speeds: Sequence[str], given: Expression | None = None) -> Segment:
    """Coordinates (x y z) qw qx qy qz, speeds among those of `TWIST`."""
    q_units = tuple("m" if name in "xyz" else "1" for name in coordinates)
    v_units = tuple("m/s" if name[0] == "v" else "rad/s" for name in speeds)
    return Segment(q_units, v_units, given=given, twist=tuple(map(TWIST.index, speeds)))


def trace_drive(function: Callable[[Any], Any], what: str) -> Expression:
    """A function of time with its first two derivatives."""
    graph = Graph()
    t = graph.input()
    value = check_numbers([call_traced(function, [t], what)], graph, what)
    first = tangent(value, [(t, 1.0)])
    return Expression(graph, [t], value + first + tangent(first, [(t, 1.0)]))
