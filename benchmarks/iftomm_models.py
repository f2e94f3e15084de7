"""Mechanisms of the IFToMM library of computational benchmark problems, with what is known of their motion.

Parameters are those of the library, Andrews' squeezer those of the Test Set for IVP Solvers (Mazzia, Magherini, Iavernaro).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

import sharnir as sh

GRAVITY = (0.0, -9.81, 0.0)
Look = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Problem:
    code: str
    name: str
    model: sh.Model
    duration: float
    what: str
    """What the error is of, and its unit."""
    look: Look
    """The numbers compared, from the origins (N, 3) and the rotations to the world (N, 3, 3) of all bodies."""
    published: Mapping[float, tuple[float, ...]]
    """What `look` gives at some times, by other programs."""
    known_to: float
    """How far the published numbers can be trusted."""
    q0: Mapping[str, float] = field(default_factory=dict)
    v0: Mapping[str, float] = field(default_factory=dict)
    tau: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def dynamics(self) -> sh.Dynamics:
        return sh.Dynamics(self.model, "composite")

    def seen(self, q: np.ndarray) -> np.ndarray:
        R, r = sh.matrices(self.model, q).poses
        return self.look(r, R)

    def drift(self, q: np.ndarray, v: np.ndarray) -> float:
        """Energy at a state less that at the start and what the motor gave: all motors here turn with constant torque."""
        d, m = self.dynamics, self.model
        start = np.array(m.coordinates(self.q0)), np.array(m.speeds(self.v0))
        now, then = (sum(map(float, d.energy(*x))) for x in ((q, v), start))
        return now - then - float(m.speeds(self.tau) @ (q - start[0]))


def error(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest of an array of numbers."""
    return float(np.abs(found - np.asarray(wanted)).max())


# --- the problems -----------------------------------------------------------------------------------------------------------
def pendulum() -> Problem:
    m = sh.Model("planar pendulum", gravity=GRAVITY)
    m.add_body("bob", 1.0, (-1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    m.add_joint("pin", sh.Revolute("z"), "ground", "bob")
    known = {1.0: (0.986291751132, -0.165010853126), 10.0: (-0.275087462577, -0.961419205099)}
    return Problem("A01", m.name, m, 10.0, "position, m", point(0, (-1, 0, 0), 2), known, 1e-11)


def four_bars(n: int = 2) -> Problem:
    m = sh.Model("double four-bar" if n == 2 else f"{n} four-bars", gravity=GRAVITY)
    rod = {"mass": 1.0, "com": (0.5, 0.0, 0.0), "inertia": (0.0, 1 / 12, 1 / 12)}
    tip = sh.Pose((1.0, 0.0, 0.0))
    for k in range(n + 1):
        m.add_body(f"rod{k}", **rod)
        m.add_joint(f"foot{k}", sh.Revolute("z"), "ground", f"rod{k}", at=sh.Pose((k, 0.0, 0.0)))
    for k in range(n):
        m.add_body(f"bar{k}", **rod)
        m.add_joint(f"left{k}", sh.Revolute("z"), f"rod{k}", f"bar{k}", at=tip)
        m.add_joint(f"right{k}", sh.Revolute("z"), f"bar{k}", f"rod{k + 1}", at=tip, child_at=tip)
    q0 = {f"foot{k}": np.pi / 2 for k in range(n + 1)} | {f"left{k}": -np.pi / 2 for k in range(n)}
    v0 = {f"foot{k}": -1.0 for k in range(n + 1)} | {f"left{k}": 1.0 for k in range(n)}
    known = {4.0: (0.1176161024, 0.9930591385)} if n == 2 else {}
    return Problem("A02", m.name, m, 10.0, "tip of the left rod, m", point(0, (1, 0, 0), 2), known, 1e-9, q0, v0)


def parallel_rate(n: int) -> float:
    """θ'' = rate · sin θ of n four-bars whose rods stay parallel, θ from the upright position."""
    return 9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)


def andrews() -> Problem:
    m = sh.Model("Andrews' squeezer", gravity=(0, 0, 0))
    d, da, e, ea, rr, ra = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092
    ss, sa, sb, sc, sd, ta, tb = 0.035, 0.01874, 0.01043, 0.018, 0.02, 0.02308, 0.00916
    u, ua, ub, zf, zt, fa = 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
    A, B, C = (-0.06934, -0.00227, 0.0), (-0.03635, 0.03273, 0.0), (0.014, 0.072, 0.0)
    for joint, body, carrier, at, mass, com, J in (
        ("beta", "K1", "ground", (0, 0, 0), 0.04325, (ra, 0, 0), 2.194e-6),
        ("Theta", "K2", "K1", (rr, 0, 0), 0.00365, (-da, 0, 0), 4.410e-7),
        ("gamma", "K3", "ground", B, 0.02373, (sb, -sa, 0), 5.255e-6),
        ("delta", "K5", "ground", A, 0.07050, (ta, tb, 0), 1.169e-5),
        ("Phi", "K4", "K5", (zt, 0, 0), 0.00706, (0, ea - e, 0), 5.667e-7),
        ("epsilon", "K7", "ground", A, 0.05498, (-ub, -ua, 0), 1.912e-5),
        ("Omega", "K6", "K7", (0, -u, 0), 0.00706, (zf - fa, 0, 0), 5.667e-7),
    ):
        m.add_body(body, mass, com, (J, J, J))
        m.add_joint(joint, sh.Revolute("z"), carrier, body, at=sh.Pose(at))
    for k, (body, end) in enumerate((("K3", (0, -ss, 0)), ("K4", (0, -e, 0)), ("K6", (zf, 0, 0)))):
        m.add_joint(f"E{k}", sh.Revolute("z"), "K2", body, at=sh.Pose((-d, 0, 0)), child_at=sh.Pose(end), cut=True)
    m.add_force(sh.SpringDamper("ground", "K3", at_a=C, at_b=(sd, -sc, 0), stiffness=4530.0, length=0.07785))
    Phi = 0.222668390165885885
    q0 = {"beta": -0.0617138900142764496, "gamma": 0.455279819163070380, "Phi": Phi, "delta": 0.487364979543842550}
    q0 |= {"Omega": -Phi, "epsilon": 1.230547444549821192}
    beta, Theta, gamma, Phi, delta, Omega, epsilon = (
        15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
        0.5347301163226948, 1.048080741042263,
    )  # fmt: skip
    end = np.array([beta, beta + Theta, gamma, delta, delta + Phi, epsilon, epsilon + Omega])
    known = {0.03: tuple(np.concatenate([np.cos(end), np.sin(end)]))}
    what = "cosine and sine of the angle of every body"
    return Problem("A03", m.name, m, 0.03, what, directions, known, 2e-9, q0, tau={"beta": 0.033})


def bricard() -> Problem:
    m = sh.Model("Bricard's mechanism", gravity=GRAVITY)
    P = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    for k, axis in enumerate("yzxyz"):
        u = P[k + 1] - P[k]
        across, along = (1.0 + 0.1**2) / 12, 0.1**2 / 6
        m.add_body(f"rod{k + 1}", 1.0, u / 2, across * (np.eye(3) - np.outer(u, u)) + along * np.outer(u, u))
        at = sh.Pose(P[k] - P[k - 1]) if k else sh.Pose(P[0])
        m.add_joint(f"joint{k + 1}", sh.Revolute(axis), f"rod{k}" if k else "ground", f"rod{k + 1}", at=at)
    m.add_joint("joint6", sh.Revolute("x"), "ground", "rod5", at=sh.Pose(P[5]), child_at=sh.Pose(P[5] - P[4]), cut=True)
    # 9 s, not the library's 10: it is back where it started then, almost at rest, and an error of phase would not be seen
    known = {1.0: (0.274481319, -0.886707939, -0.462330003), 2.5: (-0.999983185, -1.000000000, -0.000016815)}
    return Problem("A04", m.name, m, 9.0, "point P3, m", point(2, (0, 0, 0), 3), known, 2e-9)


def problems() -> list[Problem]:
    return [pendulum(), four_bars(), andrews(), bricard()]


# --- what is looked at ------------------------------------------------------------------------------------------------------
def point(body: int, place: tuple[float, ...], axes: int) -> Look:
    """A point of a body in the world."""

    def look(r: np.ndarray, R: np.ndarray) -> np.ndarray:
        return (r[body] + R[body] @ np.array(place, float))[:axes]

    return look


def directions(r: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Where the x axis of every body points, in the plane."""
    return np.concatenate([R[:, 0, 0], R[:, 1, 0]])
