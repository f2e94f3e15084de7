"""Arguments of samples, checked by their annotations: whole numbers of parts, finite lengths, seeds."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..errors import ModelError, brief, check_known
from ..model.values import Scalar
from ..model.values import checked as checked_value

P = ParamSpec("P")
T = TypeVar("T")

MOST_PARTS = 10_000_000
"""A larger model is a mistake: its bodies alone would fill the memory."""


def whole_number(n: Any, what: str, least: int = 1) -> int:
    if isinstance(n, (bool, np.timedelta64)) or not isinstance(n, (int, np.integer)) or not least <= n:
        raise ModelError(f"{what} must be a whole number, at least {least}; got {brief(n)}")
    if n > MOST_PARTS:
        raise ModelError(f"{what} must be at most {MOST_PARTS}; got {brief(n)}")
    return int(n)


def checked(sample: Callable[P, T]) -> Callable[P, T]:
    """A sample whose arguments are checked before anything is built."""
    about = signature(sample)

    @wraps(sample)
    def build(*args: P.args, **options: P.kwargs) -> T:
        check_known(sample.__name__, options, about.parameters)
        given = about.bind(*args, **options).arguments
        for name, x in given.items():
            given[name] = _check(x, about.parameters[name].annotation, f"{sample.__name__}: {name}")
        try:
            return sample(**given)  # type: ignore[call-arg]
        except OverflowError:
            raise ModelError(f"{sample.__name__}: its numbers are too large: {brief(dict(given))}") from None

    return build


def _check(x: Any, annotation: str, what: str) -> Any:
    if annotation == "float":
        return checked_value(Scalar(), x, what)
    if annotation == "int" or (annotation == "int | None" and x is not None):
        return whole_number(x, what, 0 if what.endswith((" seed", " dof")) else 1)
    if annotation == "bool" and not isinstance(x, (bool, np.bool_)):
        raise ModelError(f"{what}: expected True or False, got {brief(x)}")
    return x
