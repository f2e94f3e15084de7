"""Energy and power of the forces of a model as a program, which copies them. Not for loops: see `grouped_forces.py`."""

from typing import NamedTuple

from ...dialect.arrays import Array
from ..program import Program


class NoWork(NamedTuple):
    pass


class Reported(NamedTuple):
    drive: Array["nd", 3]
    given: Array["ng"]
    q: Array["nq"]
    v: Array["nv"]
    report: Array[2, "ne"]


class ReportOut(NamedTuple):
    energy: Array["ne"]
    power: Array["ne"]


def copy_report(tree, joints, x, w, y):
    for k in range(y.energy.shape[0]):
        y.energy[k] = x.report[0, k]
        y.power[k] = x.report[1, k]


PROGRAMS = (Program("forces", copy_report, Reported, NoWork, ReportOut),)
