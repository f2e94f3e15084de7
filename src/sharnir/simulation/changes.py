"""What the actions of events change: the state, and the parameters, whose history is recorded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import StateError, no_such
from ..integrate.trajectory import Event as Root
from ..model.events import DIRECTIONS, Event, EventState
from ..model.parameter_checks import check_values
from ..model.parameters import parameter_value
from ..model.states import check_state
from .motion_system import MotionSystem


class Changes:
    """Events as the integrator knows them, and the parameters as they were at any time."""

    def __init__(self, motion: MotionSystem, duration: float) -> None:
        self.m = motion
        self._sign = np.sign(duration)  # in a run backward the history is in the order of decreasing times
        self._history: list[tuple[float, np.ndarray]] = [(-np.inf, motion.parameters.copy())]

    def root(self, event: Event) -> Root:
        direction = DIRECTIONS[event.direction]
        if not callable(event.action):
            return Root(direction, event.action, name=event.name)
        return Root(direction, "change", self._change(event.label, event.action), event.name)

    def _change(self, label: str, action: Callable[[EventState], object]) -> Callable[[float, np.ndarray], np.ndarray]:
        def change(t: float, x: np.ndarray) -> np.ndarray:
            m = self.m
            q, v, work = (part.copy() for part in m.split(x))
            speeds = m.velocities(q, v, t)
            names = list(m.structure.parameters)
            state = EventState(t, q, speeds, dict(zip(names, m.parameters.tolist(), strict=True)))
            _call(action, state, label)
            added = sorted(set(state.parameters) - set(names))
            if added:
                raise StateError(f"{label}: {no_such('parameter', added[0], names)}")
            try:
                q, v, _ = check_state(m.d.model, state.q, state.v, t)
            except StateError as error:
                raise StateError(f"{label}: its action left a bad state at t = {t:g}: {error}") from None
            changed = np.array([[parameter_value(key, state.parameters[key], StateError) for key in names]])
            try:
                check_values(m.d.model, changed)
            except StateError as error:
                raise StateError(f"{label}: its action left bad parameters at t = {t:g}: {error}") from None
            m.parameters[:] = changed[0]
            self._history.append((self._sign * t, m.parameters.copy()))
            return m.consistent(t, np.concatenate([q, m.momenta_of(q, v, t), work]))

        return change

    def over(self, t: np.ndarray) -> np.ndarray:
        """Parameters (T, n) at the times of the result."""
        if not self.m.parameters.size:
            return np.zeros((0, 0))
        starts = np.array([start for start, _ in self._history])
        return np.array([values for _, values in self._history])[np.searchsorted(starts, self._sign * t, side="right") - 1]


def _call(action: Callable[[EventState], object], state: EventState, label: str) -> None:
    try:
        returned = action(state)
    except Exception as error:
        raise StateError(f"the action of {label} raised {type(error).__name__}: {error}") from error
    if returned is not None and returned is not state:
        raise StateError(
            f"the action of {label} returned {returned!r}, which means nothing: it changes q, v and parameters of the state "
            "it is given; to end the run add an event of action 'stop'"
        )
