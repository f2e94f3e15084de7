"""A model ready for runs: law of joint forces, dynamics, stabilisation, start, equations. Every kind of run begins here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...dynamics import Dynamics
from ...equations.assembly.consistent_speeds import Start
from ...equations.assembly.fixed_coordinates import held_coordinates
from ...equations.assembly.start import StartState, assemble_start
from ...equations.motion.normalization import normalized_start
from ...equations.motion.stabilisation import DECAYING, Stabilisation, with_decay
from ...equations.motion.stabilisation import chosen as chosen_stabilisation
from ...errors import MethodError
from ...integrate.methods import Integrator
from ...model.events import Event
from ...model.model import Model
from ...model.parameter_checks import check_values
from ...model.states import check_state
from ..control.joint_laws import JointLaw, check_law, law_of, with_law
from ..systems.choose import motion_system
from ..systems.motion_system import MotionSystem, Setup
from .options import Tau, constant_forces, values_of

NEED_JACOBIAN = ("partitioning", "ggl")
"""Stabilisations that are written over all rows at once."""


class Prepared:
    """Compiled parts that all runs of a model share. `model` is the user's, with a law of joint forces as a force of its own."""

    def __init__(
        self,
        user_model: Model,
        model: Model,
        law: JointLaw | None,
        method: str,
        backend: str,
        threads: int,
        stabilisation: str | None,
        decay: float | Sequence[float] | None,
    ) -> None:
        self.user_model, self.model, self.backend, self.law = user_model, model, backend, None
        if law is not None:
            check_law(law)
            self.model = with_law(model, law)
            self.law = law_of(self.model, backend)
        self.d = Dynamics(self.model, method, backend, threads)
        self.d.formulation.check_inertia()
        self.table = self.d.constrained.table if self.d.constrained else None
        self.how = self._chosen(stabilisation, decay)

    def _chosen(self, name: str | None, decay: float | Sequence[float] | None) -> Stabilisation:
        constrained, model = self.d.formulation.constrained, self.model.name
        rows = len(constrained.table) if constrained else 0
        how = chosen_stabilisation(model, rows, name, decay)
        if constrained and how.name in NEED_JACOBIAN and constrained.is_sparse:
            raise MethodError(
                f"stabilisation {how.name!r} needs all constraints in one matrix, and model {model!r} with its {rows} rows is "
                f"too large for that by method {self.d.method!r}; choose 'projection' or 'baumgarte', or method='composite'"
            )
        return how

    def forces_and_values(
        self, tau: Tau | None, parameters: Mapping[str, float] | None, states: Mapping[str, float] | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Joint forces (nv,); parameters and states of forces at the start (P,), checked."""
        forces, values = constant_forces(self.model, tau), values_of(self.model, parameters, states)
        check_values(self.model, values[None])
        return forces, values

    def start_at(
        self, q0: Start, v0: Start, t0: float, fixed: Sequence[str] | None, values: np.ndarray
    ) -> tuple[StartState, float]:
        """The state where a motion starts, loops closed and quaternions normalized, and its time."""
        q, v, t = check_state(self.model, q0, v0, t0)
        if self.table is not None:
            return replace(assemble_start(self.model, q0, v0, t, self.table, values, fixed), model=self.user_model), t
        if fixed is not None:
            held_coordinates(self.model, fixed)
        q = normalized_start(self.model, q[None], t)[0]
        return StartState(self.user_model, q, v, q, v), t

    def stabilisations(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, t0: float, duration: float, integrator: str, step: float | None,
        values: np.ndarray | None,
    ) -> list[Stabilisation]:  # fmt: skip
        """A stabilisation with all coefficients for each start (q, v), independent of the others."""
        how = self.how
        if how.name not in DECAYING:  # they are all alike
            return [with_decay(how, duration, integrator, step, v[0], v[0])] * len(v)
        a = v if how.alpha else self.d.forward(q, v, tau, t0, parameters=values)
        return [with_decay(how, duration, integrator, step, *each) for each in zip(v, a, strict=True)]

    def equations(
        self, chosen: Integrator, forces: np.ndarray, values: np.ndarray, events: Sequence[Event], balance: bool,
        how: Stabilisation, t0: float, **others: Any,
    ) -> MotionSystem:  # fmt: skip
        """The equations of one motion, compiled; `others`: further options of `Setup`."""
        return motion_system(
            Setup(
                self.d, forces, events, balance, chosen.needs_jacobian, how, parameters=values if values.size else None,
                law=self.law, user_model=self.user_model, jacobian_later=chosen.switches, t0=t0, **others,
            )
        )  # fmt: skip


def state_at(m: MotionSystem, start: StartState, t: float, states: np.ndarray) -> np.ndarray:
    """(row_size,): coordinates, speeds or momenta, states of forces, no work done yet."""
    return np.concatenate([start.q, m.momenta_of(start.q, start.v, t), states, np.zeros(len(m.causes))])
