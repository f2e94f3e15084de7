"""Whether an equilibrium is stable: by the potential energy where forces have one, else by the linearised motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import known
from .balance import Position

ROUNDING = 1e-9
"""Of stiffnesses, relative to the largest one and to the forces of the model."""
SYMMETRY = 1e-7
"""Stiffnesses are symmetric, as those of a potential, if they are up to this share of the largest."""
GROWTH = 1e-8
"""Rates of growth below this share of the largest eigenvalue are none."""


def stability(now: Position, speeds: bool) -> tuple[str, str]:
    """ "stable", "unstable" or "undecided", and the reason. `speeds`: whether held joints move."""
    K, C = now.K, now.C
    if not len(K):
        return "stable", "nothing can move"
    size = float(np.abs(K).max())
    noise = SYMMETRY * size + ROUNDING * now.scale * float((now.motions**2).sum(axis=0).max())
    if np.abs(K - K.T).max() <= noise:
        return _by_energy(now, K, C, speeds)
    return _by_eigenvalues(now, K, C)


def _by_energy(now: Position, K: np.ndarray, C: np.ndarray, speeds: bool) -> tuple[str, str]:
    """Lagrange and Dirichlet; Kelvin, Tait and Chetaev where forces depend on speeds."""
    w, U = np.linalg.eigh(0.5 * (K + K.T))
    zero = ROUNDING * (float(np.abs(w).max()) + now.scale * ((now.motions @ U) ** 2).sum(axis=0))
    energy = "potential energy" + (" with that of the centrifugal forces" if speeds else "")
    fed = np.linalg.eigvalsh(0.5 * (C + C.T))
    damping_noise = ROUNDING * (float(np.abs(C).max()) + float(np.sqrt(np.abs(w).max())))
    feeds, has_speed_forces = fed[0] < -damping_noise, float(np.abs(C).max()) > damping_noise
    if (w > zero).all():
        if feeds:
            return _by_eigenvalues(now, K, C)
        return "stable", f"the {energy} has a minimum here" + (", and no force feeds the motion" if has_speed_forces else "")
    falling = np.flatnonzero(w < -zero)
    if len(falling) and (not has_speed_forces or len(falling) % 2):
        return "unstable", f"the {energy} decreases along a motion of {_moving(now, U[:, falling[0]])}"
    if len(falling):  # gyroscopic forces may hold what the potential does not
        return _by_eigenvalues(now, K, C)
    flat = int(np.argmin(np.abs(w)))
    return "undecided", f"the {energy} does not change, to second order, along a motion of {_moving(now, U[:, flat])}"


def _by_eigenvalues(now: Position, K: np.ndarray, C: np.ndarray) -> tuple[str, str]:
    """Of the linearised motion ÿ + C ẏ + K y = 0."""
    n = len(K)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-K, -C]])
    s, X = np.linalg.eig(A)
    fastest = int(np.argmax(s.real))
    zero = GROWTH * max(float(np.abs(s).max()), 1e-300)
    moving = _moving(now, X[:n, fastest])
    if s[fastest].real > zero:
        how = (
            "grows" if abs(s[fastest].imag) <= zero else f"oscillates with {abs(s[fastest].imag) / (2 * np.pi):.3g} Hz and grows"
        )
        return "unstable", f"a small motion of {moving} {how}, e-fold in {1.0 / s[fastest].real:.3g} s"
    if s[fastest].real < -zero:
        return "stable", f"every small motion decays, the slowest, of {moving}, e-fold in {-1.0 / s[fastest].real:.3g} s"
    return "undecided", f"the linearised motion of {moving} neither grows nor decays"


def _moving(now: Position, y: np.ndarray) -> str:
    """The joints that take part in a motion."""
    parts = np.abs(now.motions @ y)
    names: Sequence[str] = now.problem.model.v_names
    order = [k for k in np.argsort(-parts, kind="stable") if parts[k] > 0.2 * parts.max()]
    return known((names[k] for k in order), 4)
