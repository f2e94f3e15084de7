"""Kinds of values that fields of elements take: what is accepted, the form in which elements hold it, the faults of the rest.

The constructor of an element and the reader of the native format use the same checks; `io/native` adds how each kind is
written in a file.
"""

from .functions import DriveFunction, Function, FunctionOrElement, Item, Items, NamedFormula, PoseFunction, VectorFunction, Where
from .kind import Fault, Kind, checked, expected, of_kind, shown
from .scalars import Flag, Limits, Matrix, Places, Scalar, ScalarOrVector, Vector, Whole, coordinate_limits
from .several import AXES, HERE, AxisValue, ByName, Elements, OneOf, PoseValue, Rows, State, Times
from .words import Choice, ChoiceOrFunction, ColourValue, FilePath, Label, Name, Names, Text, check_name, name_fault

__all__ = [
    "AXES", "HERE", "AxisValue", "ByName", "Choice", "ChoiceOrFunction", "ColourValue", "DriveFunction", "Elements", "Fault",
    "FilePath", "Flag", "Function", "FunctionOrElement", "Item", "Items", "Kind", "Label", "Limits", "Matrix", "Name",
    "NamedFormula", "Names", "OneOf", "Places", "PoseFunction", "PoseValue", "Rows", "Scalar", "ScalarOrVector", "State", "Text",
    "Times", "Vector", "VectorFunction", "Where", "Whole", "check_name", "checked", "coordinate_limits", "expected", "name_fault",
    "of_kind", "shown",
]  # fmt: skip
