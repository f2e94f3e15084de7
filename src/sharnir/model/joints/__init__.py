"""Joint types."""

from .axes import Cylindrical, Planar, Prismatic, Revolute, Screw, Translation, Universal, Weld
from .compound import Compound
from .constraint import ConstraintJoint
from .custom import CustomJoint
from .joint_type import Joint
from .quaternion import Ball, Free

__all__ = [
    "Ball", "Compound", "ConstraintJoint", "CustomJoint", "Cylindrical", "Free", "Joint", "Planar", "Prismatic", "Revolute",
    "Screw", "Translation", "Universal", "Weld",
]  # fmt: skip
