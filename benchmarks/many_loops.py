"""Mechanisms of many loops, and what every method loses on them: accelerations against the extended system.

A scissor bends like a beam: its loops hold one another in one soft mode. docs/theory/conditioning.md
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np

import sharnir as sh
from sharnir.errors import AccuracyWarning

Start = tuple[sh.Model, np.ndarray, np.ndarray]
"""A model, with coordinates and speeds that meet its constraints."""
MOST_BODIES = {"separate": 400, "composite": 60, "lagrange1": 100, "maggi": 100}
"""Methods, and the bodies beyond which they are not measured."""
LARGEST = 130
"""Bodies that the extended system is solved for."""
HEAD = ["mechanism", "bodies", *MOST_BODIES]
NOTE = (
    f"Errors relative to the largest acceleration; of more than {LARGEST} bodies against `maggi`, which has an error of its own."
)


def scissor(
    n: int, length: float = 0.1, mass: float = 0.1, inertia: float = 1e-3, angle: float = 0.5 * math.pi, uneven: float = 1.0
) -> Start:
    """n crosses of two bars, hinged in their middles and at their ends; the first bar H0 is welded to the ground, a moment of
    1 N m turns V0: one freedom. Bars keep the direction of H0 or V0: the centre of cross k is at k·length·(h + v).
    Every third cross has `uneven` times the mass."""
    m = sh.Model(f"scissor of {n}", gravity=(0.0, -9.81, 0.0))
    q0 = {"V0": angle}
    for k in range(n):
        for bar in "HV":
            m.add_body(f"{bar}{k}", mass * (uneven if k % 3 == 2 else 1.0), (0.0, 0.0, 0.0), (inertia,) * 3)
    m.add_joint("H0", sh.Weld(), "ground", "H0")
    m.add_joint("V0", sh.Revolute("z"), "ground", "V0")
    tip, end = sh.Pose((length, 0.0, 0.0)), sh.Pose((-length, 0.0, 0.0))
    for k in range(1, n):
        m.add_joint(f"hv{k}", sh.Revolute("z"), f"H{k}", f"V{k}", cut=True)
        m.add_joint(f"h{k}", sh.Revolute("z"), f"V{k - 1}", f"H{k}", at=tip, child_at=end)
        m.add_joint(f"v{k}", sh.Revolute("z"), f"H{k - 1}", f"V{k}", at=tip, child_at=end)
        q0 |= {f"h{k}": -angle, f"v{k}": angle}
    m.add_force(lambda on: on.torque("V0", 1.0))
    return m, *m.assemble(q0, fixed=["V0"])


def scissor_acceleration(
    n: int, angle: float, length: float = 0.1, mass: float = 0.1, inertia: float = 1e-3, uneven: float = 1.0
) -> float:
    """Of V0: the centres move on circles of radius k·length, V bars turn, H bars do not; the inertia is the same everywhere."""
    centres = [2.0 * mass * length * (uneven if k % 3 == 2 else 1.0) for k in range(n)]
    turned = length * sum(x * k * k for k, x in enumerate(centres)) + inertia * n
    return (1.0 - 9.81 * math.cos(angle) * sum(x * k for k, x in enumerate(centres))) / turned


class Placed:
    """A model whose bodies are given where they are, so that the coordinates zero are closed."""

    def __init__(self, name: str, gravity: Sequence[float]) -> None:
        self.model, self.places = sh.Model(name, gravity=tuple(gravity)), {"ground": (np.zeros(3), np.eye(3))}

    def bar(self, name: str, a: np.ndarray, b: np.ndarray) -> None:
        """From a to b, along its x axis."""
        along = (b - a) / (length := float(np.linalg.norm(b - a)))
        across = np.cross((0.0, 0.0, 1.0) if abs(along[2]) < 0.9 else (0.0, 1.0, 0.0), along)
        across /= np.linalg.norm(across)
        self.places[name] = a, np.array([along, across, np.cross(along, across)]).T
        slender = length * length / 12.0
        self.model.add_body(name, mass=1.0, com=(0.5 * length, 0.0, 0.0), inertia=(1e-3, slender, slender))

    def plate(self, name: str, at: np.ndarray) -> None:
        self.places[name] = at, np.eye(3)
        self.model.add_body(name, mass=1.0, inertia=(0.08, 0.08, 0.16))

    def join(self, joint: sh.Joint, a: str, b: str, at: np.ndarray) -> None:
        (p, P), (q, Q) = self.places[a], self.places[b]
        turn = sh.Rotation(P.T @ Q)
        where = sh.Pose(tuple(P.T @ (at - p)), turn), sh.Pose(tuple(Q.T @ (at - q)))
        self.model.add_joint(f"{a} {b}", joint, a, b, at=where[0], child_at=where[1])

    def start(self) -> Start:
        """The speeds nearest to some that are the same every time."""
        rng = np.random.default_rng(1)
        return self.model, *self.model.assemble(None, rng.normal(size=self.model.nv))


def ladder(n: int) -> Start:
    """Two rails of n links with n rungs between them, bent: every rung closes a loop of its own."""
    placed, at = Placed(f"ladder of {n}", (0.0, -9.81, 0.0)), np.zeros(3)
    wide, below = np.array([1.0, 0.0, 0.0]), ("ground", "ground")
    for k in range(n):
        bend = 1.2 + 0.4 * math.sin(k)
        up = at + np.array([math.cos(bend), math.sin(bend), 0.0])
        names = f"left{k}", f"right{k}", f"rung{k}"
        for name, a, b in zip(names, (at, at + wide, up), (up, up + wide, up + wide), strict=True):
            placed.bar(name, a, b)
        placed.join(sh.Revolute("z"), below[0], names[0], at)
        placed.join(sh.Revolute("z"), below[1], names[1], at + wide)
        placed.join(sh.Revolute("z"), names[0], names[2], up)
        placed.join(sh.Revolute("z"), names[2], names[1], up + wide)
        at, below = up, (names[0], names[1])
    return placed.start()


def four_bars(n: int) -> Start:
    """n four-bars side by side, in motion."""
    m, start = sh.samples.n_four_bar(n, thin=False), sh.samples.n_four_bar_start(n, 1.1)
    return m, m.coordinates(start["q0"]), m.speeds(start["v0"])


def chain(n: int) -> Start:
    m = sh.samples.closed_chain(n)
    return m, *m.assemble(None, np.random.default_rng(1).normal(size=m.nv))


def mast(n: int) -> Start:
    """A truss in space of n storeys, each of three bars upright, three across and three aslant, with ball joints at its nodes;
    hinged to the ground at two of them."""
    placed = Placed(f"mast of {n}", (0.0, -9.81, 0.0))
    nodes = {(k, j): np.array([math.cos(2.1 * j), math.sin(2.1 * j), float(k)]) for k in range(n + 1) for j in range(3)}
    bars = [((k, j), (k, (j + 1) % 3)) for k in range(n + 1) for j in range(3) if k or j]
    bars += [((k, j), (k + 1, (j + d) % 3)) for k in range(n) for j in range(3) for d in (0, 1)]
    at: dict[tuple[int, int], str] = {(0, 0): "ground", (0, 1): "ground"}
    for i, ends in enumerate(sorted(bars)):
        placed.bar(f"bar{i}", *(nodes[end] for end in ends))
        for end in ends:
            if end in at:
                placed.join(sh.Ball(), at[end], f"bar{i}", nodes[end])
            else:
                at[end] = f"bar{i}"
    return placed.start()


def mail(n: int) -> Start:
    """Chain mail: n × n plates, each joined to its neighbours by balls, hanging on two corners. Flat it would be singular."""
    placed = Placed(f"mail of {n} × {n}", (0.0, 0.0, -9.81))
    places = {(i, j): np.array([i, j, -0.1 * i * i - 0.15 * j * j + 0.05 * i * j]) for i in range(n) for j in range(n)}
    for (i, j), at in places.items():
        placed.plate(f"{i},{j}", at)
    for j in (0, n - 1):
        placed.join(sh.Ball(), "ground", f"0,{j}", places[0, j])
    for (i, j), at in places.items():
        for near in ((i + 1, j), (i, j + 1)):
            if near in places:
                placed.join(sh.Ball(), f"{i},{j}", "{},{}".format(*near), 0.5 * (at + places[near]))
    return placed.start()


FAMILIES: dict[str, tuple[Callable[[int], Start], tuple[int, ...]]] = {
    "scissor": (scissor, (5, 10, 20, 30, 40, 60, 100, 200)),
    "ladder": (ladder, (5, 20, 60, 130)),
    "row of four-bars": (four_bars, (5, 20, 60, 130)),
    "closed chain": (chain, (5, 20, 60, 200)),
    "truss in space": (mast, (1, 2, 4, 12)),
    "chain mail": (mail, (3, 4, 6, 10)),
}
"""Mechanisms, and their sizes."""


def error(start: Start, method: str, right: np.ndarray, backend: str = "auto") -> float:
    """Of accelerations, relative to the largest."""
    m, q, v = start
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        found = sh.Dynamics(m, method, backend).forward(q, v)
    return float(np.abs(found - right).max() / np.abs(right).max())


def right_of(start: Start) -> np.ndarray:
    m, q, v = start
    return sh.Dynamics(m, "extended").forward(q, v)


def rows(quick: bool = False) -> Iterator[list[str]]:
    for name, (make, sizes) in FAMILIES.items():
        for n in sizes[:2] if quick else sizes:
            start = make(n)
            bodies = len(start[0].bodies)
            right = right_of(start) if bodies <= LARGEST else sh.Dynamics(start[0], "maggi").forward(*start[1:])
            errors = (
                f"{error(start, x, right, 'python' if x == 'composite' else 'auto'):.0e}" if bodies <= most else "–"
                for x, most in MOST_BODIES.items()
            )
            yield [f"{name}, {n}", str(bodies), *errors]
