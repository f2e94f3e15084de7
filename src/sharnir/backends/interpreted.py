"""A graph evaluated node by node on floats: what `backend="python"` runs where a question is a graph and no program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from ..dialect.native import Native
from ..trace import Expression
from .traced import TracedProgram


class GraphInterpreter:
    """One graph, run like any other `Runner`. `outputs`: their shapes, where they are not just rows."""

    def __init__(self, traced: TracedProgram, outputs: Mapping[str, tuple[int, ...]] | None = None) -> None:
        self.traced = traced
        self.inputs = {name: len(symbols) for name, symbols in traced.inputs.items()}
        self.outputs = dict(outputs or {name: (len(x),) for name, x in traced.outputs.items()})
        symbols = [x for group in traced.inputs.values() for x in group]
        self._expression = Expression(traced.graph, symbols, [x for name in self.outputs for x in traced.outputs[name]])

    def chain(self, arrays: Mapping[str, np.ndarray], threads: int = 1) -> list[Native]:
        raise NotImplementedError("a graph that is interpreted is no native function")

    def run(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], threads: int = 1) -> None:
        edges = np.cumsum([prod(shape) for shape in self.outputs.values()])[:-1]
        for b in range(n):
            row = [value for x in inputs for value in x[b if len(x) > 1 else 0].tolist()]
            with np.errstate(all="ignore"):  # nan and inf are values, not warnings
                found = np.array(self._expression(*row), dtype=float)
            for y, part in zip(outputs, np.split(found, edges), strict=True):
                y[b] = part
