"""Sampled controllers in a run: called at their instants, their commands put into the system, and recorded."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...errors import SharnirError, StateError, brief
from ...integrate.trajectory import in_words
from ...model.parameters import parameter_value
from ...model.states import check_tau
from ..events.event_actions import Changes
from ..run.checks import ROUNDING
from ..systems.motion_system import MotionSystem
from .applied_forces import AppliedForces
from .sampled import Command, Commands, Sample, Sampled, names_of

# --- when sampled controllers are called and when their commands act: instants of a run, exact multiples of each period
APPLY, CALL = range(2)
"""At one instant commands that waited act first, then controllers are called."""

MOST_SAMPLES = 10**8


@dataclass(frozen=True)
class Schedule:
    """`times` of the instants; `tasks` (n, 3), what is done: APPLY or CALL, the controller, the number of its sample; those of
    instant i are tasks[first[i] : first[i + 1]]."""

    times: np.ndarray
    tasks: np.ndarray
    first: np.ndarray

    def at(self, instant: int) -> list[list[int]]:
        tasks: list[list[int]] = self.tasks[self.first[instant] : self.first[instant + 1]].tolist()
        return tasks


def schedule(controllers: Sequence[Sampled], t0: float, t1: float) -> Schedule:
    """From t0 to before t1: a command at the end would move nothing. Times that differ by rounding are one instant, at the sample
    time where one is among them."""
    tick = ROUNDING * min(one.period for one in controllers)
    counts = [max(0, int(np.ceil((t1 - t0 - one.offset) / one.period - ROUNDING))) for one in controllers]
    if sum(counts) > MOST_SAMPLES:
        raise StateError(f"control: {sum(counts):.2g} samples between t = {t0:g} and {t1:g}; take a longer period")
    times: list[np.ndarray] = [np.zeros(0)]
    tasks: list[np.ndarray] = [np.zeros((0, 3), dtype=np.int64)]
    for c, (one, count) in enumerate(zip(controllers, counts, strict=True)):
        k = np.arange(count)
        called = t0 + one.offset + one.period * k
        for kind, t in ((CALL, called), *([(APPLY, called + one.delay)] if one.delay else [])):
            inside = t < t1 - tick
            times.append(t[inside])
            tasks.append(np.stack([np.full(count, kind), np.full(count, c), k], axis=1)[inside])
    t, what = np.concatenate(times), np.concatenate(tasks)
    order = np.lexsort((what[:, 1], what[:, 0], t))
    t, what = t[order], what[order]
    starts = np.flatnonzero(np.diff(t, prepend=-np.inf) > tick)
    instant = np.cumsum(np.isin(np.arange(len(t)), starts)) - 1
    order = np.lexsort((what[:, 2], what[:, 1], what[:, 0], instant))
    t, what = t[order], what[order]
    if not len(t):
        return Schedule(t, what, np.zeros(1, dtype=np.int64))
    sampled = np.minimum.reduceat(np.where(what[:, 0] == CALL, t, np.inf), starts)
    return Schedule(np.where(np.isfinite(sampled), sampled, t[starts]), what, np.append(starts, len(t)))


# --- controllers
class _Given(NamedTuple):
    """A command that is checked, in numbers of its own: the controller may use its arrays again."""

    number: int
    tau: np.ndarray
    parameters: dict[str, float]


class Controllers:
    """All controllers of one run. `pauses` and `at_pause` are for the integrator."""

    def __init__(self, controllers: Sequence[Sampled], m: MotionSystem, changes: Changes, t0: float, t1: float) -> None:
        self.m, self.changes, self.controllers, self.names = m, changes, controllers, names_of(controllers)
        self.forces: AppliedForces = changes.forces
        self._schedule = schedule(controllers, t0, t1)
        self._at = 0
        self._constant = m.tau.copy()
        self._held = np.zeros((len(controllers), m.nv))
        self._waiting: list[deque[_Given]] = [deque() for _ in controllers]
        self._given: list[list[_Given]] = [[] for _ in controllers]
        self._called: list[list[float]] = [[] for _ in controllers]
        self._applied: list[list[float]] = [[] for _ in controllers]
        self._owner: dict[str, int] = {}
        for name in self.names if m.model.parameters else ():
            changes.account_for(f"controller {name}")

    @property
    def pauses(self) -> np.ndarray:
        return self._schedule.times

    def at_pause(self, t: float, x: np.ndarray) -> np.ndarray | None:
        """Perform the tasks due at this instant. Returns the new state where parameters have changed it, else None."""
        tasks, new = self._schedule.at(self._at), None
        self._at += 1
        for _, c, _ in (task for task in tasks if task[0] == APPLY):
            new = self._apply(c, self._waiting[c].popleft(), t, x if new is None else new, new)
        seen = x if new is None else new
        for _, c, k in (task for task in tasks if task[0] != APPLY):  # all see the same
            given = self._call(c, k, t, seen)
            self._called[c].append(t)
            self._given[c].append(given)
            self._waiting[c].append(given)
        for _, c, _ in (task for task in tasks if task[0] != APPLY and not self.controllers[task[1]].delay):
            new = self._apply(c, self._waiting[c].popleft(), t, seen if new is None else new, new)
        self.m.tau[:] = self._constant + self._held.sum(axis=0)
        self.forces.change(t, self.m.tau)
        if self.changes.touching:  # other forces may part bodies
            new = self.changes.settled(t, x if new is None else new)
            self.changes.recorded(t)
        return new

    def _apply(self, c: int, given: _Given, t: float, x: np.ndarray, new: np.ndarray | None) -> np.ndarray | None:
        self._held[c] = given.tau
        self._applied[c].append(t)
        if not given.parameters:
            return new
        label, actor = self._label(c, given.number), f"controller {self.names[c]}"
        return self.changes.set_parameters(label, given.parameters, t, x, actor=actor)

    def _label(self, c: int, k: int) -> str:
        return f"controller {self.names[c]!r} (sample {k})"

    def _call(self, c: int, k: int, t: float, x: np.ndarray) -> _Given:
        label, one = self._label(c, k), self.controllers[c]
        sample = self._sample(t, x, k, one.period)
        try:
            returned = one.command(sample)
        except Exception as error:
            raise StateError(f"{label} raised {in_words(error)}") from error
        if returned is None:
            raise StateError(
                f"{label} returned nothing: it must return joint forces, an array ({self.m.nv},) or {{joint: value}}, or a "
                "sharnir.Command"
            )
        command = returned if isinstance(returned, Command) else Command(returned)
        try:
            tau = check_tau(self.m.d.model, command.tau if not np.isscalar(command.tau) else np.ravel(command.tau)).copy()
        except SharnirError as error:
            raise StateError(f"{label}: {error}") from None
        if not isinstance(command.parameters, Mapping):
            raise StateError(f"{label}: parameters: expected {{name: value}}, got {brief(command.parameters)}")
        for name in command.parameters:
            owner = self._owner.setdefault(name, c)
            if owner != c:
                raise StateError(f"{label} commands parameter {name!r}, which controller {self.names[owner]!r} commands too")
        try:
            values = {name: parameter_value(name, x, StateError) for name, x in command.parameters.items()}
        except StateError as error:
            raise StateError(f"{label}: {error}") from None
        return _Given(k, tau, values)

    def _sample(self, t: float, x: np.ndarray, k: int, period: float) -> Sample:
        m = self.m
        q, v, z = (part.copy() for part in m.split(x)[:3])
        values = m.with_states(m.parameters, z)
        parameters = dict(zip(m.model.parameters, values.tolist(), strict=False))  # states are the last
        held = self._constant + self._held.sum(axis=0)
        states = dict(zip(m.structure.states, z.tolist(), strict=True))
        return Sample(m.model, t, q, m.velocities(q, v, t, values), held, parameters, k, period, states)

    def records(self) -> dict[str, Commands]:
        """The commands of each controller, by name."""
        out = {}
        for c, name in enumerate(self.names):
            given, n = self._given[c], len(self._given[c])
            applied = np.full(n, np.nan)
            applied[: len(self._applied[c])] = self._applied[c]
            tau = np.array([x.tau for x in given]).reshape(n, self.m.nv)
            commanded = [key for key, owner in self._owner.items() if owner == c]
            values = {key: np.array([x.parameters.get(key, np.nan) for x in given]) for key in commanded}
            out[name] = Commands(np.array(self._called[c]), applied, tau, values)
        return out
