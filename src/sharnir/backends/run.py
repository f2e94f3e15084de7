"""Programs on generic scalars, floats or the symbols of a graph: the one place where a program meets its arrays."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from ..dialect import ops
from ..dialect.source import closure, with_bound
from ..dialect.storage import allocate, resolve
from ..model.structure import Structure
from ..programs import PROGRAMS, program_for
from ..programs.program import Program
from ..trace import Number
from ..trace import functions as traced
from ..trace.lookup import ranges_left

Values = Mapping[str, Sequence[Number]]
"""Inputs of programs by name, each a flat row: q, v, t, parameter, …"""
COMPUTED = ("drive", "given", "load", "report")
"""Inputs of a program that follow from q, v and t by the user's own functions and the model's forces."""


def input_sizes(program: Program, structure: Structure) -> dict[str, int]:
    """The inputs a caller provides, flat, with their sizes; the parameters, where there are any, and the time are the last."""
    sizes = {
        name: int(np.prod(resolve(array.shape, structure.sizes)))
        for name, array in program.inputs.__annotations__.items()
        if name not in COMPUTED
    }
    parameters = {"parameter": len(structure.parameters)} if structure.parameters else {}
    return {**sizes, **parameters, "t": 1}


def output_shapes(program: Program, structure: Structure) -> dict[str, tuple[int, ...]]:
    return {name: resolve(array.shape, structure.sizes) for name, array in program.outputs.__annotations__.items()}


# --- kernels linked to other elementary functions
ANY_NUMBER: dict[str, Callable[..., Any]] = {name: getattr(traced, name) for name in ops.__all__}
"""Elementary functions that work on symbols and counting numbers as well as on floats."""


def linked(function: Any, wrap: Callable[[types.FunctionType], Any] = lambda copy: copy) -> Callable[..., Any]:
    """A copy of a kernel, and of all it calls, in which the functions of `ops` take generic scalars. `wrap`: takes
    each copy, returns what is called in its place."""
    copies: dict[int, Any] = {}
    for f in closure(function):
        names = {}
        for name in f.__code__.co_names:
            if name in f.__globals__:
                x = f.__globals__[name]
                names[name] = ANY_NUMBER[name] if getattr(ops, name, None) is x else copies.get(id(x), x)
        names["__builtins__"] = __builtins__
        copies[id(f)] = wrap(types.FunctionType(f.__code__, names, f.__name__))
    text, *bound = (copies[id(f)] for f in with_bound(function))
    return partial(text, *bound) if bound else text


relink = cache(linked)


# --- programs on numbers
def run_program(
    program: Program,
    structure: Structure,
    values: Values,
    dtype: type = float,
    work: Any = None,
    number: Callable[[float], Number] = float,
    function: Callable[..., Any] | None = None,
) -> Any:
    """One evaluation: the outputs, a group of arrays. Parameters are the model's own where `values` have none.

    `dtype=object` for symbols and counting numbers; `work` where the program's work arrays carry something from call to call;
    `number` makes a number of model data; `function` where the kernels are linked to something else than `relink` does.
    """
    q = list(values["q"])
    reads_speeds = "v" in program.inputs.__annotations__  # others see the user's joints at rest, whatever `values` have besides
    v = list(values["v"]) if reads_speeds and "v" in values else [0.0] * structure.nv
    drive, given = structure.user_functions(q, v, values["t"][0], values.get("parameter"))
    parts: dict[str, Any] = {**values, "drive": [x for row in drive for x in row], "given": given, "load": []}
    if structure.forces and "wrench" in values:
        parts.update(_with_forces(structure, parts, read_by_forces(structure, {**parts, "v": v}, dtype, number)))
    if "report" in program.inputs.__annotations__:
        energies, powers = structure.forces.report(read_by_forces(structure, {**parts, "v": v}, dtype, number))
        parts["report"] = [*energies, *powers]

    def array(name: str, shape: tuple[int, ...]) -> np.ndarray:
        out: np.ndarray = np.empty(int(np.prod(shape)), dtype=dtype)
        out[:] = parts[name]
        return out.reshape(shape)

    def empty(shape: tuple[int, ...]) -> np.ndarray:
        return np.full(shape, np.nan, dtype=dtype)

    x = program.inputs(*(array(name, resolve(a.shape, structure.sizes)) for name, a in program.inputs.__annotations__.items()))
    if work is None:
        work = allocate(program.work, program.sizes(structure), empty)
    out = allocate(program.outputs, structure.sizes, empty)
    tree, joints = _data(structure, values.get("parameter"), dtype, number)
    function = function or (program.function if dtype is float else relink(program.function))
    function(tree, joints, x, work, out)
    return out


def evaluate(structure: Structure, program: str | Program, values: Values, dtype: type = object) -> Any:
    """The outputs of a program, by its name or itself, a group of arrays."""
    return run_program(program_for(structure, program) if isinstance(program, str) else program, structure, values, dtype)


def with_bodies(
    structure: Structure, values: Values, dtype: type = object, number: Callable[[float], Number] = float
) -> dict[str, Any]:
    """`values` and the poses (r, G) and velocities of all bodies: what forces, constraints and events are functions of."""
    state = {name: values[name] for name in ("q", "v", "t", "parameter") if name in values}
    found = run_program(PROGRAMS["motion"], structure, state, dtype, number=number)
    return {**values, **{name: x.ravel().tolist() for name, x in found._asdict().items()}}


def read_by_forces(
    structure: Structure, values: Values, dtype: type = object, number: Callable[[float], Number] = float
) -> dict[str, Any]:
    """`values` with what the forces of the model read: poses and velocities of bodies where any of them does."""
    return with_bodies(structure, values, dtype, number) if structure.forces.kinematic else dict(values)


def _with_forces(structure: Structure, parts: dict[str, Any], motion: dict[str, Any]) -> dict[str, Any]:
    """Wrenches, joint forces and loads with the model's own forces added."""
    pushes, torques = structure.forces.loads(motion)
    wrench, load = list(parts["wrench"]), [0.0] * structure.nv
    for (row, c), x in pushes.items():
        wrench[6 * row + c] = wrench[6 * row + c] + x
    for a, x in torques.items():
        load[a] = x
    out = {"wrench": wrench, "load": load}
    if "tau" in parts:
        out["tau"] = [x + y for x, y in zip(parts["tau"], load, strict=True)]
    return out


def _data(structure: Structure, parameters: Sequence[Number] | None, dtype: type, number: Callable[[float], Number]) -> Any:
    """Tree and joints at these parameters, as floats or generic scalars."""
    if dtype is not object:
        return (structure.tree, structure.joints) if parameters is None else structure.data(parameters)
    groups = [_as_numbers(group, number) for group in (structure.tree, structure.joints)]
    if structure.parametric is None or parameters is None:
        return groups
    return structure.parametric.filled(groups, structure.named_parameters(parameters))


def _as_numbers(group: Any, number: Callable[[float], Number]) -> Any:
    """Model data as Python floats, quick in arithmetic with symbols and constants to them, or as numbers that count."""

    def convert(x: np.ndarray) -> np.ndarray:
        out: np.ndarray = np.empty(x.size, dtype=object)
        out[:] = [number(value) if isinstance(value, float) else value for value in x.ravel().tolist()]
        return out.reshape(x.shape)

    return type(group)(*(x if x.dtype.kind == "i" else convert(x) for x in group))


def range_left(structure: Structure, q: Sequence[float], v: Sequence[float], t: float, parameters: Sequence[float]) -> str:
    """The table of a force, drive or custom joint that is left, in words; empty where there is none."""
    values = {"q": list(q), "v": list(v), "t": [t], **({"parameter": list(parameters)} if len(parameters) else {})}
    with ranges_left() as seen, np.errstate(all="ignore"):
        structure.user_functions(values["q"], values["v"], t, values.get("parameter"))
        if structure.forces:
            structure.forces.loads(with_bodies(structure, values, float))
    return seen[0] if seen else ""
