"""A constructor for frozen dataclasses without a call of `object.__setattr__` for every field: large models make millions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, make_dataclass
from typing import Any, TypeVar

T = TypeVar("T")


def fast_constructor(cls: type[T]) -> Callable[..., T]:
    """Constructor of a frozen dataclass with slots and none of its own: takes all fields in their order. An instance is filled
    while it belongs to a class with the same slots that is not frozen, then becomes one of `cls`."""
    Open: Any = make_dataclass(f"Open{cls.__name__}", [(f.name, Any) for f in fields(cls)], slots=True)  # type: ignore[arg-type]

    def make(*values: object) -> T:
        out: T = Open(*values)
        out.__class__ = cls
        return out

    return make
