"""The coordinates of a joint in runs that move together: each run free, or moved by a law of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...trace import Expression, Graph, call_traced, check_numbers, tangent

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
