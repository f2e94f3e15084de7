"""Rigid parts joined into one body: masses add, centres of mass average, inertias shift by Huygens and Steiner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..model.pose import Pose


@dataclass(frozen=True)
class Mass:
    """Mass, centre of mass, and inertia (3×3) about it, in some frame."""

    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    def moved(self, at: Pose) -> Mass:
        """The same, seen from the frame in which its own frame stands `at`."""
        if at.is_identity:
            return self
        R = at.rotation.matrix
        inertia = R @ self.inertia @ R.T
        return Mass(self.mass, np.array(at @ self.com.tolist()), (inertia + inertia.T) / 2)


def composed(parts: Sequence[Mass]) -> Mass:
    """Parts given in one frame, as one; a single part keeps its digits."""
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
