"""Flexible bodies: beams, bodies given by modes at nodes, finite elements reduced to modes; their shapes and integrals."""

from typing import TYPE_CHECKING, Any

from .archive import load_modal
from .beam import FlexibleBeam
from .flexible_body import Flexible, Shapes
from .integrals import Integrals, Points
from .modal import ModalBody
from .sections import Circle, ISection, OwnSection, Rectangle, Section, Tube

if TYPE_CHECKING:
    from .reduction import reduce

__all__ = [
    "Circle", "Flexible", "FlexibleBeam", "ISection", "Integrals", "ModalBody", "OwnSection", "Points", "Rectangle", "Section",
    "Shapes", "Tube", "load_modal", "reduce",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """`reduce` is imported when it is first used: it needs SciPy's sparse matrices, which no file does."""
    if name == "reduce":
        from .reduction import reduce

        return reduce
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
