"""Warnings of runs of flexible bodies, most of them before they begin: locked bodies, too few shapes, and fixed steps too long
for the fastest vibration, beyond the limit of stability, where it grows without end.

Elastic coordinates vibrate as e¨ = −W(K e + C ė), with W the elastic part of the inverse mass matrix. Every method takes the
modes of this linear system from step to step by a factor; where one is larger than 1 in magnitude the run diverges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...dynamics import Dynamics
from ...errors import FlexibilityWarning, SharnirError, warn
from ...types import FloatArray

if TYPE_CHECKING:
    from ..results.result import Result
    from ..results.trajectories import Rollout

GROWTH = 1.0 + 1e-6
"""Factor of a step beyond which a mode grows: rounding stays below."""


def warn_of_elastic_steps(d: Dynamics, q: FloatArray, t: float, parameters: Any, step: float | None, integrator: str) -> str:
    """Warn of a fixed step that is too long for the integrator; returns the warning, the likely cause should the run fail, or "".
    Constraints only make vibrations slower."""
    if step is None or not d.structure.deformations or integrator not in FACTORS:
        return ""
    found, factor, longest = fastest_vibration(d, q, t, parameters), FACTORS[integrator], step
    if found is None or factor(found.K, found.C, step) <= GROWTH:
        return ""
    while factor(found.K, found.C, longest) > GROWTH:  # stable, to a tenth
        longest *= 0.9
    text = (
        f"a step of {step:.3g} s is too long for {integrator!r}: the fastest vibration, of body {found.body!r}, has "
        f"{found.omega / (2.0 * np.pi):.4g} Hz, and {CONSEQUENCE.get(integrator, 'it will grow without end')}; take a step below "
        f"about {longest:.2g} s, fewer modes, or simulate with integrator='radau'"
    )
    warn(text, FlexibilityWarning)
    return text


def warn_of_shapes(d: Dynamics, q: FloatArray, v: FloatArray, t: float, tau: FloatArray, parameters: Any) -> bool:
    """Warn of flexible bodies that loops keep from deforming, and of those with too few shapes for their loads; returns whether
    there was a warning."""
    if not d.structure.deformations:
        return False
    # here: rigid models do without scipy
    from ...analysis.flexibility import warn_of_locking, warn_of_missing_shapes

    own = () if parameters is None else parameters
    locked = d.constrained is not None and warn_of_locking(d, t, q, parameters=own)
    return warn_of_missing_shapes(d.model, q, v, t, tau, parameters) or locked


def warn_of_shapes_in_motion(r: Result | Rollout, parameters: Any) -> None:
    """Warn of too few shapes after a run, where bodies are bent most: drives, and forces that grow, load them after the start."""
    s = r.model.structure
    if not s.deformations or not r.q.size:
        return
    from ...analysis.flexibility import warn_of_missing_shapes

    bent = ((r.q[..., s.q_slice(x.row)], x.shapes.stiffness) for x in s.deformations.values())
    energies = np.asarray(sum(np.einsum("...i,ij,...j->...", e, K, e) for e, K in bent))
    k = np.unravel_index(np.nan_to_num(energies).argmax(), energies.shape)
    t, tau = np.broadcast_to(r.t, energies.shape), np.broadcast_to(r.tau, r.v.shape)
    warn_of_missing_shapes(r.model_with_contacts, r.q[k], r.v[k], float(t[k]), tau[k], parameters)


class Vibration(NamedTuple):
    """The fastest vibration of a model in a position, and the matrices of all: e¨ = −K e − C ė."""

    body: str
    omega: float
    """rad/s."""
    K: FloatArray
    C: FloatArray


def fastest_vibration(d: Dynamics, q: FloatArray, t: float, parameters: Any) -> Vibration | None:
    """The fastest vibration in a position; None where the mass matrix cannot be inverted there."""
    import scipy.linalg  # here: rigid models do without it

    s = d.structure
    try:
        M = np.asarray(d.mass_matrix(q, t, parameters=parameters))
        inverse = scipy.linalg.inv(M)
    except (SharnirError, scipy.linalg.LinAlgError, ValueError):
        return None
    every, here = s.deformations.values(), s.elastic_speeds
    owner = np.repeat([x.body for x in every], [x.n for x in every])
    W = inverse[np.ix_(here, here)]
    K, C = (scipy.linalg.block_diag(*(getattr(x.shapes, name) for x in every)) for name in ("stiffness", "damping"))
    squares, modes = scipy.linalg.eig(W @ K)
    last = int(np.argmax(squares.real))
    share = np.abs(modes[:, last]) ** 2 * np.diag(K)  # of the elastic energy
    body = s.bodies[int(owner[int(np.argmax(share))]) - 1].name
    return Vibration(body, float(np.sqrt(squares[last].real)), W @ K, W @ C)


def _rates(K: FloatArray, C: FloatArray) -> FloatArray:
    """The eigenvalues of the linear system."""
    n = len(K)
    return np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [-K, -C]]))


def _rk4(K: FloatArray, C: FloatArray, h: float) -> float:
    z = h * _rates(K, C)
    return float(np.abs(1.0 + z + z**2 / 2 + z**3 / 6 + z**4 / 24).max())


def _euler(K: FloatArray, C: FloatArray, h: float) -> float:
    """Semi-implicit: ė⁺ = ė − h(K e + C ė), e⁺ = e + h ė⁺."""
    E = np.eye(len(K))
    return float(np.abs(np.linalg.eigvals(np.block([[E - h * h * K, h * (E - h * C)], [-h * K, E - h * C]]))).max())


def _midpoint(K: FloatArray, C: FloatArray, h: float) -> float:
    """The factor of an iteration, not of a step."""
    return float(0.5 * h * np.abs(_rates(K, C)).max())


FACTORS = {"rk4": _rk4, "euler": _euler, "midpoint": _midpoint}
"""The largest factor of a step, by integrator of fixed steps."""
CONSEQUENCE = {"midpoint": "the iteration of a step does not converge"}
