"""Parts of a model in the order in which they were added, for readers and writers of files: no tree is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

from ..trace import ParameterGraph
from .body import Body
from .constraints import Constraint
from .forces.force_states import AddedState
from .placed_joint import PlacedJoint
from .pose import Pose

if TYPE_CHECKING:
    from .model import Model


class Parts(NamedTuple):
    """Parts of a model, not copied."""

    bodies: Sequence[Body]
    joints: Sequence[PlacedJoint]
    frames: Mapping[str, tuple[str, Pose]]
    states: Mapping[str, AddedState]
    """States that are not those of forces."""
    constraints: Mapping[str, Constraint]
    """Constraints that are no joints."""
    body_names: Set[str]
    joint_names: Set[str]
    elastic: Set[str]
    """Names of the bodies, and of their joints, that stand for elastic coordinates."""


def parts_of(m: Model) -> Parts:
    elastic = frozenset(m._deformations.values())
    return Parts(m._bodies, m._joints, m._frames, m._states, m._constraints, m._body_names, m._joint_names.keys(), elastic)


def check_body(model: Model, name: str, label: str) -> None:
    """Refuse a name that is neither a body nor the ground."""
    model._known_body(name, label)


def check_joint_place(model: Model, joint: str, body: str, at: Pose) -> None:
    """Refuse a place of a flexible body where no joint can be attached."""
    model._check_place(f"joint {joint!r}", body, at)


def new_model(name: str, numbering: str, parameters: ParameterGraph) -> Model:
    """A model without gravity and parts, whose numbers may depend on the parameters of a graph."""
    from .model import Model

    model = Model(name, (0.0, 0.0, 0.0), None, numbering)
    model._parameter_graph = parameters
    return model
