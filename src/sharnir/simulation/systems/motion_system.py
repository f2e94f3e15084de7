"""A model as a system of differential equations, ready for `integrate`: the common part of all executions.

The state is x = (q, v, z, w): coordinates, speeds (or momenta), states of forces, and the work done so far by each cause that
adds or removes energy. A rollout integrates n states side by side, part by part: all q, then all v, then all z.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...dialect.jit import host_lanes
from ...dialect.native import Native, from_python
from ...dynamics import Dynamics
from ...equations.motion.account import native_carry
from ...equations.motion.constrained import ConstrainedEquations
from ...equations.motion.projector import Partitioning
from ...equations.motion.retraction import native_normalize, normalized_start
from ...equations.motion.singular_passage import Run, SingularPassage
from ...equations.motion.stabilisation import PROJECTION, Stabilisation
from ...integrate.switching import LARGEST
from ...integrate.system import Buffers, System, buffers
from ...model.events import Event
from ...model.impacts import Impact
from ...model.model import Model
from ...model.structure import Structure
from ..control.joint_laws import Law
from ..events.events import EventFunctions
from ..events.impacts import Contacts
from ..run.sensitivities import Sensitivities

MOST_PROJECTIONS = 30


@dataclass
class Setup:
    """Options of a system."""

    d: Dynamics
    tau: np.ndarray
    """(nv,), or (n, nv): joint forces; changing the array changes the system."""
    events: Sequence[Event] = ()
    balance: bool = True
    """With an account of work."""
    jacobian: bool = False
    """The integrator needs one."""
    stabilisation: Stabilisation = field(default_factory=Stabilisation)
    decay: np.ndarray | None = None
    """(n, coefficients), where they differ from state to state."""
    n: int = 1
    """States side by side."""
    parameters: np.ndarray | None = None
    """(P,), or (n, P) where they differ from state to state; the model's own where there are none."""
    sensitivities: Sensitivities | None = None
    """Rows that are integrated beside one state."""
    contacts: Contacts | None = None
    """Contacts of impacts; the functions of their events come after those of `events`."""
    controlled: bool = False
    """Whether joint forces will change between steps: zero now says nothing."""
    law: Law | None = None
    """Joint forces as a function of the motion that are compiled with the equations, for the result."""
    gaps: range = range(0)
    """Which of the events are gaps that forces watch."""
    user_model: Model | None = None
    """The user's model, where that of `d` has a law of joint forces among its forces, or constraints for contacts."""
    jacobian_later: bool = False
    """The integrator may come to need one: it is compiled then."""
    t0: float = 0.0
    """A time at which the model is defined: that of the first start."""

    @property
    def event_count(self) -> int:
        return len(self.events) + (len(self.contacts) if self.contacts else 0)

    @property
    def tau_works(self) -> bool:
        """Whether joint forces may do work."""
        return self.controlled or bool(self.tau.any())


def unseen_work(structure: Structure, causes: Sequence[str]) -> np.ndarray:
    """(causes,) of bool: works whose errors those of the motion do not bound. What drives do, and what loads them, changes no
    speed; a force may lose what it stores while it pushes nothing."""
    forces = structure.forces.forces
    return np.array(["drives" in causes or (name in forces and forces[name].loses_unseen) for name in causes], dtype=bool)


class MotionSystem(ABC):
    """A model as the `system` of an integrator, and the meaning of x. Subclasses are the executions; `choose.py` chooses."""

    backend: str
    records_work = False
    """Whether this execution can record work."""
    system: System

    def __init__(self, setup: Setup, causes: tuple[str, ...] = ()) -> None:
        self.setup, self.d = setup, setup.d
        self.model = setup.user_model or setup.d.model
        self.structure, self.constrained = setup.d.formulation.structure, setup.d.formulation.constrained
        s = self.structure
        self.nq, self.nv, self.nz, self.causes = s.nq, s.nv, len(s.states), causes
        """`nz`: states of forces; `causes`: what adds or removes energy."""
        self.tau = setup.tau
        own = list(s.parameters.values()) if setup.parameters is None else setup.parameters
        self.parameters = np.array(own, dtype=float)
        """The last of them are states of forces, as the last evaluation had them; where there are any, a row for each state."""
        if self.nz and setup.n > 1 and self.parameters.ndim == 1:
            self.parameters = np.tile(self.parameters, (setup.n, 1))
        self.momenta = setup.d.formulation.method.in_momenta
        self.stabilisation = setup.stabilisation
        self.decay = np.array(self.stabilisation.decay if setup.decay is None else setup.decay, dtype=float)
        self.partitioning: Partitioning | None = None
        self.passage: SingularPassage | None = None
        self.event_functions = EventFunctions(s, setup.events) if setup.events else None

    @property
    def equations(self) -> ConstrainedEquations:
        """`constrained`, for models that have constraints."""
        assert self.constrained is not None
        return self.constrained

    @property
    def impacts(self) -> tuple[Impact, ...]:
        """Impacts whose contacts are constraints of the model of `d`."""
        return self.setup.contacts.impacts if self.setup.contacts else ()

    def fill(
        self, tau: np.ndarray, parameters: np.ndarray, stabilisation: Stabilisation, sensitivities: Sensitivities | None
    ) -> None:
        """Take the numbers of another run of the same kind. Nothing is left of the last one; but a method that iterates begins
        where it ended last."""
        self.tau[...] = tau
        if parameters.size:
            self.parameters[...] = parameters
        self.stabilisation = stabilisation
        self.decay[...] = stabilisation.decay
        if sensitivities is not None and self.setup.sensitivities is not None:
            for name in ("scale", "start", "parameters"):
                getattr(self.setup.sensitivities, name)[...] = getattr(sensitivities, name)
        for part in (self.partitioning, self.passage):
            if part is not None:
                part.renew()

    @property
    def accounted(self) -> bool:
        """Whether the work of every cause is part of the state."""
        s, in_time = self.structure, self.constrained is not None and self.constrained.table.is_rheonomic
        return (self.setup.balance and self.records_work) or not (
            s.drives or s.given or s.forces or self.setup.tau_works or in_time
        )

    def velocities(self, q: np.ndarray, v: np.ndarray, t: Any, parameters: np.ndarray | None = None) -> np.ndarray:
        """Speeds, where the state has momenta in their place; with the present parameters where none are given."""
        given = self.parameters if parameters is None else parameters
        return self.d.velocities(q, v, t, parameters=given if given.size else None) if self.momenta else v

    def momenta_of(self, q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        """Speeds, or momenta where the method requires."""
        return self.d.momenta(q, v, t, parameters=self.parameters if self.parameters.size else None) if self.momenta else v

    def energy(self, t: float, x: np.ndarray) -> float:
        """Kinetic and potential energy, with the present parameters."""
        q, v, _, p = self.seen(t, x)
        kinetic, potential = self.d.energy(q, v, t, parameters=p if p.size else None)
        return float(kinetic + potential)

    @property
    def row_size(self) -> int:
        """Numbers of one state."""
        return self.nq + self.nv + len(self.more)

    @property
    def more(self) -> tuple[str, ...]:
        """Names of the numbers of a state beside coordinates and speeds."""
        return (*self.structure.states, *self.causes)

    @property
    def size(self) -> int:
        rows = len(self.setup.sensitivities) if self.setup.sensitivities is not None else 0
        return (self.setup.n + rows) * self.row_size

    def rate_of(self, t: float, x: np.ndarray) -> np.ndarray:
        """The rate of one state, without the rows beside it."""
        return self.system.derivative(t, x)[: self.row_size]

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, speeds (momenta), states of forces and work from states (…, size) of one trajectory."""
        a, b, c, end = self._cuts
        return x[..., :a], x[..., a:b], x[..., b:c], x[..., c:end]

    @cached_property
    def _cuts(self) -> tuple[int, int, int, int]:
        at = self.nq + self.nv
        return self.nq, at, at + self.nz, self.row_size

    def with_states(self, parameters: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Rows of parameters (…, P) with these states of forces at their end."""
        if not self.nz:
            return parameters
        own = parameters[..., : parameters.shape[-1] - self.nz]
        return np.concatenate([np.broadcast_to(own, (*z.shape[:-1], own.shape[-1])), z], axis=-1)

    def seen(self, t: Any, x: np.ndarray, parameters: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        """Coordinates, speeds, states of forces, and parameters with these at their end: what `Dynamics` takes. The present
        parameters where none are given."""
        q, v, z, _ = self.split(x)
        p = self.with_states(self.parameters if parameters is None else parameters, z)
        return q, self.velocities(q, v, t, p), z, p

    def rows_beside(self, x: np.ndarray) -> np.ndarray:
        """(…, sensitivities, nq + nv): derivatives of coordinates and speeds, from states (…, size)."""
        s = self.setup.sensitivities
        if s is None:
            return np.zeros((*x.shape[:-1], 0, self.nq + self.nv))
        rows = x[..., self.row_size :].reshape(*x.shape[:-1], len(s), self.row_size)
        return rows[..., : self.nq + self.nv] / s.scale[:, None]

    def consistent(self, t: float, x: np.ndarray) -> np.ndarray:
        """A state from outside the run (the start, the action of an event) on the constraints, nearest in the metric of the
        masses: a step from anywhere else would depend on its length."""
        x = x.copy()
        x[: self.nq] = normalized_start(self.d.model, x[None, : self.nq], t)[0]
        if not self.constrained:
            return x
        whole = np.zeros(self.size)
        whole[: len(x)] = x
        for _ in range(MOST_PROJECTIONS):  # an action may have led far from the constraints
            last, whole = whole, self.projected(t, whole)
            if np.allclose(whole, last, rtol=1e-14, atol=1e-14):
                break
        return (self.partitioning.start(t, whole) if self.partitioning else whole)[: len(x)]

    def _passing(
        self, b: Buffers, pivots: np.ndarray, derivative: list[Native], after: list[Native], jacobian: Sequence[Native] = (),
        compiled: bool = True,
    ) -> SingularPassage:  # fmt: skip
        """Evaluations and steps that pass singular positions, from those that do not."""
        how = self.stabilisation
        run = Run(
            b.X, b.DX, b.T, b.J, self.tau, self.parameters, pivots, self.setup.n, self.more, derivative, after, jacobian,
            self.derivative_of_one, how.name != "none", how.backward, self._failed, compiled=compiled,
        )  # fmt: skip
        return SingularPassage(self.equations, run)

    def _failed(self, error: BaseException) -> None:
        self.system.failure = error

    def derivative_of_one(self, at: Mapping[str, np.ndarray]) -> list[Native]:
        """The derivative of one state in these arrays, where there are pivots of constraints."""
        raise NotImplementedError

    @abstractmethod
    def projected(self, t: float, x: np.ndarray) -> np.ndarray:
        """x projected onto the constraints."""


class CompiledSystem(MotionSystem):
    """Native functions on buffers. `at`: the parts of the state, of its derivative and the inputs by name."""

    def __init__(self, setup: Setup, causes: tuple[str, ...] = (), report: int = 0, has_jacobian: bool = False) -> None:
        super().__init__(setup, causes)
        self.store = setup.d.formulation.programs.store
        self.lanes = host_lanes() if setup.n >= host_lanes() else 1
        later = has_jacobian and setup.jacobian_later and self.size <= LARGEST
        room = later or (setup.jacobian and has_jacobian)
        self.buffers = b = buffers(self.size, events=setup.event_count, report=report, jacobian=room)
        q, v = setup.n * self.nq, setup.n * (self.nq + self.nv)
        self.at = {
            "q": b.X[:q], "v": b.X[q:v], "t": b.T, "tau": self.tau, "parameter": self.parameters, "decay": self.decay,
            "rate": b.DX[:q], "qdd": b.DX[q:v], "more": b.DX[v : setup.n * self.row_size], "report": b.report,
        }  # fmt: skip
        carry = native_carry(self.structure, b.X[v : setup.n * self.row_size].reshape(setup.n, -1), self.parameters, self.store)
        before, after = self._constraint_functions()
        derivative = [*before, *self.derivative()]
        jacobian = self.jacobian() if setup.jacobian and not before else []  # it would have to include what runs before
        jacobian = [*carry, *jacobian] if jacobian else []
        b.T[:] = setup.t0
        if (pivots := self.pivots()) is not None and self.constrained and len(self.constrained.table):
            self.passage = self._passing(b, pivots, derivative, after, jacobian)
            derivative, after = [self.passage.derivative], [self.passage.after_step]
            jacobian = self.passage.jacobian
        self.system = System(
            b,
            [*carry, *derivative],
            rates=self.rates(),
            projection=[*carry, *after] if self.passage else after,
            events=[*carry, *self.events(), *self._pushing()] if self.event_functions else [],
            jacobian=jacobian,
            split=q,
        )
        if later and not before:
            passage = self.passage
            self.system.later_jacobian = lambda: passage.with_jacobian(self.jacobian()) if passage else self.jacobian()

    def _pushing(self) -> list[Native]:
        """Functions of events of closed contacts."""
        b, contacts = self.buffers, self.setup.contacts
        if contacts is None:
            return []

        def pushing() -> None:
            try:
                b.G[len(self.setup.events) :] = contacts.pushing(self, float(b.T[0]), b.X)
            except Exception as error:
                b.G.fill(np.nan)
                self._failed(error)

        return [from_python(pushing)]

    def _constraint_functions(self) -> tuple[list[Native], list[Native]]:
        """Functions called before every evaluation and after every step: normalization, projection, partitioning."""
        if self.constrained and self.stabilisation.name == PROJECTION:
            return [], self._projection()
        normalization = native_normalize(self.d.model, self.at["q"], self.at["t"], self.store)
        if not self.constrained or self.stabilisation.name != "partitioning":
            return [], normalization
        self.partitioning = Partitioning(self.constrained, self.buffers.X, self.buffers.T, self.parameters)
        recover, reconsider = self.partitioning.compile(self.at)
        return [recover], [*normalization, recover, reconsider]

    def _projection(self) -> list[Native]:
        return self.equations.projector.natives(self.at, self.setup.n, self.lanes)

    @cached_property
    def _projected(self) -> System:
        return System(self.buffers, (), projection=self._projection())

    def projected(self, t: float, x: np.ndarray) -> np.ndarray:
        return self._projected.projected(t, x)

    # --- what an execution gives ----------------------------------------------------------------------------------------------
    @abstractmethod
    def derivative(self) -> list[Native]:
        """at["rate"], at["qdd"] and at["more"], rates of states of forces and powers."""

    def pivots(self) -> np.ndarray | None:
        """Where `derivative` leaves the inverse pivots of the constraints of every state."""
        return None

    def rates(self) -> list[Native]:
        """at["rate"] alone, where that is cheaper."""
        return []

    @abstractmethod
    def events(self) -> list[Native]:
        """The values of the functions of `setup.events`, in the first places of buffers.G."""

    def jacobian(self) -> list[Native]:
        """Functions that write the Jacobian of the derivative; an empty list: by differences."""
        return []
