"""Counting numbers: floats that count the operations done with them, as the papers do."""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from ..dialect.storage import allocate
from ..model.structure import Structure
from ..programs.program import Program
from ..trace import Symbol, needed
from ..trace.operations import OPERATIONS, Operators, operation
from .run import input_sizes, run_program
from .traced import TracedProgram

_FUNCTIONS = {*OPERATIONS, "locate"} - {"add", "sub", "mul", "div", "neg", "less", "less_equal", "select", "abs", "floor"}


@dataclass(frozen=True)
class Count:
    """Operations on numbers. Changes of sign, comparisons and choices are free, as in the papers."""

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    functions: int = 0

    @property
    def total(self) -> int:
        return sum(astuple(self))

    def __add__(self, other: Count) -> Count:
        return Count(*map(operator.add, astuple(self), astuple(other)))

    def __sub__(self, other: Count) -> Count:
        return Count(*map(operator.sub, astuple(self), astuple(other)))


def as_count(tally: Counter[str]) -> Count:
    return Count(
        multiplications=tally["mul"],
        additions=tally["add"] + tally["sub"],
        divisions=tally["div"],
        functions=sum(tally[name] for name in _FUNCTIONS),
    )


class CountingNumber(Operators):
    """A float with a tally. Every operation counts, on zeros and ones too: the algorithm as it is written."""

    __slots__ = ("tally", "value")

    def __init__(self, value: float, tally: Counter[str]) -> None:
        self.value = value
        self.tally = tally

    def apply(self, name: Any, *args: Any) -> CountingNumber:
        done = operation(name)
        self.tally[done.name] += 1
        return CountingNumber(done.value(*(_value(x) for x in args)), self.tally)

    def __lt__(self, other: Any) -> bool:
        return self.value < _value(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= _value(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > _value(other)

    def __eq__(self, other: Any) -> bool:
        return self.value == _value(other)

    __hash__ = None  # type: ignore[assignment]


def _value(x: Any) -> float:
    return x.value if isinstance(x, CountingNumber) else float(x)


def count_as_written(
    program: Program, structure: Structure, values: dict[str, Any], before: dict[str, Any] | None = None
) -> tuple[Count, Any]:
    """Operations of one evaluation with no folding at all (model data count as numbers), and its results. `before`: of an
    evaluation that came first, which is not counted, and left something in the work arrays."""
    tally: Counter[str] = Counter()

    def number(x: Any) -> CountingNumber:
        return CountingNumber(float(x), tally)

    work = allocate(program.work, program.sizes(structure), lambda shape: np.full(shape, np.nan, dtype=object))
    for state in (values,) if before is None else (before, values):
        tally.clear()
        inputs = {name: [number(x) for x in state[name]] for name in input_sizes(program, structure)}
        out = run_program(program, structure, inputs, object, work, number)
    return as_count(tally), out


def count_compiled(traced: TracedProgram) -> Count:
    """Operations left in the graph of one model: what the compiled code does."""
    outputs = [x for group in traced.outputs.values() for x in group if isinstance(x, Symbol)]
    found = (traced.graph.nodes[k][0] for k in needed(traced.graph, outputs))
    return as_count(Counter(name if isinstance(name, str) else name.name for name in found))
