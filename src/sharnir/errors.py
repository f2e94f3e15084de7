"""Exceptions, one family: every message names what is at fault and how to correct it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

NUMPY_SCALAR = re.compile(r"""\bnp\.\w+\((b?'(?:[^'\\]|\\.)*'|b?"(?:[^"\\]|\\.)*"|[-+.\w]+)\)|\bnp\.(True|False)_""")


def plain(text: str) -> str:
    """Scalars of NumPy as a user writes them: `'a'`, `2.0` and `True` for `np.str_('a')`, `np.float64(2.0)` and `np.True_`."""
    return NUMPY_SCALAR.sub(lambda found: found[1] or found[2], text)


class SharnirError(Exception):
    """The base class of every error that sharnir raises."""

    def __init__(self, message: str = "") -> None:
        super().__init__(plain(message))


class ModelError(SharnirError, ValueError):
    """The description of the mechanism is wrong: a body, a joint, a force, a constraint or their graph."""


class FormatError(ModelError):
    """A file that describes a mechanism is malformed or contradictory; the message begins with file and line."""


class AssemblyError(ModelError):
    """No position near the given one satisfies the constraints; the message names the constraint and its residual."""


class StateError(SharnirError, ValueError):
    """A state, a force or a time handed to a computation has the wrong shape or value."""


class DialectError(SharnirError, TypeError):
    """A function that should be compiled breaks a rule of the dialect; the message begins with file and line."""


class TraceError(SharnirError, TypeError):
    """A user's function cannot be turned into an expression graph."""


class SingularError(SharnirError, ArithmeticError):
    """The equations of motion have no unique solution: some joint moves no mass, or a constraint is not defined there."""


class AccuracyWarning(RuntimeWarning):
    """Rounding may take more from the results of a method than a reader expects; the message names better methods."""


class LinearizationWarning(RuntimeWarning):
    """A linear model was made at a state that is neither at rest nor in steady motion; it holds at that instant only."""


class FlexibilityWarning(RuntimeWarning):
    """A run asks more of a flexible body than it can give: deformations too large for its shapes, or steps too long for its
    vibrations. The message names the body."""


class NotActingWarning(RuntimeWarning):
    """A file of a robot was read without letting all that it describes act; the message names what, and how to let it act."""


class MethodError(SharnirError, ValueError):
    """An unknown method or backend, or one that does not apply to this model."""


class ViewWarning(RuntimeWarning):
    """Something is not drawn as it was meant; the message says what is drawn in its place."""


class IntegrationError(SharnirError, ArithmeticError):
    """The integration cannot be continued; `trajectory` holds what was computed until then."""

    def __init__(self, message: str, trajectory: Any = None) -> None:
        super().__init__(message)
        self.trajectory = trajectory  # an integrate.Trajectory; that layer imports this module


class SimulationError(SharnirError, ArithmeticError):
    """A simulation failed at `time`; `result` holds the motion until then."""

    def __init__(self, message: str, result: Any = None, time: float = 0.0) -> None:
        super().__init__(message)
        self.result = result  # a simulation.Result
        self.time = time


class SaveError(StateError):
    """The file of a run could not be written; `result` holds the run."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result  # a simulation.Result


class StudyError(SharnirError):
    """A study could not go on; `result` holds the runs that are done."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result  # an xarray.Dataset


class EquilibriumError(SharnirError, ArithmeticError):
    """No equilibrium was found; `result` holds the best position and the forces that stay unbalanced there."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result  # an analysis.Equilibrium


class UnreachableError(SharnirError, ArithmeticError):
    """Targets of inverse kinematics cannot be met; `result` holds the position that comes nearest."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result  # an analysis.InverseKinematics


NOT_A_NUMBER = (TypeError, ValueError, OverflowError)
"""Exceptions of `float(x)` and NumPy where x is no number, or one that no float can hold (10**400)."""
LONGEST_SHOWN = 100


def brief(value: object, longest: int = LONGEST_SHOWN) -> str:
    """`repr` of a value that was refused, cut where it is long: messages must not fail in their turn."""
    try:
        text = plain(repr(value))
    except Exception:  # an integer of more digits than Python prints, an object with a faulty repr
        text = f"<{type(value).__name__}>"
    return shortened(text, longest)


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters: a longer one ends with an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def no_such(kind: str, name: object, names: Iterable[str], plural: str = "", limit: int = 12) -> str:
    """`no joint 'elbwo'; did you mean 'elbow'? The joints are 'elbow', 'wrist'`."""
    return f"no {kind} {brief(name)}; {choices(name, names, plural or kind + 's', limit)}"


def unknown(what: str, name: object, names: Iterable[str], plural: str) -> str:
    """`unknown field; did you mean 'axis'? The fields are …`."""
    return f"unknown {what}; {choices(name, names, plural, 99)}"


def choices(name: object, names: Iterable[str], plural: str, limit: int = 12) -> str:
    """`did you mean 'elbow'? The joints are 'elbow', 'wrist'`."""
    names = list(names)
    if not names:
        return f"there are no {plural}"
    hint = suggestion(name, names)
    return f"{hint}{'The' if hint else 'the'} {plural} are {known(names, limit)}"


def suggestion(name: object, names: Iterable[str]) -> str:
    """`did you mean 'elbow'? `, or nothing where no name is similar."""
    from difflib import get_close_matches  # needed only when something is wrong

    near = get_close_matches(name, list(names), 1) if isinstance(name, str) and len(name) <= LONGEST_SHOWN else []
    return f"did you mean {near[0]!r}? " if near else ""


def known(names: Iterable[str], limit: int = 12) -> str:
    """`'a', 'b', 'c'`: the names there are, at the end of a message."""
    names = list(names)
    shown = ", ".join(repr(n) for n in names[:limit])
    rest = len(names) - limit
    return (shown or "none") + (f" and {rest} more" if rest > 0 else "")
