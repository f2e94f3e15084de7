"""Rotations as roll, pitch and yaw."""

from __future__ import annotations

from math import atan2, cos, sin

from ..model.pose import Rotation


def roll_pitch_yaw(rotation: Rotation) -> tuple[float, float, float]:
    """Angles of `Rotation.rpy`. Roll is computed after undoing the yaw, which loses no digits near pitch = ±90°."""
    r00, r01, r02, r10, r11, r12, r20, _, _ = (float(x) for x in rotation.entries)
    yaw = atan2(r10, r00)
    c, s = cos(yaw), sin(yaw)
    return atan2(s * r02 - c * r12, c * r11 - s * r01), atan2(-r20, c * r00 + s * r10), yaw
