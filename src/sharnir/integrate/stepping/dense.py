"""Between the ends of a step: the nested polynomial all one-step methods share.

    x(t) = x_old + u (F0 + (1-u) (F1 + u (F2 + (1-u) (F3 + …)))),   u = (t - t_old) / h

F0, F1, F2 alone are the cubic of Hermite; higher orders add rows.  Hairer, Norsett, Wanner I, II.6
"""

from typing import NamedTuple

from ...kernels.arrays import Array
from .state import DENSE, T_OLD, T


class Hermite(NamedTuple):
    F: Array[3, "n"]


def hermite_rows(run, F):
    """The first three rows, from states and derivatives at both ends."""
    h = run.clock[T] - run.clock[T_OLD]
    for i in range(run.x.shape[0]):
        rise = run.x[i] - run.x_old[i]
        F[0, i] = rise
        F[1, i] = h * run.dx_old[i] - rise
        F[2, i] = 2.0 * rise - h * (run.dx[i] + run.dx_old[i])


def nested_polynomial(run, F, t, out):
    u = (t - run.clock[T_OLD]) / (run.clock[T] - run.clock[T_OLD])
    for i in range(out.shape[0]):
        out[i] = 0.0
    for row in range(F.shape[0] - 1, -1, -1):
        factor = u if row % 2 == 0 else 1.0 - u
        for i in range(out.shape[0]):
            out[i] = (out[i] + F[row, i]) * factor
    for i in range(out.shape[0]):
        out[i] += run.x_old[i]


def hermite_dense(problem, run, memory, t, out):
    """The dense output of the fixed-step methods."""
    if run.clock[DENSE] == 0.0:
        hermite_rows(run, memory.F)
        run.clock[DENSE] = 1.0
    nested_polynomial(run, memory.F, t, out)
