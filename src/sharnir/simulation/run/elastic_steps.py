"""Warnings of runs, most of them before they begin. Of flexible bodies: locked ones, too few shapes, and fixed steps too long for
the fastest vibration, beyond the limit of stability, where it grows without end. Of joints: starts far beyond their stops, and
fixed steps too long for their dry friction.

Elastic coordinates vibrate as e¨ = −W(K e + C ė), with W the elastic part of the inverse mass matrix. Every method takes the
modes of this linear system from step to step by a factor; where one is larger than 1 in magnitude the run diverges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...analysis.limits import Limits
from ...dynamics import Dynamics
from ...errors import AccuracyWarning, FlexibilityWarning, SharnirError, StateWarning, known, warn
from ...model.forces import JointFriction, JointStop
from ...types import FloatArray

if TYPE_CHECKING:
    from ..results.result import Result
    from ..results.trajectories import Rollout

GROWTH = 1.0 + 1e-6
"""Factor of a step beyond which a mode grows: rounding stays below."""
DEEP, CREEP, SLIDE, CHATTER, MOST = 0.05, 1e-6, 0.05, 0.1, 100
"""rad or m beyond an end of a joint, where its stop throws it back; rad/s or m/s: smooth friction is linear there, is at its
level, chatters within that without a word; speeds that are looked at."""


def warn_of_elastic_steps(d: Dynamics, q: FloatArray, t: float, parameters: Any, step: float | None, integrator: str) -> str:
    """Warn of a fixed step that is too long for the integrator; returns the warning, the likely cause should the run fail, or "".
    Constraints only make vibrations slower."""
    q = np.atleast_2d(q)
    said = _warn_of_joints(d, q, t, parameters, step, integrator)
    if step is None or not d.structure.deformations or integrator not in FACTORS:
        return said
    found, factor, longest = fastest_vibration(d, q[0], t, parameters), FACTORS[integrator], step
    if found is None or factor(found.K, found.C, step) <= GROWTH:
        return said
    while factor(found.K, found.C, longest) > GROWTH:  # stable, to a tenth
        longest *= 0.9
    text = (
        f"a step of {step:.3g} s is too long for {integrator!r}: the fastest vibration, of body {found.body!r}, has "
        f"{found.omega / (2.0 * np.pi):.4g} Hz, and {CONSEQUENCE.get(integrator, 'it will grow without end')}; take a step below "
        f"about {longest:.2g} s, fewer modes, or simulate with integrator='radau'"
    )
    warn(text, FlexibilityWarning)
    return text


def _warn_of_joints(d: Dynamics, q: FloatArray, t: float, parameters: Any, step: float | None, integrator: str) -> str:
    """Warn of starts far beyond stops, and of steps too long for dry friction of joints, read off accelerations."""
    model = d.model
    kinds = {type(force) for force in d.structure.forces.forces.values()}
    if JointStop in kinds:
        limits = Limits(model, apply=model.acting == "all")
        x = np.where(limits.coordinate >= 0, q[:, limits.coordinate], 0.0)
        depth = np.maximum(limits.low - x, x - limits.high).max(axis=0, initial=0.0)
        if beyond := [name for name, far in zip(model.v_names, depth, strict=True) if far > DEEP]:
            text = f"the motion starts beyond the limits of {known(beyond)}, by up to {depth.max():.3g} rad or m"
            warn(f"{text}: stops throw it back; start within (q0=…), or take limits='ignore'", StateWarning)
    if JointFriction not in kinds or step is None or integrator not in FACTORS:
        return ""
    one = np.eye(min(model.nv, MOST), model.nv)
    v = np.vstack([0.0 * one, CREEP * one, SLIDE * one])
    try:
        a = d.forward(np.tile(q[0], (len(v), 1)), v, None, t, parameters=parameters)
    except SharnirError:
        return ""  # the run will say it
    rest, creep, slide = a.reshape(3, *one.shape).diagonal(axis1=1, axis2=2)
    for name, rate, level in zip(model.v_names, (rest - creep) / CREEP, rest - slide, strict=False):
        is_dry = 0.0 < level < 0.5 * rate * SLIDE  # damping has the same rate at both speeds
        if is_dry and step * level > CHATTER and FACTORS[integrator](np.zeros((1, 1)), np.array([[rate]]), step) > GROWTH:
            text = f"a step of {step:.3g} s is too long for {integrator!r}: dry friction makes {name!r} chatter within "
            text += f"{step * level:.2g} rad/s or m/s"
            warn(text := f"{text}; take a step below about {2.0 / rate:.1g} s, or integrator='radau'", AccuracyWarning)
            return text
    return ""


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
