"""Programs for one state on several threads, stage by stage: along the trunk of a tree, in its subtrees, column by column.

The kernels are those of the programs for one thread, called for ranges of bodies in place of all. A part is a list of such
ranges. `sharing.py` says which of these stages, in which order, are which program.
"""

from typing import NamedTuple

from ...dialect.arrays import IntegerArray
from ...kernels.algebra import get3, get3b, set33
from ...kernels.composite import add_rotors, composite_bodies, zero_rows
from ...kernels.direct import mirror_rows
from ...kernels.joint_stage import joint_stage, joint_values
from ...kernels.kane import diagonal_M3, of_subtrees, partial_sums, recursive_column, to_world
from ...kernels.kinematics import base_drift, bodies_drift, poses, zeros
from ...kernels.separate import accelerate_outward, fold_inward


class BodyRanges(NamedTuple):
    """Some of the bodies of a tree."""

    rows: IntegerArray["np", 2]  # bodies low .. high - 1, and so on, in ascending order


def drift_of_part(tree, joints, x, w, part):
    """Joints and drift of a part, outward."""
    for c in range(part.rows.shape[0]):
        joint_values(joints, x.drive, x.given, x.q, x.v, w.joint, part.rows[c, 0], part.rows[c, 1])
        bodies_drift(tree, w.joint, x.wrench, w.drift, part.rows[c, 0], part.rows[c, 1])


def drift_of_trunk(tree, joints, x, w, y, part):
    joint_values(joints, x.drive, x.given, x.q, x.v, w.joint, 0, 1)
    base_drift(tree, w.joint, w.drift)
    drift_of_part(tree, joints, x, w, part)


# --- rates of the coordinates -------------------------------------------------------------------------------------------
def joints_of_part(tree, joints, x, w, y, part):
    for c in range(part.rows.shape[0]):
        joint_values(joints, x.drive, x.given, x.q, x.v, w.joint, part.rows[c, 0], part.rows[c, 1])


def rates_of_all(tree, joints, x, w, y, part):
    for a in range(x.q.shape[0]):
        y.rate[a] = w.joint.rate[a]


# --- separate bodies ----------------------------------------------------------------------------------------------------
def fold_part(tree, x, w, part):
    for c in range(part.rows.shape[0] - 1, -1, -1):
        fold_inward(tree, w.joint, w.drift.w, w.drift.F, x.tau, w.separate, part.rows[c, 0], part.rows[c, 1])


def fold_subtrees(tree, joints, x, w, y, part):
    drift_of_part(tree, joints, x, w, part)
    fold_part(tree, x, w, part)


def accelerate_part(tree, joints, x, w, y, part):
    for c in range(part.rows.shape[0]):
        accelerate_outward(tree, w.joint, w.drift.w, w.separate, y.qdd, part.rows[c, 0], part.rows[c, 1])


def solve_trunk(tree, joints, x, w, y, part):
    fold_part(tree, x, w, part)
    set33(w.separate.acc, 0, get3(w.drift.base, 0), get3b(w.drift.base, 0))
    accelerate_part(tree, joints, x, w, y, part)


# --- the inertia matrix: columns at once --------------------------------------------------------------------------------
def zero_part(tree, joints, x, w, y, part):
    for c in range(part.rows.shape[0]):
        zero_rows(tree, y.M, tree.first[part.rows[c, 0]], tree.first[part.rows[c, 1]])


def mirror_part(tree, joints, x, w, y, part):
    for c in range(part.rows.shape[0]):
        mirror_rows(y.M, tree.first[part.rows[c, 0]], tree.first[part.rows[c, 1]])


def rotors(tree, joints, x, w, y, part):
    add_rotors(tree, y.M)


def joints_at_rest(tree, joints, x, w, y, part):
    zeros(w.v)
    joint_stage(joints, x.drive, x.given, x.q, w.v, w.joint)


def composites(tree, joints, x, w, y, part):
    composite_bodies(tree, w.joint, w.inertia)


def columns_of_part(columns, tree, joints, x, w, y, part):
    for c in range(part.rows.shape[0]):
        columns(tree, w.joint, w.inertia, y.M, part.rows[c, 0], part.rows[c, 1])


def sums_of_subtrees(tree, joints, x, w, y, part):
    poses(tree, w.joint, w.poses)
    to_world(tree, w.joint, w.poses, w.inertia)
    of_subtrees(tree, w.inertia)
    diagonal_M3(tree, w.poses, w.inertia)


def recursive_part(tree, joints, x, w, y, part):
    for c in range(part.rows.shape[0]):
        for i in range(part.rows[c, 0], part.rows[c, 1]):
            partial_sums(tree, w.poses, w.inertia, i)
            recursive_column(tree, w.inertia, i, y.M)
