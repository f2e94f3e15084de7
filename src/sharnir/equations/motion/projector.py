"""States kept on the constraints: projected onto them, or by coordinate partitioning.

Projection as machine code for one state or a batch, as loops for large models, and interpreted: all run the text of
kernels/projection.py. Partitioning of one run has the arrays of kernels/partition.py and the functions that it calls: compiled,
`recover` and `reconsider` are native functions on the state in X at the time in T; interpreted, the same text runs with Python
functions behind its calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends.graph_function import GraphFunction
from ...backends.run import Values
from ...backends.traced import state_inputs
from ...dialect.native import Native, bind_kernel, calls, from_python
from ...dialect.storage import allocate
from ...trace import Graph
from ..kernels.partition import Partition, reconsider, recover
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
        """`natives` for as many states as the processor has lanes, which are innermost in the arrays; of small models."""
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


# --- coordinate partitioning of one run
class Partitioning:
    """X (nx,): coordinates, speeds, and whatever follows."""

    def __init__(self, equations: ConstrainedEquations, X: np.ndarray, T: np.ndarray, parameters: np.ndarray) -> None:
        self.equations, self.structure, self.T, self.parameters = equations, equations.structure, T, parameters
        nq, nv = equations.structure.nq, equations.structure.nv
        self.p: Any = allocate(Partition, {**equations.sizes, "nx": len(X), "nc": 0})._replace(X=X, v=X[nq : nq + nv])
        self.renew()

    def renew(self) -> None:
        """The state before the first run: no partition is chosen."""
        self.p.kind[:] = self.p.tally[:] = 0.0

    @property
    def count(self) -> int:
        return int(self.p.tally[0])

    @property
    def dependent(self) -> np.ndarray:
        """(nv,): which speeds depend on the others."""
        return self.p.kind > 0.0

    def start(self, t: float, x: np.ndarray) -> np.ndarray:
        """x on the constraints with a good partition: at the start, and after an event has changed the state."""
        return self._run(t, x, recover, reconsider, recover)

    def recovered(self, t: float, x: np.ndarray, reconsidered: bool = False) -> np.ndarray:
        """x with its dependent part from the independent one, interpreted."""
        return self._run(t, x, recover, *([reconsider] if reconsidered else []))

    def _run(self, t: float, x: np.ndarray, *steps: Callable[[Any], int]) -> np.ndarray:
        self.p.X[:], self.T[0] = x, t
        for step in steps:
            step(self.p)
        return self.p.X.copy()

    def _use(self, natives: list[Native]) -> None:
        self._natives = natives
        self.p = self.p._replace(calls=calls(natives))

    # --- compiled -----------------------------------------------------------------------------------------------------------
    def compile(self, at: Mapping[str, np.ndarray]) -> tuple[Native, Native]:
        """`recover` and `reconsider` on the state whose parts are the arrays `at`."""
        e = self.equations
        inputs = state_inputs(self.structure, Graph())
        outputs = {name: x for name, x in e.table.trace(inputs).groups.items() if name != "gamma"}
        evaluate = GraphFunction.of(inputs, outputs, e.store)
        own = {name: getattr(self.p, name) for name in outputs}
        self._use([evaluate.bind({**at, **own}), native_retract(e.model, at, self.p.delta, e.store)])
        found = [bind_kernel(entry, self.p, store=e.store) for entry in (recover, reconsider)]
        for native in found:
            native.keep_alive(self._natives)
        return found[0], found[1]

    # --- interpreted --------------------------------------------------------------------------------------------------------
    def interpret(self) -> None:
        """Prepare `start` and `recovered` for a run without compiled code."""
        p, e, nq = self.p, self.equations, self.structure.nq

        def evaluate() -> None:
            found = e.table.evaluate(p.X[:nq], p.v, float(self.T[0]), self.parameters.tolist())
            p.g[:], p.rate[:], p.J[:] = found["g"], found["rate"], found["J"]

        def move() -> None:
            p.X[:nq] = retract(e.model, p.X[:nq], p.delta, float(self.T[0]))

        self._use([from_python(function) for function in (evaluate, move)])
