"""Units of joint forces: newtons along axes that slide, newton metres about axes that turn."""

from __future__ import annotations

from ..model.model import Model


def unit_of_force(model: Model, k: int) -> str:
    """Of entry k of τ; empty where the coordinate is of no one kind."""
    for joint in model.joints:
        where = model.v_slice(joint.name)
        if where.start <= k < where.stop and not joint.follows:
            part = joint.v_names[k - where.start].rsplit(".", 1)[-1]
            if part in _NAMED:
                return _NAMED[part]
            axes = [motion for motion in joint.motions if motion.nv == 1]
            if len(axes) == joint.nv:
                axis = axes[k - where.start]
                return "N m" if axis.turn else "N" if axis.slide else ""
    return ""


_NAMED = {"vx": "N", "vy": "N", "vz": "N", "wx": "N m", "wy": "N m", "wz": "N m"}
"""Of ball and free joints."""
