"""Events of a run, also at joint limits and watched gaps: their functions, traced for every execution; what actions change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends.compiled_programs import CompiledPrograms
from ...backends.graph_function import GraphFunction
from ...backends.grouped import GroupedCode
from ...backends.grouped_forces import flat_motion
from ...backends.run import Values, evaluate, with_bodies
from ...backends.traced import state_inputs
from ...dialect.cache import Cache
from ...dialect.native import Native
from ...errors import StateError, no_such
from ...integrate.trajectory import Event as Root
from ...model.events import DIRECTIONS, Event, EventState
from ...model.forces.force_element import Force, parts_of
from ...model.forces.groups import Group
from ...model.forces.layout import Layout
from ...model.forces.shape import Shape
from ...model.impacts import APART
from ...model.model import Model
from ...model.motion import Motion
from ...model.parameters import check_values, parameter_value
from ...model.states import check_state
from ...model.structure import Structure
from ...model.values import coordinate_limits
from ...trace import Expression, Graph, Number, call_traced, check_numbers, tangent
from ...trace.functions import minimum
from ..run.sensitivities import jump
from .impacts import ALONE, Beside, Impacts, held_at

if TYPE_CHECKING:
    from ..systems.motion_system import MotionSystem

ON_LIMIT = 1e-9
"""A joint this close to a limit is within it: a motion may start on the limit, and the event is found when it leaves."""


class EventFunctions:
    """The functions of all events as one expression of time, coordinates, speeds, poses and velocities."""

    def __init__(self, structure: Structure, events: Sequence[Event]) -> None:
        self.structure = structure
        graph = Graph()
        motion = Motion(structure, graph)
        values: list[Number] = []
        for k, event in enumerate(events):
            label = f"event {event.name or k + 1!r}"
            values += check_numbers([call_traced(event.when, [motion], label)], graph, label)
            if motion.wrenches or motion.torques:
                raise StateError(f"{label}: the function of an event must not apply forces; use add_force for that")
        self._expression = Expression(graph, list(motion.inputs.values()), values)
        self._inputs = list(motion.inputs)
        self._slopes: Expression | None = None
        self._needs_bodies = any(kind in ("r", "G", "velocity") for kind, _ in self._inputs)

    def _on(self, values: Values, dtype: type) -> tuple[Number, ...]:
        """Values from generic scalars: q, v, parameter, t."""
        motion = with_bodies(self.structure, values, dtype) if self._needs_bodies else values
        return self._expression(*(motion[kind][index] for kind, index in self._inputs))

    def values(self, t: float, q: np.ndarray, v: np.ndarray, parameters: np.ndarray) -> list[float]:
        """Their values, interpreted."""
        state = {"q": q.tolist(), "v": v.tolist(), "parameter": parameters.tolist(), "t": [t]}
        return [float(x) for x in self._on(state, float)]

    def straight_line(self, at: Mapping[str, np.ndarray], target: np.ndarray, momenta: bool, store: Cache) -> Native:
        """Code that writes their values into `target`, for the state in the arrays `at`."""
        inputs = state_inputs(self.structure, Graph())
        values: Values = inputs
        if momenta:
            values = {**inputs, "v": evaluate(self.structure, "speeds", {**inputs, "p": inputs["v"]}).v}
        return GraphFunction.of(inputs, {"g": self._on(values, object)}, store).bind({**at, "g": target})

    def slope(self, t: float, q: np.ndarray, v: np.ndarray, p: np.ndarray, k: int, direction: Sequence[np.ndarray]) -> float:
        """The change of event function k along a direction (dq, dv, dp, dt)."""
        if self._slopes is None:
            graph = Graph()
            inputs = state_inputs(self.structure, graph)
            moved = [x for name in ("q", "v", "parameter", "t") for x in inputs[name]]
            dx = graph.inputs(len(moved))
            found = tangent(self._on(inputs, object), list(zip(moved, dx, strict=True)))
            self._slopes = Expression(graph, [*moved, *dx], found)
        state = (q, v, p, np.array([t]))
        return float(self._slopes(*(float(x) for part in (*state, *direction) for x in np.ravel(part)))[k])

    def grouped(self, at: Mapping[str, np.ndarray], target: np.ndarray, programs: CompiledPrograms) -> list[Native]:
        """The same as a group of one function that reads the flat motion (`Layout`): its code does not grow with the model."""
        layout, outputs = Layout(self.structure), self._expression.outputs
        shape = Shape(self._expression.graph, self._expression.inputs, (), {"push": outputs})
        reads = np.array([[layout.at[kind] + index for kind, index in self._inputs]], dtype=np.int64)
        places = np.arange(len(outputs), dtype=np.int64)[None]
        group = Group(shape, np.zeros((1, 1), dtype=np.int64), reads, np.zeros((1, 0)), places)
        code = GroupedCode([group], programs.store)
        bodies = programs.runner("motion", backend="loops") if self._needs_bodies else None
        flat, natives = flat_motion(layout, dict(at), bodies, code)
        return [*natives, *code.chain(flat, {"push": target})]


def limit_events(model: Model, q: np.ndarray) -> list[Event]:
    """Events at both limits of every joint of one coordinate. A start beyond a limit is refused."""
    out = []
    for joint in model.joints:
        limits = joint.type.limits
        if limits is None or len(joint.q_names) != 1:
            continue
        low, high = coordinate_limits(limits)
        for end, sign, what in ((low, -1.0, "lower"), (high, 1.0, "upper")):
            if end is None or not np.isfinite(end):
                continue
            name = f"{what} limit {end:g} of joint {joint.name!r}"
            slack = ON_LIMIT * max(1.0, abs(float(end)))
            at = float(q[model.q_slice(joint.name)][0])
            if sign * (at - end) > slack:
                raise StateError(f"the motion starts at {at:g}, beyond the {name}; start within, or limits='ignore'")
            out.append(Event(_beyond(joint.name, float(end), sign, slack), "stop", "rising", name))
    return out


def _beyond(joint: str, end: float, sign: float, slack: float) -> Callable[[Motion], Number]:
    return lambda on: sign * (on.q(joint) - end) - slack


# --- gaps that forces watch: a step of a run ends where one closes, so that no contact is passed over
def gap_events(structure: Structure) -> list[Event]:
    """An event for every part of a force that watches gaps."""
    return [
        Event(_least_gap(part, structure.states_of.get((name, k), {})))
        for name, force in structure.forces.forces.items()
        for k, part in enumerate(parts_of(structure, force))
        if part.watches
    ]


def _least_gap(force: Force, states: dict[str, str]) -> Callable[[Motion], Any]:
    def gap(on: Motion) -> Any:
        probe = Motion(on.structure, on._graph, states)  # its forces are not applied
        probe._read = on._read
        force.act(probe)
        return reduce(minimum, probe.watched)

    return gap


# --- changes by events -----------------------------------------------------------------------------------------------------
class Changes:
    """Events as the integrator knows them, and the parameters as they were at any time."""

    def __init__(self, motion: MotionSystem, duration: float, impacts: Impacts | None = None) -> None:
        self.m = motion
        self._sign = np.sign(duration)  # in a run backward the history is in the order of decreasing times
        self._history: list[tuple[float, np.ndarray]] = [(-np.inf, motion.parameters.copy())]
        self.impacts = impacts
        self._actors: list[str] = []
        self._booked: list[tuple[float, np.ndarray]] = [(-np.inf, np.zeros(0))]
        self._constant, self._forces = motion.tau.copy(), list[tuple[float, np.ndarray]]()

    def root(self, event: Event, number: int) -> Root:
        """`number`: among all events of the run."""
        direction = DIRECTIONS[event.direction]
        if not callable(event.action):
            return Root(direction, event.action, name=event.name)
        actor, m = f"event {event.name}".rstrip(), self.m
        self.account_for(actor)
        acted = partial(self._acted, event.label, event.action)

        def change(t: float, x: np.ndarray) -> np.ndarray:
            before = m.energy(t, x) if actor in self._actors else 0.0
            if m.setup.sensitivities is None:
                after, m.parameters[:] = acted(t, x, m.parameters)
            else:
                state, rows = jump(m, partial(self._slope, number), acted, t, x)
                after = np.concatenate([state, rows.ravel()])
            self._book(actor, t, after, before)
            after = self.settled(t, after)
            self.recorded(t)
            return after

        return Root(direction, "change", change, event.name)

    def account_for(self, actor: str) -> None:
        """Keep an account, from the start on, of the energy that `actor` adds or removes by its changes."""
        if self.m.accounted and actor not in self._actors:
            self._actors.append(actor)
            self._booked = [(t, np.append(work, 0.0)) for t, work in self._booked]

    def _book(self, actor: str, t: float, x: np.ndarray, before: float) -> None:
        if actor in self._actors:
            work = self._booked[-1][1].copy()
            work[self._actors.index(actor)] += self.m.energy(t, x) - before
            self._booked.append((self._sign * t, work))

    def work(self, t: np.ndarray, beside: Beside = ALONE) -> np.ndarray:
        """(T, causes): energy added so far at single instants."""
        accounts = [self._booked] if self.impacts is None else [self.impacts.booked, self._booked]
        ends = (self._sign * beside[0], self._sign * beside[1])
        return np.concatenate([held_at(one, self._sign * t, ends, jumped=False) for one in accounts], axis=1)

    def settled(self, t: float, x: np.ndarray) -> np.ndarray:
        """The state after something outside the equations has changed it, or what acts on it: contacts may open or close."""
        return x if self.impacts is None else self.impacts.settle(t, x)

    @property
    def touching(self) -> bool:
        """Whether any bodies of impacts are in contact."""
        return self.impacts is not None and bool((self.m.parameters[self.impacts.c.switches] != APART).any())

    def recorded(self, t: float) -> None:
        """Record the present parameters as those from t on."""
        self._history.append((self._sign * t, self.m.parameters.copy()))

    @property
    def causes(self) -> tuple[str, ...]:
        """Causes that add or remove energy, impacts and events included."""
        return (*self.m.causes, *(self.impacts.causes if self.impacts else ()), *self._actors)

    def _slope(self, number: int, t: float, x: np.ndarray, dx: np.ndarray, dp: np.ndarray, dt: float) -> float:
        """The change of the function of an event along a direction."""
        m = self.m
        assert m.event_functions is not None
        (q, v, z, _), (dq, dv, dz, _) = m.split(x), m.split(dx)
        p, dp = m.with_states(m.parameters, z), m.with_states(dp, dz)
        return m.event_functions.slope(t, q, v, p, number, (dq, dv, dp, np.array([dt])))

    def _acted(
        self, label: str, action: Callable[[EventState], object], t: float, x: np.ndarray, parameters: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """State and parameters after the action of an event."""
        m = self.m
        q, v, z, work = (part.copy() for part in m.split(x))
        parameters = m.with_states(parameters, z)
        every = dict(zip(m.structure.parameters, parameters.tolist(), strict=True))
        own, states = ({name: every[name] for name in names} for names in (m.model.parameters, m.structure.states))
        state = EventState(t, q, m.velocities(q, v, t, parameters), dict(own), dict(states))
        try:
            returned = action(state)
        except Exception as error:
            raise StateError(f"the action of {label} raised {type(error).__name__}: {error}") from error
        if returned is not None and returned is not state:
            raise StateError(
                f"the action of {label} returned {returned!r}, which means nothing: it changes q, v and parameters of the state "
                "it is given; to end the run add an event of action 'stop'"
            )
        for what, names, given in (("parameter", own, state.parameters), ("state", states, state.states)):
            for name in sorted(set(given) - set(names)):
                raise StateError(f"{label}: {no_such(what, name, names)}")
        left = "a bad state"
        try:
            q, v, _ = check_state(m.d.model, state.q, state.v, t)
            left = "bad parameters"
            after = {**every, **state.parameters, **state.states}
            changed = np.array([parameter_value(key, after[key], StateError) for key in every], dtype=float)
            check_values(m.d.model, changed[None])
        except StateError as error:
            raise StateError(f"{label}: its action left {left} at t = {t:g}: {error}") from None
        before, m.parameters[:] = m.parameters.copy(), changed
        if self.impacts is not None:  # what it did may separate bodies
            m.parameters[self.impacts.c.switches] = APART
        try:
            z = changed[len(changed) - m.nz :]
            return m.consistent(t, np.concatenate([q, m.momenta_of(q, v, t), z, work])), changed
        finally:
            m.parameters[:] = before

    def set_parameters(
        self, label: str, values: Mapping[str, float], t: float, x: np.ndarray, states: Mapping[str, float] | None = None,
        actor: str = "",
    ) -> np.ndarray:  # fmt: skip
        """Other values of parameters from now on, and of states of forces; the state where it is consistent with them. `actor`:
        to whose account that goes."""

        def action(state: EventState) -> None:
            state.parameters.update(values)
            state.states.update(states or {})

        before = self.m.energy(t, x) if actor in self._actors else 0.0
        after, self.m.parameters[:] = self._acted(label, action, t, x, self.m.parameters)
        self._book(actor, self._sign * np.nextafter(self._sign * t, -np.inf), after, before)  # a row at t has them already
        self._history.append((self._sign * t, self.m.parameters.copy()))
        return after

    def over(self, t: np.ndarray, beside: Beside = ALONE) -> np.ndarray:
        """Parameters (T, n) at the times of the result; of two rows of one time the first is before a change."""
        if not self.m.parameters.size:
            return np.zeros((0, 0))
        return held_at(self._history, self._sign * t, (self._sign * beside[0], self._sign * beside[1]), jumped=True)

    def force(self, t: float) -> None:
        """Record the present joint forces as those from t on."""
        self._forces.append((t, self.m.tau.copy()))

    def forces_over(self, t: np.ndarray, q: np.ndarray, v: np.ndarray, parameters: np.ndarray | None) -> np.ndarray:
        """(nv,) where joint forces are constant, else (T, nv): those that act from each time on, with those of a law."""
        law = self.m.setup.law
        if not self._forces and law is None:
            return self._constant
        values, times = np.array([self._constant, *(x for _, x in self._forces)]), np.array([x for x, _ in self._forces])
        near = 4.0 * np.spacing(np.abs(t))  # the time of a row and that of an instant may differ by rounding
        tau: np.ndarray = values[np.searchsorted(times, t + near, side="right")]
        return tau if law is None or not len(t) else tau + law(t, q, v, parameters)
