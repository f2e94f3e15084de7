"""Forces of a model: one per file."""

from ..motion import Motion
from .base import Force, UserForce
from .bristle_friction import BristleFriction
from .brush_tyre import BrushTyre
from .bushing import Bushing
from .drag import Drag
from .friction import JointFriction
from .gravity import PointGravity
from .joint_spring import JointSpring
from .magic_formula import MagicFormulaTyre
from .motor import Motor
from .spring_damper import SpringDamper
from .stop import JointStop
from .tendon import Tendon
from .tyre import Tyre
from .wrench import Wrench

__all__ = [
    "BristleFriction",
    "BrushTyre",
    "Bushing",
    "Drag",
    "Force",
    "JointFriction",
    "JointSpring",
    "JointStop",
    "MagicFormulaTyre",
    "Motion",
    "Motor",
    "PointGravity",
    "SpringDamper",
    "Tendon",
    "Tyre",
    "UserForce",
    "Wrench",
]
