"""The motion of states as flat vectors (`model/forces/layout.py`): what rows of constraints are evaluated on, many at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..backends.grouped import GroupedCode
from ..backends.grouped_forces import flat_motion
from ..backends.loops import LoopRunner
from ..dialect.cache import Cache
from ..dialect.native import Native
from ..model.forces.layout import WIDTH
from ..model.structure import Structure
from ..programs import PROGRAMS
from .evaluation import evaluate

STATE = ("t", "q", "v", "parameter")
INTERPRETED = 60
"""Bodies up to which the kernels are interpreted: nothing to compile for a few states of a small model."""
SAMPLES = 3
"""States at which properties of rows are tried."""


class FlatMotion:
    """Of one model. Programs that give the motion of bodies: "motion", or "columns", which says more."""

    def __init__(self, structure: Structure) -> None:
        self.structure, self.layout = structure, structure.forces.layout
        self.parameters = np.array(list(structure.parameters.values()), dtype=float)
        """The model's own."""
        self.size = sum(self.layout.sizes.values())
        self._runners: dict[Any, LoopRunner] = {}

    def rows(self, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray | None = None) -> np.ndarray:
        """(n, size) from states (n, nq), (n, nv), (n,) and parameters (n or 1, …), poses and velocities of bodies included."""
        return self.found(q, v, t, parameters, "motion")[0]

    def found(
        self, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray | None, program: str
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The same, and what the program found, rows too."""
        n, sizes = len(q), self.layout.sizes
        out = np.empty((n, self.size))
        parts = {name: out[:, at : at + sizes[name]] for name, at in self.layout.at.items()}
        own = self.parameters[None] if parameters is None else parameters
        for name, x in zip(STATE, (np.reshape(t, (-1, 1)), q, v, own), strict=True):
            parts[name][:] = x
        answers = self._by_loops(parts, program) if self.structure.nb > INTERPRETED else self._interpreted(parts, program)
        for name in WIDTH:
            parts[name][:] = answers[name]
        return out, answers

    def _by_loops(self, parts: Mapping[str, np.ndarray], program: str) -> dict[str, np.ndarray]:
        runner, n = self.runner(program), len(parts["q"])
        found = {name: np.empty((n, int(np.prod(shape)))) for name, shape in runner.outputs.items()}
        runner.run(n, [np.ascontiguousarray(parts[name]) for name in runner.inputs], list(found.values()))
        return found

    def _interpreted(self, parts: Mapping[str, np.ndarray], program: str) -> dict[str, np.ndarray]:
        states = zip(*(parts[name].tolist() for name in STATE), strict=True)
        with np.errstate(all="ignore"):  # nan and inf are values, not warnings
            each = [evaluate(self.structure, program, dict(zip(STATE, x, strict=True)), float)._asdict() for x in states]
        return {name: np.array([one[name].ravel() for one in each]) for name in (each[0] if each else ())}

    def sampled(self, seed: int, low: float, high: float, at_rest: bool = False) -> np.ndarray:
        """A few flat motions: states anywhere, parameters near their values."""
        s, own, rng = self.structure, self.parameters, np.random.default_rng(seed)
        q, v, x, t = (rng.uniform(low, high, (SAMPLES, n)) for n in (s.nq, s.nv, len(own), 1))
        return self.rows(q, 0.0 * v if at_rest else v, t, own * (1.0 + 0.1 * x) + 0.01 * x)

    def chain(self, arrays: Mapping[str, np.ndarray], code: GroupedCode, store: Cache | None) -> tuple[np.ndarray, list[Native]]:
        """A flat motion, and native functions that fill it from arrays q, v, t (and parameter) of one state; poses and velocities
        of bodies (r, G, velocity) are computed where there are no arrays of them."""
        state = {"parameter": self.parameters, **arrays}
        if arrays.keys() >= WIDTH.keys():
            flat = np.zeros(self.size)
            parts = [(state[name].reshape(-1), flat[at : at + self.layout.sizes[name]]) for name, at in self.layout.at.items()]
            return flat, [code.copied(parts)]
        return flat_motion(self.layout, {name: state[name] for name in STATE}, self.runner("motion", store), code)

    def runner(self, program: str, store: Cache | None = None) -> LoopRunner:
        key = program, str((store or Cache()).folder)
        if key not in self._runners:
            self._runners[key] = LoopRunner(PROGRAMS[program], self.structure, store=store)
        return self._runners[key]
