"""Derivatives of forward and inverse dynamics of trees: which way they are computed, and the result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backends.differentiated import forward_by_graph, inverse_by_graph
from ..backends.llvm.runner import GraphRunner
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


class TreeDerivatives:
    """Of the programs of one evaluator."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._runners: dict[str, GraphRunner] = {}

    def forward(self, q: Any, v: Any, tau: Any, t: Any, wrt: Any) -> Derivatives:
        return self._answer("forward", "qdd", check_wrt(wrt, ("q", "v", "tau")), q=q, v=v, tau=tau, t=t)

    def inverse(self, q: Any, v: Any, a: Any, t: Any, wrt: Any) -> Derivatives:
        return self._answer("inverse", "tau", check_wrt(wrt, ("q", "v", "a")), q=q, v=v, qdd=a, t=t)

    def _answer(self, question: str, value: str, wrt: tuple[str, ...], **given: Any) -> Derivatives:
        runner = self._runner(question)
        arrays = {key: self.evaluator.arguments.row(key, given[key], size) for key, size in runner.inputs.items()}
        n, single = batch_size(arrays)
        rows = {key: x for key, (x, _) in arrays.items()}
        found = self.evaluator.run(runner, rows, n)
        if single:
            found = {key: y[0] for key, y in found.items()}
        return Derivatives(found[value], **{f"d{name}": found[f"d{name}"] for name in wrt})

    def _runner(self, question: str) -> GraphRunner:
        if question not in self._runners:
            structure = self.evaluator.structure
            traced = (forward_by_graph if question == "forward" else inverse_by_graph)(structure)
            n = structure.nv
            shapes = {name: (n, n) if name.startswith("d") else (n,) for name in traced.outputs}
            self._runners[question] = GraphRunner(traced, shapes)
        return self._runners[question]
