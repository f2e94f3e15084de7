"""The inertia matrix by every algorithm."""

from typing import NamedTuple

from ...dialect.arrays import Array
from ...kernels.composite import CompositeWork, composite_bodies, inertia_matrix_composite
from ...kernels.direct import DirectWork, inertia_matrix_direct
from ...kernels.joint_stage import JointValues, joint_stage
from ...kernels.kane import KaneWork, inertia_matrix_kosynka, inertia_matrix_recursive
from ...kernels.kinematics import Poses, poses, zeros
from ...kernels.stepanenko import StepanenkoWork, inertia_matrix_stepanenko
from ..program import Program
from .inputs import Position


class MatrixOut(NamedTuple):
    M: Array["nv", "nv"]


class CompositeInertia(NamedTuple):
    v: Array["nv"]
    joint: JointValues
    inertia: CompositeWork


def composite_matrix(tree, joints, x, w, M):
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    composite_bodies(tree, w.joint, w.inertia)
    inertia_matrix_composite(tree, w.joint, w.inertia, M)


def run_composite(tree, joints, x, w, y):
    composite_matrix(tree, joints, x, w, y.M)


class DirectInertia(NamedTuple):
    v: Array["nv"]
    joint: JointValues
    inertia: DirectWork


def direct_matrix(tree, joints, x, w, M):
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    inertia_matrix_direct(tree, w.joint, w.inertia, M)


def run_direct(tree, joints, x, w, y):
    direct_matrix(tree, joints, x, w, y.M)


class StepanenkoInertia(NamedTuple):
    v: Array["nv"]
    joint: JointValues
    inertia: StepanenkoWork


def stepanenko_matrix(tree, joints, x, w, M):
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    inertia_matrix_stepanenko(tree, w.joint, w.inertia, M)


def run_stepanenko(tree, joints, x, w, y):
    stepanenko_matrix(tree, joints, x, w, y.M)


class KaneInertia(NamedTuple):
    v: Array["nv"]
    joint: JointValues
    poses: Poses
    inertia: KaneWork


def recursive_matrix(tree, joints, x, w, M):
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    poses(tree, w.joint, w.poses)
    inertia_matrix_recursive(tree, w.joint, w.poses, w.inertia, M)


def run_recursive(tree, joints, x, w, y):
    recursive_matrix(tree, joints, x, w, y.M)


def kosynka_matrix(tree, joints, x, w, M):
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    poses(tree, w.joint, w.poses)
    inertia_matrix_kosynka(tree, w.joint, w.poses, w.inertia, M)


def run_kosynka(tree, joints, x, w, y):
    kosynka_matrix(tree, joints, x, w, y.M)


PROGRAMS = [
    Program("inertia/composite", run_composite, Position, CompositeInertia, MatrixOut),
    Program("inertia/direct", run_direct, Position, DirectInertia, MatrixOut),
    Program("inertia/stepanenko", run_stepanenko, Position, StepanenkoInertia, MatrixOut),
    Program("inertia/recursive", run_recursive, Position, KaneInertia, MatrixOut),
    Program("inertia/kosynka", run_kosynka, Position, KaneInertia, MatrixOut),
]
