"""Derivatives of forward and inverse dynamics of trees: which way they are computed, and the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backends.derivatives import derivative_runner
from ..backends.fast_path import FastPath, fast_path
from ..backends.llvm.runner import GraphRunner
from ..backends.loops import LoopRunner
from ..backends.runner import Runner
from ..errors import MethodError, brief, unknown
from .arguments import batch_size
from .evaluator import Evaluator


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


def check_wrt(wrt: Any, names: Sequence[str]) -> tuple[str, ...]:
    """What to differentiate with respect to, as a tuple of known names."""
    asked = (wrt,) if isinstance(wrt, str) else tuple(wrt) if isinstance(wrt, Iterable) else (wrt,)
    for name in asked:
        if not isinstance(name, str) or name not in names:
            raise MethodError(unknown(f"wrt {brief(name)}", name, names, "names"))
    return tuple(name for name in names if name in asked)


QUESTIONS = {"forward": ("qdd", ("q", "v", "tau")), "inverse": ("tau", ("q", "v", "a"))}
"""The value, and what it can be differentiated by."""


class TreeDerivatives:
    """Of one evaluator: arguments checked, the derivatives of the value asked for, results checked."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._made: dict[tuple[str, Any], tuple[Runner, FastPath, Callable[..., Derivatives]]] = {}

    def __call__(self, question: str, wrt: Any, **given: Any) -> Derivatives:
        key = question, wrt if wrt.__class__ is tuple else None
        if key[1] is None or key not in self._made:
            key = question, check_wrt(wrt, QUESTIONS[question][1])
        if key not in self._made:
            self._made[key] = self._make(*key)
        runner, fast, result = self._made[key]
        done = fast(None, *given.values())
        return result(*done) if done is not None else result(*self._general(runner, given))

    def _make(self, question: str, wrt: tuple[str, ...]) -> tuple[Runner, FastPath, Callable[..., Derivatives]]:
        outputs = (QUESTIONS[question][0], *(f"d{name}" for name in wrt))
        runner = derivative_runner(self.evaluator.formulation.programs, question, outputs)
        fast = fast_path(runner if isinstance(runner, (GraphRunner, LoopRunner)) else None, self.evaluator.threads)

        def result(value: np.ndarray, *derivatives: np.ndarray) -> Derivatives:
            return Derivatives(value, **dict(zip(outputs[1:], derivatives, strict=True)))

        return runner, fast, result

    def _general(self, runner: Runner, given: dict[str, Any]) -> list[np.ndarray]:
        arrays = {key: self.evaluator.arguments.row(key, given[key], size) for key, size in runner.inputs.items()}
        n, single = batch_size(arrays)
        rows = {key: x for key, (x, _) in arrays.items()}
        found = list(self.evaluator.run(runner, rows, n).values())
        if single and not all(np.isfinite(x).all() for x in (*rows.values(), *found)):
            self.evaluator.diagnose(given)
        return [y[0] for y in found] if single else found
