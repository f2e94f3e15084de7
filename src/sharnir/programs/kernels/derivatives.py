"""Derivatives of inverse and forward dynamics, for joints made of elementary motions (docs/theory/derivatives.md).

Not for joints given by the user's own functions of q, and not for joints of which some motions are driven and others free.
"""

from typing import NamedTuple

from ...dialect.arrays import Array, group
from ...kernels.cholesky import factor, substitute, tree_factor, tree_substitute
from ...kernels.cholesky_columns import solve_columns, tree_solve_columns
from ...kernels.fold import fold, fold_matrix
from ...kernels.force_derivatives import (
    AxisForces,
    derivatives_between_joints,
    derivatives_within_joints,
    forces_of_axes,
    inertia_matrix_in_world,
    momenta_of_axes,
)
from ...kernels.joint_stage import JointValues, joint_stage
from ...kernels.kinematics import Poses, poses, velocities, zeros
from ...kernels.world_motion import (
    CompositeBodies,
    WorldAxes,
    WorldBodies,
    accelerations_in_world,
    axes_in_world,
    base_in_world,
    bodies_in_world,
    forces_in_world,
)
from ..program import Forced, Moved, Program, State
from .inverse import take_off


class World(NamedTuple):
    joint: JointValues
    poses: Poses
    axes: WorldAxes
    bodies: WorldBodies
    composite: CompositeBodies
    force: AxisForces


class InverseOut(NamedTuple):
    tau: Array["nv"]
    dq: Array["nv", "nv"]
    dv: Array["nv", "nv"]
    da: Array["nv", "nv"]


class ForwardOut(NamedTuple):
    qdd: Array["nv"]
    dq: Array["nv", "nv"]
    dv: Array["nv", "nv"]
    dtau: Array["nv", "nv"]


def motion_in_world(tree, joints, x, w):
    """Compute everything that positions and velocities determine."""
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    poses(tree, w.joint, w.poses)
    base_in_world(tree, w.joint, w.poses, w.bodies)
    axes_in_world(tree, joints, w.joint, w.poses, x.v, w.bodies, w.axes)


def inertia_in_world(tree, x, w, M):
    bodies_in_world(tree, w.poses, x.wrench, w.bodies, w.composite)
    momenta_of_axes(tree, w.axes, w.composite, w.force)
    inertia_matrix_in_world(tree, w.axes, w.force, M)


def forces_in_motion(tree, joints, x, w, qdd, tau):
    accelerations_in_world(tree, joints, w.joint, w.poses, x.v, qdd, w.bodies, w.axes)
    forces_in_world(tree, w.bodies, w.axes, qdd, w.composite, tau)


def force_derivatives(tree, joints, w, dq, dv):
    forces_of_axes(tree, w.axes, w.composite, w.force)
    derivatives_between_joints(tree, w.axes, w.force, dq, dv)
    derivatives_within_joints(tree, joints, w.axes, w.composite, w.force, dq, dv)


def run_inverse(tree, joints, x, w, y):
    motion_in_world(tree, joints, x, w)
    inertia_in_world(tree, x, w, y.da)
    forces_in_motion(tree, joints, x, w, x.qdd, y.tau)
    take_off(x.load, y.tau)
    force_derivatives(tree, joints, w, y.dq, y.dv)


class ForwardWork(NamedTuple):
    world: World
    M: Array["na", "na"]
    zero: Array["na"]
    bias: Array["na"]


def run_forward(tree, joints, x, w, y):
    motion_in_world(tree, joints, x, w.world)
    inertia_in_world(tree, x, w.world, w.M)
    zeros(w.zero)
    forces_in_motion(tree, joints, x, w.world, w.zero, w.bias)
    for a in range(x.tau.shape[0]):
        y.qdd[a] = x.tau[a] - w.bias[a]
    tree_factor(tree, w.M)
    tree_substitute(tree, w.M, y.qdd)
    forces_in_motion(tree, joints, x, w.world, y.qdd, w.bias)
    force_derivatives(tree, joints, w.world, y.dq, y.dv)
    tree_solve_columns(tree, w.M, y.dq, y.dv, y.dtau)


class CoupledWork(NamedTuple):
    world: World
    M: Array["na", "na"]
    dq: Array["na", "na"]
    dv: Array["na", "na"]
    zero: Array["nv"]
    bias: Array["na"]
    L: Array["nv", "nv"]
    y: Array["nv"]
    h: Array["nv"]


def coupled_inverse(tree, joints, x, w, y):
    motion_in_world(tree, joints, x, w.world)
    inertia_in_world(tree, x, w.world, w.M)
    fold_matrix(tree, w.M, y.da)
    forces_in_motion(tree, joints, x, w.world, x.qdd, w.bias)
    fold(tree, w.bias, y.tau)
    take_off(x.load, y.tau)
    force_derivatives(tree, joints, w.world, w.dq, w.dv)
    fold_matrix(tree, w.dq, y.dq)
    fold_matrix(tree, w.dv, y.dv)


def coupled_forward(tree, joints, x, w, y):
    motion_in_world(tree, joints, x, w.world)
    inertia_in_world(tree, x, w.world, w.M)
    zeros(w.zero)
    forces_in_motion(tree, joints, x, w.world, w.zero, w.bias)
    fold_matrix(tree, w.M, w.L)
    fold(tree, w.bias, w.h)
    n = x.tau.shape[0]
    factor(w.L, w.y, n)
    for a in range(n):
        y.qdd[a] = x.tau[a] - w.h[a]
    substitute(w.L, y.qdd, n)
    forces_in_motion(tree, joints, x, w.world, y.qdd, w.bias)
    force_derivatives(tree, joints, w.world, w.dq, w.dv)
    fold_matrix(tree, w.dq, y.dq)
    fold_matrix(tree, w.dv, y.dv)
    solve_columns(w.L, y.dq, y.dv, y.dtau)


def run_columns(tree, joints, x, w, y):
    """The motion as forces read it, and the columns of A and their rates in the world, with the point they refer to."""
    motion_in_world(tree, joints, x, w)
    for i in range(tree.carrier.shape[0]):
        for c in range(3):
            y.r[i, c] = w.poses.r[i, c]
            y.point[i, c] = w.bodies.point[i, c]
        for c in range(9):
            y.G[i, c] = w.poses.G[i, c]
    velocities(tree, w.joint, y.velocity)
    for a in range(tree.above.shape[0]):
        for c in range(6):
            y.s[a, c] = w.axes.s[a, c]
            y.ds[a, c] = w.axes.ds[a, c]


PROGRAMS = [
    Program("derivatives/inverse", run_inverse, Moved, World, InverseOut),
    Program("derivatives/forward", run_forward, Forced, ForwardWork, ForwardOut),
    Program("coupled/derivatives/inverse", coupled_inverse, Moved, CoupledWork, InverseOut),
    Program("coupled/derivatives/forward", coupled_forward, Forced, CoupledWork, ForwardOut),
    Program(
        "columns", run_columns, State, World,
        group(r=("nb1", 3), G=("nb1", 9), velocity=("nb1", 6), point=("nb1", 3), s=("na", 6), ds=("na", 6)),
    ),
]  # fmt: skip
