"""Several joints one after another, with no mass between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from ...errors import ModelError, known
from ...trace import Number
from ..pose import Pose
from .base import ElementaryMotion, Joint, fixed, per_coordinate

Part = Joint | tuple[Joint, Pose]


def _of_the_parts(name: str) -> Any:
    """An option that only the parts have: read as one number per speed, part after part; refused for the whole."""

    def together(self: Compound) -> tuple[float, ...]:
        values: list[float] = []
        for part, joint, _ in self._moved():
            values += per_coordinate(getattr(joint, name, 0.0), len(joint.v_names()), f"part {part!r}: {name}")
        return tuple(values)

    return property(together, lambda self, value: _refuse(name, value))


def _refuse(name: str, value: Any) -> None:
    """Joint's constructor may set the options to nothing, nobody to something."""
    if value is not None and np.any(np.asarray(value) != 0.0):
        raise ModelError(f"compound joint: give {name} to the part it belongs to, e.g. Revolute('x', {name}={value!r})")


class Compound(Joint):
    """A chain of joints without bodies between: {part: joint} or {part: (joint, where)}, from the carrier outward.

    `where` is the Pose of the part's frame in the frame the part before it moves. A coordinate is called by the name
    of its part, or `part.coordinate` where the part has several. Drives, limits, damping … are those of the parts;
    `motion={coordinate or part: f}` drives them from here as well.
    """

    damping = _of_the_parts("damping")
    friction = _of_the_parts("friction")
    stiffness = _of_the_parts("stiffness")
    armature = _of_the_parts("armature")

    def __init__(self, parts: Mapping[str, Part], **options: Any) -> None:
        if not isinstance(parts, Mapping) or not parts:
            raise ModelError(f"compound joint: expected {{part: joint}} with at least one part, got {parts!r}")
        self.parts = tuple((name, *_placed(name, part)) for name, part in parts.items())
        self.coordinates = tuple(full for name, joint, _ in self.parts for full in _names(name, joint, joint.coordinates))
        if len(set(self.coordinates)) < len(self.coordinates):
            raise ModelError(f"compound joint: two coordinates have the same name; they are {known(self.coordinates)}")
        super().__init__(**options)
        if len(self.v_names()) > 6:
            raise ModelError(f"compound joint: its parts have {len(self.v_names())} speeds together; no joint has more than 6")

    @property
    def rest(self) -> tuple[float, ...]:
        """One number per coordinate: where the springs of the parts are free."""
        values: list[float] = []
        for part, joint, _ in self._moved():
            plain = not hasattr(joint.rest, "__len__") and float(joint.rest) == 0.0
            values += per_coordinate(joint.neutral() if plain else joint.rest, len(joint.q_names()), f"part {part!r}: rest")
        return tuple(values)

    @rest.setter
    def rest(self, value: Any) -> None:
        _refuse("rest", value)

    @property
    def limits(self) -> list[tuple[float, float]] | None:
        """A pair per coordinate, endless where a part has none."""
        pairs: list[tuple[float, float]] = []
        for _, joint, _ in self._moved():
            n = len(joint.q_names())
            own: Any = (-np.inf, np.inf) if joint.limits is None else joint.limits
            pairs += [(low, high) for low, high in own] if hasattr(own[0], "__len__") else [(own[0], own[1])] * n
        return pairs if any(joint.limits is not None for _, joint, _ in self.parts) else None

    @limits.setter
    def limits(self, value: Any) -> None:
        _refuse("limits", value)

    def motions(self, label: str) -> list[ElementaryMotion]:
        out: list[ElementaryMotion] = []
        for name, joint, where in self._moved(label):
            out += [*fixed(where), *joint.built(f"{label}, part {name!r}")]
        return out

    def built(self, label: str) -> list[ElementaryMotion]:
        """Anew each time: the parts keep their own motions and see when they have changed."""
        return self.motions(label)

    def q_names(self) -> tuple[str, ...]:
        return tuple(full for name, joint, _ in self._moved() for full in _names(name, joint, joint.q_names()))

    def v_names(self) -> tuple[str, ...]:
        return tuple(full for name, joint, _ in self._moved() for full in _names(name, joint, joint.v_names()))

    def neutral(self) -> tuple[float, ...]:
        return tuple(x for _, joint, _ in self._moved() for x in joint.neutral())

    def random(self, rng: np.random.Generator) -> list[float]:
        return [x for _, joint, _ in self._moved() for x in joint.random(rng)]

    def quaternions(self) -> tuple[int, ...]:
        out, at = list[int](), 0
        for _, joint, _ in self._moved():
            out += [at + k for k in joint.quaternions()]
            at += len(joint.q_names())
        return tuple(out)

    @property
    def projects_onto_constraints(self) -> bool:
        return any(joint.projects_onto_constraints for _, joint, _ in self._moved())

    def normalize(self, q: Sequence[Number], t: Number) -> list[Number]:
        out, at = list[Number](), 0
        for _, joint, _ in self._moved():
            n = len(joint.q_names())
            out += joint.normalize(q[at : at + n], t)
            at += n
        return out

    def drives(self, label: str) -> dict[str, Callable[[Any], Any]]:
        """What `motion` drives: coordinates, or whole parts by their names."""
        if self.motion is None:
            return {}
        names = dict.fromkeys([*self.coordinates, *(name for name, _, _ in self.parts)])
        if not isinstance(self.motion, Mapping):
            raise ModelError(f"{label}: motion must be a mapping from the names of coordinates or parts: {known(names)}")
        for name, function in self.motion.items():
            if name not in names:
                raise ModelError(f"{label}: no coordinate {name!r} to drive; it has {known(names)}")
            if not callable(function):
                raise ModelError(f"{label}: motion of {name!r} must be a function of t, got {function!r}")
        return dict(self.motion)

    def _moved(self, label: str = "compound joint") -> Iterator[tuple[str, Joint, Pose]]:
        """The parts, those that the compound drives replaced by driven copies."""
        drives = self.drives(label)
        for name, joint, where in self.parts:
            if drives:
                joint = _driven(name, joint, drives)
            yield name, joint, where


def _placed(name: str, part: Any) -> tuple[Joint, Pose]:
    joint, where = part if isinstance(part, tuple) and len(part) == 2 else (part, Pose())
    if not isinstance(name, str) or not name:
        raise ModelError(f"compound joint: a part needs a name, got {name!r}")
    if not isinstance(joint, Joint) or not isinstance(where, Pose):
        raise ModelError(f"compound joint: part {name!r} must be a joint or (joint, sharnir.Pose), got {part!r}")
    return joint, where


def _names(part: str, joint: Joint, names: Sequence[str]) -> list[str]:
    return [part if len(joint.coordinates) == 1 else f"{part}.{name}" for name in names]


def _driven(part: str, joint: Joint, drives: Mapping[str, Any]) -> Joint:
    whole = drives.get(part)
    some = {own: drives[full] for full, own in zip(_names(part, joint, joint.coordinates), joint.coordinates, strict=True)
            if full in drives}  # fmt: skip
    if whole is None and not some:
        return joint
    out = copy(joint)
    out.motion = whole if whole is not None else {**joint.drives(f"part {part!r}"), **some}
    return out
