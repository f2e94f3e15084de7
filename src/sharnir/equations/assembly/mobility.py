"""Mobility: the true degrees of freedom of a mechanism, and its redundant constraints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from ...model.mobility import Mobility
from ...model.model import Model
from ...model.states import check_state
from ..rows.constraint_table import ConstraintTable, table_of
from .fixed_coordinates import held_coordinates
from .loop_closure import Closure

# --- the rank of a sparse matrix, row by row: Givens' rotations on columns in an order of small bandwidth
NEGLIGIBLE = 0.1
"""Entries below this part of the tolerance are zeros: rounding must not decide in which column a row begins."""


def independent_rows(A: csr_array, tolerance: float) -> np.ndarray:
    """For every row, normalized by the caller, whether it is independent of the rows before it: of its part that these do not
    cancel more than `tolerance` is left."""
    pattern = csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
    order = reverse_cuthill_mckee((pattern.T @ pattern).tocsr(), symmetric_mode=True)
    place = np.empty(A.shape[1], dtype=np.int64)
    place[order] = np.arange(A.shape[1])
    triangle: dict[int, np.ndarray] = {}
    independent = np.zeros(A.shape[0], dtype=bool)
    for k in range(A.shape[0]):
        own = slice(int(A.indptr[k]), int(A.indptr[k + 1]))
        columns, values = place[A.indices[own]], A.data[own]
        if len(columns):
            first = int(columns.min())
            row = np.zeros(int(columns.max()) - first + 1)
            row[columns - first] = values
            independent[k] = _rotated_in(triangle, row, first, tolerance)
    return independent


def _rotated_in(triangle: dict[int, np.ndarray], row: np.ndarray, first: int, tolerance: float) -> bool:
    """Whether anything is left of a row, which begins in column `first`, for a new row of the triangle."""
    while np.abs(row).max(initial=0.0) > tolerance:
        x = float(row[0])
        if abs(x) > NEGLIGIBLE * tolerance:
            above = triangle.get(first)
            if above is None:
                triangle[first] = row
                return True
            n = max(len(row), len(above))
            above, row = (np.concatenate([y, np.zeros(n - len(y))]) if len(y) < n else y for y in (above, row))
            size = math.hypot(float(above[0]), x)
            c, s = float(above[0]) / size, x / size
            triangle[first], row = c * above + s * row, c * row - s * above
        row, first = row[1:], first + 1
    return False


# --- freedoms and redundant constraints
ZERO = 1e-8
"""Length of a dependent row after elimination of the others, relative to its own."""
AWAY, TRIED = (0.3, 0.1, 0.03, 0.01), 3
"""How far one coordinate is moved from a position that may be special, less where loops do not close, and how many are tried."""


def mobility(model: Model, q: ArrayLike | None = None, t: float = 0.0, parameters: Mapping[str, float] | None = None) -> Mobility:
    """The freedoms of a model, the rank of its constraints, the redundant ones: at q, assembled by the caller; without it at the
    least special of a few closed positions, that in which the fewest rows depend on others."""
    table, values = table_of(model), tuple(model.parameter_values(parameters).values())
    given, _, t = check_state(model, q, None, t)
    found: Mobility | None = None
    for position, at in _positions(model, table.at(values), given, t) if q is None else [("", given)]:
        now = _mobility(model, table, at, t, values, position)
        if found is None or now.freedoms < found.freedoms:
            found = now
        if found.rank == len(found.rows):
            break
    assert found is not None
    return found


def _positions(model: Model, table: ConstraintTable, neutral: np.ndarray, t: float) -> Iterator[tuple[str, np.ndarray]]:
    """Closed positions to judge at, and how each is called: the nearest to the neutral one, which may be one where everything
    lies on top of each other, and some with one coordinate moved away from there."""
    free = np.ones(model.nv, dtype=bool)
    first = Closure(model, table, t, free).close_if_defined(neutral) if len(table.rows) else None
    if first is None or not first.closed:
        yield "the neutral position" + ", which is not closed" * (first is not None), neutral
    else:
        moved = not np.allclose(first.q, neutral, atol=1e-9)
        yield "the closed position nearest to the neutral one" if moved else "the neutral position", first.q
    s, depth = model.structure, [0]
    for k in s.carrier[1:].tolist():
        depth.append(depth[k] + 1)
    single = [i for i, joint in enumerate(s.placed) if joint.nq == 1]
    for i in sorted(single, key=lambda i: depth[i + 1])[:TRIED]:  # the nearest to the base
        joint = s.placed[i].name
        held = held_coordinates(model, [joint])
        closure = Closure(model, table, t, ~held.speeds, held.rows, neutral[list(held.rows)])
        for away in AWAY:
            guess = neutral.copy()
            guess[model.q_slice(joint)] += away
            found = closure.closed(guess)
            if found is not None:
                yield f"the closed position with joint {joint!r} moved by {away:g}", found
                break


def _mobility(
    model: Model, table: ConstraintTable, q: np.ndarray, t: float, values: tuple[float, ...], position: str
) -> Mobility:
    J = table.finite(q, np.zeros(model.nv), t, values, sparse=True)["J"]
    rank, redundant = _dependent_sparse(table, J) if table.is_large else _dependent(table, J)
    redundant = [f"{row} is already fixed by the joints of the tree" for row in table.trivial] + redundant
    rows = tuple(str(row) for row in table.rows)
    cuts = tuple(model.cut_reasons)
    return Mobility(model.nv - rank, gruebler(model, table), rank, rows, tuple(redundant), cuts, position, q)


def gruebler(model: Model, table: ConstraintTable) -> int:
    """Grübler's count: 6·bodies less the rows of every joint and constraint, dependent or not."""
    joints = sum(6 - (j.nv if not j.follows else 0) for j in model.joints)
    return 6 * len(model.bodies) - joints - len(table.rows) - len(table.trivial)


def _dependent_sparse(table: ConstraintTable, J: csr_array) -> tuple[int, list[str]]:
    """The same for large models. Which of rows that depend on one another is called redundant: the last of them."""
    length = np.sqrt(J.multiply(J).sum(axis=1))
    short = length <= ZERO * max(float(length.max(initial=0.0)), 1e-300)
    unit = (diags_array(1.0 / np.where(short, 1.0, length)) @ J).tocsr()
    independent = independent_rows(unit, ZERO) & ~short
    found, left = np.flatnonzero(independent), np.flatnonzero(~independent & ~short)
    out = {k: _redundant(table, k, ()) for k in np.flatnonzero(short).tolist()}
    if len(left):
        basis = unit[found]
        solve = splu((basis @ basis.T).tocsc()).solve
        for k in left.tolist():
            share = solve(basis @ unit[[k]].toarray()[0])
            out[k] = _redundant(table, k, found[np.abs(share) > 1e-6].tolist())
    return len(found), [out[k] for k in sorted(out)]


def _dependent(table: ConstraintTable, J: np.ndarray) -> tuple[int, list[str]]:
    """The rank of J, and a sentence for every row that depends on others."""
    if not J.size:
        return 0, []
    length = np.linalg.norm(J, axis=1)
    unit = J / np.where(length > 0.0, length, 1.0)[:, None]
    _, R, order = qr(unit.T, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(R))
    rank = int((sizes > ZERO).sum())
    independent, out = np.sort(order[:rank]), []
    for k in sorted(order[rank:].tolist()):
        owners = []
        if length[k] > ZERO * max(length.max(), 1e-300):
            share = np.linalg.lstsq(unit[independent].T, unit[k], rcond=None)[0]
            owners = independent[np.abs(share) > 1e-6].tolist()
        out.append(_redundant(table, k, owners))
    return rank, out


def _redundant(table: ConstraintTable, k: int, owners: Sequence[int]) -> str:
    fixed_by = ", ".join(dict.fromkeys(str(table.rows[i]) for i in owners)) or "the joints of the tree at this position"
    return f"{table.rows[k]} is already fixed by {fixed_by}"
