"""The user's own functions (drives, custom joints, a moving base), and what forces report, as programs of their own.

Every program is handed the values of the functions; the first one here hands them on. Traced, it is the code of those
functions and no more: backends that loop need it. The second does the same with energy and power of the model's forces.
Neither is for loops.
"""

from typing import NamedTuple

from ..dialect.arrays import Array
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


class Reported(NamedTuple):
    drive: Array["nd", 3]
    given: Array["ng"]
    q: Array["nq"]
    v: Array["nv"]
    report: Array[2, "ne"]


class ReportOut(NamedTuple):
    energy: Array["ne"]
    power: Array["ne"]


def hand_on_report(tree, joints, x, w, y):
    for k in range(y.energy.shape[0]):
        y.energy[k] = x.report[0, k]
        y.power[k] = x.report[1, k]


FORCE_REPORT = Program("forces", hand_on_report, Reported, NoWork, ReportOut)
