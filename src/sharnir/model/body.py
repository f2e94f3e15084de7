"""A body, rigid or flexible: mass, centre of mass, inertia about it. Values that no body can have are refused."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import NOT_A_NUMBER, ModelError, brief, known
from ..trace import Number, Symbol, has_parameters
from ..types import FloatArray, Vector, real_array, truth
from .large_models import fast_constructor
from .pose import three_floats, vector3
from .shapes import Shape
from .substitution import formulas_in, substituted
from .units import warn_of_millimetres
from .values import check_name
from .values.kind import listed

if TYPE_CHECKING:
    from .flexible import Flexible

GROUND = "ground"


@dataclass(frozen=True, slots=True)
class Body:
    """Mass properties in the body's own frame; `inertia` is about the centre of mass: xx yy zz xy xz yz."""

    name: str
    mass: Number
    com: tuple[Number, Number, Number]
    inertia: tuple[Number, ...]
    shape: Shape | None = None
    flexible: Flexible | None = None
    """How it deforms; mass, centre and inertia are those of the undeformed body."""

    def inertia_matrix(self) -> FloatArray:
        """3×3 about the centre of mass."""
        xx, yy, zz, xy, xz, yz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def inertia_at_origin(self) -> FloatArray:
        """3×3 about the body's origin: J_O = J_c + m(c²E − ccᵀ)."""
        c = np.array(self.com)
        shift: FloatArray = self.mass * (c @ c * np.eye(3) - np.outer(c, c))
        return self.inertia_matrix() + shift

    def mass_matrix(self) -> FloatArray:
        """M = [mE −m r̃_c; m r̃_c J_O], 6×6 about the body's origin. [I] (3.3)"""
        x, y, z = np.array(self.com) * self.mass
        h = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.block([[self.mass * np.eye(3), -h], [h, self.inertia_at_origin()]])

    @property
    def is_solid(self) -> bool:
        """Whether the mass matrix can be inverted: mass, and inertia about every axis."""
        moments = np.linalg.eigvalsh(self.inertia_matrix())
        return self.mass > 0.0 and bool(moments[0] > 1e-14 * moments[2])


_new_body = fast_constructor(Body)


def make_body(
    name: str,
    mass: float | None,
    com: Vector | None,
    inertia: ArrayLike | None,
    shape: Shape | None,
    density: float | None,
    check_inertia: bool = True,
) -> Body:
    check_name(name, "body")
    label = f"body {name!r}"
    if not all(map(_is_plain, (mass, com, inertia, density))) or (shape is not None and _is_parametric(shape)):
        return _parametric_body(name, mass, com, inertia, shape, density, check_inertia, label)
    if not (mass is None or (type(mass) is float and 0.0 <= mass < math.inf)):  # the usual case needs no conversion
        mass = _mass(mass, label)
    if shape is not None:
        if not isinstance(shape, Shape):
            raise ModelError(f"{label}: expected a shape such as sharnir.Box((0.1, 0.1, 0.5)), got {brief(shape)}")
        if inertia is not None or com is not None:
            raise ModelError(f"{label}: a shape gives centre of mass and inertia; leave out com and inertia, or the shape")
        mass, com, inertia = shape.mass_properties(mass, density, label)
    elif density is not None:
        raise ModelError(f"{label}: a density needs a shape to fill, e.g. shape=sharnir.Box((0.1, 0.1, 0.5))")
    mass = 0.0 if mass is None else mass
    centre = (0.0, 0.0, 0.0) if com is None else com if three_floats(com) else vector3(com, f"{label}: com")
    moments = (0.0,) * 6 if inertia is None else _moments(inertia, label)
    body = _new_body(name, mass, centre, moments, shape, None)
    fault = inertia_fault(body) if check_inertia is True or truth(check_inertia, f"{label}: check_inertia") else None
    if fault:
        raise ModelError(f"{label}: its inertia {fault}")
    if shape is None and inertia is not None and com is not None:
        warn_of_millimetres(name, mass, centre, moments)
    return body


def make_flexible(name: str, flexible: Any, given: Mapping[str, Any]) -> tuple[Body, Body | None]:
    """A flexible body and its deformation, a row of the tree without mass of its own; without modes it is rigid. `given`:
    arguments of rigid bodies."""
    from .flexible import Flexible  # imported here: most models are rigid

    check_name(name, "body")
    label = f"body {name!r}"
    if not isinstance(flexible, Flexible):
        raise ModelError(f"{label}: flexible is a sharnir.FlexibleBeam or a sharnir.ModalBody, got {brief(flexible)}")
    if named := [what for what, x in given.items() if x is not None]:
        raise ModelError(f"{label}: a flexible body has its mass, centre and inertia from `flexible`; leave out {known(named)}")
    centre, moments = (tuple(map(float, x)) for x in (flexible.com, flexible.inertia))
    body, nothing = Body(name, float(flexible.mass), (centre[0], centre[1], centre[2]), moments, None, flexible), (0.0, 0.0, 0.0)
    if fault := inertia_fault(body):
        raise ModelError(f"{label}: its inertia {fault}")
    return body, Body(deformation_name(name), 0.0, nothing, nothing + nothing) if flexible.coordinates else None


def deformation_name(body: str) -> str:
    """Name of the row of the tree, and of the joint, that hold the elastic coordinates of a flexible body."""
    return f"{body} elastic"


def _is_plain(x: Any) -> bool:
    """Whether a number, or numbers, do not depend on parameters: fast for plain floats, large models have millions."""
    return x is None or type(x) is float or three_floats(x) or not has_parameters(x if isinstance(x, Symbol) else listed(x))


def _is_parametric(shape: Any) -> bool:
    """Whether a shape depends on parameters; found once however many bodies share it."""
    if not isinstance(shape, Shape):
        return False
    if "_parametric" not in shape.__dict__:
        shape.__dict__["_parametric"] = bool(formulas_in(shape))
    found: bool = shape.__dict__["_parametric"]
    return found


def _parametric_body(
    name: str, mass: Any, com: Any, inertia: Any, shape: Shape | None, density: Any, check_inertia: bool, label: str
) -> Body:
    """A body whose numbers depend on parameters; it must be valid at their present values."""
    if isinstance(inertia, np.ndarray):
        inertia = inertia.tolist()
    m, c, J, solid, filled = (substituted(x, None) for x in (mass, com, inertia, shape, density))
    make_body(name, m, c, J, solid, filled, check_inertia)
    if shape is not None:
        mass, com, J = shape.mass_properties(mass, density, label)
        inertia = J.tolist()
    moments = (0.0,) * 6 if inertia is None else tuple(inertia)
    if len(moments) == 3 and isinstance(moments[0], (tuple, list)):
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = moments
        moments = (xx, yy, zz, xy, xz, yz)
    centre = (0.0, 0.0, 0.0) if com is None else vector3(com, f"{label}: com")
    numbers_of = (0.0 if mass is None else mass, *moments, *(0.0,) * (6 - len(moments)))
    first, *rest = (x if isinstance(x, Symbol) else float(x) for x in numbers_of)
    return _new_body(name, first, centre, tuple(rest), shape, None)


def _mass(mass: float, label: str) -> float:
    try:
        value = float(mass)
    except NOT_A_NUMBER:
        raise ModelError(f"{label}: mass must be a number of kilograms, got {brief(mass)}") from None
    if not math.isfinite(value) or value < 0.0:
        raise ModelError(f"{label}: mass must be zero or positive, got {value:g} kg")
    return value


def _moments(inertia: ArrayLike, label: str) -> tuple[float, ...]:
    if three_floats(inertia):
        return (*inertia, 0.0, 0.0, 0.0)
    try:
        a = real_array(inertia, "inertia")
    except NOT_A_NUMBER:
        raise ModelError(f"{label}: inertia must be numbers, got {brief(inertia)}") from None
    if not np.isfinite(a).all():
        raise ModelError(f"{label}: inertia must be finite, got {brief(inertia)}")
    if a.shape in ((3,), (6,)):
        return (*a.tolist(), *(0.0,) * (6 - len(a)))
    if a.shape != (3, 3):
        raise ModelError(f"{label}: inertia must be 3 numbers, 6 (xx yy zz xy xz yz) or 3×3, got shape {a.shape}")
    if np.abs(a - a.T).max() > 1e-9 * max(np.abs(a).max(), 1e-300):
        raise ModelError(f"{label}: the inertia matrix is not symmetric")
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = ((a + a.T) / 2).tolist()
    return (xx, yy, zz, xy, xz, yz)


def principal_moments(inertia: Sequence[float]) -> list[float]:
    """Eigenvalues in ascending order, by trigonometry: to about 1e-8 of the largest, and cheap for one body."""
    xx, yy, zz, xy, xz, yz = inertia
    if xy == xz == yz == 0.0:
        return sorted((xx, yy, zz))
    size = max(map(abs, inertia))  # so that squares neither overflow nor vanish
    xx, yy, zz, xy, xz, yz = (x / size for x in inertia)
    mean = (xx + yy + zz) / 3.0
    a, b, c = xx - mean, yy - mean, zz - mean
    spread = math.sqrt((a * a + b * b + c * c + 2.0 * (xy * xy + xz * xz + yz * yz)) / 6.0)
    det = a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz)
    if spread < 1e-100:  # three equal moments, and products too small to be cubed
        return [size * mean] * 3
    angle = math.acos(max(-1.0, min(1.0, 0.5 * det / spread**3))) / 3.0  # the cubic has three real roots
    return sorted(size * (mean + 2.0 * spread * math.cos(angle + k * math.tau / 3.0)) for k in range(3))


def inertia_fault(body: Body) -> str | None:
    """Fault of the principal moments of a body, as the end of a sentence about its inertia; None if valid. They are integrals
    of squared distances: none is negative, none larger than the sum of the other two."""
    xx, yy, zz, xy, xz, yz = body.inertia
    if xy == xz == yz == 0.0 and xx + yy >= zz and yy + zz >= xx and zz + xx >= yy:  # two of these: none is negative
        return None
    low, middle, high = principal_moments(body.inertia)
    slack = 1e-6 * high
    if low >= -slack and low + middle >= high - slack:
        return None
    shown = f"principal moments {low:.6g}, {middle:.6g}, {high:.6g} kg m²"
    if low < -slack:
        return f"is not that of any body, a moment is negative ({shown})"
    return (
        f"breaks the triangle inequality ({shown}); no distribution of mass has that. "
        "Is it about the centre of mass, are the units kg m², are products of inertia of the right sign?"
    )
