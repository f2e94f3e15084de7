"""The elementary functions a kernel may call: the whole alphabet every execution must know.

Interpreted, these are the functions of `math`; every other execution puts its own in their place.
"""

from math import cos, sin, sqrt

__all__ = ["cos", "select", "sin", "sqrt"]


def select(condition, a, b):
    """a where the condition holds, else b: the only choice a kernel may make on a number."""
    return a if condition else b
