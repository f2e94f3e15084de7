"""The part of `Dynamics` that solves nothing: rates, poses, points and frames, energy, momentum, forces of the model."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..model.pose import Pose
from ..model.structure import Structure
from ..types import Parameters, State
from .arguments import At
from .evaluator import Evaluator
from .force_actions import force_actions, observed, state_rates
from .points import ORIGIN, Points, Where
from .solver import Actions
from .tree import without_base


class KinematicQuestions:
    """Questions about one state or a batch that need no masses."""

    structure: Structure
    _evaluator: Evaluator

    @cached_property
    def _points(self) -> Points:
        return Points(self._evaluator)

    def rates(self, q: State = None, v: State = None, t: ArrayLike = 0.0, parameters: Parameters = None) -> np.ndarray:
        """q̇ (nq,): rates of the coordinates at speeds v."""
        return self._evaluator.output("rates", "rate", q=q, v=v, t=t, parameter=parameters)

    def poses(self, q: State = None, t: ArrayLike = 0.0, parameters: Parameters = None) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (N, 3, 3), body → world, and position (N, 3) of every body.

        Of a flexible body those of its frame, which moves with the section or node that the tree holds; its places: `pose`."""
        found = self._evaluator.outputs("poses", q=q, t=t, parameter=parameters)
        G = without_base(found["G"])
        return G.reshape(*G.shape[:-1], 3, 3).swapaxes(-1, -2), without_base(found["r"])

    def body_velocities(self, q: State = None, v: State = None, t: ArrayLike = 0.0, parameters: Parameters = None) -> np.ndarray:
        """(N, 6): velocity of the origin and angular velocity of every body, body axes."""
        return without_base(self._evaluator.output("velocities", "velocity", q=q, v=v, t=t, parameter=parameters))

    def pose(
        self, q: State, body: Where, t: ArrayLike = 0.0, parameters: Parameters = None
    ) -> Pose | tuple[np.ndarray, np.ndarray]:
        """The pose of a body or frame in the world: a `Pose` of one state; of a batch rotation (B, 3, 3) and position (B, 3).

        `body`, here and below, is the name of a body ("ground" too), the name of a frame, or (body, Pose), a place on a body.
        A body comes before a frame of the same name; the frame is then `model.frames[name]`. Of a flexible body these are
        places of the undeformed body, and the answer is about the material there: its section or node, its point.
        """
        return self._points.pose(At(q=q, t=t, parameter=parameters), body)

    def jacobian(
        self,
        q: State,
        body: Where,
        point: ArrayLike = ORIGIN,
        t: ArrayLike = 0.0,
        axes: str = "world",
        parameters: Parameters = None,
    ) -> np.ndarray:
        """J (6, nv): velocity of a point of a body or frame and its angular velocity, per unit of speed.

        `point` is given in the axes of the body or frame, from its origin. `axes`: the result is in those of the "world", or
        in the "local" ones of the body or frame (of a flexible body, of its section or node at the point).
        """
        return self._points.jacobian(At(q=q, t=t, parameter=parameters), body, point, axes)

    def velocity(
        self,
        q: State,
        v: State,
        body: Where,
        point: ArrayLike = ORIGIN,
        t: ArrayLike = 0.0,
        axes: str = "world",
        parameters: Parameters = None,
    ) -> np.ndarray:
        """(6,): velocity of a point of a body or frame and its angular velocity: J v, and what driven joints and base add."""
        return self._points.velocity(At(q=q, v=v, t=t, parameter=parameters), body, point, axes)

    def acceleration(
        self,
        q: State,
        v: State,
        a: State,
        body: Where,
        point: ArrayLike = ORIGIN,
        t: ArrayLike = 0.0,
        axes: str = "world",
        parameters: Parameters = None,
    ) -> np.ndarray:
        """(6,): acceleration of a point of a body or frame, and its angular acceleration, at accelerations a of the coordinates.

        It is the classical acceleration, the time derivative of the point's velocity in the world, without gravity; not the
        "spatial" one. `axes="local"` gives the same vectors in other axes.
        """
        return self._points.acceleration(At(q=q, v=v, qdd=a, t=t, parameter=parameters), body, point, axes)

    def jacobian_rate(
        self,
        q: State,
        v: State,
        body: Where,
        point: ArrayLike = ORIGIN,
        t: ArrayLike = 0.0,
        axes: str = "world",
        parameters: Parameters = None,
    ) -> np.ndarray:
        """(6,): J̇v, the `acceleration` where those of the coordinates are zero; what driven joints and base add is in it."""
        return self._points.acceleration(At(q=q, v=v, qdd=None, t=t, parameter=parameters), body, point, axes)

    def energy(
        self, q: State = None, v: State = None, t: ArrayLike = 0.0, parameters: Parameters = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic energy, and potential energy: of gravity, and what the model's forces store."""
        both = self._evaluator.output("energy", "energy", q=q, v=v, t=t, parameter=parameters)
        if not (forces := self.structure.forces):
            return both[..., 0], both[..., 1]
        stored = self.force_energies(q, v, t, parameters)
        turning, resting = stored[..., forces.kinetic].sum(axis=-1), stored[..., ~forces.kinetic].sum(axis=-1)
        return both[..., 0] + turning, both[..., 1] + resting

    def total_momentum(
        self, q: State = None, v: State = None, t: ArrayLike = 0.0, parameters: Parameters = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Momentum (6,), linear then angular about the world's origin, and centre of mass (3,), all in the world;
        nan where nothing has mass."""
        found = self._evaluator.outputs("total", q=q, v=v, t=t, parameter=parameters)
        return found["momentum"][..., 0, :], found["centre"][..., 0, :]

    # --- forces of the model ------------------------------------------------------------------------------------------------
    @property
    def force_names(self) -> list[str]:
        """Forces that belong to joints (damping, stiffness), then those that were added."""
        return self.structure.forces.names

    def force_energies(self, q: State = None, v: State = None, t: ArrayLike = 0.0, parameters: Parameters = None) -> np.ndarray:
        """(number of forces): energy stored in every force of the model, in the order of `force_names`."""
        return self._evaluator.output("forces", "energy", q=q, v=v, t=t, parameter=parameters)

    def force_powers(self, q: State = None, v: State = None, t: ArrayLike = 0.0, parameters: Parameters = None) -> np.ndarray:
        """(number of forces): power of every force of the model, positive where it adds energy to the motion."""
        return self._evaluator.output("forces", "power", q=q, v=v, t=t, parameter=parameters)

    def force_actions(self, q: State = None, v: State = None, t: ArrayLike = 0.0, parameters: Parameters = None) -> Actions:
        """Every force of the model: {force: {body: (…, 6) force and moment at its origin, its axes; joint: (…, n)}}."""
        return force_actions(self._evaluator, At(q=q, v=v, t=t, parameter=parameters))

    def observed(
        self, q: State = None, v: State = None, t: ArrayLike = 0.0, parameters: Parameters = None
    ) -> dict[str, dict[str, np.ndarray]]:
        """Observed quantities of forces (penetration, slip, …): {force: {name: (…, parts)}}, one for every part of a force."""
        return observed(self._evaluator, At(q=q, v=v, t=t, parameter=parameters))

    def state_rates(self, q: State = None, v: State = None, t: ArrayLike = 0.0, parameters: Parameters = None) -> np.ndarray:
        """(number of states): rates of the states of forces, in the order of `model.states`; `parameters` has their values."""
        return state_rates(self._evaluator, At(q=q, v=v, t=t, parameter=parameters))
