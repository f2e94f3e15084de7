"""Masses, inertias and inverse mass matrices of all bodies as arrays, computed once for equal bodies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, count
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..types import FloatArray, IntArray
from .body import Body
from .parametric import array_of, floats


class MassProperties(NamedTuple):
    """Row 0 is the base."""

    mass: FloatArray
    moment: FloatArray
    """h = m r_c, (nb+1, 3)."""
    inertia: FloatArray
    """Inertia about the bodies' origins, xx yy zz xy xz yz, (nb+1, 6)."""
    alike: IntArray
    """The index of each among the distinct bodies, (nb+1,)."""
    mobility: FloatArray
    """Inverse mass matrices of the distinct bodies, (kinds, 6, 6); nan for those that are not solid."""
    solid: NDArray[np.bool_]
    """Whether a body has mass, and inertia about every axis."""


def mass_properties(bodies: Sequence[Body], parameters: Mapping[str, float]) -> MassProperties:
    """`parameters`: their values, at which it is decided which bodies are solid."""
    base = (0.0, (0.0,) * 3, (0.0,) * 6)
    kinds: dict[tuple[Any, ...], int] = defaultdict(count().__next__)  # numbered in order of occurrence: many bodies, few kinds
    each = map(kinds.__getitem__, chain([base], map(attrgetter("mass", "com", "inertia"), bodies)))
    kind_of = np.fromiter(each, dtype=np.int64, count=len(bodies) + 1)
    numbers = array_of([(mass, *com, *inertia) for mass, com, inertia in kinds])
    mass, com, about_com = numbers[:, 0], numbers[:, 1:4], numbers[:, 4:]
    present = floats(numbers, parameters)
    moments = np.linalg.eigvalsh(present[:, [4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(-1, 3, 3))
    solid = (present[:, 0] > 0.0) & (moments[:, 0] > 1e-14 * moments[:, 2])
    h = mass[:, None] * com
    inertia = np.stack(_about_origin(mass, com.T, about_com.T), axis=1)
    mobility = _mobilities(mass, com, about_com, np.flatnonzero(solid))
    return MassProperties(mass[kind_of], h[kind_of], inertia[kind_of], kind_of, mobility, solid[kind_of])


def _about_origin(m: Any, c: Any, J: Any) -> tuple[Any, ...]:
    """J_O = J_c + m(c²E − ccᵀ), xx yy zz xy xz yz, of generic scalars or of columns of them."""
    x, y, z = c
    xx, yy, zz, xy, xz, yz = J
    return (
        xx + m * (y * y + z * z), yy + m * (x * x + z * z), zz + m * (x * x + y * y),
        xy - m * (x * y), xz - m * (x * z), yz - m * (y * z),
    )  # fmt: skip


def _mobilities(mass: Any, com: Any, inertia: Any, solid: IntArray) -> np.ndarray:
    """Inverse mass matrices of the solid bodies, nan for the others.

    M⁻¹ = [E/m − c̃J⁻¹c̃  c̃J⁻¹; −J⁻¹c̃  J⁻¹], with J about the centre of mass: the acceleration of the origin by a wrench there.
    """
    out = np.full((len(mass), 6, 6), np.nan, dtype=mass.dtype)
    (x, y, z), K = com[solid].T, np.moveaxis(_inverse_symmetric(inertia[solid].T), -1, 0)
    c = np.zeros((len(solid), 3, 3), dtype=mass.dtype)
    c[:, 0, 1], c[:, 0, 2], c[:, 1, 0], c[:, 1, 2], c[:, 2, 0], c[:, 2, 1] = -z, y, z, -x, -y, x
    cK = c @ K
    out[solid, :3, :3] = -(cK @ c) + np.eye(3) / mass[solid, None, None]
    out[solid, :3, 3:], out[solid, 3:, :3], out[solid, 3:, 3:] = cK, -(K @ c), K
    return out


def _inverse_symmetric(J: Any) -> np.ndarray:
    """The inverse of a symmetric 3×3 matrix given by xx yy zz xy xz yz, by its cofactors."""
    size = 1.0 if J.dtype == object else np.abs(J).max(axis=0)  # so that products neither overflow nor vanish
    xx, yy, zz, xy, xz, yz = J / size
    a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    d, e, f = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    scale = 1.0 / (xx * a + xy * b + xz * c) / size
    return np.array([[a, b, c], [b, d, e], [c, e, f]]) * scale
