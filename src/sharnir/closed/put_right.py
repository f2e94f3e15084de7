"""Coordinates that stand for more than they are: quaternions of length one, positions of joints given by constraints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.model import Model
from ..trace import Number


def quaternion_places(model: Model) -> list[int]:
    """Where in q quaternions begin. None: nothing ever needs to be put right."""
    return model.structure.quaternions.tolist()


def put_right(model: Model, q: Sequence[Number], t: Number) -> list[Number]:
    """Coordinates after a step, joint by joint, on numbers of any kind."""
    s, out = model.structure, list(q)
    with_quaternions = np.array([bool(joint.quaternions()) for joint in s.types])
    for i in np.flatnonzero(with_quaternions[s.type_of]).tolist():
        where = slice(int(s.q_first[i + 1]), int(s.q_first[i + 2]))
        out[where] = s.placed[i].type.put_right(out[where], t)
    return out


def normalised(model: Model, q: np.ndarray) -> np.ndarray:
    """States (…, nq) with quaternions of length one."""
    places = model.structure.quaternions[:, None] + np.arange(4)
    if not places.size:
        return q
    out = q.copy()
    out[..., places] /= np.linalg.norm(out[..., places], axis=-1, keepdims=True)
    return out
