"""The elementary functions a kernel may call: the whole alphabet every execution must know.

Interpreted, these are the functions of `math`, nan where those would raise; every other execution has its own.
"""

import math

__all__ = ["cos", "select", "sin", "sqrt"]


def cos(x: float) -> float:
    return math.cos(x) if abs(x) < math.inf else math.nan


def sin(x: float) -> float:
    return math.sin(x) if abs(x) < math.inf else math.nan


def sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0.0 else math.nan


def select(condition: bool, a: float, b: float) -> float:
    """a where the condition holds, else b: the only choice a kernel may make on a number."""
    return a if condition else b
