"""Every integrator by name: what it is, where it comes from, when to use it, and the functions that carry it out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..errors import MethodError, brief, unknown
from ..reporting.table import PrintedList
from .kernels.adams import AdamsMemory, adams
from .kernels.dop853 import DOP853_SIZES, DOP853_TABLEAU, dop853
from .kernels.dopri5 import DOPRI5_SIZES, DOPRI5_TABLEAU, dopri5
from .kernels.euler import euler
from .kernels.midpoint import MidpointMemory, midpoint
from .kernels.radau import RadauMemory, radau
from .kernels.rk4 import rk4
from .kernels.runge_kutta import Stages


class Nothing(NamedTuple):
    """The memory of a method that has none."""


@dataclass(frozen=True)
class Integrator:
    name: str
    what: str
    order: str
    adaptive: bool
    implicit: bool
    source: str
    use: str
    """When to take it."""
    entry: Callable[..., int] | None = None
    """The loop with this method, in the dialect; None where a library does the work."""
    memory: Any = Nothing
    sizes: dict[str, int] = field(default_factory=dict)
    tableau: dict[str, Any] = field(default_factory=dict)
    needs_jacobian: bool = False
    matrices: int = 0
    """Dense matrices of the size of the state that it holds."""
    rows: int = 3
    """Rows of the polynomial of a step."""
    switches: bool = False
    """Begins as it says, and goes on with another method where that is better (switching.py)."""

    def fill(self, memory: Any) -> None:
        """The method's coefficients into its own arrays."""
        for name, rows in self.tableau.items():
            target = getattr(memory, name)
            target[...] = 0.0
            if rows and isinstance(rows[0], (list, tuple)):
                for row, numbers in enumerate(rows):
                    target[row, : len(numbers)] = numbers
            else:
                target[: len(rows)] = np.array(rows, dtype=float)


_DOP853: dict[str, Any] = {"memory": Stages, "sizes": DOP853_SIZES, "tableau": DOP853_TABLEAU, "rows": 7}

_TABLE = [
    Integrator(
        "auto", "'dop853', and 'radau' where it is stiff", "8, 5", True, False, "Hairer, Wanner II, IV.2",
        "the default: switches by itself, as often as needed", dop853, **_DOP853, switches=True,
    ),
    Integrator(
        "dop853", "Dormand–Prince, dense output of order 7", "8(5,3)", True, False, "Hairer, Nørsett, Wanner I, II.5",
        "smooth motion, tolerances from 1e-5 down", dop853, **_DOP853,
    ),
    Integrator(
        "dopri5", "Dormand–Prince, dense output of order 4", "5(4)", True, False, "Dormand, Prince 1980",
        "coarse tolerances, many events, a right-hand side with kinks", dopri5, Stages, DOPRI5_SIZES, DOPRI5_TABLEAU, rows=4,
    ),
    Integrator(
        "adams", "Adams–Bashforth–Moulton PECE, variable order", "1–13", True, False, "Shampine, Gordon 1975",
        "an expensive right-hand side, smooth motion, tight tolerances", adams, AdamsMemory, rows=15,
    ),
    Integrator(
        "radau", "Radau IIA, dense output of order 3", "5", True, True, "Hairer, Wanner II, IV.8",
        "stiff problems: hard springs, strong damping, fast decays", radau, RadauMemory, needs_jacobian=True, matrices=4,
    ),
    Integrator("rk4", "the classical Runge–Kutta method", "4", False, False, "Kutta 1901", "a given step, batches", rk4),
    Integrator(
        "euler", "semi-implicit Euler, symplectic", "1", False, False, "Hairer, Lubich, Wanner I.1",
        "one evaluation a step: games, learning, previews", euler,
    ),
    Integrator(
        "midpoint", "implicit midpoint rule, symplectic", "2", False, True, "Hairer, Lubich, Wanner VI.4",
        "very long runs without loss: energy does not drift", midpoint, MidpointMemory,
    ),
    Integrator(
        "cvode-adams", "CVODE's Adams–Moulton, by scikit-sundae", "1–12", True, False, "SUNDIALS",
        "an independent check; needs sharnir[sundials]",
    ),
    Integrator(
        "cvode-bdf", "CVODE's backward differences, by scikit-sundae", "1–5", True, True, "SUNDIALS",
        "an independent check for stiff problems; needs sharnir[sundials]", matrices=3,
    ),
]  # fmt: skip

INTEGRATORS: dict[str, Integrator] = {method.name: method for method in _TABLE}


def integrator(name: str) -> Integrator:
    if not isinstance(name, str) or name not in INTEGRATORS:
        raise MethodError(unknown(f"integrator {brief(name)}", name, INTEGRATORS, "integrators"))
    return INTEGRATORS[name]


class IntegratorTable(PrintedList[Integrator]):
    """A list of integrators that prints as a table."""

    head = ("integrator", "what it is", "order", "step", "source", "when to use it")

    @staticmethod
    def row(item: Integrator) -> tuple[str, ...]:
        return item.name, item.what, item.order, "adaptive" if item.adaptive else "fixed", item.source, item.use


def integrators() -> IntegratorTable:
    """All integrators: print it, or read .name .what .order .adaptive .implicit .source .use of each."""
    return IntegratorTable(_TABLE)
