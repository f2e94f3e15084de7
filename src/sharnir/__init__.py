"""sharnir: dynamics of multibody systems, every formulation of the equations of motion behind one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import (
    IntegrationError,
    MethodError,
    ModelError,
    SharnirError,
    SimulationError,
    SingularError,
    StateError,
    TraceError,
)
from .model import samples
from .model.forces import (
    Bushing,
    Drag,
    Force,
    JointFriction,
    JointSpring,
    JointStop,
    Loads,
    Motor,
    PointGravity,
    SpringDamper,
    Wrench,
)
from .model.joints import (
    Ball,
    ConstraintJoint,
    CustomJoint,
    Cylindrical,
    Free,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Translation,
    Universal,
    Weld,
)
from .model.model import Model
from .model.pose import Pose, Rotation
from .model.shapes import Box, Cylinder, Rod, Sphere
from .trace.functions import (
    acos,
    asin,
    atan,
    atan2,
    cos,
    cosh,
    exp,
    log,
    maximum,
    minimum,
    power,
    select,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)

if TYPE_CHECKING:
    from .backends.cache import cache_clear
    from .dynamics import Dynamics
    from .forms.matrices import Matrices, matrices
    from .integrate.methods import integrators
    from .method_table import methods
    from .simulation.events import Event
    from .simulation.result import Result
    from .simulation.rollout import Rollout, rollout
    from .simulation.run import simulate

__version__ = "0.1.0"

_LATER = {
    "Dynamics": "dynamics",
    "Event": "simulation.events",
    "Matrices": "forms.matrices",
    "cache_clear": "backends.cache",
    "matrices": "forms.matrices",
    "integrators": "integrate.methods",
    "methods": "method_table",
    "Result": "simulation.result",
    "Rollout": "simulation.rollout",
    "rollout": "simulation.rollout",
    "simulate": "simulation.run",
}
"""Names whose modules need SciPy: imported when first used, so that `import sharnir` is quick."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(f".{_LATER[name]}", __name__), name)
    raise AttributeError(f"module 'sharnir' has no attribute {name!r}")


__all__ = [
    "Ball",
    "Box",
    "Bushing",
    "ConstraintJoint",
    "CustomJoint",
    "Cylinder",
    "Cylindrical",
    "Drag",
    "Dynamics",
    "Event",
    "Force",
    "Free",
    "IntegrationError",
    "Joint",
    "JointFriction",
    "JointSpring",
    "JointStop",
    "Loads",
    "Matrices",
    "MethodError",
    "Model",
    "ModelError",
    "Motor",
    "Planar",
    "PointGravity",
    "Pose",
    "Prismatic",
    "Result",
    "Revolute",
    "Rod",
    "Rollout",
    "Rotation",
    "Screw",
    "SharnirError",
    "SimulationError",
    "SingularError",
    "Sphere",
    "SpringDamper",
    "StateError",
    "TraceError",
    "Translation",
    "Universal",
    "Weld",
    "Wrench",
    "acos",
    "asin",
    "atan",
    "atan2",
    "cache_clear",
    "cos",
    "cosh",
    "exp",
    "integrators",
    "log",
    "matrices",
    "maximum",
    "methods",
    "minimum",
    "power",
    "rollout",
    "samples",
    "select",
    "simulate",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]
