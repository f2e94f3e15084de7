"""Quaternions among coordinates: where they are, and back to length one."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.model import Model
from ..trace import Number
from ..trace.functions import sqrt


def quaternion_places(model: Model) -> list[int]:
    """Where in q quaternions begin."""
    return [model.q_slice(j.name).start + k for j in model.joints if not j.follows for k in j.type.quaternions()]


def normalised(q: Sequence[Number], places: Sequence[int]) -> list[Number]:
    """Coordinates with quaternions of length one."""
    out = list(q)
    for at in places:
        scale = 1.0 / sqrt(sum((x * x for x in q[at : at + 4]), 0.0))
        out[at : at + 4] = [x * scale for x in q[at : at + 4]]
    return out
