"""Flexible bodies in one state: the mass matrix of size 6 + m and its forces, summed over the points of the body.

    y = x + Φe + ½Γee,   U = Φ + Γe,   B = [E  −ỹ  U]

With kinetic energy kept to second order in (e, ė), M = Σ BᵀB m in its blocks to the orders that leaves (docs/theory/flexible.md,
F5), and the forces follow from it by Lagrange's equations: derivatives of the blocks along the motion, not the formulas of the
kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..model.deformation import Deformation
from .blocks import skew


class DeformedBody(NamedTuple):
    """What a deformation adds to the body it belongs to."""

    M: np.ndarray
    """(6, 6): mass matrix less that of the undeformed body."""
    P: np.ndarray
    """(6, m): momentum per unit of the elastic speeds."""
    E: np.ndarray
    """(m, m): mass matrix of the elastic coordinates."""
    F: np.ndarray
    """(6): forces of the motion on the body, less those of the undeformed one."""
    Q: np.ndarray
    """(m): forces of the motion on the elastic coordinates."""
    moment: np.ndarray
    """(3): first moment less that of the undeformed body."""


def blocks(d: Deformation, e: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """h (3), J (3×3), P (6×m), E (m×m): the mass matrix with everything of the undeformed body."""
    p = d.shapes.integrals.points
    if p is None:
        return _blocks_of_integrals(d, e)
    w, x, phi = p.weights, p.x, p.phi
    gamma = np.zeros((len(w), d.n, d.n, 3)) if p.gamma is None else p.gamma
    u = np.einsum("pkc,k->pc", phi, e)
    bend = np.einsum("pklc,l->pkc", gamma, e)
    second = np.einsum("pkc,k->pc", bend, e) / 2
    h = w @ (x + u + second)
    S = np.einsum("p,pa,pb->ab", w, x + u, x + u) + np.einsum("p,pa,pb->ab", w, x, second) + np.einsum("p,pa,pb->ab", w, second, x)
    J = np.trace(S) * np.eye(3) - S
    linear = np.einsum("p,pkc->ck", w, phi + bend)
    angular = np.einsum("p,pkc->ck", w, np.cross((x + u)[:, None], phi) + np.cross(x[:, None], bend))
    E = np.einsum("p,pkc,plc->kl", w, phi, phi)
    return h, J, np.concatenate([linear, angular]), E


def _blocks_of_integrals(d: Deformation, e: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The same where only the integrals of a body are known."""
    I = d.shapes.integrals
    bend = np.einsum("klc,l->kc", I.curved, e)
    h = I.moment + e @ (I.linear + bend / 2)
    D = I.first + np.einsum("l,lkab->kab", e, I.product) + np.einsum("l,klab->kab", e, I.bent)
    half = np.einsum("k,kab->ab", e, I.first + D) / 2
    S = I.second + half + half.T
    axial = np.stack([D[:, 1, 2] - D[:, 2, 1], D[:, 2, 0] - D[:, 0, 2], D[:, 0, 1] - D[:, 1, 0]])
    return h, np.trace(S) * np.eye(3) - S, np.concatenate([(I.linear + bend).T, axial]), I.mass_matrix


def deformed_body(d: Deformation, e: np.ndarray, rates: np.ndarray, omega: np.ndarray) -> DeformedBody:
    h, J, P, E = blocks(d, e)
    h0, J0, _, _ = blocks(d, np.zeros(d.n))
    dh, dJ, dP = _slopes(d, e)
    h1, J1, P1 = dh @ rates, dJ @ rates, dP @ rates
    W = skew(omega)
    # Newton's and Euler's equations of p = mv + ω×h + P_l ė and L = h×v + Jω + P_a ė, less M times the true accelerations
    force = -(W @ W @ (h - h0) + 2 * W @ h1 + P1[:3] @ rates)
    torque = -(W @ ((J - J0) @ omega) + J1 @ omega + P1[3:] @ rates + W @ (P[3:] @ rates))
    kinetic = np.array([omega @ dJ[:, :, k] @ omega / 2 + omega @ (dP[3:, :, k] @ rates) for k in range(d.n)])
    Q = kinetic - P1[3:].T @ omega
    M = np.zeros((6, 6))
    M[:3, 3:], M[3:, :3], M[3:, 3:] = -skew(h - h0), skew(h - h0), J - J0
    return DeformedBody(M, P, E, np.concatenate([force, torque]), Q, h - h0)


def _slopes(d: Deformation, e: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Derivatives of h, J and P by e, the last axis: exact by central differences, since they are polynomials of degree two."""
    out: list[list[np.ndarray]] = [[], [], []]
    for step in np.eye(d.n):
        high, low = blocks(d, e + step), blocks(d, e - step)
        for found, a, b in zip(out, high[:3], low[:3], strict=True):
            found.append((a - b) / 2)
    h, J, P = (np.moveaxis(np.array(x), 0, -1) for x in out)
    return h, J, P
