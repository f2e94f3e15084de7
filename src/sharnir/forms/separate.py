"""The method of separate bodies (Vereshchagin): the extended system eliminated from the leaves to the root, O(N).

Inward, body i with all it carries becomes one body with inertia M^A and force F^A; outward, accelerations follow.
"""

from __future__ import annotations

import numpy as np

from ..errors import SingularError, known
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
        U[i] = A.T @ MA[i] @ A + np.diag(m.rotor_blocks[i])  # the inertia seen by joint i
        if U[i].size:
            felt, ways = np.linalg.eigh(U[i])
            if not felt[0] > 1e-13 * carried[i] * np.abs(A).max() ** 2:
                raise SingularError(_without_mass(m, i, ways[:, 0], MA, U))
        if k >= 0:
            MA[k] += C.T @ (MA[i] - MA[i] @ A @ np.linalg.solve(U[i], A.T @ MA[i])) @ C
            carried[k] += carried[i]
    return MA, U


def _without_mass(m: Matrices, i: int, way: np.ndarray, MA: list[np.ndarray], U: list[np.ndarray]) -> str:
    """Words for joint i that moves in one way without moving a mass: alone, or because joints further out undo what it does."""
    v, moving = {i: m.A_blocks[i] @ way}, [i]
    for j in range(i + 1, m.N):
        k = m.k[j]
        if k in v:
            carried, A = m.C[j] @ v[k], m.A_blocks[j]
            x = -np.linalg.solve(U[j], A.T @ MA[j] @ carried)  # what makes the motion of least energy
            v[j] = carried + A @ x
            if x.size and np.abs(x).max() > 1e-6 * np.abs(way).max():
                moving.append(j)
    names = [m.structure.placed[j].name for j in moving]
    body = m.structure.bodies[i].name
    or_cut = ", or cut it in place of another joint of its loop: add_joint(…, cut=True)" if m.model.closing_joints else ""
    if len(moving) == 1:
        axes = "axis" if m.A_blocks[i].shape[1] == 1 else "axes"
        return (
            f"joint {names[0]!r} moves no mass: nothing with inertia about its {axes} hangs on it "
            f"(body {body!r} and what it carries); give that body mass or inertia, or weld the joint{or_cut}"
        )
    light = [m.structure.bodies[j].name for j in v if np.abs(v[j]).max() > 1e-6 * np.abs(v[i]).max()]
    return (
        f"joints {known(names)} together move no mass: what the first does the others undo, and only {known(light)} moves, "
        f"without inertia about that axis; give {light[0]!r} mass or inertia, or weld one of the joints{or_cut}"
    )


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
