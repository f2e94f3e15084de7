"""The problem: inputs between bounds, an objective, outputs that are held within limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import NOT_A_NUMBER, StateError, brief, no_such
from ...simulation.results.result import Result
from ...simulation.run.checks import number
from ..design.designs import RESERVED, Columns
from ..design.inputs import PARAMETER, WHOLE, WORDS, Inputs

Quantity = str | Callable[[Result], Any]
"""An output as a study takes it: "max of reaction of B", or a function of a `Result`."""
Limits = tuple[float | None, float | None]
Constraints = Mapping[str, Limits | tuple[Quantity, Limits]]

TAKEN = (*RESERVED, "purpose", "feasible")
"""Names that every history has."""
FEASIBLE = 1e-6
"""Share of its scale by which a limit may be exceeded."""


@dataclass(frozen=True)
class Problem:
    """A problem in scaled inputs: searches work on u, 0 … 1 between the bounds."""

    names: tuple[str, ...]
    low: np.ndarray
    high: np.ndarray
    outputs: dict[str, Quantity]
    """The objective first, then the limited outputs."""
    limits: dict[str, tuple[float, float]]

    @property
    def objective(self) -> str:
        return next(iter(self.outputs))

    def columns(self, us: np.ndarray) -> Columns:
        """The inputs of runs, (runs, inputs) scaled."""
        x = np.clip(self.low + us * (self.high - self.low), self.low, self.high)
        return {name: x[:, k] for k, name in enumerate(self.names)}

    def values(self, u: np.ndarray) -> dict[str, float]:
        return {name: float(x[0]) for name, x in self.columns(u[None]).items()}

    def scaled(self, values: Mapping[str, float]) -> np.ndarray:
        x = np.array([values[name] for name in self.names])
        return np.clip((x - self.low) / (self.high - self.low), 0.0, 1.0)

    def scales(self, known: np.ndarray) -> np.ndarray:
        """Scales of the limited outputs: the distance of the limits, else their size, else the first known value."""
        found = []
        for (low, high), value in zip(self.limits.values(), known, strict=True):
            sizes = [abs(x) for x in (low, high) if np.isfinite(x) and x]
            apart = high - low if np.isfinite(high - low) and high > low else 0.0
            found.append(apart or max(sizes, default=0.0) or abs(float(value)) or 1.0)
        return np.array(found)

    def violations(self, constraints: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """Violation (…,) of the worst of (…, constraints), relative to its scale; 0 where all are met."""
        if not self.limits:
            return np.zeros(constraints.shape[:-1])
        low, high = np.array(list(self.limits.values())).T
        beyond = np.maximum(np.maximum(low - constraints, constraints - high), 0.0) / scales
        return np.asarray(np.where(beyond > FEASIBLE, beyond, 0.0).max(axis=-1))


def problem_of(objective: Any, bounds: Any, constraints: Any) -> Problem:
    """The problem as a caller gives it, checked."""
    if not isinstance(bounds, Mapping) or not bounds:
        raise StateError(f"bounds: expected {{input: (low, high)}}, got {brief(bounds)}")
    ends = np.array([_bounds(name, given) for name, given in bounds.items()])
    for label in (*bounds, *(constraints if isinstance(constraints, Mapping) else ())):
        if label in TAKEN:
            raise StateError(f"{label!r} cannot be the name of an input or an output: every history has it")
    if not isinstance(objective, str) and not callable(objective):
        raise StateError(f"objective: expected a text such as 'rms of A', or a function of a Result, got {brief(objective)}")
    name = objective if isinstance(objective, str) else getattr(objective, "__name__", "")
    if not isinstance(objective, str) and (not name.isidentifier() or name in TAKEN):
        name = "objective"
    outputs: dict[str, Quantity] = {name: objective}
    limits: dict[str, tuple[float, float]] = {}
    if constraints is not None and not isinstance(constraints, Mapping):
        raise StateError(f"constraints: expected {{output: (low, high)}}, got {brief(constraints)}")
    for label, given in (constraints or {}).items():
        quantity, limit = _constraint(label, given)
        if label == name:
            raise StateError(f"constraints: {label!r} is what the objective is called; give the function another name")
        outputs[label], limits[label] = quantity, limit
    return Problem(tuple(bounds), ends[:, 0], ends[:, 1], outputs, limits)


def _pair(what: str, given: Any, open_ends: bool) -> tuple[float, float]:
    try:
        low, high = given
        ends = (-np.inf if low is None else float(low), np.inf if high is None else float(high))
    except NOT_A_NUMBER:
        ends = (np.nan, np.nan)
    if np.isnan(ends).any() or (not open_ends and not np.isfinite(ends).all()):
        more = ", None where there is no limit" if open_ends else ""
        raise StateError(f"{what}: expected (low, high){more}, got {brief(given)}")
    return ends


def _bounds(name: object, given: Any) -> tuple[float, float]:
    if not isinstance(name, str):
        raise StateError(f"bounds: inputs are named by texts, got {brief(name)}")
    if name in WORDS or name in WHOLE:
        raise StateError(f"bounds: {name!r} is no number that can change gradually; compare its values by sharnir.study")
    low, high = _pair(f"bounds: {name!r}", given, open_ends=False)
    if not low < high:
        raise StateError(f"bounds: {name!r}: (low, high) needs low < high, got {brief(given)}")
    return low, high


def _constraint(label: object, given: Any) -> tuple[Quantity, tuple[float, float]]:
    if not isinstance(label, str):
        raise StateError(f"constraints: outputs are named by texts, got {brief(label)}")
    quantity: Quantity = label
    if isinstance(given, tuple) and len(given) == 2 and (isinstance(given[0], str) or callable(given[0])):
        quantity, given = given
    elif callable(given):
        raise StateError(f"constraints: {label!r}: say between what it must be: {{{label!r}: (function, (low, high))}}")
    low, high = _pair(f"constraints: {label!r}", given, open_ends=True)
    if low > high or not (np.isfinite(low) or np.isfinite(high)):
        raise StateError(f"constraints: {label!r}: expected low ≤ high, at least one of them a number, got {brief(given)}")
    return quantity, (low, high)


def start_of(problem: Problem, inputs: Inputs, start: Any) -> dict[str, float]:
    """The start of the search: as given, else what model and run have where that is between the bounds, else the middle."""
    if start is not None and not isinstance(start, Mapping):
        raise StateError(f"start: expected {{input: value}}, got {brief(start)}")
    for name in start or {}:
        if name not in problem.names:
            raise StateError(f"start: {no_such('input', name, problem.names)}")
    found = {}
    for name, low, high in zip(problem.names, problem.low, problem.high, strict=True):
        value = own_value(inputs, name)
        if start is not None and name in start:
            value = number(start[name], f"start: {name!r}")
            if not low <= value <= high:
                raise StateError(f"start: {name!r} = {value:g} is not between its bounds, {low:g} and {high:g}")
        found[name] = value if value is not None and low <= value <= high else 0.5 * (float(low) + float(high))
    return found


def own_value(inputs: Inputs, name: str) -> float | None:
    """Value of an input in the model as it is, or the run as it is given; None where there is none."""
    model, run = inputs.model, inputs.run
    argument, entry = inputs.places[name]
    if argument == PARAMETER:
        return float(model.parameters[entry])
    if argument == "states":
        return float((run.get("states") or {}).get(entry, model.states[entry]))
    if entry:
        names = model.q_names if argument == "q0" else model.v_names
        full = (model.coordinates if argument == "q0" else model.speeds)(run.get(argument))
        return float(np.asarray(full)[names.index(entry)])
    return float(run[argument]) if argument in run else None
