"""The garbage collector, left alone for a while."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """While a million long-lived objects are made, the collector would walk over all of them again and again, and find
    nothing: a third of the time it takes to build a large model."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
