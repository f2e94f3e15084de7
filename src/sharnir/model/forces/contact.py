"""Contact: a shape of one body against a surface of another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import product
from typing import TYPE_CHECKING, Any

from ...errors import ModelError
from ...trace import Number, Symbol, at_values
from ...trace.functions import minimum
from ..body import GROUND
from ..element import element, element_field, not_negative, positive
from ..motion import Motion
from ..pose import Pose
from ..shapes import Box, Capsule, Cylinder, HeightFunction, Plane, Points, Sphere, Torus
from ..values import Choice, Label, Name, OneOf, Scalar
from .contact_distance import surface_of
from .contact_points import HUNT_CROSSLEY, KELVIN_VOIGT, Ball, Bar, Ring, Touch
from .force_element import ForceElement, Numbers

if TYPE_CHECKING:
    from ..structure import Structure

TOUCHING = (Sphere, Capsule, Box, Cylinder, Torus, Points)
TOUCHED = (Plane, HeightFunction, Sphere, Box)
FLOOR = Plane()


@element("contact")
class Contact(ForceElement):
    """A shape of a body against a surface of another, or of the ground: at every point of contact a force that never pulls,
    k·depthⁿ·(1 + damping·rate) by Hunt and Crossley or k·depthⁿ + damping·rate by Kelvin and Voigt, friction from that force with
    Stribeck's dip, and moments against rolling and spin.

    Stiffness and damping are those of one point: a box on a plane has eight, a capsule two, a cylinder three at each end.
    """

    body: str = element_field(Name("body"), meaning="the body that touches")
    shape: Any = element_field(OneOf(TOUCHING), meaning="with what it touches")
    against: Any = element_field(OneOf(TOUCHED), default=FLOOR, meaning="what it touches; the plane z = 0 by default")
    on: str = element_field(Name("body"), default=GROUND, meaning="the body (or ground) that has what is touched")
    stiffness: float = positive(default=1e5, unit="N/mⁿ", meaning="k, of every point of contact")
    damping: float = not_negative(
        default=0.0,
        unit="s/m; N s/m",
        meaning="of Hunt and Crossley the share of the force per speed; of Kelvin and Voigt the force per speed",
    )
    exponent: float = element_field(Scalar(at_least=1.0), default=1.0, meaning="n: 1, or 1.5 for round bodies (Hertz)")
    model: str = element_field(Choice((HUNT_CROSSLEY, KELVIN_VOIGT)), default=HUNT_CROSSLEY, meaning="law of the normal force")
    friction: float = not_negative(default=0.0, meaning="μ when sliding")
    static_friction: float | None = not_negative(
        default=None, meaning="μ at breakaway; that of sliding by default, which means no dip"
    )
    stribeck: float = positive(default=0.1, unit="m/s", meaning="speed at which the dip is over")
    slip: float = positive(default=2e-3, unit="m/s", meaning="speed of sliding up to which friction grows from zero")
    presliding: float | None = positive(
        default=None,
        unit="m",
        meaning="friction that sticks, by states of its own: how far bristles bend under μ; by default it creeps below slip",
    )
    settling: float = not_negative(default=0.01, unit="s", meaning="damping per stiffness of the bristles")
    rolling: float = not_negative(default=0.0, unit="m", meaning="moment against rolling per normal force")
    spin: float = not_negative(default=0.0, unit="m", meaning="moment against spin about the normal per normal force")
    turn_slip: float = positive(default=2e-2, unit="rad/s", meaning="angular speed up to which these moments grow from zero")
    name: str | None = element_field(Label(), default=None, key="")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.body == self.on:
            raise ModelError(f"{self.label}: both surfaces are on {self.body!r}; it would push nothing")
        if isinstance(self.exponent, Symbol):
            raise ModelError(f"{self.label}: exponent: it decides which formula is compiled; give a number, not a parameter")
        if self.static_friction is not None and at_values(self.static_friction) < at_values(self.friction):
            raise ModelError(
                f"{self.label}: static_friction must be at least friction, got {self.static_friction} and {self.friction}"
            )
        if self.presliding is not None and not at_values(self.friction) > 0.0:
            raise ModelError(f"{self.label}: presliding is how far bristles bend under friction: give friction too")
        pair = type(self.shape), type(self.against)
        if pair not in PAIRS:
            others = [b.__name__ for a, b in PAIRS if a is pair[0]]
            raise ModelError(
                f"{self.label}: no contact of a {pair[0].__name__} with a {pair[1].__name__}; "
                f"a {pair[0].__name__} touches {', '.join(others)}"
            )

    @property
    def has_function(self) -> bool:
        return isinstance(self.against, HeightFunction)

    def laws(self) -> Numbers:
        """The numbers of its laws of force."""
        names = ("stiffness", "damping", "friction", "stribeck", "slip", "rolling", "spin", "turn_slip", "presliding", "settling")
        dip = 0.0 if self.static_friction is None else self.static_friction - self.friction
        return {**{name: getattr(self, name) for name in names}, "dip": dip}

    def states(self, on: Motion) -> Mapping[str, float]:
        """No states of its own: its parts have them."""
        return {}

    def formula(self, on: Motion, n: Numbers) -> Number:
        return sum((part.formula(on, part.numbers(on)) for part in self.parts(on.structure)), 0.0)

    def parts(self, structure: Structure) -> Sequence[Touch]:
        return list(PAIRS[type(self.shape), type(self.against)](self))


ROUNDED = 0.05
"""Radius of the corners of a box that touches a box, of its shortest edge."""


# --- which parts a pair consists of ------------------------------------------------------------------------------------------
def corners(box: Box) -> list[tuple[Number, ...]]:
    """The corners of a box in the axes of its body."""
    x, y, z = (0.5 * edge for edge in box.size)
    return [box.at @ (i * x, j * y, k * z) for i, j, k in product((-1.0, 1.0), repeat=3)]


def ends(shape: Capsule | Cylinder) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
    """The ends of the middle line in the axes of its body."""
    half = 0.5 * shape.length
    return shape.at @ (0.0, 0.0, -half), shape.at @ (0.0, 0.0, half)


def balls_of(shape: Any) -> list[tuple[Sequence[Number], Number]]:
    """Centres and radii of the balls that stand for a shape."""
    match shape:
        case Sphere():
            return [(shape.at.position, shape.radius)]
        case Capsule():
            return [(end, shape.radius) for end in ends(shape)]
        case Box():
            return [(corner, 0.0) for corner in corners(shape)]
        case Points():
            return [(shape.at @ point, 0.0) for point in shape.points]
    raise TypeError(shape)


def _balls(contact: Contact, swapped: bool = False) -> Iterator[Touch]:
    """The balls of the shape on what it touches; `swapped`: the roles exchanged."""
    shape, other = (contact.against, contact.shape) if swapped else (contact.shape, contact.against)
    surface = surface_of(other)
    for k, (centre, radius) in enumerate(balls_of(shape), 1):
        yield Ball(contact, surface, swapped, str(k), centre=centre, radius=radius)


def _two_boxes(contact: Contact) -> Iterator[Touch]:
    """The corners of either against the other, rounded: a sharp one in the plane of a side is nowhere in the box below it."""
    for swapped, (box, other) in enumerate([(contact.shape, contact.against), (contact.against, contact.shape)]):
        radius = ROUNDED * reduce(minimum, box.size)
        inner = Box(tuple(edge - 2.0 * radius for edge in box.size), at=box.at)
        for k, corner in enumerate(corners(inner), 1 + 8 * swapped):
            yield Ball(contact, surface_of(other), bool(swapped), str(k), centre=corner, radius=radius)


def _bar(contact: Contact) -> Iterator[Touch]:
    start, end = ends(contact.shape)
    radius = contact.shape.radius
    yield Bar(contact, surface_of(contact.against), False, "1", start=start, end=end, radius=radius)


def _rings(contact: Contact) -> Iterator[Touch]:
    shape: Any = contact.shape
    pose: Pose = shape.at
    circles = [(shape.at.position, shape.tube)] if isinstance(shape, Torus) else [(end, 0.0) for end in ends(shape)]
    axes = {"axis": pose.rotation.entries[2::3], "across": pose.rotation.entries[0::3]}
    for k, (centre, tube) in enumerate(circles, 1):
        yield Ring(contact, surface_of(contact.against), False, str(k), centre=centre, radius=tube, ring=shape.radius, **axes)


PAIRS: dict[tuple[type, type], Callable[[Contact], Iterator[Touch]]] = {
    **{(shape, ground): _balls for shape in (Sphere, Capsule, Box, Points) for ground in (Plane, HeightFunction)},
    **{(shape, ground): _rings for shape in (Cylinder, Torus) for ground in (Plane, HeightFunction)},
    **dict.fromkeys([(Sphere, Sphere), (Sphere, Box), (Capsule, Box), (Points, Sphere), (Points, Box)], _balls),
    (Capsule, Sphere): _bar,
    (Box, Sphere): partial(_balls, swapped=True),
    (Box, Box): _two_boxes,
}
"""The functions that divide a contact into its parts, by the classes that touch."""
