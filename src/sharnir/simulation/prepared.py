"""What the runs of one model have in common, made once: the equations as a graph, their machine code.

All of it follows from the model's `Structure`, which never changes (parameters are inputs), and is forgotten with it.
"""

from __future__ import annotations

from functools import cached_property
from weakref import WeakKeyDictionary

from ..backends.compiled_programs import mark_large
from ..backends.llvm.runner import GraphRunner
from ..dialect.cache import Cache
from ..dynamics import Dynamics
from ..equations.derivative import TracedDerivative, jacobian_along, trace_derivative
from ..equations.stabilisation import DECAYING, PROJECTION
from ..equations.stabilised import StabilisedEquations
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


_equations: WeakKeyDictionary[Structure, dict[tuple[object, ...], Equations | None]] = WeakKeyDictionary()


def equations(
    d: Dynamics, balance: bool = True, tau_works: bool = True, limit: int | None = None, stabilisation: str = PROJECTION
) -> Equations | None:
    """`trace_derivative` with the method of `d`, cached with its model; None where the graph has more nodes than `limit`."""
    kept = _equations.setdefault(d.structure, {})
    aid = stabilisation if d.constrained and stabilisation in DECAYING else ""  # the others leave the equations as they are
    key = (d.method, balance, tau_works, limit, str(d.formulation.programs.store.folder), aid)
    if key not in kept:
        closed = StabilisedEquations(d.constrained, aid) if d.constrained and aid else d.constrained
        try:
            traced = trace_derivative(d.structure, d.formulation.method, balance, tau_works, limit, closed)
            kept[key] = Equations(traced, d.formulation.programs.store)
        except GraphTooLarge:
            if d.method == "separate":
                mark_large(d.structure)
            kept[key] = None
    return kept[key]
