"""Derivatives of forward and inverse dynamics of trees: how they are computed for a model on a backend.

Straight-line code holds everything in one graph. On loops and interpreted, the kernels give the derivatives of the mechanism, and
those of its forces are added state by state (`force_derivatives.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import MethodError, known
from ..kernels.joint_stage import FIXED, GIVEN
from ..model.structure import Structure
from . import sizes
from .compiled_programs import CompiledPrograms
from .differentiated import add_forces, derivatives_by_graph, derivatives_by_kernels
from .force_derivatives import COLUMNS, ForceSlopes
from .graph_function import GraphFunction
from .run import TracedProgram
from .runner import Runner, run_by_name

NUMBERS_AT_ONCE = 1 << 22
"""Derivatives of what forces read, held for some states at a time: 32 MB."""


def graph_joints(structure: Structure) -> list[str]:
    """Joints the kernels of derivatives do not handle: columns that are the user's functions of q, or motions of which some are
    driven and some free."""
    j, out = structure.joints, []
    for i in range(1, structure.nb + 1):
        motions = slice(int(j.start[i]), int(j.start[i + 1]))
        kinds, axes = j.kind[motions], j.axes[motions]
        if axes.any() and ((kinds == GIVEN) | ((kinds != FIXED) & (axes == 0))).any():
            out.append(structure.placed[i - 1].name)
    return out


def derivative_runner(programs: CompiledPrograms, question: str, outputs: Sequence[str]) -> Runner:
    """Runner for derivatives of "forward" or "inverse" dynamics. Outputs: the value, then derivatives."""
    structure, requested = programs.structure, programs.requested
    special, by_parameters = graph_joints(structure), "dparameters" in outputs
    if requested == "auto":
        requested = "loops" if sizes.is_large(structure) else "llvm"
    if special and requested == "loops":
        raise MethodError(
            f"derivatives on loops need joints made of elementary motions, all free or all driven, but {known(special)} "
            "are not such; choose the backend 'llvm'"
        )
    if requested == "python" and (special or by_parameters):
        return one_graph(programs, derivatives_by_graph(structure, question, None, by_parameters), outputs).interpreted
    if requested == "llvm":
        limit = sizes.DERIVATIVES if programs.requested == "auto" and not special else None
        make = derivatives_by_graph if special else derivatives_by_kernels
        whole = sizes.fits(lambda: make(structure, question, limit, by_parameters))
        if whole:
            return one_graph(programs, whole, outputs)
        requested = "loops"
    if by_parameters:
        raise MethodError(
            "derivatives by parameters need straight-line code, which this model is too large for or the backend has not; leave "
            "'parameters' out of wrt, or choose the backend 'llvm'"
        )
    runner = programs.runner(f"derivatives/{question}", (), False, requested)
    if not structure.forces:
        return programs.runner(f"derivatives/{question}", outputs, False, requested)
    return WithForces(programs, question, runner, outputs, requested)


def one_graph(programs: CompiledPrograms, whole: TracedProgram, outputs: Sequence[str]) -> GraphFunction:
    """Some of the outputs of a graph: the value, and derivatives (nv, …)."""
    n, found = programs.structure.nv, {name: whole.outputs[name] for name in outputs}
    shapes = {name: (n, len(x) // max(n, 1)) if name.startswith("d") else (n,) for name, x in found.items()}
    return GraphFunction(TracedProgram(whole.graph, whole.inputs, found), programs.store, shapes)


class WithForces:
    """A program of the kernels, completed by the derivatives of the model's forces."""

    def __init__(
        self, programs: CompiledPrograms, question: str, mechanism: Runner, outputs: Sequence[str], backend: str
    ) -> None:
        self.programs, self.question, self.mechanism, self.backend = programs, question, mechanism, backend
        self.inputs = mechanism.inputs
        self.outputs = {name: mechanism.outputs[name] for name in outputs}
        self.slopes = ForceSlopes(programs.structure)
        self._slopes_of = self.slopes.compiled(programs.store) if backend == "loops" else None

    def chain(self, arrays: Any, threads: int = 1) -> list[Any]:
        raise NotImplementedError("derivatives by several programs are no single chain of native functions")

    @cached_property
    def _columns(self) -> Runner:
        return self.programs.runner("columns", (), False, self.backend)

    def run(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], threads: int = 1) -> None:
        step = max(1, NUMBERS_AT_ONCE // max(1, self.slopes.layout.pushes * 4 * self.programs.structure.nv))
        for first in range(0, n, step):
            part = slice(first, min(first + step, n))
            rows = {name: x if len(x) == 1 else x[part] for name, x in zip(self.inputs, inputs, strict=True)}
            found = self._some(part.stop - first, rows, threads)
            for y, name in zip(outputs, self.outputs, strict=True):
                y[part] = found[name].reshape(part.stop - first, -1)

    def _some(self, n: int, rows: dict[str, np.ndarray], threads: int) -> dict[str, np.ndarray]:
        found = _shaped(self.mechanism, n, rows, threads)
        motion = {name: np.broadcast_to(rows[name], (n, rows[name].shape[1])) for name in ("t", "q", "v")}
        parameters = rows.get("parameter", np.zeros((1, 0)))
        motion["parameter"] = np.broadcast_to(parameters, (n, parameters.shape[1]))
        moved = _shaped(self._columns, n, rows, threads) if self.slopes.kinematic else {}
        columns = {name: x for name, x in moved.items() if name in COLUMNS}
        add_forces(self.question, found, self.slopes(motion, columns, self._slopes_of))
        return found


def _shaped(runner: Runner, n: int, rows: dict[str, np.ndarray], threads: int) -> dict[str, np.ndarray]:
    return {name: x.reshape(n, *runner.outputs[name]) for name, x in run_by_name(runner, n, rows, threads).items()}
