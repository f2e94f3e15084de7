"""Masses, places and other numbers of a model that depend on parameters, filled in for loops that read them from arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..dialect.arithmetic import STEPPING
from ..dialect.cache import Cache
from ..dialect.kernels.rows import Copied, copy_rows
from ..dialect.native import Loop, Native, address
from ..model.structure import Structure
from .llvm.runner import GraphRunner
from .traced import TracedProgram

AT_ONCE = 300
"""Numbers that one piece of straight-line code computes."""


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
        for first in range(0, len(outputs), AT_ONCE):  # long straight-line code compiles slowly
            part = slice(first, first + AT_ONCE)
            runner = GraphRunner(TracedProgram(graph, inputs, {"data": outputs[part]}), store=store)
            natives.append(runner.bind({"parameter": parameters[:count], "data": found[part]}))
        places = [getattr(self.groups[entry.group], entry.field).reshape(-1) for entry in data.entries]
        targets = zip(places, data.entries, strict=True)
        rows = [(address(found) + 8 * k, address(x) + 8 * entry.place, 1) for k, (x, entry) in enumerate(targets)]
        copied = Loop(copy_rows, (Copied,), STEPPING, store=store).bind(Copied(np.array(rows, dtype=np.int64)))
        copied.keep_alive((found, places))
        return [*natives, copied]
