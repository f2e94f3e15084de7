"""Several joints one after another, with no mass between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Never

import numpy as np

from ...errors import ModelError, check_known, known
from ...trace import Number, is_zero
from ..element import described, element, element_field
from ..pose import Pose
from ..values import HERE, Fault, Kind, name_fault, shown
from .joint_type import ElementaryMotion, Joint, OneOrMore, fixed, per_coordinate
from .traced import Segment

CompoundPart = Joint | tuple[Joint, Pose]
PARTS_ONLY = ("limits", "damping", "friction", "stiffness", "rest", "armature")
"""Options that belong to the parts; the compound has those of its parts, one after another."""


class Parts(Kind):
    """{part: joint} or {part: (joint, pose)}; held as the latter."""

    def check(self, value: Any) -> dict[str, tuple[Joint, Pose]]:
        if not isinstance(value, Mapping) or not value:
            raise Fault(f"expected {{part: joint}} with at least one part, got {shown(value)}")
        return {name: self._placed(name, part) for name, part in value.items()}

    def _placed(self, name: Any, part: Any) -> tuple[Joint, Pose]:
        joint, where = part if isinstance(part, tuple) and len(part) == 2 else (part, HERE)
        if not isinstance(name, str) or not name:
            raise Fault(f"a part needs a name, got {shown(name)}")
        if fault := name_fault(name):
            raise Fault(f"part {shown(name)}: {fault}")
        if not isinstance(joint, Joint) or not isinstance(where, Pose):
            raise Fault(f"part {name!r} must be a joint or (joint, sharnir.Pose), got {shown(part)}")
        return joint, where


def _read_only(together: Callable[[Compound], Any]) -> Any:
    """A property in place of a field of Joint."""
    return property(together)


def _of_the_parts(option: str) -> Any:
    """An option of the parts, one number per speed, part after part."""

    def together(self: Compound) -> tuple[float, ...]:
        values: list[float] = []
        for part, joint, _ in self.moved_joints():
            values += per_coordinate(getattr(joint, option), len(joint.v_names()), f"part {part!r}: {option}")
        return tuple(values)

    return _read_only(together)


def _rest(self: Compound) -> tuple[float, ...]:
    """One number per coordinate: where the springs of the parts are free."""
    values: list[float] = []
    for part, joint, _ in self.moved_joints():
        unset = not hasattr(joint.rest, "__len__") and is_zero(joint.rest)
        values += per_coordinate(joint.neutral() if unset else joint.rest, len(joint.q_names()), f"part {part!r}: rest")
    return tuple(values)


def _limits(self: Compound) -> list[tuple[float, float]] | None:
    """A pair per coordinate, infinite where a part has none."""
    pairs: list[tuple[float, float]] = []
    for _, joint, _ in self.moved_joints():
        n = len(joint.q_names())
        own: Any = (-np.inf, np.inf) if joint.limits is None else joint.limits
        pairs += [(low, high) for low, high in own] if hasattr(own[0], "__len__") else [(own[0], own[1])] * n
    return pairs if any(joint.limits is not None for joint, _ in self.parts.values()) else None


@element("compound")
class Compound(Joint):
    """A chain of joints with no bodies between them, from the carrier outward.

    A coordinate has the name of its part, or `part.coordinate` where the part has several. Drives, limits, damping … are
    those of the parts; `motion={coordinate or part: f}` drives them from here as well.
    """

    parts: Mapping[str, tuple[Joint, Pose]] = element_field(
        Parts(), meaning="joints by part, each at the pose of its frame in the frame that the part before it moves"
    )
    damping = _of_the_parts("damping")
    friction = _of_the_parts("friction")
    stiffness = _of_the_parts("stiffness")
    armature = _of_the_parts("armature")
    rest = _read_only(_rest)
    limits = _read_only(_limits)

    def __init__(
        self,
        parts: Mapping[str, CompoundPart],
        *,
        motion: Mapping[str, Callable[[Any], Any]] | None = None,
        effort: OneOrMore | None = None,
        velocity: OneOrMore | None = None,
        **options: Never,
    ) -> None:
        for name in options:
            if name not in PARTS_ONLY:
                check_known("Compound", [name], [one.name for one in described(Compound)], "field")
            example = f"Revolute('x', {name}={options[name]!r})"
            raise ModelError(f"compound joint: give {name} to the part it belongs to, e.g. {example}")
        self.__dict__.update(parts=parts, motion=motion, effort=effort, velocity=velocity)
        self.__post_init__()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.coordinates)) < len(self.coordinates):
            raise ModelError(f"{self.label}: two coordinates have the same name; they are {known(self.coordinates)}")
        if len(self.v_names()) > 6:
            raise ModelError(f"{self.label}: its parts have {len(self.v_names())} speeds together; no joint has more than 6")

    @property
    def coordinates(self) -> tuple[str, ...]:
        return tuple(full for name, (joint, _) in self.parts.items() for full in _names(name, joint, joint.coordinates))

    @property
    def speeds(self) -> tuple[str, ...]:
        return tuple(full for name, (joint, _) in self.parts.items() for full in _names(name, joint, joint.speeds))

    def segments(self, label: str) -> list[Segment]:
        return [run for name, joint, _ in self.moved_joints(label) for run in joint.segments(f"{label}, part {name!r}")]

    def driven_options(self, label: str) -> Iterator[tuple[str, dict[str, Number]]]:
        for name, joint, _ in self.moved_joints(label):
            for own, options in joint.driven_options(f"{label}, part {name!r}"):
                yield _names(name, joint, [own])[0], options

    def motions(self, label: str) -> list[ElementaryMotion]:
        out: list[ElementaryMotion] = []
        for name, joint, where in self.moved_joints(label):
            out += [*fixed(where), *joint.built(f"{label}, part {name!r}")]
        return out

    def q_names(self) -> tuple[str, ...]:
        return tuple(full for name, joint, _ in self.moved_joints() for full in _names(name, joint, joint.q_names()))

    def v_names(self) -> tuple[str, ...]:
        return tuple(full for name, joint, _ in self.moved_joints() for full in _names(name, joint, joint.v_names()))

    def neutral(self) -> tuple[float, ...]:
        return tuple(x for _, joint, _ in self.moved_joints() for x in joint.neutral())

    def random(self, rng: np.random.Generator) -> list[float]:
        return [x for _, joint, _ in self.moved_joints() for x in joint.random(rng)]

    def quaternions(self) -> tuple[int, ...]:
        out, at = list[int](), 0
        for _, joint, _ in self.moved_joints():
            out += [at + k for k in joint.quaternions()]
            at += len(joint.q_names())
        return tuple(out)

    @property
    def projects_onto_constraints(self) -> bool:
        return any(joint.projects_onto_constraints for _, joint, _ in self.moved_joints())

    def normalize(self, q: Sequence[Number], t: Number) -> list[Number]:
        out, at = list[Number](), 0
        for _, joint, _ in self.moved_joints():
            n = len(joint.q_names())
            out += joint.normalize(q[at : at + n], t)
            at += n
        return out

    def drives(self, label: str) -> dict[str, Callable[[Any], Any]]:
        """Functions of time by the coordinates, or whole parts, that `motion` drives."""
        if self.motion is None:
            return {}
        names = dict.fromkeys([*self.coordinates, *self.parts])
        if not isinstance(self.motion, Mapping):
            raise ModelError(f"{label}: motion must be a mapping from the names of coordinates or parts: {known(names)}")
        return self.checked_drives(self.motion, names, label)

    def released(self) -> Joint:
        out = self.driven(None)
        out.__dict__["driven_form"] = self
        out.__dict__["parts"] = {name: (joint.released(), where) for name, joint, where in self.moved_joints()}
        return out

    def moved_joints(self, label: str = "compound joint") -> Iterator[tuple[str, Joint, Pose]]:
        """The parts, those that the compound drives replaced by driven copies."""
        drives = self.drives(label)
        for name, (joint, where) in self.parts.items():
            yield name, _driven(name, joint, drives) if drives else joint, where


def _names(part: str, joint: Joint, names: Sequence[str]) -> list[str]:
    return [part if len(joint.coordinates) == 1 else f"{part}.{name}" for name in names]


def _driven(part: str, joint: Joint, drives: Mapping[str, Any]) -> Joint:
    whole = drives.get(part)
    some = {own: drives[full] for full, own in zip(_names(part, joint, joint.coordinates), joint.coordinates, strict=True)
            if full in drives}  # fmt: skip
    if whole is None and not some:
        return joint
    return joint.driven(whole if whole is not None else {**joint.drives(f"part {part!r}"), **some})
