"""What every method may lose to rounding on one model, with its constraints: where masses differ much.

Estimated in positions with no special symmetry, assembled or not: masses matter here, positions hardly do.
See docs/theory/conditioning.md.
"""

from __future__ import annotations

import numpy as np

from ..forms import accuracy
from ..forms.matrices import Matrices
from ..kernels.constrained import REFINED
from ..model.model import Model
from ..programs.methods import METHODS
from .share import share_of, soft_modes


def expected_errors(model: Model) -> dict[str, float]:
    """Relative errors of accelerations, by the name of the method; methods that lose nothing are left out."""
    m = Matrices(model, model.random_q(0), None, 0.1234, None, sparse=False)
    found = accuracy.expected_errors(m)
    errors = {name: found[method.loses] for name, method in METHODS.items() if method.loses in found}
    if not model.constraints:
        return errors
    mode, masses = min([1.0, *soft_modes(model)]), [body.mass for body in m.structure.bodies if body.mass]
    around = accuracy.EPS * max(masses) / min(masses) if masses else 0.0  # a loop has no root: any body may hold any other
    # the last pivot of a soft mode is what others leave of a diagonal of size one
    left = min(1.0, max(unanswered(mode, share_of(model)), accuracy.EPS / max(mode, accuracy.EPS)))
    for name, method in METHODS.items():
        if method.constrains and name in errors:
            own = left if method.constrains != "form" else around if method.loses == "mobility" else 0.0
            errors[name] = max(errors[name], own)
    return errors


def unanswered(mode: float, share: float) -> float:
    """The share (ε/(s + ε))⁶ of the residual of the constraints that is left in the mode s (L7), (D9)."""
    return (share / (mode + share)) ** (REFINED + 1)
