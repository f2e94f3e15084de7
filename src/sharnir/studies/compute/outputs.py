"""Outputs of every run: ready reductions of quantities by name, and functions of the `Result`.

A reduction is "<word> of <quantity>", the quantity as `Result.plot` takes it: "final of piston.x", "max of reaction of B.F".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import StateError, brief, suggestion
from ...model.model import Model
from ...simulation.results.lines import Line
from ...simulation.results.named_motion import NamedMotion
from ...simulation.results.quantities import understood
from ...simulation.results.result import Result
from ..design.designs import RESERVED, ArgumentError

Reduction = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Times (T,) and values (…, T) -> (…,)."""


def _mean(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Mean over time, by the trapezoidal rule."""
    return np.trapezoid(x, t, axis=-1) / (t[-1] - t[0]) if len(t) > 1 and t[-1] != t[0] else x[..., -1]


REDUCTIONS: dict[str, tuple[Reduction, str]] = {
    "final": (lambda t, x: x[..., -1], "{}"),
    "initial": (lambda t, x: x[..., 0], "{}"),
    "max": (lambda t, x: x.max(axis=-1), "{}"),
    "min": (lambda t, x: x.min(axis=-1), "{}"),
    "peak": (lambda t, x: np.abs(x).max(axis=-1), "{}"),
    "range": (lambda t, x: x.max(axis=-1) - x.min(axis=-1), "{}"),
    "mean": (_mean, "{}"),
    "rms": (lambda t, x: np.sqrt(_mean(t, x * x)), "{}"),
    "integral": (lambda t, x: np.trapezoid(x, t, axis=-1), "{} s"),
    "time of max": (lambda t, x: t[x.argmax(axis=-1)], "s"),
    "time of min": (lambda t, x: t[x.argmin(axis=-1)], "s"),
}
"""Reductions by their word, each with its unit, where {} is that of the quantity."""

MOTION, EVENT_TIME, EVENT_COUNT = "motion", "time of event ", "count of event "
NONE = {"work": ": nothing adds or removes energy, or they keep no account of it, as rollouts (run=dict(step=…)) do not"}
OF_ONE = ("work", "defect")
"""Quantities that many runs side by side have no account of."""


@dataclass
class Shape:
    """Dimensions and units of one output, the same in all runs."""

    dims: tuple[str, ...] = ()
    """Dimensions after that of the runs."""
    sizes: tuple[int, ...] = ()
    coords: dict[str, list[Any]] = field(default_factory=dict)
    """Labels along the dimensions."""
    units: str = ""


class Output:
    """One variable of the dataset. `shape` is known once one run has been reduced."""

    needs_rows = True
    """Whether it reads more than the end of a motion."""
    of_motions = False
    """Whether it reads nothing but the rows of a motion."""
    of_accelerations = False
    """Whether it reads accelerations."""

    def __init__(self, name: str) -> None:
        self.name, self.shape = name, Shape()

    def of_one(self, r: Result) -> np.ndarray:
        raise NotImplementedError

    def of_many(self, r: NamedMotion) -> np.ndarray | None:
        """Values (B, …) for motions side by side; None where it takes them one by one."""
        return None


class Reduced(Output):
    def __init__(self, name: str, text: str, word: str, model: Model) -> None:
        super().__init__(name)
        self.word, self._quantity_name = word, text[len(word) + 4 :]
        self._quantity = understood(model, self._quantity_name)
        self.needs_rows = word != "final"
        self.of_motions = self._quantity_name not in OF_ONE
        self.of_accelerations = self._quantity_name.startswith("acceleration of ")
        self.times: np.ndarray | None = None
        """Times of a run that comes to its end, where they are known, for outputs that are motions."""

    def of_one(self, r: Result) -> np.ndarray:
        return self._reduced(r.t, self._quantity(r))

    def of_many(self, r: NamedMotion) -> np.ndarray | None:
        return None if not self.of_motions else self._reduced(r.t, self._quantity(r))

    def _whole(self, t: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Times and values, with nan after the end of a run that ended early."""
        if self.times is None or np.array_equal(t, self.times):
            return t, values
        full = np.full((*values.shape[:-1], len(self.times)), np.nan)
        known = np.isin(t, self.times)
        full[..., np.searchsorted(self.times, t[known])] = values[..., known]
        return self.times, full

    def _reduced(self, t: np.ndarray, lines: Sequence[Line]) -> np.ndarray:
        if not lines:
            raise StateError(f"there is no {self._quantity_name} in these runs{NONE.get(self._quantity_name, '')}")
        # (…, lines, T), one time after the other: the order of a sum does not depend on how many runs there are
        values = np.ascontiguousarray(np.stack([line.values for line in lines], axis=-2))
        coords: dict[str, list[Any]] = {}
        if self.word == MOTION:
            t, values = self._whole(t, values)
            found, unit, coords["time"] = np.moveaxis(values, -2, -1), "{}", t.tolist()
        else:
            reduction, unit = REDUCTIONS[self.word]
            found = reduction(t, values)
        if len(lines) == 1:
            found = found[..., 0]
        else:
            coords[f"{self.name}.part"] = [line.label for line in lines]
        units = {line.unit for line in lines}
        sizes = found.shape[found.ndim - len(coords) :]
        self.shape = Shape(tuple(coords), sizes, coords, unit.format(units.pop()).strip() if len(units) == 1 else "")
        return found


class Final(Output):
    """All coordinates, or all speeds, at the end."""

    needs_rows, of_motions = False, True

    def __init__(self, name: str, model: Model) -> None:
        super().__init__(name)
        labels = model.q_names if name == "q" else model.v_names
        dim = "coordinate" if name == "q" else "speed"
        self.shape = Shape((dim,), (len(labels),), {dim: list(labels)})

    def of_one(self, r: Result) -> np.ndarray:
        return np.asarray(getattr(r, self.name)[-1])

    def of_many(self, r: NamedMotion) -> np.ndarray:
        return np.asarray(getattr(r, self.name)[..., -1, :])


class Events(Output):
    """When an event took place first (nan: never), or how often."""

    def __init__(self, name: str, event: str, counts: bool) -> None:
        super().__init__(name)
        self.event, self.counts = event, counts
        self.shape = Shape(units="1" if counts else "s")

    def of_one(self, r: Result) -> np.ndarray:
        times = [e.t for e in r.events if e.name == self.event]
        return np.array(float(len(times)) if self.counts else times[0] if times else np.nan)


class Function(Output):
    """A function of a `Result`: one number, or an array of the same shape for every run."""

    def __init__(self, name: str, f: Callable[[Result], Any]) -> None:
        super().__init__(name)
        self.f, self._known = f, False

    def of_one(self, r: Result) -> np.ndarray:
        found = np.asarray(self.f(r))
        if found.dtype.kind not in "fiub":
            raise StateError(f"it must return a number or an array of numbers, got {brief(found)}")
        dims = tuple(f"{self.name}.{k}" for k in range(found.ndim))
        if not self._known:
            self.shape, self._known = Shape(dims, found.shape), True
        elif self.shape.sizes != found.shape:
            raise StateError(f"it returned an array of shape {found.shape}, of another run {self.shape.sizes}")
        return found.astype(float)


def outputs_of(model: Model, outputs: Any, events: Sequence[str]) -> list[Output]:
    """Outputs as a caller gives them: {name: text or function}, a list of texts, or None for where the motion ends."""
    if outputs is None:
        return [Final("q", model), Final("v", model)]
    if isinstance(outputs, str) or callable(outputs):
        outputs = [outputs]
    if isinstance(outputs, Sequence):
        outputs = {x if isinstance(x, str) else getattr(x, "__name__", "output"): x for x in outputs}
    if not isinstance(outputs, Mapping) or not outputs:
        raise ArgumentError(f"expected {{name: reduction or function}}, got {brief(outputs)}", "outputs")
    found = []
    for name, given in outputs.items():
        if not isinstance(name, str) or not name or "/" in name or name[0] == "." or name in (*RESERVED, "time"):
            raise ArgumentError(f"{brief(name)} cannot be the name of an output", "outputs")
        found.append(_output(name, given, model, events))
    return found


def _output(name: str, given: Any, model: Model, events: Sequence[str]) -> Output:
    if callable(given):
        return Function(name, given)
    if not isinstance(given, str):
        what = f"expected a function of a Result, or a text such as 'final of A', got {brief(given)}"
        raise ArgumentError(what, "outputs", name)
    for prefix, counts in ((EVENT_TIME, False), (EVENT_COUNT, True)):
        if given.startswith(prefix):
            event = given.removeprefix(prefix)
            if event not in events:
                there = f"the events of the run are {', '.join(map(repr, events))}" if events else "the run has none with a name"
                raise ArgumentError(f"no event {event!r}; {there}", "outputs", name)
            return Events(name, event, counts)
    words = (*REDUCTIONS, MOTION)
    for word in words:
        if given.startswith(f"{word} of "):
            try:
                return Reduced(name, given, word, model)
            except StateError as error:
                raise ArgumentError(str(error), "outputs", name) from None
    hint = suggestion(given.partition(" of ")[0], words)
    able = f"'<reduction> of <quantity>' with {', '.join(words)}; 'time of event NAME', 'count of event NAME'"
    advice = f"{f'{hint}Give' if hint else 'give'} {able}; or a function of a Result"
    raise ArgumentError(f"{given!r} is no reduction; {advice}", "outputs", name)
