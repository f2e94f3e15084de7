"""Targets of inverse kinematics, and the search: damped least squares along the constraints and within the limits of joints.

Every accepted position is closed, within the limits, and nearer to the targets than the last (Levenberg–Marquardt; each step a
small convex program, `limits.py`). Where more joints are free than targets need, the solution then slides along the
positions that meet them toward the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..dynamics import Dynamics
from ..equations.assembly.least_motion import FIRST_DAMPING, Step, damped_newton
from ..equations.assembly.loop_closure import Closure
from ..equations.motion.retraction import retract
from ..equations.rows.constraint_table import ConstraintTable
from ..errors import NOT_A_NUMBER, ModelError, StateError, brief, no_such
from ..model.forces.joint_spring import moment_of_turn, rotation_vector
from ..model.model import Model
from ..model.pose import Pose, Rotation, quaternion_of, vector3
from ..model.references import located
from ..model.substitution import substituted
from ..types import Vector, real_array
from .limits import START_CLOSING, STEP_CLOSING, Limits, bounded_step
from .tangent_space import rate_matrix

Place: TypeAlias = str | tuple[str, tuple[float, ...]] | tuple[str, Pose]
"""A frame, a body, a point of one of them in its axes, or a pose on a body."""
Goal: TypeAlias = Pose | Rotation | Vector
"""A pose; a rotation alone; a position alone, None for a coordinate that may be anything."""
Weight: TypeAlias = float | tuple[float, float]
"""One for all, or of position and of rotation."""


@dataclass(frozen=True)
class Target:
    """A target: `at` is the place on `body`; `axes` are the coordinates of the position that count."""

    name: str
    body: str
    at: Pose
    position: np.ndarray
    axes: np.ndarray
    rotation: Rotation | None
    weights: tuple[float, float]

    def misses(self, d: Dynamics, q: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Error of the position (3,), and of the rotation (3,), a rotation vector; zero where it does not count."""
        i = d.model.body_index(self.body)
        if i + 1 in d.structure.deformations:
            there: Any = d.pose(q, (self.body, self.at), t)
            rotation, position = there.rotation.matrix, np.array(there.position)
        else:
            rotations, positions = d.poses(q, t)
            rotation, position = rotations[i] @ self.at.rotation.matrix, positions[i] + rotations[i] @ self.at.position
        off = np.where(self.axes, position - self.position, 0.0)
        if self.rotation is None:
            return off, np.zeros(3)
        return off, np.array(rotation_vector(quaternion_of(Rotation(rotation @ self.rotation.matrix.T))))

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
    if not isinstance(targets, Mapping) or not targets:
        raise StateError(f"targets: expected {{frame or body: pose or position}}, at least one; got {brief(targets)}")
    of_place = _weights(targets, weights)
    return [_target(model, place, goal, of_place[place]) for place, goal in targets.items()]


def _target(model: Model, place: Place, goal: Goal, weights: tuple[float, float]) -> Target:
    has_point = isinstance(place, tuple) and len(place) == 2 and not isinstance(place[1], Pose)
    where: Any = place[0] if has_point else place
    offset: Any = place[1] if has_point else None
    index, at = located(where, model.structure.body_number, model.frames)
    if index < 0:
        raise ModelError(f"target {where!r}: it is fixed to the ground and cannot be moved")
    body, at = model.bodies[index].name, substituted(at, model.parameters)
    shown = where if isinstance(where, str) else f"{body} at {_numbers(at.position)}"
    if has_point:
        point = vector3(offset, f"target {where!r}: point")
        at, shown = Pose(at @ point, at.rotation), f"{where} at {_numbers(point)}"
    position, axes, rotation = _goal(goal, f"target {shown!r}")
    axes, rotation = axes & (weights[0] > 0.0), rotation if weights[1] > 0.0 else None
    if not axes.any() and rotation is None:
        raise StateError(f"target {shown!r}: its weights leave nothing to be met; give it a weight above zero")
    return Target(shown, body, at, position, axes, rotation, weights)


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
            what = "expected a number, or two of position and of rotation, none negative and one above zero"
            raise StateError(f"weights of {brief(place)}: {what}; got {brief(weight)}")
        out[place] = (float(pair.flat[0]), float(pair.flat[-1]))
    return out


MAX_ITERATIONS = 100
LEAST_DAMPING = 1e-12
"""Redundant joints leave the step open without any."""
CONVERGED = 1e-13
"""Weighted misses, m and rad, below which there is nothing to gain."""
SLOW = 1e-10
"""The share of the objective that a step must promise to take away for the search to go on."""
NEAREST = 1e-7
"""The share of the squared distance from the start that a step must promise to take away for the slide to go on."""
SLIDES = 40
"""Steps toward the start along the positions that meet the targets, at most."""


@dataclass(frozen=True)
class Reached:
    """A position, its misses r with their Jacobian, and the iterations spent on it."""

    q: np.ndarray
    r: np.ndarray
    J: np.ndarray
    iterations: int = 0

    @property
    def cost(self) -> float:
        return float(self.r @ self.r)


class Search:
    """The search for one set of targets; `free` (nv,) are the speeds of joints that may move."""

    def __init__(
        self, d: Dynamics, table: ConstraintTable | None, targets: Sequence[Target], free: np.ndarray, limits: Limits, t: float
    ) -> None:
        self.d, self.model, self.table, self.targets, self.t = d, d.model, table, targets, t
        self.free, self.limits = free, limits

    # --- positions that are allowed -----------------------------------------------------------------------------------------
    def allowed(self, q: np.ndarray, iterations: int = START_CLOSING) -> np.ndarray | None:
        """The nearest position that is closed and within the limits; None where none is found."""
        q = self.limits.clipped(q, self.free)
        if self.table is None:
            return q
        held = ~self.free
        for _ in range(1 + int(self.free.sum())):
            closed = Closure(self.model, self.table, self.t, ~held).closed(q, iterations)
            if closed is None:
                return None
            beyond = self.limits.beyond(closed, 1e-12) & self.free
            if not beyond.any():
                return closed
            if (beyond & held).all():
                return None
            held = held | beyond  # on its limit from here on; the others close the loops
            q = self.limits.clipped(closed, self.free)
        return None

    def at(self, q: np.ndarray, iterations: int = 0) -> Reached:
        found = [target.rows(self.d, q, self.t) for target in self.targets]
        return Reached(q, np.concatenate([r for r, _ in found]), np.concatenate([J for _, J in found]), iterations)

    def closing(self, q: np.ndarray) -> np.ndarray:
        """(rows, nv): the Jacobian of the constraints of position."""
        if self.table is None:
            return np.zeros((0, self.model.nv))
        return self.table.finite(q, np.zeros(self.model.nv), self.t)["J"][: self.table.n_holonomic]

    def _step(self, q: np.ndarray, A: np.ndarray, b: np.ndarray, mu: float, C: np.ndarray) -> np.ndarray:
        """(nv,): of the free speeds, within the limits."""
        free, x = self.free, self.limits.values(q)
        low, high = np.minimum(self.limits.low - x, 0.0), np.maximum(self.limits.high - x, 0.0)
        out = np.zeros(self.model.nv)
        out[free] = bounded_step(A[:, free], b, mu, C[:, free], low[free], high[free])
        return out

    def _moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray | None:
        return self.allowed(retract(self.model, q, step, self.t), STEP_CLOSING)

    # --- the search ---------------------------------------------------------------------------------------------------------
    def descend(self, start: Reached) -> Reached:
        """The end of a search for the least distance from the targets."""
        spent = start.iterations

        def step(now: Reached, damping: float, gain: float) -> Step | None:
            nonlocal spent
            if np.abs(now.r).max(initial=0.0) <= CONVERGED:
                return None
            spent += 1
            mu = max(damping, LEAST_DAMPING) * max(float((now.J**2).sum(axis=0).max(initial=0.0)), 1e-300)
            motion = self._step(now.q, now.J, now.r, mu, self.closing(now.q))
            promised = now.cost - float(((now.r + now.J @ motion) ** 2).sum())
            # the last step moves the joints by more than it changes the misses
            return Step(motion, promised, 0.0 if promised <= SLOW * now.cost else None)

        def moved(now: Reached, motion: np.ndarray) -> Reached | None:
            q = self._moved(now.q, motion)
            return None if q is None else self.at(q)

        now = damped_newton(start, step, moved, MAX_ITERATIONS, FIRST_DAMPING)
        return Reached(now.q, now.r, now.J, spent)

    def slide(self, reached: Reached, start: np.ndarray, enough: float) -> Reached:
        """The position nearest to the start, Σ(q − start)², with the targets still met to `enough`."""
        now = reached
        for _ in range(SLIDES):
            off = now.q - start
            N = rate_matrix(self.d, now.q, self.t)
            step = self._step(now.q, N, off, 1e-12, np.concatenate([self.closing(now.q), now.J]))
            before = float(off @ off)
            promised = before - float(((off + N @ step) ** 2).sum())
            if promised <= NEAREST * before:
                break
            share = min(1.0, 0.5 / max(float(np.abs(step).max()), 1e-300))
            for _ in range(8):
                q = self._moved(now.q, share * step)
                if q is not None:
                    trial = self.descend(self.at(q, now.iterations))
                    nearer = before - float(((trial.q - start) ** 2).sum())
                    if np.abs(trial.r).max() <= enough and nearer > 1e-3 * share * promised:
                        now = trial
                        break
                share *= 0.5
            else:
                break
        return now
