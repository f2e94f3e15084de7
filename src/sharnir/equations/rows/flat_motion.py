"""The motion of states as flat vectors (`model/forces/layout.py`): what rows of constraints are evaluated on, many at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...backends.grouped import GroupedCode
from ...backends.grouped_forces import flat_motion
from ...backends.loops import LoopRunner
from ...backends.run import evaluate
from ...dialect.cache import Cache
from ...dialect.native import Native
from ...model.forces.layout import WIDTH
from ...model.structure import Structure
from ...programs import PROGRAMS
from ...trace import generic_functions
from ...trace.generic import Generic

STATE = ("t", "q", "v", "parameter")
INTERPRETED = 60
"""Bodies up to which the kernels are interpreted: nothing to compile for a few states of a small model."""
SAMPLES = 3
"""Generic states by which identities are decided: each of them shows with probability one what is not identically zero."""


class GenericMotion(NamedTuple):
    """Flat motions (n, size), and the sizes of what their numbers were computed from."""

    flat: np.ndarray
    sizes: np.ndarray

    def at(self, places: np.ndarray, decides: bool = False) -> list[Generic]:
        """The numbers at places (members, reads): for every read (n, members)."""
        return [Generic(self.flat[:, at], self.sizes[:, at], decides) for at in places.T]


class FlatMotion:
    """Flat motions of one model, by the program "motion", or by one that computes more."""

    def __init__(self, structure: Structure) -> None:
        self.structure, self.layout = structure, structure.forces.layout
        self.parameters = np.array(list(structure.parameters.values()), dtype=float)
        """The model's own."""
        self.size = sum(self.layout.sizes.values())
        self._runners: dict[tuple[str, Cache], LoopRunner] = {}

    def rows(self, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray | None = None) -> np.ndarray:
        """(n, size) from states (n, nq), (n, nv), (n,) and parameters (n or 1, …), poses and velocities of bodies included."""
        return self.found(q, v, t, parameters, "motion")[0]

    def found(
        self, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray | None, program: str
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """`rows`, and what the program found, rows too."""
        n, sizes = len(q), self.layout.sizes
        out = np.empty((n, self.size))
        parts = {name: out[:, at : at + sizes[name]] for name, at in self.layout.at.items()}
        own = self.parameters[None] if parameters is None else parameters
        for name, x in zip(STATE, (np.reshape(t, (-1, 1)), q, v, own), strict=True):
            parts[name][:] = x
        if self.structure.nb > INTERPRETED:
            answers = self._by_loops(parts, self.runner(program))
        else:
            answers = self._interpreted({name: parts[name] for name in STATE}, program)
        for name in WIDTH:
            parts[name][:] = answers[name]
        return out, answers

    def _by_loops(self, parts: Mapping[str, np.ndarray], runner: LoopRunner) -> dict[str, np.ndarray]:
        n = len(parts["q"])
        found = {name: np.empty((n, int(np.prod(shape)))) for name, shape in runner.outputs.items()}
        runner.run(n, [np.ascontiguousarray(parts[name]) for name in runner.inputs], list(found.values()))
        return found

    def _interpreted(self, parts: Mapping[str, np.ndarray], program: str) -> dict[str, np.ndarray]:
        states = zip(*(parts[name].tolist() for name in parts), strict=True)
        with np.errstate(all="ignore"):  # nan and inf are values, not warnings
            each = [evaluate(self.structure, program, dict(zip(parts, x, strict=True)), float)._asdict() for x in states]
        return {name: np.array([one[name].ravel() for one in each]) for name in (each[0] if each else ())}

    def generic(self, at_rest: bool = False, parameters: Sequence[float] | None = None) -> GenericMotion:
        """The motion at generic states: coordinates, speeds and time anywhere, parameters near their values, or as given. What
        moves as a given function moves somehow, whatever that function does at these times (`trace/generic.py`)."""
        s, rng = self.structure, np.random.default_rng(11)
        q, v = (rng.uniform(-1.0, 1.0, (SAMPLES, n)) for n in (s.nq, s.nv))
        near = parameters_near(s, rng, SAMPLES) if parameters is None else np.tile(parameters, (SAMPLES, 1))
        state = dict(zip(STATE, (rng.uniform(0.5, 1.5, (SAMPLES, 1)), q, 0.0 * v if at_rest else v, near), strict=True))
        with generic_functions():
            if s.nb > INTERPRETED:
                each = [self._moved({name: x[k : k + 1] for name, x in state.items()}) for k in range(SAMPLES)]
                answers = {name: np.concatenate([one[name] for one in each]) for name in WIDTH}
            else:
                answers = self._interpreted(state, "motion")
        flat = np.concatenate([(state | answers)[name] for name in self.layout.sizes], axis=1)
        return GenericMotion(flat, self._sizes(flat))

    def _moved(self, state: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """One state by loops, with functions of the user's evaluated here."""
        t, q, v, parameters = (state[name][0].tolist() for name in STATE)
        drive, given = self.structure.user_functions(q, v, t[0], parameters)
        moved = {"drive": [x for row in drive for x in row], "given": given}
        return self._by_loops(state, LoopRunner(PROGRAMS["motion"], self.structure, moved))

    def _sizes(self, flat: np.ndarray) -> np.ndarray:
        """The sizes of what the numbers of a motion were computed from: of places and velocities of bodies the largest on the way
        to them."""
        sizes = np.abs(flat)
        at, n = self.layout.at, len(flat)
        r, G, velocity = (sizes[:, at[name] : at[name] + self.layout.sizes[name]].reshape(n, -1, k) for name, k in WIDTH.items())
        spin = velocity[:, :, 3:].max(axis=2)
        way = np.stack([r.max(axis=2), velocity[:, :, :3].max(axis=2) + spin * r.max(axis=2), spin], axis=2)
        for row, carrier in enumerate(self.structure.carrier.tolist()):
            np.maximum(way[:, row], way[:, carrier], out=way[:, row])
        r[:], G[:], velocity[:] = way[:, :, :1], 1.0, way[:, :, 1:].repeat(3, axis=2)
        return sizes

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
        key = program, store or Cache()
        if key not in self._runners:
            self._runners[key] = LoopRunner(PROGRAMS[program], self.structure, store=store)
        return self._runners[key]


def parameters_near(structure: Structure, rng: np.random.Generator, n: int) -> np.ndarray:
    """(n, P): near the values of the model, none of them zero."""
    own, x = np.array(list(structure.parameters.values()), dtype=float), rng.uniform(0.5, 1.0, (n, len(structure.parameters)))
    return own * (1.0 + 0.1 * x) + 0.01 * x
