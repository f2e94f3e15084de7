"""The forces of a model as one straight line of machine code, for a run of loops in which no Python stands between steps."""

from __future__ import annotations

import numpy as np

from ..model.structure import Structure
from ..trace import Graph, Number, Symbol
from .cache import Cache
from .llvm.runner import LLVMRunner
from .traced import TracedProgram


class CompiledForces(LLVMRunner):
    """Inputs t, q, v and, where bodies are looked at, r, G, velocity; outputs wrench (nb1, 6), load (nv,) and its sum with
    the constant joint forces, tau (nv,)."""

    def __init__(self, structure: Structure, tau: np.ndarray, store: Cache) -> None:
        sizes = {"t": 1, "q": structure.nq, "v": structure.nv}
        if structure.forces.kinematic:
            sizes |= {name: (structure.nb + 1) * k for name, k in (("r", 3), ("G", 9), ("velocity", 6))}
        graph = Graph()
        inputs: dict[str, tuple[Symbol, ...]] = {name: tuple(graph.inputs(size)) for name, size in sizes.items()}
        pushes, torques = structure.forces.loads(inputs)
        wrench: list[Number] = [0.0] * (6 * structure.nb + 6)
        for (row, c), x in pushes.items():
            wrench[6 * row + c] = x
        load: list[Number] = [torques.get(a, 0.0) for a in range(structure.nv)]
        total = tuple(float(x) + y for x, y in zip(tau, load, strict=True))
        self.inputs = sizes
        self.outputs = {"wrench": (structure.nb + 1, 6), "load": (structure.nv,), "tau": (structure.nv,)}
        self.traced = TracedProgram(graph, inputs, {"wrench": tuple(wrench), "load": tuple(load), "tau": total})
        self._store = store
