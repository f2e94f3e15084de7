"""Values that only modal bodies have: matrices of numbers, and integrals over the mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...types import FloatArray
from ..values import Fault, Kind, Vector, expected, shown
from ..values.kind import listed, within
from .flexible_body import FixedScalar
from .integrals import Integrals

Table = tuple[tuple[float, ...], ...]
ROW = Vector(of=FixedScalar())


@dataclass(frozen=True)
class TableValue(Kind):
    """A matrix of numbers; `rows`: how many it may have, any number where none are named."""

    rows: tuple[int, ...] = ()
    or_diagonal: bool = False
    """Whether a list of numbers is accepted for a diagonal matrix."""

    def check(self, value: Any) -> Table | tuple[float, ...]:
        rows = listed(value)
        if not rows:
            raise expected(self._words, value)
        if self.or_diagonal and all(listed(row) is None for row in rows):
            return ROW.check(rows)
        found = tuple([within(ROW, row, k) for k, row in enumerate(rows)])
        if self.rows and len(found) not in self.rows:
            raise Fault(f"expected {self._words}, got {len(found)}")
        uneven = next((k for k, row in enumerate(found) if not row or len(row) != len(found[0])), None)
        if uneven is not None:
            raise Fault(f"expected rows of equal length, got {len(found[uneven])} numbers after {len(found[0])}", uneven)
        return found

    @property
    def _words(self) -> str:
        return f"a matrix with {' or '.join(map(str, self.rows))} rows" if self.rows else "a matrix, row by row"


class IntegralsValue(Kind):
    """Integrals over the mass; in files those that belong to modes, the others follow from mass, centre and inertia."""

    def check(self, value: Any) -> Integrals:
        if not isinstance(value, Integrals):
            raise Fault(f"expected a sharnir.model.flexible.Integrals, got {shown(value)}")
        return value


def modal_integrals(rigid: Sequence[Any], linear: Any, first: Any, product: Any, mass_matrix: Any = None) -> Integrals:
    """Integrals of modes that displace linearly; `rigid`: mass, centre and inertia as `ModalBody` has them."""
    linear, first, product = (np.array(x, dtype=float) for x in (linear, first, product))
    m, (mass, centre, inertia) = len(linear), rigid
    return Integrals(
        mass=float(mass),
        moment=mass * np.array(centre, dtype=float),
        second=second_moments(mass, centre, inertia),
        linear=linear,
        first=first,
        product=product,
        curved=np.zeros((m, m, 3)),
        bent=np.zeros((m, m, 3, 3)),
        mass_matrix=np.einsum("klii->kl", product) if mass_matrix is None else np.array(mass_matrix, dtype=float),
    )


def second_moments(mass: float, centre: Any, inertia: Any) -> FloatArray:
    """∫ x xᵀ about the origin, of the inertia about the centre."""
    c, (xx, yy, zz, xy, xz, yz) = np.array(centre, dtype=float), inertia
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    found: FloatArray = np.trace(J) / 2 * np.eye(3) - J + mass * np.outer(c, c)
    return found
