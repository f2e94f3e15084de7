"""Base class of joint types: named coordinates, drives, options, and the elementary motions they consist of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from ...errors import NOT_A_NUMBER, ModelError, brief, known
from ...kernels import joint_stage as stage
from ...trace import Expression, Number, Symbol
from ...trace.functions import sqrt
from ..element import Element, element, element_field
from ..pose import Pose
from ..values import DriveFunction, Limits, Scalar, ScalarOrVector
from .closing_rows import Row
from .traced import Segment, one_coordinate, trace_drive

OneOrMore = float | Sequence[float]
Drive = Callable[[Any], Any] | Mapping[str, Callable[[Any], Any]] | None


@dataclass(frozen=True)
class ElementaryMotion:
    """One elementary motion of the joint stage (`kernels/joint_stage.py` explains the kinds)."""

    kind: int
    nq: int = 0
    nv: int = 0
    placement: Pose | None = None
    turn: Number = 0.0
    slide: Number = 0.0
    drive: Expression | None = None
    """(t) -> value, first and second derivative of a driven coordinate."""
    given: Expression | None = None
    """(q, v, t) -> the values of a GIVEN motion."""
    leader: bool = False
    """Moved by the coordinate of another joint."""
    axes: int = 1
    """How many coordinates of another joint move it."""


POSITIVE, ANY = ScalarOrVector(Scalar(at_least=0.0)), ScalarOrVector(Scalar(endless=True))
"""Options: one number, or one for each speed (of `rest` for each coordinate)."""
DRIVEN_OPTIONS = ("stiffness", "damping", "rest", "friction", "armature")
"""Options that load the drive of a driven coordinate."""
Q, F = "rad, m", "N m, N"
"""Units of coordinates and forces of rotating and of sliding axes."""


@element()
class Joint(Element):
    """How one body may move relative to another. Subclasses define the elementary motions it consists of."""

    _: KW_ONLY
    motion: Drive = element_field(
        DriveFunction(),
        default=None,
        meaning="drives the joint: a function of t, or functions by coordinate; a driven "
        "coordinate is no freedom, its force is an output; damping, friction, stiffness and armature load its drive",
    )
    limits: Any = element_field(
        Limits(),
        default=None,
        unit=Q,
        meaning="(low, high), or a pair per coordinate: "
        "elastic stops, unless a joint stop of the joint replaces them (docs/forces.md)",
    )
    damping: OneOrMore = element_field(POSITIVE, default=0.0, unit="N m s/rad, N s/m", meaning="force per speed")
    friction: OneOrMore = element_field(
        POSITIVE, default=0.0, unit=F, meaning="dry friction, smooth below 0.001 rad/s or m/s; a joint friction replaces it"
    )
    stiffness: OneOrMore = element_field(POSITIVE, default=0.0, unit="N m/rad, N/m", meaning="force per unit of the coordinate")
    rest: OneOrMore = element_field(
        ANY, default=0.0, unit=Q, meaning="coordinate at which the spring is free; of a ball joint a quaternion"
    )
    armature: OneOrMore = element_field(
        POSITIVE, default=0.0, unit="kg m², kg", meaning="inertia of the drive's rotor, times the gear ratio squared"
    )
    effort: OneOrMore | None = element_field(ANY, default=None, unit=F, meaning="largest force of the drive")
    velocity: OneOrMore | None = element_field(ANY, default=None, unit="rad/s, m/s", meaning="largest speed of the drive")

    driven_form: ClassVar[Joint | None] = None
    """The joint before its drives were released; None for any other."""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates before any of them is driven."""
        return ()

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of the speeds before any coordinate is driven."""
        return self.coordinates

    # --- what a subclass provides -------------------------------------------------------------------------------------
    def motions(self, label: str) -> list[ElementaryMotion]:
        """The elementary motions, from the carrier's side to the moved body. `label` names the joint in errors."""
        raise NotImplementedError

    def closing_rows(self, pose: Pose, t: Number, label: str) -> Sequence[Row]:
        """Constraint rows of a cut joint on its two bodies: zero where `pose`, of the child's joint frame seen from the
        parent's, is one the joint allows. A joint whose rows would need its own coordinates does not define this."""
        raise ModelError(f"{label}: a {self.type_name} joint cannot be cut: its constraints need its own coordinates")

    def closing_sense(self, pose: Pose, label: str) -> Number | None:
        """A number that is positive in the poses the joint allows and negative at half a turn from them, where its rows vanish
        too; None where its rows vanish only in poses it allows."""
        return None

    def measured(self, pose: Pose, label: str) -> Sequence[Number]:
        """The coordinates of a joint whose speeds are their rates, read off a `pose` as of `closing_rows`; angles but for whole
        turns."""
        raise ModelError(f"{label}: the coordinates of a {self.type_name} joint cannot be read off the poses of its bodies")

    def driven_pose(self, t: Number, label: str) -> Pose:
        """The relative pose of a joint all of whose coordinates are driven."""
        raise ModelError(f"{label}: a {self.type_name} joint driven like this cannot be cut")

    def segments(self, label: str) -> list[Segment]:
        """All coordinates in order, with the laws of those that are driven."""
        drives = traced_drives(self, label)
        return [one_coordinate("", drives.get(name)) for name in self.coordinates]

    def laws(self, label: str) -> dict[str, Expression]:
        """Driven coordinates and their laws: (t) -> value, first and second derivative. None if driven as a whole."""
        runs = self.segments(label)
        first = accumulate((len(run.q_units) for run in runs), initial=0)
        return {self.coordinates[k]: run.drive for k, run in zip(first, runs, strict=False) if run.drive}

    def driven_options(self, label: str) -> Iterator[tuple[str, dict[str, Number]]]:
        """Every driven coordinate with its spring, damper and rotor. Where an option has one number for each free coordinate, a
        driven one has none."""
        names = list(self.laws(label))
        shared = {what: getattr(self, what) for what in DRIVEN_OPTIONS}
        own = {
            what: [0.0] * len(names) if self.q_names() and hasattr(x, "__len__") else per_coordinate(x, len(names), what)
            for what, x in shared.items()
        }
        return ((name, {what: x[k] for what, x in own.items()}) for k, name in enumerate(names))

    # --- what follows ---------------------------------------------------------------------------------------------------
    @property
    def can_be_cut(self) -> bool:
        """Whether its constraints can be written without its coordinates; other joints close a loop by splitting a body."""
        if self.motion is not None:
            return not self.q_names() and type(self).driven_pose is not Joint.driven_pose
        return type(self).closing_rows is not Joint.closing_rows

    def built(self, label: str) -> list[ElementaryMotion]:
        """The elementary motions, made once however many joints share this type."""
        found = self.__dict__.get("_built")
        if found is None:
            found = self.__dict__["_built"] = self.motions(label)
        return found

    def driven(self, motion: Drive) -> Joint:
        """A copy that is driven by `motion` instead of its own."""
        out = copy(self)
        out.__dict__.pop("_built", None)
        out.__dict__["motion"] = motion
        return out

    def released(self) -> Joint:
        """A copy none of whose coordinates is driven; its springs, dampers and forces see the driven joint."""
        out, free = self.driven(None), self.v_names()
        out.__dict__["driven_form"] = self
        if free and hasattr(self.armature, "__len__"):  # one number for each free coordinate
            own = dict(zip(free, self.per_speed("armature", len(free), self.label), strict=True))
            out.__dict__["armature"] = tuple(own.get(name, 0.0) for name in self.speeds)
        return out

    @property
    def label(self) -> str:
        return f"{self.tag or type(self).__name__} joint"

    @property
    def type_name(self) -> str:
        return type(self).__name__

    def q_names(self) -> tuple[str, ...]:
        """Names of the free coordinates."""
        driven = self.drives("this joint")
        return tuple(name for name in self.coordinates if name not in driven)

    def v_names(self) -> tuple[str, ...]:
        """Names of the speeds."""
        return self.q_names()

    def neutral(self) -> tuple[float, ...]:
        """The coordinates of the reference position."""
        return tuple(0.0 for _ in self.q_names())

    def random(self, rng: np.random.Generator) -> list[float]:
        """Coordinates in [−1, 1]; a quaternion anywhere on its sphere."""
        q = rng.uniform(-1.0, 1.0, len(self.q_names()))
        for k in self.quaternions():
            quaternion = rng.normal(size=4)
            q[k : k + 4] = quaternion / np.linalg.norm(quaternion)
        return q.tolist()

    def quaternions(self) -> tuple[int, ...]:
        """First indices of quaternions among the free coordinates."""
        return ()

    @property
    def projects_onto_constraints(self) -> bool:
        """Whether `normalize`, beside quaternions, projects onto constraints of the joint's own."""
        return False

    def normalize(self, q: Sequence[Number], t: Number) -> list[Number]:
        """Coordinates as they should be after a step of an integrator: quaternions of length one."""
        out = list(q)
        for at in self.quaternions():
            scale = 1.0 / sqrt(sum((x * x for x in q[at : at + 4]), 0.0))
            out[at : at + 4] = [x * scale for x in q[at : at + 4]]
        return out

    def drives(self, label: str) -> dict[str, Callable[[Any], Any]]:
        """Driven coordinates and their functions of time."""
        if self.motion is None:
            return {}
        if callable(self.motion):
            if len(self.coordinates) != 1:
                raise ModelError(
                    f"{label}: motion is one function but the joint has {len(self.coordinates)} coordinates; "
                    f"name them, e.g. motion={{{self.coordinates[0]!r}: f}}"
                    if self.coordinates
                    else f"{label}: nothing to drive"
                )
            return {self.coordinates[0]: self.motion}
        if not isinstance(self.motion, Mapping):
            raise ModelError(f"{label}: motion must be a function of t or a mapping from coordinate names, got {self.motion!r}")
        return self.checked_drives(self.motion, self.coordinates, label)

    @staticmethod
    def checked_drives(motion: Mapping[str, Any], names: Iterable[str], label: str) -> dict[str, Callable[[Any], Any]]:
        for name, function in motion.items():
            if name not in names:
                raise ModelError(f"{label}: no coordinate {name!r} to drive; it has {known(names)}")
            if not callable(function):
                raise ModelError(f"{label}: motion of {name!r} must be a function of t, got {function!r}")
        return dict(motion)

    def per_speed(self, what: str, n: int, label: str) -> Sequence[float]:
        """An option of the joint, one number for each of its n speeds."""
        return per_coordinate(getattr(self, what), n, f"{label}: {what}")

    def __repr__(self) -> str:
        return super().__repr__() if self.is_described else f"{self.type_name}({', '.join(self.q_names()) or 'no freedom'})"


def traced_drives(joint: Joint, label: str) -> dict[str, Expression]:
    """Driven coordinates and their laws, where each is driven by a function of its own."""
    return {name: trace_drive(f, f"{label}: motion of {name!r}") for name, f in joint.drives(label).items()}


def fixed(placement: Pose) -> list[ElementaryMotion]:
    """A constant placement, or nothing where it is the identity."""
    return [] if placement.is_identity else [ElementaryMotion(stage.FIXED, placement=placement)]


def per_coordinate(value: Any, n: int, what: str) -> Sequence[Number]:
    """One number for all, or one each."""
    try:
        values = [x if isinstance(x, Symbol) else float(x) for x in (value if hasattr(value, "__len__") else [value] * n)]
    except NOT_A_NUMBER:
        raise ModelError(f"{what}: expected one number or {n}, got {brief(value)}") from None
    if len(values) != n:
        raise ModelError(f"{what}: expected one number or {n}, got {len(values)}")
    return values
