"""Numbers that cannot depend on parameters: shapes are computed once, when a flexible body is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...trace import is_parametric
from ..values import Fault, Scalar


@dataclass(frozen=True)
class FixedScalar(Scalar):
    """A number, not a parameter."""

    def number(self, value: Any, *path: str | int, what: str = "a number") -> Any:
        if is_parametric(value):
            raise Fault("a flexible body cannot depend on a parameter; give a number, and make a body for each value", *path)
        return super().number(value, *path, what=what)


POSITIVE = FixedScalar(above=0.0)
NOT_NEGATIVE = FixedScalar(at_least=0.0)
