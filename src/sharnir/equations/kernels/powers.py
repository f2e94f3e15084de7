"""The powers of all causes at one state, collected; in the dialect of the kernels."""

from typing import NamedTuple

from ...dialect.arrays import Array, IntegerArray


class Powers(NamedTuple):
    drive: Array["nd"]  # of the drives, one number; none where there are no drives
    prescribed: Array["ng"]  # of every force on what moves as a given function of time
    excess: Array["nf"]  # of every force, less the rate of change of the energy it stores
    dissipative: IntegerArray["nk"]  # the forces that are not conservative
    tau: Array["nv"]  # joint forces, where they do work
    v: Array["nv"]
    power: Array["np"]


def collect_powers(p):
    at = 0
    if p.drive.shape[0] > 0:
        total = p.drive[0]
        for k in range(p.prescribed.shape[0]):  # the drives bear these
            total = total - p.prescribed[k]
        p.power[0] = total
        at = 1
    for k in range(p.dissipative.shape[0]):
        p.power[at + k] = p.excess[p.dissipative[k]]
    if p.tau.shape[0] > 0:
        total = 0.0
        for a in range(p.tau.shape[0]):
            total = total + p.tau[a] * p.v[a]
        p.power[at + p.dissipative.shape[0]] = total
