"""e, the share of the diagonal of the multipliers that is added to it: decided once for a model, far below its softest mode.

The softest mode of n loops in a row, or of a loop of n links, is of the order 1/n², and no singular position; where n rows travel
with one body, as in a scissor, whose links bend like a beam, it is of the order 1/n⁴. e is no less than that asks for: off the
constraints redundant rows are not quite dependent. docs/theory/loops.md (L7)
"""

from __future__ import annotations

import numpy as np

from ..backends.compiled_programs import BODIES
from ..forms.closed import RANK_OF_SQUARE, independent_rows
from ..forms.matrices import Matrices
from ..kernels.constrained import FEW, FLOOR, ON_FORCES
from ..model.elimination import Block, Link
from ..model.model import Model
from ..model.structure import Structure
from .body_rows import BodyRows, body_rows_of
from .constraint_table import table_of
from .row_layout import BODY

OF_MODE = 2e-3
"""e over the softest mode, at most: six terms of (L7) then leave 1e-16 of it."""
LEAST = 1e-14
"""Of e: rounding of a pivot is smaller."""
POSITIONS = 3
"""Random positions in which modes are found."""
MOST_ROWS = 100
"""Of constraints: beyond, modes are not found, which takes time with the cube of their number."""


def share_of(model: Model) -> float:
    """e of a model with constraints, for every method."""
    cached = model.structure.cached
    if "share" not in cached:
        s, modes = closed_structure(model), soft_modes(model)
        together = int(np.diff(s.tree.column).max(initial=0))
        share = ON_FORCES * (min(1.0, FEW / max(s.sizes["nsm"], s.nb, 1)) * min(1.0, FEW / max(together, 1))) ** 2
        cached["share"] = max(LEAST, min([share, *(OF_MODE * x for x in modes)]))
    found: float = cached["share"]
    return found


def soft_modes(model: Model) -> list[float]:
    """The softest mode, with the masses as they are: the median over a few positions; none where it is not known."""
    cached = model.structure.cached
    if "soft modes" not in cached:
        few = len(table_of(model)) <= MOST_ROWS and 0 < model.structure.nb <= BODIES
        found = [_softest(model, seed) for seed in range(POSITIONS if few else 0)]
        known = [x for x in found if x > 0.0]
        cached["soft modes"] = [float(np.median(known))] if known else []
    out: list[float] = cached["soft modes"]
    return out


def _softest(model: Model, seed: int) -> float:
    m = Matrices(model, model.random_q(seed), None, 0.1234, None, sparse=False)
    with np.errstate(all="ignore"):
        return softest_mode(table_of(model).evaluate(m.q, np.zeros(model.nv), m.t)["J"], m.M_r)


def softest_mode(J: np.ndarray, M: np.ndarray) -> float:
    """Of S = JM⁻¹Jᵀ with a diagonal of ones, of as many modes as J has independent rows; 0 where it is not known."""
    try:
        S = J @ np.linalg.solve(M, J.T)
    except np.linalg.LinAlgError:
        return 0.0
    size = np.diag(S)
    if not np.isfinite(S).all() or not (size >= 0.0).all():
        return 0.0
    d = 1.0 / np.sqrt(np.maximum(size + FLOOR * size.mean(), 1e-300)) if len(S) else size
    modes = np.linalg.eigvalsh(S * d * d[:, None])[::-1][: len(independent_rows(J, RANK_OF_SQUARE))]
    return float(np.maximum(modes, 0.0).min(initial=1.0))


def closed_structure(model: Model) -> Structure:
    """The structure with the constraints among the unknowns that bodies share."""
    cached = model.structure.cached
    if "closed" not in cached:
        rows = body_rows_of(model)
        cached["closed"] = model.structure.with_constraints(_blocks(model, rows), len(rows), rows.sizes["K"])
    found: Structure = cached["closed"]
    return found


def _blocks(model: Model, rows: BodyRows) -> list[Block]:
    """The constraints of a model as unknowns that bodies share."""
    first, kind, target, at = (x.tolist() for x in rows.links)
    of_rows, row_first, out = rows.row_of.tolist(), rows.row_first.tolist(), list[Block]()
    constraints = model.constraints
    for c, name in enumerate(rows.names):
        links: tuple[list[Link], list[Link]] = ([], [])
        for k in range(first[c], first[c + 1]):
            links[kind[k] != BODY].append(Link(target[k], at[k]))
        mine = tuple(of_rows[row_first[c] : row_first[c + 1]])
        out.append(Block(mine, tuple(links[0]), tuple(links[1]), constraints[name].internal))
    return out
