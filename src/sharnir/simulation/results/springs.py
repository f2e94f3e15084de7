"""Springs between two points over time: length, and tension with its sign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...model.forces import SpringDamper
from ...model.pose import Pose
from ...types import FloatArray

if TYPE_CHECKING:
    from .named_motion import NamedMotion


def spring_length(r: NamedMotion, spring: SpringDamper) -> FloatArray:
    """(T,): the distance of its points."""
    length: FloatArray = np.linalg.norm(_way(r, spring), axis=-1)
    return length


def spring_tension(r: NamedMotion, name: str, spring: SpringDamper) -> FloatArray:
    """(T,): positive where it pulls its points together."""
    body, toward = (spring.b, -1.0) if spring.b != "ground" else (spring.a, 1.0)
    force = np.einsum("...ij,...j->...i", r.body_frame(body)[0], r.force(name)[body][..., :3])
    way, length = _way(r, spring), spring_length(r, spring)
    tension: FloatArray = toward * (force * way).sum(axis=-1) / np.where(length > 0.0, length, 1.0)
    return tension


def _way(r: NamedMotion, spring: SpringDamper) -> FloatArray:
    """(T, 3): from one of its points to the other, in the world."""
    a, b = (r.place((body, Pose(at)))[1] for body, at in ((spring.a, spring.at_a), (spring.b, spring.at_b)))
    way: FloatArray = b - a
    return way
