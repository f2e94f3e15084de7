"""Dormand and Prince's method of order 5(4), with dense output of order 4.

Coefficients: Dormand, Prince 1980; dense output: Shampine 1986, as in Hairer, Norsett, Wanner I, table II.5.2 and (6.15).
"""

from .advance import advance
from .dense import nested_polynomial
from .runge_kutta import explicit_rows, explicit_start, explicit_step

DOPRI5_SIZES = {"ns": 7, "nd": 1}
DOPRI5_C = (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
DOPRI5_A = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
DOPRI5_B = DOPRI5_A[6]
DOPRI5_E = ((71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40), (0, 0, 0, 0, 0, 0, 0))
DOPRI5_D = (
    (-12715105075 / 11282082432, 0, 87487479700 / 32700410799, -10690763975 / 1880347072,
     701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423),
)  # fmt: skip
DOPRI5_TABLEAU = {"A": DOPRI5_A, "B": DOPRI5_B, "C": DOPRI5_C, "E": DOPRI5_E, "D": DOPRI5_D}


DOPRI5_CONTROL = (6, 1, 0.17, 0.04, 0.2, 10.0)  # of explicit_step


def dopri5_start(problem, run, memory):
    return explicit_start(problem, run, 4.0)


def dopri5_step(problem, run, memory):
    return explicit_step(problem, run, memory, DOPRI5_CONTROL)


def dopri5_rows(problem, run, memory):
    explicit_rows(problem, run, memory.A, memory.C, memory.D, memory.K, 6, 0, 1)


def dopri5(problem, run, events, output, memory):
    return advance(dopri5_start, dopri5_step, dopri5_rows, nested_polynomial, problem, run, events, output, memory)
