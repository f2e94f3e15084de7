"""Joint forces as a matrix times the numbers they are linear in: Y(q, v, a) π = τ (docs/theory/identification.md).

π has ten numbers for each body and three for each axis of a joint. Everything else in τ, the forces that were added to the
model and the springs of joints, is known and not in Y: τ of inverse dynamics is Y π + that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ..errors import MethodError, known
from ..model.forces.friction import JointFriction
from ..model.placed_joint import PlacedJoint
from ..model.structure import Structure
from ..trace import at_values
from ..types import FloatArray
from .evaluator import Evaluator

OF_A_BODY = ("mass", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
"""Mass, first moments and inertia about the body's origin, in the body's axes."""
OF_AN_AXIS = ("armature", "damping", "friction")
"""Options of joints, one each for every speed."""


class Law(NamedTuple):
    """A law of dry friction: f(x) = tanh(x/slip)·(1 − dip·exp(−(x/stribeck)²)) for a coefficient of one."""

    axis: int
    slip: float = 1e-3
    stribeck: float = 1.0
    dip: float = 0.0


class TorqueRegressor:
    """The regressor of one model. `names` and the model's own `values` of π are in the order of the columns."""

    def __init__(self, evaluator: Evaluator, parameters: Mapping[str, float]) -> None:
        """`parameters`: values of the model's parameters."""
        self._evaluator = evaluator
        self._parameters = parameters
        s = self._structure = evaluator.structure
        if s.deformations:
            flexible = known(s.bodies[i - 1].name for i in s.deformations)
            raise MethodError(
                f"the regressor, base parameters and identification are for rigid bodies, not for flexible ones ({flexible})"
            )
        axes = list(_axes(s))
        self.names = [f"{body.name}.{name}" for body in s.bodies for name in OF_A_BODY]
        self.names += [f"{axis}.{name}" for axis, _, _ in axes for name in OF_AN_AXIS]
        self._ratio = np.array([1.0 if j.follows is None else at_values(j.follows.ratio, parameters) for _, j, _ in axes])
        reading = _laws(s, axes, parameters)
        own = [
            [at_values(j.type.per_speed(name, len(j.type.v_names()), f"joint {j.name!r}")[k], parameters) for name in OF_AN_AXIS]
            for _, j, k in axes
        ]
        for a, values in enumerate(own):
            if a not in reading:
                values[2] = 0.0  # the option acts only where a JointFriction reads it
        tree, _ = s.data(list(parameters.values()))
        bodies = np.column_stack([tree.mass, tree.moment, tree.inertia])[1:]
        self.values: FloatArray = np.concatenate([bodies.ravel(), np.array(own, dtype=float).ravel()])
        self._laws = [law for a in range(len(axes)) for law in reading.get(a, [Law(a)])]

    def __call__(self, rows: dict[str, np.ndarray], n: int) -> np.ndarray:
        """Y (n, nv, parameters) of the tree, of states given as rows q, v, qdd, t."""
        given = {key: np.ascontiguousarray(np.broadcast_to(x, (n, x.shape[1]))) for key, x in rows.items()}
        t = given["t"][:, 0]
        time = float(t[0]) if n and not (t != t[0]).any() else t  # one time for all takes the fast path
        dry = self._dry_friction(given["v"])
        return self._evaluator.output(
            "regressor", "Y", q=given["q"], v=given["v"], qdd=given["qdd"], ratio=self._ratio, dry=dry, t=time,
            parameter=self._parameters or None,
        )  # fmt: skip

    def _dry_friction(self, v: np.ndarray) -> np.ndarray:
        """(n, axes): friction with a coefficient of one, as the speeds of the axes feel it."""
        out = np.zeros((len(v), len(self._ratio)))
        for law in self._laws:
            ratio = self._ratio[law.axis]
            x = ratio * v[:, self._structure.tree.speed[law.axis]]
            out[:, law.axis] += ratio * np.tanh(x / law.slip) * (1.0 - law.dip * np.exp(-((x / law.stribeck) ** 2)))
        return out


def _axes(s: Structure) -> Iterator[tuple[str, PlacedJoint, int]]:
    """Every axis: its name, its joint, and its number within the joint."""
    for i, joint in enumerate(s.placed, start=1):
        n = int(s.first[i + 1] - s.first[i])
        parts = joint.type.v_names()
        for k in range(n):
            yield joint.name if n == 1 else f"{joint.name}.{parts[k]}", joint, k


def _laws(s: Structure, axes: list[tuple[str, PlacedJoint, int]], parameters: Mapping[str, float]) -> dict[int, list[Law]]:
    """By axis, the laws of the model's friction elements that read the joint's own coefficient."""
    out: dict[int, list[Law]] = {}
    for force in s.forces.forces.values():
        if not isinstance(force, JointFriction) or force.coulomb is not None:
            continue
        for a, (_, joint, k) in enumerate(axes):
            if force.joint in (joint.name, f"{joint.name}.{joint.type.v_names()[k]}"):
                slip, stribeck = at_values((force.slip, force.stribeck), parameters)
                out.setdefault(a, []).append(Law(a, slip, stribeck, 0.0 if force.static is None else 1.0))
    return out
