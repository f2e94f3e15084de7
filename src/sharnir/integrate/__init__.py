"""Time integration of ordinary differential equations; knows no mechanics."""

from .driver import run
from .methods import INTEGRATORS, Integrator, integrators
from .system import Buffers, System, buffers, from_python, from_traced
from .trajectory import Event, EventRecord, Statistics, Switch, Trajectory

__all__ = [
    "INTEGRATORS",
    "Buffers",
    "Event",
    "EventRecord",
    "Integrator",
    "Statistics",
    "Switch",
    "System",
    "Trajectory",
    "buffers",
    "from_python",
    "from_traced",
    "integrators",
    "run",
]
