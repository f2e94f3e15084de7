"""The options that `simulate` and `rollout` share, checked: every mistake is named before anything is compiled.

Their meaning is documented with `simulate`. A rollout has fixed steps, a whole number of them, and joint forces that may change
from step to step. It has had names of its own, which stay: `dt` is `step`, `steps` times `dt` the duration, `control` is `tau`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ...errors import NOT_A_NUMBER, MethodError, StateError, brief, no_such
from ...model.model import Model
from ...model.references import is_name_in
from ...model.states import check_tau
from ...types import real_array

Control = Callable[[float, np.ndarray, np.ndarray], ArrayLike]
"""(t, q (B, nq), v (B, nv)) -> joint forces (B, nv) or (nv,)."""
Tau = ArrayLike | Mapping[str, ArrayLike]

ROUNDING = 1e-9
"""Durations this close to a whole number of steps, relative, are a whole number of steps."""

TICKS = 16
"""Distances between neighbouring floating-point times that a step must have at least."""

MOST = 2**63 - 1
"""The largest whole number that compiled code counts to."""

SIMULATE_ONLY = {
    "rtol": "its steps are fixed: give `step`",
    "atol": "its steps are fixed: give `step`",
    "max_step": "its steps are fixed: give `step`",
    "max_steps": "it has a given number of steps",
    "max_seconds": "it has a given number of steps",
    "output": "it stores every `every`-th step",
    "events": "its trajectories go through all steps together: simulate them one by one",
    "limits": "its trajectories go through all steps together: simulate them one by one",
    "balance": "it records no work",
    "on_failure": "a trajectory that fails does not stop the others: see `Rollout.failed`",
    "save": "it is not written to a file: save its arrays",
}

T = TypeVar("T")


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


def check_duration(duration: object) -> float:
    value = number(duration, "duration", "a number of seconds")
    if not np.isfinite(value) or value == 0.0:
        raise StateError(f"duration: expected a finite number of seconds other than zero, got {duration!r}")
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


def refuse_others(others: Mapping[str, object]) -> None:
    """Options that `rollout` does not have."""
    for name in others:
        if name not in SIMULATE_ONLY:
            raise TypeError(f"rollout() got an unexpected keyword argument {name!r}")
        raise MethodError(f"{name}: an option of `simulate` that a rollout does not have; {SIMULATE_ONLY[name]}")


def either(name: str, value: T | None, alias: str, other: T | None) -> tuple[str, T | None]:
    """An option of two names: the name it was given by, and its value."""
    if value is not None and other is not None:
        raise MethodError(f"{name} and {alias} are two names of one option; give one of them")
    return (alias, other) if value is None and other is not None else (name, value)


@dataclass(frozen=True)
class FixedSteps:
    t0: float
    step: float
    count: int
    every: int

    @property
    def times(self) -> np.ndarray:
        """Times of the stored rows."""
        return self.t0 + self.step * self.every * np.arange(self.count // self.every + 1)

    @property
    def duration(self) -> float:
        return self.step * self.count


def fixed_steps(
    duration: float | None, step: float | None, dt: float | None, steps: int | None, every: int, t0: float
) -> FixedSteps:
    name, given = either("step", step, "dt", dt)
    if given is None:
        raise MethodError("a rollout has fixed steps: give the length of one in seconds, step=0.01 for example")
    h = number(given, name, "the length of a step in seconds")
    t0, every = number(t0, "t0"), whole(every, "every", 1)
    if not 0.0 < h < np.inf or not np.isfinite(t0):
        raise StateError(f"{name} must be positive and t0 finite; got {name} = {h}, t0 = {t0}")
    check_resolution(t0, **{name: h})
    if duration is None:
        if steps is None:
            raise MethodError("a rollout needs a duration, in seconds or as a number of `steps`")
        return FixedSteps(t0, h, whole(steps, "steps"), every)
    seconds = number(duration, "duration", "a number of seconds")
    if not 0.0 <= seconds < np.inf:
        raise StateError(f"duration: a rollout runs forward for a finite number of seconds, got {duration!r}")
    count = round(seconds / h)
    if abs(seconds / h - count) > ROUNDING * max(count, 1):
        raise StateError(f"duration: {seconds:g} s is not a whole number of steps of {h:g} s")
    if steps is not None and whole(steps, "steps") != count:
        raise MethodError(f"duration and steps contradict each other: {seconds:g} s are {count} steps of {h:g} s, not {steps}")
    return FixedSteps(t0, h, count, every)


def constant_forces(model: Model, tau: Tau | None) -> np.ndarray:
    """Joint forces (nv,) of `simulate`."""
    if not isinstance(tau, Mapping) and np.asarray(tau, dtype=object).ndim > 1:
        raise StateError(
            "tau: the joint forces of `simulate` are constant, an array (nv,) or {joint: value}, or a function of `Motion`; for "
            "others give control=sharnir.Sampled(…), or use `rollout`"
        )
    return check_tau(model, tau)


def forces_over_steps(model: Model, name: str, tau: Tau | None, n: int, steps: int) -> np.ndarray | None:
    """Joint forces (n, steps, nv) of n trajectories, or (n, 1, nv) where they are constant."""
    if tau is None:
        return None
    nv = model.nv
    forces = check_tau(model, tau) if isinstance(tau, Mapping) else real_array(tau, name)
    shapes = {(nv,): forces[None, None], (steps, nv): forces[None], (n, steps, nv): forces}
    if forces.shape not in shapes:
        raise StateError(f"{name}: expected ({nv},), ({steps}, {nv}) or ({n}, {steps}, {nv}) joint forces, got {forces.shape}")
    if not np.isfinite(forces).all():
        raise StateError(f"{name}: the joint forces are not all finite")
    full = shapes[forces.shape]
    return np.broadcast_to(full, (n, *full.shape[1:]))
