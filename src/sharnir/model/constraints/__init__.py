"""Constraints that are not joints of the tree: closing joints and other constraints. One per file."""

from .closing import ClosingJoint as ClosingJoint
from .constraint_element import Constraint as Constraint
from .constraint_element import SpeedConstraint as SpeedConstraint
from .constraint_element import UserConstraint as UserConstraint
from .distance import Distance as Distance
from .gear import Gear as Gear
from .rolling import Rolling as Rolling
from .surface import PointOnCurve as PointOnCurve
from .surface import PointOnSurface as PointOnSurface
