"""A program as compiled loops, for models of any size, one state or lanes of them; model data that depend on parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from ..dialect.arithmetic import STEPPING, Options
from ..dialect.cache import Cache
from ..dialect.double_double_code import PAIRS
from ..dialect.jit import host_lanes, in_background
from ..dialect.kernels.batch import Batch, run_batch
from ..dialect.kernels.rows import Copied, Scattered, copy_rows, scatter
from ..dialect.native import Loop, Native, address, bind_kernel, calls
from ..dialect.storage import allocate, resolve
from ..model.per_structure import per_structure
from ..model.structure import Structure
from ..programs import PROGRAMS
from ..programs.program import Program
from . import sizes
from .graph_function import GraphFunction, share
from .grouped_forces import GroupedForces, UserFunctions, finite
from .run import COMPUTED
from .runner import Interface, check_memory
from .thread_team import Team
from .threaded import shared_steps


# --- masses, places and other numbers of a model that depend on parameters, filled in for loops that read them from arrays
class FilledData:
    """Tree and joints: the structure's own arrays where nothing in them depends on parameters, else copies that `fill` changes.

    `natives` do the same from an array of parameters, before every call of a loop that is bound to `groups`.
    """

    def __init__(self, structure: Structure, parameters: np.ndarray | None, store: Cache) -> None:
        self._structure = structure
        self.groups = (structure.tree, structure.joints)
        self.natives: list[Native] = []
        if structure.parametric is None:
            return
        own = list(structure.parameters.values())
        self.groups = structure.data(own if parameters is None else parameters.tolist())
        if parameters is not None:
            self.natives = self._bound(parameters, store)

    def fill(self, parameters: Sequence[float] | np.ndarray) -> None:
        data = self._structure.parametric
        if data is None:
            return
        named = self._structure.named_parameters([float(x) for x in parameters])
        for entry, value in zip(data.entries, data.expression(parameters=named), strict=True):
            getattr(self.groups[entry.group], entry.field).reshape(-1)[entry.place] = value

    def _bound(self, parameters: np.ndarray, store: Cache) -> list[Native]:
        data = self._structure.parametric
        assert data is not None
        graph, outputs = data.expression.graph, data.expression.outputs
        count = self._structure.first_state  # what comes after them are states of forces: no number of a body depends on these
        inputs = {"parameter": tuple(graph.parameters[name] for name in list(self._structure.parameters)[:count])}
        found = np.zeros(len(data.entries))
        natives = []
        for first in range(0, len(outputs), sizes.PIECE):
            part = slice(first, first + sizes.PIECE)
            function = GraphFunction.of(inputs, {"data": outputs[part]}, store)
            natives.append(function.bind({"parameter": parameters[:count], "data": found[part]}))
        places = [getattr(self.groups[entry.group], entry.field).reshape(-1) for entry in data.entries]
        targets = zip(places, data.entries, strict=True)
        rows = [(address(found) + 8 * k, address(x) + 8 * entry.place, 1) for k, (x, entry) in enumerate(targets)]
        copied = bind_kernel(copy_rows, Copied(np.array(rows, dtype=np.int64)), store=store)
        copied.keep_alive((found, places))
        return [*natives, copied]


# --- programs as loops
LANES_FROM = 8
"""Batch size from which code for lanes is compiled, although code for one state may exist already."""
Arrays = dict[str, np.ndarray]
BODIES_OF_A_CALL = 2**18
"""States times bodies, or numbers, of one call, after which Ctrl-C is heard: about a tenth of a second. A state of more than that
(matrices) is computed in the background."""


def program_loop(program: Program, lanes: int, store: Cache) -> Loop:
    """The machine code of a program."""
    options = Options(lanes, branches=program.loops_only, vectorize=program.dense and lanes == 1)
    return Loop(program.function, program.groups, options, shared=2, store=store)


def exact_program(
    program: Program, structure: Structure, arrays: Mapping[str, np.ndarray], parameters: np.ndarray, store: Cache
) -> list[Native]:
    """A program in double-double arithmetic on arrays by name with one more axis, of two; those that are not there are zero, or
    scratch. `parameters`: as plain numbers. Of models without functions of the user's in their joints."""
    sizes = program.sizes(structure)

    def bound(group: type) -> Any:
        own = allocate(group, sizes, lanes=2)
        for name, x in own._asdict().items():
            x[...] = 0.0
            if name in arrays:
                own = own._replace(**{name: arrays[name].reshape(x.shape)})
        return own

    data = FilledData(structure, parameters, store)
    work = allocate(program.work, sizes, lanes=2)
    groups = (*data.groups, bound(program.inputs), work, bound(program.outputs))
    return [*data.natives, bind_kernel(program.function, *groups, options=PAIRS, shared=2, store=store)]


class LoopRunner(Interface):
    """A program of one model. Arrays of the work are its own, those of inputs and outputs the caller's or copies of them."""

    def __init__(self, *args: Any, store: Cache | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.store = store or Cache()
        check_memory(self.program, self.structure)
        sizes, program = self.program.sizes(self.structure), self.program
        self._input_shapes = {name: resolve(a.shape, sizes) for name, a in program.inputs.__annotations__.items()}
        self._output_shapes = {name: resolve(a.shape, sizes) for name, a in program.outputs.__annotations__.items()}
        self._constants = {name: np.array(x, dtype=float) for name, x in self.constant.items()}
        self.numbers = max(self.structure.nb, 1, *(prod(shape) for shape in self._output_shapes.values()))
        """Bodies, or numbers of the largest result."""
        self._loops: dict[int, Loop] = {}
        self._idle: dict[tuple[int, int], list[_Workspace]] = {}

    def loop(self, lanes: int) -> Loop:
        if lanes not in self._loops:
            self._loops[lanes] = program_loop(self.program, lanes, self.store)
        return self._loops[lanes]

    # --- one state ----------------------------------------------------------------------------------------------------------
    def chain(self, arrays: Mapping[str, np.ndarray], threads: int = 1) -> list[Native]:
        """Native functions that evaluate one state when called in this order, on arrays by name: inputs (time too),
        outputs, and where anything is computed on the way (drive, given, load …), arrays for that or none.

        With an array `check`: it becomes 0 where all numbers are finite, else nan.
        """
        s, at = self.structure, dict(arrays)
        given: dict[str, Any] = self._constants | {"drive": np.zeros(3 * len(s.drives)), "given": np.zeros(s.sizes["ng"])}
        given |= {name: at[name] for name in (*self._input_shapes, "t", "parameter") if name in at}
        given.setdefault("v", np.zeros(s.nv))  # at rest, where speeds are no input: they may be an output of the same name
        out: list[Native] = []
        if s.drives or s.given:
            natives, found = self._user.chain(given)
            out += natives
            given |= found
        if s.forces and "wrench" in self._input_shapes:
            out += self._bound_forces(given)
        given.setdefault("load", np.zeros(s.sizes["nf"]))
        x = [np.asarray(given[name]).reshape(shape) for name, shape in self._input_shapes.items()]
        y = [at.get(name, np.empty(shape)).reshape(shape) for name, shape in self._output_shapes.items()]
        work = allocate(self.program.work, self.program.sizes(s))
        data = FilledData(s, at.get("parameter"), self.store)
        groups = (*data.groups, self.program.inputs(*x), work, self.program.outputs(*y))
        out += [*data.natives, self.bound(groups, 1, threads)]
        return [*out, *finite(at, self)]

    def bound(self, groups: tuple[Any, ...], lanes: int, threads: int) -> Native:
        """The program with these arrays; that of one state shared by threads where this pays."""
        steps = shared_steps(self.program, self.structure, groups, threads, self.store) if threads > 1 else []
        return Team(steps, threads, self.store) if steps else self.loop(lanes).bind(*groups)

    def _bound_forces(self, given: dict[str, Any]) -> list[Native]:
        """The model's own forces, added to the caller's wrenches and joint forces in arrays that replace theirs."""
        layout = self.structure.forces.layout
        push = np.zeros(layout.pushes)
        state: dict[str, np.ndarray] = {name: given[name] for name in ("t", "q", "v", "parameter") if name in given}
        out = self._forces.chain(state, {"push": push})
        parts = {"wrench": push[: layout.load_at], "tau": push[layout.load_at : layout.rate_at]}
        for name, part in parts.items():
            if name in given:
                everywhere = np.arange(part.size, dtype=np.int64)
                own = Scattered(given[name].reshape(-1), everywhere, part)
                out.append(bind_kernel(scatter, own, store=self.store))
                given[name] = part
        given["load"] = parts["tau"]
        return out

    @cached_property
    def _forces(self) -> GroupedForces:
        return grouped_forces(self.structure, self.store)

    # --- many ---------------------------------------------------------------------------------------------------------------
    def run(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], threads: int = 1) -> None:
        if n == 0:
            return
        x, y = self._all_inputs(n, inputs), dict(zip(self.outputs, outputs, strict=True))
        sharing = threads if n == 1 else 1  # of one state, threads share the bodies
        lanes = host_lanes() if n >= LANES_FROM and not self.program.loops_only else 1
        threads = 1 if self.program.loops_only else max(1, min(threads, n // lanes))
        most = max(lanes, BODIES_OF_A_CALL // self.numbers)
        parts = max(1 if threads == 1 else min(4 * threads, n // lanes), -(-n // most))
        edges = [n * k // parts // lanes * lanes for k in range(parts)] + [n]
        rows = dict(zip(self.inputs, inputs, strict=True)).get("parameter")
        if rows is not None and len(rows) > 1 and self.structure.parametric is not None:
            lanes, threads, edges = 1, 1, [0, *(np.flatnonzero(np.diff(rows, axis=0).any(axis=1)) + 1).tolist(), n]
        share(lambda part: self._part(x, y, part[0], part[1], lanes, sharing, rows), list(pairwise(edges)), threads)

    def prepared(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], batch: bool = False) -> Native:
        """The compiled code bound to these arrays, for repeated calls."""
        lanes = host_lanes() if batch and n >= host_lanes() else 1
        workspace = _Workspace(self, lanes)
        return workspace.batch(self._all_inputs(n, inputs), dict(zip(self.outputs, outputs, strict=True)), 0, n)

    def _part(self, x: Arrays, y: Arrays, first: int, last: int, lanes: int, sharing: int, parameters: np.ndarray | None) -> None:
        """States first … last, which have the same parameters where masses and places depend on them."""
        idle = self._idle.setdefault((lanes, sharing), [])
        try:
            workspace = idle.pop()
        except IndexError:
            workspace = _Workspace(self, lanes, sharing)
        if parameters is not None:
            workspace.data.fill(parameters[first if len(parameters) > 1 else 0])
        if isinstance(workspace.native, Team):
            workspace.native.invite()
        in_background(workspace.batch(x, y, first, last), self.numbers > BODIES_OF_A_CALL)
        idle.append(workspace)

    def _all_inputs(self, n: int, inputs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        """Rows (n, …) or (1, …) of everything the program reads, what is computed beforehand too."""
        given = dict(zip(self.inputs, inputs, strict=True))
        given |= {name: x[None] for name, x in self._constants.items()}
        given |= self._computed(given)
        return {name: np.ascontiguousarray(given[name], dtype=float) for name in self._input_shapes}

    def _computed(self, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Driven coordinates, given motions and the work of forces, by compiled code of their own."""
        s, nothing = self.structure, np.zeros((1, 0))
        out = {name: given.get(name, nothing) for name in COMPUTED}
        v = given.get("v", np.zeros((1, s.nv)))
        if (s.drives or s.given) and "given" not in given:
            out |= self._user.run(given["q"], v, given["t"], given.get("parameter"))
        if s.forces and "wrench" in given:
            out |= self._with_forces(given)
        return out

    @cached_property
    def _user(self) -> UserFunctions:
        return _user_functions(self.structure, self.store)

    def _with_forces(self, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Wrenches, joint forces and loads with the model's own forces added."""
        found = self._forces.loads({name: given[name] for name in ("t", "q", "v", "parameter") if name in given})
        out = {"wrench": given["wrench"].reshape(len(given["wrench"]), -1) + found["wrench"], "load": found["load"]}
        if "tau" in given:
            out["tau"] = given["tau"] + found["load"]
        return out


@per_structure
def _user_functions(structure: Structure, store: Cache) -> UserFunctions:
    return UserFunctions(structure, store)


@per_structure
def grouped_forces(structure: Structure, store: Cache) -> GroupedForces:
    """The forces of a model, with poses and velocities by loops."""
    bodies = LoopRunner(PROGRAMS["motion"], structure, store=store) if structure.forces.kinematic else None
    return GroupedForces(structure, bodies, store)


class _Workspace:
    """Arrays for some states side by side, and the code bound to them. Used by one thread at a time."""

    def __init__(self, runner: LoopRunner, lanes: int, sharing: int = 1) -> None:
        program, s = runner.program, runner.structure
        self.runner, self.lanes = runner, lanes
        sizes = program.sizes(s)
        self.x, work, self.y = (allocate(group, sizes, lanes=lanes) for group in (program.inputs, program.work, program.outputs))
        self.data = FilledData(s, None, runner.store)
        self.native = runner.bound((*self.data.groups, self.x, work, self.y), lanes, sharing)
        self._batch = Loop(run_batch, (Batch,), STEPPING, store=runner.store)

    def batch(self, x: dict[str, np.ndarray], y: dict[str, np.ndarray], first: int, last: int) -> Native:
        """A call that evaluates the states first … last; outputs not in `y` are discarded."""
        sources = []
        for name, place in zip(self.x._fields, self.x, strict=True):
            size, rows = place.size // self.lanes, x[name]
            stride = size if len(rows) > 1 else 0
            sources.append((address(rows) + 8 * stride * first, stride, address(place), size))
        targets = []
        for name, place in zip(self.y._fields, self.y, strict=True):
            if name in y:
                size = place.size // self.lanes
                targets.append((address(y[name]) + 8 * size * first, size, address(place), size))
        count = np.array([last - first, self.lanes], dtype=np.int64)
        lists = [np.array(rows, dtype=np.int64).reshape(-1, 4) for rows in (sources, targets)]
        bound = self._batch.bind(Batch(count, calls([self.native]), *lists))
        bound.keep_alive((self, x, y))
        return bound
