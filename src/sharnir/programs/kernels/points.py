"""Questions about one point of one body: pose, Jacobian, velocity, acceleration. Which body and which point are inputs."""

from typing import NamedTuple

from ...dialect.arrays import Array, group
from ...kernels.fold import fold_columns, spread
from ...kernels.joint_stage import JointValues, joint_stage
from ...kernels.kinematics import Poses, accelerations, poses, velocities, zeros
from ...kernels.points import last_on, point_acceleration, point_jacobian, point_place, point_velocity
from ..program import Point, PointAccelerated, PointMoved, Program


class Work(NamedTuple):
    v: Array["nv"]
    joint: JointValues
    poses: Poses
    velocity: Array["nb1", 6]
    own: Array[6]  # velocity or acceleration of the body, its axes
    omega: Array["nb1", 3]
    spin: Array[3]
    acc: Array["nb1", 6]
    r: Array[3]
    qdd: Array["na"]
    J: Array[6, "na"]


class PoseOut(NamedTuple):
    position: Array[3]
    G: Array[9]  # cosines, world -> body


def run_pose(tree, joints, x, w, y):
    at_rest(tree, joints, x, w, y.G)
    place = point_place(w.r, y.G, x.point)
    for c in range(3):
        y.position[c] = place[c]


def at_rest(tree, joints, x, w, G):
    """Joints and poses of all bodies; the origin and the axes of the one."""
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    placed(tree, x.path, w, G)


def placed(tree, path, w, G):
    poses(tree, w.joint, w.poses)
    last_on(path, w.poses.r, w.r)
    last_on(path, w.poses.G, G)


class JacobianOut(NamedTuple):
    J: Array[6, "nv"]
    G: Array[9]


def run_jacobian(tree, joints, x, w, y):
    at_rest(tree, joints, x, w, y.G)
    point_jacobian(tree, w.joint, w.poses, x.path, point_place(w.r, y.G, x.point), y.J)


def coupled_jacobian(tree, joints, x, w, y):
    at_rest(tree, joints, x, w, y.G)
    point_jacobian(tree, w.joint, w.poses, x.path, point_place(w.r, y.G, x.point), w.J)
    fold_columns(tree, w.J, y.J)


def run_velocity(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    placed(tree, x.path, w, y.G)
    velocities(tree, w.joint, w.velocity)
    last_on(x.path, w.velocity, w.own)
    point_velocity(w.own, y.G, x.point, y.velocity)


def run_acceleration(tree, joints, x, w, y):
    """Acceleration of a point, with or without coupled coordinates: every axis takes the acceleration of its speed."""
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    placed(tree, x.path, w, y.G)
    spread(tree, x.qdd, w.qdd)
    accelerations(tree, w.joint, w.qdd, w.omega, w.acc)
    last_on(x.path, w.omega, w.spin)
    last_on(x.path, w.acc, w.own)
    point_acceleration(w.own, w.spin, y.G, x.point, y.acceleration)


PROGRAMS = [
    Program("pose", run_pose, Point, Work, PoseOut),
    Program("jacobian", run_jacobian, Point, Work, JacobianOut),
    Program("coupled/jacobian", coupled_jacobian, Point, Work, JacobianOut),
    Program("point-velocity", run_velocity, PointMoved, Work, group(velocity=6, G=9)),
    Program("point-acceleration", run_acceleration, PointAccelerated, Work, group(acceleration=6, G=9)),
]
