"""The model: bodies, frames, joints, forces, constraints on a base. Everything is checked when it is added."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ModelError, StateError, brief, no_such, suggesting
from ..reporting.formats import plural
from ..reporting.notebook import Fact, Shown
from ..trace import Expression, Number, Symbol, at_values
from ..trace.parameters import names_in
from ..types import FilePath, FloatArray, State, Vector, random_generator, truth
from . import coordinates, topology
from .body import GROUND, Body, make_body, make_flexible
from .constraints import ClosingJoint, Constraint, UserConstraint
from .copying import copied_model
from .cuts import check_cuts, cut_ranks, cut_reasons, needed_coordinates, split
from .drawn_tree import drawn_tree
from .forces import Force, Motion, UserForce
from .forces.force_element import AddedState, has_states
from .joints import Free, Joint, Weld
from .joints.elastic import Elastic
from .joints.traced import pose_expression
from .large_models import no_collection
from .mobility import counted_bodies, degrees_of_freedom
from .parameter_paths import make_parameter
from .parameters import ParameterView, check_values, parameter_value
from .parts import MOTION, ModelParts, check_acting
from .placed_joint import PlacedJoint, couple, new_placed_joint
from .pose import Pose, vector3
from .references import check_joints, is_name_in, name_taken, pair, place, pose
from .services import service
from .settings import SimulationSettings
from .shapes import Shape
from .structure import Structure
from .substitution import formulas_in, with_numbers, without_unread
from .units import warn_of_limits
from .values import check_name
from .visual import Visual, make_visual

if TYPE_CHECKING:
    from .flexible import Flexible
    from .import_report import ImportReport
    from .mobility import Mobility

__all__ = ["Model", "PlacedJoint"]

IDENTITY = Pose()
"""The default place of a joint: one object for all, so that a large model stores it once."""
_tracing: ContextVar[tuple[int, ...]] = ContextVar("sharnir_tracing", default=())
"""Models whose functions are being traced."""


class Model(Shown):
    """A mechanism. Add bodies and joints in any order and direction; `nq`, `bodies`, `joints` … follow from the graph.

    gravity      acceleration of free fall in the world, m/s²
    base_motion  function of t returning the Pose of the ground in the world (default: at rest)
    numbering    "depth-first" (subtrees stay together) or "leaves-last" (the rule of [I] §1)

    Reading a model never prevents changing it. Compiled code does: once `Dynamics` or `simulate` uses a model it is frozen,
    and `model.copy()` can be changed in its place. Models can be pickled if their functions can: formulas, named functions.
    """

    @suggesting
    def __init__(
        self,
        name: str = "model",
        gravity: Vector = (0.0, 0.0, -9.81),
        base_motion: Callable[[Number], Pose] | None = None,
        numbering: str = "depth-first",
    ) -> None:
        self.name = name
        self.parts = ModelParts()
        self._frozen_by = ""
        self._last_type: Joint | None = None
        self._tree: topology.SpanningTree | None = None
        self._structure: Structure | None = None
        self.gravity = gravity
        self.base_motion = base_motion
        self.numbering = numbering
        self.visuals: list[Visual] = []
        """Visuals to draw, in no order, without effect on the dynamics. `add_visual` adds one."""
        self.mesh_folders: list[Path] | None = None
        """Folders in which meshes that a file names may be opened; None: anywhere."""
        self.fixed_joints: dict[str, tuple[str, str]] = {}
        """Fixed joints of a file whose links were merged: name -> (parent, child), each a body or a frame."""
        self.keyframes: dict[str, FloatArray] = {}
        """Positions a file names: coordinates by name."""
        self.simulation: SimulationSettings | None = None
        """How a file says the model is to be simulated: `simulate(model, **model.simulation.arguments())`."""
        self.import_report: ImportReport | None = None
        """The reader's report on each part of a file; None for a model that was built."""

    @property
    def name(self) -> str:
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = "" if isinstance(name, str) and not name else check_name(name, "model")

    @property
    def gravity(self) -> tuple[float, float, float]:
        return self._gravity

    @gravity.setter
    def gravity(self, value: Vector) -> None:
        self._changing("change gravity")
        gravity = vector3(value, "gravity")
        self._check_parameters(gravity, "gravity", None)
        self._gravity = gravity

    @property
    def base_motion(self) -> Callable[[Number], Pose] | None:
        return self._base_motion

    @base_motion.setter
    def base_motion(self, function: Callable[[Number], Pose] | None) -> None:
        self._changing("change base_motion")
        self._base: Expression | None = None if function is None else pose_expression(function, 0, "base_motion")
        self._base_motion = function

    @property
    def numbering(self) -> str:
        return self._numbering

    @numbering.setter
    def numbering(self, rule: str) -> None:
        self._changing("change numbering")
        topology.check_numbering(rule)
        self._numbering = rule

    @property
    def acting(self) -> str:
        """Which options of joints act: "all"; all but `limits`, "friction"; neither limits nor friction, "motion", as `load` has
        robots unless asked for all. What does not act is stored. Set it before the model is used."""
        return self.parts.acting

    @acting.setter
    def acting(self, what: str) -> None:
        self._changing("change acting")
        self.parts.acting = check_acting(what)

    # --- building -------------------------------------------------------------------------------------------------------
    @suggesting
    def add_body(
        self,
        name: str,
        mass: float | None = None,
        com: Vector | None = None,
        inertia: ArrayLike | None = None,
        *,
        shape: Shape | None = None,
        density: float | None = None,
        check_inertia: bool = True,
        flexible: Flexible | None = None,
    ) -> Body:
        """A rigid body. `inertia` is about the centre of mass: 3 numbers, 6 (xx yy zz xy xz yz) or 3×3; a solid `shape` with
        its mass or density replaces com and inertia. `check_inertia=False` accepts an inertia that no body can have, as files
        often contain.

        With `flexible`, a `FlexibleBeam` or a `ModalBody` in place of all of these, one that deforms. Its elastic coordinates are
        those of a joint named `name + " elastic"`; what is joined to it follows the deformation of the place where it is."""
        self._changing("add the body {!r}", name)
        deformation: Body | None = None
        if flexible is None:
            body = make_body(name, mass, com, inertia, shape, density, check_inertia)
        else:
            given = {"mass": mass, "com": com, "inertia": inertia, "shape": shape, "density": density}
            body, deformation = make_flexible(name, flexible, given)
        self._check_parameters((body.mass, body.com, body.inertia), "body {!r}", name)
        if name == GROUND:
            raise ModelError(f"{GROUND!r} is the base of every model; give the body another name")
        for new in (body,) if deformation is None else (body, deformation):
            if new.name in self.parts.body_names or new.name in self.parts.states:
                raise name_taken("state" if new.name in self.parts.states else "body", new.name)
        self.parts.body_names.add(name)
        self.parts.bodies.append(body)
        if deformation is not None and flexible is not None:
            self.parts.body_names.add(deformation.name)
            self.parts.bodies.append(deformation)
            self.add_joint(deformation.name, Elastic(flexible), name, deformation.name, cut=False)
            self.parts.deformations[name] = deformation.name
        return body

    def add_node(self, name: str, body: str, at: Pose | str | Vector) -> Body:
        """A place of a flexible body as a body of its own, without mass, that follows the deformation: contacts, tyres, visuals
        and whatever else acts on bodies can be attached to it."""
        if body not in self.parts.deformations:
            raise ModelError(f"node {name!r}: {no_such('flexible body', body, self.parts.deformations, 'flexible bodies')}")
        where = at if isinstance(at, (Pose, str)) else Pose(vector3(at, f"node {name!r}: at"))
        node = self.add_body(name)
        self.add_joint(name, Weld(), body, name, at=where)
        return node

    def add_frame(self, name: str, body: str, at: Pose) -> None:
        """A named place on a body, for joints (`at="name"`) and for reading results."""
        self._changing("add the frame {!r}", name)
        check_name(name, "frame")
        self.parts.check_body(body, f"frame {name!r}")
        if name in self.parts.frames:
            raise ModelError(f"there is a frame {name!r} already, on body {self.parts.frames[name][0]!r}")
        where = IDENTITY if at is None else pose(at, f"frame {name!r}")
        self._check_parameters(where, "frame {!r}", name)
        self.parts.frames[name] = (body, where)

    @suggesting
    def add_joint(
        self,
        name: str,
        joint: Joint,
        parent: str,
        child: str,
        at: Pose | str | None = None,
        child_at: Pose | str | None = None,
        cut: bool | None = None,
    ) -> PlacedJoint:
        """Join two bodies. `at` is the joint's frame in the parent, `child_at` in the child: a Pose or a frame's name.

        Which end is called parent decides the sign of the coordinate, not the tree: the graph is oriented from the base.
        One joint of every loop is cut: it becomes constraints and has no coordinates. Which one is chosen for few constraints and
        short loops, and said by `mobility`; `cut=True` chooses this joint, `cut=False` keeps it.
        """
        self._changing("add the joint {!r}", name)
        check_name(name, "joint")
        label = f"joint {name!r}"
        if name in self.parts.joint_names or name in self.parts.states:
            raise name_taken("state" if name in self.parts.states else "joint", name)
        if not isinstance(joint, Joint):
            got = f"the class itself: write {joint.__name__}(…)" if isinstance(joint, type) else brief(joint)
            swapped = isinstance(parent, Joint) or isinstance(child, Joint)
            order = "; the arguments are name, joint, parent, child" * swapped
            raise ModelError(f"{label}: expected a joint such as sharnir.Revolute('z'), got {got}{order}")
        for body in (parent, child):
            if type(body) is not str or body not in self.parts.body_names:  # written out: models have millions of joints
                self.parts.check_body(body, label)
        if self.parts.deformations:
            self.parts.check_deformations(label, parent, child)
        if parent == child:
            raise ModelError(f"{label} joins the body {parent!r} to itself")
        here, there = IDENTITY if at is None else at, IDENTITY if child_at is None else child_at
        here = here if isinstance(here, Pose) else place(here, parent, self.parts.frames, label)
        there = there if isinstance(there, Pose) else place(there, child, self.parts.frames, label)
        self._check_parameters((here, there), "joint {!r}", name)
        if joint is not self._last_type:  # large models have many joints of few types
            self._check_parameters(joint, "joint {!r}", name)
            self._last_type = joint
            if joint.limits:
                n = len(joint.q_names())
                if n and hasattr(joint.limits[0], "__len__") and len(joint.limits) != n:
                    raise ModelError(f"{label}: limits: expected a pair for all, or for each of its {n} free coordinates")
                warn_of_limits(name, joint)
        if self.parts.deformations:
            self.parts.check_place(label, parent, here)
            self.parts.check_place(label, child, there)
        cut = cut if cut is None or type(cut) is bool else truth(cut, f"{label}: cut")
        placed = new_placed_joint(name, joint, parent, child, here, there, cut, joint.built(label), None)
        if not cut and (other := self.parts.joined.setdefault(pair(parent, child), name)) != name:
            raise ModelError(
                f"{label}: {parent!r} and {child!r} are joined already, by {other!r}; "
                "if a second joint is meant to close a loop between them, give it cut=True"
            )
        self.parts.joint_names[name] = len(self.parts.joints)
        self.parts.joints.append(placed)
        return placed

    def add_floating(self, body: str) -> PlacedJoint:
        """Let a body float: a joint of six degrees of freedom to the base, named `body + " float"`."""
        self.parts.check_body(body, f"joint '{body} float'" if isinstance(body, str) else "add_floating")
        return self.add_joint(f"{body} float", Free(), GROUND, body)

    def couple(self, follower: str, leader: str, ratio: float = 1.0, offset: float = 0.0) -> None:
        """Let one joint follow another: x_follower = ratio · x_leader + offset, both of one coordinate.

        The follower has no coordinate of its own any more; forces on it act on the leader, `ratio` times as strong.
        """
        self._changing("couple {!r} to {!r}", follower, leader)
        self._check_parameters((ratio, offset), "coupling of {!r}", follower)
        couple(self.parts.joints, self.parts.joint_names, follower, leader, ratio, offset)

    def split(self, joint: str) -> None:
        """Close a loop by splitting a body instead of cutting the joint: the child becomes two halves of half the mass, the
        joint carries the second, and a weld ties them. The joint retains its coordinates. [I] §3.1"""
        self._changing("split at {!r}", joint)
        split(self, joint)

    def add_force(self, force: Force | Callable[[Motion], Any], name: str | None = None) -> Force:
        """Add a force: one of `sharnir`'s (SpringDamper, Motor …), or a plain function of the state of motion.

        The function is called with one argument, see `sharnir.Motion`: it reads t, q, v, poses, points and pushes.
        """
        label, added = self._added(force, name, "force", Force, UserForce, {**self.parts.forces, **self.parts.states})
        self.parts.forces[label] = added
        return added

    def add_state(self, name: str, initial: float, rate: Callable[[Motion], Any], unit: str = "") -> None:
        """A number that changes with the motion: a controller's integral, the charge of a battery, a filter's output.

        `rate` is a function of `sharnir.Motion` that returns how fast it changes; it reads t, q, v, points and other states.
        Forces and events read the state with `on.state(name)`; it is integrated with the motion, and is in results by its name.
        """
        self._changing("add the state {!r}", name)
        check_name(name, "state")
        if not callable(rate):
            raise ModelError(f"state {name!r}: rate is a function of sharnir.Motion that returns a number, got {brief(rate)}")
        for kind in ("state", "force", "parameter", "joint", "body"):
            named: Container[str] = getattr(self.parts, f"{kind}_names" if kind in ("joint", "body") else f"{kind}s")
            if name in named:  # results and plots know all of them by name
                raise ModelError(f"state {name!r}: there is a {kind} of that name already; give the state another")
        self.parts.states[name] = AddedState(parameter_value(name, initial), rate, unit)

    def add_constraint(self, constraint: Constraint | Callable[[Motion], Any], name: str | None = None) -> Constraint:
        """Constrain the motion: one of `sharnir`'s constraints (Distance, Gear, Rolling …), or a plain function of `Motion`
        that reads positions and returns the residual, a number or several."""
        label, added = self._added(constraint, name, "constraint", Constraint, UserConstraint, self.parts.constraints)
        self.parts.constraints[label] = added
        return added

    def add_visual(
        self,
        body: str,
        what: Shape | FilePath,
        *,
        at: Pose | str | None = None,
        colour: str | Vector | None = None,
        scale: float | Vector = 1.0,
        name: str = "",
        role: str = "visual",
    ) -> Visual:
        """Add a visual, without effect on the motion: a shape, or the path of a mesh (STL, OBJ, DAE, glTF, PLY) in
        metres; `scale` is for meshes in other units. Where a body has none it is drawn by its own shape, or as bars.

        at      where it is in the body: a Pose, or a frame's name
        colour  a name such as "orange", "#ff8800", or three or four numbers from 0 to 1; by default the colours of the mesh
        role    "visual"; "collision" for a shape that is drawn only where collision shapes are asked for; or "both"
        """
        self.parts.check_body(body, "visual")
        where = None if at is None else place(at, body, self.parts.frames, f"visual on {body!r}")
        visual = make_visual(body, what, where, scale, colour=colour, name=name, role=role)
        self._check_parameters(visual, "visual on {!r}", body)
        if visual.path is not None and self.mesh_folders is not None:
            self.mesh_folders.append(visual.path.resolve())  # a file that the user names may be opened
        self.visuals.append(visual)
        return visual

    def add_parameter(self, name: str, value: float) -> Symbol:
        """A number that may change from call to call, from run to run, or at an event, without compiling anything again.

        Returns a number to compute with: it may stand in masses, centres, inertias, shapes, places of joints and frames, options
        of joints, forces and constraints. Functions of the motion can also read it by name, `on.parameter(name)`.
        """
        self._changing("add the parameter {!r}", name)
        check_name(name, "parameter")
        if name in self.parts.parameters:
            raise name_taken("parameter", name)
        self.parts.parameters[name] = parameter_value(name, value)
        return self.parts.parameter_graph.parameter(name, self.parts.parameters[name])

    def make_parameter(self, path: str) -> Symbol:
        """Turn a number of the model into a parameter of that name: "link3.mass", "link3.com.x", "link3.inertia.xy",
        "elbow.damping", "elbow.at.z", "spring.stiffness", "gravity.z" …: a body, joint, frame, force or constraint, one of its
        fields, and a component where there are several. Its value is what the number was."""
        self._changing("make {!r} a parameter", path)
        return make_parameter(self, path)

    def with_parameters(self, values: Mapping[str, float]) -> Model:
        """A copy whose parameters have these values where no others are given; the rest as they are."""
        out = self.copy()
        out.parts.parameters = self._possible_values(values)
        return out

    def with_states(self, values: Mapping[str, float]) -> Model:
        """A copy whose states of forces start at these values where no others are given; the rest as they are."""
        if not isinstance(values, Mapping):
            raise ModelError(f"states: expected {{name: value}}, got {brief(values)}")
        known = self.states
        for name in values:
            if not is_name_in(known, name):
                raise ModelError(f"{no_such('state', name, known)}; add it with Model.add_state")
        out = self.copy()
        out.parts.state_values |= {name: parameter_value(name, x) for name, x in values.items()}
        return out

    def without_parameters(self, values: Mapping[str, float] | None = None) -> Model:
        """A copy with numbers in place of everything that depends on parameters: at these values, the rest at the model's own.
        Only parameters that functions of the model read are left."""
        return without_unread(with_numbers(self, self._possible_values(values)))

    def parameter_values(self, values: Mapping[str, float] | None = None) -> dict[str, float]:
        """All parameters by name, and all states after them: these values, the rest the model's own."""
        if values is not None and not isinstance(values, Mapping):
            raise StateError(f"parameters: expected {{name: value}}, got {brief(values)}")
        for name in values or ():
            self.check_parameter(name)
        given = {name: parameter_value(name, x, StateError) for name, x in (values or {}).items()}
        return {**self.parts.parameters, **self.states, **given}

    @property
    def states(self) -> dict[str, float]:
        """States of forces and of `add_state`, with their initial values."""
        if not self.parts.bodies or not (self.parts.states or any(map(has_states, self.parts.forces.values()))):
            return {}
        return dict(self.structure.states)

    def check_parameter(self, name: str) -> None:
        """Refuse a name that is no parameter (or state) of the model, and a parameter that is fixed."""
        if not is_name_in(self.parts.parameters, name) and not is_name_in(self.states, name):
            raise StateError(
                f"{no_such('parameter', name, {**self.parts.parameters, **self.states})}; Model.add_parameter adds one, "
                "Model.make_parameter turns a number of the model into one"
            )
        if name in self.parts.constants:
            raise ModelError(
                f"parameter {name!r} is a number in this copy, which without_parameters made: change it in the model itself"
            )

    def freeze(self, by: str = "by Dynamics, simulate or freeze") -> Structure:
        """The model as arrays for compiled code; it cannot be changed afterwards. `by`: for the error of a later change."""
        structure = self.structure
        self._frozen_by = self._frozen_by or check_name(by, "reason of freezing")
        return structure

    # --- copies and files -----------------------------------------------------------------------------------------------
    def copy(self) -> Model:
        """An unfrozen copy that can be changed, and shares nothing with the model that can change."""
        return copied_model(self)

    __copy__ = copy

    def __getstate__(self) -> dict[str, Any]:
        """Attributes without those that follow from the rest; a copy, or what is unpickled, is not frozen."""
        return {**self.__dict__, "_tree": None, "_structure": None, "_frozen_by": ""}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def animate(
        self, path: FilePath | None = None, q: State = None, t: float = 0.0, *, show: Sequence[str] | None = None,
        view: str | Sequence[float] | None = None, title: str | None = None,
    ) -> Path | Any:  # fmt: skip
        """A page of the mechanism at q, to be turned in any browser, offline, with its tree and its masses; the rest as for
        `draw`. By default model.html; in a notebook the page is shown there, and no file is written. Motions move:
        `Result.animate`."""
        return service("animate model")(self, path, q, t, show=show, view=view, title=title)

    def draw(
        self, path: FilePath | None = None, q: State = None, t: float = 0.0, *, show: Sequence[str] | None = None,
        size: tuple[int, int] = (1280, 720), view: str | Sequence[float] | None = None, theme: str = "light",
        labels: bool = False, title: str = "", transparent: bool = False,
    ) -> Any:  # fmt: skip
        """A picture of the mechanism at q (by default the neutral position; loops are closed), in a file: .png, .jpg or .webp;
        without a path as an image of Pillow, which a notebook shows.

        show   layers, of `sharnir.viewer.scene.LAYERS`: "bodies", "joints", "frames", "mass", …
        size   width and height in pixels
        view   "front", "side", "top", or the direction to the camera; by default a little from above and aside
        theme  "light" or "dark"; `transparent`: no background
        labels names of bodies and joints
        """
        look = {"size": size, "view": view, "theme": theme, "labels": labels, "title": title, "transparent": transparent}
        return service("draw")(self, path, q, t, show=show, **look)

    def save(self, path: FilePath) -> None:
        """Write the model to a file in the format of its suffix (.yaml, .urdf). What the format cannot express is refused."""
        service("save")(self, path)

    # --- the graph ------------------------------------------------------------------------------------------------------
    @property
    def tree(self) -> topology.SpanningTree:
        """The spanning tree and the joints that close loops; it prints as a drawing: print(m.tree)."""
        if self._tree is None:
            if not self.parts.bodies:
                raise ModelError(
                    f"model {self.name!r} has no bodies yet; add one with add_body, or load with floating=True a file whose "
                    "parts are all fixed to the ground"
                )
            names = [b.name for b in self.parts.bodies]
            ranks = lambda: cut_ranks(self.parts.bodies, self.parts.joints, self._needed_coordinates())  # noqa: E731 - where there are loops
            number = {name: k for k, name in enumerate(names)} if self.parts.deformations else {}
            deformations = {number[body]: number[row] for body, row in self.parts.deformations.items()}
            found = topology.spanning_tree(names, GROUND, self.parts.joints, self.numbering, ranks, deformations)
            self._tree = replace(found, drawing=lambda: drawn_tree(self))
        return self._tree

    @property
    def structure(self) -> Structure:
        """The model as arrays; rebuilt when the model is read after a change."""
        if self._structure is None:
            with no_collection(), _not_by_its_own_functions(self, self.name):
                if self.tree.closing:
                    check_cuts(self.closing_joints, self._needed_coordinates(), self.parts.constraints)
                self._structure = Structure(self)
        return self._structure

    @property
    def bodies(self) -> list[Body]:
        """Bodies in proper numbering: each after its carrier."""
        return self.structure.bodies if self.parts.bodies else []

    @property
    def joints(self) -> list[PlacedJoint]:
        """Joints of the tree in coordinate order: joint i carries body i."""
        return self.structure.placed if self.parts.bodies else []

    @property
    def closing_joints(self) -> list[PlacedJoint]:
        """Joints that close loops; they have no coordinates of their own."""
        return [self.parts.joints[k] for k in self.tree.closing] if self.parts.bodies else []

    @property
    def cut_reasons(self) -> list[str]:
        """A sentence for each of `closing_joints`: why it is the one that is cut. `cut=` of `add_joint` chooses otherwise."""
        parts = self.parts
        return cut_reasons(self.tree, parts.bodies, parts.joints, self._needed_coordinates()) if parts.bodies else []

    @property
    def parents(self) -> list[int]:
        """k_i: index of the carrier of each body, −1 for the ground."""
        return list(self.tree.carriers) if self.parts.bodies else []

    @property
    def frames(self) -> dict[str, tuple[str, Pose]]:
        """Named places: body and pose."""
        return dict(self.parts.frames)

    @property
    def forces(self) -> dict[str, Force]:
        """Forces by name."""
        return dict(self.parts.forces)

    @property
    def constraints(self) -> dict[str, Constraint]:
        """Constraints beyond the joints of the tree: closing joints, then those that were added."""
        closing: dict[str, Constraint] = {j.name: ClosingJoint(j) for j in self.closing_joints}
        return {**closing, **self.parts.constraints}

    @property
    def parameters(self) -> Mapping[str, float]:
        """Parameters and their values where a call gives no others. Read only: other values go into the call."""
        return ParameterView(self.parts.parameters)

    # --- coordinates and states -----------------------------------------------------------------------------------------
    @property
    def nq(self) -> int:
        return self.structure.nq if self.parts.bodies else 0

    @property
    def nv(self) -> int:
        return self.structure.nv if self.parts.bodies else 0

    @property
    def q_names(self) -> list[str]:
        """A name for every entry of q: the joint's, followed by `.coordinate` where it has several."""
        return coordinates.full_names(self.joints, lambda joint: joint.q_names())

    @property
    def v_names(self) -> list[str]:
        return coordinates.full_names(self.joints, lambda joint: joint.v_names())

    def body_index(self, name: str) -> int:
        if is_name_in(self.structure.body_number, name):
            return self.structure.body_number[name]
        raise ModelError(no_such("body", name, (b.name for b in self.bodies), "bodies"))

    def joint_index(self, name: str) -> int:
        if is_name_in(self.structure.joint_number, name):
            return self.structure.joint_number[name]
        raise ModelError(f"no joint {brief(name)} in the tree; {self.structure.where_is(name)}")

    def q_slice(self, joint: str) -> slice:
        """The coordinates of a joint as a slice of q."""
        return self.structure.q_slice(self.joint_index(joint) + 1)

    def v_slice(self, joint: str) -> slice:
        """The speeds of a joint as a slice of v."""
        return self.structure.v_slice(self.joint_index(joint) + 1)

    def neutral(self) -> FloatArray:
        """The coordinates of the reference position."""
        if not self.parts.bodies:  # nothing to be frozen
            return np.zeros(0)
        return np.array(self.structure.neutral)

    def random_q(self, rng: np.random.Generator | int | None = None) -> FloatArray:
        """Coordinates in [−1, 1], quaternions anywhere on their sphere; joints given by constraints stay at their start."""
        return coordinates.random_q(self.joints, random_generator(rng))

    def coordinates(self, values: State) -> FloatArray:
        """q from {joint: value}, the rest neutral; "joint.coordinate" is one of several. Arrays pass through."""
        return self._filled(values, self.neutral(), "q")

    def speeds(self, values: State) -> FloatArray:
        """v from {joint: value}, the rest zero; "joint.speed" is one of several. Arrays pass through."""
        return self._filled(values, np.zeros(self.nv), "v")

    @suggesting
    def assemble(
        self,
        q0: State = None,
        v0: State = None,
        t: float = 0.0,
        fixed: Sequence[str] | None = None,
        parameters: Mapping[str, float] | None = None,
        nearest: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        """Coordinates and speeds that satisfy all constraints, nearest to the given ones. What q0 and v0 name is held, as by
        `simulate`; where that cannot be, the error says what can. Whole arrays are guesses.

        fixed    joints or single coordinates ("float.x") that are held; all else in q0 is then a guess
        nearest  take what q0 and v0 name as guesses too
        """
        q, v = service("assemble")(self, q0, v0, t, fixed, parameters=parameters, nearest=nearest)
        return q, v

    def integrate(self, q: State, dv: State, t: float = 0.0) -> FloatArray:
        """The coordinates after a motion from q with constant speeds dv for unit time; one state or a batch.

        Coordinates add; a ball joint turns by the angle |dv| about dv in its moved axes; a free joint moves along the screw
        of its velocity (the exponential of SE(3)). Joints given by constraints, at time t, move along their rates and are put
        back onto them. Driven joints and the base stay where they are.
        """
        found: FloatArray = service("integrate")(self, q, dv, t)
        return found

    def difference(self, q0: State, q1: State, t: float = 0.0) -> FloatArray:
        """The speeds dv that lead from q0 to q1 in unit time, turns the shorter way round: integrate(q0, dv) is q1, up to the
        signs of quaternions. One state or a batch."""
        found: FloatArray = service("difference")(self, q0, q1, t)
        return found

    def mobility(self, q: State = None, t: float = 0.0, parameters: Mapping[str, float] | None = None) -> Mobility:
        """Degrees of freedom at a position, Grübler's count beside them, and which constraints are redundant. Without q: at a
        closed position that is not special, near the neutral one; the answer says at which."""
        found: Mobility = service("mobility")(self, q, t, parameters=parameters)
        return found

    # --- inside -----------------------------------------------------------------------------------------------------------
    def _filled(self, values: State, default: FloatArray, of: Literal["q", "v"]) -> FloatArray:
        single = coordinates.single_entries(self.structure, of) if isinstance(values, Mapping) else {}
        return coordinates.filled(values, default, single, lambda name: self._place_of(name, of), of)

    def _place_of(self, name: str, of: Literal["q", "v"]) -> slice:
        """The entries of a joint, or of one of its coordinates."""
        found = coordinates.entries(self.structure, name, of)
        if found is not None and found.start < found.stop:
            return found
        if follows := self.joints[self.joint_index(name)].follows:
            raise StateError(
                f"joint {name!r} follows {follows.leader!r} and has nothing of its own: give that of {follows.leader!r}"
            )
        return slice(0, 0)

    def _needed_coordinates(self) -> dict[str, str]:
        return needed_coordinates(self.parts.joints, self.parts.forces, self.parts.constraints, self.acting != MOTION)

    def _changing(self, what: str, *names: str | None) -> None:
        if self._frozen_by:
            what = what.replace("{!r}", "{}").format(*map(brief, names))
            raise ModelError(
                f"cannot {what}: model {self.name!r} was frozen {self._frozen_by}, compiled code uses it; "
                "change a copy: model.copy()"
            )
        self._tree = self._structure = None

    def _check_parameters(self, x: Any, label: str, name: str | None) -> None:
        """Everything in it that depends on parameters depends on those of this model. Without any, `Structure` finds others:
        large models have millions of numbers."""
        for symbol in formulas_in(x) if self.parts.parameters else ():
            for own in names_in([symbol]):
                if symbol.graph is not self.parts.parameter_graph or own not in self.parts.parameters:
                    where = f"{label.format(name)}: {own!r} is a parameter of another model"
                    raise ModelError(f"{where}; add it to {self.name!r} with add_parameter")

    def _possible_values(self, values: Mapping[str, float] | None) -> dict[str, float]:
        for name in values if isinstance(values, Mapping) else ():
            if name in self.states:
                raise ModelError(
                    f"{name!r} is a state, not a parameter: give states={{{name!r}: …}} to the call instead, or take "
                    f"model.with_states({{{name!r}: …}})"
                )
        found = self.parameter_values(values)
        check_values(self, np.array([list(found.values())]))
        return {name: found[name] for name in self.parts.parameters}

    def _added(
        self, new: Any, name: str | None, kind: str, base: type, of_function: Callable[[Any], Any], others: Mapping[str, Any]
    ) -> tuple[str, Any]:
        """The name of a new force or constraint, and itself; every body and joint it names must be in the model."""
        self._changing(f"add the {kind} {{!r}}" if isinstance(name, str) else f"add a {kind}", name)
        if not isinstance(new, base):
            if not callable(new) or isinstance(new, type):
                got = f"the class itself: write {new.__name__}(…)" if isinstance(new, type) else brief(new)
                raise ModelError(f"a {kind} is a sharnir.{base.__name__} or a function, got {got}")
            new = of_function(new)
        self._check_parameters(new, f"{kind} {{!r}}", name)
        own = new.name if name is None or (isinstance(name, str) and not name) else name
        nameless = own is None or (isinstance(own, str) and not own)
        label = check_name(f"{type(new).__name__} {len(others) + 1}" if nameless else own, kind)
        if label in others:
            raise name_taken(kind, label)
        for body in new.bodies():
            self.parts.check_body(body, f"{kind} {label!r}")
        check_joints(new.joints(), self.parts.joints, self.parts.joint_names, f"{kind} {label!r}")
        return label, new

    def _facts(self) -> tuple[str, list[Fact]]:
        parts, flexible = self.parts, len(self.parts.deformations)
        mass = float(at_values(sum(body.mass for body in parts.bodies)))
        counts = {
            "bodies": len(parts.bodies) - flexible, "flexible bodies": flexible, "joints": len(parts.joints) - flexible,
            "couplings": sum(1 for j in parts.joints if j.follows), "constraints": len(parts.constraints),
            "forces": len(self.forces), "frames": len(self.frames), "parameters": ", ".join(self.parameters),
        }  # fmt: skip
        try:
            counts |= {"closed loops": len(self.closing_joints), "speeds" if self.constraints else "degrees of freedom": self.nv}
        except ModelError as error:  # it is not finished, or cannot be
            counts |= {"not complete": str(error)}
        return self.name, [("mass", mass, "kg"), *((what, x, "") for what, x in counts.items())]

    def __repr__(self) -> str:
        flexible = len(self.parts.deformations)
        counts = [counted_bodies(len(self.parts.bodies), flexible), plural(len(self.parts.joints) - flexible, "joint")]
        try:
            counts.append(plural(self.nv, "coordinate") if self.constraints else degrees_of_freedom(self.nv))
        except ModelError:  # it is not finished, or cannot be
            return f"<Model {self.name!r}: {', '.join(counts)}>"
        counts += [plural(len(self.closing_joints), "closed loop")] * bool(self.closing_joints)
        counts += [plural(len(self.parts.constraints), "constraint")] * bool(self.parts.constraints)
        return f"<Model {self.name!r}: {', '.join(counts)}>"


@contextmanager
def _not_by_its_own_functions(model: object, name: str) -> Iterator[None]:
    """Refuse that a model's functions, while they are traced, ask it for results that depend on them: that would never end."""
    if id(model) in _tracing.get():
        raise ModelError(
            f"model {name!r} is read by a function of its own (of a force, a joint or a constraint) while that is traced; "
            "read what it needs before, outside the function"
        )
    token = _tracing.set((*_tracing.get(), id(model)))
    try:
        yield
    finally:
        _tracing.reset(token)
