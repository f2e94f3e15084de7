"""Forms of the equations of motion, one per file, as the papers write them: the oracle of the package.

FORMS maps a name to solve(matrices, tau) -> Solution.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import extended, lagrange1, lagrange2, maggi, separate
from .matrices import Matrices
from .solution import Solution

FORMS: dict[str, Callable[[Matrices, np.ndarray], Solution]] = {
    "extended": extended.solve,
    "lagrange1": lagrange1.solve,
    "lagrange1-full": lagrange1.solve_with_accelerations,
    "direct": lagrange2.solve_direct,
    "composite": lagrange2.solve_composite,
    "maggi": maggi.solve,
    "separate": separate.solve,
}
