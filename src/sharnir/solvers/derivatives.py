"""Derivatives of forward and inverse dynamics of trees: which way they are computed, and the result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ..backends.differentiated import derivative_runner
from ..backends.fast_path import FastPath, fast_path
from ..backends.graph_function import GraphFunction
from ..backends.loops import LoopRunner
from ..backends.runner import Runner
from ..errors import MethodError, brief, unknown
from .evaluator import At, Evaluator


@dataclass(frozen=True)
class Derivatives:
    """A result and its derivatives, (…, rows, columns); None where they were not asked for.

    Columns of `dq` are directions in the tangent: column j is the derivative along integrate(q, s·e_j), the motion that speed
    j alone causes, so that there are nv of them where q has quaternions too.
    """

    value: np.ndarray
    dq: np.ndarray | None = None
    dv: np.ndarray | None = None
    dtau: np.ndarray | None = None
    da: np.ndarray | None = None
    dparameters: np.ndarray | None = None


Wrt = str | Sequence[str]
"""Names of the arguments by which answers are differentiated."""
PARAMETERS = "parameters"


def field_of(name: str) -> str:
    """The field of `Derivatives` for an input of programs."""
    return "dparameters" if name == "parameter" else f"d{name}"


def check_wrt(wrt: Wrt, names: Sequence[str], evaluator: Evaluator) -> tuple[str, ...]:
    """The argument `wrt`, checked, as a tuple of inputs of programs."""
    names = (*names, PARAMETERS)
    asked = (wrt,) if isinstance(wrt, str) else tuple(wrt) if isinstance(wrt, Iterable) else (wrt,)
    for name in asked:
        if not isinstance(name, str) or name not in names:
            raise MethodError(unknown(f"wrt {brief(name)}", name, names, "names"))
    if PARAMETERS in asked and not evaluator.structure.parameters:
        raise MethodError(
            f"wrt 'parameters': model {evaluator.model.name!r} has none; Model.add_parameter adds one, Model.make_parameter "
            "turns a number of the model into one"
        )
    return tuple("parameter" if name == PARAMETERS else name for name in names if name in asked)


QUESTIONS: dict[str, tuple[str, Literal["tau", "qdd"], tuple[str, ...]]] = {
    "forward": ("qdd", "tau", ("q", "v", "tau")),
    "inverse": ("tau", "qdd", ("q", "v", "a")),
}
"""The value, the argument beside q and v, and the names of `wrt`."""


class _Way(NamedTuple):
    """How one question with one choice of derivatives is answered."""

    runner: Runner
    fast: FastPath
    outputs: tuple[str, ...]

    def result(self, found: Iterable[np.ndarray]) -> Derivatives:
        out = object.__new__(Derivatives)  # fields that are not set keep their default; a frozen dataclass is slow to fill
        out.__dict__.update(zip(self.outputs, found, strict=True))
        return out


class TreeDerivatives:
    """Answers one question: arguments checked, value and derivatives computed, results checked."""

    def __init__(self, evaluator: Evaluator, question: str) -> None:
        self.evaluator, self.question = evaluator, question
        self.value, self.last, self.names = QUESTIONS[question]
        self._ways: dict[tuple[str, ...], _Way] = {}

    def __call__(self, at: At, wrt: Wrt) -> Derivatives:
        way = self._ways.get(wrt) if wrt.__class__ is tuple else None
        if way is None:
            way = self._way(check_wrt(wrt, self.names, self.evaluator))
        more = self.evaluator.fast_parameters(at["parameter"])
        done = way.fast(None, at["q"], at["v"], at[self.last], *more, at["t"])
        if done is None:
            return way.result(self._general(way.runner, at))
        return way.result(done if len(way.outputs) > 1 else (done,))

    def _way(self, wrt: tuple[str, ...]) -> _Way:
        if wrt not in self._ways:
            outputs = (self.value, *map(field_of, wrt))
            runner = derivative_runner(self.evaluator.formulation.programs, self.question, outputs)
            native = isinstance(runner, (GraphFunction, LoopRunner))
            fast = fast_path(runner if native else None, self.evaluator.threads)
            self._ways[wrt] = _Way(runner, fast, ("value", *outputs[1:]))
        return self._ways[wrt]

    def _general(self, runner: Runner, at: At) -> list[np.ndarray]:
        rows, n, single = self.evaluator.arguments.rows(at, runner.inputs)
        found = list(self.evaluator.run(runner, rows, n).values())
        if single and not all(np.isfinite(x).all() for x in (*rows.values(), *found)):
            self.evaluator.diagnose(at)
        return [y[0] for y in found] if single else found
