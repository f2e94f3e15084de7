"""Inputs of runs side by side: the arguments they have in common, and arrays with a row for each run of what differs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...equations.assembly.many_starts import assembled_starts
from ...equations.assembly.start import Asked, as_guess
from ...equations.motion.retraction import normalized_start
from ...errors import AssemblyError
from ...integrate.trajectory import in_words
from ...model.states import check_state, check_tau
from ...simulation.run.checks import number, values_of
from ...simulation.run.runs import Runs
from .designs import Columns
from .inputs import Inputs, in_one_line


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
