"""The parameters of a model: their values by name, and checks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import NOT_A_NUMBER, ModelError, StateError, brief, no_such
from ..trace import ParameterGraph, Symbol
from ..trace.parameters import names_in


class ParameterView(Mapping[str, float]):
    """Values by name, read only; the error for an attempt to change one names the remedy."""

    def __init__(self, values: Mapping[str, float], what: str = "model.parameters", remedy: str = "") -> None:
        """`remedy`: the one to name, with {} for {name: value}; by default that of a model's parameters."""
        self._values, self._what, self._remedy = values, what, remedy

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __setitem__(self, name: str, value: object) -> None:
        pair = f"{{{name!r}: {brief(value)}}}"
        if self._remedy:
            raise StateError(f"{self._what} is read only: {self._remedy.format(pair)}")
        raise ModelError(
            f"{self._what} is read only; pass parameters={pair} to the call (simulate, rollout, every "
            "question to Dynamics), or take model.with_parameters({…})"
        )

    def __delitem__(self, name: str) -> None:
        if self._remedy:
            raise StateError(f"{self._what} is read only: {name!r} cannot be removed")
        raise ModelError(f"{self._what} is read only: a parameter cannot be removed; model.without_parameters() has none")

    def __repr__(self) -> str:
        return repr(dict(self._values))

    def __reduce__(self) -> Any:
        return dict, (dict(self._values),)


def parameter_value(name: str, value: Any, error: type[Exception] = ModelError) -> float:
    """A finite number."""
    try:
        found = float(value)
    except NOT_A_NUMBER:
        raise error(f"parameter {name!r}: expected a number, got {brief(value)}") from None
    if not math.isfinite(found):
        raise error(f"parameter {name!r}: expected a finite number, got {found}")
    return found


def merged_values(own: Mapping[str, float], values: Mapping[str, Any] | None) -> dict[str, float]:
    """A model's own values, with others for some of them."""
    if values is None:
        return dict(own)
    if not isinstance(values, Mapping):
        raise StateError(f"parameters: expected {{name: value}}, got {brief(values)}")
    return {**own, **{name: parameter_value(name, x, StateError) for name, x in values.items()}}


def check_parameter(name: Any, own: Mapping[str, float]) -> None:
    if not isinstance(name, str) or name not in own:
        remedy = "Model.add_parameter adds one, Model.make_parameter turns a number of the model into one"
        raise StateError(f"{no_such('parameter', name, own)}; {remedy}")


def check_known(x: Symbol, graph: ParameterGraph, own: Mapping[str, float], label: str, model: str) -> None:
    """A number that depends on parameters must depend on those of the model it is put into."""
    for name in names_in([x]):
        if x.graph is not graph or name not in own:
            raise ModelError(f"{label}: {name!r} is a parameter of another model; add it to {model!r} with add_parameter")
