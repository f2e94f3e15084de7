"""The forces of a model for backends that loop: machine code for each shape of force, run on all forces of that shape.

Nothing here grows with the model but arrays: of the flat motion (`model/forces/layout.py`) every force gathers what it
reads, and what it pushes is added at its places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..dialect.arithmetic import STEPPING
from ..dialect.cache import Cache
from ..dialect.jit import host_lanes
from ..dialect.native import Loop, Native, address
from ..dialect.rows import Copied, Gathered, Looked, Scattered, copy_rows, gather, look_at, scatter
from ..model.forces.groups import Group, joined
from ..model.structure import Structure
from .llvm.runner import GraphRunner
from .runner import Interface, Runner
from .traced import TracedProgram
from .user_functions import FORCE_REPORT

FEW, LONGEST = 4, 2_000
"""Groups of fewer forces are joined, up to so many operations: straight-line code, but short."""

AT_ONCE = 1 << 17
"""Numbers gathered at once: as many as the caches next to the processor hold."""


class GroupedForces:
    """Loads, energies and powers of one state or of many.

    A motion is given as rows: "t", "q", "v", one for all states or one each; "parameter" where it is not the model's.
    """

    def __init__(self, structure: Structure, bodies: Runner | None, store: Cache | None = None) -> None:
        """`bodies`: the program "motion" made ready, where forces look at bodies."""
        self.structure, self.table, self.bodies = structure, structure.forces, bodies
        self.groups = _fewer(self.table.groups)
        self._store = store or Cache()
        self._runners: dict[tuple[int, tuple[str, ...]], GraphRunner] = {}

    def loads(self, motion: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Wrenches (n, 6·bodies), the base's first, and joint forces (n, nv) of all forces together."""
        flat = self.flat(motion)
        layout = self.table.layout
        out = np.zeros((len(flat), layout.pushes))
        for group, states, (push,) in self._run(flat, "push"):
            _add(out, states, group.places, push)
        return {"wrench": out[:, : layout.load_at], "load": out[:, layout.load_at :]}

    def report(self, motion: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Stored energy and power (n, number of forces)."""
        energy, power = self._per_force(self.flat(motion), "energy", "power")
        return energy, power

    def excess(self, motion: Mapping[str, np.ndarray]) -> np.ndarray:
        """(n, number of forces): power beyond what the stored energy gives back, what a force adds or takes."""
        return self._per_force(self.flat(motion), "excess")[0]

    def ground_power(self, motion: Mapping[str, np.ndarray]) -> np.ndarray:
        """(n,): power of all forces on the ground."""
        return self._per_force(self.flat(motion), "ground")[0].sum(axis=1)

    def conservative(self, motion: Mapping[str, np.ndarray]) -> np.ndarray:
        """(number of forces): whether power and rate of the energy cancel but for rounding, at these states."""
        power, excess = self._per_force(self.flat(motion), "power", "excess")
        size = np.abs(power) + np.abs(excess - power)
        cancel = (size > 0.0) & np.isfinite(size) & (np.abs(excess) <= 1e-9 * size)  # one that does nothing proves nothing
        return cancel.all(axis=0)

    def flat(self, motion: Mapping[str, np.ndarray]) -> np.ndarray:
        """(n, size): all that forces look at, as `Layout` has it; poses and velocities of bodies are worked out here."""
        rows: dict[str, Any] = {"parameter": np.array([self.table.parameters]), **motion}
        layout, n = self.table.layout, max(len(x) for x in rows.values())
        parts = [part for part in layout.sizes if self.bodies is not None or part not in self._of_bodies]
        flat = np.empty((n, sum(layout.sizes[part] for part in parts)))
        for part in parts:
            if part in rows:
                flat[:, layout.at[part] : layout.at[part] + layout.sizes[part]] = rows[part].reshape(len(rows[part]), -1)
        if self.bodies is not None and not rows.keys() >= self._of_bodies:
            found = {part: np.empty((n, layout.sizes[part])) for part in self.bodies.outputs}
            self.bodies.run(n, [np.ascontiguousarray(rows[name]) for name in self.bodies.inputs], list(found.values()))
            for part, x in found.items():
                flat[:, layout.at[part] : layout.at[part] + layout.sizes[part]] = x
        return flat

    # --- one state, without Python ------------------------------------------------------------------------------------------
    def chain(self, arrays: Mapping[str, np.ndarray], answers: Mapping[str, np.ndarray]) -> list[Native]:
        """Native functions for one state in arrays by name (t, q, v, parameter). `answers`: where to put "push" (wrenches
        and joint forces, as `Layout` has them), "excess", "power", "energy" or "ground" (one number for each force)."""
        layout = self.table.layout
        given = {"parameter": np.array(self.table.parameters, dtype=float), **arrays}
        flat = np.zeros(sum(layout.sizes.values()) if self.bodies is not None else layout.at["r"])
        parts = {part: flat[at : at + layout.sizes[part]] for part, at in layout.at.items()}
        out = [self._copied([(given[part], parts[part]) for part in ("t", "q", "v", "parameter")])]
        if self.bodies is not None:
            out += self.bodies.chain({**arrays} | {part: parts[part] for part in self._of_bodies})
        zeros = np.zeros(max(x.size for x in answers.values()))
        out.append(self._copied([(zeros[: x.size], x) for x in answers.values()]))
        for g, group in enumerate(self.groups):
            out += self._bound(g, group, flat, answers)
        return out

    def _bound(self, g: int, group: Group, flat: np.ndarray, answers: Mapping[str, np.ndarray]) -> list[Native]:
        n, shape = len(group.force), group.shape
        lanes = host_lanes() if n >= host_lanes() else 1
        found = {name: np.zeros((n, len(shape.outputs[name]))) for name in answers}
        reads = np.zeros(group.reads.shape)
        bound = self._runner(g, tuple(answers)).bind({"read": reads, "number": group.numbers, **found}, n, lanes)
        first = self._loop(gather, Gathered).bind(Gathered(flat, group.reads.ravel(), reads.ravel()))
        places = {name: group.places if name == "push" else group.force for name in answers}
        last = [
            self._loop(scatter, Scattered).bind(Scattered(found[name].ravel(), places[name].ravel(), target))
            for name, target in answers.items()
            if found[name].size
        ]
        return [first, bound, *last]

    def _copied(self, pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> Native:
        rows = np.array([(address(x), address(y), x.size) for x, y in pairs], dtype=np.int64)
        native = self._loop(copy_rows, Copied).bind(Copied(rows))
        native.keep(pairs)
        return native

    def _loop(self, entry: Any, group: Any) -> Loop:
        return Loop(entry, (group,), STEPPING, store=self._store)

    _of_bodies = frozenset(("r", "G", "velocity"))

    def _per_force(self, flat: np.ndarray, *answers: str) -> list[np.ndarray]:
        out = [np.zeros((len(flat), len(self.table))) for _ in answers]
        for group, states, values in self._run(flat, *answers):
            for y, x in zip(out, values, strict=True):
                _add(y, states, group.force, x)
        return out

    def _run(self, flat: np.ndarray, *answers: str) -> Iterator[tuple[Group, slice, list[np.ndarray]]]:
        """Every group on some states at a time, its answers as (states, forces, numbers)."""
        for g, group in enumerate(self.groups):
            runner = self._runner(g, answers)
            n, sizes = len(group.force), [len(group.shape.outputs[name]) for name in answers]
            step = max(1, AT_ONCE // (n * (group.reads.shape[1] + group.numbers.shape[1] + sum(sizes) + 1)))
            for first in range(0, len(flat), step):
                states = slice(first, min(first + step, len(flat)))
                m = states.stop - first
                reads = np.take(flat[states], group.reads, axis=1).reshape(m * n, -1)
                numbers = group.numbers if m == 1 else np.tile(group.numbers, (m, 1))
                values = [np.empty((m * n, size)) for size in sizes]
                runner.run(m * n, [reads, numbers], values)
                yield group, states, [x.reshape(m, n, -1) for x in values]

    def _runner(self, g: int, answers: tuple[str, ...]) -> GraphRunner:
        if (g, answers) not in self._runners:
            shape = self.groups[g].shape
            outputs = {name: shape.outputs[name] for name in answers}
            traced = TracedProgram(shape.graph, {"read": shape.reads, "number": shape.numbers}, outputs)
            self._runners[g, answers] = GraphRunner(traced, store=self._store)
        return self._runners[g, answers]


def _fewer(groups: Sequence[Group]) -> list[Group]:
    out = [group for group in groups if len(group.force) >= FEW]
    few: list[Group] = []
    size = 0
    for group in groups:
        if len(group.force) < FEW:
            few.append(group)
            size += len(group.force) * len(group.shape.graph.nodes)
            if size > LONGEST:
                out.append(joined(few))
                few, size = [], 0
    return out + ([joined(few)] if few else [])


def _add(out: np.ndarray, states: slice, places: np.ndarray, values: np.ndarray) -> None:
    """values (states, forces, k) added at places (forces, k) of every row of `out`: also where several push the same."""
    m, size = states.stop - states.start, out.shape[1]
    where = places.ravel() + size * np.arange(m)[:, None]
    out[states] += np.bincount(where.ravel(), values.ravel(), m * size).reshape(m, size)


def finite(arrays: Mapping[str, np.ndarray], runner: Interface) -> list[Native]:
    """Where there is an array `check`: it becomes 0 if all numbers that go in and come out are finite, else nan."""
    if "check" not in arrays:
        return []
    looked = [arrays[name] for name in (*runner.inputs, *runner.outputs)]
    rows = np.array([(address(x), x.size) for x in looked], dtype=np.int64).reshape(-1, 2)
    native = Loop(look_at, (Looked,), STEPPING).bind(Looked(rows, arrays["check"]))
    native.keep(looked)
    return [native]


class ReportRunner(Interface):
    """The program "forces", energies and powers, by groups."""

    def __init__(self, structure: Structure, forces: GroupedForces, only: tuple[str, ...] = ()) -> None:
        super().__init__(FORCE_REPORT, structure, only=only)
        self.forces = forces

    def chain(self, arrays: Mapping[str, np.ndarray]) -> list[Native]:
        """Without a check of what went in: a number that is not finite shows in what comes out."""
        found = {name: arrays[name] for name in self.outputs}
        return [*self.forces.chain({name: arrays[name] for name in ("t", "q", "v")}, found), *finite(arrays, self)]

    def run(self, n: int, inputs: Any, outputs: Any, threads: int = 1) -> None:
        found = dict(zip(("energy", "power"), self.forces.report(dict(zip(self.inputs, inputs, strict=True))), strict=True))
        for name, y in zip(self.outputs, outputs, strict=True):
            y[:] = found[name]
