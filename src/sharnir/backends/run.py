"""Run a program on generic scalars: the one place where a program meets its arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..dialect.storage import allocate, resolve
from ..model.structure import Structure
from ..programs import PROGRAMS
from ..programs.program import Program
from ..trace import Number
from .link import relink

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


def run_program(
    program: Program,
    structure: Structure,
    values: Mapping[str, Sequence[Number]],
    function: Callable[..., Any] | None = None,
    dtype: type = float,
    work: Any = None,
    number: Callable[[float], Number] = float,
) -> Any:
    """One evaluation. `values`: inputs by name; parameters are the model's own where none are given.

    `dtype=object` for symbols and counting numbers, with `function` linked for them; `work` where the program's work arrays carry
    something from call to call; `number` makes a number of model data.
    """
    q = list(values["q"])
    reads_speeds = "v" in program.inputs.__annotations__  # others see the user's joints at rest, whatever `values` have besides
    v = list(values["v"]) if reads_speeds and "v" in values else [0.0] * structure.nv
    drive, given = structure.user_functions(q, v, values["t"][0], values.get("parameter"))
    parts: dict[str, Any] = {**values, "drive": [x for row in drive for x in row], "given": given, "load": []}
    if structure.forces and "wrench" in values:
        parts.update(_with_forces(structure, parts, v, dtype, number))
    if "report" in program.inputs.__annotations__:
        energies, powers = structure.forces.report(_motion(structure, parts, v, dtype, number))
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
    (function or program.function)(tree, joints, x, work, out)
    return out


def _with_forces(structure: Structure, parts: dict[str, Any], v: Any, dtype: type, number: Any) -> dict[str, Any]:
    """Wrenches, joint forces and loads with the model's own forces added."""
    pushes, torques = structure.forces.loads(_motion(structure, parts, v, dtype, number))
    wrench, load = list(parts["wrench"]), [0.0] * structure.nv
    for (row, c), x in pushes.items():
        wrench[6 * row + c] = wrench[6 * row + c] + x
    for a, x in torques.items():
        load[a] = x
    out = {"wrench": wrench, "load": load}
    if "tau" in parts:
        out["tau"] = [x + y for x, y in zip(parts["tau"], load, strict=True)]
    return out


def _motion(structure: Structure, parts: dict[str, Any], v: Any, dtype: type, number: Any) -> dict[str, Any]:
    """Quantities that forces read: time, coordinates, speeds and, where needed, poses and velocities of bodies."""
    state = {"q": parts["q"], "v": v, "t": parts["t"]}
    motion: dict[str, Any] = state | ({"parameter": parts["parameter"]} if "parameter" in parts else {})
    if structure.forces.kinematic:
        program = PROGRAMS["motion"]
        found = run_program(program, structure, motion, None if dtype is float else relink(program.function), dtype, None, number)
        motion.update({name: x.ravel() for name, x in found._asdict().items()})
    return motion


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
