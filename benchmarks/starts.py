"""Starts of closed mechanisms: a crank held at every angle of a turn, what simulations start from, what an assembly takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

import sharnir as sh

from .harness import race
from .report import Measure

S = sh.samples
ANGLES = 720
HELD = 1e-12
"""Radians by which a coordinate that is held may be off."""
AGAIN = 1.0
"""Milliseconds of an assembly after the first."""


@dataclass(frozen=True)
class Mechanism:
    name: str
    make: Callable[[], sh.Model]
    crank: str
    reach: Callable[[np.ndarray], np.ndarray]
    """By how much the loop can be closed at angles of the crank: below zero it cannot. Lengths in m."""


def four_bar(*lengths: float) -> Mechanism:
    """The rocker's pin must lie in the ring that the coupler can reach."""
    crank, coupler, rocker, base = lengths

    def reach(angle: np.ndarray) -> np.ndarray:
        gap = np.hypot(base - crank * np.cos(angle), crank * np.sin(angle))
        return np.minimum(coupler + rocker - gap, gap - abs(coupler - rocker))

    return Mechanism(f"four-bar {', '.join(f'{x:g}' for x in lengths)}", partial(S.four_bar, *lengths), "A", reach)


def slider_crank(crank: float, rod: float, make: Callable[..., sh.Model] = S.slider_crank, name: str = "main") -> Mechanism:
    where = "slider-crank" if name == "main" else "slider-crank from the main pin"
    return Mechanism(
        f"{where} {crank:g}, {rod:g}", partial(make, crank, rod), name, lambda angle: rod - abs(crank * np.sin(angle))
    )


def from_the_main_pin(crank: float, rod: float) -> sh.Model:
    """A slider-crank whose slide is zero at the main pin: the neutral position is far from every closed one."""
    m = sh.Model("slider-crank from the main pin", gravity=(0.0, -9.81, 0.0))
    for body, length in (("crank", crank), ("rod", rod)):
        m.add_body(body, mass=1.0, shape=sh.Rod((0.0, 0.0, 0.0), (length, 0.0, 0.0)))
    m.add_body("slider", mass=1.0, shape=sh.Box((0.05, 0.05, 0.05)))
    m.add_joint("A", sh.Revolute("z"), "ground", "crank")
    m.add_joint("B", sh.Revolute("z"), "crank", "rod", at=sh.Pose((crank, 0.0, 0.0)))
    m.add_joint("S", sh.Prismatic("x"), "ground", "slider")
    m.add_joint("C", sh.Revolute("z"), "rod", "slider", at=sh.Pose((rod, 0.0, 0.0)))
    return m


MECHANISMS = (
    slider_crank(0.1, 0.3, from_the_main_pin, "A"),
    slider_crank(0.1, 0.3),  # the crank goes round
    slider_crank(0.3, 0.2),  # a rod too short for that
    four_bar(0.5, 1.3, 0.9, 1.1),  # crank and rocker
    four_bar(1.0, 1.2, 1.4, 1.1),  # the shortest link is a crank
    four_bar(1.2, 0.6, 1.1, 1.0),  # Grashof's condition, coupler the shortest: two rockers
    four_bar(1.0, 0.7, 0.8, 1.6),  # not Grashof's: two rockers, one range through zero
    four_bar(0.9, 1.0, 0.8, 0.4),  # the base is the shortest: two cranks
    four_bar(1.0, 1.0, 1.0, 1.0),  # a parallelogram: stretched out at two angles
)
NEAR = 1e-9
"""So near the limit of reach, in m, either answer is right."""


def measure(quick: bool = False) -> Iterator[Measure | str]:
    for mechanism in MECHANISMS[: 4 if quick else None]:
        yield from angles(mechanism, ANGLES // 8 if quick else ANGLES)
    yield from times()


def angles(x: Mechanism, n: int) -> Iterator[Measure | str]:
    """Every angle that can be reached is assembled and held, every other one refused; a simulation starts there, or says so."""
    m, grid = x.make(), np.linspace(-np.pi, np.pi, n, endpoint=False)
    reach = x.reach(grid)
    can, cannot = grid[reach > NEAR], grid[reach < -NEAR]
    held = [a for a in can if is_held(m, x.crank, a)]
    for a in [a for a in can if a not in held][:2]:
        yield f"{x.name}: not assembled at {x.crank} = {a:.4f}, which it reaches"
    yield Measure("starts", x.name, f"assembled and held, of {len(can)} angles that are reached", len(held), "", len(can))
    if len(cannot):
        refused = [a for a in cannot if not is_held(m, x.crank, a)]
        what = f"refused, of {len(cannot)} angles that are not"
        yield Measure("starts", x.name, what, len(refused), "", len(cannot))
        yield f"{x.name}: {refusal(m, x.crank, float(cannot[0]))}"
    some = can[:: max(1, n // 24)]
    moved = [a for a in some if not starts_there(m, x.crank, a)]
    yield Measure("starts", x.name, f"simulations that start elsewhere, of {len(some)}", len(moved), "", 0, at_most=True)


def is_held(m: sh.Model, crank: str, angle: float) -> bool:
    """Whether it is assembled with the crank at that angle; one that was moved is none."""
    try:
        q, v = m.assemble({crank: angle}, fixed=[crank])
    except sh.AssemblyError:
        return False
    closed = np.abs(loop_gap(m, q)).max() < 1e-9
    return bool(abs(q[m.q_slice(crank)][0] - angle) <= HELD and closed and not v.any())


def loop_gap(m: sh.Model, q: np.ndarray) -> np.ndarray:
    """How far apart the two sides of the joint that closes the loop are, by the oracle's poses."""
    R, r = sh.matrices(m, q).poses
    names = [b.name for b in m.bodies]

    def point(body: str, at: sh.Pose) -> np.ndarray:
        if body == "ground":
            return np.array(at.position, dtype=float)
        k = names.index(body)
        return r[k] + R[k] @ np.array(at.position, dtype=float)

    (cut,) = m.closing_joints
    return point(cut.parent, cut.at) - point(cut.child, cut.child_at)


def refusal(m: sh.Model, crank: str, angle: float) -> str:
    """What an angle that cannot be reached is answered with."""
    try:
        m.assemble({crank: angle}, fixed=[crank])
    except sh.AssemblyError as error:
        return f"{crank} = {angle:.4f}: {error}"
    return f"{crank} = {angle:.4f} was accepted"


def starts_there(m: sh.Model, crank: str, angle: float) -> bool:
    """A run starts with the crank where it was asked to be; an error that says otherwise is no surprise either."""
    try:
        r = sh.simulate(m, 1e-4, q0={crank: angle}, output=1e-4, progress=False)
    except sh.AssemblyError:
        return True
    return bool(abs(r.q[0][m.q_slice(crank)][0] - angle) <= HELD)


def times() -> Iterator[Measure | str]:
    """The first assembly of a model, and those after it: near the solution, and from a guess of one angle alone."""
    for x in (MECHANISMS[3], MECHANISMS[0]):
        m = x.make()
        first = race({"first": lambda x=x: x.make().assemble({x.crank: 1.2})}, rounds=3, sample=0.0)["first"]
        yield Measure("starts", x.name, "building and first assembly of another such model", 1e3 * first, " ms")
        q, _ = m.assemble({x.crank: 1.2})
        near = np.array(q) + 1e-3
        calls = {
            "assembly near the solution": lambda m=m, near=near: m.assemble(near),
            "assembly, crank held": lambda m=m, x=x: m.assemble({x.crank: 1.2}, fixed=[x.crank]),
        }
        for what, seconds in race(calls, rounds=20, sample=0.02).items():
            yield Measure("starts", x.name, what, 1e3 * seconds, " ms", AGAIN, at_most=True)
