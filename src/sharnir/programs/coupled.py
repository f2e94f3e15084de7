"""The same questions for models with coupled coordinates: computed on axes, folded onto speeds.

Folding fills in the zeros that elimination along the tree relies on, so the inertia matrix is factorised as a dense one.
"""

from typing import NamedTuple

from ..dialect.arrays import Array
from ..kernels.cholesky import factor, substitute
from ..kernels.composite import CompositeWork, composite_bodies, inertia_matrix_composite
from ..kernels.fold import fold, fold_matrix, spread
from ..kernels.inverse import inverse_dynamics
from ..kernels.joint_stage import JointValues, joint_stage
from ..kernels.kinematics import Drift, Poses, drift, poses, true_accelerations, velocities, zeros
from ..kernels.momentum import carried_momenta, rotor_momenta
from ..kernels.separate import SeparateWork, separate_reactions
from ..kernels.shared import SharedWork, shared_bodies, shared_reactions
from .forward import ForwardOut, MatrixForward, SolveOut, state_stage
from .inertia import MatrixOut
from .inputs import Bias, Forced, Moved, Position, State
from .inverse import BiasOut, InverseOut, ReactionsOut, take_off
from .program import Program
from .state import MomentaOut


class Forward(NamedTuple):
    base: MatrixForward
    inertia: CompositeWork
    M: Array["nv", "nv"]
    bias: Array["nv"]
    y: Array["nv"]
    qdd: Array["na"]


def coupled_forward(tree, joints, x, w, y):
    state_stage(tree, joints, x, w.base)
    composite_bodies(tree, w.base.joint, w.inertia)
    inertia_matrix_composite(tree, w.base.joint, w.inertia, w.base.M)
    fold_matrix(tree, w.base.M, w.M)
    fold(tree, w.base.bias, w.bias)
    n = x.tau.shape[0]
    for a in range(n):
        y.qdd[a] = x.tau[a] - w.bias[a]
    factor(w.M, w.y, n)
    substitute(w.M, y.qdd, n)


def coupled_solve(tree, joints, x, w, y):
    coupled_forward(tree, joints, x, w, y)
    spread(tree, y.qdd, w.qdd)
    inverse_dynamics(tree, w.base.joint, w.base.drift, w.qdd, w.base.acc, y.R, w.base.bias)
    poses(tree, w.base.joint, w.base.poses)
    true_accelerations(tree, w.base.poses, w.base.acc, y.vdot)


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


def separate_forward(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    drift(tree, w.joint, x.wrench, w.drift)
    shared_bodies(tree, w.joint, w.drift.w, w.drift.F, w.drift.base, x.tau, w.K, w.gamma, 0.0, w.separate, w.shared, w.qdd, w.lam)
    for a in range(w.qdd.shape[0]):
        y.qdd[tree.speed[a]] = w.qdd[a]


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


class Inertia(NamedTuple):
    v: Array["nv"]
    joint: JointValues
    inertia: CompositeWork
    M: Array["na", "na"]


def coupled_inertia(tree, joints, x, w, y):
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    composite_bodies(tree, w.joint, w.inertia)
    inertia_matrix_composite(tree, w.joint, w.inertia, w.M)
    fold_matrix(tree, w.M, y.M)


class Motion(NamedTuple):
    v: Array["nv"]
    joint: JointValues
    velocity: Array["nb1", 6]
    momentum: Array["nb1", 6]
    qd: Array["na"]
    p: Array["na"]


def coupled_momenta(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    velocities(tree, w.joint, w.velocity)
    carried_momenta(tree, w.joint, w.velocity, w.momentum, w.p)
    spread(tree, x.v, w.qd)
    rotor_momenta(tree, w.qd, w.p)
    fold(tree, w.p, y.p)


PROGRAMS = [
    Program("coupled/forward/composite", coupled_forward, Forced, Forward, ForwardOut),
    Program("coupled/solve/composite", coupled_solve, Forced, Forward, SolveOut),
    Program("coupled/forward/separate", separate_forward, Forced, Separate, ForwardOut),
    Program("coupled/solve/separate", separate_solve, Forced, Separate, SolveOut),
    Program("coupled/inverse", coupled_inverse, Moved, Inverse, InverseOut),
    Program("coupled/kinetostatics", coupled_kinetostatics, Moved, Inverse, ReactionsOut),
    Program("coupled/bias", coupled_bias, Bias, Inverse, BiasOut),
    Program("coupled/inertia/composite", coupled_inertia, Position, Inertia, MatrixOut),
    Program("coupled/momenta", coupled_momenta, State, Motion, MomentaOut),
]
