"""Forces of a model: one per file."""

from ..motion import Motion
from .base import Force, UserForce
from .bristle_friction import BristleFriction
from .bushing import Bushing
from .contact import Contact
from .drag import Drag
from .friction import JointFriction
from .gravity import PointGravity
from .joint_spring import JointSpring
from .motor import Motor
from .spring_damper import SpringDamper
from .stop import JointStop
from .tendon import Tendon
from .wrench import Wrench

__all__ = [
    "BristleFriction",
    "Bushing",
    "Contact",
    "Drag",
    "Force",
    "JointFriction",
    "JointSpring",
    "JointStop",
    "Motion",
    "Motor",
    "PointGravity",
    "SpringDamper",
    "Tendon",
    "UserForce",
    "Wrench",
]
