"""Powers of a state put together, in the dialect of the kernels."""

from typing import NamedTuple

from ..dialect.arrays import Array, IntegerArray


class Powers(NamedTuple):
    drive: Array["nd"]  # of the drives, where there are any, one number
    ground: Array["ng"]  # of every force on the ground, where that counts
    excess: Array["nf"]  # of every force beyond what its stored energy gives back
    kept: IntegerArray["nk"]  # the forces that are no conservative ones
    tau: Array["nv"]  # joint forces, where they work
    v: Array["nv"]
    power: Array["np"]


def collect_powers(p):
    at = 0
    if p.drive.shape[0] > 0:
        total = p.drive[0]
        for k in range(p.ground.shape[0]):  # what holds the moving base against forces on it
            total = total - p.ground[k]
        p.power[0] = total
        at = 1
    for k in range(p.kept.shape[0]):
        p.power[at + k] = p.excess[p.kept[k]]
    if p.tau.shape[0] > 0:
        total = 0.0
        for a in range(p.tau.shape[0]):
            total = total + p.tau[a] * p.v[a]
        p.power[at + p.kept.shape[0]] = total
