"""A check that functions of a model do not read it while they are traced."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..errors import ModelError

_tracing: ContextVar[tuple[int, ...]] = ContextVar("sharnir_tracing", default=())


@contextmanager
def not_by_its_own_functions(model: object, name: str) -> Iterator[None]:
    """Refuse that a model's functions, while they are traced, ask it for what follows from them: that would never end."""
    if id(model) in _tracing.get():
        raise ModelError(
            f"model {name!r} is read by a function of its own (of a force, a joint or a constraint) while that is traced; "
            "read what it needs before, outside the function"
        )
    token = _tracing.set((*_tracing.get(), id(model)))
    try:
        yield
    finally:
        _tracing.reset(token)
