"""Arms to identify, and measurements of them."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

import sharnir as sh
from states import random_mass

PUMA = [
    (0.0, 0.0, 0.0),
    (-pi / 2, 0.0, 0.2435),
    (0.0, 0.4318, -0.0934),
    (-pi / 2, -0.0203, 0.4331),
    (pi / 2, 0.0, 0.0),
    (-pi / 2, 0.0, 0.0),
]
"""Craig's angles, lengths and offsets: twist about x and shift along it, then shift along z."""
INERTIAL = ["*.armature", "*.damping", "*.friction"]
"""Fixed where mass properties alone count."""


def arm(rows: list[tuple[float, float, float]], seed: int | None = None, **options: Any) -> sh.Model:
    """Revolute axes along z of frames by modified Denavit–Hartenberg numbers; random masses, or equal ones without a seed."""
    model = sh.Model("arm", options.pop("gravity", (0.0, 0.0, -9.81)))
    rng = np.random.default_rng(seed)
    carrier = "ground"
    for k, (twist, length, offset) in enumerate(rows, start=1):
        same = {"mass": 2.0, "com": (0.05, 0.02, 0.03), "inertia": (0.05, 0.06, 0.07)}
        model.add_body(f"link{k}", **(same if seed is None else random_mass(rng)))
        at = sh.Pose((length, 0.0, 0.0), sh.Rotation.about("x", twist)) @ sh.Pose((0.0, 0.0, offset))
        model.add_joint(f"joint{k}", sh.Revolute("z", **options), carrier, f"link{k}", at=at)
        carrier = f"link{k}"
    return model


def measured(model: sh.Model, samples: int, seed: int = 0, noise: float = 0.0, backend: str = "loops") -> dict[str, np.ndarray]:
    """Random states, and the joint forces they need; `noise` relative to the mean square of each."""
    rng = np.random.default_rng(seed)
    q = np.array([model.random_q(rng) for _ in range(samples)])
    v, a = rng.normal(size=(2, samples, model.nv))
    tau = sh.Dynamics(model, "composite", backend=backend).inverse(q, v, 3.0 * a)
    return {"q": q, "v": v, "a": 3.0 * a, "tau": tau + noise * np.sqrt((tau**2).mean(axis=0)) * rng.normal(size=tau.shape)}
