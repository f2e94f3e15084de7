"""Units of joint forces: newtons along axes that slide, newton metres about axes that turn."""

from __future__ import annotations

from ..model.model import Model

_FORCES = {"m/s": "N", "rad/s": "N m"}
"""By the speed whose product with the force is a power."""


def unit_of_force(model: Model, k: int) -> str:
    """Unit of entry k of τ; empty where it has no single unit."""
    for joint in model.joints:
        where = model.v_slice(joint.name)
        if where.start <= k < where.stop and not joint.follows:
            free = [unit for run in joint.type.segments(joint.name) if run.is_free for unit in run.v_units]
            return _FORCES.get(free[k - where.start], "")
    return ""
