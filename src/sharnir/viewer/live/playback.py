"""A motion that is played: its clock (play, pause, scrub, speed, loop) and its poses at any time. No browser here."""

from __future__ import annotations

import numpy as np

from ...equations.assembly.exponential import rotated
from ...model.quaternions import quaternions_of, without_jumps
from ...types import FloatArray
from ..moments import between

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)


class Playback:
    """The clock; the caller supplies wall-clock time. `t` is between `first` and `last`; `speed` is relative to real time."""

    def __init__(self, first: float, last: float) -> None:
        self.first, self.last, self.loop = min(first, last), max(first, last), True
        self.t, self.playing, self.speed = self.first, False, 1.0
        self._since: tuple[float, float] | None = None

    def set_speed(self, speed: float, now: float) -> None:
        self.tick(now)
        self.speed = speed
        self._restart(now)

    def play(self, now: float) -> None:
        """Play from the present time; at the end, from the beginning."""
        if self.t >= self.last:
            self.t = self.first
        self.playing = True
        self._restart(now)

    def pause(self, now: float) -> None:
        self.tick(now)
        self.playing = False

    def scrub(self, t: float, now: float) -> None:
        """Move to a time of the motion; playing continues from there."""
        self.t = min(max(t, self.first), self.last)
        self._restart(now)

    def tick(self, now: float) -> float:
        """Time of the motion. At the end it begins again, or stops there."""
        if self.playing and self._since is not None:
            wall, begun = self._since
            t = begun + self.speed * (now - wall)
            length = self.last - self.first
            if t > self.last and self.loop and length > 0.0:
                t = self.first + (t - self.first) % length
            elif t >= self.last:
                t, self.playing = self.last, False
            self.t = t
        return self.t

    def _restart(self, now: float) -> None:
        self._since = (now, self.t)


def matrices_of(wxyz: FloatArray) -> FloatArray:
    """(…, 3, 3) of quaternions (…, 4) of length one."""
    return np.stack([rotated(wxyz, np.broadcast_to(e, (*wxyz.shape[:-1], 3))) for e in np.eye(3)], axis=-1)


class Track:
    """The poses of all bodies of a scene over time, as quaternions whose signs do not jump."""

    def __init__(self, t: FloatArray, rotation: FloatArray, position: FloatArray) -> None:
        self.t, self.position = np.asarray(t, dtype=float), np.asarray(position, dtype=float)
        self.wxyz = without_jumps(quaternions_of(rotation), axis=0)

    def at(self, t: float) -> tuple[FloatArray, FloatArray]:
        """(N, 4), (N, 3); before the first time and after the last, those."""
        k, share = self._place(t)
        if not share:
            return self.wxyz[k], self.position[k]
        wxyz = (1.0 - share) * self.wxyz[k] + share * self.wxyz[k + 1]
        position = (1.0 - share) * self.position[k] + share * self.position[k + 1]
        return wxyz / np.linalg.norm(wxyz, axis=-1, keepdims=True), position

    def row(self, t: float) -> int:
        """The row of the scene that is nearest in time."""
        k, share = self._place(t)
        return k + round(share)

    def _place(self, t: float) -> tuple[int, float]:
        row, share = between(self.t, np.array([t]))
        return int(row[0]), float(share[0])
