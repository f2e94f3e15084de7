"""The Whipple bicycle: two thin wheels that roll without slipping, a frame with a rigid rider, a fork with handlebars.

Parameters of the benchmark in J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, "Linearized dynamics equations for the
balance and steer of a bicycle: a benchmark and review", Proc. R. Soc. A 463 (2007) 1955–1982, Table 1.
"""

from __future__ import annotations

import math
from typing import Any

from ..model.constraints import Rolling
from ..model.joints import Compound, Prismatic, Revolute
from ..model.model import Model
from ..model.pose import Pose
from .arguments import checked

WHEELBASE, TRAIL, TILT = 1.02, 0.08, math.pi / 10.0
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
    steering = (math.sin(TILT), 0.0, -math.cos(TILT))
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
