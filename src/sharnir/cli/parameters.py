"""The model of a command, and its options --set, values of parameters and numbers by their paths, and --state, initial states."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from ..errors import NOT_A_NUMBER
from ..io.load import load
from ..model.model import Model
from .usage import UsageError, check_usage

OPTION = "--set"
STATE = "--state"


def load_model(options: Namespace) -> Model:
    return load(options.file, floating=options.floating, strict=options.strict, package_paths=options.package_path)


def set_values(model: Model, words: Sequence[str]) -> dict[str, float]:
    """{parameter: value} from name=value; a path such as link3.mass that is no parameter yet becomes one."""
    out = _numbers(OPTION, words, "a parameter or a path such as link3.mass")
    for name in out:
        if name not in model.parameters:
            check_usage(OPTION, model.make_parameter, name)
    if out:
        check_usage(OPTION, model.with_parameters, out)
    return out


def initial_states(model: Model, words: Sequence[str]) -> dict[str, float]:
    """{state: value} from name=value."""
    out = _numbers(STATE, words, "a state of the model or of a force")
    if out:
        check_usage(STATE, model.with_states, out)
    return out


def _numbers(option: str, words: Sequence[str], what: str) -> dict[str, float]:
    out: dict[str, float] = {}
    for word in words:
        name, equals, text = word.rpartition("=")
        try:
            out[name] = float(text)
        except NOT_A_NUMBER:
            equals = ""
        if not equals or not name:
            raise UsageError(option, f"expected name=number, {what}; got {word!r}")
    return out
