"""Arrays some of whose numbers depend on parameters: floats at given values, and which entries are formulas of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..errors import ModelError, TraceError
from ..trace import Expression, Number, ParameterGraph, Symbol, at_values

G = TypeVar("G", bound=tuple[Any, ...])


class ParametricEntry(NamedTuple):
    """A number of an array that is a formula of parameters."""

    group: int
    field: str
    place: int
    """Index in the flat array."""
    formula: Symbol


def array_of(rows: Any) -> np.ndarray:
    """Floats; objects where a number depends on parameters."""
    try:
        return np.array(rows, dtype=float)
    except TraceError:
        return np.array(rows, dtype=object)


def floats(x: np.ndarray, values: Mapping[str, float]) -> np.ndarray:
    """The array with parameters at these values."""
    if x.dtype != object:
        return x
    return np.array([at_values(one, values) for one in x.ravel().tolist()], dtype=float).reshape(x.shape)


def constant_entries(x: np.ndarray) -> np.ndarray:
    """Whether each number is a float."""
    if x.dtype != object:
        return np.ones(x.shape, dtype=bool)
    return np.array([not isinstance(one, Symbol) for one in x.ravel().tolist()], dtype=bool).reshape(x.shape)


def separated(number: int, group: G, values: Mapping[str, float]) -> tuple[G, list[ParametricEntry]]:
    """A group of arrays as floats at these values, and its entries that are formulas."""
    entries, arrays = [], {}
    for field, x in group._asdict().items():  # type: ignore[attr-defined]
        if x.dtype == object:
            flat = x.ravel().tolist()
            entries += [ParametricEntry(number, field, k, one) for k, one in enumerate(flat) if isinstance(one, Symbol)]
            arrays[field] = floats(x, values)
    return group._replace(**arrays), entries  # type: ignore[attr-defined]


class ParametricData:
    """All entries of the arrays of a structure that are formulas of parameters."""

    def __init__(self, entries: Sequence[ParametricEntry], graph: ParameterGraph) -> None:
        self.entries = tuple(entries)
        for entry in entries:
            if entry.formula.graph is not graph:
                raise ModelError(f"{entry.formula!r} belongs to another model: add its parameters to this one with add_parameter")
        self.expression = Expression(graph, (), [entry.formula for entry in entries])

    def filled(self, groups: Sequence[Any], parameters: Mapping[str, Number]) -> list[Any]:
        """Copies of groups of arrays, of floats or of generic scalars, with these entries."""
        changed = {(entry.group, entry.field) for entry in self.entries}
        out = [
            group._replace(**{field: getattr(group, field).copy() for k, field in changed if k == number})
            for number, group in enumerate(groups)
        ]
        for entry, value in zip(self.entries, self.expression(parameters=parameters), strict=True):
            getattr(out[entry.group], entry.field).reshape(-1)[entry.place] = value
        return out
