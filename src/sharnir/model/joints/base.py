"""What every joint type has in common: coordinates with names, drives, and the elementary motions it is made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ModelError, known
from ...kernels import joint_stage as stage
from ...trace import Expression, Graph, Number, call_traced, check_numbers, tangent
from ...trace.functions import sqrt
from ..pose import Axis, Pose, Rotation, unit_axis


@dataclass(frozen=True)
class ElementaryMotion:
    """One elementary motion of the joint stage (`kernels/joint_stage.py` explains the kinds)."""

    kind: int
    nq: int = 0
    nv: int = 0
    placement: Pose | None = None
    turn: float = 0.0
    slide: float = 0.0
    drive: Expression | None = None
    """(t) -> value, first and second derivative of a driven coordinate."""
    given: Expression | None = None
    """(q, v, t) -> the values of a GIVEN motion."""
    leader: bool = False
    """Moved by the coordinate of another joint."""


class Joint:
    """How one body may move relative to another. Subclasses say which motions it is made of.

    motion      drives the joint in time: a function of t for a joint of one coordinate, else a mapping from
                coordinate names to functions. A driven coordinate is no freedom; its force is an output.
    damping     force per speed  } these act by themselves; one number, or one per speed. `rest`: where the spring is free
    stiffness   force per unit   } (for a ball joint a quaternion; its spring answers the rotation vector)
    armature    inertia of the drive's rotor, as the joint feels it (gear ratio squared), one number or one per speed
    limits      (low, high), or one pair per coordinate   } kept with the joint: they act where the model has a
    friction    dry friction, one number or one per speed } `JointStop` or `JointFriction`
    effort, velocity   what the drive can do; kept with the joint
    """

    coordinates: tuple[str, ...] = ()
    """Names of the coordinates before any of them is driven."""
    _built: list[ElementaryMotion] | None = None

    def __init__(
        self,
        *,
        motion: Any = None,
        limits: Any = None,
        damping: Any = 0.0,
        friction: Any = 0.0,
        stiffness: Any = 0.0,
        rest: Any = 0.0,
        armature: Any = 0.0,
        effort: Any = None,
        velocity: Any = None,
    ) -> None:
        self.motion = motion
        self.limits = limits
        self.damping = damping
        self.friction = friction
        self.stiffness = stiffness
        self.rest = rest
        self.armature = armature
        self.effort = effort
        self.velocity = velocity

    # --- what a subclass provides -------------------------------------------------------------------------------------
    def motions(self, label: str) -> list[ElementaryMotion]:
        """The elementary motions, from the carrier's side to the moved body. `label` names the joint in errors."""
        raise NotImplementedError

    def built(self, label: str) -> list[ElementaryMotion]:
        """The motions, made once however many joints share this type; anew when one of its attributes was replaced."""
        if self._built is None:
            self.__dict__["_built"] = self.motions(label)
        return self._built  # type: ignore[return-value]

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        self.__dict__["_built"] = None

    # --- what follows ---------------------------------------------------------------------------------------------------
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
        """Where quaternions begin among the free coordinates."""
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
        for name, function in self.motion.items():
            if name not in self.coordinates:
                raise ModelError(f"{label}: no coordinate {name!r} to drive; it has {known(self.coordinates)}")
            if not callable(function):
                raise ModelError(f"{label}: motion of {name!r} must be a function of t, got {function!r}")
        return dict(self.motion)

    def per_speed(self, what: str, n: int, label: str) -> Sequence[float]:
        """An option of the joint, one number for each of its n speeds."""
        values = per_coordinate(getattr(self, what), n, f"{label}: {what}")
        if not all(0.0 <= x < math.inf for x in values):
            raise ModelError(f"{label}: {what} must be finite and not negative, got {getattr(self, what)!r}")
        return values

    def __repr__(self) -> str:
        return f"{self.type_name}({', '.join(self.q_names()) or 'no freedom'})"


class AxisJoint(Joint):
    """A joint made of turns and shifts about given axes, one after another."""

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        """(coordinate, axis, radians per unit, metres per unit) in order."""
        raise NotImplementedError

    def motions(self, label: str) -> list[ElementaryMotion]:
        drives = self.drives(label)
        out: list[ElementaryMotion] = []
        aligned = Rotation.identity()  # the axes reached so far, z along the last axis
        for name, axis, turn, slide in self.steps(label):
            wanted = Rotation.align_z(unit_axis(axis, f"{label}, {name}" if len(self.coordinates) > 1 else label))
            out += fixed(Pose(rotation=aligned.T @ wanted))
            aligned = wanted
            kind = stage.SCREW if turn and slide else stage.TURN if turn else stage.SLIDE
            if name in drives:
                out.append(
                    ElementaryMotion(
                        kind, turn=turn, slide=slide, drive=trace_drive(drives[name], f"{label}: motion of {name!r}")
                    )
                )
            else:
                out.append(ElementaryMotion(kind, nq=1, nv=1, turn=turn, slide=slide))
        return out + fixed(Pose(rotation=aligned.T))


def fixed(placement: Pose) -> list[ElementaryMotion]:
    """A constant placement, or nothing where it is the identity."""
    return [] if placement.is_identity else [ElementaryMotion(stage.FIXED, placement=placement)]


def trace_drive(function: Callable[[Any], Any], what: str) -> Expression:
    """A function of time with its first two derivatives."""
    graph = Graph()
    t = graph.input()
    value = check_numbers([call_traced(function, [t], what)], graph, what)
    first = tangent(value, [(t, 1.0)])
    return Expression(graph, [t], value + first + tangent(first, [(t, 1.0)]))


def per_coordinate(value: Any, n: int, what: str) -> Sequence[float]:
    """One number for all, or one each."""
    try:
        values = [float(value)] * n if not hasattr(value, "__len__") else [float(x) for x in value]
    except (TypeError, ValueError):
        raise ModelError(f"{what}: expected one number or {n}, got {value!r}") from None
    if len(values) != n:
        raise ModelError(f"{what}: expected one number or {n}, got {len(values)}")
    return values
