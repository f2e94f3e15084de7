"""A hand that pulls a body: a spring and a damper from a point of the body to a point of the world.

Where the hand is, where it grips and how hard it pulls are parameters of a copy of the model: moving the hand compiles nothing.
Which body it grips is not: each body that is gripped is compiled once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import ModelError
from ...model.forces import SpringDamper
from ...model.model import Model
from ...trace import at_values
from ...types import FloatArray

HAND = "hand"
"""The name of the force, and of the account of its work."""
FREQUENCY = 1.0
"""Hz: at unit strength, that of the whole mechanism's mass on the spring."""
DAMPING = 0.7
"""Damping of the gripped body on the spring, in parts of the critical one."""
LEAST_SHARE = 1e-3
"""Least share of the whole mass that a gripped body counts as, so that the damper is no stiffer than necessary."""


@dataclass(frozen=True, eq=False)
class Hand:
    """A hand: the body it grips, where, and the point it pulls to."""

    body: str
    grip: FloatArray
    """(3,) in the body's axes."""
    at: FloatArray
    """(3,) in the world."""
    strength: float = 1.0
    """1 pulls the mechanism about as hard as its weight where the hand is a quarter of a metre away."""

    def moved(self, at: FloatArray) -> Hand:
        return replace(self, at=np.asarray(at, dtype=float))

    def spring(self, model: Model) -> tuple[float, float]:
        """N/m and N s/m. They follow the masses, so that the same motion of the hand moves a watch and a crane."""
        masses = [float(x) for x in at_values([b.mass for b in model.bodies], dict(model.parameters) or None)]
        whole = sum(masses)
        own = max(masses[model.body_index(self.body)], LEAST_SHARE * whole)
        k = self.strength * whole * (2.0 * math.pi * FREQUENCY) ** 2
        return k, 2.0 * DAMPING * math.sqrt(k * own)

    def parameters(self, model: Model) -> dict[str, float]:
        """Parameters of `pulled_model`; `model` is the one that is pulled."""
        k, d = self.spring(model)
        values = dict(zip(_names(model), (*self.at, *self.grip, k, d), strict=True))
        return {name: float(x) for name, x in values.items()}

    def stored(self, model: Model, grip_at: FloatArray) -> float:
        """Energy in the spring with the grip at a point of the world."""
        return 0.5 * self.spring(model)[0] * float(np.sum((self.at - grip_at) ** 2))


def pulled_model(model: Model, body: str) -> Model:
    """A copy with the hand on a body. With its default parameters it applies no force."""
    if not any(body == b.name for b in model.bodies):
        raise ModelError(f"no body {body!r} to pull")
    out = model.copy()
    symbols: list[Any] = [out.add_parameter(name, 0.0) for name in _names(model)]
    out.add_force(SpringDamper("ground", body, symbols[:3], symbols[3:6], symbols[6], symbols[7]), hand_force(model))
    return out


def hand_force(model: Model) -> str:
    """The hand's name among the forces of `pulled_model(model, …)`."""
    return _free(HAND, model.forces)


def _names(model: Model) -> list[str]:
    names = [f"hand_{x}" for x in ("x", "y", "z", "grip_x", "grip_y", "grip_z", "stiffness", "damping")]
    return [_free(name, model.parameters) for name in names]


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """A name that the model has not given away."""
    while name in taken:
        name += "_"
    return name
