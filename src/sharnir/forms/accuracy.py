"""Estimated rounding errors of accelerations where masses differ much, by what a method subtracts; once per model.

Digits are lost where large numbers nearly cancel. docs/theory/conditioning.md derives the ratios and compares with 60 digits.
"""

from __future__ import annotations

import numpy as np

from .matrices import Matrices
from .separate import articulated_inertias

EPS = float(np.finfo(float).eps)


def expected_errors(m: Matrices) -> dict[str, float]:
    """Relative errors of accelerations in this position, by `Method.loses`.

    sweeps    body i joined to what it carries, until U_i is left                    A_iᵀ(M_i + Σ C_lᵀM_l^A C_l)A_i : U_i
    inertia   body i and all it carries welded together, until U_i is left           A_iᵀM*_iA_i : U_i
    mobility  the mobility of a body, until that of all it carries is left           M_i^A : M_i
    """
    if m.structure.coupled:
        return {"inertia": EPS * spread(m.M_r)}
    try:
        MA, U = articulated_inertias(m)
    except np.linalg.LinAlgError:  # nothing but rounding is left of some U_i
        return dict.fromkeys(("sweeps", "inertia", "mobility"), np.inf)
    M, A, C, k, D = m.M_blocks, m.A_blocks, m.C, m.k, m.rotor_blocks
    joined, welded = [x.copy() for x in M], [x.copy() for x in M]
    for i in range(m.N - 1, -1, -1):
        if k[i] >= 0:
            joined[k[i]] += C[i].T @ MA[i] @ C[i]
            welded[k[i]] += C[i].T @ welded[i] @ C[i]  # (D1)
    tree, lent = m.structure.tree, list[np.ndarray]()
    for i in range(m.N):  # the mass matrices that are inverted
        first, count = tree.lent_at[tree.alike[i + 1]], tree.lent_of[i + 2] - tree.lent_of[i + 1]
        lent.append(M[i] + tree.lent[first : first + count].T @ tree.lent[first : first + count])
    moved = [i for i in range(m.N) if U[i].size]
    left = [U[i] for i in moved]
    return {
        "sweeps": EPS * _ratio([A[i].T @ joined[i] @ A[i] + np.diag(D[i]) for i in moved], left),
        "inertia": EPS * _ratio([A[i].T @ welded[i] @ A[i] + np.diag(D[i]) for i in moved], left),
        "mobility": EPS * _ratio(MA, lent),
    }


def _ratio(large: list[np.ndarray], small: list[np.ndarray]) -> float:
    """The largest x of all pairs with det(large − x small) = 0; infinite where rounding has left no definite matrix."""
    out = 0.0
    for size in {len(x) for x in small}:
        L, S = (np.array([x for x in group if len(x) == size]) for group in (large, small))
        diagonal = np.einsum("kii->ki", S)
        if not (diagonal > 0.0).all():
            return np.inf
        d = 1.0 / np.sqrt(diagonal)
        scale = d[:, :, None] * d[:, None, :]
        try:
            out = max(out, float(np.abs(np.linalg.eigvals(np.linalg.solve(S * scale, L * scale))).max()))
        except np.linalg.LinAlgError:
            return np.inf
    return out


def spread(M: np.ndarray) -> float:
    """The largest M_aa (M⁻¹)_aa: the inertia of a speed with all others held, against that with all others free."""
    try:
        return float(np.abs(np.diag(M) * np.diag(np.linalg.inv(M))).max(initial=0.0))
    except np.linalg.LinAlgError:
        return np.inf
