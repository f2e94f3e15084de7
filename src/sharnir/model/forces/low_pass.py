"""Lags of first and second order as states of a model: for controllers of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...errors import ModelError
from ...trace import Number, is_parametric
from ..motion import Motion
from ..values import Scalar, checked

if TYPE_CHECKING:
    from ..model import Model


def low_pass(
    model: Model,
    name: str,
    signal: Callable[[Motion], Any],
    time_constant: float,
    damping: float | None = None,
    initial: float = 0.0,
    unit: str = "",
) -> Callable[[Motion], Number]:
    """Add a state z that follows a signal: T·ż + z = signal; with `damping` ζ of second order, T²·z̈ + 2ζT·ż + z = signal.

    `signal` is a function of `sharnir.Motion`. What is returned is one too, the filtered signal, which forces and other filters
    may use in place of `on.state(name)`. The second order has a state "<name>.rate" in addition.
    """
    T = _positive(name, "time_constant", time_constant)
    if not callable(signal):
        raise ModelError(f"low_pass {name!r}: signal is a function of sharnir.Motion that returns a number")
    if damping is None:
        model.add_state(name, initial, lambda on: (signal(on) - on.state(name)) / T, unit)
    else:
        zeta, rate = _positive(name, "damping", damping), f"{name}.rate"
        model.add_state(name, initial, lambda on: on.state(rate), unit)
        model.add_state(
            rate, 0.0, lambda on: (signal(on) - on.state(name) - 2.0 * zeta * T * on.state(rate)) / (T * T), f"{unit}/s"
        )
    return lambda on: on.state(name)


def _positive(name: str, what: str, value: Any) -> Any:
    return value if is_parametric(value) else checked(Scalar(above=0.0), value, f"low_pass {name!r}: {what}")
