"""The share e added to the diagonal of the multipliers; rounding errors of every method; rows that always depend on others.

e is decided once for a model, far below its softest mode. That of n loops in a row, or of a loop of n links, is of the order
1/n², and no singular position; where n rows travel with one body, as in a scissor, whose links bend like a beam, it is of the
order 1/n⁴. e is no less than that asks for: off the constraints redundant rows are not quite dependent. docs/theory/loops.md (L7)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...backends import sizes
from ...forms import accuracy
from ...forms.independent import RANK_OF_SQUARE, independent_rows
from ...forms.matrices import Matrices
from ...kernels.constrained import FLOOR, ON_FORCES, REFINED
from ...model.elimination import Block, Link
from ...model.model import Model
from ...model.per_structure import per_structure
from ...model.structure import Structure
from ...programs.methods import METHODS
from ..assembly.loop_closure import Closure
from ..rows.body_rows import body_rows
from ..rows.constraint_families import BODY
from ..rows.constraint_table import table_of
from .retraction import retract

if TYPE_CHECKING:
    from .constrained import ConstrainedEquations

OF_MODE = 2e-3
"""e over the softest mode, at most: six terms of (L7) then leave 1e-16 of it."""
LEAST = 1e-14
"""Lower limit of e: rounding of a pivot is smaller."""
FEW = 10
"""Bodies, rows, or multipliers with one body, up to which modes are not soft but for their masses."""
SOFT, ON_RESIDUALS = 1e-4, 2
"""The mode below which elimination loses digits that count; solutions by the residuals that bring them back."""
POSITIONS = 3
"""Random positions in which modes are found."""
MOST_ROWS = 100
"""Constraint rows up to which modes are computed, which takes time with the cube of their number."""


@per_structure
def share_of(model: Model) -> float:
    """e of a model with constraints, for every method."""
    s = closed_structure(model)
    share = ON_FORCES * (min(1.0, FEW / max(s.sizes["nsm"], s.nb, 1)) * min(1.0, FEW / _together(s))) ** 2  # (L33)
    return max(LEAST, min([share, *(OF_MODE * x for x in soft_modes(model))]))


def _together(s: Structure) -> int:
    """The most multipliers and shared speeds that travel with one body."""
    return max(1, int(np.diff(s.tree.column).max(initial=0)))


@per_structure
def soft_modes(model: Model) -> list[float]:
    """The softest mode, with the masses as they are: the median over a few positions; none where it is not known."""
    found = list[float]()
    for seed in range(POSITIONS if len(table_of(model)) <= MOST_ROWS and 0 < model.structure.nb <= sizes.BODIES else 0):
        m = Matrices(model, model.random_q(seed), None, 0.1234, None, sparse=False)
        with np.errstate(all="ignore"):
            found.append(softest_mode(table_of(model).evaluate(m.q, np.zeros(model.nv), m.t)["J"], m.M_r))
    known = [x for x in found if x > 0.0]
    return [float(np.median(known))] if known else []


def softest_mode(J: np.ndarray, M: np.ndarray) -> float:
    """The softest mode of S = JM⁻¹Jᵀ with a diagonal of ones, dependent rows apart; 0 where it is not known."""
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


@per_structure
def closed_structure(model: Model) -> Structure:
    """The structure with the constraints among the unknowns that bodies share, refined by residuals where modes are soft."""
    rows = body_rows(model)
    out = model.structure.with_constraints(blocks_of(model), len(rows), rows.sizes["K"])
    if _together(out) > FEW and min(soft_modes(model), default=0.0) < SOFT:
        out.sizes["nsr"] = ON_RESIDUALS
    return out


def blocks_of(model: Model) -> list[Block]:
    """The rows of every constraint, and what they act on."""
    rows = body_rows(model)
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


# --- rounding errors of every method
@per_structure
def expected_errors(model: Model) -> dict[str, float]:
    """Relative errors of accelerations, by the name of the method, by masses that differ much and soft loops; methods that lose
    nothing are left out. Estimated in positions with no special symmetry, assembled or not. See docs/theory/conditioning.md."""
    m = Matrices(model, model.random_q(0), None, 0.1234, None, sparse=False)
    found = accuracy.expected_errors(m)
    errors = {name: found[method.loses] for name, method in METHODS.items() if method.loses in found}
    if not model.constraints:
        return errors
    mode = min([1.0, *soft_modes(model)])
    share = share_of(model)
    unanswered = (share / (mode + share)) ** (REFINED + 1)  # of the residual of the constraints, in the softest mode (L7), (D9)
    # the last pivot of a soft mode is what others leave of a diagonal of size one
    left = min(1.0, max(unanswered, accuracy.EPS / max(mode, accuracy.EPS)))
    for name, method in METHODS.items():
        if name in errors and method.constrains == "form":
            errors[name] = 0.0 if method.loses == "mobility" else errors[name]  # with loops it inverts no mass
        elif name in errors and method.constrains:
            errors[name] = max(errors[name], left)
    return errors


# --- which rows always depend on others: over-constrained mechanisms, as far as a few positions tell
ASSEMBLED, REACH, ITERATIONS, CLOSE, DEPENDENT = 4, 0.4, 50, 1e-10, 1e-7
"""Positions on the constraints, how far from the present one they are sought, steps of
Newton's method, what they may leave, and the share of a row that the rows before it may leave."""


def always_dependent(e: ConstrainedEquations, start: np.ndarray, t: float, parameters: list[float]) -> np.ndarray:
    """Which rows the rows before them determine wherever the constraints are met, judged from a position on them."""
    rng = np.random.default_rng(12)
    if e.sparse:
        return _dependent_by_pivots(e, start, t, parameters, rng)
    always, samples = np.ones(len(e.table), dtype=bool), 0
    for _ in range(4 * ASSEMBLED):
        q = _moved_on(e, start, t, parameters, REACH * rng.uniform(0.2, 1.0), rng)
        if q is not None:
            always &= _dependent(e.table.evaluate(q, np.zeros(e.structure.nv), t, parameters)["J"])
            samples += 1
        if samples == ASSEMBLED or (samples and not always.any()):
            break
    return always & (samples > 0)


def _moved_on(
    e: ConstrainedEquations, start: np.ndarray, t: float, parameters: list[float], reach: float, rng: np.random.Generator
) -> np.ndarray | None:
    """A position on the constraints some way along a freedom of the mechanism, where Newton's method finds one."""
    J = e.table.evaluate(start, np.zeros(e.structure.nv), t, parameters)["J"]
    _, sizes, V = np.linalg.svd(J)
    free = V[int((sizes > 1e-6 * sizes.max(initial=0.0)).sum()) :]
    if not len(free):
        return None
    away = retract(e.model, start, reach * _unit(free.T @ rng.normal(size=len(free))), t)
    return Closure(e.model, e.table.at(parameters), t, np.ones(e.structure.nv, dtype=bool)).closed(away, ITERATIONS)


def _unit(x: np.ndarray) -> np.ndarray:
    return x / np.abs(x).max()


def _dependent(J: np.ndarray) -> np.ndarray:
    """Which rows the rows before them determine."""
    out, basis = np.zeros(len(J), dtype=bool), np.zeros((0, J.shape[1]))
    for k, row in enumerate(J):
        length, left = np.linalg.norm(row), row
        for _ in range(2):  # once more, for what rounding has left
            left = left - basis.T @ (basis @ left)
        size = np.linalg.norm(left)
        out[k] = not size > DEPENDENT * length
        if not out[k]:
            basis = np.vstack([basis, left / size])
    return out


def _dependent_by_pivots(
    e: ConstrainedEquations, start: np.ndarray, t: float, parameters: list[float], rng: np.random.Generator
) -> np.ndarray:
    """The same where multipliers are eliminated with the bodies, in the order of that elimination: rows of whose pivots no more
    is left than e, with which they grow."""
    s, sparse = e.structure, e.sparse
    assert sparse is not None
    at = {"q": np.zeros(s.nq), "v": np.zeros(s.nv), "tau": np.zeros(s.nv), "t": np.array([t]), "parameter": np.array(parameters)}
    at = sparse.allocate(at)
    at |= {"share": np.array([sparse.share])}
    project, solve = e.projector.natives(at), sparse.chain(at)
    always, samples = np.ones(len(e.table), dtype=bool), 0
    for _ in range(ASSEMBLED):
        at["q"][:], at["v"][:] = start, rng.normal(size=s.nv)
        for native in project:  # speeds that the constraints allow
            native()
        at["q"][:] = retract(e.model, at["q"], REACH * rng.uniform(0.2, 1.0) * _unit(at["v"]), t)
        at["v"][:] = 0.0
        for _ in range(ITERATIONS // 5):
            for native in project:
                native()
        found = []
        for share in (sparse.share, 10.0 * sparse.share):
            at["share"][:] = share
            for native in solve:
                native()
            found.append(at["inverse"].copy())
        if np.isfinite(found).all() and np.abs(at["g"]).max(initial=0.0) < CLOSE:
            always &= found[0] > 3.0 * found[1]
            samples += 1
    return always & (samples > 0)
