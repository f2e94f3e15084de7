"""Buckling: the loads under which a structure loses its stiffness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..errors import StateError, no_such
from ..model.model import Model
from ..model.states import check_model
from ..types import State
from .arguments import whole
from .equilibrium import equilibrium
from .linearize import linearize

SMALL = 1e-3
"""Share of the load at which the change of stiffness is computed."""
ENDLESS = 1e6
"""Multiple of the load beyond which the change of stiffness is rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class Buckling:
    """Critical values of a load, the least first, each with the shape in which the structure gives way."""

    model: Model
    load: str
    values: np.ndarray
    """Values of the parameter; negative ones belong to the opposite load."""
    shapes: np.ndarray
    """(values, nv): displacements, largest 1, in the order of `model.v_names`."""
    q: np.ndarray
    """The position under no load."""

    def __repr__(self) -> str:
        lines = []
        for value, shape in zip(self.values, self.shapes, strict=True):
            most = [k for k in np.argsort(-np.abs(shape))[:3] if abs(shape[k]) > 0.05]
            lines.append(f"{self.load} = {value:.6g}: {', '.join(self.model.v_names[k] for k in most)}")
        return f"<Buckling of {self.model.name!r}: {'; '.join(lines) or 'none'}>"


def buckling(
    model: Model, load: str, guess: State = None, *, count: int = 3, parameters: Mapping[str, float] | None = None
) -> Buckling:
    """The values of a parameter that scales a load at which the equilibrium under it first ceases to be stiff: K₀ x + p K′ x = 0.

    model       with the parameter `load`, for example of a `Wrench`; its value is the scale of the load, at least a millionth
                of what is sought
    guess       where it rests without the load, an array or {joint: value}
    count       how many critical values
    parameters  {name: value} of the model; the rest as the model has them

    K₀ is the stiffness without the load and K′ its change with it, both in equilibrium: linear buckling, exact where the
    structure deforms little before it buckles. Flexible bodies need `stiffening`, which they have by default.
    """
    check_model(model, "buckling")
    whole(count, "count")
    values = model.parameter_values(parameters)
    if load not in model.parameters:
        raise StateError(f"buckling: {no_such('parameter', load, model.parameters)}; make the load one: Model.add_parameter")
    scale = values[load]
    if not scale:
        raise StateError(f"buckling: parameter {load!r} is zero and gives no scale; give a value: parameters={{{load!r}: 1.0}}")
    given = {name: x for name, x in values.items() if name in model.parameters}

    def stiffness(value: float, near: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        at = {**given, load: value}
        rest = equilibrium(model, near, stable=False, parameters=at)
        system = linearize(model, rest.q, parameters=at)
        n = sum(name.startswith("q.") for name in system.state_names)
        return system.A[n : 2 * n, :n], system.basis[: model.nv, :n], rest.q

    K0, basis, q = stiffness(0.0, guess)
    K1, _, _ = stiffness(SMALL * scale, q)
    inverse, vectors = scipy.linalg.eig((K0 - K1) / SMALL, K0)  # −K′x = (1/p) K₀x
    real = (np.abs(inverse.imag) <= 1e-6 * np.abs(inverse)) & (np.abs(inverse) > 1.0 / ENDLESS)
    factors, shapes = 1.0 / inverse.real[real], basis @ vectors[:, real].real
    order = np.argsort(np.abs(factors))[:count]
    found = shapes[:, order].T
    largest = np.abs(found).max(axis=1, keepdims=True)
    return Buckling(model, load, scale * factors[order], found / np.where(largest > 0.0, largest, 1.0), q)
