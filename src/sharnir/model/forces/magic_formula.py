"""The magic formula of a tyre, with the coefficients of the paper that introduced it."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any, NamedTuple

from ...trace import Number
from ...trace.functions import atan, exp, maximum, minimum, sin, sqrt
from ..element import element, element_field, positive
from ..values import Vector
from .force_element import Numbers
from .tyre import Slip, Tyre

LATERAL = (1.30, -22.1, 1011.0, 1078.0, 1.82, 0.208, 0.0, -0.354, 0.707, 0.028, 0.0, 14.8, 0.022, 0.0)
LONGITUDINAL = (1.65, -21.3, 1144.0, 49.6, 226.0, 0.069, -0.006, 0.056, 0.486)
ALIGNING = (2.40, -2.72, -2.28, -1.86, -2.73, 0.110, -0.070, 0.643, -4.04, 0.015, -0.066, 0.945, 0.030, 0.070)
"""C, then a₁ … a₁₃ (of the longitudinal force a₁ … a₈) for loads in kN, slip in per cent, angles in degrees: E. Bakker,
L. Nyborg, H. B. Pacejka, Tyre modelling for use in vehicle dynamics studies, SAE paper 870421 (1987)."""
DEGREES = 180.0 / pi
LIGHTEST = 1e-3
"""kN: load below which stiffness and peak per load stay."""
TINY = 1e-9
"""Slip at which the direction of slip is no longer distinguished, so that the force has a slope at zero."""
TURNING = 9.0
"""Square of the normalised slip at which the direction of the force is halfway between that of small slip and that of sliding."""


class Curve(NamedTuple):
    """y = D sin(C arctan(B x − E (B x − arctan B x))), with shifts of x and y."""

    C: Number
    D: Number
    B: Number
    E: Number
    shift_x: Number = 0.0
    shift_y: Number = 0.0

    @property
    def slope(self) -> Number:
        """B C D, at x = 0."""
        return self.B * self.C * self.D

    def __call__(self, x: Number) -> Number:
        """The value without the shifts."""
        Bx = self.B * x
        return self.D * sin(self.C * atan(Bx - self.E * (Bx - atan(Bx))))


@element("magic-formula-tyre")
class MagicFormulaTyre(Tyre):
    """The magic formula of Bakker, Nyborg and Pacejka (SAE 870421, 1987), by default with the coefficients of that paper.

    Combined slip by the similarity method: the curves of pure slip at the normalised slip, shared out by its direction."""

    friction: float = positive(
        default=1.0, meaning="factor on all peak values, 1 on the road of the measurements; slip stiffness stays"
    )
    lateral: Sequence[float] = element_field(
        Vector(14), default=LATERAL, meaning="C, a₁ … a₁₃ of the lateral force: loads in kN, angles in degrees"
    )
    longitudinal: Sequence[float] = element_field(
        Vector(9), default=LONGITUDINAL, meaning="C, a₁ … a₈ of the longitudinal force: loads in kN, slip in per cent"
    )
    aligning: Sequence[float] = element_field(
        Vector(14), default=ALIGNING, meaning="C, a₁ … a₁₃ of the aligning moment: loads in kN, angles in degrees"
    )
    heaviest: float = positive(
        default=10e3, unit="N", meaning="load beyond which forces are proportional to it: the formula is fitted below"
    )

    def curves(self, load: Number, camber: Number = 0.0, n: Numbers | None = None) -> tuple[Curve, Curve, Curve]:
        """Longitudinal force (of slip in per cent), lateral force and aligning moment (of the angle in degrees), of pure slip."""
        n = self.fields() if n is None else n
        kN = minimum(maximum(load / 1000.0, LIGHTEST), n["heaviest"] / 1000.0)
        lean = camber * DEGREES
        x, y, z = n["longitudinal"], n["lateral"], n["aligning"]

        def curve(a: Any, slope: Number, lean: Number = 0.0) -> Curve:
            """`slope`: B C D per load."""
            peak = n["friction"] * (a[1] * kN + a[2])  # per load
            shape = Curve(a[0], peak * load / 1000.0, slope / (a[0] * peak), (a[6] * kN + a[7]) * kN + a[8])
            if len(a) == 9:
                return shape
            size = abs(lean)
            vertical = (a[10] * kN + a[11]) * lean * load / 1000.0
            return shape._replace(
                B=shape.B * (1.0 - a[12] * size), E=shape.E / (1.0 - a[13] * size), shift_x=a[9] * lean, shift_y=vertical
            )

        return (
            curve(x, (x[3] * kN + x[4]) * exp(-x[5] * kN)),
            curve(y, y[3] * sin(y[4] * atan(y[5] * kN)) / kN, lean),
            curve(z, (z[3] * kN + z[4]) * exp(-z[5] * kN), lean),
        )

    def forces(self, slip: Slip, n: Numbers) -> tuple[Number, Number, Number]:
        X, Y, Z = self.curves(slip.load, slip.camber, n)
        kappa, alpha = 100.0 * slip.along, DEGREES * atan(slip.across)
        turned = alpha + Y.shift_x
        # slip per slip of a straight line of initial stiffness up to the peak: C B x
        x, y = X.C * X.B * kappa, Y.C * Y.B * turned
        square = x * x + y * y
        size = sqrt(square + TINY * TINY)
        # the force has the direction of the normalised slip where bristles stick, of the slip itself where all slide
        slides = square / (TURNING + square)
        across = slip.across + Y.shift_x / DEGREES
        whole = sqrt(slip.along * slip.along + across * across + TINY * TINY)
        towards_x = (1.0 - slides) * x / size + slides * slip.along / whole
        towards_y = (1.0 - slides) * y / size + slides * across / whole
        angle = size / (Y.C * Y.B)
        along = towards_x * X(size / (X.C * X.B))
        fading = 1.0 / sqrt(1.0 + x * x)
        lateral = towards_y * Y(angle) + Y.shift_y * fading
        aligning = towards_y * Z(angle + towards_y * (Z.shift_x - Y.shift_x)) + Z.shift_y * fading
        return along, lateral, aligning * slip.sense
