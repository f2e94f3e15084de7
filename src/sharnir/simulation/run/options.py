"""The options of `simulate`, described once: their defaults, their checks, and whether they are compiled or belong to each run.

Their meaning is documented with `simulate`. A rollout has fixed steps, a whole number of them, and joint forces that may change
from step to step. It has had names of its own, which stay: `dt` is `step`, `steps` times `dt` the duration, `control` is `tau`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ...equations.assembly.start import Start
from ...errors import MethodError, StateError
from ...integrate.methods import integrator as integrator_named
from ...model.events import Event
from ...model.impacts import Impact
from ...model.settings import ACT, LIMITS
from ...model.states import check_time
from ...types import truth
from ..control.joint_laws import JointLaw, check_law
from ..control.sampled import Sampled, check_control
from ..results.storage import PathLike
from .checks import Tau, check_duration, check_resolution, check_seconds, choice, number, whole, whole_steps

Check = Callable[[Any, str], object]
"""(value, name of the option) -> the value as it is used."""


def option(default: Any, check: Check) -> Any:
    return field(default=default, metadata={"check": check})


def optional(check: Check) -> Check:
    """The check of an option that may be None."""
    return lambda x, name: None if x is None else check(x, name)


def one_of(*words: str) -> Check:
    return lambda x, name: choice(x, name, words)


class Options:
    """Every option is checked when they are made, as far as that is possible without the model."""

    def __post_init__(self) -> None:
        for one in fields(self):  # type: ignore[arg-type]
            if check := one.metadata.get("check"):
                object.__setattr__(self, one.name, check(getattr(self, one.name), one.name))


@dataclass(frozen=True, kw_only=True, eq=False)
class CompiledOptions(Options):
    """Options that all runs of `Runs` have in common: they are compiled."""

    law: JointLaw | None = option(None, optional(lambda x, _: check_law(x)))  # noqa: RUF009 - it makes a field
    """`tau` where it is a function of `Motion`."""
    control: Sequence[Sampled] = option((), lambda x, _: check_control(() if x is None else x))
    method: str = "auto"
    backend: str = "auto"
    threads: int = 1
    integrator: str = option("auto", lambda x, _: integrator_named(x).name)
    events: Event | Impact | Sequence[Event | Impact] = ()
    limits: str = option(ACT, one_of(*LIMITS))
    stabilisation: str | None = None
    decay: float | Sequence[float] | None = None
    balance: bool = option(True, truth)
    sensitivities: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class MotionOptions(Options):
    """Options of one motion of whatever duration: where it starts, what drives it, how it is integrated."""

    q0: Start = None
    v0: Start = None
    fixed: Sequence[str] | None = None
    nearest: bool = option(False, truth)
    t0: float = option(0.0, lambda x, _: check_time(x))
    tau: Tau | None = None
    parameters: Mapping[str, float] | None = None
    states: Mapping[str, float] | None = None
    rtol: float = option(1e-8, number)
    atol: float | ArrayLike = 1e-10
    step: float | None = option(None, optional(number))
    max_step: float = option(np.inf, number)


@dataclass(frozen=True, kw_only=True, eq=False)
class RunOptions(MotionOptions):
    """Options of one run."""

    duration: float = option(MISSING, check_duration)
    max_steps: int | None = option(None, optional(lambda x, name: whole(x, name, 1)))
    max_seconds: float | None = option(None, optional(check_seconds))
    output: float | ArrayLike | None = 0.01
    every: int = option(1, whole)
    on_failure: str = option("raise", one_of("raise", "return"))
    progress: bool | None = option(None, optional(truth))
    save: PathLike | None = None

    @property
    def end(self) -> float:
        return self.t0 + self.duration


Own = TypeVar("Own", bound=MotionOptions)


def split(options: Mapping[str, Any], kind: type[Own]) -> tuple[CompiledOptions, Own]:
    """The options of `simulate`, or of `Simulation`: those that are compiled, and those of one run or motion."""
    given = dict(options)
    compiled = {one.name: given.pop(one.name) for one in fields(CompiledOptions) if one.name in given}
    if callable(given.get("tau")):
        compiled["law"] = given.pop("tau")
    return CompiledOptions(**compiled), kind(**given)


# --- rollouts -----------------------------------------------------------------------------------------------------------------
Control = Callable[[float, np.ndarray, np.ndarray], ArrayLike]
"""(t, q (B, nq), v (B, nv)) -> joint forces (B, nv) or (nv,)."""

SIMULATE_ONLY = {
    "rtol": "its steps are fixed: give `step`",
    "atol": "its steps are fixed: give `step`",
    "max_step": "its steps are fixed: give `step`",
    "max_steps": "it has a given number of steps",
    "max_seconds": "it has a given number of steps",
    "output": "it stores every `every`-th step",
    "events": "its trajectories go through all steps together: simulate them one by one",
    "balance": "it records no work",
    "on_failure": "a trajectory that fails does not stop the others: see `Rollout.failed`",
    "save": "it is not written to a file: save its arrays",
}

T = TypeVar("T")


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
    count = whole_steps(seconds, h)
    if count is None:
        raise StateError(f"duration: {seconds:g} s is not a whole number of steps of {h:g} s")
    if steps is not None and whole(steps, "steps") != count:
        raise MethodError(f"duration and steps contradict each other: {seconds:g} s are {count} steps of {h:g} s, not {steps}")
    return FixedSteps(t0, h, count, every)
