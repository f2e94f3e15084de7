"""Stabilisation of the constraints in time: the choices, their coefficients, and what cannot be combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import MethodError, StateError

CHOICES = {
    "projection": "the state is projected onto the constraints after every step, in the metric of the masses",
    "partitioning": "independent coordinates are integrated, dependent ones found by Newton's method at every evaluation",
    "baumgarte": "violations decay with the accelerations: g̈ + 2α ġ + β² g = 0",
    "ggl": "Gear, Gupta, Leimkuhler: a second set of multipliers corrects the rates of the coordinates",
    "none": "the constraints are met by accelerations alone: violations grow",
}
PROJECTION = "projection"
DECAYING = {"baumgarte": 2, "ggl": 1}
"""Choices whose equations have coefficients of decay, and how many: 2α and β²; κ."""
TIME_CONSTANT = 0.2
"""Time constant of the decay, relative to the time scale of the motion. A faster decay would also feed back the errors of the
stages, where the constraints are not yet satisfied (measured in docs/theory/loops.md)."""
DECAY_PER_STEP = 0.5
"""The largest decay over a step, where steps are fixed."""
MAX_DECAY_PER_STEP = {"rk4": 2.5, "euler": 0.8, "midpoint": 0.8}
"""Decay times step beyond which a method of fixed step is not stable."""


@dataclass(frozen=True)
class Stabilisation:
    """A choice and its coefficients: of 'baumgarte' α and β, of 'ggl' κ as α; 1/s."""

    name: str = PROJECTION
    alpha: float = 0.0
    beta: float = 0.0
    backward: bool = False

    @property
    def decay(self) -> tuple[float, ...]:
        """The inputs of the equations: 2α and β², or κ. In a run backward in time violations decay backward."""
        sign = -1.0 if self.backward else 1.0
        return {"baumgarte": (2.0 * sign * self.alpha, self.beta**2), "ggl": (sign * self.alpha,)}.get(self.name, ())

    @property
    def violation_limit(self) -> float:
        """Violation of the constraints at the end of a run, relative to their terms, beyond which the run has failed."""
        return {"none": np.inf, "baumgarte": 1e-2, "ggl": 1e-2}.get(self.name, 1e-6)

    def __str__(self) -> str:
        if self.name == "none":
            return "accelerations alone, without stabilisation"
        numbers = {"baumgarte": f" with α = {self.alpha:.3g}/s, β = {self.beta:.3g}/s", "ggl": f" with κ = {self.alpha:.3g}/s"}
        return f"{self.name}{numbers.get(self.name, '')}"


def check_choice(name: object) -> None:
    """Refuse what is not the name of a stabilisation."""
    if not isinstance(name, str) or name not in CHOICES:
        raise MethodError(f"stabilisation: expected {', '.join(map(repr, CHOICES))}; got {name!r}")


def chosen(model: str, constraints: int, name: str | None, decay: float | Sequence[float] | None) -> Stabilisation:
    """The options of the caller, checked, for a model with so many rows of constraints; coefficients left out are zero."""
    if name is None:
        name = PROJECTION
    elif not constraints:
        check_choice(name)
        raise MethodError(
            f"stabilisation {name!r}: model {model!r} has no closed loops and no constraints to stabilise; leave it out"
        )
    check_choice(name)
    if decay is None:
        return Stabilisation(name)
    if name not in DECAYING:
        raise MethodError(f"decay belongs to stabilisation 'baumgarte' or 'ggl'; {name!r} has no such coefficient")
    numbers = _numbers(decay)
    if len(numbers) > DECAYING[name]:
        wanted = "one number, or α and β" if name == "baumgarte" else "one number"
        raise StateError(f"decay of {name!r}: expected {wanted}, got {len(numbers)} numbers")
    return Stabilisation(name, numbers[0], numbers[-1] if name == "baumgarte" else 0.0)


def _numbers(decay: object) -> list[float]:
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
    """The choice with all its coefficients: those left out follow from speeds and accelerations at the start.

    The time in which a motion changes is 1/max(|v|, √|a|), radians or metres being of order one; at rest, the duration.
    """
    backward = duration < 0.0
    if how.name not in DECAYING:
        return Stabilisation(how.name, backward=backward)
    alpha, beta = how.alpha, how.beta
    if not alpha:
        assert a is not None
        motion = max(float(np.abs(v).max(initial=0.0)), float(np.sqrt(np.abs(a).max(initial=0.0)))) or 1.0 / abs(duration)
        alpha = motion / TIME_CONSTANT
        if step is not None:
            alpha = min(alpha, DECAY_PER_STEP / step)
        beta = alpha if how.name == "baumgarte" else 0.0
    if step is not None and max(alpha, beta) * step > MAX_DECAY_PER_STEP[integrator]:
        raise MethodError(
            f"decay: {max(alpha, beta):.3g}/s is too fast for {integrator!r} with steps of {step:g} s; "
            f"at most {MAX_DECAY_PER_STEP[integrator] / step:.3g}/s, or smaller steps"
        )
    return Stabilisation(how.name, alpha, beta, backward)
