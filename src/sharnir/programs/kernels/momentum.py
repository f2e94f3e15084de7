"""The form in momenta: speeds from momenta, and the rates of momenta."""

from ...dialect.arrays import group
from ...kernels.joint_stage import JointValues, joint_stage
from ...kernels.kinematics import Poses, poses, velocities, zeros
from ...kernels.momentum import carried_momenta, momentum_rates
from ...kernels.separate import SeparateWork, separate_bodies
from ..program import POSITION, Forced, Program


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


def run_momentum_rates(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    poses(tree, w.joint, w.poses)
    velocities(tree, w.joint, w.velocity)
    carried_momenta(tree, w.joint, w.velocity, x.v, w.momentum, w.p)
    momentum_rates(tree, w.joint, w.poses, w.velocity, w.momentum, x.wrench, x.tau, w.F, y.dp)


PROGRAMS = [
    Program(
        "speeds", run_speeds, group(**POSITION, p="nv"),
        group(v="nv", joint=JointValues, F=("nb1", 6), base=(1, 6), separate=SeparateWork), group(v="nv"),
    ),
    Program(
        "momentum-rates", run_momentum_rates, Forced,
        group(joint=JointValues, poses=Poses, velocity=("nb1", 6), momentum=("nb1", 6), p="nv", F=("nb1", 6)), group(dp="nv"),
        axis_rates=True,
    ),
]  # fmt: skip
