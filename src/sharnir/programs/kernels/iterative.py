"""Forward dynamics by the iterative methods: a matrix is carried from one call to the next in the work arrays."""

from typing import NamedTuple

from ...dialect.arrays import Array
from ...kernels.composite import CompositeWork, composite_bodies, inertia_matrix_composite
from ...kernels.iterative import InertiaMemory, MultiplierMemory
from ...kernels.joint_stage import JointValues, joint_stage
from ...kernels.kinematics import Drift, drift
from ...kernels.multipliers import MultiplierWork, motion_from_multipliers, multiplier_system
from .forward import MatrixForward, right_hand_side, state_stage

TOLERANCE = 1e-13  # of the residual, relative to the right-hand side


class IterativeOut(NamedTuple):
    qdd: Array["nv"]
    report: Array[2]  # iterations of this call; 1 where a fresh factorisation was needed


class OnInertia(NamedTuple):
    base: MatrixForward
    inertia: CompositeWork
    right: Array["nv"]
    memory: InertiaMemory


def inertia_system(tree, joints, x, w):
    state_stage(tree, joints, x, w.base)
    composite_bodies(tree, w.base.joint, w.inertia)
    inertia_matrix_composite(tree, w.base.joint, w.inertia, w.base.M)
    right_hand_side(x, w.base, w.right)


def forward_on_inertia(warm_started, tree, joints, x, w, y):
    inertia_system(tree, joints, x, w)
    warm_started(w.base.M, w.right, w.memory, y.qdd, TOLERANCE, y.report)


class OnMultipliers(NamedTuple):
    joint: JointValues
    drift: Drift
    multiplier: MultiplierWork
    L: Array["nl", "nl"]
    right: Array["nl"]
    x: Array["nl"]
    R: Array["nb1", 6]
    memory: MultiplierMemory


def multipliers(tree, joints, x, w):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    drift(tree, w.joint, x.wrench, w.drift)
    multiplier_system(tree, w.joint, w.drift, x.tau, w.multiplier, w.L, w.right)


def forward_on_multipliers(warm_started, tree, joints, x, w, y):
    multipliers(tree, joints, x, w)
    warm_started(w.L, w.right, w.memory, w.x, TOLERANCE, y.report)
    motion_from_multipliers(tree, w.joint, w.drift, w.multiplier, w.x, y.qdd, w.R)
