"""The inertia matrix by every algorithm: w.v, w.joint, w.inertia, and w.poses for two of them, are its work."""

from typing import NamedTuple

from ...dialect.arrays import Array
from ...kernels.composite import composite_bodies, inertia_matrix_composite
from ...kernels.direct import inertia_matrix_direct
from ...kernels.joint_stage import joint_stage
from ...kernels.kane import inertia_matrix_kosynka, inertia_matrix_recursive
from ...kernels.kinematics import poses, zeros
from ...kernels.stepanenko import inertia_matrix_stepanenko


class MatrixOut(NamedTuple):
    M: Array["nv", "nv"]


def composite_matrix(tree, joints, x, w, M):
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    composite_bodies(tree, w.joint, w.inertia)
    inertia_matrix_composite(tree, w.joint, w.inertia, M)


def direct_matrix(tree, joints, x, w, M):
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    inertia_matrix_direct(tree, w.joint, w.inertia, M)


def stepanenko_matrix(tree, joints, x, w, M):
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    inertia_matrix_stepanenko(tree, w.joint, w.inertia, M)


def recursive_matrix(tree, joints, x, w, M):
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    poses(tree, w.joint, w.poses)
    inertia_matrix_recursive(tree, w.joint, w.poses, w.inertia, M)


def kosynka_matrix(tree, joints, x, w, M):
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    poses(tree, w.joint, w.poses)
    inertia_matrix_kosynka(tree, w.joint, w.poses, w.inertia, M)


def matrix_alone(matrix, tree, joints, x, w, y):
    matrix(tree, joints, x, w, y.M)
