"""Radau IIA of order 5, adaptive, for stiff problems: collocation at three points, the last of them the end.

    Z_k = h sum_j a_kj f(t + c_j h, x + Z_j);   Z = T W makes it one real and one complex system of size n

Simplified Newton with a Jacobian and factors reused while it converges; dense output is the collocation polynomial.
Hairer, Wanner II, IV.8 (RADAU5); step control: Gustafsson, ibid. (8.25)
"""

from typing import NamedTuple

from ...dialect.arrays import Array, ComplexArray
from ...dialect.ops import sqrt
from .advance import advance
from .control import begin, first_step, weight_of
from .dense import nested_polynomial
from .linear import lu_factor, lu_solve
from .problem import copy, derive, differentiate, evaluate, project
from .state import (
    EPS,
    ERROR_OLD,
    FACTORIZATIONS,
    GOING,
    MAX_STEP,
    NO_CONVERGENCE,
    NOT_FINITE,
    REJECTED,
    RTOL,
    STEP_TOO_SMALL,
    H,
    T,
    all_finite,
    arrive_at,
    keep_old,
    reach,
    smallest_step,
)

NEWTON = 6  # iterations at most
FAILURES = 40  # shortenings of one step before giving up
S6 = 2.449489742783178
RADAU_C = ((4.0 - S6) / 10.0, (4.0 + S6) / 10.0, 1.0)
RADAU_E = ((-13.0 - 7.0 * S6) / 3.0, (-13.0 + 7.0 * S6) / 3.0, -1.0 / 3.0)
MU_REAL = 3.637834252744496  # eigenvalues of the inverse of (a_kj)
MU_RE, MU_IM = 2.6810828736277523, -3.0504301992474105
RADAU_T = (0.09443876248897524, -0.14125529502095421, 0.03002919410514742,
           0.25021312296533332, 0.20412935229379994, -0.38294211275726192,
           1.0, 1.0, 0.0)  # fmt: skip
RADAU_TI = (4.17871859155190428, 0.32768282076106237, 0.52337644549944951,
            -4.17871859155190428, -0.32768282076106237, 0.47662355450055044,
            0.50287263494578682, -2.57192694985560522, 0.59603920482822492)  # fmt: skip
RADAU_P = (13.0 / 3.0 + 7.0 * S6 / 3.0, -23.0 / 3.0 - 22.0 * S6 / 3.0, 10.0 / 3.0 + 5.0 * S6,
           13.0 / 3.0 - 7.0 * S6 / 3.0, -23.0 / 3.0 + 22.0 * S6 / 3.0, 10.0 / 3.0 - 5.0 * S6,
           1.0 / 3.0, -8.0 / 3.0, 10.0 / 3.0)  # fmt: skip

FRESH, STALE, H_LU, H_OLD, SOLUTION, RATE = range(6)


class RadauMemory(NamedTuple):
    Z: Array[3, "n"]  # stages minus the state
    W: Array[3, "n"]  # the same, transformed
    F: Array[3, "n"]
    E1: Array["n", "n"]  # factors of mu/h - J
    E2: ComplexArray["n", "n"]
    p1: Array["n"]
    p2: Array["n"]
    b1: Array["n"]
    b2: ComplexArray["n"]
    base: Array["n"]  # where the last step began: its polynomial guesses the next
    y: Array["n"]
    now: Array[6]  # FRESH: J is of this state; STALE: make a new one; step of the factors; last step; is there a polynomial


def radau_start(problem, run, memory):
    if not begin(problem, run):
        return NOT_FINITE
    first_step(problem, run, 3.0)
    for k in range(memory.now.shape[0]):
        memory.now[k] = 0.0
    memory.now[STALE] = 1.0
    return GOING


def radau_step(problem, run, memory):
    clock, now = run.clock, memory.now
    h = clock[H]
    rejected, failures, blown = False, 0, False
    keep_old(run)
    if now[STALE] == 1.0:
        radau_jacobian(problem, run, memory)
    while True:
        if failures > FAILURES or not abs(h) >= smallest_step(run):
            return NOT_FINITE if blown else NO_CONVERGENCE if failures > 0 else STEP_TOO_SMALL
        t_new = reach(run, h)
        h = t_new - clock[T]
        radau_guess(run, memory, h)
        count = radau_newton(problem, run, memory, h)
        if count <= 0 and now[FRESH] == 0.0:  # first suspect the old Jacobian
            radau_jacobian(problem, run, memory)
            radau_guess(run, memory, h)
            count = radau_newton(problem, run, memory, h)
        if count <= 0:
            blown = count < 0
            failures += 1
            run.tally[REJECTED] += 1.0
            rejected = True
            h *= 0.25 if blown else 0.5
            continue
        safety = 0.9 * (2.0 * NEWTON + 1.0) / (2.0 * NEWTON + count)
        error = radau_error(problem, run, memory, h, rejected)
        if error <= 1.0:
            copy(memory.y, run.x)
            project(problem, t_new, run.x)
            evaluate(problem, run, t_new, run.x, run.dx)
            if all_finite(run, run.dx):
                break
            copy(run.x_old, run.x)
            copy(run.dx_old, run.dx)
            blown = True
        run.tally[REJECTED] += 1.0
        rejected = True
        if error == error and not blown:
            h *= max(0.2, safety * radau_factor(clock, now, h, error))
        else:
            failures += 1
            h *= 0.25
    factor = min(10.0, safety * radau_factor(clock, now, h, error))
    now[FRESH] = 0.0
    now[STALE] = 1.0 if count > 2 and now[RATE] > 1e-3 else 0.0
    if now[STALE] == 0.0 and factor < 1.2 and factor >= 1.0:  # not worth new factors
        factor = 1.0
    now[H_OLD] = h
    clock[ERROR_OLD] = max(error, 1e-10)
    radau_rows(run, memory)
    arrive_at(run, t_new)
    clock[H] = h * factor
    if abs(clock[H]) > run.rule[MAX_STEP]:
        clock[H] = run.rule[MAX_STEP] * h / abs(h)
    return GOING


def radau_jacobian(problem, run, memory):
    differentiate(problem, run, memory.y)
    memory.now[FRESH] = 1.0
    memory.now[STALE] = 0.0
    memory.now[H_LU] = 0.0


def radau_factors(problem, run, memory, h):
    """E1, E2: mu/h - J for the real eigenvalue and one of the complex pair.  J is stored by columns."""
    n = run.x.shape[0]
    for i in range(n):
        for j in range(n):
            memory.E1[i, j] = -problem.J[j, i]
            memory.E2[i, j] = -problem.J[j, i]
        memory.E1[i, i] += MU_REAL / h
        memory.E2[i, i] += complex(MU_RE / h, MU_IM / h)
    lu_factor(memory.E1, memory.p1)
    lu_factor(memory.E2, memory.p2)
    memory.now[H_LU] = h
    run.tally[FACTORIZATIONS] += 2.0


def radau_guess(run, memory, h):
    """Z from the polynomial of the last step, carried on."""
    for k in range(3):
        u = 1.0 + RADAU_C[k] * h / memory.now[H_OLD] if memory.now[SOLUTION] == 1.0 else 0.0
        for i in range(run.x.shape[0]):
            if memory.now[SOLUTION] == 1.0:
                p = u * (run.F[0, i] + (1.0 - u) * (run.F[1, i] + u * run.F[2, i]))
                memory.Z[k, i] = memory.base[i] + p - run.x_old[i]
            else:
                memory.Z[k, i] = 0.0
    transform(RADAU_TI, memory.Z, memory.W)


def transform(M, A, B):
    """B = M A for a 3 x 3 matrix M."""
    for i in range(A.shape[1]):
        a, b, c = A[0, i], A[1, i], A[2, i]
        for k in range(3):
            B[k, i] = M[3 * k] * a + M[3 * k + 1] * b + M[3 * k + 2] * c


def radau_newton(problem, run, memory, h):
    """Solve for Z; returns the number of iterations, 0 where they do not converge, -1 where numbers are not finite."""
    n = run.x.shape[0]
    now, W, F = memory.now, memory.W, memory.F
    if not abs(h - now[H_LU]) <= 1e-6 * abs(h):
        radau_factors(problem, run, memory, h)
    rtol = max(run.rule[RTOL], 1e-15)
    goal = max(10.0 * EPS / rtol, min(0.03, sqrt(rtol)))
    before, rate = 0.0, 0.0
    now[RATE] = 1.0
    for count in range(1, NEWTON + 1):
        for k in range(3):
            for i in range(n):
                problem.X[i] = run.x_old[i] + memory.Z[k, i]
            derive(problem, run, run.clock[T] + RADAU_C[k] * h)
            copy(problem.DX, F[k])
            if not all_finite(run, F[k]):
                return -1
        transform(RADAU_TI, F, F)
        for i in range(n):
            memory.b1[i] = F[0, i] - MU_REAL / h * W[0, i]
            memory.b2[i] = complex(F[1, i], F[2, i]) - complex(MU_RE / h, MU_IM / h) * complex(W[1, i], W[2, i])
        lu_solve(memory.E1, memory.p1, memory.b1)
        lu_solve(memory.E2, memory.p2, memory.b2)
        size = 0.0
        for i in range(n):
            w = run.atol[i] + run.rule[RTOL] * abs(run.x_old[i])
            d0, d1, d2 = memory.b1[i] / w, memory.b2[i].real / w, memory.b2[i].imag / w
            size += d0 * d0 + d1 * d1 + d2 * d2
        size = sqrt(size / (3.0 * max(n, 1)))
        if 0.0 * size != 0.0:
            return -1
        if count > 1:
            rate = size / before if before > 0.0 else 0.0
            now[RATE] = rate
            if rate >= 1.0 or rate ** (NEWTON - count + 1.0) / (1.0 - rate) * size > goal:
                return 0
        for i in range(n):
            W[0, i] += memory.b1[i]
            W[1, i] += memory.b2[i].real
            W[2, i] += memory.b2[i].imag
        transform(RADAU_T, W, memory.Z)
        if size == 0.0 or (count > 1 and rate / (1.0 - rate) * size < goal):
            return count
        before = size
    return 0


def radau_error(problem, run, memory, h, again):
    """Norm of the error by the embedded formula of order 3, filtered by E1; the new state is left in memory.y.  (8.20)"""
    n = run.x.shape[0]
    b, y = memory.b1, memory.y
    for i in range(n):
        y[i] = run.x_old[i] + memory.Z[2, i]
        W = (RADAU_E[0] * memory.Z[0, i] + RADAU_E[1] * memory.Z[1, i] + RADAU_E[2] * memory.Z[2, i]) / h
        memory.F[0, i] = W
        b[i] = run.dx_old[i] + W
    lu_solve(memory.E1, memory.p1, b)
    error = radau_norm(run, y, b)
    if again and error > 1.0:
        for i in range(n):
            problem.X[i] = run.x_old[i] + b[i]
        derive(problem, run, run.clock[T])
        for i in range(n):
            b[i] = problem.DX[i] + memory.F[0, i]
        lu_solve(memory.E1, memory.p1, b)
        error = radau_norm(run, y, b)
    return error


def radau_norm(run, y, e):
    total = 0.0
    for i in range(e.shape[0]):
        d = e[i] / weight_of(run, i, y[i])
        total += d * d
    return sqrt(total / max(e.shape[0], 1))


def radau_factor(clock, now, h, error):
    """How much longer the next step may be: from this error, and from how errors went from the last step to this."""
    if error == 0.0:
        return 10.0
    trend = 1.0
    if now[H_OLD] != 0.0:
        trend = min(1.0, abs(h / now[H_OLD]) * (clock[ERROR_OLD] / error) ** 0.25)
    return trend * error**-0.25


def radau_rows(run, memory):
    """The collocation polynomial in nested form; made at every step, since it guesses the next."""
    for i in range(run.x.shape[0]):
        a, b, c = memory.Z[0, i], memory.Z[1, i], memory.Z[2, i]
        square = RADAU_P[1] * a + RADAU_P[4] * b + RADAU_P[7] * c
        cube = RADAU_P[2] * a + RADAU_P[5] * b + RADAU_P[8] * c
        run.F[0, i] = c
        run.F[1, i] = -square - cube
        run.F[2, i] = -cube
        memory.base[i] = run.x_old[i]
    memory.now[SOLUTION] = 1.0


def radau_prepare(problem, run, memory):
    """No work: the rows exist already."""


def radau(problem, run, events, output, memory):
    return advance(radau_start, radau_step, radau_prepare, nested_polynomial, problem, run, events, output, memory)
