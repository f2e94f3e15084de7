"""The clock of a motion that is played: play, pause, scrub, speed, loop. The caller supplies wall-clock time."""

from __future__ import annotations

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)


class Playback:
    """`t` is between `first` and `last`."""

    def __init__(self, first: float, last: float, loop: bool = True) -> None:
        self.first, self.last, self.loop = min(first, last), max(first, last), loop
        self.t, self.playing, self._speed = self.first, False, 1.0
        self._since: tuple[float, float] | None = None

    @property
    def speed(self) -> float:
        """Seconds of the motion per second."""
        return self._speed

    def set_speed(self, speed: float, now: float) -> None:
        self.tick(now)
        self._speed = speed
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
            t = begun + self._speed * (now - wall)
            length = self.last - self.first
            if t > self.last and self.loop and length > 0.0:
                t = self.first + (t - self.first) % length
            elif t >= self.last:
                t, self.playing = self.last, False
            self.t = t
        return self.t

    def _restart(self, now: float) -> None:
        self._since = (now, self.t)
