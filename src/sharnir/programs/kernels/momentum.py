"""The form in momenta: speeds from momenta, and the rates of momenta."""

from typing import NamedTuple

from ...dialect.arrays import Array, group
from ...kernels.joint_stage import JointValues, joint_stage
from ...kernels.kinematics import Poses, poses, velocities, zeros
from ...kernels.momentum import carried_momenta, momentum_rates
from ...kernels.separate import SeparateWork, separate_bodies
from ..program import POSITION, Forced, Program


class SpeedsWork(NamedTuple):
    v: Array["nv"]
    joint: JointValues
    F: Array["nb1", 6]
    base: Array[1, 6]
    separate: SeparateWork


def run_speeds(tree, joints, x, w, y):
    """One sweep of separate bodies on the velocity level: v^r at rest for w*, no forces, p for tau."""
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    for i in range(tree.carrier.shape[0]):
        for c in range(6):
            w.F[i, c] = 0.0
    for c in range(6):
        w.base[0, c] = w.joint.vr[0, c]
    separate_bodies(tree, w.joint, w.joint.vr, w.F, w.base, x.p, w.separate, y.v)


class RatesWork(NamedTuple):
    joint: JointValues
    poses: Poses
    velocity: Array["nb1", 6]
    momentum: Array["nb1", 6]
    p: Array["nv"]
    F: Array["nb1", 6]


def run_momentum_rates(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    poses(tree, w.joint, w.poses)
    velocities(tree, w.joint, w.velocity)
    carried_momenta(tree, w.joint, w.velocity, x.v, w.momentum, w.p)
    momentum_rates(tree, w.joint, w.poses, w.velocity, w.momentum, x.wrench, x.tau, w.F, y.dp)


PROGRAMS = [
    Program("speeds", run_speeds, group(**POSITION, p="nv"), SpeedsWork, group(v="nv")),
    Program("momentum-rates", run_momentum_rates, Forced, RatesWork, group(dp="nv"), axis_rates=True),
]
