"""Forces of a model: one per file."""

from ..motion import Motion
from .actuator import Actuator
from .bristle_friction import BristleFriction
from .brush_tyre import BrushTyre
from .bushing import Bushing
from .contact import Contact
from .dc_motor import DCMotor
from .drag import Drag
from .force_element import Force, UserForce
from .friction import JointFriction
from .gravity import PointGravity
from .hydraulic_cylinder import HydraulicCylinder
from .hydraulics import Accumulator, Valve
from .joint_spring import JointSpring
from .low_pass import low_pass
from .magic_formula import MagicFormulaTyre
from .motor import Motor
from .muscle import Muscle
from .pid import PID
from .spring_damper import SpringDamper
from .stop import JointStop
from .tendon import Tendon
from .tyre import Tyre
from .wrench import Wrench

__all__ = [
    "PID",
    "Accumulator",
    "Actuator",
    "BristleFriction",
    "BrushTyre",
    "Bushing",
    "Contact",
    "DCMotor",
    "Drag",
    "Force",
    "HydraulicCylinder",
    "JointFriction",
    "JointSpring",
    "JointStop",
    "MagicFormulaTyre",
    "Motion",
    "Motor",
    "Muscle",
    "PointGravity",
    "SpringDamper",
    "Tendon",
    "Tyre",
    "UserForce",
    "Valve",
    "Wrench",
    "low_pass",
]
