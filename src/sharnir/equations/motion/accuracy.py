"""Error of every method by rounding on one model, with its constraints: masses that differ much, soft loops.

Estimated in positions with no special symmetry, assembled or not.
See docs/theory/conditioning.md.
"""

from __future__ import annotations

from ...forms import accuracy
from ...forms.matrices import Matrices
from ...kernels.constrained import REFINED
from ...model.model import Model
from ...model.per_structure import per_structure
from ...programs.methods import METHODS
from .share import share_of, soft_modes


@per_structure
def expected_errors(model: Model) -> dict[str, float]:
    """Relative errors of accelerations, by the name of the method; methods that lose nothing are left out."""
    m = Matrices(model, model.random_q(0), None, 0.1234, None, sparse=False)
    found = accuracy.expected_errors(m)
    errors = {name: found[method.loses] for name, method in METHODS.items() if method.loses in found}
    if not model.constraints:
        return errors
    mode = min([1.0, *soft_modes(model)])
    # the last pivot of a soft mode is what others leave of a diagonal of size one
    left = min(1.0, max(unanswered(mode, share_of(model)), accuracy.EPS / max(mode, accuracy.EPS)))
    for name, method in METHODS.items():
        if name in errors and method.constrains == "form":
            errors[name] = 0.0 if method.loses == "mobility" else errors[name]  # with loops it inverts no mass
        elif name in errors and method.constrains:
            errors[name] = max(errors[name], left)
    return errors


def unanswered(mode: float, share: float) -> float:
    """The share (ε/(s + ε))⁶ of the residual of the constraints that is left in the mode s (L7), (D9)."""
    return (share / (mode + share)) ** (REFINED + 1)
