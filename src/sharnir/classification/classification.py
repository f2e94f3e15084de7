"""Classification: the tree of forms for one model in one state, what each consists of and costs, and why it fits or does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.counting import Count
from ..errors import MethodError, brief, choices
from ..forms.blocks import dense
from ..forms.matrices import Matrices
from ..model.mobility import Mobility
from ..model.model import Model
from .elimination import Cost, Skeleton, eliminated, growth

if TYPE_CHECKING:
    from ..comparison.comparison import Comparison

COMPONENTS = dict.fromkeys(("v̇", "v"), "x y z wx wy wz") | {"R": "fx fy fz mx my mz", "Λ": "px py pz lx ly lz"}


@dataclass
class MethodUse:
    """A method that solves a form, on this model."""

    name: str
    what: str
    why_not: str = ""
    """Why it cannot solve this model; empty where it can."""
    operations: Count | None = None
    """Operations of one evaluation, as written; with constraints as compiled, where they are counted."""
    predicted: float | None = None
    """Seconds of one evaluation, by the calibration of the machine."""
    measured: float | None = None
    """Seconds of one evaluation on the fastest backend, where it was measured."""
    auto: bool = False
    """The choice of method="auto"."""


@dataclass(repr=False)
class Node:
    """A form of the equations, for one model in one state."""

    name: str
    title: str
    equation: str
    step: str
    """How it follows from its `parent`, the name of another form."""
    text: str
    parent: str = ""
    assembled: str = ""
    """Its name for `Matrices.system`."""
    blocks: str = ""
    """The form whose blocks are eliminated to solve it."""
    why_not: str = ""
    """The property of the model that forbids it; empty where it fits."""
    unknowns: tuple[tuple[str, int], ...] = ()
    """Letters, and how many numbers each stands for."""
    matrix: Any = None
    """The matrix in this state; None where it is never assembled or the form does not fit."""
    right: Any = None
    """The right-hand side."""
    matrices: Matrices | None = None
    skeleton: Skeleton | None = None
    methods: list[MethodUse] = field(default_factory=list)
    integrators: tuple[str, ...] = ()
    """Integrators that carry its motion on, where some method solves it."""
    children: list[Node] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"Node({self.name!r}, {self.equation!r}, {self.why_not or f'{self.size} unknowns'})"

    @property
    def fits(self) -> bool:
        return not self.why_not

    @property
    def size(self) -> int:
        return sum(n for _, n in self.unknowns)

    @cached_property
    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, columns and values of the numbers in the matrix that are not zero in this state."""
        matrix = dense(self.matrix)
        rows, columns = np.nonzero(matrix)
        return rows, columns, matrix[rows, columns]

    @property
    def nonzeros(self) -> int:
        return len(self.entries[0])

    @cached_property
    def by_body(self) -> np.ndarray:
        """The unknowns ordered body by body, those of constraints last."""
        return np.argsort([owner for _, owner in self.labels], kind="stable")

    @property
    def band(self) -> int:
        """The largest distance of a number from the diagonal, unknowns ordered body by body."""
        place, (rows, columns, _) = np.argsort(self.by_body), self.entries
        return int(np.abs(place[rows] - place[columns]).max(initial=0))

    @cached_property
    def cost(self) -> Cost | None:
        """Numbers in the factors, fill-in and multiplications, by the structure of the model alone."""
        return eliminated(self.blocks, self.skeleton) if self.skeleton and self.blocks else None

    @cached_property
    def growth(self) -> tuple[float, float] | None:
        """Exponents p of Nᵖ for numbers in the factors and multiplications, copies of the model hung on each other."""
        return growth(self.blocks, self.skeleton) if self.skeleton and self.blocks else None

    @cached_property
    def labels(self) -> list[tuple[str, int]]:
        """A name for every unknown, and the number of its body; N where it belongs to a constraint."""
        m, out = self.matrices, list[tuple[str, int]]()
        assert m is not None
        s, joints = m.structure, [joint.name for joint in (*m.model.joints, *m.closing_joints)]
        owners = (np.searchsorted(s.v_first, np.arange(m.n), side="right") - 2).tolist()
        for letter, n in self.unknowns:
            own: list[tuple[str, int]] = []
            if letter in COMPONENTS:
                names, parts = [body.name for body in s.bodies] if letter in "v̇" else joints, COMPONENTS[letter].split()
                own = [(f"{names[k // 6]} {parts[k % 6]}", min(k // 6, m.N)) for k in range(n)]
            elif letter in ("q̈", "q̇"):
                own = list(zip(m.model.v_names, owners, strict=True))
            elif letter == "λ" and n == m.Z.shape[1]:
                own = [(f"{joints[i]} {c + 1}", i) for i, Z in enumerate(m.Z_blocks) for c in range(Z.shape[1])]
            own += [(f"{k + 1}", m.N) for k in range(len(own), n)]
            out += [(f"{letter} {name}", owner) for name, owner in own]
        return out


@dataclass(repr=False)
class Classification:
    """Result of `sharnir.classify`: print it, read `c["(3.10)"]` or iterate over its nodes, write `c.report("forms.html")`."""

    model: Model
    mobility: Mobility
    """Degrees of freedom in this position, and which constraints depend on others."""
    root: Node
    why: str
    """The reason for the choice of method="auto"."""
    how: str
    """How the methods were run whose times are predicted, and whose calibration it was."""
    comparison: Comparison | None = None
    """The measurements, where there were any."""

    def __iter__(self) -> Iterator[Node]:
        """The forms, each before those that follow from it."""
        waiting = [self.root]
        while waiting:
            yield (node := waiting.pop())
            waiting += reversed(node.children)

    def __getitem__(self, name: str) -> Node:
        """The form of this name, equation number, or method."""
        for node in self:
            if name in (node.name, node.equation, *(use.name for use in node.methods)):
                return node
        raise MethodError(f"no form {brief(name)}; {choices(name, [x for n in self for x in (n.name, n.equation)], 'forms', 40)}")

    def __repr__(self) -> str:
        return f"Classification({self.model.name!r}, {sum(node.fits for node in self)} of {len(list(self))} forms fit)"

    def __str__(self) -> str:
        from .report import text

        return text(self)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"

    def report(self, path: str | PathLike[str]) -> Path:
        """One HTML file with the tree, every matrix and its numbers, which opens offline."""
        from .report import write_report

        return write_report(self, path)
