"""The inertia matrix by every algorithm, of the joints (and poses) in w; the third argument is its own work."""

from ...kernels.composite import composite_bodies, inertia_matrix_composite
from ...kernels.direct import inertia_matrix_direct
from ...kernels.joint_stage import joint_stage
from ...kernels.kane import inertia_matrix_kosynka, inertia_matrix_recursive
from ...kernels.kinematics import poses, zeros
from ...kernels.stepanenko import inertia_matrix_stepanenko


def composite(tree, w, c, M):
    composite_bodies(tree, w.joint, c)
    inertia_matrix_composite(tree, w.joint, c, M)


def direct(tree, w, d, M):
    inertia_matrix_direct(tree, w.joint, d, M)


def stepanenko(tree, w, s, M):
    inertia_matrix_stepanenko(tree, w.joint, s, M)


def recursive(tree, w, k, M):
    poses(tree, w.joint, w.poses)
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
