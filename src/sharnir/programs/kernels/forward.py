"""Forward dynamics by every method: accelerations, and a second program with reactions and accelerations of bodies; the inertia
matrix by every algorithm."""

from typing import NamedTuple

from ...dialect.arrays import Array
from ...kernels.cholesky import factor, substitute, tree_factor, tree_substitute
from ...kernels.composite import composite_bodies, inertia_matrix_composite
from ...kernels.direct import inertia_matrix_direct
from ...kernels.inverse import inverse_dynamics
from ...kernels.joint_stage import JointValues, joint_stage
from ...kernels.kane import inertia_matrix_kosynka, inertia_matrix_recursive, to_world
from ...kernels.kinematics import Drift, Poses, drift, poses, true_accelerations, zeros
from ...kernels.multipliers import MultiplierWork, lagrange_first_kind, motion_from_multipliers, multiplier_system
from ...kernels.separate import SeparateWork, separate_bodies, separate_reactions
from ...kernels.stepanenko import inertia_matrix_stepanenko
from ..program import Forced, Program


class ForwardOut(NamedTuple):
    qdd: Array["nv"]


class SolveOut(NamedTuple):
    qdd: Array["nv"]
    vdot: Array["nb1", 6]  # true accelerations, body axes
    R: Array["nb1", 6]  # reactions; row 0 is not used


# --- separate bodies ----------------------------------------------------------------------------------------------------
class SeparateForward(NamedTuple):
    joint: JointValues
    drift: Drift
    separate: SeparateWork
    poses: Poses


def forward_separate(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    drift(tree, w.joint, x.wrench, w.drift)
    separate_bodies(tree, w.joint, w.drift.w, w.drift.F, w.drift.base, x.tau, w.separate, y.qdd)


def solve_separate(tree, joints, x, w, y):
    forward_separate(tree, joints, x, w, y)
    separate_reactions(tree, w.joint, w.separate, y.R)
    poses(tree, w.joint, w.poses)
    true_accelerations(tree, w.poses, w.separate.acc, y.vdot)


# --- Lagrange, first kind -----------------------------------------------------------------------------------------------
class MultiplierForward(NamedTuple):
    joint: JointValues
    drift: Drift
    multiplier: MultiplierWork
    poses: Poses
    R: Array["nb1", 6]


def forward_lagrange1(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    drift(tree, w.joint, x.wrench, w.drift)
    lagrange_first_kind(tree, w.joint, w.drift, x.tau, w.multiplier, y.qdd, w.R)


def solve_lagrange1(tree, joints, x, w, y):
    forward_lagrange1(tree, joints, x, w, y)
    poses(tree, w.joint, w.poses)
    true_accelerations(tree, w.poses, w.multiplier.acc, y.vdot)
    for i in range(1, tree.carrier.shape[0]):
        for c in range(6):
            y.R[i, c] = w.R[i, c]


# --- the inertia matrix by every algorithm, of the joints (and poses) in w; the third argument is its own work -----------
def composite(tree, w, c, M):
    composite_bodies(tree, w.joint, c)
    inertia_matrix_composite(tree, w.joint, c, M)


def direct(tree, w, d, M):
    inertia_matrix_direct(tree, w.joint, d, M)


def stepanenko(tree, w, s, M):
    inertia_matrix_stepanenko(tree, w.joint, s, M)


def recursive(tree, w, k, M):
    poses(tree, w.joint, w.poses)
    to_world(tree, w.joint, w.poses, k)
    inertia_matrix_recursive(tree, w.joint, w.poses, k, M)


def kosynka(tree, w, k, M):
    poses(tree, w.joint, w.poses)
    inertia_matrix_kosynka(tree, w.joint, w.poses, k, M)


def at_rest(matrix, tree, joints, x, w, M):
    """The inertia matrix of a position."""
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    matrix(tree, w, w.inertia, M)


def matrix_alone(matrix, tree, joints, x, w, y):
    at_rest(matrix, tree, joints, x, w, y.M)


# --- Lagrange, second kind: an inertia matrix, a right-hand side, a factorisation ----------------------------------------
class MatrixForward(NamedTuple):
    joint: JointValues
    drift: Drift
    poses: Poses
    M: Array["na", "na"]
    y: Array["na"]
    zero: Array["na"]
    bias: Array["na"]
    acc: Array["nb1", 6]
    R: Array["nb1", 6]


def state_stage(tree, joints, x, w):
    """Joints, w*, F, and the forces that keep q̈ at zero."""
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.base.joint)
    drift(tree, w.base.joint, x.wrench, w.base.drift)
    zeros(w.base.zero)
    inverse_dynamics(tree, w.base.joint, w.base.drift, w.base.zero, w.base.acc, w.base.R, w.base.bias)


def right_hand_side(x, w, qdd):
    for a in range(qdd.shape[0]):
        qdd[a] = x.tau[a] - w.bias[a]


def solve_on_tree(tree, x, w, qdd):
    right_hand_side(x, w, qdd)
    tree_factor(tree, w.M)
    tree_substitute(tree, w.M, qdd)


def solve_dense(tree, x, w, qdd):
    right_hand_side(x, w, qdd)
    factor(w.M, w.y, qdd.shape[0])
    substitute(w.M, qdd, qdd.shape[0])


def matrix_system(state, matrix, tree, joints, x, w):
    """The bias, by `state_stage` or the like, and the inertia matrix, by one of the functions above."""
    state(tree, joints, x, w)
    matrix(tree, w.base, w.inertia, w.base.M)


def forward_by_matrix(state, matrix, solve, tree, joints, x, w, y):
    """Accelerations from the inertia matrix and the bias, by one of the two solutions above."""
    matrix_system(state, matrix, tree, joints, x, w)
    solve(tree, x, w.base, y.qdd)


def finish(tree, w, y):
    """Reactions and accelerations of bodies once q̈ is known."""
    inverse_dynamics(tree, w.joint, w.drift, y.qdd, w.acc, y.R, w.bias)
    poses(tree, w.joint, w.poses)
    true_accelerations(tree, w.poses, w.acc, y.vdot)


def solve_by_matrix(state, matrix, solve, tree, joints, x, w, y):
    forward_by_matrix(state, matrix, solve, tree, joints, x, w, y)
    finish(tree, w.base, y)


# --- iterative methods: a matrix is carried from one call to the next in the work arrays -----------------------------------
def forward_on_inertia(warm_started, tree, joints, x, w, y):
    matrix_system(state_stage, composite, tree, joints, x, w)
    right_hand_side(x, w.base, w.right)
    warm_started(w.base.M, w.right, w.memory, y.qdd, x.tolerance[0], y.report)


def forward_on_multipliers(warm_started, tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    drift(tree, w.joint, x.wrench, w.drift)
    multiplier_system(tree, w.joint, w.drift, x.tau, w.multiplier, w.L, w.right)
    warm_started(w.L, w.right, w.memory, w.x, x.tolerance[0], y.report)
    motion_from_multipliers(tree, w.joint, w.drift, w.multiplier, w.x, y.qdd, w.R)


PROGRAMS = [
    Program("forward/separate", forward_separate, Forced, SeparateForward, ForwardOut),
    Program("solve/separate", solve_separate, Forced, SeparateForward, SolveOut),
    Program("forward/lagrange1", forward_lagrange1, Forced, MultiplierForward, ForwardOut),
    Program("solve/lagrange1", solve_lagrange1, Forced, MultiplierForward, SolveOut),
    Program("coupled/forward/lagrange1", forward_lagrange1, Forced, MultiplierForward, ForwardOut),
    Program("coupled/solve/lagrange1", solve_lagrange1, Forced, MultiplierForward, SolveOut),
]
