"""Which small displacements and changes of the speeds a mechanism allows: the tangent space of its constraints.

Positions satisfy g(q, t) = 0, speeds J v + … = 0; the latter depend on q too. The basis W of the tangent space belongs to named
independent coordinates and speeds: the rest of (ξ, δv) follows from them. docs/theory/linearization.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from ..dynamics import Dynamics
from ..equations.rows.constraint_table import ConstraintTable, Numbers
from ..errors import MethodError, SingularError, brief, choices
from ..model.model import Model
from ..model.references import is_name_in, listed_names
from ..reporting.formats import plural


# --- the matrix N of q̇ = N v + n: how coordinates follow small motions given as speeds
def rate_matrix(d: Dynamics, q: np.ndarray, t: float) -> np.ndarray:
    """N(q) (nq, nv)."""
    n = d.model.nv
    rates = d.rates(q, np.concatenate([np.eye(n), np.zeros((1, n))]), t)
    return (rates[:-1] - rates[-1]).T


# --- tangent space
DEPENDENT = 1e-9
"""Singular values of the constraint rows, scaled, below this are zero: a row depends on the others."""
UNDECIDED = 1e-6
"""Singular values between the two are neither: the position is too near to a singular one."""
POOR = 1e-8
"""Coordinates determine the others no better than this: they are not independent."""
PREFERENCE = 0.1
"""Coordinates of hinges and slides are taken as independent ones though others determine the motion so much better."""


@dataclass(frozen=True)
class TangentSpace:
    """(ξ, δv) = W x, where x are the displacements `positions` and the changes of the speeds `speeds`."""

    W: np.ndarray
    positions: np.ndarray
    speeds: np.ndarray
    least: float
    """The least singular value of the constraint rows that counts; 1 without constraints, 0 at a singular position."""

    @property
    def chosen(self) -> np.ndarray:
        """Rows of (ξ, δv) that are x itself."""
        return np.concatenate([self.positions, len(self.W) // 2 + self.speeds])


def whole_space(n: int) -> TangentSpace:
    """The tangent space of a mechanism without constraints: all of it."""
    return TangentSpace(np.eye(2 * n), np.arange(n), np.arange(n), 1.0)


def tangent_space(
    model: Model,
    table: ConstraintTable,
    state: tuple[np.ndarray, np.ndarray, float],
    N: np.ndarray,
    chosen: np.ndarray | TangentSpace | None = None,
) -> TangentSpace:
    """The tangent space at a state on the constraints. SingularError where their rank is about to change.

    chosen   indices of the coordinates to be independent, or a tangent space whose choice is used again
    """
    q, v, t = state
    rows = Rows(table, q, v, t, N)
    displaced, least_of_positions = rows.allowed(rows.holonomic)
    changed, least = rows.allowed(len(rows.J), displaced)
    free_q, free_v = displaced.shape[1], changed.shape[1]
    if isinstance(chosen, TangentSpace):
        K, I = chosen.speeds, chosen.positions
        if (len(I), len(K)) != (free_q, free_v):
            raise SingularError(f"the mechanism has {len(K)} degrees of freedom at first, {free_v} later")
    else:
        K, I = _chosen(model, rows, free_q, free_v, chosen)
    n = model.nv
    P, dependent = np.zeros((n, free_q)), _others(n, I)
    P[I] = np.eye(free_q)
    P[dependent] = -_solved(rows.J[: rows.holonomic][:, dependent], rows.J[: rows.holonomic][:, I])
    W = np.zeros((2 * n, free_q + free_v))
    W[:n, :free_q] = P
    W[n + K, free_q:] = np.eye(free_v)
    dependent = _others(n, K)
    right = np.hstack([rows.change @ P, rows.J[:, K]])
    W[n + dependent] = -_solved(rows.J[:, dependent], right)  # (S7)
    return TangentSpace(W, I, K, min(least_of_positions, least))


class Rows:
    """The rows of the constraints at a state, divided by the lengths of those of their constraint: holonomic ones first."""

    def __init__(
        self, table: ConstraintTable, q: np.ndarray, v: np.ndarray, t: float, N: np.ndarray, parameters: Numbers = ()
    ) -> None:
        self.table, self.N, self.holonomic = table, N, table.n_holonomic
        own = list(parameters) or list(table.structure.parameters.values())
        self.values = {"q": q.tolist(), "parameter": own, "t": [t]}
        J = table.finite(q, v, t, own)["J"]
        self.length = _lengths(table, J)
        self.J = J / self.length[:, None]
        self.change = self.change_along(v, np.eye(len(v)))
        """(rows, nv): ∂(Jv + …)/∂q N."""

    def change_along(self, v: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """The change of the rates at speeds v along displacements, the columns of xi."""
        directions = self.N @ xi
        found = self.table.rate_along({**self.values, "v": v.tolist()}, list(directions))
        columns = [np.broadcast_to(np.asarray(x, dtype=float), xi.shape[1]) for x in found]
        return np.array(columns).reshape(len(self.length), xi.shape[1]) / self.length[:, None]

    def allowed(self, m: int, displaced: np.ndarray | None = None) -> tuple[np.ndarray, float]:
        """A basis of what the first m rows allow, and the least of their singular values that is not zero.
        `displaced`: a basis of the displacements that are allowed, where they are fewer."""
        n = self.J.shape[1]
        if not m:
            return np.eye(n), 1.0
        U, s, Vt = np.linalg.svd(self.J[:m])
        rank = int((s > DEPENDENT).sum())
        if rank and s[rank - 1] < UNDECIDED:
            raise SingularError(
                f"the position is too near to a singular one to be linearised: {self.names(U[:, rank - 1])} constrains it by "
                f"{s[rank - 1]:.1e} only, relative to the largest; take one farther away"
            )
        basis = Vt[rank:].T
        self._check_rank(U[:, rank:], basis, basis if displaced is None else displaced)
        return basis, float(s[rank - 1]) if rank else 1.0

    def _check_rank(self, redundant: np.ndarray, basis: np.ndarray, along: np.ndarray) -> None:
        """Redundant rows must stay redundant along every motion that is allowed, else the rank is about to change.   (S9)"""
        if not redundant.size or not basis.size or not along.size:
            return
        second = self.second_order(len(redundant), basis, along)
        growth = np.abs(np.einsum("mr,wmx->wrx", redundant, second)).max(axis=2)  # (motions, redundant combinations)
        if growth.max(initial=0.0) > UNDECIDED:
            worst = int(growth.max(axis=0).argmax())
            raise SingularError(
                f"singular position: {plural(basis.shape[1], 'degree of freedom', 'degrees of freedom')} here, fewer beside "
                f"it, where {self.names(redundant[:, worst])} constrains more than here. The motion can go on in several "
                "ways and has no linearisation; take a position beside it"
            )

    def second_order(self, m: int, basis: np.ndarray, along: np.ndarray) -> np.ndarray:
        """(motions, rows, displacements): the change of the first m rows at those speeds along those displacements."""
        at_rest = self.change_along(np.zeros(len(basis)), along)[:m]
        return np.array([self.change_along(w, along)[:m] - at_rest for w in basis.T])

    def names(self, weights: np.ndarray) -> str:
        rows = np.flatnonzero(np.abs(weights) > 0.1 * np.abs(weights).max())
        return ", ".join(str(self.table.rows[k]) for k in rows[:6])


def _lengths(table: ConstraintTable, J: np.ndarray) -> np.ndarray:
    """The longest row of the constraint that a row belongs to: a row that is short beside its like constrains little."""
    length, owners = np.linalg.norm(J, axis=1), [row.owner for row in table.rows]
    longest = {owner: max(x for x, y in zip(length, owners, strict=True) if y == owner) for owner in dict.fromkeys(owners)}
    return np.array([longest[owner] or 1.0 for owner in owners])


def _chosen(model: Model, rows: Rows, free_q: int, free_v: int, named: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the independent speeds, and of the independent coordinates, which contain them."""
    n, J, holonomic = model.nv, rows.J, rows.J[: rows.holonomic]
    if named is None:
        K = _others(n, _pivots(model, J, np.arange(n), n - free_v))
    else:
        if len(named) not in (free_q, free_v):
            wanted = f"{free_v}" if free_q == free_v else f"{free_v} (speeds) or {free_q} (coordinates)"
            what = f"expected as many names as the mechanism has freedoms here, {wanted}"
            raise MethodError(f"independent: {what}; got {len(named)}")
        if len(named) == free_q > free_v:
            _check_determined(model, holonomic, named)
            dependent = _others(n, named)
            Q = np.linalg.qr(J[:, dependent])[0]
            more = _pivots(model, J - Q @ (Q.T @ J), named, free_q - free_v)
            return _others(n, np.concatenate([dependent, more])), named
        _check_determined(model, J, named)
        K = named
    return K, _others(n, _pivots(model, holonomic, _others(n, K), n - free_q))


def independent_speeds(model: Model, names: Sequence[str]) -> np.ndarray:
    known = model.v_names
    out = []
    for name in listed_names(names, "independent", MethodError):
        if not is_name_in(known, name):
            raise MethodError(f"independent: no coordinate {brief(name)}; {choices(name, known, 'coordinates')}")
        out.append(known.index(name))
    return np.unique(np.array(out, dtype=int))


def _pivots(model: Model, J: np.ndarray, columns: np.ndarray, rank: int) -> np.ndarray:
    """As many of the given columns of J as its rank, those that are best solved for; joints of one freedom come last."""
    if not rank:
        return np.zeros(0, dtype=int)
    weight = np.array([PREFERENCE if joint.nv == 1 else 1.0 for joint in model.joints for _ in range(joint.nv)])
    order = qr((J * weight)[:, columns], mode="r", pivoting=True)[1]
    return np.sort(columns[order[:rank]])


def _check_determined(model: Model, J: np.ndarray, independent: np.ndarray) -> None:
    dependent = J[:, _others(J.shape[1], independent)]
    if dependent.size and np.linalg.svd(dependent, compute_uv=False).min() < POOR:
        names = ", ".join(repr(model.v_names[k]) for k in independent)
        why = "with them held the mechanism still moves; choose others"
        raise MethodError(f"independent: {names} do not determine the motion here: {why}")


def _others(n: int, some: np.ndarray) -> np.ndarray:
    return np.setdiff1d(np.arange(n), some)


def _solved(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """X with A X = B; redundant rows agree."""
    return np.linalg.lstsq(A, B, rcond=None)[0] if A.size else np.zeros((A.shape[1], B.shape[1]))
