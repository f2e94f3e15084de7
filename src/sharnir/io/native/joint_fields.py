"""What joints have in common in a file: options, and where they are."""

from __future__ import annotations

from typing import Any, ClassVar

from ...model import joints as types
from ...model.pose import unit_axis
from .fields import Fields, Flag, Limits, Name, NamedPlace, OneOrMany, Place, at
from .formulas import Motion, motion_of

AXES = ("axis", "first", "second")
OPTIONS = ("motion", "limits", "damping", "friction", "stiffness", "rest", "armature", "effort", "velocity")


class OfJoint(Fields):
    """What joints have in common: drives, springs, limits."""

    makes: ClassVar[type[types.Joint]]
    motion: Motion | None = None
    """Drives the joint: a formula of t, formulas by coordinate, or (ball, free) a pose by formulas."""
    limits: Limits | None = None
    """[low, high] or one such pair per coordinate; rad or m. They act where there is a joint stop."""
    damping: OneOrMany = 0.0
    """Force per speed; one number or one per speed."""
    friction: OneOrMany = 0.0
    """Dry friction; acts where there is a joint friction."""
    stiffness: OneOrMany = 0.0
    """Force per unit of the coordinate."""
    rest: OneOrMany = 0.0
    """Where the spring is free; of a ball joint a quaternion."""
    armature: OneOrMany = 0.0
    """Inertia of the drive's rotor as the joint feels it."""
    effort: OneOrMany | None = None
    """Largest force of the drive."""
    velocity: OneOrMany | None = None
    """Largest speed of the drive."""

    def build(self) -> types.Joint:
        options = {name: getattr(self, name) for name in OPTIONS if name in self.model_fields_set and name != "motion"}
        with at("motion"):
            motion = motion_of(self.motion)
        for name in set(AXES) & self.model_fields_set:
            with at(name):
                unit_axis(getattr(self, name), "direction")
        return self.make({**options, **({} if motion is None else {"motion": motion})})

    def make(self, options: dict[str, Any]) -> types.Joint:
        return self.makes(**{n: getattr(self, n) for n in self.own() if n in self.model_fields_set}, **options)

    @classmethod
    def own(cls) -> tuple[str, ...]:
        """Fields of this type alone."""
        return tuple(n for n in cls.model_fields if n not in (*OPTIONS, "type", *Placement.model_fields))


class Placement(Fields):
    """Between which bodies a joint is, and where."""

    parent: Name
    child: Name
    at: NamedPlace = (0.0, 0.0, 0.0)
    """The joint's frame in the parent."""
    child_at: NamedPlace = (0.0, 0.0, 0.0)
    """The joint's frame in the child."""
    cut: Flag = False
    """Where a loop is to be cut."""


class PartPlacement(Fields):
    """Where the part of a compound is."""

    at: Place = (0.0, 0.0, 0.0)
    """The part's frame in the frame that the part before it moves."""
