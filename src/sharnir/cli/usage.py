"""Values on the command line, errors about them, and exit codes; the model of a command, and what options give its parameters,
states and coordinates. Nothing heavy is imported until a model is loaded."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from warnings import catch_warnings, simplefilter

from ..errors import NOT_A_NUMBER, NotActingWarning, SharnirError, comma_hint, known, suggestion, unknown

if TYPE_CHECKING:
    from ..model.model import Model

Value = TypeVar("Value")
COORDINATES = ("q0", "at", "hold", "guess")
"""Options by joint that are coordinates; the others are speeds or forces."""


# --- values on the command line: each function turns a word into a value, or says what was expected
def number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        hint = comma_hint(text)
        raise ArgumentTypeError(f"expected a number, got {text!r}{hint and '; '}{hint}") from None
    if not isfinite(value):
        raise ArgumentTypeError(f"expected a finite number, got {text!r}")
    return value


def whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a whole number, got {text!r}") from None


def checked(
    kind: Callable[[str], float], accepts: Callable[[float], bool], expected: str, more: str = ""
) -> Callable[[str], float]:
    def value_of(text: str) -> float:
        value = kind(text)
        if not accepts(value):
            raise ArgumentTypeError(f"expected {expected}, got {text}{more}")
        return value

    return value_of


def at_least(least: float, kind: Callable[[str], float] = whole) -> Callable[[str], float]:
    return checked(kind, lambda x: x >= least, f"at least {least}")


port = checked(whole, lambda x: 0 <= x <= 65535, "a whole number from 0 to 65535")
positive = checked(number, lambda x: x > 0.0, "a positive number")
not_zero = checked(number, lambda x: x != 0.0, "a number of seconds other than zero", "; a negative one runs backward in time")


def _value(text: str) -> float:
    """A number, or a constant such as 90*deg or pi/2."""
    with suppress(ValueError):
        return float(text)
    from ..trace.formula import constant  # needed only here

    return float(constant(text))


def _named(word: str, expected: str, kind: Callable[[str], Value]) -> tuple[str, Value]:
    """(name, value) from name=value."""
    name, _, text = word.rpartition("=")
    with suppress(*NOT_A_NUMBER):
        if name:
            return name, kind(text)
    hint = comma_hint(text) or "of degrees write 90*deg" * text.endswith(("deg", "°"))
    raise ArgumentTypeError(f"expected {expected}; got {word!r}{hint and '; '}{hint}")


def by_joint(word: str) -> tuple[str, list[float]]:
    """(joint, numbers) from joint=1 or joint=1,0,0,0."""

    def numbers(text: str) -> list[float]:
        values = [_value(x) for x in text.split(",")]
        if not all(map(isfinite, values)):
            raise ValueError
        return values

    return _named(word, "joint=number or joint=number,number,…", numbers)


def named_number(what: str) -> Callable[[str], tuple[str, float]]:
    return lambda word: _named(word, f"name=number, {what}", float)


# --- errors and exit codes
INTERRUPTED = 130
"""Exit code that a shell expects of a program that Ctrl-C ended."""


class UsageError(Exception):
    """The value of an option is wrong."""

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(f"argument {option}: {problem}")


def end(why: str, code: int) -> NoReturn:
    print(f"sharnir: {why}", file=sys.stderr)
    sys.exit(code)


def given(options: Namespace, *names: str) -> dict[str, Any]:
    """Options that are on the command line, by name."""
    return {name: getattr(options, name) for name in names if name in options}


def check_usage(option: str, check: Callable[[Value], object], value: Value | None, hint: str = "") -> None:
    """Report what `check` raises as an error of this option, with a hint; None: it is not given."""
    try:
        if value is not None:
            check(value)
    except SharnirError as error:
        raise UsageError(option, f"{error}{hint}") from None


def check_name(option: str, name: str, names: Iterable[str]) -> None:
    names = list(names)
    if name not in names:
        raise UsageError(option, unknown(repr(name), name, names, "choices"))


# --- the model
def load_model(options: Namespace) -> Model:
    """The model of a file. `options.remark` gets a line about what of a robot does not act, unless --acting asks for that."""
    from ..io.load import load, not_acting

    with catch_warnings():
        simplefilter("ignore", NotActingWarning)
        model = load(
            options.file, floating=options.floating, strict=options.strict, package_paths=options.package_path,
            acting=options.acting,
        )  # fmt: skip
    line = not_acting(model).partition(":")[0] if options.acting is None else ""
    options.remark = line and f"{line} (--acting all lets them)"
    return model


def values_by_joint(model: Model, options: Namespace, *names: str) -> dict[str, dict[str, list[float]]]:
    """{joint: numbers} of each of these options."""
    out = {name: dict(getattr(options, name)) for name in names}
    for name, numbers in out.items():
        hint = next((f"; {comma_hint(text)}" for x in numbers.values() if comma_hint(text := ",".join(f"{y:g}" for y in x))), "")
        check_usage(f"--{name}", model.coordinates if name in COORDINATES else model.speeds, numbers or None, hint)
    return out


def set_values(model: Model, given: Iterable[tuple[str, float]]) -> dict[str, float]:
    """{parameter: value}; a path such as link3.mass that is no parameter yet becomes one."""
    out = dict(given)
    for name in out:
        if name not in model.parameters:
            if near := suggestion(name, model.parameters):
                raise UsageError("--set", f"no parameter {name!r}; {near}The parameters are {known(model.parameters)}")
            check_usage("--set", model.make_parameter, name, f"; its parameters are {known(model.parameters)}")
    check_usage("--set", model.with_parameters, out or None)
    return out


def initial_states(model: Model, given: Iterable[tuple[str, float]]) -> dict[str, float]:
    check_usage("--state", model.with_states, out := dict(given))
    return out
