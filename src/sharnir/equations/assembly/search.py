"""The closed position nearest to a guess, what is held staying as it is; or an error that says what is possible.

From the guess itself; then by driving what is held from a position that closes to the values asked for; then from other starts,
near ones first, the same ones every time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...errors import AssemblyError
from ...kernels.joint_stage import TURN
from ...model.model import Model
from ...model.pose import Pose, Rotation
from ..motion.retraction import retract
from ..rows.constraint_table import ConstraintTable
from .continuation import Drive, distance, turned_alike
from .fixed_coordinates import Held, angles, own_speeds, stiff_first
from .loop_closure import TOLERANCE, Closure, not_closed

RINGS = ((0.05, 2), (0.3, 4), (1.0, 6), (math.pi, 8))
"""Distances of other starts, rad, and how many of each; all of a ring are tried, and the nearest solution is taken."""
HELD = 1e-9
"""Distance by which a joint that is held as a whole may be off its own constraints, relative to its coordinates."""
FAR = 1.0
"""Distance of another branch: held coordinates are driven to their values from so far away too, and where a position is found
there, the other side of the guess is tried."""
OTHER_SIDE = (0.5,)
"""Starts there, in parts of the way from the guess to the position found."""
UNWOUND = 1e-9
"""Distance a position may move when it is closed again after whole turns."""


def closed_position(model: Model, table: ConstraintTable, guess: np.ndarray, t: float, held: Held) -> np.ndarray:
    """The nearest closed position that is found; with flexible bodies as they are deformed, where there is such a one."""
    return stiff_first(model, held, lambda held: _Search(model, table, guess, t, held).found())


class _Search:
    def __init__(self, model: Model, table: ConstraintTable, guess: np.ndarray, t: float, held: Held) -> None:
        self.model, self.table, self.t, self.held = model, table, t, held
        self.guess = retract(model, guess, np.zeros(model.nv), t)
        self.asked = guess
        self.closure = Closure(model, table, t, ~held.speeds, held.rows, guess[list(held.rows)])
        own = own_speeds(model.structure)
        driven = [own[k] for k in held.coordinates if own[k] >= 0]
        loose = ~held.speeds
        loose[driven] = True
        self.loose = Closure(model, table, t, loose)
        self.ranges = list[tuple[int, tuple[int, ...], float, float]]()

    def found(self) -> np.ndarray:
        self._check_held()
        kept = list(self.held.coordinates)
        least = first = self.closure.close(self.guess)
        if first.closed:
            return self._checked(self._nearer(self._unwound(first.q)))
        if (q := self._driven(self.guess)) is not None:
            return self._checked(q)
        for radius, ring in self._rings():
            starts = np.array(ring)
            starts[:, kept] = self.asked[kept]
            tried = [self.closure.close_if_defined(start) for start in starts]
            ends = [end for end in tried if end is not None]
            closed = [self._unwound(end.q) for end in ends if end.closed]
            if not closed and radius >= FAR and (q := self._driven(ring[-1])) is not None:
                closed.append(self._unwound(q))
            if closed:
                return self._checked(min(closed, key=self._distance))
            least = min([least, *ends], key=lambda end: (bool(end.turned), float(np.abs(end.g).max(initial=0.0))))
        if not self.ranges:
            raise not_closed(self.model, self.table, least)
        remedy = f"{self._possible()}; give values within reach, or leave more joints free"
        raise not_closed(self.model, self.table, least, remedy)

    def _nearer(self, q: np.ndarray) -> np.ndarray:
        """The nearer of a closed position that is far from the guess and the one on the other side of the guess."""
        if self._distance(q) < FAR:
            return q
        for share in OTHER_SIDE:
            found = self.closure.closed(other_side(self.model, q, self.guess, self.asked, self.held, share))
            if found is not None:
                q = min(q, self._unwound(found), key=self._distance)
        return q

    def _check_held(self) -> None:
        """Refuse joints held as a whole that are off their own constraints."""
        whole = list(self.held.whole)
        off = np.abs(turned_alike(self.model, self.asked, self.guess) - self.guess)[whole]
        if off.size and off.max() > HELD * max(1.0, float(np.abs(self.asked[whole]).max())):
            k = whole[int(off.argmax())]
            raise AssemblyError(
                f"the mechanism cannot be assembled: {self.model.q_names[k]!r} = {self.asked[k]:.6g} is no position of its "
                f"joint, which is off its constraints by {off.max():.3g} there; give one that is, or leave the joint free"
            )

    def _distance(self, q: np.ndarray) -> float:
        return float(distance(self.model, self.guess, q))

    def _rings(self) -> Iterator[tuple[float, list[np.ndarray]]]:
        """Other starts around the guess: random motions, the same every time."""
        rng = np.random.default_rng(2026)
        g, J = self.loose.at(self.guess)
        arms = abs(J[:, np.flatnonzero(angles(self.model.structure))]) if len(g) else np.zeros((0, 0))
        metres = max(float(np.abs(g).max(initial=0.0)), float(arms.max()) if 0 not in arms.shape else 0.0) or 1.0
        scale = np.where(angles(self.model.structure), 1.0, metres) * self.loose.free
        for radius, count in RINGS:
            motions = radius * scale * rng.uniform(-1.0, 1.0, (count, self.model.nv))
            yield radius, [retract(self.model, self.guess, motion, self.t) for motion in motions]

    # --- driving what is held to its values ---------------------------------------------------------------------------------
    def _driven(self, start: np.ndarray) -> np.ndarray | None:
        """The search from the position that closes with only whole joints of quaternions held."""
        if not self.held.coordinates:
            return None
        found = self.loose.closed(start)
        return None if found is None else self._to_values(self._unwound(found))

    def _to_values(self, q: np.ndarray) -> np.ndarray | None:
        """One held coordinate after the other. Where one does not get there, its range is remembered."""
        free, rows, own = self.loose.free.copy(), list[int](), own_speeds(self.model.structure)
        for n, k in enumerate(self.held.coordinates):
            closure = Closure(self.model, self.table, self.t, free.copy(), list(rows), self.asked[rows])
            drive = Drive(closure, k)
            reached = drive.towards(q, float(self.asked[k]))
            if not reached.there:
                self.ranges.append((k, self.held.coordinates[:n], *drive.range_beyond(q, reached)))
                return None
            q = reached.q
            if own[k] >= 0:
                free[own[k]] = False
            else:
                rows.append(k)
        return q

    # --- the end ------------------------------------------------------------------------------------------------------------
    def _unwound(self, q: np.ndarray) -> np.ndarray:
        """Angles brought within half a turn of the guess, where the mechanism is the same after a whole turn."""
        out = unwound_rows(self.model, q, self.guess, self.held)
        if (out == q).all():
            return q
        found = self.closure.close(out, 3)
        return found.q if found.closed and distance(self.model, out, found.q) < UNWOUND else q

    def _checked(self, q: np.ndarray) -> np.ndarray:
        """The position with held coordinates exact to the last digit, everything checked."""
        rows = list(self.held.rows)
        if rows:
            q = np.array(q)
            q[rows] = self.asked[rows]
        check_joints(self.model, q, self.t)
        return q

    def _possible(self) -> str:
        """A sentence: the range of the held coordinate that did not get where it should."""
        k, before = self.ranges[0][:2]
        names, asked, own = self.model.q_names, float(self.asked[k]), own_speeds(self.model.structure)[k]
        ranges = [(low, high) for i, others, low, high in self.ranges if (i, others) == (k, before)]
        unit = "" if own < 0 else " rad" if angles(self.model.structure)[own] else " m"
        turned = self.guess + 2.0 * math.pi * (np.arange(len(self.guess)) == k)
        there, once_more = (self.loose.at(q)[0] for q in (self.guess, turned))
        if unit == " rad" and np.allclose(there, once_more, rtol=0.0, atol=1e-9):  # a whole turn changes nothing
            turns = [2.0 * math.pi * n for low, high in ranges for n in (round((asked - 0.5 * (low + high)) / (2.0 * math.pi)),)]
            ranges = [(low + turn, high + turn) for (low, high), turn in zip(ranges, turns, strict=True)]
        shown = " or ".join(_interval(low, high, unit) for low, high in merged(ranges))
        held = ", ".join(f"{names[i]} = {self.asked[i]:.6g}" for i in before)
        return f"{f'with {held} ' if held else ''}{names[k]!r} can be {shown}, not {asked:.6g}"


def other_side(model: Model, q: np.ndarray, guess: np.ndarray, asked: np.ndarray, held: Held, share: float) -> np.ndarray:
    """Starts (…, nq) on the other side of the guess than the positions q, with held coordinates as they were asked for."""
    out, kept = guess - share * np.where(own_speeds(model.structure) >= 0, q - guess, 0.0), list(held.coordinates)
    out[..., kept] = asked[..., kept]
    return out


def unwound_rows(model: Model, q: np.ndarray, guess: np.ndarray, held: Held) -> np.ndarray:
    """Positions (…, nq) with all angles but those held within half a turn of the guess."""
    j = model.structure.joints
    turns = (j.kind == TURN) & (j.coordinates > 0)
    at, out, kept = j.q_at[turns], np.array(q), list(held.coordinates)
    whole = 2.0 * math.pi / np.abs(np.asarray(j.turn[turns], dtype=float))
    out[..., at] -= whole * np.round((out[..., at] - guess[..., at]) / whole)
    out[..., kept] = q[..., kept]
    return out


def merged(ranges: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Ranges in order, those that overlap as one."""
    out = list[tuple[float, float]]()
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1e-6 * max(1.0, abs(low)):
            out[-1] = (out[-1][0], max(high, out[-1][1]))
        else:
            out.append((low, high))
    return out


def _interval(low: float, high: float, unit: str) -> str:
    if math.isinf(low) and math.isinf(high):
        return "anything"
    if math.isinf(low) or math.isinf(high):
        return f"at most {high:.6g}{unit}" if math.isinf(low) else f"at least {low:.6g}{unit}"
    if high - low < 1e-6 * max(1.0, abs(low)):
        return f"{0.5 * (low + high):.6g}{unit}"
    return f"between {low:.6g} and {high:.6g}{unit}"


def check_joints(model: Model, q: np.ndarray, t: float) -> None:
    """Refuse quaternions and joints given by constraints that are off their constraints, which retractions should prevent."""
    s = model.structure
    for at in s.quaternions.tolist():
        off = abs(float(np.linalg.norm(q[at : at + 4])) - 1.0)
        if off > TOLERANCE:
            name = model.q_names[at]
            raise AssemblyError(f"the quaternion that begins with {name!r} has a length that is off by {off:.3g}")
    own = np.array([joint.projects_onto_constraints for joint in s.types], dtype=bool)
    for i in np.flatnonzero(own[s.type_of]).tolist() if own.any() else ():
        placed = s.placed[i]
        if placed.nq:
            part = q[int(s.q_first[i + 1]) : int(s.q_first[i + 2])].tolist()
            pose = Pose(part[:3], Rotation.quaternion(*part[3:]))
            for what, x in placed.type.closing_rows(pose, t, f"joint {placed.name!r}"):
                if not abs(x) <= 1e-9 * max(1.0, float(np.abs(part).max())):
                    raise AssemblyError(
                        f"joint {placed.name!r}: {what} of its own is violated by {abs(x):.3g}; give coordinates nearer to a "
                        "pose it allows, or leave it free"
                    )
