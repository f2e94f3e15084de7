"""Building large models quickly: no garbage collection, and fast constructors, of which there are millions of calls."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, make_dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@contextmanager
def no_collection() -> Iterator[None]:
    """Suspend collection while millions of long-lived objects are made: the collector would traverse all of them repeatedly and
    free none, a third of the time it takes to build a large model."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def fast_constructor(cls: type[T]) -> Callable[..., T]:
    """Constructor of a frozen dataclass with slots and none of its own: takes all fields in their order. An instance is filled
    while it belongs to a class with the same slots that is not frozen, then becomes one of `cls`."""
    Open: Any = make_dataclass(f"Open{cls.__name__}", [(f.name, Any) for f in fields(cls)], slots=True)  # type: ignore[arg-type]

    def make(*values: object) -> T:
        out: T = Open(*values)
        out.__class__ = cls
        return out

    return make
