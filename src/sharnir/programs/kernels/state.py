"""Questions about a position or a state: poses, velocities, rates, energy; the form in momenta; energy and power of forces."""

from typing import NamedTuple

from ...dialect.arrays import Array, group
from ...kernels.energy import energy, rotor_energy, total_momentum
from ...kernels.flexible import elastic_energy, elastic_momentum
from ...kernels.joint_stage import JointValues, joint_stage
from ...kernels.kinematics import Poses, accelerations, poses, velocities, zeros
from ...kernels.momentum import carried_momenta, momentum_rates, rotor_momenta
from ...kernels.separate import SeparateWork, separate_bodies
from ..program import POSITION, Forced, Position, Program, State


class Work(NamedTuple):
    v: Array["nv"]
    joint: JointValues
    poses: Poses
    velocity: Array["nb1", 6]
    momentum: Array["nb1", 6]


def run_poses(tree, joints, x, w, y):
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    poses(tree, w.joint, y)


def run_motion(tree, joints, x, w, y):
    """Poses and velocities of all bodies: what forces read."""
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    poses(tree, w.joint, y)
    velocities(tree, w.joint, y.velocity)


class AxesOut(NamedTuple):
    r: Array["nb1", 3]
    G: Array["nb1", 9]
    velocity: Array["nb1", 6]
    drift: Array["nb1", 6]  # true accelerations where no speed changes, body axes
    A: Array["na", 6]  # columns of A, axes of the body they move


def run_axes(tree, joints, x, w, y):
    """The motion, and how accelerations of bodies depend on those of speeds: by these rows on bodies become rows of the tree."""
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    poses(tree, w.joint, y)
    velocities(tree, w.joint, y.velocity)
    zeros(w.qdd)
    accelerations(tree, w.joint, w.qdd, w.omega, y.drift)
    for a in range(y.A.shape[0]):
        for c in range(6):
            y.A[a, c] = w.joint.A[a, c]


def run_rates(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    for a in range(x.q.shape[0]):
        y.rate[a] = w.joint.rate[a]


def run_velocities(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    velocities(tree, w.joint, y.velocity)


def run_energy(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    poses(tree, w.joint, w.poses)
    velocities(tree, w.joint, w.velocity)
    energy(tree, w.joint, w.velocity, w.poses, y.energy)
    rotor_energy(tree, x.v, y.energy)
    elastic_energy(tree, w.joint, w.velocity, x.v, y.energy)


def run_total(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    poses(tree, w.joint, w.poses)
    velocities(tree, w.joint, w.velocity)
    total_momentum(tree, w.joint, w.velocity, w.poses, y.momentum, y.centre)
    elastic_momentum(tree, w.joint, w.poses, x.v, y.momentum)


def run_drive_power(tree, joints, x, w, y):
    """Power of what moves as a given function of time: R of each joint along phi^r, and of the base along its motion."""
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    y.power[0] = 0.0
    for i in range(tree.carrier.shape[0]):
        for c in range(6):
            y.power[0] = y.power[0] + x.R[i, c] * w.joint.vr[i, c]


class MomentaOut(NamedTuple):
    p: Array["nv"]


def run_momenta(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    velocities(tree, w.joint, w.velocity)
    carried_momenta(tree, w.joint, w.velocity, x.v, w.momentum, y.p)
    rotor_momenta(tree, x.v, y.p)


def run_speeds(tree, joints, x, w, y):
    """One sweep of separate bodies on the velocity level: v^r at rest for w*, no forces, p for tau."""
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    for i in range(tree.carrier.shape[0]):
        for c in range(6):
            w.F[i, c] = 0.0
    for c in range(6):
        w.base[0, c] = w.joint.vr[0, c]
    separate_bodies(tree, w.joint, w.joint.vr, w.F, w.base, x.p, w.separate, y.v)


def run_momentum_rates(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    poses(tree, w.joint, w.poses)
    velocities(tree, w.joint, w.velocity)
    carried_momenta(tree, w.joint, w.velocity, x.v, w.momentum, w.p)
    momentum_rates(tree, w.joint, w.poses, w.velocity, w.momentum, x.wrench, x.tau, w.F, y.dp)


def copy_report(tree, joints, x, w, y):
    """Energy and power of the forces of a model, computed beforehand. Not for loops: see `grouped_forces.py`."""
    for k in range(y.energy.shape[0]):
        y.energy[k] = x.report[0, k]
        y.power[k] = x.report[1, k]


PROGRAMS = [
    Program("poses", run_poses, Position, Work, Poses),
    Program("motion", run_motion, State, Work, group(r=("nb1", 3), G=("nb1", 9), velocity=("nb1", 6))),
    Program("axes", run_axes, State, group(joint=JointValues, qdd="na", omega=("nb1", 3)), AxesOut),
    Program("rates", run_rates, State, Work, group(rate="nq")),
    Program("velocities", run_velocities, State, Work, group(velocity=("nb1", 6))),
    Program("energy", run_energy, State, Work, group(energy=2)),
    Program("drive-power", run_drive_power, group(**POSITION, R=("nb1", 6)), Work, group(power=1)),
    Program("total", run_total, State, Work, group(momentum=(1, 6), centre=(1, 3))),
    Program("momenta", run_momenta, State, Work, MomentaOut),
    Program(
        "speeds", run_speeds, group(**POSITION, p="nv"),
        group(v="nv", joint=JointValues, F=("nb1", 6), base=(1, 6), separate=SeparateWork), group(v="nv"),
    ),
    Program(
        "momentum-rates", run_momentum_rates, Forced,
        group(joint=JointValues, poses=Poses, velocity=("nb1", 6), momentum=("nb1", 6), p="nv", F=("nb1", 6)), group(dp="nv"),
        axis_rates=True,
    ),
]  # fmt: skip
