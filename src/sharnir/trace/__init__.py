"""Expression graphs: symbols, functions, evaluation, differentiation. Knows no mechanics."""

from .expression import Expression, call_traced, check_numbers, generic_functions, needed, tangent
from .graph import Graph, GraphTooLarge, Number, ParameterGraph, Symbol
from .parameters import at_values, has_parameters, is_parametric, is_zero, parametric_in

__all__ = [
    "Expression",
    "Graph",
    "GraphTooLarge",
    "Number",
    "ParameterGraph",
    "Symbol",
    "at_values",
    "call_traced",
    "check_numbers",
    "generic_functions",
    "has_parameters",
    "is_parametric",
    "is_zero",
    "needed",
    "parametric_in",
    "tangent",
]
