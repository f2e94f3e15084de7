"""Units of coordinates, of their rates in time, and of the forces that do work on them; "" where only the user knows."""

from __future__ import annotations

POSE = {"x": "m", "y": "m", "z": "m", "qw": "1", "qx": "1", "qy": "1", "qz": "1"}
"""Of coordinates that are a position and a quaternion."""
TWIST = {"vx": "m/s", "vy": "m/s", "vz": "m/s", "wx": "rad/s", "wy": "rad/s", "wz": "rad/s"}
"""Of speeds that are a velocity and an angular velocity."""
_FORCES = {"m/s": "N", "rad/s": "N m"}


def rate_unit(unit: str) -> str:
    """Of the derivative in time: rad, rad/s, rad/s²."""
    return unit and (f"{unit}²" if unit.endswith("/s") else f"{unit}/s")


def force_unit(speed: str) -> str:
    """Of the force whose power is force · speed: N along axes that slide, N m about axes that turn."""
    return _FORCES.get(speed, "")
