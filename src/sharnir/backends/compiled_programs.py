"""The programs of one model, compiled when first needed, and the backend of each: the choice behind backend="auto"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dialect.cache import Cache
from ..errors import MethodError
from ..kernels.iterative import TOLERANCE
from ..model.structure import Structure
from ..programs import FORCE_REPORT, PROGRAMS, program_for
from ..programs.methods import SMALLEST
from ..programs.program import Program
from . import sizes
from .runner import PythonRunner
from .traced import TracedProgram, trace_program


class CompiledPrograms:
    """The programs of one model, each compiled when first needed, then cached."""

    def __init__(self, structure: Structure, backend: str, limit: int | None = None) -> None:
        """`limit`: nodes of a graph beyond which "auto" takes loops, by default `sizes.PROGRAM`."""
        self.structure = structure
        self.requested = backend
        self.limit = sizes.PROGRAM if limit is None else limit
        self.no_wrench: dict[str, Sequence[float]] = {"wrench": np.zeros(6 * (structure.nb + 1))}  # type: ignore[dict-item]
        self.tolerance = TOLERANCE
        """The residual at which iterative methods stop, relative to the right-hand side."""
        self._runners: dict[Any, Any] = {}
        self._backends: dict[str, str] = {}
        self.store = Cache()
        self.traced: dict[tuple[str, tuple[str, ...]], TracedProgram] = {}
        """Programs without wrenches that were traced for the choice of a method, by name and outputs."""

    def constants(self, program: Program) -> dict[str, Sequence[float]]:
        """Inputs of a program that are the same in every call without wrenches."""
        known = {**self.no_wrench, "tolerance": [self.tolerance]}
        return {name: x for name, x in known.items() if name in program.inputs.__annotations__}

    def backend_of(self, name: str) -> str:
        if name not in self._backends:
            self._backends[name] = self._decide(name)
        return self._backends[name]

    def _decide(self, name: str) -> str:
        loops_only = name in PROGRAMS and PROGRAMS[name].loops_only
        if self.requested != "auto":
            if self.requested == "llvm" and loops_only:
                raise MethodError(f"{name!r} branches on numbers: it runs on 'loops' or 'python', not as straight-line code")
            return self.requested
        if loops_only or sizes.is_large(self.structure):
            return "loops"
        if sizes.fits(lambda: self.runner(name, (), False, "llvm")) is not None:
            return "llvm"
        wide = name in PROGRAMS and PROGRAMS[name].wide
        # other methods can be large for a small model
        if ("/" not in name and not wide) or name.endswith(f"/{SMALLEST.program}"):
            sizes.mark_large(self.structure)
        return "loops"

    def runner(self, name: str, outputs: Sequence[str] = (), wrenches: bool = False, backend: str | None = None) -> Any:
        program = FORCE_REPORT if name == "forces" else program_for(self.structure, name)
        outputs = tuple(outputs) or tuple(program.outputs.__annotations__)
        constant = self.constants(program)
        if wrenches:
            constant.pop("wrench", None)
        backend = backend or self.backend_of(name)
        key = (name, outputs, wrenches, backend)
        if key not in self._runners:
            self._runners[key] = self._make(backend, program, constant, outputs)
        return self._runners[key]

    def _make(self, backend: str, program: Program, constant: dict[str, Sequence[float]], outputs: Sequence[str]) -> Any:
        if backend == "python":
            return PythonRunner(program, self.structure, constant, outputs)
        if backend == "loops":
            from .loops import LoopRunner, grouped_forces

            if program is FORCE_REPORT:
                from .grouped_forces import ReportRunner

                return ReportRunner(self.structure, grouped_forces(self.structure, self.store), tuple(outputs))
            return LoopRunner(program, self.structure, constant, outputs, store=self.store)
        from .graph_function import LLVMRunner

        limit = self.limit if self.requested == "auto" else None
        traced = self.traced.get((program.name, tuple(outputs))) if set(constant) == set(self.no_wrench) else None
        traced = traced or trace_program(program, self.structure, constant, outputs, limit)
        return LLVMRunner(program, self.structure, constant, outputs, traced=traced, store=self.store)
