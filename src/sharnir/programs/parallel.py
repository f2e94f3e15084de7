"""Programs for one state on several threads: what is done along the trunk of a tree, and what in its subtrees at once.

The kernels are those of `forward.py`, called for ranges of bodies in place of all. A part is a list of such ranges; ranges
of different subtrees depend on nothing but the trunk.
"""

from typing import NamedTuple

from ..dialect.arrays import IntegerArray
from ..kernels.algebra import get3, get3b, set33
from ..kernels.joint_stage import joint_values
from ..kernels.kinematics import base_drift, bodies_drift
from ..kernels.separate import accelerate_outward, fold_inward
from .program import SUBTREES, TRUNK, Stage


class Part(NamedTuple):
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


SEPARATE = (
    Stage(drift_of_trunk, TRUNK),
    Stage(fold_subtrees, SUBTREES),
    Stage(solve_trunk, TRUNK),
    Stage(accelerate_part, SUBTREES),
)
