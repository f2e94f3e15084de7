"""Which kernels, in which order, answer which question: every program of the package by its name."""

from ..dialect.arrays import group
from ..errors import MethodError
from . import by_algorithm
from .kernels import closed, coupled, derivatives, forward, inverse, kane, points, state
from .program import STATE, Program, Sized

PROGRAMS: dict[str, Program] = {
    program.name: program
    for module in (state, points, inverse, forward, coupled, kane, by_algorithm)
    for program in module.PROGRAMS
}

CLOSED: dict[str, Program] = {program.name: program for program in closed.PROGRAMS}
"""Apart, because they need constraints: `equations/motion/sparse.py` runs them."""

DERIVATIVES: dict[str, Program] = {program.name: program for program in derivatives.PROGRAMS}
"""Apart, because they do not handle every joint: `backends/differentiated.py` knows which."""

FORCE_REPORT = Program("forces", state.copy_report, group(**STATE, report=(2, "ne")), group(), group(energy="ne", power="ne"))


def program_for(structure: Sized, name: str) -> Program:
    """The program of that name, in the form a model with coupled coordinates needs where this is one. What has no such form
    serves for both: it needs only coordinates and speeds, or adds up over axes itself; but for iterations on multipliers, and the
    rates of the momenta of elastic coordinates."""
    known = PROGRAMS if name in PROGRAMS else DERIVATIVES
    found = known.get(f"coupled/{name}", known[name]) if structure.coupled else known[name]
    if structure.coupled and found.loops_only and f"coupled/{name}" not in known:
        raise MethodError(f"{name!r} does not handle coupled coordinates; choose the method 'composite' or 'extended'")
    if name == "momentum-rates" and structure.sizes["nfl"]:
        raise MethodError(f"{name!r} does not handle flexible bodies; choose a method with accelerations")
    return found


_FROM_FORCES = ("forward", "solve", "speeds")
"""Questions for a motion that forces or momenta cause."""


def needs_inertia(name: str) -> bool:
    """Whether a program has an answer only where every joint moves mass."""
    return name.removeprefix("coupled/").split("/")[0] in _FROM_FORCES
