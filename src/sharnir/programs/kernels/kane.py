"""Matrix and right-hand side of A q̈ = b by [K]: both from one conversion to the axes of the world."""

from typing import NamedTuple

from ...dialect.arrays import Array
from ...kernels.fold import fold
from ...kernels.joint_stage import JointValues, joint_stage
from ...kernels.kane import KaneWork, inertia_matrix_recursive, to_world
from ...kernels.kane_forces import KaneForces, kane_bias
from ...kernels.kinematics import Drift, Poses, drift, poses, zeros
from ..program import Bias, Program
from .inverse import BiasOut, take_off


def world_state(tree, joints, x, w):
    """Joints, everything in the axes of the world, and the forces that keep q̈ at zero."""
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.base.joint)
    poses(tree, w.base.joint, w.base.poses)
    to_world(tree, w.base.joint, w.base.poses, w.inertia)
    zeros(w.base.zero)
    kane_bias(
        tree, w.base.joint, w.base.poses, x.v, x.wrench, w.inertia, w.base.drift, w.base.zero, w.base.acc, w.forces, w.base.bias
    )


def world_state_and_drift(tree, joints, x, w):
    """The same, and the drift in body axes, from which reactions follow once q̈ is known."""
    world_state(tree, joints, x, w)
    drift(tree, w.base.joint, x.wrench, w.base.drift)


def recursive_sums(tree, w, k, M):
    """The inertia matrix after `world_state`."""
    inertia_matrix_recursive(tree, w.joint, w.poses, k, M)


def bias_recursive(tree, joints, x, w, y):
    world_state(tree, joints, x, w)
    for a in range(y.h.shape[0]):
        y.h[a] = w.base.bias[a]
    take_off(x.load, y.h)


def coupled_bias_recursive(tree, joints, x, w, y):
    world_state(tree, joints, x, w)
    fold(tree, w.base.bias, y.h)
    take_off(x.load, y.h)


class Base(NamedTuple):
    joint: JointValues
    drift: Drift
    poses: Poses
    zero: Array["na"]
    bias: Array["na"]
    acc: Array["nb1", 6]


class Work(NamedTuple):
    base: Base
    inertia: KaneWork
    forces: KaneForces


PROGRAMS = [
    Program("bias/recursive", bias_recursive, Bias, Work, BiasOut),
    Program("coupled/bias/recursive", coupled_bias_recursive, Bias, Work, BiasOut),
]
