"""What the runs of one model have in common, made once: the choice of a method, the equations as a graph, their machine code.

All of it follows from the model's `Structure`, which never changes (parameters are inputs), and is forgotten with it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from weakref import WeakKeyDictionary

from ..backends.compiled_programs import mark_large
from ..backends.derivative import TracedDerivative, jacobian_along, trace_derivative
from ..backends.llvm.runner import GraphRunner
from ..dialect.cache import Cache
from ..dynamics import Dynamics
from ..equations.constrained import ConstrainedEquations
from ..equations.stabilisation import DECAYING, PROJECTION
from ..equations.stabilised import StabilisedEquations
from ..model.model import Model
from ..model.structure import Structure
from ..trace import GraphTooLarge


class Equations:
    """The derivative of the state as a graph, and as machine code for one state or for lanes of states."""

    def __init__(self, derivative: TracedDerivative, store: Cache) -> None:
        self.derivative, self._store = derivative, store
        self.code = GraphRunner(derivative.traced, store=store)

    @cached_property
    def along(self) -> GraphRunner:
        """Its change along a direction: `jacobian_along`."""
        return GraphRunner(jacobian_along(self.derivative), store=self._store)


class KnownDynamics(Dynamics):
    """Of a model that had one before: what was checked then holds, and so do the equations of its constraints."""

    def _check_inertia(self) -> None: ...

    def _constrained(self, backend: str) -> ConstrainedEquations | None:
        return _keep_constrained(self, backend, super()._constrained)


def _keep_constrained(
    d: Dynamics, backend: str, make: Callable[[str], ConstrainedEquations | None]
) -> ConstrainedEquations | None:
    kept = d.structure.kept  # they know the structure: kept with it, they go with it
    key = (d.method, backend, str(d._compiled.store.folder))
    if key not in kept:
        kept[key] = make(backend)
    return kept[key]


_choices: WeakKeyDictionary[Structure, dict[tuple[str, str], tuple[str, str]]] = WeakKeyDictionary()
_equations: WeakKeyDictionary[Structure, dict[tuple[object, ...], Equations | None]] = WeakKeyDictionary()


def dynamics(model: Model, method: str, backend: str) -> Dynamics:
    """A Dynamics of its own for every run; which method is the best, and whether every joint moves a mass, is found out once."""
    known = _choices.setdefault(model.structure, {})
    if (method, backend) in known:
        chosen, why = known[method, backend]
        d: Dynamics = KnownDynamics(model, chosen, backend)
        d.why = why
    else:
        d = Dynamics(model, method, backend)
        known[method, backend] = d.method, d.why
        _keep_constrained(d, backend, lambda _: d.closed)
    return d


def equations(
    d: Dynamics, balance: bool = True, tau_works: bool = True, limit: int | None = None, stabilisation: str = PROJECTION
) -> Equations | None:
    """`trace_derivative` with the method of `d`, cached with its model; None where the graph has more nodes than `limit`."""
    kept = _equations.setdefault(d.structure, {})
    aid = stabilisation if d.closed and stabilisation in DECAYING else ""  # the others leave the equations as they are
    key = (d.method, balance, tau_works, limit, str(d._compiled.store.folder), aid)
    if key not in kept:
        closed = StabilisedEquations(d.closed, aid) if d.closed and aid else d.closed
        try:
            traced = trace_derivative(d.structure, d._method, balance, tau_works, limit, closed)
            kept[key] = Equations(traced, d._compiled.store)
        except GraphTooLarge:
            if d.method == "separate":
                mark_large(d.structure)
            kept[key] = None
    return kept[key]
