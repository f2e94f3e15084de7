"""Base classes of flexible bodies: elastic coordinates, the shapes that belong to them, and their damping.

A point that stands at x in the undeformed body stands at y = x + Φ(x) e + ½ Σ Γ_kl(x) e_k e_l, with m elastic coordinates e.
The section (or node) at x turns by the rotation vector Ψ(x) e. All in the body's axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ModelError
from ...trace import Number, is_parametric
from ...types import FloatArray
from ..element import Element
from ..values import Fault, Scalar
from .integrals import Integrals, eigh


# --- damping of elastic coordinates: ratios of critical damping, and Rayleigh's
def damping_matrix(
    mass: FloatArray, stiffness: FloatArray, ratio: float | Sequence[float], rayleigh: Sequence[float], label: str
) -> FloatArray:
    """C = M V diag(2 ζ ω) Vᵀ M + α M + β K, where K V = M V ω², Vᵀ M V = 1.

    Ratios are those of the coordinates, in their order, where M and K are diagonal; otherwise of the modes by ascending
    frequency.
    """
    m = len(mass)
    ratios = np.full(m, ratio) if isinstance(ratio, float) else np.array(ratio)
    if ratios.shape != (m,):
        raise ModelError(f"{label}: damping has {ratios.size} numbers for {m} modes; give one per mode, or one for all")
    alpha, beta = rayleigh
    if _diagonal(mass) and _diagonal(stiffness):
        found = np.diag(2 * ratios * np.sqrt(np.diag(mass) * np.diag(stiffness)))
    else:
        squares, V = eigh(stiffness, mass)
        MV = mass @ V
        found = (MV * (2 * ratios * np.sqrt(squares))) @ MV.T
    return found + alpha * mass + beta * stiffness


def _diagonal(a: FloatArray) -> bool:
    return not np.any(a - np.diag(np.diag(a)))


# --- numbers that cannot depend on parameters: shapes are computed once, when a flexible body is made
@dataclass(frozen=True)
class FixedScalar(Scalar):
    """A number, not a parameter."""

    def number(self, value: Any, *path: str | int, what: str = "a number") -> Any:
        if is_parametric(value):
            raise Fault("a flexible body cannot depend on a parameter; give a number, and make a body for each value", *path)
        return super().number(value, *path, what=what)


POSITIVE = FixedScalar(above=0.0)
NOT_NEGATIVE = FixedScalar(at_least=0.0)


# --- shapes, and the base class of flexible bodies
Rows = list[list[Number]]
"""3×m numbers: one list per axis."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """The shapes of a flexible body relative to the frame that moves with its root, as numbers."""

    names: tuple[str, ...]
    integrals: Integrals
    stiffness: FloatArray
    """(m, m), symmetric and positive definite."""
    damping: FloatArray
    """(m, m), symmetric and positive semidefinite."""
    root: tuple[float, float, float]
    """The point where displacement, rotation and Γ vanish."""

    def at(self, point: Sequence[Number]) -> tuple[Rows, Rows, list[Rows] | None]:
        """Φ, Ψ (3×m) and Γ (3×m×m, or None) at a point of the undeformed body, given by numbers or symbols."""
        raise NotImplementedError

    @cached_property
    def frequencies(self) -> FloatArray:
        """Natural frequencies with the root held and no other load, rad/s, ascending."""
        squares = eigh(self.stiffness, self.integrals.mass_matrix, eigvals_only=True)
        return np.sqrt(np.maximum(squares, 0.0))


class Flexible(Element):
    """A body that deforms. Mass properties are those of the undeformed body."""

    if TYPE_CHECKING:  # fields of some classes, computed by others: no property here that would hide a field

        @property
        def mass(self) -> float: ...

        @property
        def inertia(self) -> tuple[float, ...]:
            """xx yy zz xy xz yz about the centre of mass."""

    @property
    def com(self) -> tuple[float, float, float]:
        """The centre of mass."""
        raise NotImplementedError

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the elastic coordinates."""
        raise NotImplementedError

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each coordinate: "m" or "rad"."""
        raise NotImplementedError

    @property
    def words(self) -> str:
        """A short description of the body."""
        raise NotImplementedError

    def check_place(self, point: Sequence[float]) -> None:
        """Refuse a point where its shapes are not known: nothing can be attached there."""
        raise NotImplementedError

    def rooted(self, root: Sequence[float]) -> Shapes:
        """The shapes relative to the frame that moves with the section or node at `root` and coincides with the body's frame
        while the body is undeformed. The rigid motion of the root is subtracted from every shape, so the coordinates e, the
        stiffness and the damping are the same for every root."""
        x, y, z = (float(value) for value in root)
        cache: dict[Any, Shapes] = self.__dict__.setdefault("_rooted", {})
        if (x, y, z) not in cache:
            cache[x, y, z] = self._shapes((x, y, z))
        return cache[x, y, z]

    def _shapes(self, root: tuple[float, float, float]) -> Shapes:
        raise NotImplementedError
