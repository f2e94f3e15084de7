"""What many tests need: random states, closeness relative to size, derivatives to ten digits, the forest of models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import sharnir as sh
from sharnir.forms import FORMS
from sharnir.forms.solution import Solution

EPS = np.finfo(float).eps
FOREST = 200


@dataclass(frozen=True)
class State:
    """A state with everything that acts on the mechanism."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    t: float
    wrenches: np.ndarray

    @property
    def motion(self) -> tuple[np.ndarray, np.ndarray, float]:
        return self.q, self.v, self.t


def random_state(model: sh.Model, seed: int = 0) -> State:
    rng = np.random.default_rng((seed, 7))
    q, v, tau = model.random_q(rng), rng.normal(size=model.nv), 3.0 * rng.normal(size=model.nv)
    return State(q, v, tau, float(rng.uniform(0.1, 1.5)), 2.0 * rng.normal(size=(len(model.bodies), 6)))


def matrices(model: sh.Model, s: State, **options: Any) -> sh.Matrices:
    return sh.matrices(model, s.q, s.v, s.t, s.wrenches, **options)


def oracle(model: sh.Model, s: State) -> tuple[sh.Matrices, Solution]:
    """The papers' matrices and the solution of the extended system."""
    m = matrices(model, s)
    return m, FORMS["extended"](m, s.tau)


def interpreted(model: sh.Model, method: str = "separate") -> sh.Dynamics:
    """The kernels as they are written: nothing to compile for a model that is used once."""
    return sh.Dynamics(model, method, backend="python")


def random_pose(rng: np.random.Generator) -> sh.Pose:
    return sh.Pose(rng.uniform(-0.5, 0.5, 3).tolist(), sh.Rotation.quaternion(*rng.normal(size=4).tolist()))


def random_axis(rng: np.random.Generator) -> tuple[float, ...]:
    x = rng.normal(size=3)
    return tuple((x / np.linalg.norm(x)).tolist())


def random_mass(rng: np.random.Generator) -> dict[str, Any]:
    """Mass, centre of mass and inertia of a cloud of points: what some body can have."""
    points, masses = rng.uniform(-0.3, 0.3, (6, 3)), rng.uniform(0.1, 1.0, 6)
    com = masses @ points / masses.sum()
    arms = points - com
    inertia = np.einsum("p,pi,pi->", masses, arms, arms) * np.eye(3) - np.einsum("p,pi,pj->ij", masses, arms, arms)
    return {"mass": masses.sum(), "com": com, "inertia": inertia}


@cache
def forest(k: int) -> sh.Model:
    """Model k of the 200: bushes with every joint type, and random trees from chains to stars."""
    if k % 2 == 0:
        return sh.samples.all_joints(seed=k, driven=k % 8 != 6, moving_base=k % 8 != 4)
    return sh.samples.tree(1 + k % 17, branching=(1.0, 1.5, 2.0, 4.0)[k // 2 % 4], seed=k)


def error(actual: Any, expected: Any, scale: float = 0.0) -> float:
    """The largest difference, relative to the largest expected value (or to `scale` where that is larger)."""
    kind = complex if np.iscomplexobj(actual) or np.iscomplexobj(expected) else float
    actual, expected = np.asarray(actual, dtype=kind), np.asarray(expected, dtype=kind)
    assert actual.shape == expected.shape, f"shapes differ: {actual.shape} and {expected.shape}"
    if not expected.size:
        return 0.0
    size = max(np.abs(expected).max(), scale)
    return float(np.abs(actual - expected).max() / (size or 1.0))


def assert_close(actual: Any, expected: Any, tolerance: float = 1e-10, scale: float = 0.0, what: str = "") -> None:
    e = error(actual, expected, scale)
    assert e <= tolerance, f"{what}: relative difference {e:.3g} > {tolerance:.3g}"


def derivative(f: Callable[[float], Any], h: float = 0.02) -> np.ndarray:
    """f'(0) by central differences, extrapolated twice (Richardson): the error is of order h⁶."""
    d = [(np.asarray(f(s)) - np.asarray(f(-s))) / (2 * s) for s in (h, h / 2, h / 4)]
    first = [(4 * d[1] - d[0]) / 3, (4 * d[2] - d[1]) / 3]
    return (16 * first[1] - first[0]) / 15


def along(s: State, rates: np.ndarray, acceleration: np.ndarray) -> Callable[[float], tuple[np.ndarray, np.ndarray, float]]:
    """The straight line (q, v, t) through a state in the direction of the motion: d/dt of any function of state."""
    return lambda x: (s.q + x * rates, s.v + x * acceleration, s.t + x)
