"""Parts of a file that cannot move relative to each other become one body: masses add, centres of mass average, inertias are
shifted by the parallel axis theorem."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from ..model.body import GROUND
from ..model.model import Model
from ..model.pose import Pose
from ..types import FloatArray

PartKey = TypeVar("PartKey", bound=Hashable)
"""Key of a body in a file: a name in URDF, a number in MJCF."""


@dataclass(frozen=True)
class Mass:
    """Mass, centre of mass, and inertia (3×3) about it, in some frame."""

    mass: float = 0.0
    com: FloatArray = field(default_factory=lambda: np.zeros(3))
    inertia: FloatArray = field(default_factory=lambda: np.zeros((3, 3)))

    def moved(self, at: Pose) -> Mass:
        """The mass seen from a frame in which its own frame is `at`."""
        if at.is_identity:
            return self
        R = at.rotation.matrix
        inertia = R @ self.inertia @ R.T
        return Mass(self.mass, np.array(at @ self.com.tolist()), (inertia + inertia.T) / 2)


@dataclass(frozen=True)
class Carrier:
    """The body (or the ground) that a part of the file belongs to, and its pose there."""

    body: str
    at: Pose


class RigidGroups(Generic[PartKey]):
    """The carrier of every part of a file, and the masses of every body."""

    def __init__(self) -> None:
        self.carriers: dict[PartKey, Carrier] = {}
        self.masses: dict[str, list[Mass]] = {}
        self.starts: dict[str, PartKey] = {}

    def start(self, part: PartKey, body: str) -> None:
        """The part is a body of its own."""
        self.carriers[part] = Carrier(body, Pose())
        self.masses[body], self.starts[body] = [], part

    def fix_to_ground(self, part: PartKey) -> None:
        self.carriers[part] = Carrier(GROUND, Pose())

    def attach(self, part: PartKey, to: PartKey, at: Pose) -> Carrier:
        """The part is fixed to another one at a pose."""
        on = self.carriers[to]
        carrier = self.carriers[part] = Carrier(on.body, on.at @ at)
        return carrier

    def add_mass(self, part: PartKey, mass: Mass) -> None:
        """A mass in the frame of the part; the ground's have no effect."""
        carrier = self.carriers[part]
        if carrier.body != GROUND:
            self.masses[carrier.body].append(mass.moved(carrier.at))

    def add_bodies(self, model: Model, located: Callable[[PartKey], AbstractContextManager[None]], check_inertia: bool) -> None:
        """Every body with the mass of its parts; `located` gives errors the place of the part that a body started with."""
        for body, masses in self.masses.items():
            whole = composed(masses)
            with located(self.starts[body]):
                model.add_body(body, whole.mass, whole.com.tolist(), whole.inertia, check_inertia=check_inertia)


def composed(parts: Sequence[Mass]) -> Mass:
    """Masses in one frame as one; a single one is returned unchanged, to the last digit."""
    heavy = [p for p in parts if p.mass or p.inertia.any()]
    if len(heavy) < 2:
        return heavy[0] if heavy else Mass()
    total = sum(p.mass for p in heavy)
    com = sum((p.mass * p.com for p in heavy), np.zeros(3)) / total if total else np.zeros(3)
    inertia = np.zeros((3, 3))
    for p in heavy:
        d = p.com - com
        inertia += p.inertia + p.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Mass(total, com, inertia)
