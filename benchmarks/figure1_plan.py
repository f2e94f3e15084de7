"""What Figure 1 measures: methods, sizes, steps, and the record of each measurement."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, field, fields
from pathlib import Path

from .growth import crossings

METHODS = {
    "composite": (1, "composite bodies for Lagrange's second kind, Cholesky"),
    "separate": (2, "separate bodies"),
    "lagrange1": (3, "Lagrange's first kind, Cholesky for the multipliers"),
    "inverse-iterative": (4, "Lagrange's second kind, inverse iterative method"),
    "direct-iterative": (5, "composite bodies for Lagrange's second kind, direct iterative method"),
}
"""Ours, in the order of the paper: its number there and what the paper calls it ([I] §5)."""
LINEAR = ("separate", "lagrange1")
ITERATIVE = ("inverse-iterative", "direct-iterative")
STRAIGHT = ("composite", "separate", "lagrange1")
"""Those that can be straight-line code; the number of iterations of the others depends on the values."""


@dataclass(frozen=True)
class Plan:
    sizes: Sequence[int] = (1, 2, 3, 5, 7, 10, 14, 20, 30, 40, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
    straight: Sequence[int] = (1, 2, 3, 5, 10, 20, 30, 50, 70, 100)
    """Sizes tried as straight-line code too."""
    step: float = 1e-3
    steps: Sequence[float] = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
    """Sizes of the step in the comparison of steps."""
    stepped: dict[int, Sequence[int]] = field(
        default_factory=lambda: {1: (3, 5, 10, 20, 30, 50, 100, 200), 3: (2, 3, 5, 10, 20, 30, 50, 70)}
    )
    """Chains in the comparison of steps: sizes by axes of a joint."""
    seconds: float = 0.4
    """For a race of all methods on one mechanism."""
    sample: float = 3.0
    """A method grows no further where a sample of its steps would take longer."""
    factorisation: float = 4.0
    """… or where the first steps of an iterative method would: they factorise."""
    least: int = 4
    """Steps in a sample of an iterative method, however slow it is."""
    along: int = 16
    """… and when sizes of the step are compared."""
    rounds: int = 3
    """At least; as many more as `seconds` allow."""
    loops: str = "loops"
    quick: bool = False

    @property
    def compiled(self) -> bool:
        """Whether the integrator is machine code; in tests it is interpreted."""
        return self.loops != "python"

    @classmethod
    def short(cls) -> Plan:
        chains = {1: (5, 10, 30), 3: (5, 10)}
        sizes = (1, 2, 5, 10, 20, 50, 100)
        return cls(sizes, (2, 10), 1e-3, (1e-4, 1e-3, 1e-2), chains, 0.1, sample=0.1, factorisation=0.5, along=8, quick=True)


@dataclass(frozen=True)
class Record:
    """One method on one mechanism: a line of the table."""

    mechanism: str
    axes: int
    bodies: int
    freedoms: int
    number: int
    """Of the method in the paper."""
    method: str
    backend: str
    step_s: float
    us_per_step: float
    iterations: float = 0.0
    """Per evaluation."""
    restarts: float = 0.0
    """Share of evaluations that refactorised."""
    timed_steps: int = 0

    @property
    def subject(self) -> tuple[str, int]:
        return self.mechanism, self.axes


COLUMNS = [f.name for f in fields(Record)]


@dataclass
class Measured:
    """All records, and what was not measured and why."""

    records: list[Record] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    beyond: dict[tuple[str, int, str], int] = field(default_factory=dict)
    """First size tried that is beyond straight-line code, by mechanism, axes and method."""

    def curve(self, mechanism: str, axes: int, method: str, backend: str) -> dict[float, float]:
        """Microseconds per step by number of bodies."""
        wanted = (mechanism, axes, method, backend)
        return {r.bodies: r.us_per_step for r in self.records if (r.mechanism, r.axes, r.method, r.backend) == wanted}

    def natural(self, mechanism: str, axes: int, method: str, loops: str) -> dict[float, float]:
        """What `auto` runs: straight-line code where there is any, loops beyond. Sizes below the change-over without a
        straight-line measurement are left out: the curve would jump up and down."""
        straight = self.curve(mechanism, axes, method, "llvm")
        longest = max(straight, default=0)
        return straight | {n: y for n, y in self.curve(mechanism, axes, method, loops).items() if n > longest}

    def over_steps(self, axes: int, n: int, method: str, what: str = "us_per_step") -> dict[float, float]:
        """A column of the records of one chain by the size of the step."""
        found = [r for r in self.records if (r.axes, r.bodies, r.method) == (axes, n, method)]
        return {r.step_s: getattr(r, what) for r in found}

    def beside_composite(self, axes: int, n: int, method: str) -> dict[float, float]:
        """Time per step over that of composite bodies with their factorisation, by the size of the step."""
        (other,) = self.over_steps(axes, n, "composite").values()
        return {h: y / other for h, y in self.over_steps(axes, n, method).items()}

    def break_even(self, axes: int, n: int, method: str) -> float:
        """The step up to which an iterative method is faster than factorising; 0: at none that was tried, infinite: at all."""
        ratio = self.beside_composite(axes, n, method)
        met = [c.at for c in crossings(ratio, dict.fromkeys(ratio, 1.0), 1.05) if c.lower == 1]
        if met:
            return met[-1]
        return 0.0 if ratio[min(ratio)] > 1.0 else math.inf


def write_csv(path: Path, records: Iterable[Record]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        out.writerows([f"{x:.6g}" if isinstance(x, float) else x for x in astuple(record)] for record in records)
