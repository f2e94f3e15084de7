"""A form of the equations of motion as one system of linear equations, with letters for its unknowns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .blocks import Matrix
from .linear import solve


@dataclass(frozen=True)
class System:
    """matrix x = right, where x consists of the `unknowns`: pairs of a letter and how many numbers it stands for."""

    matrix: Matrix
    right: np.ndarray
    unknowns: tuple[tuple[str, int], ...]

    @property
    def places(self) -> dict[str, slice]:
        """{letter: where its numbers stand in x}."""
        ends = np.cumsum([0, *(n for _, n in self.unknowns)]).tolist()
        return {letter: slice(a, b) for (letter, _), a, b in zip(self.unknowns, ends[:-1], ends[1:], strict=True)}

    def solve(self) -> dict[str, np.ndarray]:
        """{letter: values of these unknowns}."""
        places = self.places
        x = solve(self.matrix, self.right, tuple(where.start for where in places.values())[1:])
        return {letter: x[where] for letter, where in places.items()}
