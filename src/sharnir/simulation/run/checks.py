"""Checks of the options of a run: every mistake is named before anything is compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import NOT_A_NUMBER, MethodError, StateError, brief, no_such
from ...integrate.methods import Integrator
from ...machine import beyond_memory
from ...model.events import Event
from ...model.impacts import Impact
from ...model.model import Model
from ...model.references import is_name_in
from ...types import real_array

Tau = ArrayLike | Mapping[str, ArrayLike]

ROUNDING = 1e-9
"""Durations this close to a whole number of steps, relative, are a whole number of steps."""

TICKS = 16
"""Distances between neighbouring floating-point times that a step must have at least."""

MOST = 2**63 - 1
"""The largest whole number that compiled code counts to."""

MAX_TIMES = 10**8
"""More rows than that are a mistake."""


def number(x: object, what: str, wanted: str = "a number") -> float:
    """A number, finite or infinite, of any type that has a value."""
    try:
        value = float(x)  # type: ignore[arg-type]
    except NOT_A_NUMBER:
        value = np.nan
    if isinstance(x, (str, bytes)) or np.isnan(value):
        raise StateError(f"{what}: expected {wanted}, got {brief(x)}")
    return value


def whole(x: object, what: str, least: int = 0) -> int:
    if isinstance(x, (bool, np.timedelta64)) or not isinstance(x, (int, np.integer)) or x < least:
        raise MethodError(f"{what}: expected a whole number of at least {least}, got {brief(x)}")
    if x > MOST:
        raise MethodError(f"{what}: expected a whole number of at most {MOST}, got {brief(x)}")
    return int(x)


def choice(x: object, what: str, among: Sequence[str]) -> str:
    if not isinstance(x, str) or x not in among:
        raise MethodError(f"{what}: expected {', '.join(map(repr, among[:-1]))} or {among[-1]!r}, got {brief(x)}")
    return x


def with_states(model: Model, parameters: Mapping[str, Any] | None, states: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Values of parameters and of states of forces, by name."""
    for what, given, known in (("parameters", parameters, model.parameters), ("states", states, model.states)):
        if given is not None and not isinstance(given, Mapping):
            raise StateError(f"{what}: expected {{name: value}}, got {brief(given)}")
        for name in given or ():
            if what == "states" and not is_name_in(known, name):
                raise StateError(f"{no_such('state', name, known)}; Model.add_state adds one, forces with states have theirs")
            if what == "parameters" and is_name_in(model.states, name):
                raise StateError(f"{name!r} is a state, which changes with the motion: states={{{name!r}: …}} gives its start")
    return {**(parameters or {}), **(states or {})} if parameters is not None or states is not None else None


def values_of(model: Model, parameters: Mapping[str, float] | None, states: Mapping[str, float] | None) -> np.ndarray:
    """Parameters, then states of forces at the start."""
    return np.array(list(model.parameter_values(with_states(model, parameters, states)).values()), dtype=float)


def check_duration(duration: object, name: str = "duration") -> float:
    value = number(duration, name, "a number of seconds")
    if not np.isfinite(value) or value == 0.0:
        raise StateError(f"{name}: expected a finite number of seconds other than zero, got {duration!r}")
    return value


def check_resolution(t0: float, **spans: Any) -> None:
    """Spans of time that would be lost in the rounding of t0."""
    apart = float(np.spacing(abs(t0)))
    for name, span in spans.items():
        if isinstance(span, (int, float, np.number)) and 0.0 < abs(number(span, name)) < TICKS * apart:
            raise StateError(
                f"{name}: {span:g} s is lost in the rounding of the time: near t0 = {t0:g} two times are at least {apart:.2g} s "
                "apart; start at a smaller t0"
            )


def check_step(integrator: Integrator, step: float | None) -> None:
    if integrator.adaptive and step is not None:
        raise MethodError(f"{integrator.name!r} chooses its own steps: give rtol and atol, or max_step, not step")
    if not integrator.adaptive and (step is None or not 0.0 < step < np.inf):
        raise MethodError(f"{integrator.name!r} needs a positive `step`, got {step!r}")


def whole_steps(seconds: float, step: float) -> int | None:
    """How many steps a duration is; None where it is not a whole number of them."""
    count = round(seconds / step)
    return count if abs(seconds / step - count) <= ROUNDING * max(count, 1) else None


def check_seconds(x: object, name: str) -> float:
    value = number(x, name, "a number of seconds")
    if not value > 0.0:
        raise MethodError(f"{name}: expected a positive number of seconds, got {x!r}")
    return value


def check_events(events: Event | Sequence[Event]) -> list[Event]:
    found = list(events) if np.iterable(events) else [events]
    for event in found:
        if isinstance(event, Impact):
            raise StateError(f"{event.label}: impacts are for simulate, not for this run")
        if not isinstance(event, Event):
            raise StateError(f"events: expected sharnir.Event(function, …) or sharnir.Impact(gap, …), got {event!r}")
    return found


def output_times(output: float | ArrayLike | None, t0: float, t1: float, row: int) -> np.ndarray | None:
    """Output times from an interval (the end is always among them), from times, or None for the steps of the integrator.

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


def tolerances_of_state(atol: float | ArrayLike, n: int, nz: int) -> np.ndarray:
    """Tolerances (n + nz,) of coordinates and speeds, and of states of forces."""
    given = real_array(atol, "atol")
    if given.shape not in ((), (n,), (n + nz,)):
        or_more = f", or {n + nz} with those of states" if nz else ""
        raise MethodError(f"atol: expected one number or {n}, one per coordinate and speed{or_more}; got shape {given.shape}")
    if given.shape == (n,):
        given = np.concatenate([given, np.full(nz, given.min(initial=np.inf))])
    return np.array(np.broadcast_to(given, n + nz))
