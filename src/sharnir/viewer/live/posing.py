"""A model in a pose: every coordinate can be set, loops follow, limits hold. No browser here.

A slider is a coordinate; the orientation of a quaternion is three, roll, pitch and yaw. When one is set in a mechanism with
loops, the others follow along the closed positions; where it cannot get there, the pose stays the last closed one on the way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...analysis.limits import Limits
from ...dynamics import Dynamics
from ...equations.assembly.continuation import Drive, Reached, distance
from ...equations.assembly.fixed_coordinates import angles, held_coordinates, own_speeds
from ...equations.assembly.least_motion import along
from ...equations.assembly.loop_closure import Closure
from ...equations.assembly.search import closed_position
from ...equations.motion.retraction import retract
from ...equations.rows.constraint_table import table_of
from ...errors import SharnirError
from ...model.model import Model
from ...model.pose import Rotation, quaternion_of, roll_pitch_yaw
from ...model.quaternions import RPY
from ...types import FloatArray, State

UPRIGHT = math.pi / 2 - 1e-3
"""The largest pitch: at a right angle roll and yaw are the same turn."""


@dataclass(frozen=True)
class Slider:
    """One number that can be set."""

    name: str
    """Name of the coordinate as in `Model.q_names`, or "joint.roll"."""
    joint: str
    low: float
    high: float
    is_angle: bool
    place: int
    """Index of the coordinate in q; for an angle of an orientation, that of the quaternion's first."""
    turn: int | None = None
    """0, 1, 2: roll, pitch, yaw of the quaternion at `place`."""


def sliders_of(model: Model, size: float, q: FloatArray) -> list[Slider]:
    """Sliders of all coordinates. Without a limit: ± half a turn, ± the size of the mechanism about the present value."""
    s, limits, names, out, k = model.structure, Limits(model), model.q_names, list[Slider](), 0
    own, turning, quaternions = own_speeds(s), angles(s), set(s.quaternions.tolist())
    joint_of = [j.name for j in model.joints for _ in j.q_names]
    while k < model.nq:
        if k in quaternions:
            base = names[k].rsplit(".", 1)[0]
            ends = (math.pi, UPRIGHT, math.pi)
            out += [Slider(f"{base}.{RPY[i]}", joint_of[k], -end, end, True, k, i) for i, end in enumerate(ends)]
            k += 4
            continue
        v = own[k]
        is_angle = bool(v >= 0 and turning[v])
        low, high = (float(limits.low[v]), float(limits.high[v])) if v >= 0 else (-math.inf, math.inf)
        reach, at = (math.pi, 0.0) if is_angle else (max(size, 1e-6), float(q[k]))
        low, high = low if math.isfinite(low) else min(at - reach, high), high if math.isfinite(high) else max(at + reach, low)
        low, high = min(low, float(q[k])), max(high, float(q[k]))  # a value beyond a limit is shown
        out.append(Slider(names[k], joint_of[k], low, high, is_angle, k))
        k += 1
    return out


def angles_of(q: FloatArray, at: int, near: tuple[float, ...] | None = None) -> tuple[float, ...]:
    """Roll, pitch, yaw of a quaternion; those of a moment before where they still mean the same turn."""
    w = q[at : at + 4]
    if near is not None and abs(float(np.dot(quaternion_of(Rotation.rpy(*near)), w))) > 1.0 - 1e-12:
        return near
    return roll_pitch_yaw(Rotation.quaternion(*(float(x) for x in w / np.linalg.norm(w))))


NEAR = 0.3
"""A change of a coordinate, rad or m, for which the loops are closed at once; larger ones are driven there."""
SMALL = 0.05
"""A step of a joint given by constraints: rad, or parts of the mechanism's size."""
BACK, NUDGE = 1e-4, 0.05
"""Distance before a dead centre at which a slider stops, so that it can go back; motion, rad, that leads off one."""
OTHER_TIMES = (0.7310585, 3.1867273)
"""Seconds later at which the model is compared, to find out whether it is driven: no period divides both."""
TIME_STEPS = 40
"""Parts in which drives are moved to another time, so that loops stay on their branch."""


class Posing:
    """A model at q and t. `message` says what the last change could not do; empty where it did what was asked."""

    def __init__(
        self, model: Model, q: State = None, t: float = 0.0, size: float = 1.0, parameters: Mapping[str, float] | None = None
    ) -> None:
        self.model, self.size, self.message = model, size, ""
        self.values = dict(parameters or {})
        """Values of parameters that differ from the model's own."""
        self._values = tuple(model.parameter_values(parameters).values())
        self._parameters = np.array(self._values) if self._values else None
        self._table = table_of(model).at(self._values) if model.constraints else None
        self._limits, self.dynamics, self._still = Limits(model), Dynamics(model), np.zeros(model.nv)
        guess = retract(model, model.coordinates(q), self._still, t)
        self.t, self.q, named = t, guess, list(q) if isinstance(q, Mapping) else []
        for held in (named, []) if named else ([],):  # the nearest closed position to the guess
            try:
                hold = held_coordinates(model, held)
                self.q = guess if self._table is None else closed_position(model, self._table, guess, t, hold)
                break
            except SharnirError as error:
                self.message = f"drawn {'elsewhere' if held else 'with open loops'}: {error}"
        self.start = self.q, self.t
        self.sliders = sliders_of(model, size, self.q)
        self._angles = {at: angles_of(self.q, at) for at in model.structure.quaternions.tolist()}

    @cached_property
    def follows_time(self) -> bool:
        """Whether the time alone moves a body or opens a loop: drives, a moving base, formulas of the user."""
        for later in OTHER_TIMES:
            there, then = (self.dynamics.poses(self.q, t, parameters=self._parameters) for t in (self.t, self.t + later))
            if any((a != b).any() for a, b in zip(there, then, strict=True)):
                return True
            if self._table is not None:
                gaps = [self._table.evaluate(self.q, self._still, t)["g"] for t in (self.t, self.t + later)]
                if (gaps[0] != gaps[1]).any():
                    return True
        return False

    def poses(self) -> tuple[FloatArray, FloatArray]:
        """Rotation (N, 3, 3) and position (N, 3) of every body."""
        return self.dynamics.poses(self.q, self.t, parameters=self._parameters)

    def value(self, slider: Slider) -> float:
        return float(self.q[slider.place] if slider.turn is None else self._angles[slider.place][slider.turn])

    def text(self) -> str:
        """The pose as {joint: value}: `q0` of a simulation."""
        parts = []
        for joint in self.model.joints:
            x = self.q[self.model.q_slice(joint.name)]
            if len(x):
                values = ", ".join(f"{float(v):.9g}" for v in x)
                parts.append(f"{joint.name!r}: {values if len(x) == 1 else f'({values})'}")
        return "{" + ", ".join(parts) + "}"

    # --- changes ------------------------------------------------------------------------------------------------------------
    def set(self, slider: Slider, value: float) -> None:
        """Bring a slider to a value, within its limits; or as near as loops and limits allow, which `message` says."""
        self.message = ""
        value = min(max(value, slider.low), slider.high)
        if slider.turn is not None:
            self._turn(slider, value)
            return
        if self._table is not None:
            self._accept(self._followed(slider.place, value), slider)
            return
        q, parts = self.q, self._parts(slider, abs(value - self.q[slider.place]) / self.size)
        for x in np.linspace(q[slider.place], value, parts + 1)[1:]:
            q = q.copy()
            q[slider.place] = x
            q = retract(self.model, q, self._still, self.t)
        self._accept(q, slider, value)

    def set_time(self, t: float) -> None:
        """Move drives to time t; loops follow."""
        self.message = ""
        q, begun, steps = self.q, self.t, TIME_STEPS if self._table else 1
        for k in range(1, steps + 1):
            now = begun + (t - begun) * k / steps
            try:
                q = self._closed_near(q, now)
            except SharnirError as error:
                self.message = f"at t = {now:.4g} s: {error}"
                return
            self.take(q, now)

    def take(self, q: FloatArray, t: float) -> None:
        """Adopt a closed state: the end of a simulation, a row of a result."""
        self.q, self.t, self.message = np.array(q, dtype=float), t, ""
        self._angles = {at: angles_of(self.q, at, old) for at, old in self._angles.items()}

    def reset(self) -> None:
        self.take(*self.start)

    # --- inside -------------------------------------------------------------------------------------------------------------
    def _closed_near(self, q: FloatArray, t: float) -> FloatArray:
        if self._table is None:
            return retract(self.model, q, self._still, t)
        found = Closure(self.model, self._table, t, np.ones(self.model.nv, dtype=bool)).close(q)
        return found.q if found.closed else closed_position(self.model, self._table, q, t, held_coordinates(self.model, ()))

    def _parts(self, slider: Slider, change: float) -> int:
        """Joints given by constraints are put back onto them by Newton's method, which needs small steps."""
        joint = self.model.joints[self.model.joint_index(slider.joint)]
        return max(1, math.ceil(change / SMALL)) if joint.type.projects_onto_constraints else 1

    def _followed(self, k: int, value: float) -> FloatArray:
        """The closed position with coordinate k at a value, on the branch of the present one; or the last one on the way."""
        assert self._table is not None
        everything, own = np.ones(self.model.nv, dtype=bool), own_speeds(self.model.structure)[k]
        scale = 1.0 if own >= 0 and angles(self.model.structure)[own] else self.size
        if own >= 0 and abs(value - self.q[k]) < NEAR * scale:
            free, asked = everything.copy(), self.q.copy()
            free[own], asked[k] = False, value
            found = Closure(self.model, self._table, self.t, free).close_if_defined(asked)
            if found is not None and found.closed and distance(self.model, self.q, found.q) < 5.0 * abs(value - self.q[k]) + 1e-9:
                return found.q
        drive = Drive(Closure(self.model, self._table, self.t, everything), k)
        reached = drive.towards(self.q, value)
        if not reached.there and abs(reached.value - self.q[k]) < BACK * scale:  # it stands where the coordinate turns back
            reached = self._off_the_end(drive, value, reached)
        if reached.there:
            return reached.q
        end = 0.0 if abs(reached.value) < 1e-9 * scale else reached.value
        self.message = f"{self.model.q_names[k]!r} cannot get to {value:.4g}: the loops let it go to {end:.4g}"
        if abs(reached.value - self.q[k]) < BACK * scale:
            return self.q
        before = drive.towards(self.q, reached.value - math.copysign(BACK * scale, value - self.q[k]))
        if before.there:  # at the very end no direction would lead back
            return before.q
        closed = drive.closure.close(reached.q)
        return closed.q if closed.closed else self.q

    def _off_the_end(self, drive: Drive, value: float, stuck: Reached) -> Reached:
        """Leave a dead centre along a motion that the loops allow, in the direction asked for."""
        c = drive.closure
        allowed = along(c.at(self.q)[1], np.ones(self.model.nv))
        size = float(np.linalg.norm(allowed))
        for sign in (1.0, -1.0) if size > 1e-9 else ():
            found = c.close_if_defined(retract(self.model, self.q, sign * NUDGE / size * allowed, self.t))
            if found is not None and found.closed and (found.q[drive.k] - self.q[drive.k]) * (value - self.q[drive.k]) > 0.0:
                return drive.towards(found.q, value)
        return stuck

    def _turn(self, slider: Slider, value: float) -> None:
        wanted, begun = list(self._angles[slider.place]), self.value(slider)
        q, i = self.q, slider.turn or 0
        try:
            for x in np.linspace(begun, value, self._parts(slider, abs(value - begun)) + 1)[1:]:
                wanted[i] = float(x)
                q = q.copy()
                q[slider.place : slider.place + 4] = quaternion_of(Rotation.rpy(*wanted))
                q = self._closed_near(q, self.t)
        except SharnirError as error:
            self.message = str(error)
            return
        self._accept(q, slider, value, tuple(wanted))

    def _accept(self, q: FloatArray, slider: Slider, asked: float | None = None, wanted: tuple[float, ...] | None = None) -> None:
        """Take the position unless another joint has newly passed a limit; say where the slider is not at the value asked for."""
        stays = f"{slider.name!r} stays at {self.value(slider):.4g}"
        if not np.isfinite(q).all():
            self.message = f"no position found on the way; {stays}"
            return
        passed = self._limits.beyond(q, 1e-9) & ~self._limits.beyond(self.q, 1e-9)
        if passed.any():
            joint = self.model.q_names[self._limits.coordinate[int(np.flatnonzero(passed)[0])]]
            self.message = f"{joint!r} would pass its limit; {stays}"
            return
        self.q = q
        guesses = {at: wanted if wanted is not None and at == slider.place else old for at, old in self._angles.items()}
        self._angles = {at: angles_of(q, at, old) for at, old in guesses.items()}
        if asked is not None and abs(self.value(slider) - asked) > 1e-6:
            self.message = f"{slider.name!r} cannot be {asked:.4g}: this is the nearest position that was found"
