"""Mechanisms with flexible bodies: published ones with known answers, and a beam as a chain of rigid segments.

Sources: "Slider crank" of the test set for initial value problem solvers of Bari and CWI (Simeon, Math. Modelling of Systems 2,
1996, 1–18); the spin-up of Kane, Ryan and Banerjee (J. Guidance 10, 1987, 139–151) with the data of Simo and Vu-Quoc (J. Applied
Mechanics 53, 1986, 855–863); the misaligned four-bar of Bauchau and others (Multibody System Dynamics 37, 2016, 29–48).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import ModelError
from ..model.forces import JointSpring
from ..model.joints import Prismatic, Revolute, Weld
from ..model.large_models import no_collection
from ..model.model import Model
from ..model.pose import Pose, Rotation
from ..trace import Number
from ..trace.functions import cos, select
from .arguments import checked

if TYPE_CHECKING:
    from ..model.flexible import FlexibleBeam, Section

DOWN = (0.0, -9.81, 0.0)


def _brought_to(speed: float, duration: float, what: str = "duration") -> Callable[[Number], Number]:
    """An angle whose rate grows from zero to `speed` by the law of Kane, Ryan and Banerjee, without a jump of acceleration."""
    if duration < 0.0:
        raise ModelError(f"{what} must not be negative; got {duration}")
    if duration == 0.0:
        return lambda t: speed * t
    rate = 2.0 * math.pi / duration

    def angle(t: Number) -> Number:
        return speed * select(t < duration, (0.5 * t * t + (cos(rate * t) - 1.0) / rate**2) / duration, t - 0.5 * duration)

    return angle


def _beam(
    length: float, E: float, density: float, section: Section, modes: dict[str, int], ends: str = "clamped-free",
    stiffening: bool = True,
) -> FlexibleBeam:  # fmt: skip
    """A beam of metal: Poisson's ratio 0.3. Imported when it is used: flexible bodies need SciPy, models without them do not."""
    from ..model.flexible import FlexibleBeam

    return FlexibleBeam(
        length=length, E=E, G=E / 2.6, density=density, section=section, modes=modes, ends=ends, stiffening=stiffening
    )


@checked
@no_collection()
def segmented_beam(
    n: int = 10, hinged: bool = False, length: float = 1.0, bending_stiffness: float = 100.0, mass: float = 1.0
) -> Model:
    """A uniform beam along x that bends in the xy plane, as n rigid segments of length h with springs k = EI/h between them.

    Its left end is clamped (the first spring is 2EI/h: half a segment bends) or, with `hinged=True`, turns freely. As n grows it
    becomes the beam, with an error of h². The body "tip" is the right end; gravity acts along −y."""
    if not (length > 0.0 and bending_stiffness > 0.0 and mass > 0.0):
        raise ModelError("segmented_beam: length, bending_stiffness and mass must be positive")
    m = Model(f"beam of {n} segments", gravity=DOWN)
    h = length / n
    moment = mass / n * h * h / 12.0
    carrier, at = "ground", Pose()
    for k in range(1, n + 1):
        m.add_body(f"segment{k}", mass / n, (0.5 * h, 0.0, 0.0), (0.0, moment, moment))
        m.add_joint(f"hinge{k}", Revolute("z"), carrier, f"segment{k}", at=at)
        if k > 1 or not hinged:
            m.add_force(JointSpring(f"hinge{k}", stiffness=(2.0 if k == 1 else 1.0) * bending_stiffness / h), f"spring{k}")
        carrier, at = f"segment{k}", Pose((h, 0.0, 0.0))
    m.add_body("tip")
    m.add_joint("tip", Weld(), carrier, "tip", at=at)
    return m


@checked
def flexible_pendulum(length: float = 1.0, modes: int = 3) -> Model:
    """A strip of steel, 20 mm wide and 2 mm thick, that swings and bends in the xy plane: hinge "hinge" at its upper end, gravity
    along −y, straight along x at zero. The bodies "middle" and "tip" are its middle and its lower end."""
    from ..model.flexible import Rectangle

    m = Model("flexible pendulum", gravity=DOWN)
    m.add_body("beam", flexible=_beam(length, 2.1e11, 7850.0, Rectangle(0.002, 0.02), {"bend_y": modes}))
    m.add_joint("hinge", Revolute("z"), "ground", "beam")
    m.add_node("middle", "beam", (length / 2, 0.0, 0.0))
    m.add_node("tip", "beam", (length, 0.0, 0.0))
    return m


@checked
def flexible_slider_crank(bending: int = 2, stretching: int = 2, stiffening: bool = True, spin_up: float = 0.0) -> Model:
    """The slider-crank of Simeon: a rigid crank of 0.15 m that turns at 150 rad/s, an elastic connecting rod of 0.3 m, 8 × 8 mm
    of steel, and a sliding block; no gravity.

    The body "middle" is the middle of the rod. The crank turns at full speed from the start, for which
    `flexible_slider_crank_start` is a start close to smooth motion; or reaches it from rest in `spin_up` seconds.
    """
    from ..model.flexible import Rectangle

    m = Model("flexible slider-crank", gravity=(0.0, 0.0, 0.0))
    crank, rod = 0.15, 0.3
    about = 0.002727 - 0.36 * (crank / 2) ** 2
    m.add_body("crank", 0.36, (crank / 2, 0.0, 0.0), (0.0, about, about))
    modes = {"bend_y": bending, "stretch": stretching}
    m.add_body("rod", flexible=_beam(rod, 2e11, 7870.0, Rectangle(0.008, 0.008), modes, "pinned", stiffening))
    m.add_body("block", 0.075552)
    m.add_joint("main", Revolute("z", motion=_brought_to(150.0, spin_up, "flexible_slider_crank: spin_up")), "ground", "crank")
    m.add_joint("crankpin", Revolute("z"), "crank", "rod", at=Pose((crank, 0.0, 0.0)))
    m.add_joint("slide", Prismatic("x"), "ground", "block", at=Pose((crank + rod, 0.0, 0.0)))
    m.add_joint("wristpin", Revolute("z"), "rod", "block", at=Pose((rod, 0.0, 0.0)), cut=True)
    m.add_node("middle", "rod", (rod / 2, 0.0, 0.0))
    return m


def flexible_slider_crank_start() -> dict[str, Any]:
    """q0 and v0 of `flexible_slider_crank`: the published start in its coordinates. The rod lies on the x axis, stretched and
    about to bend; its frame turns with its end at the crank pin, and not with the line between the pins."""
    first, second, rod = 0.444896105, 0.463434311e-2, 0.3
    middle, end = 0.103339863e-4, 0.169327969e-4  # displacements along the rod, there sums of two parabolas
    stretch = [0.5 * (end + math.sqrt(2.0) * middle), 0.5 * (end - math.sqrt(2.0) * middle)]
    slope = math.pi / rod * (first + 2.0 * second)
    places = {"rod elastic.stretch1": stretch[0], "rod elastic.stretch2": stretch[1], "slide": end}
    speeds = {"crankpin": -74.9957670 - 150.0 + slope, "rod elastic.bend_y1": first, "rod elastic.bend_y2": second}
    return {"q0": places, "v0": speeds}


@checked
def flexible_four_bar(misalignment: float = 5.0, modes: int = 2) -> Model:
    """The misaligned four-bar: bars of 0.12, 0.24 and 0.12 m at right angles, the first turned at 0.6 rad/s, its speed reached
    smoothly in one second; no gravity.

    The first two are of steel, 16 × 16 mm, the last 8 × 8 mm. The axis of the hinge "C" is out of true by `misalignment`
    degrees: rigid bars would not move. Bodies "left" and "right" are the ends of the second bar; `modes` is the number of
    modes of bending in each plane, with one of twist."""
    from ..model.flexible import Rectangle

    m = Model("misaligned four-bar", gravity=(0.0, 0.0, 0.0))
    crank, coupler = 0.12, 0.24
    shapes = {"bend_y": modes, "bend_z": modes, "twist": 1}
    for name, size, edge in (("crank", crank, 0.016), ("coupler", coupler, 0.016), ("rocker", crank, 0.008)):
        m.add_body(name, flexible=_beam(size, 207e9, 7800.0, Rectangle(edge, edge), shapes))
    upright, level = Rotation.about("z", math.pi / 2), Rotation.about("z", -math.pi / 2)
    m.add_joint("A", Revolute("z", motion=_brought_to(-0.6, 1.0)), "ground", "crank", at=Pose(rotation=upright))
    m.add_joint("B", Revolute("z"), "crank", "coupler", at=Pose((crank, 0.0, 0.0), level))
    m.add_joint("D", Revolute("z"), "ground", "rocker", at=Pose((coupler, 0.0, 0.0), upright))
    tilt = Rotation.about("y", math.radians(misalignment))
    there, here = Pose((coupler, 0.0, 0.0), tilt), Pose((crank, 0.0, 0.0), level @ tilt)
    m.add_joint("C", Revolute("z"), "coupler", "rocker", at=there, child_at=here, cut=True)
    m.add_node("left", "coupler", (0.0, 0.0, 0.0))
    m.add_node("right", "coupler", (coupler, 0.0, 0.0))
    return m


@checked
def rotating_beam(
    speed: float = 6.0, duration: float = 15.0, bending: int = 3, stretching: int = 1, stiffening: bool = True
) -> Model:
    """A beam of 10 m that the joint "hub" brings to `speed` rad/s in `duration` seconds, smoothly, in the xy plane; no gravity.

    With stiffening its tip lags behind by 0.574 m at most, after 6.8 s; without, the beam is lost as the speed passes the first
    natural frequency, 3.8 rad/s. The body "tip" is its end. With `duration=0` it turns at this speed from the start."""
    from ..model.flexible import OwnSection

    m = Model("rotating beam", gravity=(0.0, 0.0, 0.0))
    shapes = {"bend_y": bending, "stretch": stretching}
    section = OwnSection(area=4e-4, Iy=2e-7, Iz=2e-7, It=4e-7)
    m.add_body("beam", flexible=_beam(10.0, 7e10, 3000.0, section, shapes, stiffening=stiffening))
    m.add_joint("hub", Revolute("z", motion=_brought_to(speed, duration, "rotating_beam: duration")), "ground", "beam")
    m.add_node("tip", "beam", (10.0, 0.0, 0.0))
    return m
