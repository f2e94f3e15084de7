"""The regressor: inverse dynamics as a matrix times masses, moments, inertias, armatures and coefficients of friction."""

from ...dialect.arrays import group
from ...kernels.direct import tangent_basis
from ...kernels.fold import spread
from ...kernels.inverse import inverse_dynamics
from ...kernels.joint_stage import JointValues, joint_stage
from ...kernels.kinematics import Drift, drift
from ...kernels.regressor import body_columns, joint_columns
from ..program import STATE, Program


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
    Program(
        "regressor", run_regressor, group(**STATE, qdd="nv", ratio="na", dry="na"),
        group(joint=JointValues, drift=Drift, wrench=("nb1", 6), qdd="na", acc=("nb1", 6), R=("nb1", 6), tau="na",
              B=("nb1", "na", 6)), group(Y=("nv", "ny")), wide=True,
    ),
]  # fmt: skip
