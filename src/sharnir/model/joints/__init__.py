"""Joint types, one per file."""

from .ball import Ball
from .base import Joint
from .compound import Compound
from .constraint import ConstraintJoint
from .custom import CustomJoint
from .cylindrical import Cylindrical
from .free import Free
from .planar import Planar
from .prismatic import Prismatic
from .revolute import Revolute
from .screw import Screw
from .translation import Translation
from .universal import Universal
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
