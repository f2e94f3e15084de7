"""Events while a motion is simulated: their functions traced, and those that limits of joints add."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import StateError
from ..model.events import Event
from ..model.forces.groups import Group
from ..model.forces.layout import Layout
from ..model.forces.shape import Shape
from ..model.motion import Motion
from ..model.structure import Structure
from ..trace import Expression, Graph, Number, call_traced, check_numbers

ON_LIMIT = 1e-9
"""So close to a limit a joint is still within: a motion may start on it, and is noticed when it leaves."""


class Watched:
    """Functions of the state as one expression of time, coordinates, speeds, poses and velocities."""

    def __init__(self, structure: Structure, functions: Sequence[tuple[str, Callable[[Any], Any]]]) -> None:
        graph = Graph()
        loads = Motion(structure, graph)
        values: list[Number] = []
        for label, function in functions:
            values += check_numbers([call_traced(function, [loads], label)], graph, label)
        if loads.wrenches or loads.torques:
            raise StateError(f"{functions[0][0]}: an event looks, it does not push")
        self._expression = Expression(graph, list(loads.inputs.values()), values)
        self._layout = Layout(structure)
        self._inputs = list(loads.inputs)
        self.looks_at_bodies = any(kind in ("r", "G", "velocity") for kind, _ in self._inputs)

    def __call__(self, motion: dict[str, Any]) -> Sequence[Number]:
        """`motion`: flat lists "t", "q", "v", "parameter" and, where bodies are looked at, "r", "G", "velocity"."""
        return self._expression(*(motion[kind][index] for kind, index in self._inputs))

    def group(self) -> Group:
        """The same as a group of one function, which reads the flat motion (`Layout`)."""
        shape = Shape(self._expression.graph, self._expression.inputs, (), {"push": self._expression.outputs})
        reads = np.array([[self._layout.at[kind] + index for kind, index in self._inputs]], dtype=np.int64)
        places = np.arange(len(self._expression.outputs), dtype=np.int64)[None]
        return Group(shape, np.zeros((1, 1), dtype=np.int64), reads, np.zeros((1, 0)), places)


def limit_events(model: Any, q: np.ndarray) -> list[Event]:
    """For every joint of one coordinate with limits: leaving them, upward and downward. A start beyond them is refused."""
    out = []
    for joint in model.joints:
        limits = joint.type.limits
        if limits is None or len(joint.q_names) != 1:
            continue
        low, high = limits[0] if hasattr(limits[0], "__len__") else limits
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


def _beyond(joint: str, end: float, sign: float, slack: float) -> Callable[[Any], Any]:
    return lambda on: sign * (on.q(joint) - end) - slack
