"""Impacts: bodies that meet without interpenetrating, by momentum, and stay in contact where they come to rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import StateError
from .body import GROUND
from .constraints.base import Constraint
from .element import Element, element, element_field
from .formulas import SignalFormula
from .gaps import JointEnds, SphereAbovePlane, SphereBesideSphere
from .joints.closing_rows import Row
from .motion import ORIGIN, Motion
from .values import Function, Label, NamedFormula, Scalar

REST_SPEED = 1e-5
"""m/s or rad/s: what is slower after an impact does not bounce."""


@element()
class Impact(Element):
    """Where `gap` comes down to zero the speeds of the whole mechanism jump; give it to `simulate` among its events."""

    gap: Callable[[Motion], Any] = element_field(
        NamedFormula(SignalFormula, example="sharnir.SignalFormula('position.ball.z - 0.1')"),
        meaning="a function of sharnir.Motion that reads t and positions and returns a distance, or an angle, positive where "
        "bodies are apart; in files a formula such as position.ball.z - 0.1",
    )
    restitution: float = element_field(
        Scalar(at_least=0.0), default=0.5, meaning="speed of the gap after an impact, relative to that before: 0 … 1"
    )
    friction: float = element_field(
        Scalar(at_least=0.0), default=0.0, meaning="Coulomb's coefficient of the impulse along the surfaces; needs slip"
    )
    name: str = element_field(Label(), default="", meaning="its name in the result")
    rest_speed: float = element_field(
        Scalar(above=0.0),
        default=REST_SPEED,
        unit="m/s, rad/s",
        meaning="approach slower than this does not bounce, and where forces press the bodies together they stay in contact",
    )
    slip: Callable[[Motion], Sequence[Any]] | None = element_field(
        Function(("Motion",)),
        default=None,
        key="",
        meaning="a function of sharnir.Motion: the velocity of the one surface over the other where they touch; gaps of spheres "
        "have their own",
    )
    _error = StateError

    @property
    def label(self) -> str:
        return f"impact {self.name!r}" if isinstance(self.name, str) and self.name else "impact"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.restitution > 1.0:
            raise StateError(f"{self.label}: restitution: expected a number from 0 to 1, got {self.restitution!r}")
        if self.friction and self.slipping is None:
            raise StateError(
                f"{self.label}: friction needs the velocity of one surface over the other: give slip=…, or take "
                "Impact.sphere or Impact.spheres, which have it"
            )

    @property
    def slipping(self) -> Callable[[Motion], Sequence[Any]] | None:
        return self.slip or getattr(self.gap, "slip", None)

    # --- ready ones -------------------------------------------------------------------------------------------------------
    @staticmethod
    def stop(joint: str, low: float | None = None, high: float | None = None, **options: Any) -> Impact:
        """At the ends of the travel of a joint of one coordinate ("joint.coordinate" where it has several): of its own limits, or
        where these are given. `options`: restitution, name …"""
        return Impact(JointEnds(joint, low, high), **{"name": f"stop of {joint}", **options})

    @staticmethod
    def sphere(
        body: str,
        radius: float = 0.0,
        *,
        at: Sequence[float] = ORIGIN,
        plane: str = GROUND,
        normal: Sequence[float] = (0.0, 0.0, 1.0),
        height: float = 0.0,
        **options: Any,
    ) -> Impact:
        """Of a sphere (a point, where it has no radius) fixed in a body, and a plane: the floor, or n·x = height in the axes of
        another body."""
        gap = SphereAbovePlane(body, radius, tuple(at), plane, tuple(normal), height)
        return Impact(gap, **{"name": f"{body} on {plane}", **options})

    @staticmethod
    def spheres(
        body: str,
        other: str,
        radius: float,
        other_radius: float | None = None,
        *,
        at: Sequence[float] = ORIGIN,
        other_at: Sequence[float] = ORIGIN,
        **options: Any,
    ) -> Impact:
        """Of two spheres fixed in two bodies, by default of one radius."""
        gap = SphereBesideSphere(
            body, other, radius, radius if other_radius is None else other_radius, tuple(at), tuple(other_at)
        )
        return Impact(gap, **{"name": f"{body} on {other}", **options})


APART, NEAR, PRESSED = 0.0, 1.0, 2.0
"""Values of the parameter that says how a contact is; near: bodies touch, and nothing presses them together."""


class Touching(Constraint):
    """The gap of an impact held at zero while bodies are pressed together; no constraint at all otherwise."""

    switched = True

    def __init__(self, impact: Impact, switch: str) -> None:
        self.gap, self.switch = impact.gap, switch

    def positions(self, on: Motion) -> Sequence[Row]:
        return [("touching", pressed(on.parameter(self.switch)) * self.gap(on))]


def pressed(contact: Any) -> Any:
    """1 where a contact is pressed, 0 where it is apart or near."""
    return 0.5 * contact * (contact - NEAR)


def near(contact: Any) -> Any:
    """1 where it is near."""
    return contact * (PRESSED - contact)
