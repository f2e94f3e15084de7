"""The options that only `simulate` has, checked before anything is compiled or run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...errors import MethodError, StateError
from ...integrate.methods import Integrator
from ...machine import beyond_memory
from ...model.events import Event
from ...model.impacts import Impact
from ...types import real_array
from ..systems.motion_system import MotionSystem, unseen_work
from .options import ROUNDING, number, whole

MAX_TIMES = 10**8
"""More rows than that are a mistake."""


def check_step(integrator: Integrator, step: float | None) -> None:
    if integrator.adaptive and step is not None:
        raise MethodError(f"{integrator.name!r} chooses its own steps: give rtol and atol, or max_step, not step")
    if not integrator.adaptive and (step is None or not 0.0 < step < np.inf):
        raise MethodError(f"{integrator.name!r} needs a positive `step`, got {step!r}")


def check_ends(max_steps: object, max_seconds: object) -> None:
    if max_steps is not None:
        whole(max_steps, "max_steps", 1)
    if max_seconds is not None and not number(max_seconds, "max_seconds", "a number of seconds") > 0.0:
        raise MethodError(f"max_seconds: expected a positive number of seconds, got {max_seconds!r}")


def check_events(events: Event | Sequence[Event]) -> list[Event]:
    if isinstance(events, Event):
        return [events]
    found = list(events) if np.iterable(events) else [events]
    for event in found:
        if isinstance(event, Impact):
            raise StateError(f"{event.label}: impacts are for simulate, not for this run")
        if not isinstance(event, Event):
            raise StateError(f"events: expected sharnir.Event(function, …) or sharnir.Impact(gap, …), got {event!r}")
    return found


def output_times(output: float | ArrayLike | None, t0: float, t1: float, row: int) -> np.ndarray | None:
    """From an interval (the end is always among them), from times, or None for the steps of the integrator.

    row   numbers that are stored for each time
    """
    if output is None:
        return None
    wanted = "an interval, times, or None for every step"
    if not np.isscalar(output) and np.ndim(output) > 0:
        return real_array(output, "output").ravel()
    dt = number(output, "output", wanted)
    if not 0.0 < dt < np.inf:
        raise StateError(f"output: expected {wanted}; got {output!r}")
    n = abs(t1 - t0) / dt
    beyond = f" that need {beyond}" if (beyond := beyond_memory(n * row)) else ""
    if n > MAX_TIMES or beyond:
        raise StateError(
            f"output: an interval of {dt:g} s makes {n:.2g} times{beyond}; take a longer one, or output=None and every=…"
        )
    times = t0 + np.copysign(dt, t1 - t0) * np.arange(int(n + ROUNDING) + 1)
    if abs(t1 - times[-1]) <= ROUNDING * dt:
        times[-1] = t1
        return times
    return np.append(times, t1)


def tolerances(atol: float | ArrayLike, m: MotionSystem) -> np.ndarray:
    """One for each number of the state; of works those alone steer the step that the motion says nothing of (`unseen_work`)."""
    given = tolerances_of_state(atol, m.nq + m.nv, m.nz)
    out = np.full((m.size // m.row_size, m.row_size), 1e300) if m.row_size else np.zeros((0, 0))
    out[:, : len(given)] = given
    out[:1, len(given) :][:, unseen_work(m.structure, m.causes)] = real_array(atol, "atol").min(initial=1e300)
    return out.ravel()


def tolerances_of_state(atol: float | ArrayLike, n: int, nz: int) -> np.ndarray:
    """(n + nz,): of coordinates and speeds, and of states of forces."""
    given = real_array(atol, "atol")
    if given.shape not in ((), (n,), (n + nz,)):
        or_more = f", or {n + nz} with those of states" if nz else ""
        raise MethodError(f"atol: expected one number or {n}, one per coordinate and speed{or_more}; got shape {given.shape}")
    if given.shape == (n,):
        given = np.concatenate([given, np.full(nz, given.min(initial=np.inf))])
    return np.array(np.broadcast_to(given, n + nz))
