"""Which kernels, in which order, answer which question: every program of the package by its name."""

from typing import Any

from ..errors import MethodError
from . import coupled, forward, inertia, inverse, iterative, momentum, state
from .derivatives import DERIVATIVES
from .program import Program

PROGRAMS: dict[str, Program] = {
    program.name: program
    for module in (state, inverse, inertia, forward, momentum, iterative, coupled)
    for program in module.PROGRAMS
}

_ANY = ("poses", "motion", "rates", "velocities", "energy", "total", "drive-power", "columns")
"""Programs that need only coordinates and speeds: the same for coupled coordinates."""


def program_for(structure: Any, name: str) -> Program:
    """The program of that name, in the form a model with coupled coordinates needs where this is one."""
    known = PROGRAMS if name in PROGRAMS else DERIVATIVES
    if not structure.coupled or name in _ANY:
        return known[name]
    if f"coupled/{name}" in known:
        return known[f"coupled/{name}"]
    raise MethodError(f"{name!r} does not handle coupled coordinates; choose the method 'composite' or 'extended'")
