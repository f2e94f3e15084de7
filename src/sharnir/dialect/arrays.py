"""How a kernel declares its storage: named arrays with their shapes, in groups that travel together.

    class Poses(NamedTuple):
        G: Array["nb1", 9]      # cosines, world -> body

A shape is made of numbers and of names; the names get their values where the arrays are allocated ("n+1" is one more than n).
"""

from collections import namedtuple
from typing import Any


class Array:
    """Array["nb1", 3] is the annotation of an array of floats with that shape; it is only read, never enforced."""

    shape: tuple[int | str, ...] = ()
    dtype: Any = float

    def __class_getitem__(cls, shape: int | str | tuple[int | str, ...]) -> type:
        return type("Array", (cls,), {"shape": shape if isinstance(shape, tuple) else (shape,)})


class IntegerArray(Array):
    """Places in a list, addresses: an array of 64-bit integers."""

    dtype = "int64"


class ComplexArray(Array):
    """An array of complex numbers: for the complex half of an implicit method."""

    dtype = complex


def group(**parts: Any) -> Any:
    """A type of group made of parts: types of groups and of arrays; a shape is that of an array of floats."""
    made: Any = namedtuple("group", parts)  # type: ignore[misc]
    made.__annotations__ = {name: x if isinstance(x, type) else Array.__class_getitem__(x) for name, x in parts.items()}
    return made
