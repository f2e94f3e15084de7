"""Flexible bodies: beams, bodies given by modes at nodes, finite elements reduced to modes; their shapes and integrals."""

from .archive import load_modal
from .base import Flexible, Shapes
from .beam import FlexibleBeam
from .integrals import Integrals, Points
from .modal import ModalBody
from .reduction import reduce
from .sections import Circle, ISection, OwnSection, Rectangle, Section, Tube

__all__ = [
    "Circle",
    "Flexible",
    "FlexibleBeam",
    "ISection",
    "Integrals",
    "ModalBody",
    "OwnSection",
    "Points",
    "Rectangle",
    "Section",
    "Shapes",
    "Tube",
    "load_modal",
    "reduce",
]
