"""Every method by name: what it is, where it comes from, what it costs, and the programs that carry it out."""

from __future__ import annotations

from dataclasses import dataclass

from ..reporting.table import PrintedList

LOOPS = ("python", "loops")
ALL = ("llvm", "loops", "python")
SPARSE = ("sparse",)


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
    needs_solid: bool = False
    """Divides by the mass matrix of every body."""
    iterates: bool = False
    """Starts from the solution of the previous call, stops by its residual: loops only."""
    multiplier_matrix: bool = False
    """Forms the full matrix of the multipliers, (6N−n)² numbers."""
    couples: bool = False
    """Handles coupled coordinates."""
    handles_flexible: bool = False
    """Handles flexible bodies though not coupled coordinates; what couples handles both."""
    constrains: str = ""
    """How it solves models with constraints: "inertia" (from its inertia matrix), "elimination" (multipliers eliminated with the
    bodies they act on), "form" (a dense matrix form), or not at all."""
    loses: str = "inertia"
    """Differences that lose digits where masses differ much: "sweeps" (of inertias of carried bodies), "inertia" (the
    same in the inertia matrix), "mobility" (inverse masses), or nothing: docs/theory/conditioning.md."""

    def handles(self, followers: bool, flexible: bool) -> bool:
        """Whether models with joints that follow others, or with flexible bodies, can be solved."""
        return self.couples or (not followers and (self.handles_flexible or not flexible))

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


_TABLE = [
    Method(
        "separate", "separate bodies: elimination from the leaves inward", "[I] §4.1, [Y], Vereshchagin 1974", "O(N)",
        ALL, "separate", couples=True, constrains="elimination", loses="sweeps",
    ),
    Method(
        "composite", "composite bodies, LᵀDL along the tree", "[I] §3.3", "O(n·depth²)",
        ALL, "composite", couples=True, constrains="inertia",
    ),
    Method(
        "direct", "BᵀMB written out, dense Cholesky", "[I] (3.12)", "O(N·depth²) + n³/6",
        ALL, "direct", "direct", couples=True, constrains="inertia",
    ),
    Method(
        "recursive", "A q̈ = b from Kane's equations, recursive sums", "[K] (10)–(21)", "O(n²)",
        ALL, "recursive", "recursive", "bias/recursive", couples=True, constrains="inertia",
    ),
    Method(
        "kosynka", "inertia matrix from Kane's equations, triangle of sums", "[K] (9)", "O(n³)",
        ALL, "kosynka", "kosynka", couples=True, constrains="inertia",
    ),
    Method(
        "stepanenko", "inertia matrix column by column, by inverse dynamics", "[K], Stepanenko", "O(n²)",
        ALL, "stepanenko", "stepanenko", couples=True, constrains="inertia",
    ),
    Method(
        "lagrange1", "multipliers eliminated on the tree", "[I] (3.8)–(3.10)", "O(N)",
        ALL, "lagrange1", needs_solid=True, handles_flexible=True, constrains="form", loses="mobility",
    ),
    Method(
        "inverse-iterative", "inverse of the last step, improved by rank one", "[I] (4.2)", "O(n²) a step",
        LOOPS, "inverse-iterative", iterates=True,
    ),
    Method(
        "direct-iterative", "factors of the last step, improved by rank one", "[I] §4.2, our reading", "O(n²) a step",
        LOOPS, "direct-iterative", iterates=True,
    ),
    Method(
        "inverse-iterative-multipliers", "the same on the system of multipliers", "[I] (4.2), (3.10)", "O((6N−n)²) a step",
        LOOPS, "inverse-iterative-multipliers", needs_solid=True, iterates=True, multiplier_matrix=True,
        loses="mobility",
    ),
    Method(
        "direct-iterative-multipliers", "the same on the system of multipliers", "[I] §4.2, (3.10)", "O((6N−n)²) a step",
        LOOPS, "direct-iterative-multipliers", needs_solid=True, iterates=True, multiplier_matrix=True,
        loses="mobility",
    ),
    Method(
        "extended", "the extended system at once, sparse LU", "[I] (3.6)", "O(N) with sparse LU",
        SPARSE, couples=True, constrains="form", loses="",
    ),
    Method(
        "maggi", "Maggi's equations in redundant quasi-velocities, sparse LU", "[I] §3.1, [B]", "O(N·depth)",
        SPARSE, constrains="form",
    ),
    Method("momentum", "Poisson's equations in momenta: no accelerations", "[I] §3.1", "O(N)", ALL, loses="sweeps"),
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
