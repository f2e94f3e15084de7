"""Projection onto the constraints as machine code for one state or a batch, as loops for large models, and interpreted.

All three run the text of projection.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends.graph_function import GraphFunction
from ...backends.run import Values, state_inputs
from ...dialect.native import Native, bind_kernel, calls
from ...trace import Graph
from ..kernels.projection import NEWTON_STEPS, Projected, project, project_by_calls, project_position, project_speed
from ..kernels.solution import ConstrainedState
from .retraction import native_retract, retract

if TYPE_CHECKING:
    from .constrained import ConstrainedEquations


class Projector:
    """Projection of states of one model onto its constraints."""

    def __init__(self, equations: ConstrainedEquations) -> None:
        self.equations, self.structure, self.model = equations, equations.structure, equations.model

    # --- compiled -----------------------------------------------------------------------------------------------------------
    def natives(self, at: Mapping[str, np.ndarray], n: int = 1, lanes: int = 1) -> list[Native]:
        """Native functions that project, in place, n states whose parts are the arrays `at` (q, v, t, …). Models too large for
        one graph go state by state: n = 1."""
        if not self.equations.is_small:
            assert n == 1
            sparse = self.equations.sparse
            return sparse.projection(at) if sparse else [self._loop(at)]
        assert n % lanes == 0  # in place: the rest of a batch would be read again after it was written
        position, speed = self._steps
        moved = position.bind({**at, "x": at["q"]}, n, lanes)
        return [*[moved] * NEWTON_STEPS, speed.bind({**at, "x": at["v"]}, n, lanes)]

    def vector(self, at: Mapping[str, np.ndarray]) -> list[Native]:
        """The same for as many states as the processor has lanes, which are innermost in the arrays; of small models."""
        position, speed = self._steps
        moved = position.bind_vector({**at, "x": at["q"]})
        return [*[moved] * NEWTON_STEPS, speed.bind_vector({**at, "x": at["v"]})]

    @cached_property
    def _steps(self) -> tuple[GraphFunction, GraphFunction]:
        return self.steps()

    def steps(self, exact: bool = False, limit: int | None = None, **more: int) -> tuple[GraphFunction, GraphFunction]:
        """A Newton step of the coordinates, and the correction of the speeds, in graphs of at most `limit` nodes. exact: for
        double-double arithmetic; `more`: inputs of the equations besides the state."""
        position, speed = (_OnNumbers(self, state_inputs(self.structure, Graph(limit), **more), object, exact) for _ in range(2))
        project_position(position.position, position.retract, position.c, position.p)
        project_speed(speed.speed, speed.c, speed.p)
        store, q, v = self.equations.store, {"x": position.p.q}, {"x": speed.p.v}
        return GraphFunction.of(position.values, q, store), GraphFunction.of(speed.values, v, store)

    def _loop(self, at: Mapping[str, np.ndarray]) -> Native:
        e = self.equations
        c = e.allocate()  # its own: the derivative's is in use between projections
        natives = [e.function().bind({**at, **c._asdict()}), native_retract(self.model, at, c.delta, e.store)]
        native = bind_kernel(project_by_calls, c, Projected(at["q"], at["v"], calls(natives)), store=e.store)
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
            project(on.position, on.speed, on.retract, on.c, on.p)
        return on.p.q, on.p.v


class _OnNumbers:
    """The functions that projection.py calls, on generic scalars: symbols of one graph, or floats."""

    def __init__(self, projector: Projector, values: Values, dtype: type, exact: bool = False) -> None:
        self.projector, self.values, self.dtype, self.exact = projector, values, dtype, exact
        self.c: ConstrainedState = projector.equations.empty(dtype, exact)
        state: list[np.ndarray] = [np.array(values[name], dtype=dtype) for name in ("q", "v")]
        self.p: Any = Projected(*state, np.zeros((0, 2), dtype=np.int64))

    def position(self, c: Any, p: Any) -> None:
        self.projector.equations.correct("g", c, self._values(p), self.dtype, self.exact)

    def speed(self, c: Any, p: Any) -> None:
        self.projector.equations.correct("rate", c, self._values(p), self.dtype, self.exact)

    def _values(self, p: Any) -> Values:
        return {**self.values, "q": p.q.tolist(), "v": p.v.tolist()}

    def retract(self, c: Any, p: Any) -> None:
        p.q[:] = retract(self.projector.model, p.q, c.delta, self.values["t"][0])
