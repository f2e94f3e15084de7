"""The outcome of a run: times, states, events, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import SharnirError, StateError

if TYPE_CHECKING:
    from .chatter import Chatter

Rows = tuple[np.ndarray, np.ndarray]
"""Times (m,) and states (m, n)."""

Progress = Callable[[float, int], None]
"""Called with the time reached and the steps taken."""

Keep = Callable[[Sequence[Rows]], None]
"""Called with all rows so far, in pieces: a list that grows."""

ACTIONS = {"record": 0, "stop": 1, "change": 2}


@dataclass(frozen=True)
class Event:
    """The action taken where the system's event function of the same index crosses zero.

    direction: -1 falling, +1 rising, 0 both. action: "record" it and go on; "stop" there; "change": call
    `change(t, x)`, which may alter parameters of the system and returns the new state (or None: the same), and start
    again from there. waits: whether after its action the function waits until its sign is known, being zero there; one whose
    action leads away from zero need not. dips: a gap, which may close and open within a step; nothing is recorded of it,
    no step passes over it (kernels/gaps.py).
    """

    direction: int = 0
    action: str = "record"
    change: Callable[[float, np.ndarray], np.ndarray | None] | None = None
    name: str = ""
    waits: bool = True
    dips: bool = False

    def __post_init__(self) -> None:
        if self.action not in ACTIONS:
            raise StateError(f"the action of an event is 'record', 'stop' or 'change', not {self.action!r}")
        if self.direction not in (-1, 0, 1):
            raise StateError(f"the direction of an event is -1 (falling), 0 (both) or 1 (rising), not {self.direction!r}")
        if (self.action == "change") != (self.change is not None):
            raise StateError("an event of action 'change' needs a function `change`, and no other has one")


@dataclass(frozen=True)
class EventRecord:
    """An event that took place: when, which one, and the state just then."""

    t: float
    index: int
    x: np.ndarray
    name: str = ""


class Switch(NamedTuple):
    """Where one method took over from another in a run of 'auto'."""

    t: float
    before: str
    after: str


@dataclass(frozen=True)
class Statistics:
    steps: int
    rejected: int
    evaluations: int
    jacobians: int
    factorizations: int
    first_step: float
    last_step: float
    min_step: float
    max_step: float


@dataclass(frozen=True)
class Trajectory:
    """t (m,) and x (m, n): the requested rows. `status` is "done", "stopped" (by an event), "interrupted", "max_steps",
    "max_seconds", or the reason why it could not go on: "step_too_small", "not_finite", "no_convergence", "event_undefined",
    "chattering", "raised"; `message` says it in words, `cause` is the exception where one was raised, `chatter` what chattered.
    `final_t`, `final_x`: where it ended, whether or not that is a row."""

    t: np.ndarray
    x: np.ndarray
    status: str
    message: str
    method: str
    events: list[EventRecord]
    statistics: Statistics
    final_t: float
    final_x: np.ndarray
    report_total: np.ndarray = field(default_factory=lambda: np.zeros(0))
    report_peak: np.ndarray = field(default_factory=lambda: np.zeros(0))
    cause: Exception | None = None
    switches: list[Switch] = field(default_factory=list)
    """Changes of method of 'auto', in the order of time."""
    chatter: Chatter | None = None
    preparing: float = 0.0
    """Seconds in which a method was made ready during the run."""

    @property
    def ok(self) -> bool:
        return self.status in ("done", "stopped")


LIMITED = ("interrupted", "max_steps", "max_seconds")
"""Statuses of runs ended by Ctrl-C or by a limit given beforehand."""


def joined(pieces: Sequence[Rows], n: int) -> Rows:
    """Rows of n numbers as one array."""
    if len(pieces) == 1:
        return pieces[0]
    t = np.concatenate([np.zeros(0), *(piece[0] for piece in pieces)])
    return t, np.concatenate([np.zeros((0, n)), *(piece[1] for piece in pieces)])


def outcome(go: Callable[[], str]) -> tuple[str, Exception | None]:
    """The status of a run and the exception that ended it: neither Ctrl-C nor an error in a caller's function loses what was
    computed until then."""
    try:
        return go(), None
    except KeyboardInterrupt:
        return "interrupted", None
    except Exception as error:
        return "raised", error


def in_words(cause: Exception | None) -> str:
    """An exception in words: ours need only their text, others their type too."""
    return str(cause) if isinstance(cause, SharnirError) else f"{type(cause).__name__}: {cause}"


def event_label(events: Sequence[Event], k: int) -> str:
    return f"event {(events[k].name if k < len(events) else '') or k + 1!r}"
