"""Expression graphs: symbols, functions, evaluation, differentiation. Knows no mechanics."""

from .expression import Expression, call_traced, check_numbers, chooses, needed, tangent
from .graph import Graph, GraphTooLarge, Number, Symbol

__all__ = [
    "Expression",
    "Graph",
    "GraphTooLarge",
    "Number",
    "Symbol",
    "call_traced",
    "check_numbers",
    "chooses",
    "needed",
    "tangent",
]
