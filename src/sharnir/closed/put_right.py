"""Coordinates that stand for more than they are: quaternions of length one, positions of joints given by constraints."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.model import Model
from ..trace import Number


def quaternion_places(model: Model) -> list[int]:
    """Where in q quaternions begin. None: nothing ever needs to be put right."""
    return [model.q_slice(j.name).start + k for j in model.joints if not j.follows for k in j.type.quaternions()]


def put_right(model: Model, q: Sequence[Number], t: Number) -> list[Number]:
    """Coordinates after a step, joint by joint, on numbers of any kind."""
    out = list(q)
    for joint in model.joints:
        where = model.q_slice(joint.name)
        if not joint.follows and joint.type.quaternions():
            out[where] = joint.type.put_right(out[where], t)
    return out
