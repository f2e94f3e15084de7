"""What every method may lose to rounding on one model, with its constraints: where masses differ much.

Estimated in positions with no special symmetry, assembled or not: masses matter here, positions hardly do.
See docs/theory/conditioning.md.
"""

from __future__ import annotations

import numpy as np

from ..forms import accuracy
from ..forms.matrices import Matrices
from ..kernels.constrained import FLOOR, ON_FORCES, REFINED
from ..model.model import Model
from ..programs.methods import METHODS
from .constraint_table import table_of

POSITIONS = 3
"""Random positions of a model with constraints; what is lost in all of them is lost because of the masses."""


def expected_errors(model: Model) -> dict[str, float]:
    """Relative errors of accelerations, by the name of the method; methods that lose nothing are left out."""
    m = Matrices(model, model.random_q(0), None, 0.1234, None, sparse=False)
    found = accuracy.expected_errors(m)
    errors = {name: found[method.loses] for name, method in METHODS.items() if method.loses in found}
    if not model.constraints:
        return errors
    unanswered = _least_unanswered(model)
    solves_rows = [name for name, method in METHODS.items() if method.constrains in ("inertia", "sweeps")]
    return errors | {name: max(errors.get(name, 0.0), unanswered) for name in solves_rows}


def _least_unanswered(model: Model) -> float:
    found = []
    for seed in range(POSITIONS):
        m = Matrices(model, model.random_q(seed), None, 0.1234, None, sparse=False)
        J = table_of(model).evaluate(m.q, np.zeros(model.nv), m.t)["J"]
        if J.size and np.isfinite(J).all():
            found.append(unanswered_share(J, m.M_r))
    return min(found, default=0.0)


def unanswered_share(J: np.ndarray, M: np.ndarray) -> float:
    """The share (ε/(s + ε))⁶ of the residual of the constraints that is left in the weakest mode s of S = JM⁻¹Jᵀ (L7), of those
    modes that are independent whatever the masses."""
    try:
        S = J @ np.linalg.solve(M, J.T)
    except np.linalg.LinAlgError:
        return 0.0
    size = np.diag(S)
    if not (size >= 0.0).all():
        return np.inf
    weight = size + FLOOR * size.mean()
    by_mass, alone = _modes(S, weight), _modes(J @ J.T, np.sum(J * J, axis=1))
    regular = alone > 1e-6
    modes = np.sort(by_mass)[::-1][: int(regular.sum())]
    return float(((ON_FORCES / (np.maximum(modes, 0.0) + ON_FORCES)) ** (REFINED + 1)).max(initial=0.0))


def _modes(S: np.ndarray, weight: np.ndarray) -> np.ndarray:
    d = 1.0 / np.sqrt(np.where(weight > 0.0, weight, 1.0))
    return np.linalg.eigvalsh(S * d * d[:, None])
