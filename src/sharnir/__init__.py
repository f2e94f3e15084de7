"""sharnir: dynamics of multibody systems, every formulation of the equations of motion behind one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import FormatError, MethodError, ModelError, SharnirError, SingularError, StateError, TraceError
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
    Compound,
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
    from .io.load import load
    from .io.report import ImportReport
    from .method_table import methods

__version__ = "0.1.0"

_LATER = {
    "Dynamics": "dynamics",
    "ImportReport": "io.report",
    "Matrices": "forms.matrices",
    "cache_clear": "backends.cache",
    "load": "io.load",
    "matrices": "forms.matrices",
    "methods": "method_table",
}
"""Names whose modules need SciPy, or that not every program needs: imported when first used, so that `import sharnir` is quick."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(f".{_LATER[name]}", __name__), name)
    raise AttributeError(f"module 'sharnir' has no attribute {name!r}")


__all__ = [
    "Ball",
    "Box",
    "Bushing",
    "Compound",
    "ConstraintJoint",
    "CustomJoint",
    "Cylinder",
    "Cylindrical",
    "Drag",
    "Dynamics",
    "Force",
    "FormatError",
    "Free",
    "ImportReport",
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
    "Revolute",
    "Rod",
    "Rotation",
    "Screw",
    "SharnirError",
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
    "load",
    "log",
    "matrices",
    "maximum",
    "methods",
    "minimum",
    "power",
    "samples",
    "select",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]
