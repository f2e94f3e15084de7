"""Matrices of the whole graph of a model, closing joints included: incidence, and S with a row of blocks per joint."""

from __future__ import annotations

import numpy as np

from ..model.body import GROUND
from .blocks import Matrix, assembled, transfer
from .kinematics import Kinematics


def closing_ends(m: Kinematics) -> list[tuple[int, int]]:
    """Carrier and body of every closing joint, as the user named them; the base (−1) is always the carrier."""
    out = []
    for joint in m.closing_joints:
        parent, child = (-1 if b == GROUND else m.structure.body_number[b] for b in (joint.parent, joint.child))
        out.append((parent, child) if child >= 0 else (child, parent))
    return out


def incidence(m: Kinematics) -> np.ndarray:
    """I (N+1 × m): −1 where joint j leaves its carrier, +1 where it enters its body.

    Row 0 is the base; columns are the joints of the tree, then the closing ones. [B] §1 counts the other way round
    (see the errata); with this sign S_ji = I_ij E at the body and −C_j at the carrier.
    """
    ends = [*((k, j) for j, k in enumerate(m.k)), *closing_ends(m)]
    out = np.zeros((m.N + 1, len(ends)), dtype=int)
    for j, (carrier, body) in enumerate(ends):
        out[carrier + 1, j], out[body + 1, j] = -1, 1
    return out


def structure_matrix(m: Kinematics) -> Matrix:
    """S (6m×6N) of the whole graph: row j has E at the joint's body and −C_j at its carrier, closing joints last. [B] §2

    Square exactly where the graph is a tree.
    """
    blocks, ends = m.S_blocks(), closing_ends(m)
    R, r = m.poses
    for row, (carrier, body) in enumerate(ends, start=m.N):
        blocks.append((row, body, np.eye(6)))
        if carrier >= 0:
            blocks.append((row, carrier, -transfer(R[body].T @ R[carrier], R[carrier].T @ (r[body] - r[carrier]))))
    return assembled(blocks, [6] * (m.N + len(ends)), [6] * m.N, m.sparse)
