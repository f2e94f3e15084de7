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
from ..forms.system import System
from ..model.model import Model
from .elimination import Cost, Skeleton, eliminated, growth

if TYPE_CHECKING:
    from ..comparison.comparison import Comparison

COMPONENTS = {"v̇": "x y z wx wy wz", "v": "x y z wx wy wz", "R": "fx fy fz mx my mz", "Λ": "px py pz lx ly lz"}


@dataclass
class MethodUse:
    """A method that solves a form, on this model."""

    name: str
    what: str
    why_not: str = ""
    """Why it cannot solve this model; empty where it can."""
    operations: Count | None = None
    """Of one evaluation, as written."""
    predicted: float | None = None
    """Seconds of one evaluation, by the calibration of the machine."""
    measured: float | None = None
    """Seconds of one evaluation on its fastest backend, where it was measured."""
    auto: bool = False
    """The choice of method="auto"."""


@dataclass
class Node:
    """A form of the equations, for one model in one state."""

    name: str
    title: str
    equation: str
    step: str
    """How it follows from the form above it."""
    text: str
    parent: Node | None
    why_not: str
    """The property of the model that forbids the form; empty where it fits."""
    matrices: Matrices | None = field(repr=False)
    system: System | None = field(repr=False)
    """The assembled equations; None where the form has none, or does not fit."""
    blocks: str
    skeleton: Skeleton = field(repr=False)
    integrators: tuple[str, ...] = ()
    """Integrators that carry its motion on, where some method solves it."""
    methods: list[MethodUse] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)

    @property
    def fits(self) -> bool:
        return not self.why_not

    @property
    def unknowns(self) -> tuple[tuple[str, int], ...]:
        """Letters, and how many numbers each stands for."""
        return self.system.unknowns if self.system else ()

    @property
    def size(self) -> int:
        return sum(n for _, n in self.unknowns)

    @property
    def matrix(self) -> Any:
        return self._assembled.matrix

    @property
    def right(self) -> np.ndarray:
        return self._assembled.right

    @property
    def _assembled(self) -> System:
        if self.system is None:
            raise MethodError(f"the form {self.name!r} has no matrix here: {self.why_not or 'it is never assembled'}")
        return self.system

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
        place = np.argsort(self.by_body)
        rows, columns, _ = self.entries
        return int(np.abs(place[rows] - place[columns]).max(initial=0))

    @cached_property
    def cost(self) -> Cost | None:
        """Numbers in the factors, fill-in and multiplications, by the structure of the model alone."""
        return eliminated(self.blocks, self.skeleton) if self.fits and self.blocks else None

    @cached_property
    def growth(self) -> tuple[float, float] | None:
        """Exponents p of Nᵖ for numbers in the factors and multiplications, copies of the model hung on each other."""
        return growth(self.blocks, self.skeleton) if self.fits and self.blocks else None

    @cached_property
    def labels(self) -> list[tuple[str, int]]:
        """A name for every unknown, and the number of its body; N where it belongs to a constraint."""
        m, out = self.matrices, list[tuple[str, int]]()
        assert m is not None
        bodies = [body.name for body in m.structure.bodies]
        joints = [joint.name for joint in (*m.model.joints, *m.closing_joints)]
        freedoms = [name for name in m.model.v_names]
        owner = np.searchsorted(m.structure.v_first, np.arange(m.n), side="right") - 2
        for letter, n in self.unknowns:
            if letter in COMPONENTS:
                names = bodies if letter in "v̇" else joints
                out += [(f"{letter} {names[i // 6]} {COMPONENTS[letter].split()[i % 6]}", min(i // 6, m.N)) for i in range(n)]
            elif letter in ("q̈", "q̇"):
                out += [(f"{letter} {freedoms[a]}", int(owner[a])) if a < m.n else (f"{letter} cut {a - m.n + 1}", m.N) for a in range(n)]
            elif letter == "λ" and n == sum(m.Z.shape[1:]):
                out += [(f"λ {joints[i]} {c + 1}", i) for i, Z in enumerate(m.Z_blocks) for c in range(Z.shape[1])]
            else:
                out += [(f"{letter} {k + 1}", m.N) for k in range(n)]
        return out


@dataclass
class Classification:
    """Result of `sharnir.classify`: print it, read `c["(3.10)"]` or iterate over its nodes, write `c.report("forms.html")`."""

    model: Model
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
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    def __getitem__(self, name: str) -> Node:
        """The form of this name, equation number, or method."""
        for node in self:
            if name in (node.name, node.equation) or name in [use.name for use in node.methods]:
                return node
        names = [x for node in self for x in (node.name, node.equation)]
        raise MethodError(f"no form {brief(name)}; {choices(name, names, 'forms', 40)}")

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
