"""The result of `identify`: values, their deviations, what the data left open, and the identified model."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ModelError
from ..model.body import Body
from ..model.copying import MassValues, revalued
from ..model.forces import JointFriction
from ..model.model import Model
from ..model.references import names_of_parts
from ..reporting.formats import figures, plural
from ..reporting.table import Table
from ..solvers.regressor import OF_A_BODY, OF_AN_AXIS
from ..types import FloatArray
from .base_parameters import BaseParameters
from .measurements import Reduced

UNSEEN = 1e-8
"""Singular values of the base regressor, its columns of length one, below this share of the largest count as zero."""
SHARE = 1e-4
"""A base parameter takes part in a direction if its share of it is above this."""
WELL = 0.1
"""A base parameter is well excited if its standard deviation is below this share of its value."""


@dataclass(frozen=True)
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
        joints += [
            (name, figures(self.force[name]), f"{x:.3g}", f"{100.0 * x / self.force[name]:.2g} %" if self.force[name] else "–")
            for name, x in self.residual.items()
        ]
        rows = [("combination", "value", "deviation", "")]
        rows += [
            (name, f"{x:.5g}", f"{self.deviations[name]:.2g}", _verdict(x, self.deviations[name], name in self.unseen))
            for name, x in self.base_values.items()
        ]
        return "\n".join([*lines, "", Table.of_text(joints).plain(), "", Table.of_text(rows).plain()])

    def __str__(self) -> str:
        return self.summary()


def _verdict(value: float, deviation: float, unseen: bool) -> str:
    if unseen:
        return "not seen"
    return "" if deviation < WELL * abs(value) else "uncertain"


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
    reading = {force.joint for force in model.forces.values() if isinstance(force, JointFriction) and force.coulomb is None}
    joints: dict[str, dict[str, list[float]]] = {}
    silent: list[str] = []
    for joint in model.joints:
        parts = joint.type.v_names()
        axes = names_of_parts(joint.name, parts)
        options: dict[str, list[float]] = {}
        for option in OF_AN_AXIS:
            values = list(joint.type.per_speed(option, len(parts), f"joint {joint.name!r}"))
            for k, axis in enumerate(axes):
                acts = option != "friction" or bool({axis, joint.name} & reading)
                if (name := f"{axis}.{option}") in free and (acts or parameters[name] > 0.0):
                    options[option] = values
                    values[k] = _coefficient(parameters[name], name, physical)
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


def _coefficient(value: float, name: str, physical: bool) -> float:
    if value < 0.0 and not physical:
        raise ModelError(f"{name} was identified as {value:.3g}, below zero; use identify(…, physical=True)")
    return max(0.0, value)  # below zero by rounding
