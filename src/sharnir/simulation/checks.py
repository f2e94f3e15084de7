"""What `simulate` was asked for, checked: every mistake is named before anything is compiled or run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import MethodError, StateError
from ..integrate.methods import Integrator
from ..model.events import Event
from ..model.states import real_array
from .mechanics import Mechanics

HALF_STEP = 1e-9
"""Output times this close to the end, in intervals, are the end."""
MAX_TIMES = 10**8
"""More rows than that is a slip of the pen, not a wish."""


def number(x: Any, what: str, wanted: str = "a number") -> float:
    """A finite or infinite number, of any type that has a value."""
    try:
        value = float(x)
    except (TypeError, ValueError):
        value = np.nan
    if isinstance(x, (str, bytes)) or np.isnan(value):
        raise StateError(f"{what}: expected {wanted}, got {x!r}")
    return value


def span(duration: Any) -> float:
    value = number(duration, "duration", "a number of seconds")
    if not np.isfinite(value) or value == 0.0:
        raise StateError(f"duration: expected a number of seconds, got {duration!r}")
    return value


def choice(x: Any, what: str, among: Sequence[str]) -> str:
    if x not in among:
        raise MethodError(f"{what}: expected {', '.join(map(repr, among[:-1]))} or {among[-1]!r}, got {x!r}")
    return x


def whole(x: Any, what: str) -> int:
    if isinstance(x, bool) or not isinstance(x, (int, np.integer)) or x < 0:
        raise MethodError(f"{what}: expected a whole number, not negative; got {x!r}")
    return int(x)


def check_step(integrator: Integrator, step: float | None) -> None:
    if integrator.adaptive and step is not None:
        raise MethodError(f"{integrator.name!r} chooses its own steps: give rtol and atol, or max_step, not step")
    if not integrator.adaptive and (step is None or not 0.0 < step < np.inf):
        raise MethodError(f"{integrator.name!r} needs a positive `step`, got {step!r}")


def watch_list(events: Any) -> list[Event]:
    if isinstance(events, Event):
        return [events]
    try:
        found = list(events)
    except TypeError:
        found = [events]
    for event in found:
        if not isinstance(event, Event):
            raise StateError(f"events: expected sharnir.Event(function, …), got {event!r}")
    return found


def output_times(output: Any, t0: float, t1: float) -> np.ndarray | None:
    """From an interval (the end is always among them), from times, or None for the steps of the integrator."""
    if output is None:
        return None
    wanted = "an interval, times, or None for every step"
    if not np.isscalar(output) and np.ndim(output) > 0:
        return real_array(output, "output")
    dt = number(output, "output", wanted)
    if not 0.0 < dt < np.inf:
        raise StateError(f"output: expected {wanted}; got {output!r}")
    n = abs(t1 - t0) / dt
    if n > MAX_TIMES:
        raise StateError(f"output: an interval of {dt:g} s makes {n:.2g} times; take a longer one, or output=None and every=…")
    times = t0 + np.copysign(dt, t1 - t0) * np.arange(int(n + HALF_STEP) + 1)
    if abs(t1 - times[-1]) <= HALF_STEP * dt:
        times[-1] = t1
        return times
    return np.append(times, t1)


def tolerances(atol: Any, m: Mechanics) -> np.ndarray:
    """One for each number of the state; the work done does not steer the step."""
    given = real_array(atol, "atol")
    if given.shape not in ((), (m.nq + m.nv,)):
        raise MethodError(f"atol: expected one number or {m.nq + m.nv}, one per coordinate and speed; got shape {given.shape}")
    out = np.full(m.n, 1e300)
    out[: m.nq + m.nv] = given
    return out
