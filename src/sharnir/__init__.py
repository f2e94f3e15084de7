"""sharnir: dynamics of multibody systems, every formulation of the equations of motion behind one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import (
    AssemblyError,
    DialectError,
    FormatError,
    IntegrationError,
    MethodError,
    ModelError,
    SharnirError,
    SimulationError,
    SingularError,
    StateError,
    TraceError,
)
from .model.services import provide

if TYPE_CHECKING:
    from .comparison.comparison import Comparison
    from .comparison.run import compare
    from .dialect.cache import cache_clear
    from .dynamics import Dynamics
    from .forms.matrices import Matrices, matrices
    from .integrate.methods import integrators
    from .io.load import load
    from .io.native import dumps, loads
    from .model import samples
    from .model.constraints import (
        Constraint,
        Distance,
        Gear,
        PointOnCurve,
        PointOnSurface,
        Rolling,
        SpeedConstraint,
    )
    from .model.events import Event
    from .model.forces import (
        Bushing,
        Drag,
        Force,
        JointFriction,
        JointSpring,
        JointStop,
        Motion,
        Motor,
        PointGravity,
        SpringDamper,
        Tendon,
        Wrench,
    )
    from .model.formulas import ConstraintFormula, PoseFormula, SignalFormula, VectorFormula
    from .model.import_report import ImportReport
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
    from .model.settings import SimulationSettings
    from .model.shapes import Box, Cylinder, Rod, Sphere
    from .programs.methods import methods
    from .simulation.result import Result
    from .simulation.rollout import Rollout, rollout
    from .simulation.run import simulate
    from .trace.formula import Formula, formula
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

__version__ = "0.1.0"

provide(
    {
        "assemble": ("sharnir.equations.assembly", "assemble"),
        "mobility": ("sharnir.equations.mobility", "mobility"),
        "save": ("sharnir.io.save", "save"),
    }
)

_HOMES = {
    "dialect.cache": "cache_clear",
    "comparison.comparison": "Comparison",
    "comparison.run": "compare",
    "dynamics": "Dynamics",
    "forms.matrices": "Matrices matrices",
    "integrate.methods": "integrators",
    "io.load": "load",
    "io.native": "dumps loads",
    "model.import_report": "ImportReport",
    "programs.methods": "methods",
    "model.constraints": "Constraint Distance Gear PointOnCurve PointOnSurface Rolling SpeedConstraint",
    "model.forces": "Bushing Drag Force JointFriction JointSpring JointStop Motion Motor PointGravity SpringDamper Tendon Wrench",
    "model.formulas": "ConstraintFormula PoseFormula SignalFormula VectorFormula",
    "model.joints": "Ball Compound ConstraintJoint CustomJoint Cylindrical Free Joint Planar Prismatic Revolute "
    "Screw Translation Universal Weld",
    "model.model": "Model",
    "model.pose": "Pose Rotation",
    "model.settings": "SimulationSettings",
    "model.shapes": "Box Cylinder Rod Sphere",
    "trace.formula": "Formula formula",
    "trace.functions": "acos asin atan atan2 cos cosh exp log maximum minimum power select sin sinh sqrt tan tanh",
    "model.samples": "samples",
    "model.events": "Event",
    "simulation.result": "Result",
    "simulation.rollout": "Rollout rollout",
    "simulation.run": "simulate",
}
"""Modules and the names they give. All are imported when first used: `import sharnir` and the command line are quick."""

_LATER = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        module = import_module(f".{_LATER[name]}", __name__)
        found = module if name == "samples" else getattr(module, name)
        globals()[name] = found  # next time it is found without asking
        return found
    raise AttributeError(f"module 'sharnir' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__all__ = [
    "AssemblyError",
    "Ball",
    "Box",
    "Bushing",
    "Comparison",
    "Compound",
    "Constraint",
    "ConstraintFormula",
    "ConstraintJoint",
    "CustomJoint",
    "Cylinder",
    "Cylindrical",
    "DialectError",
    "Distance",
    "Drag",
    "Dynamics",
    "Event",
    "Force",
    "FormatError",
    "Formula",
    "Free",
    "Gear",
    "ImportReport",
    "IntegrationError",
    "Joint",
    "JointFriction",
    "JointSpring",
    "JointStop",
    "Matrices",
    "MethodError",
    "Model",
    "ModelError",
    "Motion",
    "Motor",
    "Planar",
    "PointGravity",
    "PointOnCurve",
    "PointOnSurface",
    "Pose",
    "PoseFormula",
    "Prismatic",
    "Result",
    "Revolute",
    "Rod",
    "Rolling",
    "Rollout",
    "Rotation",
    "Screw",
    "SharnirError",
    "SignalFormula",
    "SimulationError",
    "SimulationSettings",
    "SingularError",
    "SpeedConstraint",
    "Sphere",
    "SpringDamper",
    "StateError",
    "Tendon",
    "TraceError",
    "Translation",
    "Universal",
    "VectorFormula",
    "Weld",
    "Wrench",
    "acos",
    "asin",
    "atan",
    "atan2",
    "cache_clear",
    "compare",
    "cos",
    "cosh",
    "dumps",
    "exp",
    "formula",
    "integrators",
    "load",
    "loads",
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
