"""Which execution of the equations of motion a run gets: straight-line code, loops, or calls from Python."""

from __future__ import annotations

from .interpreted import Interpreted
from .loops import ConstrainedLoops, EliminationLoops, ProgramLoops
from .motion_system import MotionSystem, Setup
from .straight_line import StraightLine, straight_line_code


def motion_system(setup: Setup) -> MotionSystem:
    """The fastest execution that method, backend and size of the model allow for."""
    f = setup.d.formulation
    code = straight_line_code(setup)
    if code is not None:
        return StraightLine(setup, code)
    if f.constrained:
        if f.constrained.backend == "python" or f.constrained.form:
            return Interpreted(setup)
        return EliminationLoops(setup) if f.constrained.sparse else ConstrainedLoops(setup)
    return Interpreted(setup) if f.requested == "python" or not f.method.program else ProgramLoops(setup)
