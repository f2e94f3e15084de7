"""`identify`: mass properties and joint coefficients from measured motions and joint forces (docs/theory/identification.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ..dynamics import Dynamics
from ..errors import NOT_A_NUMBER, ModelError, StateError, brief, known, suggesting
from ..model.forces import PointGravity
from ..model.model import Model
from ..reporting.progress import ProgressBar
from ..solvers.regressor import OF_A_BODY
from ..types import FloatArray, State, real_array, truth
from .base_parameters import BaseParameters, base_parameters, dynamics_of, matching
from .identification import Identification, Measurements, Reduced, deviations_of, measurements, reduced
from .physical import PhysicalLimits, body_units, metric, thickened, within_limits

SEEN = 1e-10
"""Directions of the parameters whose effect on joint forces is below this share of the largest are not determined."""


@suggesting
def identify(
    model: Model,
    data: Any,
    *,
    fixed: Sequence[str] = (),
    deviation: State | Literal["residual"] = None,
    prior: float | None = None,
    physical: bool = True,
    progress: bool | None = None,
) -> Identification:
    """The parameters of `Dynamics.regressor` that reproduce measured joint forces, by least squares.

    data       {"q": (T, nq), "v": (T, nv), "a": (T, nv), "tau": (T, nv)} and "t" (T,) where the model depends on time;
               a `Result`; or a list of such. Smoothing and differentiating measured positions is up to the caller
    fixed      parameters that keep the model's values: names or patterns, "link1.*", "*.armature"
    deviation  standard deviations of the measured forces, an array or {joint: value}, which weigh the joints; "residual":
               estimated from a first fit; by default alike for all joints
    prior      relative standard deviation of the model's own values, 0.3 for 30 %; None: only for what data leave open
    physical   only bodies that are possible, and no negative coefficients of joints
    """
    d = dynamics_of(model, "identify")
    physical = truth(physical, "physical")
    prior = _checked_prior(prior)
    if any(isinstance(force, PointGravity) for force in model.forces.values()):
        raise ModelError("identify: a PointGravity pulls with the masses that are sought; use Model(gravity=…), or leave it out")
    if not model.nv:
        raise ModelError(f"identify: model {model.name!r} has no free joint, there are no joint forces to measure")
    names = d.regressor_names
    free = np.setdiff1d(np.arange(len(names)), matching(names, fixed))
    if not free.size:
        raise StateError("identify: every parameter is fixed; leave some free")
    rows = measurements(model, data)
    base = base_parameters(model, [names[k] for k in np.setdiff1d(np.arange(len(names)), free)])
    _check_enough(d, rows, base)
    equations = reduced(d, rows, free, progress)
    _check_forces(equations)
    problem = _Problem(d, equations, free)
    weights = problem.weights(deviation)
    values, inside = problem.solve(weights, prior, physical, progress)
    every = d.regressor_parameters
    every[free] = values
    return Identification(
        dict(zip(names, every.tolist(), strict=True)), base, **deviations_of(equations, weights, base, values, names, free),
        residual=dict(zip(model.v_names, equations.residual(values).tolist(), strict=True)),
        force=dict(zip(model.v_names, equations.force.tolist(), strict=True)),
        samples=len(rows), physical=inside, original=model,
    )  # fmt: skip


class _Problem:
    """The equations in the free parameters, with the metric and the limits of these."""

    def __init__(self, d: Dynamics, equations: Reduced, free: np.ndarray) -> None:
        self.model, self.equations = d.model, equations
        own, n = d.regressor_parameters, len(OF_A_BODY)
        nb = len(d.model.bodies)
        place = {int(k): at for at, k in enumerate(free)}
        parts = []
        for i in range(nb):
            which = np.array([c for c in range(n) if n * i + c in place], dtype=int)
            if which.size:
                parts.append((i, own[n * i : n * i + n], which, np.array([place[n * i + c] for c in which])))
        coefficients = np.array([at for k, at in place.items() if k >= n * nb], dtype=int)
        self.limits = PhysicalLimits([part[1:] for part in parts], coefficients)
        masses = own[: n * nb : n]
        mass = float(masses.mean()) or 1.0
        radius = own[: n * nb].reshape(nb, n)[:, 4:7].sum(axis=1) / np.maximum(masses, 1e-3 * mass)
        self.units = body_units(self.limits, mass, float(np.sqrt(0.5 * radius.mean())) or 0.1)
        self.own = own[free]
        self.start, self.D, self.scale = self.own.copy(), np.zeros((len(free), len(free))), np.ones(len(free))
        for (i, values, which, at), unit in zip(parts, self.units, strict=True):
            inside = thickened(values, unit, len(which) == n, d.model.bodies[i].name)
            self.start[at] = inside[which]
            self.D[np.ix_(at, at)] = np.linalg.inv(metric(inside, which))
        # units of the coefficients of joints: their own values, or a tenth of what would explain the force alone
        Y, z = equations.equations(np.ones(len(equations.force)))
        size, norm = np.linalg.norm(Y, axis=0), float(np.linalg.norm(z))
        for at in coefficients:
            guess = 0.1 * norm / size[at] if size[at] > 0.0 and norm > 0.0 else 1.0
            self.D[at, at] = self.scale[at] = self.own[at] if self.own[at] > 0.0 else guess
            self.start[at] = max(self.own[at], 1e-3 * self.scale[at])

    def weights(self, deviation: State | Literal["residual"]) -> FloatArray:
        """(nv,) standard deviations of the joint forces."""
        nv = self.model.nv
        if deviation is None:
            return np.ones(nv)
        if isinstance(deviation, str):
            if deviation != "residual":
                raise StateError(f"deviation: expected numbers, {{joint: number}} or 'residual', got {brief(deviation)}")
            left = self.equations.residual(self._linear(np.ones(nv), None)[0])
            return np.maximum(left, max(1e-6 * float(self.equations.force.max()), 1e-300))
        given = real_array(self.model.speeds(deviation), "deviation")
        if given.shape != (nv,) or not (np.isfinite(given) & (given > 0.0)).all():
            what = f"expected a positive number for each of {known(self.model.v_names)}"
            raise StateError(f"deviation: {what}, got {brief(deviation)}")
        return given

    def solve(self, weights: FloatArray, prior: float | None, physical: bool, progress: bool | None) -> tuple[FloatArray, bool]:
        """The free parameters, and whether bodies and joints can have them."""
        x, A, b, seen, hidden = self._linear(weights, prior)
        if self._inside(x) or not physical:
            return x, self._inside(x)
        ties = hidden @ np.linalg.inv(self.D)
        with ProgressBar(progress, "possible bodies", 1.0) as bar:
            gap = 0.1 / (len(weights) * self.equations.samples)  # a tenth of what one equation contributes
            y = within_limits((A, b), (ties, ties @ self.own), self.start, self.limits, gap, bar.update)
        exact = y + self.D @ (seen @ (b - A @ y))  # the data's own values in what they determine, where these are possible
        return (exact if self._inside(exact) else y), True

    def _inside(self, x: FloatArray) -> bool:
        return self.limits.hold(x, self.units, self.scale)

    def _linear(self, weights: FloatArray, prior: float | None) -> tuple[FloatArray, ...]:
        """Least squares, nearest to the model's own values in what the data leave open. Further: the equations A x = b with
        those of the prior, the pseudo-inverse of A D, and the directions (rows, in units of D) that A D does not see."""
        A, b = self.equations.equations(weights)
        if prior is not None:
            left = np.linalg.lstsq(A @ self.D, b - A @ self.own, rcond=SEEN)[0]
            root = np.sqrt(len(weights) * self.equations.samples)
            noise = np.linalg.norm(b - A @ (self.own + self.D @ left)) / root
            noise = max(float(noise), 1e-6 * float(np.linalg.norm(b)) / root)
            tie = np.linalg.inv(self.D) * (noise / prior)
            A, b = np.concatenate([A, tie]), np.concatenate([b, tie @ self.own])
        U, s, V = np.linalg.svd(A @ self.D, full_matrices=True)
        rank = int((s > SEEN * s[0]).sum()) if s.size and s[0] > 0.0 else 0
        if not rank:
            raise StateError("data: none of the parameters has any effect on the joint forces of these motions")
        seen = V[:rank].T @ (U[:, :rank] / s[:rank]).T
        return self.own + self.D @ (seen @ (b - A @ self.own)), A, b, seen, V[rank:]


def _checked_prior(prior: Any) -> float | None:
    try:
        sound = prior is None or 0.0 < float(prior) < np.inf
    except NOT_A_NUMBER:
        sound = False
    if not sound:
        raise StateError(f"prior: expected a relative standard deviation such as 0.3, or None, got {brief(prior)}")
    return None if prior is None else float(prior)


def _check_enough(d: Dynamics, rows: Measurements, base: BaseParameters) -> None:
    m = d.model
    per_sample = m.nv if d.constrained is None else m.mobility(rows.q[0], float(rows.t[0])).freedoms
    if len(rows) * per_sample < len(base):
        few = f"{len(rows)} samples of {per_sample} joint forces are fewer equations than the {len(base)} base parameters"
        enough = -(-len(base) // max(per_sample, 1))
        raise StateError(f"data: {few}; give at least {enough} samples, better ten times as many, or fix parameters")


def _check_forces(equations: Reduced) -> None:
    """Without any known force all parameters together may be as large as one likes."""
    Y, z = equations.equations(np.ones(len(equations.force)))
    if Y.any() and float(np.linalg.norm(z)) <= 1e-12 * float(np.linalg.norm(Y)):
        raise StateError(
            "data: no joint force, no force of the model and no fixed parameter acts in these motions, so that only ratios of "
            "parameters show; measure motions that motors drive, or fix a parameter, such as a known mass or damping"
        )
