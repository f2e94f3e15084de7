"""Questions to `Dynamics` that need no method: rates, poses, points and frames, energy, momentum, forces of the model; and exact
derivatives, with respect to q in the tangent, nv columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..backends.run import evaluate, read_by_forces
from ..backends.traced import TracedProgram, state_inputs, traced_program
from ..model.pose import Pose
from ..model.structure import Structure
from ..trace import Graph
from ..types import Parameters, State
from .constrained import ConstrainedSolver
from .derivatives import Derivatives, JacobianCode, check_wrt, field_of
from .evaluator import Actions, At, Evaluator, unbatch
from .formulation import Formulation
from .points import ORIGIN, Points, Where
from .tree import TreeSolver, without_base

Solver = TreeSolver | ConstrainedSolver
"""Motion from forces, and forces from motion: one state or a batch, arrays or values by name, as `Dynamics` takes them."""


class Questions:
    """Questions about one state or a batch."""

    structure: Structure
    formulation: Formulation
    solver: Solver
    _evaluator: Evaluator

    @property
    def _with_inertia(self) -> Solver:
        """The solver, for a motion sought from forces: refused where some joint moves no mass."""
        self.formulation.check_inertia()
        return self.solver

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
        return self._points.answer("jacobian", body, point, axes, q=q, t=t, parameter=parameters)

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
        return self._points.answer("point-velocity", body, point, axes, q=q, v=v, t=t, parameter=parameters)

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
        return self._points.answer("point-acceleration", body, point, axes, q=q, v=v, qdd=a, t=t, parameter=parameters)

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
        return self._points.answer("point-acceleration", body, point, axes, q=q, v=v, qdd=None, t=t, parameter=parameters)

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
        s = self.structure
        if not s.forces:
            return {}
        motion, n, single = self._motion(q, v, t, parameters)
        return {name: _by_name(s, action, n, single) for name, action in s.forces.actions(motion).items()}

    def observed(
        self, q: State = None, v: State = None, t: ArrayLike = 0.0, parameters: Parameters = None
    ) -> dict[str, dict[str, np.ndarray]]:
        """Observed quantities of forces (penetration, slip, …): {force: {name: (…, parts)}}, one for every part of a force."""
        motion, n, single = self._motion(q, v, t, parameters)
        out = dict[str, dict[str, np.ndarray]]()
        for force, found in self.structure.forces.observed(motion).items():
            for name, (_, parts) in found.items():
                values = np.stack([np.broadcast_to(np.asarray(x, dtype=float), n) for x in parts], axis=-1)
                out.setdefault(force, {})[name] = unbatch(values, single, None)
        return out

    def state_rates(self, q: State = None, v: State = None, t: ArrayLike = 0.0, parameters: Parameters = None) -> np.ndarray:
        """(number of states): rates of the states of forces, in the order of `model.states`; `parameters` has their values."""
        s, (motion, n, single) = self.structure, self._motion(q, v, t, parameters)
        found = s.forces.rates(motion) if s.states else []
        out = np.array([np.broadcast_to(np.asarray(x, dtype=float), n) for x in found]).reshape(len(found), n).T
        return unbatch(out, single, None)

    def _motion(self, q: State, v: State, t: ArrayLike, parameters: Parameters) -> tuple[dict[str, Any], int, bool]:
        """The inputs of forces, how many states, and whether it is one without a batch axis."""
        rows, n, single = self._evaluator.arguments.states(At(q=q, v=v, t=t, parameter=parameters))
        return self._evaluator.motion_of(rows, n), n, single

    # --- exact derivatives; `wrt` names what they are taken by
    def forward_derivatives(
        self,
        q: State = None,
        v: State = None,
        tau: State = None,
        t: ArrayLike = 0.0,
        wrt: str | Sequence[str] = ("q", "v", "tau"),
        parameters: Parameters = None,
    ) -> Derivatives:
        """Accelerations a = `value` and ∂a/∂q, ∂a/∂v, ∂a/∂τ = `dq`, `dv`, `dtau`, exact, each (…, nv, nv); with "parameters" in
        `wrt` also `dparameters` (…, nv, P), in the order of `model.parameters`.

        Everything in the model is differentiated: forces, drives, couplings, joints of any kind. `dq` is in the tangent:
        column j is the derivative along the motion that speed j alone causes, q + N(q)·e_j·s.
        """
        return self._with_inertia.forward_derivatives(At(q=q, v=v, tau=tau, t=t, parameter=parameters), wrt)

    def inverse_derivatives(
        self,
        q: State,
        v: State,
        a: State,
        t: ArrayLike = 0.0,
        wrt: str | Sequence[str] = ("q", "v", "a"),
        parameters: Parameters = None,
    ) -> Derivatives:
        """Joint forces τ = `value` and ∂τ/∂q, ∂τ/∂v, ∂τ/∂a = `dq`, `dv`, `da` (the mass matrix), as `forward_derivatives`."""
        return self.solver.inverse_derivatives(At(q=q, v=v, qdd=a, t=t, parameter=parameters), wrt)

    def reaction_derivatives(
        self,
        q: State = None,
        v: State = None,
        tau: State = None,
        t: ArrayLike = 0.0,
        wrt: str | Sequence[str] = ("q", "v", "tau"),
        parameters: Parameters = None,
    ) -> Derivatives:
        """R (N, 6) of `reactions` and its derivatives (N, 6, nv) with respect to q (in the tangent), v and τ."""
        return self._with_inertia.reaction_derivatives(At(q=q, v=v, tau=tau, t=t, parameter=parameters), wrt)

    def energy_derivatives(
        self,
        q: State = None,
        v: State = None,
        t: ArrayLike = 0.0,
        wrt: str | Sequence[str] = ("q", "v"),
        parameters: Parameters = None,
    ) -> Derivatives:
        """Kinetic and potential energy (2,) and their derivatives (2, nv) with respect to q (in the tangent) and v."""
        names = check_wrt(wrt, ("q", "v"), self._evaluator)
        rows, n, single = self._evaluator.arguments.states(At(q=q, v=v, t=t, parameter=parameters))
        found = self._energy_code.run(rows, n, names)
        changes = {field_of(name): unbatch(found[f"energy/{name}"], single, None) for name in names}
        return Derivatives(unbatch(found["energy"], single, None), **changes)

    @cached_property
    def _energy_code(self) -> JacobianCode:
        """Kinetic energy and potential energy, that of gravity and what the model's forces store."""
        s = self.structure

        def trace(graph: Graph) -> TracedProgram:
            values: dict[str, Any] = state_inputs(s, graph)
            kinetic, potential = evaluate(s, "energy", values).energy
            if s.forces:
                stored = s.forces.report(read_by_forces(s, values))[0]
                kinetic = sum((x for x, turns in zip(stored, s.forces.kinetic, strict=True) if turns), kinetic)
                potential = sum((x for x, turns in zip(stored, s.forces.kinetic, strict=True) if not turns), potential)
            return traced_program(values, {"energy": (kinetic, potential)})

        return JacobianCode(self._evaluator, "derivatives of energy", trace, ("energy",))


def _by_name(
    s: Structure, action: tuple[dict[tuple[int, int], Any], dict[int, Any]], n: int, single: bool
) -> dict[str, np.ndarray]:
    out = dict[str, np.ndarray]()
    for (row, c), x in action[0].items():
        out.setdefault(s.bodies[row - 1].name, np.zeros((n, 6)))[:, c] = x
    for a, x in action[1].items():
        i = int(np.searchsorted(s.v_first, a, side="right")) - 1
        joint = s.placed[i - 1]
        out.setdefault(joint.name, np.zeros((n, joint.nv)))[:, a - int(s.v_first[i])] = x
    return {name: unbatch(x, single, None) for name, x in out.items()}
