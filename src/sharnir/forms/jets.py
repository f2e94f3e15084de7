"""Rigid motions as 4×4 matrices with their time derivatives: products and inverses by Leibniz's rule, nothing else.

A *jet* is the stack (H, Ḣ, Ḧ), H = [R p; 0 1], Ḧ at zero accelerations of the free coordinates. A *column* is the stack
(D, Ḋ) with D = ∂Ḣ/∂s for one speed s. Leading axes run over motions, so that all joints of a model are one call.
Nothing here is shared with the kernels, which chain velocities and accelerations instead (theory J1–J3).
"""

from __future__ import annotations

import numpy as np


def hat(twist: np.ndarray) -> np.ndarray:
    """(…, 6) → (…, 4, 4): [ω̃ u; 0 0] of a twist (u; ω)."""
    out = np.zeros((*twist.shape[:-1], 4, 4))
    x, y, z = twist[..., 3], twist[..., 4], twist[..., 5]
    out[..., :3, 3] = twist[..., :3]
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -z, y, -x
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = z, -y, x
    return out


def vee(matrix: np.ndarray) -> np.ndarray:
    """(…, 4, 4) → (…, 6): the twist of a matrix, by the antisymmetric part of its rotational block."""
    R = (matrix[..., :3, :3] - np.swapaxes(matrix[..., :3, :3], -1, -2)) / 2
    return np.concatenate([matrix[..., :3, 3], np.stack([R[..., 2, 1], R[..., 0, 2], R[..., 1, 0]], axis=-1)], axis=-1)


def identities(n: int) -> np.ndarray:
    """(n, 3, 4, 4): n bodies at rest in the identity pose."""
    out = np.zeros((n, 3, 4, 4))
    out[:, 0] = np.eye(4)
    return out


def jet(H: np.ndarray, V: np.ndarray, V_rate: np.ndarray) -> np.ndarray:
    """The jet of a motion whose velocity in its own axes is V: Ḣ = HV̂, Ḧ = H(V̂² + V̂̇)."""
    X = hat(V)
    return np.stack([H, H @ X, H @ (X @ X + hat(V_rate))], axis=-3)


def column(H: np.ndarray, V: np.ndarray, a: np.ndarray, a_rate: np.ndarray) -> np.ndarray:
    """The column of one speed that contributes a to the velocity: D = Hâ, Ḋ = H(V̂â + â̇)."""
    X = hat(a)
    return np.stack([H @ X, H @ (hat(V) @ X + hat(a_rate))], axis=-3)


def product(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The jet of one motion after another."""
    X0, X1, X2 = (X[..., k, :, :] for k in range(3))
    Y0, Y1, Y2 = (Y[..., k, :, :] for k in range(3))
    return np.stack([X0 @ Y0, X1 @ Y0 + X0 @ Y1, X2 @ Y0 + 2 * X1 @ Y1 + X0 @ Y2], axis=-3)


def carried_on(D: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Columns of a motion, once the motion Y follows it."""
    Y0, Y1 = Y[..., 0, :, :], Y[..., 1, :, :]
    return np.stack([D[..., 0, :, :] @ Y0, D[..., 1, :, :] @ Y0 + D[..., 0, :, :] @ Y1], axis=-3)


def carried_by(X: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Columns of a motion that follows the motion X."""
    X0, X1 = X[..., 0, :, :], X[..., 1, :, :]
    return np.stack([X0 @ D[..., 0, :, :], X0 @ D[..., 1, :, :] + X1 @ D[..., 0, :, :]], axis=-3)


def inverse(H: np.ndarray) -> np.ndarray:
    """H⁻¹ = [Rᵀ −Rᵀp; 0 1]."""
    out = np.zeros_like(H)
    back = np.swapaxes(H[..., :3, :3], -1, -2)
    out[..., :3, :3], out[..., 3, 3] = back, 1.0
    out[..., :3, 3] = -(back @ H[..., :3, 3:])[..., 0]
    return out


def inverse_jet(X: np.ndarray) -> np.ndarray:
    """The same motion seen from its other end, by (H⁻¹)˙ = −H⁻¹ḢH⁻¹."""
    back = inverse(X[..., 0, :, :])
    first = -back @ X[..., 1, :, :] @ back
    second = -back @ X[..., 2, :, :] @ back - 2 * first @ X[..., 1, :, :] @ back
    return np.stack([back, first, second], axis=-3)


def inverse_column(X: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Columns of the motion X seen from its other end."""
    back = inverse(X[..., 0, :, :])
    back_rate = -back @ X[..., 1, :, :] @ back
    D0, D1 = D[..., 0, :, :], D[..., 1, :, :]
    return np.stack([-back @ D0 @ back, -back_rate @ D0 @ back - back @ D1 @ back - back @ D0 @ back_rate], axis=-3)
