"""Inverse dynamics: joint forces and reactions from the motion; the bias forces; the regressor, which is linear in the masses."""

from typing import NamedTuple

from ...dialect.arrays import Array, group
from ...kernels.direct import tangent_basis
from ...kernels.fold import spread
from ...kernels.inverse import inverse_dynamics
from ...kernels.joint_stage import JointValues, joint_stage
from ...kernels.kinematics import Drift, Poses, drift, poses, true_accelerations, zeros
from ...kernels.regressor import body_columns, joint_columns
from ..program import STATE, Bias, Moved, Program


class Work(NamedTuple):
    joint: JointValues
    drift: Drift
    zero: Array["na"]
    acc: Array["nb1", 6]
    R: Array["nb1", 6]
    poses: Poses


class InverseOut(NamedTuple):
    tau: Array["nv"]


class ReactionsOut(NamedTuple):
    tau: Array["nv"]
    vdot: Array["nb1", 6]  # true accelerations, body axes
    R: Array["nb1", 6]


def take_off(load, tau):
    """Subtract from tau what the model's own forces contribute at the joints."""
    for a in range(load.shape[0]):
        tau[a] = tau[a] - load[a]


def run_inverse(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    drift(tree, w.joint, x.wrench, w.drift)
    inverse_dynamics(tree, w.joint, w.drift, x.qdd, w.acc, w.R, y.tau)
    take_off(x.load, y.tau)


def run_kinetostatics(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    drift(tree, w.joint, x.wrench, w.drift)
    inverse_dynamics(tree, w.joint, w.drift, x.qdd, w.acc, y.R, y.tau)
    take_off(x.load, y.tau)
    poses(tree, w.joint, w.poses)
    true_accelerations(tree, w.poses, w.acc, y.vdot)


class BiasOut(NamedTuple):
    h: Array["nv"]


def run_bias(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    drift(tree, w.joint, x.wrench, w.drift)
    zeros(w.zero)
    inverse_dynamics(tree, w.joint, w.drift, w.zero, w.acc, w.R, y.h)
    take_off(x.load, y.h)


def run_regressor(tree, joints, x, w, y):
    """The regressor, also for coupled coordinates: axes that share a speed add up in its row."""
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    for i in range(w.wrench.shape[0]):
        for c in range(6):
            w.wrench[i, c] = 0.0
    drift(tree, w.joint, w.wrench, w.drift)
    spread(tree, x.qdd, w.qdd)
    inverse_dynamics(tree, w.joint, w.drift, w.qdd, w.acc, w.R, w.tau)
    tangent_basis(tree, w.joint, w.B)
    body_columns(tree, w.drift, w.acc, w.B, y.Y)
    joint_columns(tree, x.v, w.qdd, x.ratio, x.dry, y.Y)


PROGRAMS = [
    Program("inverse", run_inverse, Moved, Work, InverseOut),
    Program("kinetostatics", run_kinetostatics, Moved, Work, ReactionsOut),
    Program("bias", run_bias, Bias, Work, BiasOut),
    Program(
        "regressor", run_regressor, group(**STATE, qdd="nv", ratio="na", dry="na"),
        group(joint=JointValues, drift=Drift, wrench=("nb1", 6), qdd="na", acc=("nb1", 6), R=("nb1", 6), tau="na",
              B=("nb1", "na", 6)), group(Y=("nv", "ny")), wide=True,
    ),
]  # fmt: skip
