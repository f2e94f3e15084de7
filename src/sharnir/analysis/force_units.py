"""Units of joint forces: newtons along axes that slide, newton metres about axes that turn."""

from __future__ import annotations

from ..model.joints.units import force_unit
from ..model.model import Model


def unit_of_force(model: Model, k: int) -> str:
    """Of entry k of τ; empty where the coordinate is of no one kind."""
    for joint in model.joints:
        where = model.v_slice(joint.name)
        if where.start <= k < where.stop and not joint.follows:
            return force_unit(joint.type.speed_units()[joint.v_names[k - where.start]])
    return ""
