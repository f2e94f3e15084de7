"""Questions to models with coupled coordinates: computed on axes, folded onto speeds.

Folding fills in the zeros that elimination along the tree relies on, so the inertia matrix is factorised as a dense one.
"""

from typing import NamedTuple

from ...dialect.arrays import Array, group
from ...kernels.cholesky import factor, substitute
from ...kernels.fold import fold, fold_matrix, spread
from ...kernels.inverse import inverse_dynamics
from ...kernels.joint_stage import JointValues, joint_stage
from ...kernels.kinematics import Drift, Poses, drift, no_drift, poses, true_accelerations, velocities, zeros
from ...kernels.momentum import carried_momenta, momentum_rates, rotor_momenta
from ...kernels.separate import SeparateWork, separate_reactions
from ...kernels.shared_unknowns import SharedWork, shared_bodies, shared_reactions
from ..program import POSITION, Bias, Forced, Moved, Program, State
from .forward import ForwardOut, SolveOut, at_rest, composite, matrix_system, state_stage
from .inverse import BiasOut, InverseOut, ReactionsOut, take_off
from .state import MomentaOut


class Folded(NamedTuple):
    M: Array["nv", "nv"]
    bias: Array["nv"]
    y: Array["nv"]
    qdd: Array["na"]


def fold_system(tree, x, base, w, right):
    """The system of the axes, folded onto speeds: w.M and its right-hand side."""
    fold_matrix(tree, base.M, w.M)
    fold(tree, base.bias, w.bias)
    for a in range(right.shape[0]):
        right[a] = x.tau[a] - w.bias[a]


def solve_folded(tree, x, base, w, qdd):
    """The system of the axes, folded and solved."""
    fold_system(tree, x, base, w, qdd)
    n = qdd.shape[0]
    factor(w.M, w.y, n)
    substitute(w.M, qdd, n)


def finish_folded(tree, base, w, y):
    """Reactions and accelerations of bodies once q̈ is known."""
    spread(tree, y.qdd, w.qdd)
    inverse_dynamics(tree, base.joint, base.drift, w.qdd, base.acc, y.R, base.bias)
    poses(tree, base.joint, base.poses)
    true_accelerations(tree, base.poses, base.acc, y.vdot)


def forward_folded(state, matrix, tree, joints, x, w, y):
    matrix_system(state, matrix, tree, joints, x, w.on_axes)
    solve_folded(tree, x, w.on_axes.base, w.folded, y.qdd)


def solve_by_folding(state, matrix, tree, joints, x, w, y):
    forward_folded(state, matrix, tree, joints, x, w, y)
    finish_folded(tree, w.on_axes.base, w.folded, y)


def forward_on_folded(warm_started, tree, joints, x, w, y):
    """As `forward.forward_on_inertia`."""
    matrix_system(state_stage, composite, tree, joints, x, w.on_axes)
    fold_system(tree, x, w.on_axes.base, w.folded, w.right)
    warm_started(w.folded.M, w.right, w.memory, y.qdd, x.tolerance[0], y.report)


class Separate(NamedTuple):
    joint: JointValues
    drift: Drift
    separate: SeparateWork
    shared: SharedWork
    poses: Poses
    qdd: Array["na"]
    K: Array["nsk"]
    gamma: Array["nsm"]
    lam: Array["nsm"]


def to_speeds(tree, axes, x):
    for a in range(axes.shape[0]):
        x[tree.speed[a]] = axes[a]


def separate_forward(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    drift(tree, w.joint, x.wrench, w.drift)
    shared_bodies(tree, w.joint, w.drift, x.tau, w.K, w.gamma, 0.0, w.separate, w.shared, w.qdd, w.lam)
    to_speeds(tree, w.qdd, y.qdd)


def separate_solve(tree, joints, x, w, y):
    separate_forward(tree, joints, x, w, y)
    separate_reactions(tree, w.joint, w.separate, y.R)
    shared_reactions(tree, w.shared, y.R)
    poses(tree, w.joint, w.poses)
    true_accelerations(tree, w.poses, w.separate.acc, y.vdot)


class Inverse(NamedTuple):
    joint: JointValues
    drift: Drift
    acc: Array["nb1", 6]
    R: Array["nb1", 6]
    qdd: Array["na"]
    tau: Array["na"]
    poses: Poses


def forces(tree, joints, x, w, R, tau):
    """Inverse dynamics on the axes, w.qdd given; folded, less what the model's own forces do."""
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    drift(tree, w.joint, x.wrench, w.drift)
    inverse_dynamics(tree, w.joint, w.drift, w.qdd, w.acc, R, w.tau)
    fold(tree, w.tau, tau)
    take_off(x.load, tau)


def coupled_inverse(tree, joints, x, w, y):
    spread(tree, x.qdd, w.qdd)
    forces(tree, joints, x, w, w.R, y.tau)


def coupled_kinetostatics(tree, joints, x, w, y):
    spread(tree, x.qdd, w.qdd)
    forces(tree, joints, x, w, y.R, y.tau)
    poses(tree, w.joint, w.poses)
    true_accelerations(tree, w.poses, w.acc, y.vdot)


def coupled_bias(tree, joints, x, w, y):
    zeros(w.qdd)
    forces(tree, joints, x, w, w.R, y.h)


def matrix_folded(matrix, tree, joints, x, w, y):
    at_rest(matrix, tree, joints, x, w.on_axes, w.M)
    fold_matrix(tree, w.M, y.M)


def coupled_momenta(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    velocities(tree, w.joint, w.velocity)
    spread(tree, x.v, w.qd)
    carried_momenta(tree, w.joint, w.velocity, w.qd, w.momentum, w.p)
    rotor_momenta(tree, w.qd, w.p)
    fold(tree, w.p, y.p)


class Speeds(NamedTuple):
    v: Array["nv"]
    joint: JointValues
    drift: Drift
    separate: SeparateWork
    shared: SharedWork
    qd: Array["na"]
    K: Array["nsk"]
    gamma: Array["nsm"]
    lam: Array["nsm"]


def coupled_speeds(tree, joints, x, w, y):
    """As `state.run_speeds`."""
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    no_drift(tree, w.drift)
    for i in range(tree.carrier.shape[0]):
        for c in range(6):
            w.drift.w[i, c] = w.joint.vr[i, c]
    for c in range(6):
        w.drift.base[0, c] = w.joint.vr[0, c]
    shared_bodies(tree, w.joint, w.drift, x.p, w.K, w.gamma, 0.0, w.separate, w.shared, w.qd, w.lam)
    to_speeds(tree, w.qd, y.v)


def coupled_momentum_rates(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    poses(tree, w.joint, w.poses)
    velocities(tree, w.joint, w.velocity)
    spread(tree, x.v, w.qd)
    carried_momenta(tree, w.joint, w.velocity, w.qd, w.momentum, w.p)
    zeros(w.none)
    momentum_rates(tree, w.joint, w.poses, w.velocity, w.momentum, x.wrench, w.none, w.F, w.p)
    fold(tree, w.p, y.dp)
    for s in range(y.dp.shape[0]):
        y.dp[s] = y.dp[s] + x.tau[s]


PROGRAMS = [
    Program("coupled/forward/separate", separate_forward, Forced, Separate, ForwardOut),
    Program("coupled/solve/separate", separate_solve, Forced, Separate, SolveOut),
    Program("coupled/inverse", coupled_inverse, Moved, Inverse, InverseOut),
    Program("coupled/kinetostatics", coupled_kinetostatics, Moved, Inverse, ReactionsOut),
    Program("coupled/bias", coupled_bias, Bias, Inverse, BiasOut),
    Program(
        "coupled/momenta", coupled_momenta, State,
        group(v="nv", joint=JointValues, velocity=("nb1", 6), momentum=("nb1", 6), qd="na", p="na"), MomentaOut,
    ),
    Program("coupled/speeds", coupled_speeds, group(**POSITION, p="nv"), Speeds, group(v="nv")),
    Program(
        "coupled/momentum-rates", coupled_momentum_rates, Forced,
        group(
            joint=JointValues, poses=Poses, velocity=("nb1", 6), momentum=("nb1", 6), qd="na", p="na", none="na", F=("nb1", 6),
        ),
        group(dp="nv"), axis_rates=True,
    ),
]  # fmt: skip
