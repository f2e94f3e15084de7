"""Quantities that follow from a motion, computed once when first needed, for all its states at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import prod
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...dynamics import Dynamics
from ...errors import SingularError, StateError
from ...model.deformation import MovedPlaces, material
from ...model.model import Model
from ...model.per_structure import per_structure
from ...model.references import located
from ...solvers.evaluator import Actions
from ...trace import at_values
from ...types import real_array
from .records import Cost, Energy

T = TypeVar("T")


class States(NamedTuple):
    """Rows as `Dynamics` takes them."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    t: np.ndarray
    parameters: np.ndarray | None


class Derived:
    """Quantities derived from a motion; the last leading axis is time: (T,) in `Result`, (B, T) in `Rollout`."""

    model: Model
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    """(nv,), or (…, nv) where joint forces change from step to step."""
    state_values: np.ndarray
    """(…, states) of forces; of no size where there are none."""
    cost: Cost
    status: str
    message: str
    start_energy: float = np.nan
    """Where the run began; nan: that is the first of the states."""

    # --- states ---------------------------------------------------------------------------------------------------------------
    @property
    def model_with_contacts(self) -> Model:
        """The model whose equations were solved: with impacts, a copy with a constraint for each contact."""
        return self.model

    @property
    def parameter_rows(self) -> np.ndarray | None:
        """(…, parameters of `model_with_contacts`) that broadcast over the states; None where it has none."""
        raise NotImplementedError

    @property
    def energy_accounts(self) -> tuple[dict[str, np.ndarray], bool]:
        """The work of every cause, and whether they are complete."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading axes of the states: (T,), or (B, T)."""
        return self.q.shape[:-1]

    @cached_property
    def dynamics(self) -> Dynamics:
        """Dynamics of the model, for everything derived from the motion; results of one model share it."""
        model, backend = self.model_with_contacts, "python" if self.cost.backend == "python" else "auto"
        return _dynamics(model, backend)

    @cached_property
    def named_parameters(self) -> dict[str, np.ndarray] | None:
        """Parameters by name, broadcasting over the states; None where the model has none."""
        p = self.parameter_rows
        names = self.model_with_contacts.structure.parameters
        return None if p is None else dict(zip(names, np.moveaxis(p, -1, 0), strict=True))

    @cached_property
    def joint_values(self) -> dict[tuple[str, int], np.ndarray]:
        """Values computed by `joint_motion.py`, by joint and order."""
        return {}

    # --- motion ---------------------------------------------------------------------------------------------------------------
    @cached_property
    def a(self) -> np.ndarray:
        """Accelerations (…, T, nv); nan at the end of a motion that ended because there are none."""
        try:
            return shaped(self, self._accelerations(slice(None)))
        except SingularError:
            return self._accelerations_but_ends()

    def _accelerations(self, part: slice) -> np.ndarray:
        """Accelerations of some of the states, as rows."""
        s = rows_of(self)
        tau = s.tau if s.tau.ndim == 1 else s.tau[part]
        p = None if s.parameters is None else s.parameters[part]
        return self.dynamics.forward(s.q[part], s.v[part], tau, s.t[part], parameters=p)

    def _accelerations_but_ends(self) -> np.ndarray:
        """Accelerations, with nan where a motion ended because there are none."""
        raise NotImplementedError

    @cached_property
    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (…, T, N, 3, 3), body → world, and position (…, T, N, 3) of every body; of a flexible one, of its frame."""
        return self._answered(self.dynamics.poses, "q", "t")

    def place(self, where: Any) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (…, T, 3, 3) and position (…, T, 3) in the world of a body ("ground" too), a frame, or (body, Pose); of a
        flexible body, of the material that is there while it is undeformed."""
        i, at = located(where, self.model.structure.body_number, self.model.frames)
        R, r = self._body_frame(i)
        is_flexible = i + 1 in self.model.structure.deformations
        if at.is_identity and not is_flexible:
            return R, r
        position = np.stack([at_states(self, x) for x in at.position], axis=-1)
        rotation = np.stack([at_states(self, x) for x in at.rotation.entries], axis=-1).reshape(*self.shape, 3, 3)
        if is_flexible:
            moved = self._moved_places(i, position)
            position, rotation = moved.position, moved.rotation @ rotation
        return R @ rotation, r + turned(R, position)

    def body_frame(self, body: str) -> tuple[np.ndarray, np.ndarray]:
        """Rotation and position of the frame of a body, "ground" too: actions on bodies are given in it. It differs from
        `place(body)` where a flexible body is not held at its origin."""
        return self._body_frame(located(body, self.model.structure.body_number, {})[0])

    def _body_frame(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        return self._ground if i < 0 else (self.poses[0][..., i, :, :], self.poses[1][..., i, :])

    def _moved_places(self, body: int, points: np.ndarray) -> MovedPlaces:
        """Points (…, 3) of a flexible body, in the axes of its frame."""
        return material(self.model.structure.deformations[body + 1].shapes, points).moved(self._elastic_coordinates(body))

    def _elastic_coordinates(self, body: int) -> np.ndarray:
        """(…, T, m) of a flexible body."""
        s = self.model.structure
        row = s.deformations[body + 1].row
        return self.q[..., s.q_first[row] : s.q_first[row + 1]]

    @cached_property
    def _ground(self) -> tuple[np.ndarray, np.ndarray]:
        if self.model.structure.base is None:
            return np.broadcast_to(np.eye(3), (*self.shape, 3, 3)), np.zeros((*self.shape, 3))
        s = rows_of(self)
        R, r = self.dynamics.pose(s.q, "ground", s.t, s.parameters)  # type: ignore[misc]
        return shaped(self, R), shaped(self, r)

    def velocity_of(self, where: Any, v: np.ndarray | None = None) -> np.ndarray:
        """(…, T, 6): velocity of the origin of a body, frame or place, and angular velocity, world axes; `v`: other speeds."""
        s = rows_of(self)
        speeds = s.v if v is None else real_array(v, "v")
        if speeds.size != s.v.size:
            raise StateError(f"v: expected {(*self.shape, self.model.nv)}, speeds at every time; got {speeds.shape}")
        speeds = speeds.reshape(s.v.shape)
        return shaped(self, self.dynamics.velocity(s.q, speeds, where, t=s.t, parameters=s.parameters))

    def acceleration_of(self, where: Any) -> np.ndarray:
        """(…, T, 6): acceleration of the origin, and angular acceleration, world axes."""
        s, a = rows_of(self), self.a.reshape(prod(self.shape), self.model.nv)
        return shaped(self, self.dynamics.acceleration(s.q, s.v, a, where, t=s.t, parameters=s.parameters))

    def _answered(self, question: Callable[..., T], *what: str) -> T:
        """The answer to a question for all states, every array of it in the shape of the motion."""

        def whole(x: Any) -> Any:
            if isinstance(x, dict):
                return {name: whole(part) for name, part in x.items()}
            return tuple(map(whole, x)) if isinstance(x, tuple) else shaped(self, x)

        s = rows_of(self)
        found: T = whole(question(*(getattr(s, name) for name in what), parameters=s.parameters))
        return found

    # --- forces and energy ----------------------------------------------------------------------------------------------------
    @cached_property
    def reactions(self) -> np.ndarray:
        """(…, T, N, 6): force and moment of joint i of the tree on body i at its origin, body axes."""
        return self._answered(self.dynamics.reactions, "q", "v", "tau", "t")

    @cached_property
    def forces_on_bodies(self) -> Actions:
        """Forces of cut joints and other constraints on bodies: {name: {body: (…, T, 6) at its origin, in its axes}}."""
        there = self.model_with_contacts.constraints
        return self._answered(self.dynamics.closing_reactions, "q", "v", "tau", "t") if there else {}

    @cached_property
    def multipliers(self) -> np.ndarray:
        """(…, T, rows): the force of every row of the constraints."""
        if not self.model_with_contacts.constraints:
            return np.zeros((*self.shape, 0))
        return self._answered(self.dynamics.multipliers, "q", "v", "tau", "t")

    @cached_property
    def force_actions(self) -> Actions:
        """The actions of all forces of the model, by name."""
        return self._answered(self.dynamics.force_actions, "q", "v", "t")

    @cached_property
    def observed(self) -> dict[str, dict[str, np.ndarray]]:
        """Numbers that forces observe: {force: {name: (…, T, parts)}}."""
        return self._answered(self.dynamics.observed, "q", "v", "t")

    @cached_property
    def force_powers(self) -> np.ndarray:
        """(…, T, forces): power of every force of the model."""
        return self._answered(self.dynamics.force_powers, "q", "v", "t")

    @cached_property
    def force_energies(self) -> np.ndarray:
        """(…, T, forces): energy stored in every force of the model."""
        return self._answered(self.dynamics.force_energies, "q", "v", "t")

    @cached_property
    def energy(self) -> Energy:
        """Kinetic and potential energy, and the work of everything that adds or removes it."""
        kinetic, potential = self._answered(self.dynamics.energy, "q", "v", "t")
        return Energy(np.asarray(kinetic), np.asarray(potential), *self.energy_accounts, self.start_energy)

    @cached_property
    def violation(self) -> np.ndarray:
        """(…, T): the largest violation of a constraint, in SI units."""
        constrained = self.dynamics.constrained
        if constrained is None:
            return np.zeros(self.shape)
        s = rows_of(self)
        own = np.array(list(self.dynamics.structure.parameters.values()), dtype=float)
        parameters = np.tile(own, (len(s.t), 1)) if s.parameters is None else s.parameters
        return shaped(self, constrained.table.violation(s.q, s.v, s.t, parameters))


def rows_of(r: Derived) -> States:
    """All states of a motion as rows."""
    lead, n = r.shape, prod(r.shape)
    tau = r.tau if r.tau.ndim == 1 else r.tau.reshape(n, r.model.nv)
    p = r.parameter_rows
    if p is not None:
        p = np.broadcast_to(p, (*lead, p.shape[-1])).reshape(n, p.shape[-1])
    q, v = r.q.reshape(n, r.q.shape[-1]), r.v.reshape(n, r.v.shape[-1])
    return States(q, v, tau, np.broadcast_to(r.t, lead).reshape(n), p)


def shaped(r: Derived, x: np.ndarray) -> np.ndarray:
    """Rows, one for each state, in the shape of the motion."""
    return x.reshape(*r.shape, *x.shape[1:])


def at_states(r: Derived, x: Any) -> np.ndarray:
    """A number of the model at every state: it may depend on parameters."""
    return np.broadcast_to(np.asarray(at_values(x, r.named_parameters), dtype=float), r.shape)


def turned(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Vectors (…, 3) turned by rotations (…, 3, 3)."""
    found: np.ndarray = (R @ x[..., None])[..., 0]
    return found


@per_structure
def _dynamics(model: Model, backend: str) -> Dynamics:
    return Dynamics(model, "separate", backend)
