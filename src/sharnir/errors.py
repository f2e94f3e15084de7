"""Exceptions, one family: every message names what is at fault and how to correct it."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

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


class SharnirWarning(Warning):
    """The base class of every warning that sharnir gives."""


class UnitWarning(SharnirWarning, UserWarning):
    """A number looks as if it were meant in other units: degrees, millimetres. The message names what it belongs to."""


class CacheWarning(SharnirWarning, RuntimeWarning):
    """Compiled code is not cached, or not where it was meant to be."""


class RenamedWarning(SharnirWarning, FutureWarning):
    """A name of an earlier version was used; the message says what it is called now."""


class AccuracyWarning(SharnirWarning, RuntimeWarning):
    """Rounding may take more from the results of a method than a reader expects; the message names better methods."""


class LinearizationWarning(SharnirWarning, RuntimeWarning):
    """A linear model was made at a state that is neither at rest nor in steady motion; it holds at that instant only."""


class FlexibilityWarning(SharnirWarning, RuntimeWarning):
    """A run asks more of a flexible body than it can give: deformations too large for its shapes, or steps too long for its
    vibrations. The message names the body."""


class NotActingWarning(SharnirWarning, RuntimeWarning):
    """A file of a robot was read without letting all that it describes act; the message names what, and how to let it act."""


class MethodError(SharnirError, ValueError):
    """An unknown method or backend, or one that does not apply to this model."""


class ViewWarning(SharnirWarning, RuntimeWarning):
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
PACKAGE = str(Path(__file__).parent / "_")[:-1]
Called = TypeVar("Called", bound=Callable[..., Any])


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


USUAL_NAMES = {
    "rtol": "tolerance tol reltol", "atol": "tolerance_absolute abstol", "step": "dt timestep time_step h stepsize step_size",
    "integrator": "solver scheme ode", "method": "solver algorithm", "duration": "time tmax t_end tf t_final T seconds",
    "t0": "t_start start_time", "q0": "x0 y0 q init initial position", "q": "q0 state position", "v0": "qd0 dq0 qdot0 speed v",
    "v": "v0 qd dq qdot speed", "tau": "torque torques forces u effort", "parameters": "params",
    "output": "dt t_eval times interval", "path": "file filename save out", "gravity": "g", "mass": "m weight",
    "com": "centre center cog cm", "inertia": "I J moments Ixx moi", "at": "frame pose origin position",
    "limits": "range bounds limit", "motion": "drive law", "position": "xyz translation", "rotation": "rpy quaternion euler",
    "threads": "cores n_jobs workers", "workers": "threads cores n_jobs", "progress": "verbose", "seed": "random_state rng",
    "over": "inputs grid", "stiffness": "k", "damping": "c d", "radius": "r", "length": "l L", "body": "link",
    "ground": "world base fixed earth inertial", "Revolute": "Hinge Pin Rotary", "Prismatic": "Slider Linear",
    "Ball": "Spherical", "Weld": "Fixed Rigid", "Free": "Floating", "revolute": "hinge pin rotary continuous",
    "prismatic": "slider linear", "ball": "spherical", "weld": "fixed rigid", "free": "floating", "run": "simulate sim",
    "dopri5": "RK45 ode45", "radau": "BDF LSODA ode15s stiff",
}  # fmt: skip
"""By our names the words that others use, of which no letters need be alike."""


def suggestion(name: object, names: Iterable[str]) -> str:
    """`did you mean 'elbow'? `, or nothing where no name is similar."""
    from difflib import get_close_matches  # needed only when something is wrong

    if not isinstance(name, str) or len(name) > LONGEST_SHOWN:
        return ""
    names = list(names)
    near = get_close_matches(name, names, 1, 0.75)
    near += [ours for ours, others in USUAL_NAMES.items() if name in others.split() and ours in names]
    near += get_close_matches(name, names, 1)
    return f"did you mean {near[0]!r}? " if near else ""


def comma_hint(text: str) -> str:
    """`write 0.5: the decimal separator is a point` for "0,5"; nothing for other texts."""
    found = re.search(r"(?<![\w.,])[-+]?\d+,\d+(?![\w.,])", text[:LONGEST_SHOWN])
    return f"write {found[0].replace(',', '.')}, not {found[0]}: the decimal separator is a point" if found else ""


def check_known(label: str, given: Iterable[str], names: Iterable[str], noun: str = "argument") -> None:
    """Refuse keywords that are not among the names."""
    names = list(names)
    for name in given:
        if name not in names:
            raise TypeError(f"{label}: {unknown(f'{noun} {name!r}', name, names, f'{noun}s')}") from None


def suggesting(function: Called, noun: str = "argument") -> Called:
    """A public function whose error for an unknown keyword, or for too many arguments without one, says what is right."""

    @wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:  # from inside, not the call itself
                raise
            from inspect import Parameter, signature  # needed only when something is wrong

            label, every = function.__qualname__.removesuffix(".__init__"), signature(function).parameters.values()
            own = [one for one in every if one.name != "self" and one.kind is not Parameter.VAR_KEYWORD]
            check_known(label, options, [one.name for one in own], noun)
            first = [one.name for one in own if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
            if len(args) <= len(every) - len(own) + len(first):
                raise
            rest = ", ".join(f"{one.name}=…" for one in own[len(first) :][:5]) or "none; several numbers of one in parentheses"
            what = f"more {noun}s without a name than {len(first)} ({', '.join(first)})"
            raise TypeError(f"{label}: {what}; the others by name: {rest}") from None

    return called  # type: ignore[return-value]


def warn(text: str, category: type[SharnirWarning]) -> None:
    """Warn at the line of the user's that called sharnir, however deep inside it the warning is given."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def known(names: Iterable[str], limit: int = 12) -> str:
    """`'a', 'b', 'c'`: the names there are, at the end of a message."""
    names = list(names)
    shown = ", ".join(repr(n) for n in names[:limit])
    rest = len(names) - limit
    return (shown or "none") + (f" and {rest} more" if rest > 0 else "")
