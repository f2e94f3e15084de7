"""The user's own functions (drives, custom joints, a moving base) as a program of their own, for backends that loop.

Every program is handed their values; this one hands them on. Traced, it is the code of those functions and no more.
"""

from typing import NamedTuple

from ..kernels.arrays import Array
from ..programs.inputs import State
from ..programs.program import Program


class Values(NamedTuple):
    drive: Array["nd", 3]
    given: Array["ng"]


class NoWork(NamedTuple):
    pass


def hand_on(tree, joints, x, w, y):
    for k in range(x.drive.shape[0]):
        for c in range(3):
            y.drive[k, c] = x.drive[k, c]
    for k in range(x.given.shape[0]):
        y.given[k] = x.given[k]


USER_FUNCTIONS = Program("user functions", hand_on, State, NoWork, Values)
