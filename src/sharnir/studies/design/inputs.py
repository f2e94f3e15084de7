"""Meaning of the inputs of a study: numbers of the model, parts of the start, joint forces, options of a run."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ModelError, StateError, brief, choices, no_such, suggestion
from ...model.element import described
from ...model.model import Model
from ...model.settings import SimulationSettings
from ...model.values import ByName, Choice, Kind, Scalar, ScalarOrVector, State, Text, Whole
from ...simulation.run.rollout import rollout
from ...simulation.run.simulate import simulate
from .designs import ArgumentError, Columns

PARAMETER = "parameters"


def _settings(*kinds: type[Kind]) -> tuple[str, ...]:
    """Arguments of `simulate` of these kinds; `every` sets which rows there are, and is the same for all runs."""
    return tuple(one.name for one in described(SimulationSettings) if isinstance(one.kind, kinds) and one.name != "every")


NUMBERS, WORDS = _settings(Scalar, ScalarOrVector, Whole), _settings(Text, Choice)
"""Options of a run that may be inputs."""
WHOLE = _settings(Whole)
PARTS = _settings(State, ByName)
"""Arguments of which an input may be one number, by name: "q0.joint"."""

SIMULATE = tuple(inspect.signature(simulate).parameters)[1:]
ROLLOUT = tuple(inspect.signature(rollout).parameters)[1:]
NOT_HERE = {
    "save": "a study has a store",
    "progress": "it is an option of the study",
    "on_failure": "a run that fails is a row of the dataset",
    "threads": "it is an option of the study",
}
LANES = ("rk4", "euler")
"""Integrators of rollouts, whose runs go side by side."""


class Inputs:
    """Turns values of inputs into arguments of a run. `model`: a copy, with a parameter for every number that varies."""

    def __init__(self, model: Model, names: Sequence[str], run: Mapping[str, Any] | None) -> None:
        self.model, self.names = model.copy(), tuple(names)
        self.run = dict(run or {})
        self._check_run()
        self.places = {name: self._place(name) for name in names}
        """Where each goes: (argument, entry), or (argument, "") where it is the argument."""
        base = self.run.get(PARAMETER)
        for name, (argument, entry) in self.places.items():
            if argument == PARAMETER and isinstance(base, Mapping) and entry in base:
                raise ArgumentError(f"{name!r} is an input and in run['parameters'] too; leave it out of one", "over")
            if not entry and argument in self.run and argument not in ("step", "integrator"):
                raise ArgumentError(f"{name!r} is an input and in `run` too; leave it out of one", "over")
        if not {"duration", "steps"} & {*self.run, *(argument for argument, _ in self.places.values())}:
            raise StateError("run: it needs a duration, such as run=dict(duration=1.0)")

    def _check_run(self) -> None:
        for name in self.run:
            if name in NOT_HERE:
                raise StateError(f"run: {name!r} cannot be given: {NOT_HERE[name]}")
            if name not in SIMULATE and name not in ROLLOUT:
                raise StateError(f"run: {no_such('argument', name, SIMULATE, 'arguments of simulate')}")

    def check(self, rows: Columns) -> None:
        """Check that inputs that are words have words, the others numbers."""
        for name, values in rows.items():
            wants_words = self.places[name][0] in WORDS and not self.places[name][1]
            if wants_words != (values.dtype.kind == "U"):
                wanted = "words" if wants_words else "numbers"
                raise ArgumentError(f"expected {wanted}, got {brief(values[0])}", "over", name)

    def _place(self, name: str) -> tuple[str, str]:
        model = self.model
        if name.startswith(f"{PARAMETER}."):
            return PARAMETER, self._parameter(name.removeprefix(f"{PARAMETER}."), name)
        if name in model.parameters:
            return PARAMETER, name
        if name in NUMBERS or name in WORDS:
            return name, ""
        part, _, entry = name.partition(".")
        if part in PARTS and entry:
            known = {"q0": model.q_names, "v0": model.v_names, "tau": model.v_names, "states": list(model.states)}[part]
            if entry not in known:
                why = model.structure.why_cut(entry) if part in ("q0", "v0") else ""
                if why:
                    raise ArgumentError(why, "over", name)
                raise ArgumentError(
                    f"nothing is called {name!r}; {choices(name, [f'{part}.{x}' for x in known], 'choices')}", "over"
                )
            if callable(self.run.get("tau")) and part == "tau":
                raise ArgumentError("joint forces are given by a function; let a parameter of it vary", "over", name)
            return part, entry
        return PARAMETER, self._parameter(name, name)

    def _parameter(self, path: str, name: str) -> str:
        """Make a number of the model a parameter."""
        if path not in self.model.parameters:
            try:
                self.model.make_parameter(path)
            except ModelError as error:
                near = suggestion(path, list(self.model.parameters))
                why = f"no parameter {path!r}; {near.strip()}" if near else f"{str(error).removeprefix(f'{path!r}: ')}."
                raise ArgumentError(
                    f"{why} An input is also 'q0.joint', 'v0.joint', 'tau.joint', 'states.name', or one of "
                    f"{', '.join((*NUMBERS, *WORDS))}",
                    "over",
                    name,
                ) from None
        return path

    @property
    def on_lanes(self) -> bool:
        """Whether runs have fixed steps and nothing that belongs to one motion alone: then they go side by side."""
        given = {*self.run, *(argument for argument, _ in self.places.values())}
        name = self.run.get("integrator", "rk4")
        if "step" not in given or "integrator" in (argument for argument, _ in self.places.values()):
            return False
        return name in LANES and all(argument in ROLLOUT for argument in given)

    @property
    def varied_options(self) -> tuple[str, ...]:
        """Inputs that are arguments themselves: runs side by side have these in common."""
        return tuple(name for name, (_, entry) in self.places.items() if not entry)

    def arguments(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of the run with these inputs."""
        out = dict(self.run)
        entries: dict[str, dict[str, Any]] = {}
        for name, value in row.items():
            argument, entry = self.places[name]
            if entry:
                entries.setdefault(argument, {})[entry] = float(value)
            else:
                if argument in WHOLE and value != int(value):
                    raise ArgumentError(f"expected whole numbers, got {value:g}", "over", name)
                out[argument] = str(value) if argument in WORDS else int(value) if argument in WHOLE else float(value)
        for argument, values in entries.items():
            out[argument] = self.merged(argument, values)
        if "step" in out and "integrator" not in out:
            out["integrator"] = LANES[0]
        return out

    def merged(self, argument: str, values: dict[str, Any]) -> Any:
        """An argument as `run` gives it, with some of its entries replaced."""
        base = self.run.get(argument)
        if base is None or isinstance(base, Mapping):
            return {**(base or {}), **values}
        names = self.model.q_names if argument == "q0" else self.model.v_names
        full = np.array(base, dtype=float)
        for entry, value in values.items():
            full[..., names.index(entry)] = value
        return full


def checked_run(run: Any) -> Mapping[str, Any]:
    if run is not None and not isinstance(run, Mapping):
        raise StateError(f"run: expected the arguments of simulate or rollout, such as dict(duration=1.0), got {brief(run)}")
    return run or {}


def in_one_line(text: str) -> str:
    """A text on one line, as messages of rows are."""
    return " ".join(text.split())
