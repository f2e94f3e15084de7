"""Targets of inverse kinematics: what a frame or a point of a body should meet, and by how much it misses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..dynamics import Dynamics
from ..errors import NOT_A_NUMBER, ModelError, StateError, brief, no_such
from ..model.forces.joint_spring import moment_of_turn, rotation_vector
from ..model.model import Model
from ..model.pose import Pose, Rotation, quaternion_of, vector3
from ..model.references import located
from ..model.substitution import substituted
from ..types import Vector, real_array

Place: TypeAlias = str | tuple[str, tuple[float, ...]] | tuple[str, Pose]
"""A frame, a body, a point of one of them in its axes, or a pose on a body."""
Goal: TypeAlias = Pose | Rotation | Vector
"""A pose; a rotation alone; a position alone, None for a coordinate that may be anything."""
Weight: TypeAlias = float | tuple[float, float]
"""One for all, or of position and of rotation."""


@dataclass(frozen=True)
class Target:
    """`at` is the place on `body`; `axes` are the coordinates of the position that count."""

    name: str
    body: str
    at: Pose
    position: np.ndarray
    axes: np.ndarray
    rotation: Rotation | None
    weights: tuple[float, float]

    def misses(self, d: Dynamics, q: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Error of the position (3,), and of the rotation (3,), a rotation vector; zero where it does not count."""
        rotation, position = self._now(d, q, t)
        off = np.where(self.axes, position - self.position, 0.0)
        if self.rotation is None:
            return off, np.zeros(3)
        turned = rotation @ self.rotation.matrix.T
        return off, np.array(rotation_vector(quaternion_of(Rotation(turned))))

    def _now(self, d: Dynamics, q: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Rotation and position of the place."""
        i = d.model.body_index(self.body)
        if i + 1 in d.structure.deformations:
            there: Any = d.pose(q, (self.body, self.at), t)
            return there.rotation.matrix, np.array(there.position)
        rotations, positions = d.poses(q, t)
        return rotations[i] @ self.at.rotation.matrix, positions[i] + rotations[i] @ self.at.position

    def rows(self, d: Dynamics, q: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """The weighted errors, which are to vanish, and their exact Jacobian (rows × nv)."""
        off, turn = self.misses(d, q, t)
        J = d.jacobian(q, self.body, self.at.position, t)
        values, slopes = [self.weights[0] * off[self.axes]], [self.weights[0] * J[:3][self.axes]]
        if self.rotation is not None:
            values.append(self.weights[1] * turn)
            slopes.append(self.weights[1] * np.array(moment_of_turn(tuple(turn), tuple(J[3:]), -1.0)).reshape(3, -1))
        return np.concatenate(values), np.concatenate(slopes)


def read_targets(model: Model, targets: Mapping[Place, Goal], weights: Any) -> list[Target]:
    """Targets from the arguments of `inverse_kinematics`."""
    if not isinstance(targets, Mapping) or not targets:
        raise StateError(f"targets: expected {{frame or body: pose or position}}, at least one; got {brief(targets)}")
    of_place = _weights(targets, weights)
    return [_target(model, place, goal, of_place[place]) for place, goal in targets.items()]


def _target(model: Model, place: Place, goal: Goal, weights: tuple[float, float]) -> Target:
    has_point = isinstance(place, tuple) and len(place) == 2 and not isinstance(place[1], Pose)
    where: Any = place[0] if has_point else place
    offset: Any = place[1] if has_point else None
    body, at = _place(model, where)
    shown = where if isinstance(where, str) else f"{body} at {_numbers(at.position)}"
    if has_point:
        point = vector3(offset, f"target {where!r}: point")
        at, shown = Pose(at @ point, at.rotation), f"{where} at {_numbers(point)}"
    position, axes, rotation = _goal(goal, f"target {shown!r}")
    axes, rotation = axes & (weights[0] > 0.0), rotation if weights[1] > 0.0 else None
    if not axes.any() and rotation is None:
        raise StateError(f"target {shown!r}: its weights leave nothing to be met; give it a weight above zero")
    return Target(shown, body, at, position, axes, rotation, weights)


def _place(model: Model, name: Any) -> tuple[str, Pose]:
    """Body and pose on it."""
    index, at = located(name, model.structure.body_number, model.frames)
    at = substituted(at, model.parameters)
    if index < 0:
        raise ModelError(f"target {name!r}: it is fixed to the ground and cannot be moved")
    return model.bodies[index].name, at


def _numbers(x: Any) -> str:
    return f"({', '.join(f'{value:g}' for value in x)})"


def _goal(goal: Any, label: str) -> tuple[np.ndarray, np.ndarray, Rotation | None]:
    if isinstance(goal, Rotation):
        return np.zeros(3), np.zeros(3, dtype=bool), goal
    if isinstance(goal, Pose):
        return np.array(goal.position, dtype=float), np.ones(3, dtype=bool), goal.rotation
    what = f"{label}: expected a sharnir.Pose, a sharnir.Rotation, or a position of three numbers (None: any); got {brief(goal)}"
    try:
        given = [np.nan if x is None else float(x) for x in goal]
        free = [x is None for x in goal]
    except NOT_A_NUMBER:
        raise StateError(what) from None
    if len(given) != 3 or not all(np.isfinite(x) or skip for x, skip in zip(given, free, strict=True)) or all(free):
        raise StateError(what)
    return np.array(given), ~np.array(free), None


def _weights(targets: Mapping[Place, Goal], weights: Any) -> dict[Place, tuple[float, float]]:
    """(of position, of rotation) for every target: one for all, or {target: weight}, the rest 1."""
    named = weights if isinstance(weights, Mapping) else dict.fromkeys(targets, 1.0 if weights is None else weights)
    out = dict.fromkeys(targets, (1.0, 1.0))
    for place, weight in named.items():
        if not isinstance(place, (str, tuple)) or place not in targets:
            raise StateError(f"weights: {no_such('target', place, [str(x) for x in targets])}")
        pair = real_array(weight, f"weights of {brief(place)}")
        if pair.shape not in ((), (1,), (2,)) or not np.isfinite(pair).all() or (pair < 0.0).any() or not pair.any():
            raise StateError(
                f"weights of {brief(place)}: expected a number, or two of position and of rotation, none negative and one "
                f"above zero; got {brief(weight)}"
            )
        out[place] = (float(pair.flat[0]), float(pair.flat[-1]))
    return out
