"""The normal force of a contact as a function of how deep two surfaces are in each other, and how fast they approach."""

from __future__ import annotations

from ...trace import Number
from ...trace.functions import maximum, power, select, sqrt

HUNT_CROSSLEY, KELVIN_VOIGT = "hunt-crossley", "kelvin-voigt"


def normal_force(
    law: str, exponent: Number, stiffness: Number, damping: Number, depth: Number, rate: Number
) -> tuple[Number, Number]:
    """Force (never tension) and stored energy k·depthⁿ⁺¹/(n + 1), both zero without contact.

    Hunt and Crossley 1975: k·depthⁿ·(1 + damping·rate). Kelvin and Voigt: k·depthⁿ + damping·rate.
    """
    touches = depth > 0.0
    x = select(touches, depth, 1.0)  # roots and powers, and their derivatives, exist for what is not chosen too
    elastic = stiffness * _power(x, exponent)
    with_damping = elastic * (1.0 + damping * rate) if law == HUNT_CROSSLEY else elastic + damping * rate
    return select(touches, maximum(with_damping, 0.0), 0.0), select(touches, elastic * x / (exponent + 1.0), 0.0)


def _power(x: Number, exponent: Number) -> Number:
    if isinstance(exponent, float) and exponent in (1.0, 1.5, 2.0):
        return {1.0: x, 1.5: x * sqrt(x), 2.0: x * x}[exponent]
    return power(x, exponent)
