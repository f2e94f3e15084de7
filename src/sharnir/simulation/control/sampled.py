"""Controllers that run at sample times: Python is called there and only there, what it commands is held until it changes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import MethodError, StateError, brief
from ...model.model import Model
from ..results.records import ByName, entry
from ..run.checks import check_resolution, number

Controller = Callable[..., Any]
"""f(sample), or f(t, q, v): joint forces as an array or {joint: value}, or a `Command`."""


def positional_arguments(function: Callable[..., Any]) -> int:
    """How many arguments a function must be given by place; 1 where it takes any number, or does not say."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    by_place = [x for x in parameters if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD) and x.default is x.empty]
    return len(by_place) or int(any(x.kind is x.VAR_POSITIONAL or x.default is not x.empty for x in parameters))


def name_of(function: object, otherwise: str) -> str:
    """The name of a function in messages and results."""
    name = getattr(function, "__name__", type(function).__name__)
    return otherwise if name in ("<lambda>", "partial") else str(name)


@dataclass(frozen=True)
class Command:
    """The output of a controller: joint forces, as an array (nv,) or {joint: value}, none where left out; and new values of
    parameters of the model, {name: value}, which stay until they are commanded anew."""

    tau: ArrayLike | Mapping[str, ArrayLike] | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample(ByName):
    """The motion at a sample time, as a controller sees it. In a rollout every array has a row for each trajectory."""

    model: Model
    t: float
    q: np.ndarray
    """(nq,); `coordinate(joint)` has them by name."""
    v: np.ndarray
    """(nv,); `speed(joint)` has them by name."""
    tau: np.ndarray
    """(nv,): the joint forces that are held just before."""
    parameters: Mapping[str, Any]
    number: int
    """0, 1, 2, …: of the sample."""
    period: float
    """Seconds to the next one."""
    states: Mapping[str, Any] = field(default_factory=dict)
    """States of forces and controllers by name."""

    def state(self, name: str) -> Any:
        """The value of a state of a force or of the model."""
        return entry(self.states, name, "state")


@dataclass(frozen=True)
class Sampled:
    """A controller: `function` is called every `period` seconds with a `Sample`, or with (t, q, v), and returns joint forces, an
    array or {joint: value}, or a `Command`. They act from `delay` seconds after the sample (the time of computing) until the
    next ones do. The first sample is `offset` seconds after the start, before it the controller commands nothing."""

    function: Controller
    period: float
    delay: float = 0.0
    offset: float = 0.0
    name: str = ""
    takes_sample: bool = field(init=False, default=True, repr=False)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise StateError(f"Sampled: expected a function f(sample) or f(t, q, v), got {brief(self.function)}")
        count = positional_arguments(self.function)
        if count not in (1, 3):
            raise StateError(
                f"Sampled: a controller takes one argument, a sharnir.Sample, or three, t, q and v; "
                f"{name_of(self.function, 'the function')!r} takes {count}"
            )
        seconds = {
            key: number(getattr(self, key), f"Sampled: {key}", "a number of seconds") for key in ("period", "delay", "offset")
        }
        for key, x in seconds.items():
            if not (0.0 if key != "period" else np.finfo(float).tiny) <= x < np.inf:
                raise StateError(f"Sampled: {key} must be {'positive' if key == 'period' else 'zero or positive'}, got {x:g}")
            object.__setattr__(self, key, x)
        if not isinstance(self.name, str):
            raise StateError(f"Sampled: name: expected a text, got {brief(self.name)}")
        object.__setattr__(self, "name", self.name or name_of(self.function, "control"))
        object.__setattr__(self, "takes_sample", count == 1)

    def command(self, sample: Sample) -> Any:
        """Call the function and return its result."""
        return self.function(sample) if self.takes_sample else self.function(sample.t, sample.q, sample.v)


@dataclass(frozen=True)
class Commands:
    """All commands of a controller in a run, sample by sample."""

    t: np.ndarray
    """(n,): the sample times."""
    applied: np.ndarray
    """(n,): from when on it acted; nan where the run ended before."""
    tau: np.ndarray
    """(n, nv): joint forces."""
    parameters: dict[str, np.ndarray] = field(default_factory=dict)
    """(n,): of parameters that were commanded; nan where they were not."""


def is_sampled(control: object) -> bool:
    """Whether it is a controller, or a list that has one."""
    return isinstance(control, Sampled) or (isinstance(control, (list, tuple)) and any(isinstance(x, Sampled) for x in control))


def check_control(control: object) -> list[Sampled]:
    """Controllers, with names that differ."""
    found = [control] if isinstance(control, Sampled) else list(control) if isinstance(control, Sequence) else None
    others = [brief(control)] if found is None else [f"{brief(x)} in a list" for x in found if not isinstance(x, Sampled)]
    if found is None or others:
        raise StateError(f"control: expected sharnir.Sampled(f, period), or a list of them; got {others[0]}")
    return found


def check_controlled(controllers: Sequence[Sampled], t0: float, duration: float, sensitivities: Sequence[str]) -> None:
    """Refuse runs that controllers do not allow for."""
    if not controllers:
        return
    if duration < 0.0:
        raise StateError("control: a controller knows the past, not the future; a run backward in time has none")
    if len(sensitivities):
        raise MethodError(
            "sensitivities: a sampled controller is a Python function and has no derivatives; take a law, tau=f(on)"
        )
    for one in controllers:
        check_resolution(t0, **{f"{one.name}: period": one.period})


def names_of(controllers: Sequence[Sampled]) -> list[str]:
    """The names of controllers; of several of one name the second is called "name 2"."""
    out: list[str] = []
    for one in controllers:
        name, k = one.name, 2
        while name in out:
            name, k = f"{one.name} {k}", k + 1
        out.append(name)
    return out
