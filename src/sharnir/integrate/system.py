"""A right-hand side made ready: buffers, and the native functions that work on them.

Three ways to one: from addresses (`System` itself), from a plain Python function (`from_python`), from a function traced
on symbols and compiled, its Jacobian too (`from_traced`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..backends.graph_function import GraphFunction
from ..dialect.cache import Cache
from ..dialect.jit import host_lanes
from ..dialect.native import Native, calls
from ..dialect.native import from_python as native_from_python
from ..errors import StateError
from ..trace import Graph, Number, Symbol, call_traced, check_numbers, needed, tangent
from .kernels.problem import Problem

if TYPE_CHECKING:
    from .workspace import Workspace

Function = Callable[[float, np.ndarray], ArrayLike]
"""A function of (t, x)."""

ROLE_NAMES = ("derivative", "rates", "projection", "events", "jacobian")
"""In the order of kernels/problem.py."""


@dataclass
class Buffers:
    """Arrays that native functions read (X, T) and write (DX, G, J, report)."""

    X: np.ndarray
    DX: np.ndarray
    T: np.ndarray
    G: np.ndarray
    J: np.ndarray
    """By columns: J[j, i] is the derivative of DX[i] by X[j]."""
    report: np.ndarray


def buffers(n: int, events: int = 0, report: int = 0, jacobian: bool = False) -> Buffers:
    """Buffers for n numbers, so many event functions and so many numbers to be summed over the steps."""
    nj = n if jacobian else 0
    return Buffers(np.zeros(n), np.zeros(n), np.zeros(1), np.zeros(events), np.zeros((nj, nj)), np.zeros(report))


class System:
    """Functions for each role, each a list of calls made one after the other.

    `derivative` writes DX; `rates`, where it is cheaper, only its first `split` numbers (for 'euler'); `projection`
    overwrites X by what it should be; `events` write G; `jacobian` writes J. `split` is where positions end and
    speeds begin.
    """

    def __init__(
        self,
        buffers: Buffers,
        derivative: Sequence[Native],
        *,
        rates: Sequence[Native] = (),
        projection: Sequence[Native] = (),
        events: Sequence[Native] = (),
        jacobian: Sequence[Native] = (),
        split: int | None = None,
    ) -> None:
        self.buffers = buffers
        self.n = len(buffers.X)
        self.split = self.n // 2 if split is None else split
        self.n_events = len(buffers.G) if events else 0
        self.failure: BaseException | None = None
        """An exception of a Python function; the run raises it again."""
        self.calls_python = False
        """Whether its functions are Python's: slow, so that a run pauses sooner."""
        self.idle: dict[tuple[object, ...], Workspace] = {}
        """Workspaces of finished runs, for reuse (workspace.py)."""
        self.later_jacobian: Callable[[], Sequence[Native]] | None = None
        """Makes the functions that write J, when a method first needs them; J has its room from the start."""
        self._roles = [list(role) for role in (derivative, rates, projection, events, jacobian)]  # in the order of the roles
        self._arrange()

    def _arrange(self) -> None:
        self._calls = calls([native for role in self._roles for native in role])
        self._first = np.cumsum([0, *(len(role) for role in self._roles)]).astype(np.int64)
        self.has_jacobian = bool(self._roles[4])

    def replace_functions(self, role: str, natives: Sequence[Native]) -> None:
        """Have a role played by others: from the next workspace on."""
        self._roles[ROLE_NAMES.index(role)] = list(natives)
        self._arrange()

    def natives(self, role: str) -> list[Native]:
        """The functions that play "derivative", "rates", "projection", "events" or "jacobian"."""
        return self._roles[ROLE_NAMES.index(role)]

    def problem(self, jacobian: bool) -> Problem:
        """The arrays for an integrator; `jacobian`: with room for one, of the system or by differences."""
        b = self.buffers
        if jacobian and self.later_jacobian is not None:
            make, self.later_jacobian = self.later_jacobian, None
            self.replace_functions("jacobian", make())
        J = b.J if self.has_jacobian or not jacobian else np.zeros((self.n, self.n))
        return Problem(b.X, b.DX, b.T, b.G if self.n_events else b.G[:0], J, b.report, self._calls, self._first)

    def derivative(self, t: float, x: np.ndarray) -> np.ndarray:
        """dx at (t, x): one evaluation, from Python."""
        self._perform(0, t, x)
        return self.buffers.DX.copy()

    def event_values(self, t: float, x: np.ndarray) -> np.ndarray:
        self._perform(3, t, x)
        return self.buffers.G.copy()

    def jacobian(self, t: float, x: np.ndarray) -> np.ndarray:
        """d(dx_i)/d(x_j) as rows i and columns j, where the system has one."""
        self._perform(4, t, x)
        return self.buffers.J.T.copy()

    def projected(self, t: float, x: np.ndarray) -> np.ndarray:
        """x projected onto the constraints of the system; x itself where there are none."""
        self._perform(2, t, x)
        return self.buffers.X.copy()

    def _perform(self, role: int, t: float, x: np.ndarray) -> None:
        self.buffers.X[:] = x
        self.buffers.T[0] = t
        for native in self._roles[role]:
            native()
        self.raise_failure()

    def raise_failure(self) -> None:
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure


def from_python(
    f: Function,
    n: int,
    *,
    events: Function | None = None,
    n_events: int = 0,
    projection: Function | None = None,
    split: int | None = None,
) -> System:
    """A system whose functions are plain Python: f(t, x) -> dx, events(t, x) -> n_events numbers, projection(t, x) -> x. Compiled
    integrators call them too, at the speed of Python."""
    b = buffers(n, events=n_events)

    def call(function: Function | None, target: np.ndarray) -> list[Native]:
        if function is None:
            return []

        def callback() -> None:
            if system.failure is not None:  # the run ends: no further evaluations
                target.fill(np.nan)
                return
            try:
                result = np.asarray(function(float(b.T[0]), b.X.copy()), dtype=float)
                if result.size != target.size:
                    name = getattr(function, "__name__", repr(function))
                    raise StateError(f"{name!r} must return {target.size} numbers, got {result.size}")
                target[...] = result.reshape(target.shape)
            except BaseException as error:
                target.fill(np.nan)
                system.failure = error

        return [native_from_python(callback)]

    system = System(b, call(f, b.DX), projection=call(projection, b.X), events=call(events, b.G), split=split)
    system.calls_python = True
    return system


def from_traced(
    f: Callable[..., Any],
    n: int,
    *,
    events: Callable[..., Any] | None = None,
    projection: Callable[..., Any] | None = None,
    jacobian: bool = True,
    parameters: np.ndarray | None = None,
    split: int | None = None,
) -> System:
    """A compiled system: f(t, x) -> dx, events(t, x) -> numbers, projection(t, x) -> x, all on symbols.

    With `parameters`, an array of floats, each function has it as its third argument; changing the array changes the
    system.
    """
    store = Cache()
    graph = Graph()
    x, (t,) = graph.inputs(n), graph.inputs(1)
    p = graph.inputs(len(parameters)) if parameters is not None else ()
    symbols: tuple[Any, ...] = (t, np.array(x, dtype=object), *([np.array(p, dtype=object)] if parameters is not None else []))

    def traced(function: Callable[..., Any], what: str, size: int | None) -> tuple[Number, ...]:
        values = list(np.ravel(np.array(call_traced(function, symbols, what), dtype=object)))
        if size is not None and len(values) != size:
            raise StateError(f"{what} must return {size} numbers, got {len(values)}")
        return check_numbers(values, graph, what)

    dx = traced(f, f"the right-hand side {_name(f)}", n)
    g = traced(events, f"the event function {_name(events)}", None) if events else ()
    onto = traced(projection, f"the projection {_name(projection)}", n) if projection else ()
    b = buffers(n, events=len(g), jacobian=jacobian)
    inputs: dict[str, tuple[Symbol, ...]] = {"x": x, "t": (t,), "p": p}
    arrays = {"x": b.X, "t": b.T, "p": parameters if parameters is not None else np.zeros(0)}

    def call(outputs: tuple[Number, ...], target: np.ndarray) -> list[Native]:
        return [GraphFunction.of(inputs, {"y": outputs}, store).bind({**arrays, "y": target})]

    return System(
        b,
        call(dx, b.DX),
        events=call(g, b.G) if g else (),
        projection=call(onto, b.X) if onto else (),
        jacobian=_jacobian(graph, inputs, arrays, dx, b.J, store) if jacobian and n else (),
        split=split,
    )


def _name(function: Any) -> str:
    return repr(getattr(function, "__name__", type(function).__name__))


def _jacobian(
    graph: Graph,
    inputs: dict[str, tuple[Symbol, ...]],
    arrays: dict[str, np.ndarray],
    dx: tuple[Number, ...],
    J: np.ndarray,
    store: Cache,
) -> list[Native]:
    """Whichever is less work: all columns in one graph, where zeros vanish and equal parts are shared; or the derivative
    along one direction, run for all directions as a batch, some in each vector register."""
    x, n = inputs["x"], len(inputs["x"])
    seed = graph.inputs(n)
    along = tangent(dx, list(zip(x, seed, strict=True)))
    columns = tuple(y for symbol in x for y in tangent(dx, [(symbol, 1.0)]))
    lanes = host_lanes() if n >= host_lanes() else 1
    if len(needed(graph, columns)) <= len(needed(graph, along)) * -(-n // lanes):
        return [GraphFunction.of(inputs, {"J": columns}, store).bind({**arrays, "J": J})]
    batch = GraphFunction.of({**inputs, "seed": seed}, {"J": along}, store)
    return [batch.bind({**arrays, "seed": np.eye(n), "J": J}, n, lanes)]
