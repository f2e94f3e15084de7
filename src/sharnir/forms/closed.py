"""The forms of the equations with rows for closed loops: J q̈ + γ = 0 beside the equations of the tree. The oracle.

Rows may depend on one another: multipliers are then those of least length, and accelerations are unique all the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import lagrange1
from .blocks import dense
from .extended import system
from .independent import Rows, least
from .maggi import closed_system
from .matrices import Matrices


def by_extended(m: Matrices, tau: np.ndarray, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """q̈ and λ by the extended system with rows below."""
    equations = system(m, tau, rows)
    x, at = equations.solve(), equations.places
    return x["q̈"], least(rows[0], -equations.matrix[at["q̈"], at["λ_c"]] @ x["λ_c"])


def by_lagrange1(m: Matrices, tau: np.ndarray, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """The same in absolute coordinates."""
    equations = lagrange1.full_system(m, tau, rows)
    x, at = equations.solve(), equations.places
    force = m.A.T @ m.inward(-equations.matrix[at["v̇"], at["λ_c"]] @ x["λ_c"])
    return m.joint_accelerations(x["v̇"]), least(rows[0], force)


def by_maggi(m: Matrices, tau: np.ndarray, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """The same by independent speeds; λ afterwards."""
    x = closed_system(m, tau, rows).solve()
    B, P, D = dense(m.B), dense(m.P), dense(m.D)
    forces = (B.T @ dense(m.M) + P.T) @ x["v̇"] + (D + B.T @ P) @ x["q̈"] - tau - B.T @ m.F
    return x["q̈"], np.linalg.lstsq(rows[0].T, forces, rcond=1e-10)[0]


CLOSED_FORMS: dict[str, Callable[[Matrices, np.ndarray, Rows], tuple[np.ndarray, np.ndarray]]] = {
    "extended": by_extended,
    "lagrange1": by_lagrange1,
    "maggi": by_maggi,
}
