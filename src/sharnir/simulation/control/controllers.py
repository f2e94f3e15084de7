"""Sampled controllers at work: when they are called and when their commands act; the controllers of one run and their records."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...errors import SharnirError, StateError, brief
from ...integrate.trajectory import in_words
from ...model.parameters import parameter_value
from ...model.states import check_tau
from ..events.events import Changes
from ..run.checks import ROUNDING
from ..systems.motion_system import MotionSystem
from .sampled import Command, Commands, Sample, Sampled, names_of

# --- when sampled controllers are called and when their commands act: instants of a run, exact multiples of each period
APPLY, CALL = range(2)
"""At one instant commands that waited act first, then controllers are called."""

MOST_SAMPLES = 10**8


@dataclass(frozen=True)
class Schedule:
    """The tasks of controllers: `times` of the instants; `tasks` (n, 3): APPLY or CALL, the controller, the number of its sample;
    those of instant i are tasks[first[i] : first[i + 1]]."""

    times: np.ndarray
    tasks: np.ndarray
    first: np.ndarray

    def at(self, instant: int) -> list[list[int]]:
        tasks: list[list[int]] = self.tasks[self.first[instant] : self.first[instant + 1]].tolist()
        return tasks


def schedule(controllers: Sequence[Sampled], t0: float, t1: float) -> Schedule:
    """The schedule from t0 to before t1: a command at the end moves nothing. Times that differ by rounding are one instant, at
    the sample time where one is among them."""
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


class Holding:
    """Controllers whose commands wait until their delay is over, and are held then. `held`: (controllers, …, nv) joint forces."""

    def __init__(self, controllers: Sequence[Sampled], planned: Schedule, shape: tuple[int, ...]) -> None:
        self.controllers, self.names, self.planned = controllers, names_of(controllers), planned
        self.held = np.zeros((len(controllers), *shape))
        self._waiting: list[deque[Any]] = [deque() for _ in controllers]
        self._instant = 0

    def perform(self, call: Callable[[int, int], Any], act: Callable[[int, Any], None]) -> None:
        """The tasks of the next instant: `call` controllers with the numbers of their samples, let their commands `act`."""
        tasks = self.planned.at(self._instant)
        self._instant += 1
        for _, c, _ in (task for task in tasks if task[0] == APPLY):
            act(c, self._waiting[c].popleft())
        called = [(c, k) for kind, c, k in tasks if kind == CALL]
        for c, k in called:  # all see the same
            self._waiting[c].append(call(c, k))
        for c, _ in called:
            if not self.controllers[c].delay:
                act(c, self._waiting[c].popleft())

    def label(self, c: int, k: int) -> str:
        return f"controller {self.names[c]!r} (sample {k})"

    def returned(self, c: int, sample: Sample) -> Any:
        try:
            return self.controllers[c].command(sample)
        except Exception as error:
            raise StateError(f"{self.label(c, sample.number)} raised {in_words(error)}") from error


# --- the controllers of one run
class _Given(NamedTuple):
    """A command that is checked, in numbers of its own: the controller may use its arrays again."""

    number: int
    tau: np.ndarray
    parameters: dict[str, float]


class Controllers(Holding):
    """All controllers of one run. `pauses` and `at_pause` are for the integrator."""

    def __init__(self, controllers: Sequence[Sampled], m: MotionSystem, changes: Changes, t0: float, t1: float) -> None:
        super().__init__(controllers, schedule(controllers, t0, t1), (m.nv,))
        self.m, self.changes, self.pauses = m, changes, self.planned.times
        self._constant = m.tau.copy()
        self._given: list[list[_Given]] = [[] for _ in controllers]
        self._called: list[list[float]] = [[] for _ in controllers]
        self._applied: list[list[float]] = [[] for _ in controllers]
        self._owner: dict[str, int] = {}
        for name in self.names if m.model.parameters else ():
            changes.account_for(f"controller {name}")

    def at_pause(self, t: float, x: np.ndarray) -> np.ndarray | None:
        """Perform the tasks due at this instant. Returns the new state where parameters have changed it, else None."""
        new: np.ndarray | None = None

        def act(c: int, given: _Given) -> None:
            nonlocal new
            self.held[c] = given.tau
            self._applied[c].append(t)
            if given.parameters:
                label, actor = self.label(c, given.number), f"controller {self.names[c]}"
                new = self.changes.set_parameters(label, given.parameters, t, x if new is None else new, actor=actor)

        def call(c: int, k: int) -> _Given:
            given = self._call(c, k, t, x if new is None else new)
            self._called[c].append(t)
            self._given[c].append(given)
            return given

        self.perform(call, act)
        self.m.tau[:] = self._constant + self.held.sum(axis=0)
        self.changes.force(t)
        if self.changes.touching:  # other forces may part bodies
            new = self.changes.settled(t, x if new is None else new)
            self.changes.recorded(t)
        return new

    def _call(self, c: int, k: int, t: float, x: np.ndarray) -> _Given:
        m, label = self.m, self.label(c, k)
        q, v, z, now = m.seen(t, x.copy())
        parameters = dict(zip(m.model.parameters, now.tolist(), strict=False))  # states are the last
        held = self._constant + self.held.sum(axis=0)
        states = dict(zip(m.structure.states, z.tolist(), strict=True))
        returned = self.returned(c, Sample(m.model, t, q, v, held, parameters, k, self.controllers[c].period, states))
        if returned is None:
            raise StateError(
                f"{label} returned nothing: it must return joint forces, an array ({m.nv},) or {{joint: value}}, or a "
                "sharnir.Command"
            )
        command = returned if isinstance(returned, Command) else Command(returned)
        try:
            tau = check_tau(m.d.model, command.tau if not np.isscalar(command.tau) else np.ravel(command.tau)).copy()
            if not isinstance(command.parameters, Mapping):
                raise StateError(f"parameters: expected {{name: value}}, got {brief(command.parameters)}")
            values = {name: parameter_value(name, x, StateError) for name, x in command.parameters.items()}
        except SharnirError as error:
            raise StateError(f"{label}: {error}") from None
        for name in command.parameters:
            owner = self._owner.setdefault(name, c)
            if owner != c:
                raise StateError(f"{label} commands parameter {name!r}, which controller {self.names[owner]!r} commands too")
        return _Given(k, tau, values)

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
