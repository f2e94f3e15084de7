"""The brush model of a tyre."""

from __future__ import annotations

from ...trace import Number
from ...trace.functions import maximum, select, sqrt
from ..element import element, number, positive
from .force_element import Numbers
from .tyre import Slip, Tyre

TINY = 1e-9
"""Slip at which the direction of slip is no longer distinguished, so that the force has a slope at zero."""
LIGHT = 1e-6
"""Share of the load below which the length of the contact stays: the root has no slope at zero."""


@element("brush-tyre")
class BrushTyre(Tyre):
    """Elastic bristles under a parabolic pressure, each sticking until friction no longer holds it: H. B. Pacejka, Tire and
    Vehicle Dynamics, chapter 3. Combined slip is exact: the bristles are as stiff in all directions.

    The contact length grows with the root of the load, so that slip stiffness and load are proportional."""

    friction: float = positive(default=1.0, meaning="coefficient of friction μ")
    tread_stiffness: float = positive(default=3e6, unit="N/m²", meaning="c_p: of the bristles, per length of the contact")
    half_length: float = positive(default=0.1, unit="m", meaning="a: half the length of the contact under `load`")
    load: float = positive(default=4000.0, unit="N", meaning="load that belongs to `half_length`")
    camber_stiffness: float = number(
        default=0.0, unit="N/rad", meaning="lateral force per camber under `load`, as a shift of the lateral slip"
    )
    theoretical = True

    def forces(self, slip: Slip, n: Numbers) -> tuple[Number, Number, Number]:
        a, mu = n["half_length"], n["friction"]
        cornering = 2.0 * n["tread_stiffness"] * a * a  # under `load`
        x, y = slip.along, slip.across + slip.camber * n["camber_stiffness"] / cornering
        size = sqrt(x * x + y * y + TINY * TINY)
        # the adhesion that is used, θσ: one where all bristles slide. θ does not depend on the load
        used = cornering / (3.0 * n["load"]) * size / mu
        sticks = used < 1.0
        share = select(sticks, used * (3.0 - used * (3.0 - used)), 1.0)  # of the largest force: 1 − (1 − θσ)³
        force = mu * slip.load * share / size
        rest = 1.0 - used
        # a (1 − θσ)³ / (3 − 3 θσ + (θσ)²), a third of the half length at small slip
        length = a * sqrt(maximum(slip.load / n["load"], LIGHT))
        trail = select(sticks, length * rest * rest * rest / (3.0 - used * (3.0 - used)), 0.0)
        return force * x, force * y, -trail * slip.sense * force * y
