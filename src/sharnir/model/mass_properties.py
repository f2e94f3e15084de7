"""Masses, inertias and inverse mass matrices of all bodies as arrays, computed once for equal bodies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..types import FloatArray, IntArray
from .body import Body


class MassProperties(NamedTuple):
    """Row 0 is the base."""

    mass: FloatArray
    moment: FloatArray
    """h = m r_c, (nb+1, 3)."""
    inertia: FloatArray
    """About the bodies' origins, xx yy zz xy xz yz, (nb+1, 6)."""
    alike: IntArray
    """The index of each among the distinct bodies, (nb+1,)."""
    mobility: FloatArray
    """Inverse mass matrices of the distinct bodies, (kinds, 6, 6); nan for those that are not solid."""
    solid: NDArray[np.bool_]
    """Whether a body has mass, and inertia about every axis."""


def mass_properties(bodies: Sequence[Body]) -> MassProperties:
    base = (0.0, (0.0,) * 3, (0.0,) * 6)
    kinds: dict[tuple[Any, ...], int] = defaultdict(count().__next__)  # numbered in order of occurrence: many bodies, few kinds
    each = map(kinds.__getitem__, chain([base], map(attrgetter("mass", "com", "inertia"), bodies)))
    kind_of = np.fromiter(each, dtype=np.int64, count=len(bodies) + 1)
    numbers = np.array([(mass, *com, *inertia) for mass, com, inertia in kinds], dtype=float)
    mass, com, about_com = numbers[:, 0], numbers[:, 1:4], numbers[:, 4:]
    J = about_com[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)
    moments = np.linalg.eigvalsh(J)
    solid = (mass > 0.0) & (moments[:, 0] > 1e-14 * moments[:, 2])
    J = J + mass[:, None, None] * (np.sum(com**2, axis=1)[:, None, None] * np.eye(3) - com[:, :, None] * com[:, None, :])
    h = mass[:, None] * com
    mobility = _mobilities(mass, h, J, np.flatnonzero(solid))
    inertia = J[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return MassProperties(mass[kind_of], h[kind_of], inertia[kind_of], kind_of, mobility, solid[kind_of])


def _mobilities(mass: FloatArray, h: FloatArray, J: FloatArray, solid: IntArray) -> FloatArray:
    """Inverse mass matrices of the solid bodies, nan for the others."""
    out = np.full((len(mass), 6, 6), np.nan)
    M = np.zeros((len(solid), 6, 6))
    M[:, [0, 1, 2], [0, 1, 2]] = mass[solid, None]
    for row, column, k, sign in ((0, 4, 2, 1), (0, 5, 1, -1), (1, 3, 2, -1), (1, 5, 0, 1), (2, 3, 1, 1), (2, 4, 0, -1)):
        M[:, row, column] = M[:, column, row] = sign * h[solid, k]  # −m r̃_c and its transpose
    M[:, 3:, 3:] = J[solid]
    try:
        out[solid] = np.linalg.inv(M)
    except np.linalg.LinAlgError:  # a centre of mass so far away that rounding makes a matrix singular
        for i, matrix in zip(solid, M, strict=True):
            if np.linalg.cond(matrix) < 1e15:
                out[i] = np.linalg.inv(matrix)
    return out
