"""The contents of a model in the order in which they were added, and checks of names and places among them."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, fields
from typing import Any

from ..errors import ModelError, brief, choices, no_such
from ..trace import ParameterGraph, has_parameters
from .body import GROUND, Body
from .constraints import Constraint
from .forces import Force
from .forces.force_element import AddedState
from .joints.elastic import Elastic
from .placed_joint import PlacedJoint
from .pose import Pose
from .references import is_name_in

ACTING = (ALL, FRICTION, MOTION) = ("all", "friction", "motion")
"""Values of `Model.acting`."""


def check_acting(what: object) -> str:
    if not is_name_in(ACTING, what):
        raise ModelError(f"acting: {choices(what, ACTING, 'choices')}, got {brief(what)}")
    return str(what)


@dataclass
class ModelParts:
    """The parts a `Model` was given; the model's tree, arrays and numbering follow from it."""

    bodies: list[Body] = field(default_factory=list)
    joints: list[PlacedJoint] = field(default_factory=list)
    body_names: set[str] = field(default_factory=set)
    joint_names: dict[str, int] = field(default_factory=dict)
    """Indices of joints by name."""
    deformations: dict[str, str] = field(default_factory=dict)
    """The body that stands for the elastic coordinates of each flexible body."""
    joined: dict[tuple[str, str], str] = field(default_factory=dict)
    """The joint between two bodies, of those that are not marked cut=True."""
    frames: dict[str, tuple[str, Pose]] = field(default_factory=dict)
    forces: dict[str, Force] = field(default_factory=dict)
    constraints: dict[str, Constraint] = field(default_factory=dict)
    states: dict[str, AddedState] = field(default_factory=dict)
    state_values: dict[str, float] = field(default_factory=dict)
    """Initial values of states, where they are not those that forces declare."""
    parameters: dict[str, float] = field(default_factory=dict)
    parameter_graph: ParameterGraph = field(default_factory=ParameterGraph)
    constants: frozenset[str] = frozenset()
    """Parameters that only functions of the model read still, other numbers having been put in their place."""
    acting: str = ALL
    """Which options of joints act: see `Model.acting`."""
    unstopped: frozenset[str] = frozenset()
    """Joints, or coordinates of them, whose limits do not act all the same: impacts hold them in a run."""

    def copy(self) -> ModelParts:
        """The same parts in containers of its own; copies share the graph of parameters."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return ModelParts(**{name: x if name == "parameter_graph" else copy(x) for name, x in own.items()})

    def check_body(self, name: Any, label: str) -> None:
        """Refuse a name that is neither a body nor the ground."""
        if self.deformations:
            self.check_deformations(label, name)
        if not is_name_in(self.body_names, name) and not is_name_in((GROUND,), name):
            if isinstance(name, Body):
                raise ModelError(f"{label}: bodies are referred to by their names: write {name.name!r}, not the body itself")
            raise ModelError(f"{label}: {no_such('body', name, [GROUND, *(b.name for b in self.bodies)], 'bodies')}")

    def check_deformations(self, label: str, *bodies: str) -> None:
        """Refuse names of deformations: the flexible body itself is meant."""
        for body in bodies:
            if body in self.deformations.values():
                whole = next(name for name, row in self.deformations.items() if row == body)
                raise ModelError(
                    f"{label}: {body!r} is the deformation of body {whole!r}; name {whole!r} itself, at the place meant"
                )

    def check_place(self, label: str, body: str, at: Pose) -> None:
        """Refuse a place of a flexible body where nothing can be attached."""
        row = self.deformations.get(body)
        joint = None if row is None else self.joints[self.joint_names[row]].type
        if not isinstance(joint, Elastic):
            return
        if has_parameters((*at.position, *at.rotation.entries)):
            raise ModelError(
                f"{label}: its place on the flexible body {body!r} cannot depend on a parameter; give numbers, and build a model "
                "for each place"
            )
        try:
            joint.flexible.check_place(at.position)
        except ModelError as error:
            raise ModelError(f"{label}: body {body!r}: {error}") from None
