"""The forces of a model as machine code of their own, for backends that loop: poses and velocities in, wrenches out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.structure import Structure
from ..trace import Graph, Number, Symbol
from ..dialect.cache import Cache
from .llvm.runner import GraphRunner
from .traced import TracedProgram


class CompiledForces(GraphRunner):
    """Inputs t, q, v and, where bodies are looked at, r, G, velocity; outputs wrench (nb1, 6) and load (nv,)."""

    def __init__(self, structure: Structure, store: Cache | None = None) -> None:
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
        super().__init__(TracedProgram(graph, inputs, {"wrench": tuple(wrench), "load": tuple(load)}), store=store)

    def loads(self, motion: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Wrenches and joint forces of a batch: arrays of rows, one for all or one each."""
        rows: list[Any] = [np.ascontiguousarray(motion[name]).reshape(len(motion[name]), -1) for name in self.inputs]
        n = max(len(x) for x in rows)
        out = {name: np.empty((n, int(np.prod(shape)))) for name, shape in self.outputs.items()}
        self.run(n, rows, list(out.values()))
        return out
