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
    MA = [M.copy() for M in m.M_blocks]
    carried = np.array([np.trace(M) for M in MA])  # how much hangs on each joint, to judge zero by
    FA = list(m.F.reshape(-1, 6).copy())
    w = m.w_star.reshape(-1, 6)
    for i in range(m.N - 1, -1, -1):  # (D3)
        A, C, k = m.A_blocks[i], m.C[i], m.k[i]
        if k >= 0:
            U = joint_inertia(m, i, MA[i], carried[i])
            carried[k] += carried[i]
            P = np.eye(6) - MA[i] @ A @ np.linalg.solve(U, A.T)
            MA[k] += C.T @ P @ MA[i] @ C
            FA[k] += C.T @ (P @ (FA[i] - MA[i] @ w[i]) - MA[i] @ A @ np.linalg.solve(U, tau[m.axes(i)]))
    qdd, vdot, R = np.zeros(m.n), np.zeros((m.N, 6)), np.zeros((m.N, 6))
    for i in range(m.N):  # (D4)
        A, k = m.A_blocks[i], m.k[i]
        given = (m.C[i] @ vdot[k] if k >= 0 else 0.0) + w[i]  # w* of a body on the base holds C_i v̇_0 already
        x = np.linalg.solve(joint_inertia(m, i, MA[i], carried[i]), tau[m.axes(i)] + A.T @ (FA[i] - MA[i] @ given))
        qdd[m.axes(i)] = x
        vdot[i] = given + A @ x
        R[i] = MA[i] @ vdot[i] - FA[i]
    return Solution(qdd=qdd, vdot=vdot, R=R)


def joint_inertia(m: Matrices, i: int, MA: np.ndarray, scale: float) -> np.ndarray:
    """U_i = A_iᵀM_i^A A_i + D_i, the inertia that joint i feels; refused where it feels none."""
    A = m.A_blocks[i]
    U = A.T @ MA @ A + np.diag(m.rotor_blocks[i])
    felt = np.linalg.eigvalsh(U)
    if U.size and not felt[0] > 1e-13 * scale * np.abs(A).max() ** 2:
        joint = m.model.joints[i]
        raise SingularError(
            f"joint {joint.name!r} moves no mass: nothing with inertia about its {'axis' if joint.nv == 1 else 'axes'} hangs "
            f"on it (body {m.model.bodies[i].name!r} and what it carries); give that body mass or inertia, or weld the joint"
        )
    return U


def check_inertia(m: Matrices) -> None:
    """Raise SingularError where some joint moves no mass: the inward half of the method, inertias only."""
    if m.structure.coupled:
        return check_coupled_inertia(m)
    MA = [M.copy() for M in m.M_blocks]
    carried = np.array([np.trace(M) for M in MA])
    for i in range(m.N - 1, -1, -1):
        A, C, k = m.A_blocks[i], m.C[i], m.k[i]
        U = joint_inertia(m, i, MA[i], carried[i])
        if k >= 0:
            MA[k] += C.T @ (MA[i] - MA[i] @ A @ np.linalg.solve(U, A.T @ MA[i])) @ C
            carried[k] += carried[i]


def check_coupled_inertia(m: Matrices) -> None:
    """The same where joints share speeds: the whole inertia matrix is looked at."""
    values, vectors = np.linalg.eigh(composite_inertia(m))
    if not values[0] > 1e-13 * values[-1]:
        name = m.model.v_names[int(np.argmax(np.abs(vectors[:, 0])))]
        raise SingularError(f"{name!r} and the joints coupled to it move no mass; give their bodies mass or inertia")
