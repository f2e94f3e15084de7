"""One family of exceptions: every message names the culprit and says what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class SharnirError(Exception):
    """Whatever sharnir refuses to do, it refuses with a subclass of this."""


class ModelError(SharnirError, ValueError):
    """The mechanism, as described, makes no sense: a body, a joint or their graph is at fault."""


class FormatError(ModelError):
    """A file that describes a mechanism is malformed or says what cannot be; the message begins with file and line."""


class AssemblyError(ModelError):
    """The constraints of a mechanism cannot be met from here: the message names the closure and the gap."""


class StateError(SharnirError, ValueError):
    """A state, a force or a time handed to a computation has the wrong shape or value."""


class DialectError(SharnirError, TypeError):
    """A function that should be compiled breaks a rule of the dialect; the message begins with file and line."""


class TraceError(SharnirError, TypeError):
    """A user's function cannot be turned into an expression graph."""


class SingularError(SharnirError, ArithmeticError):
    """The equations of motion have no unique solution: some joint moves no mass."""


class MethodError(SharnirError, ValueError):
    """An unknown method or backend, or one that does not apply to this model."""


class IntegrationError(SharnirError, ArithmeticError):
    """A trajectory cannot be continued; `trajectory` holds all that was computed until then."""

    def __init__(self, message: str, trajectory: object = None) -> None:
        super().__init__(message)
        self.trajectory = trajectory


class SimulationError(SharnirError, ArithmeticError):
    """A simulation cannot go on, or ended where it must not: at `time`; `result` holds the motion up to there."""

    def __init__(self, message: str, result: Any = None, time: float = 0.0) -> None:
        super().__init__(message)
        self.result = result
        self.time = time


def known(names: Iterable[str], limit: int = 12) -> str:
    """`'a', 'b', 'c'`: the tail of an 'unknown name' message."""
    names = list(names)
    shown = ", ".join(repr(n) for n in names[:limit])
    rest = len(names) - limit
    return (shown or "none") + (f" and {rest} more" if rest > 0 else "")
