"""Between the ends of a step: the nested polynomial all one-step methods share.

    x(t) = x_old + u (F0 + (1-u) (F1 + u (F2 + (1-u) (F3 + …)))),   u = (t - t_old) / h

F0, F1, F2 alone are the cubic of Hermite; higher orders add rows.  Hairer, Norsett, Wanner I, II.6
"""

from .state import T_OLD, T


def hermite_rows(problem, run, memory):
    """The first three rows, from states and derivatives at both ends: all that the fixed-step methods have."""
    F = run.F
    h = run.clock[T] - run.clock[T_OLD]
    for i in range(run.x.shape[0]):
        rise = run.x[i] - run.x_old[i]
        F[0, i] = rise
        F[1, i] = h * run.dx_old[i] - rise
        F[2, i] = 2.0 * rise - h * (run.dx[i] + run.dx_old[i])


def nested_polynomial(run, t, out):
    F = run.F
    u = (t - run.clock[T_OLD]) / (run.clock[T] - run.clock[T_OLD])
    for i in range(out.shape[0]):
        out[i] = 0.0
    for row in range(F.shape[0] - 1, -1, -1):
        factor = u if row % 2 == 0 else 1.0 - u
        for i in range(out.shape[0]):
            out[i] = (out[i] + F[row, i]) * factor
    for i in range(out.shape[0]):
        out[i] += run.x_old[i]
