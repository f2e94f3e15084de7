"""The method of separate bodies (Vereshchagin): the extended system eliminated from the leaves to the root, O(N).

Inward, body i with all it carries becomes one body with inertia M^A and force F^A; outward, accelerations follow.
"""

from __future__ import annotations

import numpy as np

from ..errors import SingularError
from .lagrange2 import composite_inertia
from .matrices import Matrices
from .solution import Solution


def solve(m: Matrices, tau: np.ndarray) -> Solution:
    m.needs_axes("separate")
    MA, U = articulated_inertias(m)
    FA, w = m.F.reshape(-1, 6).copy(), m.w_star.reshape(-1, 6)
    for i in range(m.N - 1, -1, -1):  # (D3)
        A, k = m.A_blocks[i], m.k[i]
        if k >= 0:
            free = FA[i] - MA[i] @ w[i]
            FA[k] += m.C[i].T @ (free - MA[i] @ A @ np.linalg.solve(U[i], A.T @ free + tau[m.axes(i)]))
    qdd, vdot, R = np.zeros(m.n), np.zeros((m.N, 6)), np.zeros((m.N, 6))
    for i in range(m.N):  # (D4)
        A, k = m.A_blocks[i], m.k[i]
        known = (m.C[i] @ vdot[k] if k >= 0 else 0.0) + w[i]  # w* of a body on the base contains C_i v̇_0 already
        x = np.linalg.solve(U[i], tau[m.axes(i)] + A.T @ (FA[i] - MA[i] @ known))
        qdd[m.axes(i)] = x
        vdot[i] = known + A @ x
        R[i] = MA[i] @ vdot[i] - FA[i]
    return Solution(qdd=qdd, vdot=vdot, R=R)


def articulated_inertias(m: Matrices) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """M_i^A and U_i of every body, from the leaves inward; SingularError where a joint moves no mass.                  (D3)"""
    MA, U = [M.copy() for M in m.M_blocks], [np.zeros((0, 0))] * m.N
    carried = np.array([np.trace(M) for M in MA])  # scale below which the inertia of a joint counts as zero
    for i in range(m.N - 1, -1, -1):
        A, C, k = m.A_blocks[i], m.C[i], m.k[i]
        U[i] = joint_inertia(m, i, MA[i], carried[i])
        if k >= 0:
            MA[k] += C.T @ (MA[i] - MA[i] @ A @ np.linalg.solve(U[i], A.T @ MA[i])) @ C
            carried[k] += carried[i]
    return MA, U


def joint_inertia(m: Matrices, i: int, MA: np.ndarray, scale: float) -> np.ndarray:
    """U_i = A_iᵀM_i^A A_i + D_i, the inertia seen by joint i; SingularError where it is zero."""
    A = m.A_blocks[i]
    U = A.T @ MA @ A + np.diag(m.rotor_blocks[i])
    felt = np.linalg.eigvalsh(U)
    if U.size and not felt[0] > 1e-13 * scale * np.abs(A).max() ** 2:
        joint = m.structure.placed[i]
        or_cut = ", or cut it in place of another joint of its loop: add_joint(…, cut=True)" if m.model.closing_joints else ""
        raise SingularError(
            f"joint {joint.name!r} moves no mass: nothing with inertia about its {'axis' if joint.nv == 1 else 'axes'} hangs "
            f"on it (body {m.structure.bodies[i].name!r} and what it carries); give that body mass or inertia, or weld the joint"
            f"{or_cut}"
        )
    return U


def check_inertia(m: Matrices) -> None:
    """Raise SingularError where some joint moves no mass."""
    if m.structure.coupled:
        check_coupled_inertia(m)
    else:
        articulated_inertias(m)


def check_coupled_inertia(m: Matrices) -> None:
    """The same where joints share speeds: by the least eigenvalue of the whole inertia matrix."""
    values, vectors = np.linalg.eigh(composite_inertia(m))
    if not values[0] > 1e-13 * values[-1]:
        name = m.model.v_names[int(np.argmax(np.abs(vectors[:, 0])))]
        raise SingularError(f"{name!r} and the joints coupled to it move no mass; give their bodies mass or inertia")
