"""Projection onto the constraints as machine code for one state or a batch, as loops for large models, and interpreted.

All three run the text of projection.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.llvm.runner import GraphRunner
from ..backends.traced import TracedProgram
from ..dialect.native import Native, calls
from ..kernels.constrained import ON_MOTION
from ..trace import Graph, Number
from .evaluation import Values, state_inputs
from .normalization import native_normalize, normalize
from .projection import NEWTON_STEPS, Projected, project, project_by_calls, project_position, project_speed
from .retraction import displacement, native_displacement
from .solution import ConstrainedState

if TYPE_CHECKING:
    from .constrained import ConstrainedEquations


class Projector:
    """Of the equations of one model."""

    def __init__(self, equations: ConstrainedEquations) -> None:
        self.equations, self.structure, self.model = equations, equations.structure, equations.model

    # --- compiled -----------------------------------------------------------------------------------------------------------
    def natives(self, at: Mapping[str, np.ndarray], X: np.ndarray, n: int = 1, lanes: int = 1) -> list[Native]:
        """Native functions that project, in place, n states in X whose parts are the arrays `at` (q, v, t, …). Models too
        large for one graph go state by state: n = 1."""
        if not self.equations.is_small:
            assert n == 1
            return [self._loop(at, X)]
        assert n % lanes == 0  # in place: the rest of a batch would be read again after it was written
        position, speed = self._steps
        moved = position.bind({**at, "x": at["q"]}, n, lanes)
        return [*[moved] * NEWTON_STEPS, speed.bind({**at, "x": at["v"]}, n, lanes)]

    @cached_property
    def _steps(self) -> tuple[GraphRunner, GraphRunner]:
        position, speed = self.traced(ON_MOTION)
        return GraphRunner(position, store=self.equations.store), GraphRunner(speed, store=self.equations.store)

    def traced(self, share: float, limit: int | None = None, **more: int) -> tuple[TracedProgram, TracedProgram]:
        """A Newton step of the coordinates, and the correction of the speeds, as graphs of so many nodes at most. `more`: inputs
        of the equations besides the state."""
        nq = self.structure.nq
        position, speed = (_OnNumbers(self, state_inputs(self.structure, Graph(limit), **more), object) for _ in range(2))
        project_position(position.evaluate, position.displace, position.normalize, share, position.c, position.p)
        project_speed(speed.evaluate, share, speed.c, speed.p)
        return _step(position, position.p.X[:nq]), _step(speed, speed.p.X[nq:])

    def _loop(self, at: Mapping[str, np.ndarray], X: np.ndarray) -> Native:
        e = self.equations
        c = e.allocate()  # its own: the derivative's is in use between projections
        dq = np.zeros(self.structure.nq)
        natives = [e.function().bind({**at, **c._asdict()}), native_displacement(self.structure, at, c.delta, dq, e.store)]
        natives += native_normalize(self.model, at["q"], at["t"], e.store)
        native = e.loop(project_by_calls).bind(c, Projected(X, dq, calls(natives)))
        native.keep_alive(natives)
        return native

    # --- interpreted --------------------------------------------------------------------------------------------------------
    def projected(
        self, q: np.ndarray, v: np.ndarray, t: float, parameters: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """One state, with the parameters of the model where none are given."""
        numbers = list(self.structure.parameters.values()) if parameters is None else parameters.tolist()
        values: Values = {"q": q.tolist(), "v": v.tolist(), "t": [t], "parameter": numbers}
        on = _OnNumbers(self, values, float)
        with np.errstate(all="ignore"):  # nan and inf are values, not warnings
            project(on.evaluate, on.displace, on.normalize, on.c, on.p)
        return np.array(on.p.X[: len(q)]), np.array(on.p.X[len(q) :])


def _step(on: _OnNumbers, x: np.ndarray) -> TracedProgram:
    inputs: dict[str, Any] = dict(on.values)
    return TracedProgram(inputs["t"][0].graph, inputs, {"x": tuple(x)})


class _OnNumbers:
    """The functions that projection.py calls, on numbers of any kind: symbols of one graph, or floats."""

    def __init__(self, projector: Projector, values: Values, dtype: type) -> None:
        self.projector, self.values, self.dtype = projector, values, dtype
        e, nq = projector.equations, projector.structure.nq
        self.nq = nq
        self.c: ConstrainedState = e.empty(dtype)
        X: np.ndarray = np.array([*values["q"], *values["v"]], dtype=dtype)
        self.p: Any = Projected(X, np.zeros(nq, dtype=dtype), np.zeros((0, 2), dtype=np.int64))

    def evaluate(self, c: Any, p: Any) -> None:
        self.projector.equations.fill(c, {**self.values, "q": self._q(p), "v": p.X[self.nq :].tolist()}, self.dtype)

    def displace(self, c: Any, p: Any) -> None:
        p.dq[:] = displacement(self.projector.structure, self._q(p), c.delta.tolist(), self.values["t"], self.dtype)

    def normalize(self, c: Any, p: Any) -> None:
        p.X[: self.nq] = normalize(self.projector.model, self._q(p), self.values["t"][0])

    def _q(self, p: Any) -> list[Number]:
        return p.X[: self.nq].tolist()
