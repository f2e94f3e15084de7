"""Events of a run: their functions traced, for every execution; events of limits of joints and of gaps that forces watch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ...backends.compiled_programs import CompiledPrograms
from ...backends.graph_function import GraphFunction
from ...backends.grouped import GroupedCode
from ...backends.grouped_forces import flat_motion
from ...dialect.cache import Cache
from ...dialect.native import Native
from ...equations.rows.evaluation import Values, evaluate, state_inputs, with_bodies
from ...errors import StateError
from ...model.events import Event
from ...model.forces.force_element import Force
from ...model.forces.force_states import parts_of
from ...model.forces.groups import Group
from ...model.forces.layout import Layout
from ...model.forces.shape import Shape
from ...model.model import Model
from ...model.motion import Motion
from ...model.structure import Structure
from ...model.values import coordinate_limits
from ...trace import Expression, Graph, Number, call_traced, check_numbers, tangent
from ...trace.functions import minimum

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
        """Interpreted."""
        state = {"q": q.tolist(), "v": v.tolist(), "parameter": parameters.tolist(), "t": [t]}
        return [float(x) for x in self._on(state, float)]

    def straight_line(self, at: Mapping[str, np.ndarray], target: np.ndarray, momenta: bool, store: Cache) -> Native:
        """Into `target`, of the state in the arrays `at`."""
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
    """For every joint of one coordinate with limits: an event at either end. A start beyond a limit is refused."""
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
