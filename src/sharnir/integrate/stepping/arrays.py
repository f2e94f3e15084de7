"""Storage that integrators declare besides arrays of floats; how it is done stands in kernels/arrays.py."""

from ...kernels.arrays import Array


class IntegerArray(Array):
    """Addresses, and places in a list."""

    dtype = "int64"


class ComplexArray(Array):
    """For the complex half of an implicit method."""

    dtype = complex
