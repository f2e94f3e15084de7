"""Forward dynamics by the iterative methods: a matrix is carried from one call to the next in the work arrays."""

from typing import NamedTuple

from ...dialect.arrays import Array
from ...kernels.composite import CompositeWork
from ...kernels.iterative import InertiaMemory, MultiplierMemory
from ...kernels.joint_stage import JointValues, joint_stage
from ...kernels.kinematics import Drift, drift
from ...kernels.multipliers import MultiplierWork, motion_from_multipliers, multiplier_system
from .forward import MatrixForward, composite, matrix_system, right_hand_side

TOLERANCE = 1e-13  # of the residual, relative to the right-hand side


class IterativeOut(NamedTuple):
    qdd: Array["nv"]
    report: Array[2]  # iterations of this call; 1 where a fresh factorisation was needed


class OnInertia(NamedTuple):
    base: MatrixForward
    inertia: CompositeWork
    right: Array["nv"]
    memory: InertiaMemory


def forward_on_inertia(warm_started, tree, joints, x, w, y):
    matrix_system(composite, tree, joints, x, w)
    right_hand_side(x, w.base, w.right)
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


def forward_on_multipliers(warm_started, tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    drift(tree, w.joint, x.wrench, w.drift)
    multiplier_system(tree, w.joint, w.drift, x.tau, w.multiplier, w.L, w.right)
    warm_started(w.L, w.right, w.memory, w.x, TOLERANCE, y.report)
    motion_from_multipliers(tree, w.joint, w.drift, w.multiplier, w.x, y.qdd, w.R)
