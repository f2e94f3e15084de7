"""Checks of the arguments of analyses."""

from __future__ import annotations

import math

from ..errors import NOT_A_NUMBER, StateError, brief


def positive(x: object, what: str) -> float:
    """A finite number above zero."""
    try:
        value = float(x)  # type: ignore[arg-type]
    except NOT_A_NUMBER:
        value = math.nan
    if isinstance(x, (str, bytes, bool)) or not math.isfinite(value) or value <= 0.0:
        raise StateError(f"{what}: expected a number above zero, got {brief(x)}")
    return value


def whole(x: object, what: str) -> int:
    """A whole number of at least one."""
    if isinstance(x, bool) or not hasattr(x, "__index__") or int(x) < 1:  # type: ignore[call-overload]
        raise StateError(f"{what}: expected a whole number of at least 1, got {brief(x)}")
    return int(x)  # type: ignore[call-overload]
