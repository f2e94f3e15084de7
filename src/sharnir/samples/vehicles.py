"""Vehicles: a quarter of a car on a double wishbone suspension; the Whipple bicycle: two thin wheels that roll without slipping,
a frame with a rigid rider, a fork with handlebars.

Parameters of the bicycle are those of the benchmark in J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, "Linearized
dynamics equations for the balance and steer of a bicycle: a benchmark and review", Proc. R. Soc. A 463 (2007) 1955–1982, Table 1.
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

from ..model.constraints import Rolling
from ..model.forces import SpringDamper, Wrench
from ..model.formulas import VectorFormula
from ..model.joints import Compound, Prismatic, Revolute
from ..model.model import Model
from ..model.pose import Pose, Rotation
from ..model.shapes import Box, Cylinder, Rod
from .arguments import checked

G = 9.81
LOWER, UPPER = 0.4, 0.3
"""Lengths of the wishbones, level at rest."""
LOWER_MASS, UPPER_MASS, WHEEL_MASS = 5.0, 3.0, 36.0
"""The upright, the wheel and the brake are one body."""
RADIUS = 0.3
"""Height of the wheel's centre at rest."""
SEAT, RATIO = 0.28, 0.7
"""Place of spring and damper on the lower wishbone, and their shortening per travel of the wheel."""
STRUT = 0.35
"""Length of the spring at rest."""
TYRE_STIFFNESS, TYRE_DAMPING = 2e5, 100.0
BUMP_TIME = 0.4
"""Seconds in which the bump is passed: 4 m at 36 km/h."""


@checked
def quarter_car(mass: float = 350.0, stiffness: float = 25e3, damping: float = 1500.0, bump: float = 0.05) -> Model:
    """A quarter of a car that passes a bump: body, two wishbones and the upright with its wheel, in the yz plane, z up.

    The body moves along z (joint "heave"), "upper ball" closes the loop of the wishbones: two degrees of freedom. The arguments
    are parameters of the model by the same names: mass of the body, stiffness and damping of the suspension at the wheel (spring
    and damper have 1/0.7² of them), height of the bump.

    Wishbones of 0.4 m and 5 kg, 0.3 m and 3 kg; wheel and upright 36 kg; a linear tyre of 200 kN/m and 100 N s/m, which must not
    leave the road. Whatever the parameters, the car is at rest where all coordinates are zero: preloads follow the mass. The
    bump begins at t = 0, its height is bump·sin⁴(πt/0.4 s). Natural frequencies are 1.25 Hz (body) and 12 Hz (wheel).
    """
    m = Model("quarter car", gravity=(0.0, 0.0, -G))
    numbers = {"mass": mass, "stiffness": stiffness, "damping": damping, "bump": bump}
    parameters: list[Any] = [m.add_parameter(name, x) for name, x in numbers.items()]
    sprung, k, c, _ = parameters
    m.add_body("body", mass=sprung, shape=Box((0.8, 0.6, 0.4), at=Pose((0.0, 0.2, 0.75))))
    m.add_body("lower wishbone", mass=LOWER_MASS, shape=Rod((0.0, 0.0, 0.0), (0.0, LOWER, 0.0), radius=0.02))
    m.add_body("upper wishbone", mass=UPPER_MASS, shape=Rod((0.0, 0.0, 0.0), (0.0, UPPER, 0.0), radius=0.02))
    m.add_body("upright", WHEEL_MASS, inertia=(0.9, 1.5, 0.9))
    m.add_visual("upright", Cylinder(RADIUS, 0.2, at=Pose(rotation=Rotation.about("x", pi / 2)), hole=0.2), name="wheel")
    m.add_joint("heave", Prismatic("z"), "ground", "body")
    m.add_joint("lower pivot", Revolute("x"), "body", "lower wishbone", at=Pose((0.0, 0.3, 0.2)))
    m.add_joint("upper pivot", Revolute("x"), "body", "upper wishbone", at=Pose((0.0, 0.36, 0.5)))
    for name, length, at in (("lower", LOWER, (0.0, -0.1, -0.1)), ("upper", UPPER, (0.0, -0.14, 0.2))):
        end, cut = Pose((0.0, length, 0.0)), True if name == "upper" else None
        m.add_joint(f"{name} ball", Revolute("x"), f"{name} wishbone", "upright", at=end, child_at=Pose(at), cut=cut)

    links = LOWER_MASS + UPPER_MASS
    held = (sprung + 0.5 * links) * G  # by the spring, at the wheel
    strut = SpringDamper(
        "body", "lower wishbone", (0.0, 0.3 + SEAT, 0.2 + STRUT), (0.0, SEAT, 0.0),
        stiffness=k / RATIO**2, damping=c / RATIO**2, length=STRUT + held * RATIO / k,
    )  # fmt: skip
    m.add_force(strut, "strut")
    road = {
        "u": f"minimum(maximum(t/{BUMP_TIME}, 0), 1)",
        "hump": "sin(pi*u)**2",
        "height": "parameter.bump*hump**2",
        "rate": f"{2.0 / BUMP_TIME}*pi*parameter.bump*hump*sin(2*pi*u)",
        "weight": f"{G}*(parameter.mass + {links + WHEEL_MASS})",
    }
    spring, damper = f"{TYRE_STIFFNESS}*(height + {RADIUS} - position.upright.z)", f"{TYRE_DAMPING}*(rate - velocity.upright.z)"
    m.add_force(Wrench("upright", VectorFormula(0.0, 0.0, f"weight + {spring} + {damper}", where=road)), "tyre")
    return m


# --- the bicycle
WHEELBASE, TRAIL, TILT = 1.02, 0.08, pi / 10.0
"""TILT: angle of the steering axis from the vertical."""
REAR_RADIUS, FRONT_RADIUS = 0.3, 0.35


def bicycle() -> Model:
    """The benchmark bicycle, upright at its neutral position; x points forward, z up, the rear wheel stands in the origin.

    Signs are the paper's: "frame.lean", "frame.yaw" and "steer" are positive to the right. Three degrees of freedom in speeds,
    seven in position. `bicycle_start(speed)` is steady motion straight ahead.
    """
    m = Model("bicycle", gravity=(0.0, 0.0, -9.81))
    m.add_body("frame", 85.0, (0.3, 0.0, 0.9), (9.2, 11.0, 2.8, 0.0, -2.4, 0.0))
    m.add_body("fork", 4.0, (0.9 - WHEELBASE - TRAIL, 0.0, 0.7), (0.05892, 0.06, 0.00708, 0.0, 0.00756, 0.0))
    m.add_body("rear wheel", 2.0, inertia=(0.0603, 0.12, 0.0603))
    m.add_body("front wheel", 3.0, inertia=(0.1405, 0.28, 0.1405))
    parts = {
        "x": Prismatic("x"), "y": Prismatic("y"), "z": Prismatic("z"),
        "yaw": Revolute("-z"), "lean": Revolute("x"), "pitch": Revolute("y"),
    }  # fmt: skip
    m.add_joint("frame", Compound(parts), "ground", "frame")
    steering = (sin(TILT), 0.0, -cos(TILT))
    m.add_joint("steer", Revolute(steering), "frame", "fork", at=Pose((WHEELBASE + TRAIL, 0.0, 0.0)))
    m.add_joint("rear hub", Revolute("y"), "frame", "rear wheel", at=Pose((0.0, 0.0, REAR_RADIUS)))
    m.add_joint("front hub", Revolute("y"), "fork", "front wheel", at=Pose((-TRAIL, 0.0, FRONT_RADIUS)))
    m.add_constraint(Rolling("rear wheel", REAR_RADIUS, "y"), "rear contact")
    m.add_constraint(Rolling("front wheel", FRONT_RADIUS, "y"), "front contact")
    return m


@checked
def bicycle_start(speed: float = 5.0) -> dict[str, Any]:
    """v0 of steady motion straight ahead at `speed`, m/s."""
    ahead = (speed, 0.0, 0.0, 0.0, 0.0, 0.0)
    return {"v0": {"frame": ahead, "rear hub": speed / REAR_RADIUS, "front hub": speed / FRONT_RADIUS}}
