"""The option --set: values of parameters, and of numbers of the model by their paths."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import NOT_A_NUMBER
from ..model.model import Model
from .usage import UsageError, check_usage

OPTION = "--set"


def set_values(model: Model, words: Sequence[str]) -> dict[str, float]:
    """{parameter: value} from name=value; a path such as link3.mass that is no parameter yet becomes one."""
    out: dict[str, float] = {}
    for word in words:
        name, equals, text = word.rpartition("=")
        try:
            value = float(text)
        except NOT_A_NUMBER:
            equals = ""
        if not equals or not name:
            raise UsageError(OPTION, f"expected name=number, a parameter or a path such as link3.mass; got {word!r}")
        if name not in model.parameters:
            check_usage(OPTION, model.make_parameter, name)
        out[name] = value
    if out:
        check_usage(OPTION, model.with_parameters, out)
    return out
