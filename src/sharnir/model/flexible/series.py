"""Legendre series on a beam: coefficients (…, n) of P_0 … P_{n−1} in ξ = 2x/L − 1, for 0 ≤ x ≤ L."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.polynomial import legendre

from ...trace import Number
from ...types import FloatArray


def polynomials(count: int, xi: Number) -> list[Number]:
    """P_0 … P_{count−1} at ξ: a number, a symbol or an array. The recurrence of Bonnet, stable for |ξ| ≤ 1."""
    found: list[Number] = [1.0, xi]
    for j in range(1, count - 1):
        found.append(((2 * j + 1) / (j + 1)) * (xi * found[j]) - (j / (j + 1)) * found[j - 1])
    return found[:count]


def value(series: Sequence[float], at: Sequence[Number]) -> Number:
    """The series where the polynomials have these values; coefficients that are zero cost nothing."""
    total: Number = 0.0
    for c, p in zip(series, at, strict=False):
        if c != 0.0:
            total = total + float(c) * p
    return total


def integral(series: FloatArray, length: float) -> FloatArray:
    """The series of ∫₀ˣ."""
    return np.asarray(legendre.legint(series, lbnd=-1, axis=-1) * (length / 2), dtype=float)


def derivative(series: FloatArray, length: float) -> FloatArray:
    """The series of d/dx."""
    return np.asarray(legendre.legder(series, axis=-1) * (2 / length), dtype=float)


def overlap(a: FloatArray, b: FloatArray, length: float) -> FloatArray:
    """∫₀ᴸ a_k b_l dx for rows of series of equal length."""
    return (a * (length / (2 * np.arange(a.shape[-1]) + 1))) @ b.T


def products(series: FloatArray) -> FloatArray:
    """(m, m, 2n − 1): the series of all products of two rows, by quadrature that is exact for them."""
    n = series.shape[-1]
    xi, weights = legendre.leggauss(2 * n)
    values = legendre.legval(xi, series.T)
    degree = np.arange(2 * n - 1)
    back = legendre.legvander(xi, 2 * n - 2) * weights[:, None] * (degree + 0.5)
    return np.einsum("kp,lp,pj->klj", values, values, back, optimize=True)


def largest(series: FloatArray) -> tuple[float, float]:
    """ξ and value where one series is largest in magnitude on the beam; of several such places the one nearest to x = 0."""
    slope = legendre.legtrim(legendre.legder(series))
    inside = [] if slope.size < 2 else [r.real for r in legendre.legroots(slope) if abs(r.imag) < 1e-6 and abs(r.real) < 1]
    places = np.array([-1.0, *sorted(inside), 1.0])
    values = legendre.legval(places, series)
    first = int(np.argmax(np.abs(values) >= (1 - 1e-6) * np.abs(values).max()))
    return float(places[first]), float(values[first])
