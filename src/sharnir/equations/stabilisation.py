"""How the constraints are kept while time goes on: the choices, their numbers, and what does not go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import MethodError, StateError

CHOICES = {
    "projection": "after every step back onto the constraints, by the shortest way in the metric of the masses",
    "partitioning": "independent coordinates are integrated, dependent ones found by Newton's method at every evaluation",
    "baumgarte": "accelerations that let violations die out: g̈ + 2α ġ + β² g = 0",
    "ggl": "Gear, Gupta, Leimkuhler: a second set of multipliers keeps the rates of the coordinates on the constraints",
    "none": "accelerations alone keep the constraints: errors of integration pile up",
}
PROJECTION = "projection"
DECAYING = ("baumgarte", "ggl")
PART = 0.2
"""Violations die out over this part of the time in which the motion changes: faster, and the errors within a step, where
constraints are not met yet, are fed back too (docs/theory/loops.md has the measurement)."""
A_STEP = 0.5
"""And decay by no more than so much over a step, where it is fixed."""
MAX_DECAY_PER_STEP = {"rk4": 2.5, "euler": 0.8, "midpoint": 0.8}
"""Decay times step beyond which a method of fixed step is not stable."""


@dataclass(frozen=True)
class Stabilisation:
    """A choice and its numbers: of 'baumgarte' α and β, of 'ggl' the decay κ as α; 1/s."""

    name: str = PROJECTION
    alpha: float = 0.0
    beta: float = 0.0
    backward: bool = False

    @property
    def decay(self) -> tuple[float, ...]:
        """What the equations read: 2α and β², or κ. A run backward in time has them die out backward."""
        sign = -1.0 if self.backward else 1.0
        return {"baumgarte": (2.0 * sign * self.alpha, self.beta**2), "ggl": (sign * self.alpha,)}.get(self.name, ())

    @property
    def violation_limit(self) -> float:
        """A constraint that is off by more (metres or radians) at the end of a run is lost."""
        return {"none": np.inf, "baumgarte": 1e-2, "ggl": 1e-2}.get(self.name, 1e-6)

    def __str__(self) -> str:
        if self.name == "none":
            return "accelerations alone, without stabilisation"
        numbers = {"baumgarte": f" with α = {self.alpha:.3g}/s, β = {self.beta:.3g}/s", "ggl": f" with κ = {self.alpha:.3g}/s"}
        return f"{self.name}{numbers.get(self.name, '')}"


def check_choice(name: Any) -> None:
    if not isinstance(name, str) or name not in CHOICES:
        raise MethodError(f"stabilisation: expected {', '.join(map(repr, CHOICES))}; got {name!r}")


def chosen(model: str, constraints: int, name: Any, decay: Any) -> Stabilisation:
    """What the caller asked for, checked; numbers that he left out are zero."""
    if name is None:
        name = PROJECTION
    elif not constraints:
        check_choice(name)
        raise MethodError(f"stabilisation {name!r}: model {model!r} has no closed loops and no constraints to keep; leave it out")
    check_choice(name)
    if decay is None:
        return Stabilisation(name)
    if name not in DECAYING:
        raise MethodError(f"decay belongs to stabilisation 'baumgarte' or 'ggl'; {name!r} has no use for it")
    numbers = _numbers(decay)
    if len(numbers) > (2 if name == "baumgarte" else 1):
        wanted = "one number, or α and β" if name == "baumgarte" else "one number"
        raise StateError(f"decay of {name!r}: expected {wanted}, got {len(numbers)} numbers")
    return Stabilisation(name, numbers[0], numbers[-1] if name == "baumgarte" else 0.0)


def _numbers(decay: Any) -> list[float]:
    numbers: list[float] = []
    for x in decay if isinstance(decay, (Sequence, np.ndarray)) and not isinstance(decay, str) else [decay]:
        if isinstance(x, (str, bool)) or not isinstance(x, (int, float, np.number)) or not 0.0 < float(x) < np.inf:
            raise StateError(f"decay: expected positive numbers, 1/s; got {decay!r}")
        numbers.append(float(x))
    if not numbers:
        raise StateError(f"decay: expected positive numbers, 1/s; got {decay!r}")
    return numbers


def with_decay(
    how: Stabilisation, duration: float, integrator: str, step: float | None, v: np.ndarray, a: np.ndarray | None
) -> Stabilisation:
    """The choice with all its numbers: those left out are taken from speeds and accelerations at the start.

    The time in which a motion changes is 1/max(|v|, √|a|), radians or metres being of order one; at rest, the run itself.
    """
    backward = duration < 0.0
    if how.name not in DECAYING:
        return Stabilisation(how.name, backward=backward)
    alpha, beta = how.alpha, how.beta
    if not alpha:
        assert a is not None
        motion = max(float(np.abs(v).max(initial=0.0)), float(np.sqrt(np.abs(a).max(initial=0.0)))) or 1.0 / abs(duration)
        alpha = motion / PART
        if step is not None:
            alpha = min(alpha, A_STEP / step)
        beta = alpha if how.name == "baumgarte" else 0.0
    if step is not None and max(alpha, beta) * step > MAX_DECAY_PER_STEP[integrator]:
        raise MethodError(
            f"decay: {max(alpha, beta):.3g}/s is too fast for {integrator!r} with steps of {step:g} s; "
            f"at most {MAX_DECAY_PER_STEP[integrator] / step:.3g}/s, or smaller steps"
        )
    return Stabilisation(how.name, alpha, beta, backward)
