"""Flexible bodies: beams, bodies given by modes at nodes, finite elements reduced to modes; their shapes and integrals."""

from typing import TYPE_CHECKING, Any

from .archive import load_modal as load_modal
from .beam import FlexibleBeam as FlexibleBeam
from .flexible_body import Flexible as Flexible
from .flexible_body import Shapes as Shapes
from .integrals import Integrals as Integrals
from .integrals import Points as Points
from .modal import ModalBody as ModalBody
from .sections import Circle as Circle
from .sections import ISection as ISection
from .sections import OwnSection as OwnSection
from .sections import Rectangle as Rectangle
from .sections import Section as Section
from .sections import Tube as Tube

if TYPE_CHECKING:
    from .reduction import reduce as reduce


def __getattr__(name: str) -> Any:
    """`reduce` is imported when it is first used: it needs SciPy's sparse matrices, which no file does."""
    if name == "reduce":
        from .reduction import reduce

        return reduce
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
