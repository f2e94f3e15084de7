"""The problem as an integrator sees it: buffers, and native functions that read and write them.

A native function is `void f(int64 *arguments)`; the addresses of the buffers it reads and writes are in its arguments,
so that it is called with two integers and nothing is looked up in the loop. A role (the derivative, a projection, …) is
played by any number of them, one after the other.
"""

from typing import NamedTuple

from ...dialect.arrays import Array, IntegerArray
from ...dialect.memory import invoke
from .state import EVALUATIONS, JACOBIANS, H, T

DERIVATIVE = 0  # DX from X and T
RATES = 1  # the first `split` numbers of DX alone, where that is cheaper
PROJECTION = 2  # X onto what it must satisfy, in place
EVENTS = 3  # G from X and T
JACOBIAN = 4  # J from X and T, by columns: J[j, i] is the derivative of DX[i] by X[j]


class Problem(NamedTuple):
    X: Array["n"]
    DX: Array["n"]
    T: Array[1]
    G: Array["ng"]
    J: Array["nj", "nj"]
    report: Array["nr"]  # written by the caller's functions, summed after every step
    calls: IntegerArray["nc", 2]  # address of a function, address of its arguments
    first: IntegerArray[6]  # role r is played by the calls first[r] … first[r + 1] - 1


def has(problem, role):
    return problem.first[role] < problem.first[role + 1]


def perform(problem, role):
    for c in range(problem.first[role], problem.first[role + 1]):
        invoke(problem.calls[c, 0], problem.calls[c, 1])


def slope(problem, t):
    """problem.DX at (t, problem.X)."""
    problem.T[0] = t
    perform(problem, DERIVATIVE)


def derive(problem, run, t):
    """`slope`, counted."""
    slope(problem, t)
    run.tally[EVALUATIONS] += 1.0


def evaluate(problem, run, t, x, dx):
    """dx = f(t, x)."""
    copy(x, problem.X)
    derive(problem, run, t)
    copy(problem.DX, dx)


def project(problem, t, x):
    """Project x onto what it must satisfy, in place; returns whether there is a projection."""
    if not has(problem, PROJECTION):
        return False
    copy(x, problem.X)
    problem.T[0] = t
    perform(problem, PROJECTION)
    copy(problem.X, x)
    return True


def differentiate(problem, run, work):
    """problem.J at the state where the run stands: the caller's own, or by differences (forward, work (n,))."""
    n = run.x.shape[0]
    t = run.clock[T]
    run.tally[JACOBIANS] += 1.0
    if has(problem, JACOBIAN):
        copy(run.x, problem.X)
        problem.T[0] = t
        perform(problem, JACOBIAN)
        return
    copy(run.x, work)
    for j in range(n):
        x = run.x[j]
        scale = max(abs(x), abs(run.clock[H] * run.dx[j]), run.atol[j])
        work[j] = x + 1.5e-8 * scale
        step = work[j] - x  # what was really added
        if step == 0.0:
            work[j] = x + 1.5e-8
            step = work[j] - x
        copy(work, problem.X)
        derive(problem, run, t)
        for i in range(n):
            problem.J[j, i] = (problem.DX[i] - run.dx[i]) / step
        work[j] = x


def copy(source, target):
    for i in range(target.shape[0]):
        target[i] = source[i]
