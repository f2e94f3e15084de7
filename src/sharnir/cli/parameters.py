"""The model of a command; values that its options --set, --state and those by joint give parameters, states and coordinates."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable

from ..io.load import load
from ..model.model import Model
from .usage import check_usage

COORDINATES = ("q0", "at", "hold", "guess")
"""Options by joint that are coordinates; the others are speeds or forces."""


def load_model(options: Namespace) -> Model:
    return load(options.file, floating=options.floating, strict=options.strict, package_paths=options.package_path)


def values_by_joint(model: Model, options: Namespace, *names: str) -> dict[str, dict[str, list[float]]]:
    """{joint: numbers} of each of these options."""
    out = {name: dict(getattr(options, name)) for name in names}
    for name, numbers in out.items():
        check_usage(f"--{name}", model.coordinates if name in COORDINATES else model.speeds, numbers or None)
    return out


def set_values(model: Model, given: Iterable[tuple[str, float]]) -> dict[str, float]:
    """{parameter: value}; a path such as link3.mass that is no parameter yet becomes one."""
    out = dict(given)
    for name in out:
        if name not in model.parameters:
            check_usage("--set", model.make_parameter, name)
    check_usage("--set", model.with_parameters, out or None)
    return out


def initial_states(model: Model, given: Iterable[tuple[str, float]]) -> dict[str, float]:
    check_usage("--state", model.with_states, out := dict(given))
    return out
