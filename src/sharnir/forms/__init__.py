"""Forms of the equations of motion, one per file, as the papers write them: the oracle of the package.

FORMS maps a name to solve(matrices, tau) -> Solution.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import banded, extended, lagrange1, lagrange2, maggi, separate
from .matrices import Matrices
from .solution import Solution

Form = Callable[[Matrices, np.ndarray], Solution]


def _loaded(solve: Form) -> Form:
    """The model's own forces act at the joints beside τ."""
    return lambda m, tau: solve(m, tau + m.load)


FORMS: dict[str, Form] = {
    "extended": _loaded(extended.solve),
    "lagrange1": _loaded(lagrange1.solve),
    "lagrange1-banded": _loaded(banded.solve),
    "lagrange1-full": _loaded(lagrange1.solve_with_accelerations),
    "direct": _loaded(lagrange2.solve_direct),
    "composite": _loaded(lagrange2.solve_composite),
    "maggi": _loaded(maggi.solve),
    "separate": _loaded(separate.solve),
}
