"""What the user builds: bodies, frames, joints, a base. Everything is checked when it is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, StateError, known
from . import topology
from .body import GROUND, Body, make_body
from .constraints import ClosingJoint, Constraint, UserConstraint
from .forces import Force, UserForce
from .frozen import fast_constructor
from .garbage import no_collection
from .joint_rows import distinct
from .joints import Free, Joint, Weld
from .joints.base import ElementaryMotion
from .joints.traced import pose_expression
from .pose import Pose, vector3
from .services import service
from .settings import SimulationSettings
from .shapes import Shape
from .structure import Structure
from .visual import Visual

if TYPE_CHECKING:
    from .import_report import ImportReport
    from .mobility import Mobility


HERE = Pose()
"""Where a joint is that nothing is said about: one object for all, so that a large model keeps it once."""


@dataclass(frozen=True)
class Coupling:
    """x = ratio · (the leader's coordinate) + offset."""

    leader: str
    ratio: float
    offset: float


@dataclass(frozen=True, slots=True)
class PlacedJoint:
    """A joint between two bodies, as the user named them."""

    name: str
    type: Joint
    parent: str
    child: str
    at: Pose
    child_at: Pose
    cut: bool
    motions: list[ElementaryMotion] = field(repr=False)
    follows: Coupling | None = None

    @property
    def q_names(self) -> tuple[str, ...]:
        """Names of the coordinates of its own: none where it follows another joint."""
        return () if self.follows else self.type.q_names()

    @property
    def v_names(self) -> tuple[str, ...]:
        return () if self.follows else self.type.v_names()

    @property
    def nq(self) -> int:
        return len(self.q_names)

    @property
    def nv(self) -> int:
        return len(self.v_names)


_new_joint = fast_constructor(PlacedJoint)


class Model:
    """A mechanism. Add bodies and joints in any order and direction; `nq`, `bodies`, `joints` … follow from the graph.

    gravity      acceleration of free fall in the world, m/s²
    base_motion  function of t returning the Pose of the ground in the world (default: it stands still)
    numbering    "depth-first" (subtrees stay together) or "leaves-last" (the rule of [I] §1)
    """

    def __init__(
        self,
        name: str = "model",
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        base_motion: Callable[[Any], Pose] | None = None,
        numbering: str = "depth-first",
    ) -> None:
        self.name = name
        self.gravity = vector3(gravity, "gravity")
        self.numbering = numbering
        self._bodies: list[Body] = []
        self._joints: list[PlacedJoint] = []
        self._body_names: set[str] = set()
        self._joint_names: dict[str, int] = {}
        self._joined: dict[tuple[str, str], PlacedJoint] = {}
        self._frames: dict[str, tuple[str, Pose]] = {}
        self._forces: dict[str, Force] = {}
        self._parameters: dict[str, float] = {}
        self.base_motion = base_motion
        self._constraints: dict[str, Constraint] = {}
        self._base = None if base_motion is None else pose_expression(base_motion, 0, "base_motion")
        self._frozen = False
        self._tree: topology.Tree | None = None
        self._structure: Structure | None = None
        self.visuals: list[Visual] = []
        """What to draw, in no order; it plays no part in the dynamics."""
        self.fixed_joints: dict[str, tuple[str, str]] = {}
        """Fixed joints of a file whose links were merged: name -> (parent, child), each a body or a frame."""
        self.keyframes: dict[str, np.ndarray] = {}
        """Positions a file names: coordinates by name."""
        self.simulation: SimulationSettings | None = None
        """How a file says the model is to be simulated: `simulate(model, **model.simulation.arguments())`."""
        self.import_report: ImportReport | None = None
        """What the reader of a file did with each part of it; None for a model that was built."""

    # --- building -------------------------------------------------------------------------------------------------------
    def add_body(
        self,
        name: str,
        mass: float | None = None,
        com: Sequence[float] | None = None,
        inertia: Any = None,
        *,
        shape: Shape | None = None,
        density: float | None = None,
        check_inertia: bool = True,
    ) -> Body:
        """A rigid body. `inertia` is about the centre of mass: 3 numbers, 6 (xx yy zz xy xz yz) or 3×3; or a solid
        `shape` with its mass or density says it all. `check_inertia=False` takes an inertia that no body can have as it
        stands: files are full of them."""
        self._changing("add the body {!r}", name)
        body = make_body(name, mass, com, inertia, shape, density, check_inertia)
        if name == GROUND:
            raise ModelError(f"{GROUND!r} is the base of every model; give the body another name")
        if name in self._body_names:
            raise ModelError(f"there is a body {name!r} already; names must differ")
        self._bodies.append(body)
        self._body_names.add(name)
        return body

    def add_frame(self, name: str, body: str, at: Pose) -> None:
        """A named place on a body, for joints (`at="name"`) and for reading results."""
        self._changing("add the frame {!r}", name)
        self._known_body(body, f"frame {name!r}")
        if name in self._frames:
            raise ModelError(f"there is a frame {name!r} already, on body {self._frames[name][0]!r}")
        self._frames[name] = (body, HERE if at is None else _pose(at, f"frame {name!r}"))

    def add_joint(
        self,
        name: str,
        joint: Joint,
        parent: str,
        child: str,
        at: Pose | str | None = None,
        child_at: Pose | str | None = None,
        cut: bool = False,
    ) -> PlacedJoint:
        """Join two bodies. `at` is the joint's frame in the parent, `child_at` in the child: a Pose or a frame's name.

        Which end is called parent decides the sign of the coordinate, not the tree: the program orients the graph.
        `cut=True` says that this joint is the one to be cut where it closes a loop.
        """
        self._changing("add the joint {!r}", name)
        label = f"joint {name!r}"
        if not isinstance(name, str) or not name:
            raise ModelError(f"a joint needs a name, got {name!r}")
        if name in self._joint_names:
            raise ModelError(f"there is a joint {name!r} already; names must differ")
        if not isinstance(joint, Joint):
            raise ModelError(f"{label}: expected a joint such as sharnir.Revolute('z'), got {joint!r}")
        for body in (parent, child):
            if body not in self._body_names:
                self._known_body(body, label)
        if parent == child:
            raise ModelError(f"{label} joins the body {parent!r} to itself")
        here = HERE if at is None else self._place(at, parent, label)
        there = HERE if child_at is None else self._place(child_at, child, label)
        placed = _new_joint(name, joint, parent, child, here, there, cut, joint.built(label), None)
        if not cut and (other := self._joined.setdefault(_pair(parent, child), placed)) is not placed:
            raise ModelError(
                f"{label}: {parent!r} and {child!r} are joined already, by {other.name!r}; "
                "if a second joint is meant to close a loop between them, say cut=True"
            )
        self._joint_names[name] = len(self._joints)
        self._joints.append(placed)
        return placed

    def couple(self, follower: str, leader: str, ratio: float = 1.0, offset: float = 0.0) -> None:
        """Let one joint follow another: x_follower = ratio · x_leader + offset, both of one coordinate.

        The follower has no coordinate of its own any more; forces on it are felt by the leader, `ratio` times as strong.
        """
        self._changing("couple {!r} to {!r}", follower, leader)
        places = self._joint_names
        label = f"coupling of {follower!r} to {leader!r}"
        for name in (follower, leader):
            if name not in places:
                raise ModelError(f"{label}: no joint {name!r}; the joints are {known(places)}")
        first, second = self._joints[places[follower]], self._joints[places[leader]]
        for joint in (first, second):
            if len(joint.type.coordinates) != 1 or not any(m.turn or m.slide for m in joint.motions):
                raise ModelError(f"{label}: {joint.name!r} is a {joint.type.type_name}; only joints of one axis can be coupled")
            if joint.cut:
                raise ModelError(f"{label}: {joint.name!r} is cut, it has no coordinate")
        if follower == leader or first.follows or not first.type.q_names():
            why = "itself" if follower == leader else "another joint already" if first.follows else "a given motion already"
            raise ModelError(f"{label}: {follower!r} follows {why}")
        ratio, offset = float(ratio), float(offset)
        if not (np.isfinite(ratio) and np.isfinite(offset) and ratio):
            raise ModelError(f"{label}: ratio must be a finite number other than zero and offset finite, got {ratio}, {offset}")
        if second.follows:  # a follower's follower: go to the one that leads both
            ratio, offset = ratio * second.follows.ratio, ratio * second.follows.offset + offset
            leader = second.follows.leader
            if leader == follower:
                raise ModelError(f"{label}: {follower!r} leads {second.name!r} already")
        self._joints[places[follower]] = replace(first, follows=Coupling(leader, ratio, offset))
        for k, joint in enumerate(self._joints):  # those that followed the follower
            if joint.follows and joint.follows.leader == follower:
                c = joint.follows
                self._joints[k] = replace(joint, follows=Coupling(leader, c.ratio * ratio, c.ratio * offset + c.offset))

    def add_force(self, force: Force | Callable[[Any], Any], name: str | None = None) -> Force:
        """Add a force: one of `sharnir`'s (SpringDamper, Motor …), or a plain function of the state of motion.

        The function is called with one argument, see `sharnir.Motion`: it reads t, q, v, poses, points and pushes.
        """
        self._changing("add the force {!r}" if name else "add a force", name)
        if not isinstance(force, Force):
            if not callable(force):
                raise ModelError(f"a force is a sharnir.Force or a function, got {force!r}")
            force = UserForce(force)
        label = self._label(force, name, "force", self._forces)
        self._forces[label] = force
        return force

    def add_constraint(self, constraint: Constraint | Callable[[Any], Any], name: str | None = None) -> Constraint:
        """Tie the motion down: one of `sharnir`'s constraints (Distance, Gear, Rolling …), or a plain function of `Motion`
        that reads positions and returns what is kept at zero."""
        self._changing("add the constraint {!r}" if name else "add a constraint", name)
        if not isinstance(constraint, Constraint):
            if not callable(constraint):
                raise ModelError(f"a constraint is a sharnir.Constraint or a function, got {constraint!r}")
            constraint = UserConstraint(constraint)
        label = self._label(constraint, name, "constraint", self._constraints)
        self._constraints[label] = constraint
        return constraint

    def split(self, joint: str) -> None:
        """Close a loop by splitting a body instead of cutting the joint: the child becomes two halves of half the mass, the
        joint carries the second, and a weld ties them. The joint keeps its coordinates. [I] §3.1"""
        self._changing("split at {!r}", joint)
        places = self._joint_names
        if joint not in places:
            raise ModelError(f"no joint {joint!r}; the joints are {known(places)}")
        placed = self._joints[places[joint]]
        body = next((k for k, b in enumerate(self._bodies) if b.name == placed.child), None)
        if body is None:
            raise ModelError(f"cannot split at {joint!r}: its child is the ground; name the joint the other way round")
        whole = self._bodies[body]
        half = replace(whole, mass=0.5 * whole.mass, inertia=tuple(0.5 * x for x in whole.inertia))
        other = f"{whole.name} (half of {joint})"
        self._bodies[body] = half
        self._bodies.append(replace(half, name=other))
        self._body_names.add(other)
        self._joints[places[joint]] = replace(placed, child=other, cut=False)
        self._joined.pop(_pair(placed.parent, placed.child), None)
        self._joined[_pair(placed.parent, other)] = self._joints[places[joint]]
        self.add_joint(f"{joint} tie", Weld(), whole.name, other, cut=True)

    def add_parameter(self, name: str, value: float) -> None:
        """A number that forces can read (`on.parameter(name)`) and that may change from run to run, or at an event."""
        self._changing("add the parameter {!r}", name)
        if name in self._parameters:
            raise ModelError(f"there is a parameter {name!r} already; names must differ")
        try:
            self._parameters[name] = float(value)
        except (TypeError, ValueError):
            raise ModelError(f"parameter {name!r}: expected a number, got {value!r}") from None

    def add_floating(self, body: str) -> PlacedJoint:
        """Let a body float: the fictitious six-axis joint to the base, named `body + " float"`."""
        return self.add_joint(f"{body} float", Free(), GROUND, body)

    def freeze(self) -> Structure:
        """The model as arrays; it cannot be changed afterwards."""
        self._frozen = True
        return self.structure

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file; its suffix (.yaml, .urdf) says the format. What the format cannot say is refused."""
        service("save")(self, path)

    def copy(self) -> Model:
        """An unfrozen copy that can be changed."""
        other = object.__new__(Model)
        other.__dict__.update(self.__dict__)
        for name in (
            "_bodies",
            "_joints",
            "_frames",
            "_forces",
            "_parameters",
            "_constraints",
            "_body_names",
            "_joint_names",
            "_joined",
        ):
            setattr(other, name, getattr(self, name).copy())
        other._frozen, other._tree, other._structure = False, None, None
        other.visuals, other.fixed_joints = self.visuals.copy(), self.fixed_joints.copy()
        other.keyframes = self.keyframes.copy()
        return other

    # --- what follows from it ---------------------------------------------------------------------------------------------
    @property
    def tree(self) -> topology.Tree:
        if self._tree is None:
            if not self._bodies:
                raise ModelError(f"model {self.name!r} has no bodies yet; add one with add_body")
            names = [b.name for b in self._bodies]
            self._tree = topology.spanning_tree(names, GROUND, self._joints, self.numbering, self._ranks_as_cuts)
        return self._tree

    @property
    def structure(self) -> Structure:
        if self._structure is None:
            with no_collection():
                self._check_cuts()
                self._structure = Structure(self)
        return self._structure

    @property
    def bodies(self) -> list[Body]:
        """Bodies in proper numbering: each after its carrier."""
        return self.structure.bodies

    @property
    def joints(self) -> list[PlacedJoint]:
        """Joints of the tree in coordinate order: joint i carries body i."""
        return self.structure.placed

    @property
    def closing_joints(self) -> list[PlacedJoint]:
        """Joints that close loops; they have no coordinates of their own."""
        return [self._joints[k] for k in self.tree.closing]

    @property
    def parents(self) -> list[int]:
        """k_i: index of the carrier of each body, −1 for the ground."""
        return list(self.tree.carriers)

    @property
    def frames(self) -> dict[str, tuple[str, Pose]]:
        """Named places: body and pose."""
        return dict(self._frames)

    @property
    def forces(self) -> dict[str, Force]:
        """Forces by name."""
        return dict(self._forces)

    @property
    def constraints(self) -> dict[str, Constraint]:
        """Everything that ties the motion down beyond the joints of the tree: closing joints, then what was added."""
        closing: dict[str, Constraint] = {j.name: ClosingJoint(j) for j in self.closing_joints}
        return {**closing, **self._constraints}

    @property
    def parameters(self) -> dict[str, float]:
        """Numbers that forces read, by name."""
        return dict(self._parameters)

    @property
    def nq(self) -> int:
        return self.structure.nq

    @property
    def nv(self) -> int:
        return self.structure.nv

    @property
    def q_names(self) -> list[str]:
        """A name for every entry of q: the joint's, with the coordinate's behind a dot where it has several."""
        return self._full_names(lambda joint: joint.q_names())

    @property
    def v_names(self) -> list[str]:
        return self._full_names(lambda joint: joint.v_names())

    def _full_names(self, parts_of: Callable[[Joint], tuple[str, ...]]) -> list[str]:
        each = zip(self.joints, by_type(self.joints, parts_of), strict=True)
        return [full for j, parts in each if j.follows is None for full in _names(j.name, parts)]

    def body_index(self, name: str) -> int:
        if name in self.structure.body_number:
            return self.structure.body_number[name]
        raise ModelError(f"no body {name!r}; the bodies are {known(b.name for b in self.bodies)}")

    def joint_index(self, name: str) -> int:
        if name in self.structure.joint_number:
            return self.structure.joint_number[name]
        raise ModelError(f"no joint {name!r} in the tree; {self.structure.where_is(name)}")

    def q_slice(self, joint: str) -> slice:
        """Where the coordinates of a joint stand in q."""
        i = self.joint_index(joint) + 1
        return slice(int(self.structure.q_first[i]), int(self.structure.q_first[i + 1]))

    def v_slice(self, joint: str) -> slice:
        """Where the speeds of a joint stand in v."""
        i = self.joint_index(joint) + 1
        return slice(int(self.structure.v_first[i]), int(self.structure.v_first[i + 1]))

    # --- states -----------------------------------------------------------------------------------------------------------
    def neutral(self) -> np.ndarray:
        """The coordinates of the reference position."""
        each = zip(self.joints, by_type(self.joints, lambda joint: joint.neutral()), strict=True)
        return np.array([x for j, values in each if j.follows is None for x in values], dtype=float)

    def random_q(self, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """Coordinates in [−1, 1], quaternions anywhere on their sphere; joints given by constraints stay at their start."""
        rng = np.random.default_rng(rng)
        out, waiting = list[float](), 0  # the joints since the last one with its own idea of random: drawn together
        for j, plain in zip(self.joints, by_type(self.joints, _plain_coordinates), strict=True):
            if j.follows is None and plain is None:
                out += [*rng.uniform(-1.0, 1.0, waiting).tolist(), *j.type.random(rng)]
                waiting = 0
            elif j.follows is None:
                waiting += plain
        return np.array([*out, *rng.uniform(-1.0, 1.0, waiting).tolist()], dtype=float)

    def coordinates(self, values: Mapping[str, Any] | Sequence[float] | None) -> np.ndarray:
        """q from {joint: value}, the rest neutral; arrays pass through."""
        return self._fill(values, self.neutral(), self.q_slice, "q")

    def speeds(self, values: Mapping[str, Any] | Sequence[float] | None) -> np.ndarray:
        """v from {joint: value}, the rest zero; arrays pass through."""
        return self._fill(values, np.zeros(self.nv), self.v_slice, "v")

    def _fill(self, values: Any, out: np.ndarray, where: Callable[[str], slice], what: str) -> np.ndarray:
        if values is None:
            return out
        if not isinstance(values, Mapping):
            return np.asarray(values, dtype=float)
        for joint, value in values.items():
            part = out[where(joint)]
            try:
                given = np.atleast_1d(np.asarray(value, dtype=float))
            except (TypeError, ValueError):
                raise StateError(f"{what} of joint {joint!r}: expected numbers, got {value!r}") from None
            if given.shape != part.shape:
                raise StateError(f"{what} of joint {joint!r}: expected {part.size} numbers, got {given.size}")
            part[:] = given
        return out

    def assemble(
        self, q0: Any = None, v0: Any = None, t: float = 0.0, fixed: Sequence[str] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and speeds that meet all constraints, nearest to the given ones; joints in `fixed` keep theirs."""
        return service("assemble")(self, q0, v0, t, fixed)

    def mobility(self, q: Any = None, t: float = 0.0) -> Mobility:
        """True freedoms at a position, Grübler's count beside them, and which constraints say nothing new."""
        return service("mobility")(self, q, t)

    # --- inside -----------------------------------------------------------------------------------------------------------
    def _check_cuts(self) -> None:
        """Joints that close loops can be cut, and nobody needs their coordinates."""
        needed = self._needed_coordinates() if self.closing_joints else {}
        for j in self.closing_joints:
            if not j.type.can_be_cut:
                kind = f"{j.type.type_name} joint{' driven like this' if j.type.motion is not None else ''}"
                raise ModelError(
                    f"joint {j.name!r} closes a loop, and a {kind} cannot be cut: what it forbids cannot be said without its "
                    f"coordinates; split a body instead: model.split({j.name!r})"
                )
            if needed.get(j.name):
                raise ModelError(
                    f"joint {j.name!r} closes a loop and would be cut, but {needed[j.name]} needs its coordinate; "
                    f"mark another joint of the loop with cut=True, or split a body: model.split({j.name!r})"
                )
            if j.name in self._constraints:
                raise ModelError(f"there is a joint and a constraint {j.name!r}; names of what ties the motion down must differ")

    def _ranks_as_cuts(self) -> list[int]:
        """Of several joints in a loop the one of highest rank is cut: the fewer rows the better; last those whose coordinates
        are needed, and those that cannot be cut at all."""
        needed = self._needed_coordinates()
        ranks = by_type(self._joints, lambda joint: len(joint.v_names()) if joint.can_be_cut else -1)
        return [-1 if j.name in needed else rank for j, rank in zip(self._joints, ranks, strict=True)]

    def _needed_coordinates(self) -> dict[str, str]:
        """Joints that something acts on or reads by their coordinates, and what; "" where it is only kept with the joint."""
        out: dict[str, str] = {}
        for j, own in zip(self._joints, by_type(self._joints, _own_need), strict=True):
            if own is not None:
                out[j.name] = own or out.get(j.name, "")
            if j.follows:
                out[j.name] = out[j.follows.leader] = f"the coupling of {j.name!r} to {j.follows.leader!r}"
        for name, force in self._forces.items():
            out |= dict.fromkeys(force.joints(), f"force {name!r}")
        for name, constraint in self._constraints.items():
            out |= dict.fromkeys(constraint.joints(), f"constraint {name!r}")
        return out

    def _changing(self, what: str, *names: str | None) -> None:
        if self._frozen:
            raise ModelError(f"cannot {what.format(*names)}: the model is in use and frozen; change a copy: model.copy()")
        self._tree = self._structure = None

    def _label(self, new: Force | Constraint, name: str | None, kind: str, others: Mapping[str, Any]) -> str:
        """The name of a new force or constraint; every body and joint it speaks of must be there."""
        label = name or new.name or f"{type(new).__name__} {len(others) + 1}"
        if label in others:
            raise ModelError(f"there is a {kind} {label!r} already; names must differ")
        for body in new.bodies():
            self._known_body(body, f"{kind} {label!r}")
        for joint in new.joints():
            if joint not in self._joint_names and not self._is_speed(joint):
                raise ModelError(f"{kind} {label!r}: no joint {joint!r}; the joints are {known(sorted(self._joint_names))}")
        return label

    def _is_speed(self, name: str) -> bool:
        """Whether it is one speed of a joint: `joint.part`. Names of joints may have dots in them too."""
        ends = [k for k, letter in enumerate(name) if letter == "." and name[:k] in self._joint_names]
        return any(name[k + 1 :] in self._joints[self._joint_names[name[:k]]].type.v_names() for k in ends)

    def _known_body(self, name: str, label: str) -> None:
        if name != GROUND and name not in self._body_names:
            raise ModelError(f"{label}: no body {name!r}; the bodies are {known([GROUND, *(b.name for b in self._bodies)])}")

    def _place(self, at: Pose | str, body: str, label: str) -> Pose:
        if not isinstance(at, str):
            return _pose(at, label)
        if at not in self._frames:
            raise ModelError(f"{label}: no frame {at!r}; the frames are {known(self._frames)}")
        owner, pose = self._frames[at]
        if owner != body:
            raise ModelError(f"{label}: the frame {at!r} is on body {owner!r}, not on {body!r}")
        return pose

    def __repr__(self) -> str:
        return f"Model({self.name!r}, {len(self._bodies)} bodies, {len(self._joints)} joints)"


def by_type(joints: Sequence[PlacedJoint], what: Callable[[Joint], Any]) -> list[Any]:
    """Something about the type of every joint, found once for joints that share one."""
    types, which = distinct([j.type for j in joints])
    found = [what(joint) for joint in types]
    return [found[k] for k in which.tolist()]


def _plain_coordinates(joint: Joint) -> int | None:
    """How many coordinates a joint has, if at random each is anywhere in [−1, 1]; None where it is not that simple."""
    return len(joint.q_names()) if type(joint).random is Joint.random and not joint.quaternions() else None


def _own_need(joint: Joint) -> str | None:
    """What in a joint needs its own coordinates; "" where it is only kept with the joint, None where nothing does."""
    if any(np.any(x) for x in (joint.damping, joint.stiffness, joint.armature)):
        return "its own damping, stiffness or armature"
    return "" if joint.limits is not None or np.any(joint.friction) else None


def _pair(parent: str, child: str) -> tuple[str, str]:
    """Two bodies, whichever is named first."""
    return (parent, child) if parent < child else (child, parent)


def _pose(at: Any, label: str) -> Pose:
    if isinstance(at, Pose):
        return at
    raise ModelError(f"{label}: a place is a sharnir.Pose (or a frame's name), got {at!r}")


def _names(joint: str, parts: Sequence[str]) -> list[str]:
    return [joint] if len(parts) == 1 else [f"{joint}.{part}" for part in parts]
