"""Every method by name: what it is, where it comes from, what it costs, and the programs that carry it out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..reporting.table import PrintedList

LOOPS = ("python", "loops")
ALL = ("llvm", "loops", "python")
SPARSE = ("sparse",)

COUPLED, FLEXIBLE, CLOSED = "coupled coordinates", "flexible bodies", "closed loops and constraints"
CLOSED_COUPLED = "closed loops together with flexible bodies or coupled joints"
"""Features of models that not every method handles."""


def features(followers: bool, flexible: bool, closed: bool) -> tuple[str, ...]:
    """Those of a model with joints that follow others, flexible bodies, constraints. With constraints every method that handles
    them solves for all speeds at once."""
    if closed:
        return (CLOSED, *((CLOSED_COUPLED,) if followers or flexible else ()))
    return (*((COUPLED,) if followers else ()), *((FLEXIBLE,) if flexible else ()))


@dataclass(frozen=True)
class Method:
    name: str
    what: str
    source: str
    cost: str
    backends: tuple[str, ...]
    program: str | None = None
    """Suffix of its forward programs; None where a sparse solver or no acceleration is involved."""
    inertia: str = "composite"
    """The algorithm that makes its inertia matrix."""
    bias: str = "bias"
    """The program of its bias."""
    iterates: bool = False
    """Starts from the solution of the previous call, stops by its residual: loops only."""
    multiplier_matrix: bool = False
    """Forms the full matrix of the multipliers, (6N−n)² numbers."""
    multipliers: bool = False
    """Solves for the multipliers of the joints, R = Zλ + R_τ."""
    refuses: tuple[tuple[str, str], ...] = ()
    """Features that it does not handle, and why."""
    constrains: str = ""
    """How it solves models with constraints: "inertia" (from its inertia matrix), "iteration" (the same by iteration),
    "elimination" (multipliers eliminated with the bodies they act on), "form" (a dense matrix form), or not at all."""
    loses: str = "inertia"
    """Differences that lose digits where masses differ much: "sweeps" (of inertias of carried bodies), "inertia" (the
    same in the inertia matrix), "mobility" (inverse masses), or nothing: docs/theory/conditioning.md."""

    def refusal(self, features: Iterable[str]) -> tuple[str, str] | None:
        """The first of these features that it does not handle, and why."""
        refused = dict(self.refuses)
        return next(((feature, refused[feature]) for feature in features if feature in refused), None)

    @property
    def is_sparse_form(self) -> bool:
        """A sparse matrix form, solved state by state."""
        return "sparse" in self.backends

    @property
    def in_momenta(self) -> bool:
        """Momenta and their rates in place of accelerations."""
        return self.program is None and not self.is_sparse_form

    @property
    def straight(self) -> bool:
        """Can be compiled to straight-line code."""
        return "llvm" in self.backends


_SHARED = "a speed that joints share is an unknown of all of them at once, and its multipliers belong to one joint each"
_NO_ELASTIC = "its system has no rows for elastic coordinates"
_CONSTRAINED = "'inverse-iterative' and 'direct-iterative' put constraints on top of a smaller matrix of full rank"
_MULTIPLIERS = ((COUPLED, _SHARED), (FLEXIBLE, _NO_ELASTIC), (CLOSED, _CONSTRAINED))
_MOMENTA = (
    (FLEXIBLE, "the rates of its momenta need the slopes of mass matrices by elastic coordinates, and has none"),
    (CLOSED, "rates of momenta need the multipliers of constraints, and those the accelerations that it does without"),
)

_TABLE = [
    Method(
        "separate", "separate bodies: elimination from the leaves inward", "[I] §4.1, [Y], Vereshchagin 1974", "O(N)",
        ALL, "separate", constrains="elimination", loses="sweeps",
    ),
    Method(
        "composite", "composite bodies, LᵀDL along the tree", "[I] §3.3", "O(n·depth²)",
        ALL, "composite", constrains="inertia",
    ),
    Method(
        "direct", "BᵀMB written out, dense Cholesky", "[I] (3.12)", "O(N·depth²) + n³/6",
        ALL, "direct", "direct", constrains="inertia",
    ),
    Method(
        "recursive", "A q̈ = b from Kane's equations, recursive sums", "[K] (10)–(21)", "O(n²)",
        ALL, "recursive", "recursive", "bias/recursive", constrains="inertia",
    ),
    Method(
        "kosynka", "inertia matrix from Kane's equations, triangle of sums", "[K] (9)", "O(n³)",
        ALL, "kosynka", "kosynka", constrains="inertia",
    ),
    Method(
        "stepanenko", "inertia matrix column by column, by inverse dynamics", "[K], Stepanenko", "O(n²)",
        ALL, "stepanenko", "stepanenko", constrains="inertia",
    ),
    Method(
        "lagrange1", "multipliers eliminated on the tree", "[I] (3.8)–(3.10)", "O(N)",
        ALL, "lagrange1", multipliers=True, constrains="form", loses="mobility",
        refuses=((COUPLED, _SHARED), (CLOSED_COUPLED, _NO_ELASTIC + ", nor its multipliers for shared speeds")),
    ),
    Method(
        "inverse-iterative", "inverse of the last step, improved by rank one", "[I] (4.2)", "O(n²) a step",
        LOOPS, "inverse-iterative", iterates=True, constrains="iteration",
    ),
    Method(
        "direct-iterative", "factors of the last step, improved by rank one", "[I] §4.2, our reading", "O(n²) a step",
        LOOPS, "direct-iterative", iterates=True, constrains="iteration",
    ),
    Method(
        "inverse-iterative-multipliers", "the same on the system of multipliers", "[I] (4.2), (3.10)", "O((6N−n)²) a step",
        LOOPS, "inverse-iterative-multipliers", iterates=True, multipliers=True, multiplier_matrix=True,
        loses="mobility", refuses=_MULTIPLIERS,
    ),
    Method(
        "direct-iterative-multipliers", "the same on the system of multipliers", "[I] §4.2, (3.10)", "O((6N−n)²) a step",
        LOOPS, "direct-iterative-multipliers", iterates=True, multipliers=True, multiplier_matrix=True,
        loses="mobility", refuses=_MULTIPLIERS,
    ),
    Method(
        "extended", "the extended system at once, sparse LU", "[I] (3.6)", "O(N) with sparse LU",
        SPARSE, constrains="form", loses="",
    ),
    Method(
        "maggi", "Maggi's equations in redundant quasi-velocities, sparse LU", "[I] §3.1, [B]", "LU of O(N·depth) entries",
        SPARSE, constrains="form",
    ),
    Method(
        "momentum", "Poisson's equations in momenta: no accelerations", "[I] §3.1", "O(N)",
        ALL, loses="sweeps", refuses=_MOMENTA,
    ),
]  # fmt: skip

METHODS: dict[str, Method] = {method.name: method for method in _TABLE}

SMALLEST = METHODS["separate"]
"""The method with the smallest graph for long trees: a model is large if even this graph is too large to compile."""


class MethodTable(PrintedList[Method]):
    """A list of methods that prints as a table."""

    head = ("method", "what it is", "source", "cost", "backends")

    @staticmethod
    def row(item: Method) -> tuple[str, ...]:
        return item.name, item.what, item.source, item.cost, " ".join(item.backends)


def methods() -> MethodTable:
    """All methods: print it, or read .name .what .source .cost .backends of each."""
    return MethodTable(_TABLE)
