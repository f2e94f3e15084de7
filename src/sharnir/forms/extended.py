"""The extended system (3.6): Newton–Euler of every body, kinematics of every joint, ideal joints, all at once.

    M v̇ − SᵀR = F;   −S v̇ + A q̈ = −w*;   AᵀR + D q̈ = τ        (D: rotors of the drives, mostly zero)

Symmetric, indefinite, 12N + n unknowns. Dense and slow, and the oracle for everything else.
"""

from __future__ import annotations

import numpy as np

from .blocks import dense
from .constraint_rows import constraint_rows
from .independent import Rows
from .matrices import Matrices
from .system import System


def system(m: Matrices, tau: np.ndarray, rows: Rows | None = None) -> System:
    """(3.6), assembled."""
    N6 = 6 * m.N
    right = np.concatenate([m.F, -m.w_star, tau])
    return System(m.extended, right, (("v̇", N6), ("R", N6), ("q̈", m.n))).constrained(rows)


def graph_system(m: Matrices, tau: np.ndarray, rows: Rows | None = None) -> System:
    """The same for the whole graph, S rectangular, R and q̈ of all joints; of the rows those of constraints that are no joints.
    [B] (1)"""
    A, S = dense(m.A_graph), dense(m.S_graph)
    cut = A.shape[1] - m.n
    P, D = np.pad(dense(m.P), ((0, 0), (0, cut))), np.pad(dense(m.D), (0, cut))
    matrix = np.block([[dense(m.M), -S.T, P], [-S, np.zeros((len(S), len(S))), A], [P.T, A.T, D]])
    right = np.concatenate([m.F, -m.w_star_graph, tau, np.zeros(cut)])
    equations = System(matrix, right, (("v̇", 6 * m.N), ("R", len(S)), ("q̈", m.n + cut)))
    return equations.constrained(rows and constraint_rows(m, joints=False))
