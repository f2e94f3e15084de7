"""Constraints that are not joints of the tree: closing joints and other constraints. One per file."""

from .closing import ClosingJoint
from .constraint_element import Constraint, SpeedConstraint, UserConstraint
from .distance import Distance
from .gear import Gear
from .rolling import Rolling
from .surface import PointOnCurve, PointOnSurface

__all__ = [
    "ClosingJoint",
    "Constraint",
    "Distance",
    "Gear",
    "PointOnCurve",
    "PointOnSurface",
    "Rolling",
    "SpeedConstraint",
    "UserConstraint",
]
