"""Forces of a model: one per file."""

from .base import Force, UserForce
from .bushing import Bushing
from .drag import Drag
from .friction import JointFriction
from .gravity import PointGravity
from .joint_spring import JointSpring
from .loads import Loads
from .motor import Motor
from .spring_damper import SpringDamper
from .stop import JointStop
from .wrench import Wrench

__all__ = [
    "Bushing",
    "Drag",
    "Force",
    "JointFriction",
    "JointSpring",
    "JointStop",
    "Loads",
    "Motor",
    "PointGravity",
    "SpringDamper",
    "UserForce",
    "Wrench",
]
