"""Forces of a model: one per file."""

from ..motion import Motion as Motion
from .actuator import Actuator as Actuator
from .actuator import Muscle as Muscle
from .bristle_friction import BristleFriction as BristleFriction
from .brush_tyre import BrushTyre as BrushTyre
from .bushing import Bushing as Bushing
from .contact import Contact as Contact
from .dc_motor import DCMotor as DCMotor
from .drag import Drag as Drag
from .force_element import Force as Force
from .force_element import UserForce as UserForce
from .friction import JointFriction as JointFriction
from .gravity import PointGravity as PointGravity
from .hydraulic_cylinder import Accumulator as Accumulator
from .hydraulic_cylinder import HydraulicCylinder as HydraulicCylinder
from .hydraulic_cylinder import Valve as Valve
from .joint_spring import JointSpring as JointSpring
from .low_pass import low_pass as low_pass
from .magic_formula import MagicFormulaTyre as MagicFormulaTyre
from .motor import Motor as Motor
from .pid import PID as PID
from .spring_damper import SpringDamper as SpringDamper
from .stop import JointStop as JointStop
from .tendon import Tendon as Tendon
from .tyre import Tyre as Tyre
from .wrench import Wrench as Wrench
