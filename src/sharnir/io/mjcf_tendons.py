"""Tendons of a compiled MJCF model: springs and dampers on their length, where it is a sum of joints or of straight lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..kernels.algebra import add, dot, neg, scale, sub
from ..model.forces import Force, Motion
from ..model.import_report import ImportReport
from ..model.model import Model
from ..trace import Number
from ..trace.functions import maximum, minimum, select, sqrt
from .mjcf_bodies import Names, pose_of
from .mjcf_compile import import_mujoco, is_disabled
from .rigid_groups import Carrier


@dataclass(frozen=True)
class Place:
    """A joint of the model, and which of its coordinates and speeds a joint of the file became."""

    joint: str
    q: int
    v: int


@dataclass
class Tendon(Force):
    """Spring and damper on a length; the spring is slack between `low` and `high`.

    terms   (place of a coordinate, coefficient): the length of a fixed tendon is Σ coefficient · coordinate
    points  (body, point on it): the length of a spatial one is that of the line through them
    """

    name: str | None = None
    stiffness: float = 0.0
    damping: float = 0.0
    low: float = 0.0
    high: float = 0.0
    terms: Sequence[tuple[Place, float]] = ()
    points: Sequence[tuple[str, Sequence[float]]] = ()

    def bodies(self) -> Sequence[str]:
        return [body for body, _ in self.points]

    def joints(self) -> Sequence[str]:
        return [place.joint for place, _ in self.terms]

    def act(self, on: Motion) -> Number:
        lines = [_line(on, a, b) for a, b in zip(self.points, self.points[1:], strict=False)]
        length: Number = sum(line[0] for line in lines)
        rate: Number = sum(line[1] for line in lines)
        for place, coefficient in self.terms:
            length = length + coefficient * _all(on.q(place.joint))[place.q]
            rate = rate + coefficient * _all(on.v(place.joint))[place.v]
        stretch = maximum(length - self.high, 0.0) + minimum(length - self.low, 0.0)
        tension = self.stiffness * stretch + self.damping * rate
        for place, coefficient in self.terms:
            speeds = range(len(_all(on.v(place.joint))))
            on.torque(place.joint, [-coefficient * tension if i == place.v else 0.0 for i in speeds])
        for (_, _, along), (a, at_a), (b, at_b) in zip(lines, self.points, self.points[1:], strict=False):
            on.push(a, scale(along, tension), at_a)
            on.push(b, neg(scale(along, tension)), at_b)
        return 0.5 * self.stiffness * stretch * stretch


def _all(values: Any) -> tuple[Number, ...]:
    return values if isinstance(values, tuple) else (values,)


def _line(on: Motion, a: tuple[str, Any], b: tuple[str, Any]) -> tuple[Number, Number, tuple[Number, ...]]:
    """Length, its rate, and the direction from one point to the next; no direction where they meet."""
    (x, u), (y, w) = on.point(*a), on.point(*b)
    d = sub(y, x)
    square = dot(d, d)
    apart = square > 1e-300
    length = sqrt(select(apart, square, 1.0))
    along = scale(d, select(apart, 1.0 / length, 0.0))
    return select(apart, length, 0.0), dot(along, sub(w, u)), along


def add_tendons(
    model: Model, compiled: Any, carriers: Mapping[int, Carrier], places: Mapping[int, Place], passive: bool, report: ImportReport
) -> None:
    """Springs and dampers of tendons as forces. `places`: where each joint of the file went, by number."""
    names = Names()
    stiff, damped = passive and not is_disabled(compiled, "SPRING"), passive and not is_disabled(compiled, "DAMPER")
    for k in range(compiled.ntendon):
        label = f"tendon {compiled.tendon(k).name or k!r}"
        stiffness, damping = float(compiled.tendon_stiffness[k]) * stiff, float(compiled.tendon_damping[k]) * damped
        terms, points = _path(compiled, k, carriers, places)
        for field in ("limited", "armature", "frictionloss", "stiffnesspoly", "dampingpoly", "springyield"):
            values = getattr(compiled, f"tendon_{field}", None)
            if values is not None and values[k].any():
                report.ignored(f"{field} of a tendon", label)
        if not stiffness and not damping:
            report.ignored("tendon", label, "it has no spring and no damper that act")
        elif not terms and len({body for body, _ in points}) < 2:
            report.ignored("tendon", label, "only straight lines between sites and sums of coordinates are known")
        else:
            low, high = (float(x) for x in compiled.tendon_lengthspring[k])
            model.add_force(Tendon(names.unique(label, "tendon"), stiffness, damping, low, high, terms, points))
            report.honoured("tendon", label, "spring and damper on its length")


def _path(
    compiled: Any, k: int, carriers: Mapping[int, Carrier], places: Mapping[int, Place]
) -> tuple[list[tuple[Place, float]], list[tuple[str, tuple[float, ...]]]]:
    """The terms of a fixed tendon, or the points of a spatial one; nothing where it wraps, branches or runs over pulleys."""
    kinds = import_mujoco().mjtWrap
    wraps = range(compiled.tendon_adr[k], compiled.tendon_adr[k] + compiled.tendon_num[k])
    objects = [(int(compiled.wrap_type[w]), int(compiled.wrap_objid[w]), float(compiled.wrap_prm[w])) for w in wraps]
    if all(kind == int(kinds.mjWRAP_JOINT) and o in places for kind, o, _ in objects):
        return [(places[o], coefficient) for _, o, coefficient in objects], []
    if all(kind == int(kinds.mjWRAP_SITE) for kind, _, _ in objects):
        on = [(carriers[compiled.site_bodyid[o]], pose_of(compiled.site_pos[o], compiled.site_quat[o])) for _, o, _ in objects]
        return [], [(carrier.body, tuple(add(carrier.at.position, carrier.at.rotation @ at.position))) for carrier, at in on]
    return [], []
