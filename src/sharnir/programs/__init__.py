"""Which kernels, in which order, answer which question: every program of the package by its name."""

from ..errors import MethodError
from . import by_algorithm
from .kernels import (
    closed,
    coupled,
    derivatives,
    force_report,
    forward,
    inverse,
    momentum,
    points,
    regressor,
    state,
)
from .program import Program, Sized

PROGRAMS: dict[str, Program] = {
    program.name: program
    for module in (state, points, inverse, forward, momentum, regressor, coupled, by_algorithm)
    for program in module.PROGRAMS
}

CLOSED: dict[str, Program] = {program.name: program for program in closed.PROGRAMS}
"""Apart, because they need constraints: `equations/motion/sparse.py` runs them."""

DERIVATIVES: dict[str, Program] = {program.name: program for program in derivatives.PROGRAMS}
"""Apart, because they do not handle every joint: `backends/differentiated.py` knows which."""

(FORCE_REPORT,) = force_report.PROGRAMS

_ANY = (
    "poses",
    "motion",
    "axes",
    "rates",
    "velocities",
    "energy",
    "total",
    "drive-power",
    "columns",
    "pose",
    "point-velocity",
    "point-acceleration",
    "regressor",
)
"""Programs that need only coordinates and speeds, or add up over axes themselves: the same for coupled coordinates."""


def program_for(structure: Sized, name: str) -> Program:
    """The program of that name, in the form a model with coupled coordinates needs where this is one."""
    known = PROGRAMS if name in PROGRAMS else DERIVATIVES
    if not structure.coupled or name in _ANY:
        return known[name]
    if f"coupled/{name}" in known:
        return known[f"coupled/{name}"]
    raise MethodError(f"{name!r} does not handle coupled coordinates; choose the method 'composite' or 'extended'")


_FROM_FORCES = ("forward", "solve", "speeds")
"""Questions for a motion that forces or momenta cause."""


def needs_inertia(name: str) -> bool:
    """Whether a program has an answer only where every joint moves mass."""
    return name.removeprefix("coupled/").split("/")[0] in _FROM_FORCES
