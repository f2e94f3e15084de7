"""Finite elements to a few modes: the method of Craig and Bampton (AIAA Journal 6, 1968)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from scipy.sparse.linalg import eigsh, splu

from ...errors import ModelError, known
from ...types import FloatArray, IntArray
from .integrals import Integrals
from .modal import ModalBody

DENSE = 400
"""Up to this many unknowns all eigenvectors are computed at once."""


def reduce(
    M: Any,
    K: Any,
    *,
    nodes: Mapping[str, Sequence[float]] | Sequence[Sequence[float]] | FloatArray,
    interface: Sequence[str | int],
    modes: int = 10,
    damping: float | Sequence[float] = 0.0,
    rayleigh: Sequence[float] = (0.0, 0.0),
) -> ModalBody:
    """A body of finite elements, free in space, as a `ModalBody`.

    `M` and `K`, dense or sparse, have 3 (displacements) or 6 (then rotations) degrees of freedom per node, node after node.
    `nodes` are their places, (n, 3) or by name; without names they are "node0", "node1" … `interface`: the nodes, by name or
    number, to which joints and forces will be attached, the root first. `modes`: how many normal modes with all of the
    interface held.

    The shapes are the static responses to unit displacements of the interface but the root's, and the normal modes, combined to
    modes orthogonal in M and K. Nodes without rotations of their own get those that fit the displacements of their neighbours
    best (least squares over the nodes that K connects them with).

    Mass, centre, inertia, modal masses, ∫Φ and ∫x×Φ follow exactly from M and rigid-body vectors. The symmetric part of ∫xΦᵀ,
    and the products ∫ΦΦᵀ, which enter the inertia as it changes with deformation, are sums over the row sums of M as masses at
    the nodes.
    """
    names, x = _nodes(nodes)
    M, K, d = _matrices(M, K, len(names))
    root, *others = held = _interface(interface, names)
    rigid = _rigid(x, d)
    if np.abs(K @ rigid).max() > 1e-6 * np.abs(K).max() * np.abs(rigid).max():
        raise ModelError("reduce: K resists rigid motions; give the matrices of the free body, without supports")
    boundary, outer = _freedoms(held, d), _freedoms(others, d)
    size = np.ptp(x, axis=0).max() or 1.0
    if np.linalg.matrix_rank(rigid[boundary] / np.array([1, 1, 1, size, size, size]), tol=1e-6) < 6:
        raise ModelError(
            "reduce: the interface does not hold the body: nodes without rotations need at least three that are not on one line"
        )
    T = _basis(M, K, boundary, outer, modes)
    if d == 3:  # what is left of rigid motion with the root in place: rotations about it, which the interface's places determine
        about_root = rigid[:, 3:] - np.tile(np.cross(np.eye(3), x[root]).T, (len(x), 1))
        inside = np.zeros((T.shape[1], 3))
        inside[: len(outer)] = about_root[outer]
        T = T @ scipy.linalg.null_space((T.T @ (M @ (T @ inside))).T)
    omega, phi = _modes(T.T @ (M @ T), T.T @ (K @ T), T)
    shapes = np.zeros((len(x), phi.shape[1], 6))
    shapes[:, :, :d] = phi.reshape(len(x), d, -1).transpose(0, 2, 1)
    if d == 3:
        shapes[:, :, 3:] = _rotations(K, x, shapes[:, :, :3])
    mass, centre, inertia, integrals = _integrals(M, x, phi, shapes, rigid, d)
    return ModalBody(
        mass=mass,
        centre=tuple(centre.tolist()),
        inertia=tuple(inertia.tolist()),
        nodes=dict(zip(names, x, strict=True)),
        modes=dict(zip(names, shapes.transpose(0, 2, 1), strict=True)),
        frequencies=tuple(omega.tolist()),
        integrals=integrals,
        damping=damping,
        rayleigh=rayleigh,
    )


def _nodes(nodes: Any) -> tuple[list[str], FloatArray]:
    names = list(nodes) if isinstance(nodes, Mapping) else [f"node{k}" for k in range(len(nodes))]
    x = np.array(list(nodes.values()) if isinstance(nodes, Mapping) else nodes, dtype=float)
    if x.ndim != 2 or x.shape[1] != 3:
        raise ModelError(f"reduce: expected nodes as n×3 numbers, got the shape {x.shape}")
    return names, x


def _matrices(M: Any, K: Any, n: int) -> tuple[Any, Any, int]:
    M, K = sparse.csc_array(M, dtype=float), sparse.csc_array(K, dtype=float)
    if M.shape != K.shape or M.shape not in ((3 * n, 3 * n), (6 * n, 6 * n)):
        raise ModelError(f"reduce: {n} nodes need matrices of {3 * n} or {6 * n} rows; M has the shape {M.shape}, K {K.shape}")
    for name, a in (("M", M), ("K", K)):
        if np.abs(a - a.T).max() > 1e-8 * np.abs(a).max():
            raise ModelError(f"reduce: {name} is not symmetric")
    return M, K, M.shape[0] // n


def _interface(interface: Sequence[str | int], names: list[str]) -> list[int]:
    found = []
    for node in interface:
        if isinstance(node, str) and node not in names:
            raise ModelError(f"reduce: interface: no node {node!r}; there are {known(names)}")
        k = names.index(node) if isinstance(node, str) else int(node)
        if not 0 <= k < len(names) or k in found:
            raise ModelError(f"reduce: interface: node {node!r} is named twice or does not exist (0 to {len(names) - 1})")
        found.append(k)
    if not found:
        raise ModelError("reduce: the interface needs at least one node: the root")
    return found


def _freedoms(nodes: Sequence[int], d: int) -> IntArray:
    return (np.array(nodes, dtype=int)[:, None] * d + np.arange(d)).ravel()


def _rigid(x: FloatArray, d: int) -> FloatArray:
    """(N, 6): displacements of the nodes in unit translations, and unit rotations about the origin."""
    found = np.zeros((len(x), d, 6))
    found[:, :3, :3] = np.eye(3)
    for k, axis in enumerate(np.eye(3)):
        found[:, :3, 3 + k] = np.cross(axis, x)
    if d == 6:
        found[:, 3:, 3:] = np.eye(3)
    return found.reshape(len(x) * d, 6)


def _basis(M: Any, K: Any, boundary: IntArray, outer: IntArray, modes: int) -> FloatArray:
    """Constraint modes of the freedoms `outer`, then normal modes with the whole boundary held."""
    inner = np.setdiff1d(np.arange(M.shape[0]), boundary)
    if isinstance(modes, bool) or not isinstance(modes, (int, np.integer)) or not 0 <= modes <= len(inner):
        raise ModelError(f"reduce: modes: expected a whole number from 0 to {len(inner)}, got {modes!r}")
    if len(outer) + modes == 0:
        raise ModelError("reduce: neither interface nodes beside the root nor normal modes: the body would be rigid")
    T = np.zeros((M.shape[0], len(outer) + modes))
    T[outer, np.arange(len(outer))] = 1.0
    if not len(inner):
        return T
    K_ii, M_ii = K[inner][:, inner].tocsc(), M[inner][:, inner].tocsc()
    try:
        T[inner, : len(outer)] = -splu(K_ii).solve(K[inner][:, outer].toarray()) if len(outer) else 0.0
        if modes:
            T[inner, len(outer) :] = _lowest(M_ii, K_ii, modes)
    except (RuntimeError, np.linalg.LinAlgError):
        raise ModelError("reduce: K is singular with the interface held: parts of the body are loose") from None
    return T


def _lowest(M: Any, K: Any, count: int) -> FloatArray:
    n = K.shape[0]
    if n <= DENSE or count > n // 3:  # K as the metric: masses may be zero for some freedoms
        return scipy.linalg.eigh(M.toarray(), K.toarray(), subset_by_index=(n - count, n - 1))[1][:, ::-1]
    _, vectors = eigsh(K, k=count, M=M, sigma=0.0, v0=np.ones(n))
    return vectors


def _modes(M: FloatArray, K: FloatArray, T: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Frequencies, and modes of unit modal mass whose largest entry is positive."""
    scale = 1 / np.sqrt(np.diag(K))
    squares, V = scipy.linalg.eigh(M * np.outer(scale, scale), K * np.outer(scale, scale))
    if squares[0] <= 1e-13 * squares[-1]:
        raise ModelError("reduce: some shapes move no mass or depend on others; take fewer modes or interface nodes")
    omega = 1 / np.sqrt(squares[::-1])
    phi = T @ (scale[:, None] * V[:, ::-1]) * omega
    largest = np.take_along_axis(phi, np.abs(phi).argmax(axis=0)[None, :], axis=0)
    return omega, phi * np.sign(largest)


def _rotations(K: Any, x: FloatArray, moved: FloatArray) -> FloatArray:
    """(n, m, 3): rotations that fit the displacements of the neighbours relative to a node."""
    found = np.zeros_like(moved)
    linked = sparse.coo_array(K)
    graph = sparse.csr_array((np.ones(linked.nnz), (linked.row // 3, linked.col // 3)), shape=(len(x), len(x)))
    for i in range(len(x)):
        near = [j for j in graph.indices[graph.indptr[i] : graph.indptr[i + 1]] if j != i]
        r = x[near] - x[i]
        normal = np.sum(r * r) * np.eye(3) - r.T @ r
        moment = np.cross(r[:, None, :], moved[near] - moved[i]).sum(axis=0)
        found[i] = moment @ np.linalg.pinv(normal, rcond=1e-9)
    return found


def _integrals(
    M: Any, x: FloatArray, phi: FloatArray, shapes: FloatArray, rigid: FloatArray, d: int
) -> tuple[float, FloatArray, FloatArray, Integrals]:
    """Mass, centre, inertia about it, integrals."""
    whole = rigid.T @ (M @ rigid)
    mass = float(np.trace(whole[:3, :3]) / 3)
    J = whole[3:, 3:]
    moment = np.array([whole[5, 1], whole[3, 2], whole[4, 0]])  # m x, m y, m z: a turn about z moves x along y, and so on
    centre = moment / mass
    about = J - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    weights = (M @ rigid[:, :3]).reshape(len(x), d, 3)[:, (0, 1, 2), (0, 1, 2)].mean(axis=1)
    lumped = Integrals.of_points(weights, x, shapes[:, :, :3])
    loads = (rigid.T @ (M @ phi)).T  # (m, 6): ∫Φ, ∫x×Φ
    first = (lumped.first + lumped.first.transpose(0, 2, 1)) / 2
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):  # (x×Φ)_k = x_i Φ_j − x_j Φ_i
        first[:, i, j] += loads[:, 3 + k] / 2
        first[:, j, i] -= loads[:, 3 + k] / 2
    m = phi.shape[1]
    integrals = Integrals(
        mass=mass, moment=moment, second=np.trace(J) / 2 * np.eye(3) - J,
        linear=loads[:, :3], first=first, product=lumped.product,
        curved=np.zeros((m, m, 3)), bent=np.zeros((m, m, 3, 3)), mass_matrix=lumped.mass_matrix, points=lumped.points,
    )  # fmt: skip
    return mass, centre, about[(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)], integrals
