"""Closed systems in O(N): separate bodies with the multipliers of the constraints among the unknowns that bodies share.

Rows are given on the bodies: K v̇ + gamma = 0 with v̇ the true accelerations (`equations/rows/body_rows.py`).
"""

from typing import NamedTuple

from ...dialect.arrays import Array, group
from ...kernels.algebra import get9, mv
from ...kernels.joint_stage import JointValues, joint_stage
from ...kernels.kinematics import Drift, Poses, drift, no_drift, poses, true_accelerations, zeros
from ...kernels.separate import SeparateWork, separate_reactions
from ...kernels.shared_unknowns import SharedWork, shared_bodies, shared_reactions
from ..program import Constrained, Gaps, Program
from .coupled import to_speeds


class ForwardOut(NamedTuple):
    qdd: Array["nv"]
    lam: Array["nsm"]
    inverse: Array["nsm"]  # of the pivots of the multipliers: large near singular positions


class SolveOut(NamedTuple):
    qdd: Array["nv"]
    lam: Array["nsm"]
    inverse: Array["nsm"]
    vdot: Array["nb1", 6]  # true accelerations, body axes
    R: Array["nb1", 6]  # reactions; row 0 is not used


class Work(NamedTuple):
    joint: JointValues
    drift: Drift
    separate: SeparateWork
    shared: SharedWork
    poses: Poses
    qdd: Array["na"]
    gamma: Array["nsm"]


def without_gravity(tree, K, gamma, p, out):
    """gamma for accelerations less gravity: every body has g in K v̇ besides.  Writes out (nsm,)."""
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    for r in range(gamma.shape[0]):
        out[r] = gamma[r]
    for c in range(tree.on_body.shape[0]):
        n, k = tree.on_body[c, 0], tree.on_body[c, 3]
        x = mv(get9(p.G, tree.on_body[c, 1]), g)
        for r in range(tree.unknown[n + 1] - tree.unknown[n]):
            y = tree.number[tree.unknown[n] + r]
            out[y] = out[y] + K[k + 6 * r] * x[0] + K[k + 6 * r + 1] * x[1] + K[k + 6 * r + 2] * x[2]


def closed_forward(tree, joints, x, w, y):
    joint_stage(joints, x.drive, x.given, x.q, x.v, w.joint)
    drift(tree, w.joint, x.wrench, w.drift)
    poses(tree, w.joint, w.poses)
    without_gravity(tree, x.K, x.gamma, w.poses, w.gamma)
    shared_bodies(tree, w.joint, w.drift, x.tau, x.K, w.gamma, x.share[0], w.separate, w.shared, w.qdd, y.lam)
    to_speeds(tree, w.qdd, y.qdd)
    for p in range(tree.multiplier.shape[0]):
        if tree.multiplier[p] == 1:
            for k in range(tree.unknown[p], tree.unknown[p + 1]):
                y.inverse[tree.number[k]] = -w.shared.inverse[k]


def closed_solve(tree, joints, x, w, y):
    closed_forward(tree, joints, x, w, y)
    separate_reactions(tree, w.joint, w.separate, y.R)
    shared_reactions(tree, w.shared, y.R)
    true_accelerations(tree, w.poses, w.separate.acc, y.vdot)


def closed_correction(tree, joints, x, w, y):
    """The small motion, least in the metric of the masses, that closes gaps: accelerations from rest, without forces.   (L8)"""
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)
    no_drift(tree, w.drift)
    shared_bodies(tree, w.joint, w.drift, w.v, x.K, x.gap, x.share[0], w.separate, w.shared, w.qdd, w.lam)
    to_speeds(tree, w.qdd, y.delta)


PROGRAMS = [
    Program("closed/forward/separate", closed_forward, Constrained, Work, ForwardOut),
    Program("closed/solve/separate", closed_solve, Constrained, Work, SolveOut),
    Program(
        "closed/correction", closed_correction, Gaps,
        group(v="nv", joint=JointValues, separate=SeparateWork, shared=SharedWork, drift=Drift, qdd="na", lam="nsm"),
        group(delta="nv"),
    ),
]  # fmt: skip
