"""The motion as forces, constraints and events see it, and the loads that forces apply: `Motion`, their one argument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ..errors import ModelError, brief, no_such
from ..kernels.algebra import IDENTITY, add, cross, dot, mtv, mv
from ..trace import Expression, Graph, Number, Symbol
from .body import GROUND
from .deformation import MovedPlaces, deformed, place_of, times
from .pose import Pose, unchecked_rotation, vector3
from .references import readings
from .values import coordinate_limits

if TYPE_CHECKING:
    from .joints import Joint
    from .model import PlacedJoint
    from .structure import Structure

Vector = Sequence[Number]
ORIGIN = (0.0, 0.0, 0.0)
AT_REST = {"r": ORIGIN, "G": IDENTITY, "velocity": (*ORIGIN, *ORIGIN)}
"""Pose and velocity of the ground, where it does not move."""


class Observed(NamedTuple):
    """Properties of a number that a force observes."""

    unit: str
    over_parts: str


class JointOptions(Protocol):
    """Properties of a joint that a force reads beside its state: of a `Joint`, or of one coordinate of it."""

    @property
    def limits(self) -> Any: ...
    @property
    def effort(self) -> Any: ...
    def per_speed(self, what: str, n: int, label: str) -> Sequence[float]: ...
    def q_names(self) -> tuple[str, ...]: ...
    def v_names(self) -> tuple[str, ...]: ...
    def neutral(self) -> tuple[float, ...]: ...


class SomeCoordinates:
    """Some coordinates of a joint, seen by forces and constraints as a joint of their own."""

    nv, follows = 0, None
    motions = ()

    def __init__(self, name: str, joint: PlacedJoint, q_names: Sequence[str], v_names: Sequence[str]) -> None:
        self.name, self.joint = name, joint
        self.type: Any = self
        self.k = tuple(map(joint.q_names.index, q_names))
        self.a = tuple(map(joint.v_names.index, v_names))


class ReleasedJoint(SomeCoordinates):
    """A joint that is driven in part, where its drives are released: forces and constraints see its other coordinates alone."""

    def __init__(self, joint: PlacedJoint, form: Joint) -> None:
        super().__init__(joint.name, joint, form.q_names(), form.v_names())
        self.type = form


class OneCoordinate(SomeCoordinates):
    """One coordinate of a joint of several, called "joint.coordinate"."""

    nv = 1
    effort = None

    def __init__(self, joint: PlacedJoint, coordinate: str) -> None:
        super().__init__(f"{joint.name}.{coordinate}", joint, (coordinate,), (coordinate,))
        self.coordinate = coordinate

    @property
    def limits(self) -> Any:
        pairs = self.joint.type.limits
        return None if pairs is None else coordinate_limits(pairs, self.k[0])

    def per_speed(self, what: str, n: int, label: str) -> Sequence[float]:
        return [self.joint.type.per_speed(what, self.joint.nv, label)[self.a[0]]]

    def q_names(self) -> tuple[str, ...]:
        return (self.coordinate,)

    def v_names(self) -> tuple[str, ...]:
        return (self.coordinate,)

    def neutral(self) -> tuple[float, ...]:
        return (self.joint.type.neutral()[self.k[0]],)


class DrivenCoordinate:
    """One driven coordinate of a joint, "joint.coordinate": forces see where its law has it, and load its drive."""

    nv, follows, limits, effort = 0, None, None, None
    motions = ()

    def __init__(self, joint: PlacedJoint, coordinate: str, law: Expression) -> None:
        self.name, self.type, self.law = f"{joint.name}.{coordinate}", self, law

    def per_speed(self, what: str, n: int, label: str) -> Sequence[float]:
        raise ModelError(f"{label}: name {what} here, {self.name!r} is driven")

    def q_names(self) -> tuple[str, ...]:
        return ()

    v_names = neutral = q_names


class Motion:
    """The state of motion, read by name, and the forces of all elements, added up.

    Everything is in SI units and in the axes of the world unless stated otherwise; "ground" is a body too.
    """

    def __init__(
        self, structure: Structure, graph: Graph, own_states: Mapping[str, str] | None = None, reads_states: bool = True
    ) -> None:
        """`own_states`: those of the force that acts, {local name: full name}; constraints read no states."""
        self.structure = structure
        self._graph = graph
        self._own_states, self._reads_states = own_states or {}, reads_states
        self._read: dict[tuple[str, int], Symbol] = {}
        self.wrenches: dict[tuple[int, int], Number] = {}
        self.torques: dict[int, Number] = {}
        self.rates: dict[int, Number] = {}
        """Rates of the force's own states, by their place among all states."""
        self.observed: dict[str, tuple[Number, Observed]] = {}
        """Numbers that the force offers to results, by name."""
        self.watched: list[Number] = []
        """Gaps: positive where nothing touches."""
        self.pushed = False
        self.power: Number = 0.0
        """Power of all loads so far."""
        self.prescribed_power: Number = 0.0
        """The part of it that goes into motions given in time, of the ground and of driven coordinates."""

    @property
    def inputs(self) -> dict[tuple[str, int], Symbol]:
        """Inputs read: ("t", 0), ("q", 3), ("v", 0), ("r", 5), ("G", 9), ("velocity", 12), ("parameter", 0) …, flat indices."""
        places = {name: k for k, name in enumerate(self.structure.parameters)}
        for name in self._graph.parameters:
            if name not in places:
                raise ModelError(f"{name!r} is a parameter of another model: add it to this one with add_parameter")
        return {**self._read, **{("parameter", places[name]): x for name, x in self._graph.parameters.items()}}

    # --- reading ----------------------------------------------------------------------------------------------------------
    @property
    def t(self) -> Number:
        """The time."""
        return self._input("t", 0)

    def q(self, joint: str) -> Any:
        """Coordinate of a joint; a tuple where it has several. "joint.coordinate" is one of several."""
        return _one_or_all(self.coordinates(joint))

    def v(self, joint: str) -> Any:
        """Speed of a joint; a tuple where it has several."""
        return _one_or_all(self.speeds(joint))

    def coordinates(self, joint: str) -> tuple[Number, ...]:
        """All coordinates of a joint; of a driven axis, where the drive is."""
        return self._coordinates(self._joint(joint), 0)

    def speeds(self, joint: str) -> tuple[Number, ...]:
        """All speeds of a joint; of a driven axis, that of the drive."""
        return self._coordinates(self._joint(joint), 1)

    def speed_count(self, joint: str) -> int:
        """How many speeds a joint has, driven ones where it has no others."""
        placed = self._joint(joint)
        return len(self._speeds(placed)[0]) or len(self._coordinates(placed, 1))

    def accelerations(self, joint: str) -> tuple[Number, ...]:
        """All accelerations of a driven joint, or of one driven coordinate."""
        return self._coordinates(self._joint(joint), 2)

    def joint(self, joint: str) -> JointOptions:
        """The type of a joint with its options: limits, effort, friction …"""
        return self._joint(joint).type

    def pose(self, body: str, at: Pose | None = None) -> Pose:
        """Pose in the world of a body, or of a frame fixed in it at `at`, in the body's axes. For a flexible body the deformed
        place, by default its origin."""
        row = self._body(body)
        frame = Pose(self._inputs("r", row, 3), unchecked_rotation(self._inputs("G", row, 9)).T)
        if row in self.structure.deformations:
            return frame @ deformed(self.structure.deformations[row].shapes, at or Pose(), self._elastic("q", row))
        return frame if at is None else frame @ at

    def point(self, body: str, at: Vector = ORIGIN) -> tuple[Vector, Vector]:
        """Position and velocity of a point fixed in a body, both in the world. `at`: in the body's axes, before deformation."""
        row, at = self._body(body), vector3(at, "point")
        G, u, w = self._motion(row)
        if row in self.structure.deformations:
            place = self._deformed(row, at)
            at, u = tuple(place.position), add(u, times(place.linear, np.array(self._elastic("v", row))))
        return add(self._inputs("r", row, 3), mtv(G, at)), mtv(G, add(u, cross(w, at)))

    def spin(self, body: str, at: Vector = ORIGIN) -> Vector:
        """Angular velocity of a body in the world; of a flexible one at the place `at`."""
        row = self._body(body)
        G, _, w = self._motion(row)
        if row in self.structure.deformations:
            w = add(w, times(self._deformed(row, vector3(at, "point")).angular, np.array(self._elastic("v", row))))
        return mtv(G, w)

    def mass(self, body: str) -> Number:
        return self.structure.bodies[row - 1].mass if (row := self._body(body)) else 0.0

    def parameter(self, name: str) -> Number:
        """A parameter of the model."""
        known = self.structure.parameters
        if name not in known:
            raise ModelError(f"{no_such('parameter', name, known)}; add it with Model.add_parameter")
        return self._graph.parameter(name, known[name])

    def state(self, name: str) -> Number:
        """A state of a force, or one of `Model.add_state`, by its name; a force reads its own by their local names."""
        known, full = self.structure.states, self._own_states.get(name, name)
        if full not in known:
            raise ModelError(f"{no_such('state', name, known)}; add it with Model.add_state")
        if not self._reads_states:
            raise ModelError(f"state {name!r}: constraints and closing joints depend on positions, speeds and time alone")
        return self._graph.parameter(full, self.structure.parameters[full])

    # --- pushing ----------------------------------------------------------------------------------------------------------
    def rate(self, name: str, value: Number) -> None:
        """How fast a state of this force changes; its `states` name them."""
        if name not in self._own_states:
            raise ModelError(f"{no_such('state of this force', name, self._own_states)}: the rates of others are theirs to set")
        place = self.structure.state_number[self._own_states[name]]
        if place in self.rates:
            raise ModelError(f"the rate of state {self._own_states[name]!r} is set twice")
        self.rates[place] = value

    def watch(self, gap: Number) -> None:
        """A distance below which a force begins to act, of a force whose `watches` is true: steps of a run end where it crosses
        zero, and none passes over a body that is met and left within it."""
        self.watched.append(gap)

    def observe(self, name: str, value: Number, unit: str = "", over_parts: str = "") -> None:
        """A number that results offer by name, "<name> of <force>", without effect on the motion. `over_parts`: of a force that
        consists of several parts, "sum" or "max" of their numbers, or each by itself."""
        for what, text in (("name", name), ("unit", unit)):
            if not isinstance(text, str):
                raise ModelError(f"observe: {what} is a text, got {brief(text)}")
        if over_parts not in ("", "sum", "max"):
            raise ModelError(f"observe {name!r}: over_parts is 'sum', 'max' or '', got {over_parts!r}")
        self.observed[name] = (value, Observed(unit, over_parts))

    def push(self, body: str, force: Vector = ORIGIN, at: Vector = ORIGIN, moment: Vector = ORIGIN) -> None:
        """A force at a point fixed in a body, and a moment, both in the axes of the world. `at`: in the body's axes."""
        G = self._motion(self._body(body))[0]
        self.push_in_body(body, mv(G, vector3(force, "force")), at, mv(G, vector3(moment, "moment")))

    def push_in_body(self, body: str, force: Vector = ORIGIN, at: Vector = ORIGIN, moment: Vector = ORIGIN) -> None:
        """`push` with force and moment in the body's own axes."""
        self.pushed, row = True, self._body(body)
        force, at, moment = vector3(force, "force"), vector3(at, "point"), vector3(moment, "moment")
        deformation = self.structure.deformations.get(row)
        power: Number = 0.0
        if deformation is not None:
            place, first = self._deformed(row, at), int(self.structure.v_first[deformation.row])
            for k, rate in enumerate(self._elastic("v", row)):
                load = dot(place.linear[:, k], force) + dot(place.angular[:, k], moment)
                self.torques[first + k] = self.torques.get(first + k, 0.0) + load
                power = power + load * rate
            at = tuple(place.position)
        moment = add(moment, cross(at, force))
        _, u, w = self._motion(row)
        power = power + dot(force, u) + dot(moment, w)
        self.power = self.power + power
        if not row:
            self.prescribed_power = self.prescribed_power + power
        else:  # a wrench on the ground moves nothing
            for c, x in enumerate((*force, *moment)):
                self.wrenches[row, c] = self.wrenches.get((row, c), 0.0) + x

    def torque(self, joint: str, values: Any) -> None:
        """Joint forces, one per speed: along shifting axes forces, about turning ones moments. A force in a driven joint moves
        nothing: its drive bears it."""
        self.pushed, placed = True, self._joint(joint)
        values = tuple(values) if isinstance(values, (tuple, list)) else (values,)
        (speeds, ratio), rates = self._speeds(placed), self._coordinates(placed, 1)
        if len(values) != len(rates):
            raise ModelError(f"joint {joint!r} takes {len(rates)} forces, got {len(values)}")
        for a, x in zip(speeds, values, strict=False):
            self.torques[a] = self.torques.get(a, 0.0) + ratio * x
        power = sum((x * rate for x, rate in zip(values, rates, strict=True)), 0.0)
        self.power = self.power + power
        if not speeds:
            self.prescribed_power = self.prescribed_power + power

    def _deformed(self, row: int, at: Vector) -> MovedPlaces:
        """A place of a flexible body in its axes."""
        return place_of(self.structure.deformations[row].shapes, at, self._elastic("q", row))

    def _elastic(self, kind: str, row: int) -> tuple[Number, ...]:
        """Elastic coordinates ("q") or speeds ("v") of a flexible body."""
        return self._own_inputs(kind, self.structure.deformations[row].row)

    # --- inside -----------------------------------------------------------------------------------------------------------
    def _evaluated(self, expression: Expression, *values: Number) -> tuple[Number, ...]:
        """A function of the user's, with the parameters of the model."""
        return expression(*values, parameters={name: self.parameter(name) for name in expression.parameters})

    def _input(self, kind: str, index: int) -> Symbol:
        if (kind, index) not in self._read:
            self._read[kind, index] = self._graph.input()
        return self._read[kind, index]

    def _own_inputs(self, kind: str, row: int) -> tuple[Number, ...]:
        """Coordinates ("q") or speeds ("v") of a row of the tree."""
        own = self.structure.v_slice(row) if kind == "v" else self.structure.q_slice(row)
        return tuple(self._input(kind, a) for a in range(own.start, own.stop))

    def _inputs(self, kind: str, row: int, n: int) -> tuple[Number, ...]:
        if not row and self.structure.base is None:
            return AT_REST[kind]
        return tuple(self._input(kind, n * row + c) for c in range(n))

    def _motion(self, row: int) -> tuple[Vector, Vector, Vector]:
        velocity = self._inputs("velocity", row, 6)
        return self._inputs("G", row, 9), velocity[:3], velocity[3:]

    def _body(self, name: str) -> int:
        if name == GROUND:
            return 0
        if name not in self.structure.body_number:
            raise ModelError(no_such("body", name, [GROUND, *self.structure.body_number], "bodies"))
        return self.structure.body_number[name] + 1

    def _joint(self, name: str) -> Any:
        """A joint, or one coordinate of it by the name "joint.coordinate"."""
        number = self.structure.joint_number
        for whole, coordinate in readings(name, number):
            joint = self.structure.placed[number[whole]]
            if not coordinate:
                form = joint.type.driven_form
                return joint if form is None or not form.v_names() else ReleasedJoint(joint, form)
            if coordinate in joint.q_names and coordinate in joint.v_names:
                return OneCoordinate(joint, coordinate)
            if coordinate in (laws := joint.type.laws(f"joint {whole!r}")):
                return DrivenCoordinate(joint, coordinate, laws[coordinate])
        raise ModelError(f"no joint {name!r} in the tree; {self.structure.where_is(name)}")

    def _speeds(self, joint: Any) -> tuple[Sequence[int], float]:
        """The speeds a joint moves with, and how much faster than they it goes (followers)."""
        s = self.structure
        if isinstance(joint, SomeCoordinates):
            return [self._speeds(joint.joint)[0][a] for a in joint.a], 1.0
        if isinstance(joint, DrivenCoordinate):
            return (), 1.0
        own = s.v_slice(s.joint_number[joint.follows.leader if joint.follows else joint.name] + 1)
        return range(own.start, own.stop), joint.follows.ratio if joint.follows else 1.0

    def _coordinates(self, joint: Any, rate: int) -> tuple[Number, ...]:
        """Coordinates (rate 0) or speeds (rate 1) of a joint."""
        s = self.structure
        if isinstance(joint, SomeCoordinates):
            every = self._coordinates(joint.joint, rate)
            return tuple(every[k] for k in (joint.a if rate else joint.k))
        if isinstance(joint, DrivenCoordinate):
            return (self._evaluated(joint.law, self.t)[rate],)
        source = s.placed[s.joint_number[joint.follows.leader]] if joint.follows else joint
        if not source.nv:
            ratio, offset = (joint.follows.ratio, joint.follows.offset) if joint.follows else (1.0, 0.0)
            laws = [self._evaluated(law, self.t) for law in source.type.laws(f"joint {source.name!r}").values()]
            return tuple(ratio * law[rate] + (0.0 if rate else offset) for law in laws)
        if joint.follows:
            speeds, ratio = self._speeds(joint)
            leader = s.joint_number[joint.follows.leader] + 1
            if rate:
                return tuple(ratio * self._input("v", a) for a in speeds)
            return (ratio * self._input("q", int(s.q_first[leader])) + joint.follows.offset,)
        return self._own_inputs("v" if rate else "q", s.joint_number[joint.name] + 1)


def _one_or_all(values: tuple[Number, ...]) -> Any:
    return values[0] if len(values) == 1 else values
