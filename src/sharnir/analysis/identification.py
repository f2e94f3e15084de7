"""Measured motions for `identify`, checked and reduced to one triangle for each speed; its result, `Identification`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..dynamics import Dynamics
from ..errors import ModelError, StateError, brief, known, unknown
from ..model.body import Body
from ..model.copying import MassValues, revalued
from ..model.forces import BristleFriction, JointFriction
from ..model.model import Model
from ..model.parts import MOTION
from ..model.references import names_of_parts
from ..reporting.formats import figures, plural
from ..reporting.progress import ProgressBar
from ..reporting.table import Table
from ..solvers.regressor import OF_A_BODY, OF_AN_AXIS
from ..types import FloatArray, real_array
from .base_parameters import BaseParameters, triangular

NEEDED = ("q", "v", "a", "tau")
NUMBERS_AT_ONCE = 2_000_000
"""Entries of the regressors of states that are evaluated together."""


@dataclass(frozen=True)
class Measurements:
    q: FloatArray
    v: FloatArray
    a: FloatArray
    tau: FloatArray
    t: FloatArray

    def __len__(self) -> int:
        return len(self.q)


@dataclass(frozen=True)
class Reduced:
    """The equations Y π = z of all measurements: for each speed a triangular factor of its rows [Y z]."""

    factors: FloatArray
    """(nv, k, parameters + 1)."""
    samples: int
    force: FloatArray
    """(nv,): root of the mean square of the measured joint forces."""

    def equations(self, deviation: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Y and z as few rows, every speed divided by the standard deviation of its force."""
        R = triangular((self.factors / deviation[:, None, None]).reshape(-1, self.factors.shape[2]))
        return R[:, :-1], R[:, -1]

    def residual(self, parameters: FloatArray) -> FloatArray:
        """(nv,): root of the mean square of z − Yπ."""
        left = self.factors[:, :, -1] - self.factors[:, :, :-1] @ parameters
        return np.sqrt((left**2).sum(axis=1) / self.samples)


def measurements(model: Model, data: Any) -> Measurements:
    """Measurements from {"q", "v", "a", "tau", "t"} of arrays, a `Result`, or a list of such."""
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        if not data:
            raise StateError("data: the list is empty; give one set of measurements or more")
        each = [measurements(model, one) for one in data]
        return Measurements(*(np.concatenate([getattr(x, name) for x in each]) for name in (*NEEDED, "t")))
    given = data if isinstance(data, Mapping) else _of_result(model, data)
    for name in given:
        if name not in (*NEEDED, "t"):
            raise StateError("data: " + unknown(f"entry {brief(name)}", name, (*NEEDED, "t"), "entries"))
    missing = [name for name in NEEDED if name not in given]
    if missing:
        advice = "; differentiate q and smooth it first, as suits its noise" if {"v", "a"} & set(missing) else ""
        raise StateError(f"data: {known(missing)} missing; needed are q, v, a and tau of every time{advice}")
    sizes = {"q": model.nq, "v": model.nv, "a": model.nv, "tau": model.nv}
    T = len(real_array(given["q"], "data: q")) if np.ndim(given["q"]) else 0
    arrays = {name: _checked(given[name], name, (T, size)) for name, size in sizes.items()}
    t = _checked(given["t"], "t", (T,)) if "t" in given else np.zeros(T)
    return Measurements(**arrays, t=t)


def _of_result(model: Model, data: Any) -> Mapping[str, Any]:
    """A `Result` has all of it; one of another model is refused."""
    if not all(hasattr(data, name) for name in (*NEEDED, "t", "model")):
        raise StateError(f"data: expected a mapping with q, v, a, tau, a Result, or a list of these; got {brief(data)}")
    if data.model.v_names != model.v_names or data.model.q_names != model.q_names:
        theirs = f"of model {data.model.name!r} with other coordinates ({known(data.model.q_names)})"
        raise StateError(f"data: the result is {theirs} than model {model.name!r} ({known(model.q_names)})")
    tau = np.broadcast_to(np.asarray(data.tau, dtype=float), (len(data.t), model.nv))
    return {"q": data.q, "v": data.v, "a": data.a, "tau": tau, "t": data.t}


def _checked(x: Any, name: str, shape: tuple[int, ...]) -> FloatArray:
    a = real_array(x, f"data: {name}")
    if a.shape != shape or not a.size:
        wanted = f"(T, {shape[1]})" if len(shape) == 2 else f"({shape[0]},)"
        raise StateError(f"data: {name} has shape {a.shape}, expected {wanted}{f' with T = {shape[0]}' if shape[0] else ''}")
    bad = np.flatnonzero(~np.isfinite(a.reshape(len(a), -1)).all(axis=1))
    if bad.size:
        more = f" and {bad.size - 1} more" if bad.size > 1 else ""
        raise StateError(f"data: {name} is not finite in row {bad[0]}{more}; leave these rows out")
    return a


def reduced(d: Dynamics, data: Measurements, free: np.ndarray, progress: bool | None) -> Reduced:
    """All measurements in the free parameters; the others have the model's values, its forces are known."""
    own, nv = d.regressor_parameters, d.model.nv
    fixed = np.setdiff1d(np.arange(len(own)), free)
    factors = np.zeros((nv, 0, len(free) + 1))
    step = max(1, NUMBERS_AT_ONCE // max(1, nv * len(own)))
    with ProgressBar(progress, "measurements", len(data)) as bar:
        for k in range(0, len(data), step):
            part = slice(k, k + step)
            q, v, a, t = data.q[part], data.v[part], data.a[part], data.t[part]
            Y = d.regressor(q, v, a, t)
            forces = d.inverse(q, v, a, t) - Y @ own  # of the model's own force elements: what is not linear in π
            rows = {"q": q, "v": v, "qdd": a, "t": t[:, None]}
            z = d.solver.uncarried(data.tau[part][:, :, None], rows, False)[:, :, 0] - forces - Y[:, :, fixed] @ own[fixed]
            new = np.concatenate([Y[:, :, free], z[:, :, None]], axis=2).swapaxes(0, 1)
            factors = triangular(np.concatenate([factors, new], axis=1))
            bar.update(min(k + step, len(data)))
    return Reduced(factors, len(data), np.sqrt((data.tau**2).mean(axis=0)))


UNSEEN = 1e-8
"""Singular values of the base regressor, its columns of length one, below this share of the largest count as zero."""
SHARE = 1e-4
"""A base parameter takes part in a direction if its share of it is above this."""
WELL = 0.1
"""A base parameter is well excited if its standard deviation is below this share of its value."""


@dataclass(frozen=True, repr=False)
class Identification:
    """The result of `identify`. Only base parameters are determined by data; the rest follows the model's own values."""

    parameters: dict[str, float]
    """All parameters by name, fixed ones too."""
    base: BaseParameters
    base_values: dict[str, float]
    """Values of the base parameters."""
    deviations: dict[str, float]
    """Standard deviations of the base parameters, those of a fit without limits; inf where the data show nothing."""
    condition: float
    """Condition number of the base regressor with unit columns; inf where the data leave base parameters open."""
    unseen: list[str]
    """Base parameters that these motions do not determine."""
    residual: dict[str, float]
    """By speed: root of the mean square of measured force − model's."""
    force: dict[str, float]
    """By speed: root of the mean square of the measured force."""
    samples: int
    physical: bool
    """Whether bodies and joints can have these values."""
    original: Model = field(repr=False)

    @cached_property
    def model(self) -> Model:
        """A copy of the model with the identified values. Dry friction acts by a `JointFriction`, added where there is none."""
        return _revalued(self.original, self.parameters, set(self.base.parameters), self.physical)

    @property
    def well_excited(self) -> list[str]:
        """Base parameters whose standard deviation is below a tenth of their value."""
        return [name for name, x in self.base_values.items() if self.deviations[name] < WELL * abs(x)]

    def summary(self) -> str:
        """The fit in a few lines, then every base parameter."""
        free = len(self.base.parameters)
        lines = [
            f"{plural(self.samples, 'sample')}, {plural(free, 'free parameter')} in {plural(len(self.base), 'combination')}, "
            f"condition {figures(self.condition) if self.condition < 1e6 else f'{self.condition:.1e}'}"
        ]
        if not self.physical:
            lines.append("some bodies or joints cannot have these values; physical=True finds the nearest possible ones")
        if self.unseen:
            lines.append(f"not determined by these motions: {', '.join(self.unseen)}")
        joints = [("joint", "force", "residual", "share")]
        for name, x in self.residual.items():
            force = self.force[name]
            joints.append((name, figures(force), f"{x:.3g}", f"{100.0 * x / force:.2g} %" if force else "–"))
        return "\n".join([*lines, "", Table.of_text(joints).plain(), "", self._combinations().plain()])

    def _combinations(self) -> Table:
        rows, well = [("combination", "value", "deviation", "")], self.well_excited
        for name, x in self.base_values.items():
            verdict = "not seen" if name in self.unseen else "" if name in well else "uncertain"
            rows.append((name, f"{x:.5g}", f"{self.deviations[name]:.2g}", verdict))
        return Table.of_text(rows)

    def _repr_html_(self) -> str:
        return self._combinations().html(repr(self))

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<Identification of {self.original.name!r}: {plural(self.samples, 'sample')}, {len(self.base)} combinations>"


def deviations_of(
    equations: Reduced, weights: FloatArray, base: BaseParameters, values: FloatArray, names: list[str], free: np.ndarray
) -> dict[str, Any]:
    """The fields of an `Identification` that tell how well the data determine its base parameters."""
    at = {names[k]: place for place, k in enumerate(free)}
    Y, z = equations.equations(weights)
    W = Y[:, [at[name] for name in base.names]]
    length = np.linalg.norm(W, axis=0)
    unit = np.where(length > UNSEEN * length.max(initial=0.0), length, np.inf)
    _, s, V = np.linalg.svd(W / unit, full_matrices=False)
    V = V[: len(s)]
    seen = s > UNSEEN * s.max(initial=0.0)
    hidden = np.isinf(unit) | (np.sqrt((V[~seen] ** 2).sum(axis=0)) > SHARE)
    equal = len(weights) * equations.samples - int(seen.sum())
    fit = np.linalg.lstsq(W / unit, z, rcond=UNSEEN)[0]
    variance = float(np.sum((z - (W / unit) @ fit) ** 2)) / max(equal, 1)
    spread = np.sqrt(variance * ((V[seen] / s[seen, None]) ** 2).sum(axis=0)) / unit
    spread[hidden] = np.inf
    found = base.matrix @ values
    return {
        "base_values": dict(zip(base.names, found.tolist(), strict=True)),
        "deviations": dict(zip(base.names, spread.tolist(), strict=True)),
        "condition": np.inf if hidden.any() else float(s.max(initial=1.0) / s.min(initial=1.0)),
        "unseen": [name for name, is_hidden in zip(base.names, hidden, strict=True) if is_hidden],
    }


def _revalued(model: Model, parameters: dict[str, float], free: set[str], physical: bool) -> Model:
    bodies = {b.name: _mass_values(b, parameters) for b in model.bodies if any(f"{b.name}.{name}" in free for name in OF_A_BODY)}
    own = {
        name: force
        for name, force in model.structure.forces.forces.items()
        if isinstance(force, (JointFriction, BristleFriction))
    }
    reading = {force.joint for force in own.values() if isinstance(force, JointFriction) and force.coulomb is None}
    others = {force.joint for name, force in own.items() if name in model.forces}
    joints, silent = dict[str, dict[str, list[float]]](), list[str]()
    for joint in model.joints:
        parts = joint.type.v_names()
        axes = names_of_parts(joint.name, parts)
        options: dict[str, list[float]] = {}
        for option in OF_AN_AXIS:
            values = list(joint.type.per_speed(option, len(parts), f"joint {joint.name!r}"))
            for k, axis in enumerate(axes):
                acts = option != "friction" or bool({axis, joint.name} & reading)
                acts |= model.acting != MOTION and others.isdisjoint((axis, joint.name))
                if (name := f"{axis}.{option}") in free and (acts or parameters[name] > 0.0):
                    if parameters[name] < 0.0 and not physical:
                        what = f"{name} was identified as {parameters[name]:.3g}, below zero"
                        raise ModelError(f"{what}; use identify(…, physical=True)")
                    options[option], values[k] = values, max(0.0, parameters[name])  # below zero by rounding
                    silent += [] if acts else [axis]
        if options:
            joints[joint.name] = options
    out = revalued(model, bodies, joints, physical)
    for axis in silent:
        out.add_force(JointFriction(axis), name=f"friction in {axis}")
    return out


def _mass_values(body: Body, parameters: dict[str, float]) -> MassValues:
    m, hx, hy, hz, xx, yy, zz, xy, xz, yz = (parameters[f"{body.name}.{name}"] for name in OF_A_BODY)
    if m <= 0.0:
        if (m, hx, hy, hz, xx, yy, zz, xy, xz, yz) == (0.0,) * 10:
            return 0.0, (0.0,) * 3, (0.0,) * 6
        raise ModelError(f"body {body.name!r} was identified with a mass of {m:.3g} kg; use identify(…, physical=True)")
    c = np.array([hx, hy, hz]) / m
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - m * (c @ c * np.eye(3) - np.outer(c, c))
    return m, c.tolist(), [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
