"""Joint types."""

from .axes import Cylindrical, Planar, Prismatic, Revolute, Screw, Translation, Universal
from .compound import Compound
from .constraint import ConstraintJoint
from .custom import CustomJoint
from .joint_type import Joint
from .quaternion import Ball, Free
from .weld import Weld

__all__ = [
    "Ball",
    "Compound",
    "ConstraintJoint",
    "CustomJoint",
    "Cylindrical",
    "Free",
    "Joint",
    "Planar",
    "Prismatic",
    "Revolute",
    "Screw",
    "Translation",
    "Universal",
    "Weld",
]
