"""Mechanisms with closed loops and other constraints: published ones with known answers, and textbook ones.

Sources: the IFToMM library of benchmark problems (www.iftomm-multibody.org/benchmark,
A02–A05) and the test set for initial value problem solvers of Bari and CWI ("Andrews' squeezing mechanism", "Car axis").
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import ModelError
from ..model.constraints import Distance, Gear, Rolling
from ..model.forces import Motion, SpringDamper
from ..model.joints import Ball, Prismatic, Revolute, Translation, Universal
from ..model.large_models import no_collection
from ..model.model import Model
from ..model.pose import Pose, Rotation
from ..model.shapes import Box, Cylinder, Rod
from ..trace import Number
from ..trace.functions import sin, sqrt
from .arguments import checked

DOWN = (0.0, -9.81, 0.0)


@checked
def four_bar(crank: float = 1.0, coupler: float = 1.0, rocker: float = 1.0, base: float = 1.0) -> Model:
    """A closed loop in the xy plane: crank and rocker on the ground, a coupler between their tips (joint "D" closes it)."""
    m = Model("four-bar", gravity=DOWN)
    for name, length in (("crank", crank), ("coupler", coupler), ("rocker", rocker)):
        m.add_body(name, mass=1.0, shape=Rod((0.0, 0.0, 0.0), (length, 0.0, 0.0)))
    m.add_joint("A", Revolute("z"), "ground", "crank")
    m.add_joint("B", Revolute("z"), "crank", "coupler", at=Pose((crank, 0.0, 0.0)))
    m.add_joint("C", Revolute("z"), "ground", "rocker", at=Pose((base, 0.0, 0.0)))
    m.add_joint("D", Revolute("z"), "coupler", "rocker", at=Pose((coupler, 0.0, 0.0)), child_at=Pose((rocker, 0.0, 0.0)))
    return m


@checked
def n_four_bar(n: int = 2, thin: bool = True) -> Model:
    """n four-bars side by side (IFToMM A02): n + 1 rods on the ground, couplers between neighbouring tips, all of 1 m, 1 kg.

    The published start is `n_four_bar_start(n)`. Where all links are level, the constraints of n loops lose rank: n + 1 degrees
    of freedom. `thin=False` gives the rods some inertia about their own axes, for methods that divide by it.
    """
    m = Model(f"{n}-four-bar", gravity=DOWN)
    moments = (0.0 if thin else 0.01, 1.0 / 12.0, 1.0 / 12.0)
    tip = Pose((1.0, 0.0, 0.0))
    for k in range(n + 1):
        m.add_body(f"rod{k}", 1.0, (0.5, 0.0, 0.0), moments)
        m.add_joint(f"foot{k}", Revolute("z"), "ground", f"rod{k}", at=Pose((float(k), 0.0, 0.0)))
    for k in range(n):
        m.add_body(f"bar{k}", 1.0, (0.5, 0.0, 0.0), moments)
        m.add_joint(f"left{k}", Revolute("z"), f"rod{k}", f"bar{k}", at=tip)
        m.add_joint(f"right{k}", Revolute("z"), f"bar{k}", f"rod{k + 1}", at=tip, child_at=tip)
    return m


@checked
def n_four_bar_start(n: int = 2, angle: float = math.pi / 2, speed: float = -1.0) -> dict[str, Any]:
    """q0 and v0 of the parallel motion; as published the rods stand upright and their tips move along +x at 1 m/s."""
    joints: list[tuple[str, float]] = [(f"foot{k}", 1.0) for k in range(n + 1)] + [(f"left{k}", -1.0) for k in range(n)]
    return {"q0": {j: s * angle for j, s in joints}, "v0": {j: s * speed for j, s in joints}}


@checked
@no_collection()
def closed_chain(n: int = 10, spatial: bool = False) -> Model:
    """n equal links between two points of the ground, 1 m and 10 kg together: one loop; joint "end" is the last one.

    At the coordinates zero it hangs as half a circle, which closes exactly; with more than four links that is no equilibrium.
    All hinges are along z: n − 2 degrees of freedom. With `spatial=True` they alternate between z and y, and a ball joint closes
    the loop: n − 3 degrees of freedom.
    """
    least = 4 if spatial else 3
    if n < least:
        raise ModelError(f"closed_chain: n must be at least {least}, fewer links cannot move; got {n}")
    m = Model(f"closed chain of {n}{' in space' if spatial else ''}", gravity=DOWN)
    link, arc = 1.0 / n, math.pi
    tip = Pose((link, 0.0, 0.0))
    shape, bend = Rod((0.0, 0.0, 0.0), tip.position, radius=0.1 * link), Rotation.about("z", arc / n)
    carrier, at = "ground", Pose(rotation=Rotation.about("z", 0.5 * (arc / n - arc)))
    for k in range(n):
        m.add_body(f"link{k}", mass=10.0 / n, shape=shape)
        m.add_joint(f"hinge{k}", Revolute("y" if spatial and k % 2 else "z"), carrier, f"link{k}", at=at)
        carrier, at = f"link{k}", Pose(tip.position, bend)
    span = link * math.sin(0.5 * arc) / math.sin(0.5 * arc / n)
    last = Pose((span, 0.0, 0.0), Rotation.about("z", 0.5 * (arc - arc / n)))  # whatever joint is cut, zero is closed
    m.add_joint("end", Ball() if spatial else Revolute("z"), "ground", carrier, at=last, child_at=tip)
    return m


@checked
def slider_crank(crank: float = 0.2, rod: float = 0.5) -> Model:
    """A crank, a connecting rod and a piston on the x axis; its guide "slide" and all hinges are along z."""
    m = Model("slider-crank", gravity=DOWN)
    m.add_body("crank", mass=1.0, shape=Rod((0.0, 0.0, 0.0), (crank, 0.0, 0.0)))
    m.add_body("rod", mass=2.0, shape=Rod((0.0, 0.0, 0.0), (rod, 0.0, 0.0)))
    m.add_body("piston", mass=0.5, shape=Box((0.1, 0.1, 0.1)))
    m.add_joint("main", Revolute("z"), "ground", "crank")
    m.add_joint("crankpin", Revolute("z"), "crank", "rod", at=Pose((crank, 0.0, 0.0)))
    m.add_joint("slide", Prismatic("x"), "ground", "piston", at=Pose((crank + rod, 0.0, 0.0)))
    m.add_joint("wristpin", Revolute("z"), "rod", "piston", at=Pose((rod, 0.0, 0.0)), cut=True)
    return m


def andrews() -> Model:
    """Andrews' squeezing mechanism (IFToMM A03, IVP test set "andrews"): seven bodies, three loops that meet in one point.

    Coordinates by the names of the test set; `andrews_start` is its start, the motor turns "beta" with 0.033 N m.
    """
    m = Model("Andrews' squeezing mechanism", gravity=(0.0, 0.0, 0.0))
    ground_a, ground_b, ground_c = (-0.06934, -0.00227, 0.0), (-0.03635, 0.03273, 0.0), (0.014, 0.072, 0.0)
    #       joint     on        where there          body  mass     inertia    centre of mass
    parts: list[tuple[str, str, tuple[float, ...], str, float, float, tuple[float, ...]]] = [
        ("beta", "ground", (0.0, 0.0, 0.0), "K1", 0.04325, 2.194e-6, (0.00092, 0.0, 0.0)),
        ("Theta", "K1", (0.007, 0.0, 0.0), "K2", 0.00365, 4.410e-7, (-0.0115, 0.0, 0.0)),
        ("gamma", "ground", ground_b, "K3", 0.02373, 5.255e-6, (0.01043, -0.01874, 0.0)),
        ("delta", "ground", ground_a, "K5", 0.07050, 1.169e-5, (0.02308, 0.00916, 0.0)),
        ("Phi", "K5", (0.04, 0.0, 0.0), "K4", 0.00706, 5.667e-7, (0.0, 0.01421 - 0.02, 0.0)),
        ("epsilon", "ground", ground_a, "K7", 0.05498, 1.912e-5, (-0.00449, -0.01228, 0.0)),
        ("Omega", "K7", (0.0, -0.04, 0.0), "K6", 0.00706, 5.667e-7, (0.02 - 0.01421, 0.0, 0.0)),
    ]
    for joint, carrier, at, body, mass, inertia, com in parts:
        m.add_body(body, mass, com, (inertia, inertia, inertia))
        m.add_joint(joint, Revolute("z"), carrier, body, at=Pose(at))
    for body, at in (("K3", (0.0, -0.035, 0.0)), ("K4", (0.0, -0.02, 0.0)), ("K6", (0.02, 0.0, 0.0))):
        m.add_joint(f"{body} to K2", Revolute("z"), "K2", body, at=Pose((-0.028, 0.0, 0.0)), child_at=Pose(at), cut=True)
    m.add_force(SpringDamper("ground", "K3", at_a=ground_c, at_b=(0.02, -0.018, 0.0), stiffness=4530.0, length=0.07785), "spring")
    return m


andrews_start = {
    "beta": -0.0617138900142764496, "Theta": 0.0, "gamma": 0.455279819163070380, "Phi": 0.222668390165885885,
    "delta": 0.487364979543842550, "Omega": -0.222668390165885885, "epsilon": 1.230547444549821192,
}  # fmt: skip
"""The coordinates of `andrews` at t = 0, at rest."""


def bricard() -> Model:
    """Bricard's mechanism (IFToMM A04): five rods, six revolute joints, a single loop in space.

    By Grübler's count it cannot move; the special position of its axes lets it.
    """
    m = Model("Bricard", gravity=DOWN)
    P = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
    axial, across = 0.1**2 / 6.0, (1.0 + 0.1**2) / 12.0
    carrier = "ground"
    for k in range(5):
        u = P[k + 1] - P[k]
        m.add_body(f"rod{k + 1}", 1.0, u / 2, across * np.eye(3) + (axial - across) * np.outer(u, u))
        at = Pose((P[k] - (P[k - 1] if k else 0.0)).tolist())
        m.add_joint(f"hinge{k + 1}", Revolute("yzxyz"[k]), carrier, f"rod{k + 1}", at=at)
        carrier = f"rod{k + 1}"
    last = Pose((P[5] - P[4]).tolist())
    m.add_joint("hinge6", Revolute("x"), "ground", "rod5", at=Pose(P[5].tolist()), child_at=last, cut=True)
    return m


@checked
def governor(closed: bool = False) -> Model:
    """The stiff flyball governor (IFToMM A05): a shaft, two rods with balls, and a slider on springs and dampers: a tree.

    closed=True replaces the springs by massless rods: two loops, and the slider follows the balls.
    Start: {"slide": 0.5}, the shaft turning at 2π rad/s.
    """
    m = Model("governor with rods" if closed else "governor")
    density, tilt = 3000.0, math.pi / 6
    m.add_body("shaft", density=density, shape=Box((0.01, 0.01, 1.0), at=Pose((0.0, 0.0, 0.5))))
    m.add_body("slider", density=density, shape=Box((0.1, 0.1, 0.1)))
    m.add_joint("shaft", Revolute("z"), "ground", "shaft")
    m.add_joint("slide", Prismatic("z"), "shaft", "slider")
    thin, rod_mass, ball = 0.01, density * 1e-4, 5.0
    mass = rod_mass + ball
    com = (0.5 * rod_mass + ball) / mass
    across = rod_mass * ((1.0 + thin**2) / 12.0 + (com - 0.5) ** 2) + ball * (1.0 - com) ** 2
    for name, side in (("left", -1.0), ("right", 1.0)):
        m.add_body(f"{name} rod", mass, (com, 0.0, 0.0), (rod_mass * thin**2 / 6.0, across, across))
        turned = Rotation.about("z", 0.0 if side > 0 else math.pi) @ Rotation.about("y", tilt)  # x along the rod, y its hinge
        m.add_joint(f"{name} hinge", Revolute("-y"), "shaft", f"{name} rod", at=Pose((0.05 * side, 0.0, 1.0), turned))
        ends: dict[str, Any] = {"at_a": (0.5, 0.0, 0.0), "at_b": (0.05 * side, 0.0, 0.0), "length": 0.5}
        if closed:
            m.add_constraint(Distance(f"{name} rod", "slider", **ends), f"{name} link")
        else:
            m.add_force(SpringDamper(f"{name} rod", "slider", stiffness=8e5, damping=4e4, **ends), f"{name} spring")
    return m


@checked
def stewart(base: float = 1.0, top: float = 0.6, height: float = 1.0) -> Model:
    """A Stewart platform: six legs, each on a universal joint, with a slide, under a ball joint of the platform."""
    m = Model("Stewart platform")
    m.add_body("platform", mass=20.0, shape=Cylinder(top, 0.05))
    lower = [2.0 * math.pi / 3.0 * (k // 2) + (0.2 if k % 2 else -0.2) for k in range(6)]
    upper = [2.0 * math.pi / 3.0 * ((k + 1) // 2) - math.pi / 3.0 + (-0.2 if k % 2 else 0.2) for k in range(6)]
    for k in range(6):
        foot = np.array([base * math.cos(lower[k]), base * math.sin(lower[k]), 0.0])
        head = np.array([top * math.cos(upper[k]), top * math.sin(upper[k]), height])
        way = head - foot
        length = float(np.linalg.norm(way))
        upright = Rotation.align_z(tuple((way / length).tolist()))
        m.add_body(f"cylinder{k}", mass=2.0, shape=Rod((0.0, 0.0, 0.0), (0.0, 0.0, 0.5 * length), radius=0.03))
        m.add_body(f"piston{k}", mass=1.0, shape=Rod((0.0, 0.0, -0.5 * length), (0.0, 0.0, 0.0), radius=0.02))
        m.add_joint(f"foot{k}", Universal("x", "y"), "ground", f"cylinder{k}", at=Pose(foot.tolist(), upright))
        m.add_joint(f"leg{k}", Prismatic("z"), f"cylinder{k}", f"piston{k}", at=Pose((0.0, 0.0, length)))
        at, child_at = Pose(), Pose((float(head[0]), float(head[1]), 0.0), upright)
        m.add_joint(f"head{k}", Ball(), f"piston{k}", "platform", at=at, child_at=child_at, cut=k > 0)
    return m


@checked
def planetary_gear(sun: float = 0.1, planet: float = 0.05, planets: int = 3) -> Model:
    """Sun, planets on a carrier, and a ring, radii `sun` and `planet`; a gear at every mesh. Two degrees of freedom."""
    m = Model("planetary gear", gravity=(0.0, 0.0, 0.0))
    ring = sun + 2.0 * planet
    for name, mass, radius in (("sun", 1.0, sun), ("carrier", 0.5, sun + planet), ("ring", 3.0, ring)):
        m.add_body(name, mass=mass, shape=Cylinder(radius, 0.02))
        m.add_joint(name, Revolute("z"), "ground", name)
    for k in range(planets):
        angle = 2.0 * math.pi * k / planets
        m.add_body(f"planet{k}", mass=0.3, shape=Cylinder(planet, 0.02))
        at = Pose(((sun + planet) * math.cos(angle), (sun + planet) * math.sin(angle), 0.0))
        m.add_joint(f"planet{k}", Revolute("z"), "carrier", f"planet{k}", at=at)
        # equal speeds of the teeth, seen from the carrier
        m.add_constraint(Gear({"sun": sun, "carrier": -sun, f"planet{k}": planet}), f"sun to planet{k}")
        m.add_constraint(Gear({"ring": ring, "carrier": -ring, f"planet{k}": -planet}), f"ring to planet{k}")
    return m


@checked
def rolling_disc(radius: float = 0.1, mass: float = 1.0) -> Model:
    """A thin disc that rolls on the level ground without slipping; its axis is the body's z, joint "disc float"."""
    m = Model("rolling disc")
    light, heavy = 0.25 * mass * radius**2, 0.5 * mass * radius**2
    m.add_body("disc", mass, inertia=(light, light, heavy))
    m.add_floating("disc")
    m.add_constraint(Rolling("disc", radius), "ground")
    return m


def car_axis() -> Model:
    """The car axis of the IVP test set: a chassis, two point masses 1 m apart on springs over two wheels, one on a bumpy road.

    The right wheel is at (xb, yb), yb = 0.1 sin 10t, xb = √(1 − yb²), the left one in the origin; the left mass stays square
    above the axle: xl xb + yl yb = 0, a constraint that depends on time. ε = 0.01, M = 10, L0 = 0.5.
    Start: l at (0, 0.5), r at (1, 0.5), both at (−0.5, 0) m/s.
    """
    m = Model("car axis", gravity=(0.0, -1.0, 0.0))
    each = 0.01**2 * 10.0 / 2.0
    for name in ("l", "r"):
        m.add_body(name, mass=each)
        m.add_joint(name, Translation(motion={"z": lambda t: 0.0 * t}), "ground", name)

    def wheel(t: Number) -> Number:
        return 0.1 * sin(10.0 * t)

    def square(on: Motion) -> Number:
        (x, y), yb = on.q("l"), wheel(on.t)
        return x * sqrt(1.0 - yb * yb) + y * yb

    def springs(on: Motion) -> Number:
        """The test set's springs pull towards the free length 0.5 with unit stiffness each."""
        yb = wheel(on.t)
        xb, stored = sqrt(1.0 - yb * yb), 0.0
        for body, (x0, y0) in (("l", (0.0, 0.0)), ("r", (xb, yb))):
            x, y = on.q(body)
            length = sqrt((x - x0) * (x - x0) + (y - y0) * (y - y0))
            factor = (0.5 - length) / length
            on.push(body, (factor * (x - x0), factor * (y - y0), 0.0))
            stored = stored + 0.5 * (length - 0.5) * (length - 0.5)
        return stored

    m.add_force(springs, "springs")
    m.add_constraint(square, "axle")
    m.add_constraint(Distance("l", "r", length=1.0), "rod")
    return m
