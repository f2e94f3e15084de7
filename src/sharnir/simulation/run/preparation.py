"""A model ready for runs: law of joint forces, dynamics, stabilisation, start, equations. Every kind of run begins here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import Dynamics
from ...equations.assembly.fixed_coordinates import held_coordinates
from ...equations.assembly.start import Start, StartState, as_guess, assemble_start
from ...equations.motion.retraction import normalized_start
from ...equations.motion.stabilisation import DECAYING, Stabilisation, with_decay
from ...equations.motion.stabilisation import chosen as chosen_stabilisation
from ...errors import MethodError, StateError
from ...integrate.methods import integrator as integrator_named
from ...integrate.workspace import make_ready
from ...model.events import Event
from ...model.model import Model
from ...model.parameters import check_values
from ...model.settings import ENDING
from ...model.states import check_state, check_tau
from ...model.units import warn_of_degrees
from ...types import real_array
from ..control.joint_laws import law_of, with_law
from ..events.events import limit_events
from ..systems.choose import motion_system
from ..systems.motion_system import MotionSystem, Setup, unseen_work
from .checks import tolerances_of_state, values_of
from .options import CompiledOptions, MotionOptions

NEED_JACOBIAN = ("partitioning", "ggl")
"""Stabilisations that are written over all rows at once."""

Given = tuple[Start, Start, Sequence[str] | None]
"""A request for a start: q0, v0, fixed."""


@dataclass(frozen=True)
class Begin:
    """The start of a motion: its state, and the numbers it begins with."""

    asked: Given
    state: StartState
    t: float
    forces: np.ndarray
    """(nv,): constant joint forces."""
    values: np.ndarray
    """(P,): parameters, then states of forces."""

    @property
    def parameters(self) -> np.ndarray | None:
        """`values`; None where there are none."""
        return self.values if self.values.size else None


class Prepared:
    """Compiled parts that all runs of a model share. `model` is the user's, with a law of joint forces as a force of its own."""

    def __init__(
        self, user_model: Model, options: CompiledOptions, own_events: Sequence[Event] = (), model: Model | None = None
    ) -> None:
        """`own_events`: those of the user; `model`: the user's, with constraints for contacts where there are any."""
        self.user_model, self.options, self.own_events, self.law = user_model, options, own_events, None
        self.model = user_model if model is None else model
        self.chosen = integrator_named(options.integrator)
        if options.law is not None:
            self.model = with_law(self.model, options.law)
            self.law = law_of(self.model, options.backend)
        self.d = Dynamics(self.model, options.method, options.backend, options.threads)
        self.d.formulation.check_inertia()
        constrained, name = self.d.constrained, self.model.name
        self.table = constrained.table if constrained else None
        rows = len(self.table) if self.table is not None else 0
        self.how = chosen_stabilisation(name, rows, options.stabilisation, options.decay)
        if constrained and self.how.name in NEED_JACOBIAN and constrained.is_sparse:
            raise MethodError(
                f"stabilisation {self.how.name!r} needs all constraints in one matrix, and model {name!r} with its {rows} rows "
                f"is too large for that by method {self.d.method!r}; choose 'projection' or 'baumgarte', or method='composite'"
            )

    def begin(self, options: MotionOptions) -> Begin:
        tau = options.tau
        if not isinstance(tau, Mapping) and np.asarray(tau, dtype=object).ndim > 1:
            raise StateError(
                "tau: the joint forces of `simulate` are constant, an array (nv,) or {joint: value}, or a function of `Motion`; "
                "for others give control=sharnir.Sampled(…), or use `rollout`"
            )
        forces = check_tau(self.model, tau)
        values = self.values(options.parameters, options.states)
        warn_of_degrees(self.user_model, options.q0)
        asked = as_guess(self.user_model, options.q0, options.v0, options.fixed, options.nearest)
        return Begin(asked, self.start(asked, options.t0, values), options.t0, forces, values)

    def values(self, parameters: Mapping[str, float] | None, states: Mapping[str, float] | None) -> np.ndarray:
        """(P,): parameters and states of forces at the start, checked."""
        values = values_of(self.model, parameters, states)
        check_values(self.model, values[None])
        return values

    def start(self, asked: Given, t0: float, values: np.ndarray) -> StartState:
        """The state where a motion starts, loops closed and quaternions normalized."""
        q0, v0, fixed = asked
        q, v, t = check_state(self.model, q0, v0, t0)
        if self.table is None:
            self.d.formulation.check_axes(q, t, values)
        if self.table is not None:
            return replace(assemble_start(self.model, q0, v0, t, self.table, values, fixed), model=self.user_model)
        if fixed is not None:
            held_coordinates(self.model, fixed)
        q = normalized_start(self.model, q[None], t)[0]
        return StartState(self.user_model, q, v, q, v)

    def stabilisations(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, t0: float, duration: float, step: float | None,
        values: np.ndarray | None,
    ) -> list[Stabilisation]:  # fmt: skip
        """A stabilisation with all coefficients for each start (q, v), independent of the others."""
        how, integrator = self.how, self.options.integrator
        if how.name not in DECAYING:  # they are all alike
            return [with_decay(how, duration, integrator, step, v[0], v[0])] * len(v)
        a = v if how.alpha else self.d.forward(q, v, tau, t0, parameters=values)
        return [with_decay(how, duration, integrator, step, *each) for each in zip(v, a, strict=True)]

    def stabilisation(self, begin: Begin, duration: float, step: float | None) -> Stabilisation:
        """The stabilisation of one motion."""
        q, v = begin.state.q[None], begin.state.v[None]
        return self.stabilisations(q, v, begin.forces, begin.t, duration, step, begin.parameters)[0]

    def events(self, start: StartState) -> list[Event]:
        """The user's events, and limits of joints where a run ends at them."""
        return [*self.own_events, *(limit_events(self.model, start.q) if self.options.limits in ENDING else [])]

    def motion(self, begin: Begin, how: Stabilisation, events: Sequence[Event], **others: Any) -> MotionSystem:
        """The equations of one motion and its integrator, compiled; `others`: further options of `Setup`."""
        setup = Setup(
            self.d, begin.forces, events, self.options.balance, self.chosen.needs_jacobian, how, parameters=begin.parameters,
            law=self.law, user_model=self.user_model, jacobian_later=self.chosen.switches, t0=begin.t, **others,
        )  # fmt: skip
        found = motion_system(setup)
        if self.options.backend != "python":
            make_ready(self.chosen)
        return found


def state_at(m: MotionSystem, start: StartState, t: float, states: np.ndarray) -> np.ndarray:
    """(row_size,): coordinates, speeds or momenta, states of forces, no work done yet."""
    x = np.concatenate([start.q, m.momenta_of(start.q, start.v, t), states, np.zeros(len(m.causes))])
    return m.consistent(t, x) if m.partitioning else x


def tolerances(atol: float | ArrayLike, m: MotionSystem) -> np.ndarray:
    """One for each number of the state; of works those alone steer the step that the motion says nothing of (`unseen_work`)."""
    given = tolerances_of_state(atol, m.nq + m.nv, m.nz)
    out = np.full((m.size // m.row_size, m.row_size), 1e300) if m.row_size else np.zeros((0, 0))
    out[:, : len(given)] = given
    out[:1, len(given) :][:, unseen_work(m.structure, m.causes)] = real_array(atol, "atol").min(initial=1e300)
    return out.ravel()
