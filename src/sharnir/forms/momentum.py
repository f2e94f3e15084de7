"""Poisson's equations in momenta: p = BᵀMv in place of q̇, and ṗ without a single acceleration.

Velocity level has the matrix of the extended system:  M v − SᵀΛ = 0;  −S v + A q̇ = −φ^r − C_0v_0;  AᵀΛ = p.
Λ_i is the momentum of everything joint i carries.
"""

from __future__ import annotations

import numpy as np

from ..errors import MethodError
from .matrices import Matrices
from .system import System


def momenta(m: Matrices) -> np.ndarray:
    """p (n) = Bᵀ(Mv + P q̇) + Pᵀv + D q̇."""
    return m.B.T @ (m.M @ m.v + m.P @ m.v_q) + m.P.T @ m.v + m.D @ m.v_q


def system(m: Matrices, p: np.ndarray) -> System:
    """Velocity level of the extended system; of m only the position is used."""
    N6 = 6 * m.N
    right = np.concatenate([np.zeros(N6), -(m.phi_r + m.from_base(m.base_velocity)), p])
    return System(m.extended, right, (("v", N6), ("Λ", N6), ("q̇", m.n)))


def velocities(m: Matrices, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Speeds q̇ (n), velocities v (N×6) and carried momenta Λ (N×6) from p; of m only the position is used."""
    x = system(m, p).solve()
    return x["q̇"], x["v"].reshape(-1, 6), x["Λ"].reshape(-1, 6)


def momentum_rates(m: Matrices, tau: np.ndarray, Lambda: np.ndarray) -> np.ndarray:
    """ṗ_i = τ_i + A_iᵀ(F^e*_i − v_i ×* Λ_i) + Ȧ_iᵀΛ_i, F^e* = Tᵀ(external wrenches), v ×* (f; m) = (ω×f ; ω×m + v×f)."""
    if m.deformed:
        raise MethodError("the form in momenta has no rates of the momenta of elastic coordinates")
    carried, on_axes = m.inward(m.F_external).reshape(-1, 6), np.zeros(m.structure.na)
    for i, v in enumerate(m.v.reshape(-1, 6)):
        force, moment = Lambda[i, :3], Lambda[i, 3:]
        turned = np.concatenate([np.cross(v[3:], force), np.cross(v[3:], moment) + np.cross(v[:3], force)])
        on_axes[m.axes(i)] = m.A_blocks[i].T @ (carried[i] - turned) + m.A_rates[i].T @ Lambda[i]
    out: np.ndarray = tau + m.load + np.bincount(m.structure.tree.speed, on_axes, m.n)
    return out
