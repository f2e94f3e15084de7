"""Which kernels, in which order, answer which question: every program of the package by its name."""

from . import forward, inertia, inverse, iterative, momentum, state
from .program import Program

PROGRAMS: dict[str, Program] = {
    program.name: program for module in (state, inverse, inertia, forward, momentum, iterative) for program in module.PROGRAMS
}
