"""Flexible bodies in one state: the mass matrix of size 6 + m and its forces, summed over the points of the body.

    y = x + Φe + ½Γee,   U = Φ + Γe,   B = [E  −ỹ  U],   M = Σ BᵀB m,   F = −Σ Bᵀ(ω×(ω×y) + 2 ω×(Uė) + Γėė) m

with Γ replaced by the affine function of x that is nearest to it (docs/theory/flexible.md, F6), found here by least squares.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..model.deformation import Deformation
from .blocks import skew


class DeformedBody(NamedTuple):
    """Contributions of a deformation to the matrices and forces of its body."""

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


def deformed_body(d: Deformation, e: np.ndarray, rates: np.ndarray, omega: np.ndarray) -> DeformedBody:
    I, p = d.shapes.integrals, d.shapes.integrals.points
    if p is None or not np.allclose(
        np.einsum("p,pi,pkj->kij", p.weights, p.x, p.phi), I.first, atol=1e-9 * np.abs(I.first).max()
    ):
        return _by_integrals(d, e, rates, omega)  # finite elements have more inertia than their nodes
    gamma = np.zeros((len(p.weights), d.n, d.n, 3)) if p.gamma is None else _affine(p.weights, p.x, p.gamma)
    bend = np.einsum("pklc,l->pkc", gamma, e)
    y = p.x + np.einsum("pkc,k->pc", p.phi + bend / 2, e)
    U = p.phi + bend
    moved = np.einsum("pkc,k->pc", U, rates)
    drift = np.cross(omega, np.cross(omega, y)) + 2 * np.cross(omega, moved) + np.einsum("pklc,k,l->pc", gamma, rates, rates)
    B = np.concatenate([_turning(y), np.moveaxis(U, 1, 2)], axis=2)  # (points, 3, 6 + m)
    M = np.einsum("p,pcm,pcn->mn", p.weights, B, B)
    F = -np.einsum("p,pcm,pc->m", p.weights, B, drift)
    rigid = _turning(p.x)
    M[:6, :6] -= np.einsum("p,pcm,pcn->mn", p.weights, rigid, rigid)
    F[:6] += np.einsum("p,pcm,pc->m", p.weights, rigid, np.cross(omega, np.cross(omega, p.x)))
    E = M[6:, 6:] + I.mass_matrix - np.einsum("p,pkc,plc->kl", p.weights, p.phi, p.phi)  # modal masses may be given
    return DeformedBody(M[:6, :6], M[:6, 6:], E, F[:6], F[6:], p.weights @ (y - p.x))


def _turning(y: np.ndarray) -> np.ndarray:
    """[E −ỹ] of points: (points, 3, 6)."""
    return np.array([np.hstack([np.eye(3), -skew(r)]) for r in y])


def _affine(weights: np.ndarray, x: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """The values of the affine functions of x that are nearest to Γ_kl."""
    X, root = np.column_stack([np.ones(len(x)), x]), np.sqrt(weights)[:, None]
    flat = gamma.reshape(len(x), -1)
    return (X @ np.linalg.lstsq(root * X, root * flat, rcond=1e-12)[0]).reshape(gamma.shape)


def _by_integrals(d: Deformation, e: np.ndarray, rates: np.ndarray, omega: np.ndarray) -> DeformedBody:
    """The same where points are not known and displacements are linear in e: Newton's, Euler's and Lagrange's equations of
    p = mv + ω×h + P_l ė and L = h×v + Jω + P_a ė, whose blocks are polynomials of e."""

    def blocks(e: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        I = d.shapes.integrals
        D = I.first + np.einsum("l,lkab->kab", e, I.product)
        half = np.einsum("k,kab->ab", e, I.first + D) / 2
        S = I.second + half + half.T
        axial = np.stack([D[:, 1, 2] - D[:, 2, 1], D[:, 2, 0] - D[:, 0, 2], D[:, 0, 1] - D[:, 1, 0]])
        return I.moment + e @ I.linear, np.trace(S) * np.eye(3) - S, np.concatenate([I.linear.T, axial])

    (h, J, P), (h0, J0, _) = blocks(e), blocks(np.zeros(d.n))
    # exact by central differences: of degree two
    pairs = [(blocks(e + step), blocks(e - step)) for step in np.eye(d.n)]
    dJ, dP = (np.moveaxis(np.array([(a[k] - b[k]) / 2 for a, b in pairs]), 0, -1) for k in (1, 2))
    J1, P1, W = dJ @ rates, dP @ rates, skew(omega)
    force = -(W @ W @ (h - h0) + 2 * W @ (P[:3] @ rates))
    torque = -(W @ ((J - J0) @ omega) + J1 @ omega + P1[3:] @ rates + W @ (P[3:] @ rates))
    kinetic = np.array([omega @ dJ[:, :, k] @ omega / 2 + omega @ (dP[3:, :, k] @ rates) for k in range(d.n)])
    M = np.zeros((6, 6))
    M[:3, 3:], M[3:, :3], M[3:, 3:] = -skew(h - h0), skew(h - h0), J - J0
    Q = kinetic - P1[3:].T @ omega
    return DeformedBody(M, P, d.shapes.integrals.mass_matrix, np.concatenate([force, torque]), Q, h - h0)
