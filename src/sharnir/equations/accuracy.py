"""What every method may lose to rounding on one model, with its constraints: where masses differ much.

Estimated in positions with no special symmetry, assembled or not: masses matter here, positions hardly do.
See docs/theory/conditioning.md.
"""

from __future__ import annotations

import numpy as np

from ..forms import accuracy
from ..forms.closed import RANK_OF_SQUARE, independent_rows
from ..forms.matrices import Matrices
from ..kernels.constrained import FLOOR, ON_FORCES, REFINED
from ..model.model import Model
from ..programs.methods import METHODS
from .constraint_table import table_of
from .sparse import share_of

POSITIONS = 3
"""Random positions in which a model with constraints is tried."""
MOST_ROWS = 100
"""Of constraints: beyond, their modes are not estimated, which takes time with the cube of their number."""
WEAK = 1e-9
"""Share of a constraint unanswered with equal masses: the position is nearly singular."""


def expected_errors(model: Model) -> dict[str, float]:
    """Relative errors of accelerations, by the name of the method; methods that lose nothing are left out."""
    m = Matrices(model, model.random_q(0), None, 0.1234, None, sparse=False)
    found = accuracy.expected_errors(m)
    errors = {name: found[method.loses] for name, method in METHODS.items() if method.loses in found}
    if not model.constraints:
        return errors
    modes, masses = _weakest_modes(model), [body.mass for body in m.structure.bodies if body.mass]
    around = accuracy.EPS * max(masses) / min(masses) if masses else 0.0  # a loop has no root: any body may hold any other
    shares = ON_FORCES, share_of(len(table_of(model)), m.structure.nb)
    inertia, elimination = (float(np.median([unanswered(s, e) for s in modes] or [0.0])) for e in shares)
    if modes:  # the pivot of a weak mode is what others leave of a diagonal of size one
        elimination = min(1.0, max(elimination, accuracy.EPS / max(float(np.median(modes)), accuracy.EPS)))
    for name, method in METHODS.items():
        more = {"inertia": inertia, "elimination": elimination, "form": around if method.loses == "mobility" else 0.0}
        if method.constrains in more and name in errors:
            errors[name] = max(errors[name], more[method.constrains])
    return errors


def _weakest_modes(model: Model) -> list[float]:
    """In a few positions, those left out that are nearly singular whatever the masses. Of many constraints they are not known:
    modes are those of a dense matrix."""
    found = list[float]()
    for seed in range(POSITIONS if len(table_of(model)) <= MOST_ROWS else 0):
        m = Matrices(model, model.random_q(seed), None, 0.1234, None, sparse=False)
        J = table_of(model).evaluate(m.q, np.zeros(model.nv), m.t)["J"]
        if J.size and np.isfinite(J).all() and unanswered(weakest_mode(J, np.eye(model.nv)), ON_FORCES) < WEAK:
            found.append(weakest_mode(J, m.M_r))
    return found


def unanswered(mode: float, share: float) -> float:
    """The share (ε/(s + ε))⁶ of the residual of the constraints that is left in the mode s (L7), (D9)."""
    return (share / (mode + share)) ** (REFINED + 1)


def weakest_mode(J: np.ndarray, M: np.ndarray) -> float:
    """Of S = JM⁻¹Jᵀ with a diagonal of ones, of as many modes as J has independent rows; 0 where it is not known."""
    try:
        S = J @ np.linalg.solve(M, J.T)
    except np.linalg.LinAlgError:
        return 0.0
    size = np.diag(S)
    if not (size >= 0.0).all():
        return 0.0
    d = 1.0 / np.sqrt(np.maximum(size + FLOOR * size.mean(), 1e-300))
    modes = np.linalg.eigvalsh(S * d * d[:, None])[::-1][: len(independent_rows(J, RANK_OF_SQUARE))]
    return float(np.maximum(modes, 0.0).min(initial=1.0))
