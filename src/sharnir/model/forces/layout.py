"""The layout of two flat vectors: of everything that forces read, and of everything they push."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..structure import Structure

WIDTH = {"r": 3, "G": 9, "velocity": 6}
"""Numbers per body. These parts come last and are left out where no force reads the motion of bodies."""


class Layout:
    def __init__(self, structure: Structure) -> None:
        rows = structure.nb + 1
        state = {"t": 1, "q": structure.nq, "v": structure.nv, "parameter": len(structure.parameters)}
        self.sizes = state | {part: rows * k for part, k in WIDTH.items()}
        self.at: dict[str, int] = {}
        """First index of each part of the motion."""
        size = 0
        for part, n in self.sizes.items():
            self.at[part], size = size, size + n
        self.load_at = 6 * rows
        """Pushes: wrenches of all bodies, the base first, then joint forces from here on."""
        self.rate_at = self.load_at + structure.nv
        """Then rates of states, from here on."""
        self.pushes = self.rate_at + len(structure.states)

    def flat(self, motion: Mapping[str, Any]) -> list[Any]:
        """The motion as one list of generic scalars, as far as its parts are given."""
        return [x for part in self.sizes if part in motion for x in motion[part]]
