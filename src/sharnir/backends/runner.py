"""The interface of every backend, one program of one model run on one state or many; the backend that interprets kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any, Protocol

import numpy as np

from ..dialect.native import Native
from ..dialect.storage import allocate
from ..errors import MethodError
from ..machine import beyond_memory
from ..model.structure import Structure
from ..programs.program import Program
from .run import input_sizes, output_shapes, run_program


class Runner(Protocol):
    """A program ready to run. Inputs are flat rows in the order of `inputs`, outputs rows in that of `outputs`."""

    inputs: dict[str, int]
    outputs: dict[str, tuple[int, ...]]

    def chain(self, arrays: Mapping[str, np.ndarray], threads: int = 1) -> list[Native]:
        """Native functions that evaluate one state in these arrays when called in this order; `threads` share those for which
        that pays."""

    def run(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], threads: int = 1) -> None:
        """n states: inputs (n, size) or (1, size), outputs (n, size), all C-contiguous floats."""


def empty_outputs(n: int, shapes: Iterable[tuple[int, ...]]) -> list[np.ndarray]:
    """Arrays (n, …) for the outputs of n states, in one block of memory: the allocator keeps one block for the next call where it
    would return several to the system, and a page that is touched for the first time costs as much as a state."""
    shapes = list(shapes)
    block, at, out = np.empty(n * sum(map(prod, shapes))), 0, []
    for shape in shapes:
        out.append(block[at : at + n * prod(shape)].reshape(n, *shape))
        at += n * prod(shape)
    return out


def run_by_name(runner: Runner, n: int, rows: Mapping[str, np.ndarray], threads: int = 1) -> dict[str, np.ndarray]:
    """The outputs (n, size) of a runner, from rows by the names of its inputs."""
    found = {name: np.empty((n, prod(shape))) for name, shape in runner.outputs.items()}
    runner.run(n, [np.ascontiguousarray(rows[name]) for name in runner.inputs], list(found.values()), threads)
    return found


class Interface:
    """Names and sizes of a program's inputs and outputs, with some inputs fixed and some outputs chosen."""

    def __init__(
        self, program: Program, structure: Structure, constant: dict[str, Sequence[float]] | None = None, only: Sequence[str] = ()
    ) -> None:
        self.program = program
        self.structure = structure
        self.constant = constant or {}
        sizes = input_sizes(program, structure)
        self.inputs = {name: size for name, size in sizes.items() if name not in self.constant}
        shapes = output_shapes(program, structure)
        self.outputs = {name: shapes[name] for name in (only or shapes)}


def check_memory(program: Program, structure: Structure) -> None:
    need = [0.0]

    def count(shape: tuple[int, ...]) -> None:
        need[0] += float(np.prod([float(k) for k in shape]))

    for group in (program.work, program.outputs):
        allocate(group, program.sizes(structure), count)
    if beyond := beyond_memory(need[0]):
        raise MethodError(
            f"{program.name!r} would need {beyond}, as work space for {structure.nb} bodies and {structure.nv} freedoms; "
            "ask for accelerations (`forward`), by a method of linear cost, 'separate' or 'lagrange1'"
        )


class PythonRunner(Interface):
    """The kernels as they are written, on floats: to read, to debug, to teach."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        check_memory(self.program, self.structure)
        self._idle: list[Any] = []
        """Work arrays that no call uses at present: one set for each call at a time, from any thread."""

    def run(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], threads: int = 1) -> None:
        try:
            work = self._idle.pop()
        except IndexError:
            work = allocate(self.program.work, self.program.sizes(self.structure))
        with np.errstate(all="ignore"):  # nan and inf are values, not warnings
            for b in range(n):
                values: dict[str, Any] = {name: x[b if len(x) > 1 else 0] for name, x in zip(self.inputs, inputs, strict=True)}
                out = run_program(self.program, self.structure, {**values, **self.constant}, work=work)
                for y, name in zip(outputs, self.outputs, strict=True):
                    y[b] = getattr(out, name).ravel()
        self._idle.append(work)
