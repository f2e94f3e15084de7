"""Single values of a file, each checked by hand: the message says what was expected and what stands there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from ...errors import ModelError, known
from ...trace.formula import constant

LONGEST_SHOWN = 60
AXES = ("x", "y", "z", "-x", "-y", "-z")


def fault(what: str, *path: Any) -> PydanticCustomError:
    """An error of validation; `path` leads from the field to the culprit inside it."""
    return PydanticCustomError("fault", "{text}", {"text": what, "path": path})


def shown(value: Any) -> str:
    """A value as a reader of the file would recognise it."""
    if value is None:
        return "nothing"
    if isinstance(value, (dict, list)) and not value:
        return "an empty mapping" if isinstance(value, dict) else "an empty list"
    if isinstance(value, dict):
        return "a mapping"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def expected(what: str, value: Any, *path: Any) -> PydanticCustomError:
    return fault(f"expected {what}, got {shown(value)}", *path)


def unknown(what: str, word: str, choices: Iterable[str], plural: str) -> str:
    """`unknown field; did you mean 'axis'? The fields here are …`"""
    choices = list(choices)
    near = get_close_matches(word, choices, 1)
    return f"unknown {what}; " + (f"did you mean {near[0]!r}? The" if near else "the") + f" {plural} are {known(choices, 99)}"


def number(value: Any, what: str = "a number", *path: Any, endless: bool = False) -> float:
    """A finite number, or a formula of constants such as pi/2."""
    try:
        if isinstance(value, str):
            found = constant(value)
            endless = False  # what overflows is a mistake, .inf is meant
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found = float(value)
        else:
            raise ValueError
    except (ModelError, ValueError, OverflowError):
        raise expected(what, value, *path) from None
    if math.isnan(found) or (math.isinf(found) and not endless):
        raise expected(what if endless else f"{what}, finite", value, *path)
    return found


def endless_number(value: Any) -> float:
    return number(value, endless=True)


def numbers(n: int | None = None, endless: bool = False) -> Callable[[Any], tuple[float, ...]]:
    what = f"{ {3: 'three', 4: 'four', 6: 'six'}.get(n, n) } numbers" if n else "a list of numbers"

    def check(value: Any) -> tuple[float, ...]:
        if not isinstance(value, list) or (n is not None and len(value) != n):
            raise expected(what + (f" such as {[0.0] * n}" if n and n < 5 else ""), value)
        return tuple(number(x, "a number", k, endless=endless) for k, x in enumerate(value))

    return check


def number_or_numbers(value: Any) -> Any:
    return numbers(endless=True)(value) if isinstance(value, list) else number(value, "a number or a list of them", endless=True)


def whole_number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise expected("a whole number", value)
    return value


def boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise expected("true or false", value)
    return value


def text(value: Any) -> str:
    if not isinstance(value, str):
        hint = "; put what looks like a number or a truth value in quotes" if isinstance(value, (bool, int, float)) else ""
        raise fault(f"expected text, got {shown(value)}{hint}")
    return value


def name(value: Any) -> str:
    if text(value) == "":
        raise fault("expected a name, got ''")
    return value


def names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise expected("a list of names", value)
    for k, x in enumerate(value):
        if not isinstance(x, str) or not x:
            raise expected("a name", x, k)
    return tuple(value)


def axis(value: Any) -> Any:
    if isinstance(value, list):
        return numbers(3)(value)
    if not isinstance(value, str) or value.removeprefix("+") not in AXES:
        raise expected("'x', 'y', 'z', '-x', '-y', '-z' or three numbers", value)
    return value


def limits(value: Any) -> Any:
    """[low, high] or one such pair per coordinate; null or .inf where there is no end."""

    def pair(x: Any, *path: Any) -> tuple[Any, ...]:
        if not isinstance(x, list) or len(x) != 2:
            raise expected("[low, high] or one such pair per coordinate", x, *path)
        return tuple(None if end is None else number(end, "a number", *path, k, endless=True) for k, end in enumerate(x))

    if isinstance(value, list) and value and isinstance(value[0], list):
        return tuple(pair(x, k) for k, x in enumerate(value))
    return pair(value)


def matrix(*shapes: tuple[int, ...]) -> Callable[[Any], Any]:
    """Numbers in one of the given shapes: (3,), (6,), (3, 3) …; () is a single number."""
    what = " or ".join("one number" if not s else f"{s[0]} numbers" if len(s) == 1 else f"{s[0]}×{s[1]} numbers" for s in shapes)

    def check(value: Any) -> Any:
        if not isinstance(value, list):
            if () in shapes:
                return number(value, what)
            raise expected(what, value)
        if value and all(isinstance(row, list) for row in value):
            if (len(value), len(value[0])) in shapes and all(len(row) == len(value[0]) for row in value):
                return tuple(tuple(number(x, "a number", i, j) for j, x in enumerate(row)) for i, row in enumerate(value))
        elif (len(value),) in shapes:
            return tuple(number(x, "a number", k) for k, x in enumerate(value))
        raise expected(what, value)

    return check


def one_of(*choices: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in choices or not isinstance(value, str):
            raise expected(", ".join(repr(c) for c in choices[:-1]) + f" or {choices[-1]!r}", value)
        return value

    return check


def leaf(check: Callable[[Any], Any], schema: dict[str, Any]) -> tuple[PlainValidator, WithJsonSchema]:
    """The two marks that make a type of the format: how it is checked, and what an editor is told."""
    return PlainValidator(check), WithJsonSchema(schema)


NUMBER: dict[str, Any] = {"anyOf": [{"type": "number"}, {"type": "string", "description": "a constant such as pi/2"}]}


def array(items: dict[str, Any], n: int | None = None) -> dict[str, Any]:
    return {"type": "array", "items": items, **({} if n is None else {"minItems": n, "maxItems": n})}


def either(*schemas: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": list(schemas)}
