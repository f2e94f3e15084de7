"""Inputs of a study: what each stands for, from its values to the arguments of a run, or of many runs side by side."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...analysis.arguments import unit_of_force
from ...equations.assembly.many_starts import assembled_starts
from ...equations.assembly.start import Asked, as_guess
from ...equations.motion.retraction import normalized_start
from ...errors import AssemblyError, ModelError, StateError, brief, choices, no_such, suggestion
from ...integrate.trajectory import in_words
from ...model.element import described
from ...model.model import Model
from ...model.parameter_paths import unit_of
from ...model.settings import SimulationSettings
from ...model.states import check_state, check_tau
from ...model.values import ByName, Choice, Kind, Scalar, ScalarOrVector, State, Text, Whole
from ...simulation.results.joint_motion import COORDINATE, SPEED, columns
from ...simulation.run.checks import number, values_of
from ...simulation.run.rollout import rollout
from ...simulation.run.runs import Runs
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
        for name in self.run:
            if name in NOT_HERE:
                raise StateError(f"run: {name!r} cannot be given: {NOT_HERE[name]}")
            if name not in SIMULATE and name not in ROLLOUT:
                raise StateError(f"run: {no_such('argument', name, SIMULATE, 'arguments of simulate')}")
        self.places = {name: self._place(name) for name in names}
        """Where each goes: (argument, entry), or (argument, "") where it is the argument."""
        base = self.run.get(PARAMETER)
        for name, (argument, entry) in self.places.items():
            if argument == PARAMETER and isinstance(base, Mapping) and entry in base:
                raise ArgumentError(f"{name!r} is an input and in run['parameters'] too; leave it out of one", "over")
            if not entry and argument in self.run and argument not in ("step", "integrator"):
                raise ArgumentError(f"{name!r} is an input and in `run` too; leave it out of one", "over")
        self._given = {*self.run, *(argument for argument, _ in self.places.values())}
        if not {"duration", "steps"} & self._given:
            raise StateError("run: it needs a duration, such as run=dict(duration=1.0)")

    def check(self, rows: Columns) -> None:
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
                if why := model.structure.why_cut(entry) if part in ("q0", "v0") else "":
                    raise ArgumentError(why, "over", name)
                near = choices(name, [f"{part}.{x}" for x in known], "choices")
                raise ArgumentError(f"nothing is called {name!r}; {near}", "over")
            if callable(self.run.get("tau")) and part == "tau":
                raise ArgumentError("joint forces are given by a function; let a parameter of it vary", "over", name)
            return part, entry
        return PARAMETER, self._parameter(name, name)

    def _parameter(self, path: str, name: str) -> str:
        if path not in self.model.parameters:
            try:
                self.model.make_parameter(path)
            except ModelError as error:
                near = suggestion(path, list(self.model.parameters))
                why = f"no parameter {path!r}; {near.strip()}" if near else f"{str(error).removeprefix(f'{path!r}: ')}."
                able = f"'q0.joint', 'v0.joint', 'tau.joint', 'states.name', or one of {', '.join((*NUMBERS, *WORDS))}"
                raise ArgumentError(f"{why} An input is also {able}", "over", name) from None
        return path

    @property
    def units(self) -> dict[str, str]:
        """Units of inputs, where the model or the option says them."""
        m = self.model
        orders = (("q0", COORDINATE), ("v0", SPEED))
        known = {f"{part}.{c.name}": c.unit for part, order in orders for j in m.joints for c in columns(m, j, order)}
        known |= {f"tau.{name}": unit_of_force(m, k) for k, name in enumerate(m.v_names)}
        known |= {f"states.{name}": unit for name, unit in m.structure.units_of_states.items()}
        known |= {one.name: one.unit for one in described(SimulationSettings)}
        return {name: unit_of(m, to) if at == PARAMETER else known.get(name, "") for name, (at, to) in self.places.items()}

    @property
    def on_lanes(self) -> bool:
        """Whether runs have fixed steps and nothing that belongs to one motion alone: then they go side by side."""
        if "step" not in self._given or "integrator" in (argument for argument, _ in self.places.values()):
            return False
        return self.run.get("integrator", "rk4") in LANES and self._given <= {*ROLLOUT}

    @property
    def varied_options(self) -> tuple[str, ...]:
        """Inputs that are arguments themselves: runs side by side have these in common."""
        return tuple(name for name, (_, entry) in self.places.items() if not entry)

    def arguments(self, row: Mapping[str, Any]) -> dict[str, Any]:
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
    return " ".join(text.split())


class Refused(AssemblyError):
    """Some of the runs cannot begin: {number: why}."""

    def __init__(self, words: dict[int, str]) -> None:
        super().__init__(next(iter(words.values())))
        self.words = words


class ManyInputs:
    """Arguments of the runs with these inputs, which have all options in common."""

    def __init__(self, inputs: Inputs, rows: Columns) -> None:
        self._inputs, self.model, self.n = inputs, inputs.model, len(next(iter(rows.values())))
        self.arguments = inputs.arguments({name: x[0] for name, x in rows.items()})
        """Arguments that all runs have in common."""
        self.entries: dict[str, dict[str, np.ndarray]] = {}
        """Entries that differ: by argument and entry, a number for each run."""
        for name, x in rows.items():
            argument, entry = inputs.places[name]
            if entry:
                self.arguments[argument] = inputs.run.get(argument)
                self.entries.setdefault(argument, {})[entry] = np.asarray(x, dtype=float)

    def values(self) -> np.ndarray:
        """Values (n, P): parameters, then states of forces."""
        one = values_of(self.model, self.arguments.get("parameters"), self.arguments.get("states"))
        return self._filled(one, list(self.model.structure.parameters), "parameters", "states")

    def tau(self) -> np.ndarray:
        """Joint forces (n, nv)."""
        return self._filled(check_tau(self.model, self.arguments.get("tau")), self.model.v_names, "tau")

    def starts(self, runs: Runs, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Starts (n, nq), (n, nv), as `simulate` finds them: what is given by name is held while loops are closed."""
        model, t0, fixed = self.model, number(self.arguments.get("t0", 0.0), "t0"), self.arguments.get("fixed")
        q0, v0 = self._first("q0"), self._first("v0")
        asked = q0, v0, fixed = as_guess(model, q0, v0, fixed, self.arguments.get("nearest", False))
        one = check_state(model, q0, v0, t0)
        q, v = self._filled(one[0], model.q_names, "q0"), self._filled(one[1], model.v_names, "v0")
        if runs.d.constrained is None:
            runs.start(asked, t0, values[0])  # raises where something is wrong with it
            return normalized_start(model, q, t0), v
        found = assembled_starts(model, q, v, t0, runs.d.constrained.table, values, Asked.by(q0, v0, fixed))
        if found.refused:
            raise Refused({k: in_one_line(in_words(error)) for k, error in found.refused.items()})
        return found.q, found.v

    def _first(self, argument: str) -> Any:
        """Argument of the first run, as `simulate` would take it."""
        own = {entry: float(x[0]) for entry, x in self.entries.get(argument, {}).items()}
        return self._inputs.merged(argument, own) if own else self.arguments.get(argument)

    def _filled(self, one: np.ndarray, names: list[str], *arguments: str) -> np.ndarray:
        """`one` repeated for every run, with the entries that differ set."""
        out = np.tile(one, (self.n, 1))
        for argument in arguments:
            for entry, x in self.entries.get(argument, {}).items():
                out[:, names.index(entry)] = x
        return out
