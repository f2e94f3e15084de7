"""Storage that integrators declare besides arrays of floats; how it is done stands in kernels/arrays.py."""

from ...kernels.arrays import Array, IntegerArray

__all__ = ["ComplexArray", "IntegerArray"]


class ComplexArray(Array):
    """For the complex half of an implicit method."""

    dtype = complex
