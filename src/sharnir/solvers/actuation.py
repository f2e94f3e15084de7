"""Joint forces of a given motion when constraints carry part of the load: τ_tree = τ + Jᵀλ, for batches of states.

τ_tree is the result of inverse dynamics of the tree. P = 1 − Jᵀ(JJᵀ)⁺J removes what constraints can carry, so that τ must satisfy
Pτ = Pτ_tree and nothing else. See docs/theory/loops.md, "Forces for a given motion".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..equations.assembly.least_motion import times
from ..errors import MethodError, StateError, known
from ..model.model import Model
from ..model.references import is_name_in, listed_names

RANK_TOLERANCE = 1e-10
"""Singular values below this share of the largest count as zero."""
REACH_TOLERANCE = 1e-9
"""Unit motions in which all actuators move by less than this cannot be driven."""
MISSING_TOLERANCE = 1e-8
"""Relative to the forces of the tree: what may be missing by rounding."""


def actuated_speeds(model: Model, names: Sequence[str]) -> np.ndarray:
    """Indices in v of the named joints; a joint of several freedoms by its own name or one of them as `joint.part`."""
    found: list[int] = []
    speeds = {name: k for k, name in reversed([*enumerate(model.v_names)])}
    for name in listed_names(names, "actuated", MethodError):
        if is_name_in(speeds, name):
            found.append(speeds[name])
            continue
        where = model.v_slice(name)
        if where.start == where.stop:
            raise MethodError(
                f"actuated: joint {name!r} has no speed of its own, its motion is given; what drives it is in its reaction"
            )
        found += range(where.start, where.stop)
    return np.array(sorted(set(found)), dtype=int)


def least_multipliers(J: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """The λ (k, m) of least norm with the same Jᵀλ. States that are not finite are left unchanged."""
    good = np.isfinite(lam).all(axis=1) & np.isfinite(J).all(axis=(1, 2))
    out = lam.copy()
    if not J.shape[2]:
        out[good] = 0.0
    elif good.any():
        U, s, _ = np.linalg.svd(J[good], full_matrices=False)
        nonzero = s > RANK_TOLERANCE * s[:, :1]
        out[good] = times(U, nonzero * times(U.swapaxes(1, 2), lam[good]))
    return out


def multipliers_of(J: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """λ (k, m) of least norm with Jᵀλ = forces (k, n), in the sense of least squares."""
    out = np.zeros(J.shape[:2])
    good = np.isfinite(forces).all(axis=1) & np.isfinite(J).all(axis=(1, 2))
    out[~good] = np.nan
    if good.any() and J.shape[1] and J.shape[2]:
        U, s, V = np.linalg.svd(J[good], full_matrices=False)
        nonzero = s > RANK_TOLERANCE * s[:, :1]
        out[good] = times(U, np.divide(times(V, forces[good]), s, where=nonzero, out=np.zeros_like(s)))
    return out


def forces_of(J: np.ndarray, tree: np.ndarray, actuated: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """τ (k, n) of least norm at the actuated speeds (None: at all) with Pτ = Pτ_tree; and what is missing of that (k, n)."""
    tau, missing = np.zeros(tree.shape), np.zeros(tree.shape)
    good = np.isfinite(tree).all(axis=1) & np.isfinite(J).all(axis=(1, 2))
    tau[~good] = np.nan
    if not good.any() or not tree.shape[1]:
        return tau, missing
    V = _row_space(J[good])
    wanted = _without(V, tree[good])
    if actuated is None:
        tau[good] = wanted
        return tau, missing
    E = np.broadcast_to(np.eye(tree.shape[1])[:, actuated], (len(V), tree.shape[1], len(actuated)))
    reach = E - V.swapaxes(1, 2) @ (V @ E)
    if len(actuated):
        U, s, W = np.linalg.svd(reach, full_matrices=False)
        share = np.divide(times(U.swapaxes(1, 2), wanted), s, where=s > REACH_TOLERANCE, out=np.zeros_like(s))
        force = times(W.swapaxes(1, 2), share)
        part = np.zeros((len(V), tree.shape[1]))
        part[:, actuated] = force
        tau[good] = part
        wanted = wanted - times(reach, force)
    missing[good] = _without(V, wanted)
    return tau, missing


def without_carried(J: np.ndarray, X: np.ndarray) -> np.ndarray:
    """P X: columns (k, n, c) of joint forces without what constraints can carry; nan where J is."""
    good = np.isfinite(J).all(axis=(1, 2))
    V, out = _row_space(J[good]), np.full(X.shape, np.nan)
    out[good] = X[good] - V.swapaxes(1, 2) @ (V @ X[good])
    return out


def check_produced(model: Model, missing: np.ndarray, tree: np.ndarray, actuated: np.ndarray, single: bool) -> None:
    """Raise for the first state whose motion the actuators cannot produce, naming the speeds they do not reach."""
    short = np.abs(missing).max(axis=1, initial=0.0)
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(short > MISSING_TOLERANCE * np.abs(tree).max(axis=1, initial=0.0) + 1e-12)
    if not bad.size:
        return
    b = int(bad[0])
    names, left = model.v_names, np.abs(missing[b])
    moving = [names[k] for k in np.argsort(-left) if left[k] > 1e-6 * left.max()]
    where = "" if single else f"state {b}: "
    raise StateError(
        f"{where}the actuated joints ({known(names[k] for k in actuated)}) cannot produce this motion: they have no effect "
        f"on a motion of {known(moving, 6)}, which needs a force of {left.max():.3g} more; actuate one of those too"
    )


def null_rows(J: np.ndarray) -> np.ndarray:
    """(k, m, m): orthonormal u with uᵀJ = 0, zero rows where there are fewer; none for states that are not finite."""
    good = np.isfinite(J).all(axis=(1, 2))
    if not J.shape[1] or not J.shape[2]:
        return np.broadcast_to(np.eye(J.shape[1]), (len(J), J.shape[1], J.shape[1])) * good[:, None, None]
    U, s, _ = np.linalg.svd(np.where(good[:, None, None], J, 0.0))
    zero = np.ones(J.shape[:2], dtype=bool)
    zero[:, : s.shape[1]] = s <= RANK_TOLERANCE * s[:, :1]
    return U.swapaxes(1, 2) * (zero & good[:, None])[:, :, None]


def without_rows(null: np.ndarray, x: np.ndarray) -> np.ndarray:
    """x (k, m, c) without its parts along the rows of `null` (k, r, m)."""
    return x - null.swapaxes(1, 2) @ (null @ x)


def least_changes(J: np.ndarray, tree: np.ndarray, moved: np.ndarray | None = None) -> np.ndarray:
    """Changes (k, n, c) of Pτ_tree: P `tree` − J⁺ `moved`, given the changes of τ_tree − Jᵀλ (k, n, c) at fixed λ and those of
    Jτ (k, m, c) at fixed τ."""
    good = np.isfinite(J).all(axis=(1, 2))[:, None, None]
    if not J.shape[1] or not J.shape[2]:
        return tree.copy()
    unit, length = _unit_rows(np.where(good, J, 0.0))
    U, s, V = np.linalg.svd(unit, full_matrices=False)
    nonzero = (s > RANK_TOLERANCE * np.maximum(s[:, :1], 1e-300))[:, :, None]
    held = V @ tree
    if moved is not None:
        on_rows = U.swapaxes(1, 2) @ np.divide(moved, length, where=length > 0.0, out=np.zeros_like(moved))
        held = held + np.divide(on_rows, s[:, :, None], where=nonzero, out=np.zeros_like(on_rows))
    return np.where(good, tree - V.swapaxes(1, 2) @ (nonzero * held), np.nan)


def _row_space(J: np.ndarray) -> np.ndarray:
    """(k, r, n): orthonormal rows that span those of J, zero rows where J has fewer. Rows of any length count alike."""
    if not J.shape[1]:
        return np.zeros((len(J), 0, J.shape[2]))
    _, s, V = np.linalg.svd(_unit_rows(J)[0], full_matrices=False)
    return V * (s > RANK_TOLERANCE * np.maximum(s[:, :1], 1e-300))[:, :, None]


def _unit_rows(J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows at length one, and their lengths (k, m, 1)."""
    length = np.linalg.norm(J, axis=2, keepdims=True)
    return np.divide(J, length, where=length > 0.0, out=np.zeros_like(J)), length


def _without(V: np.ndarray, x: np.ndarray) -> np.ndarray:
    return x - times(V.swapaxes(1, 2), times(V, x))
