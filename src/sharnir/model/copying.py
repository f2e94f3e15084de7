"""Copies of a model that share nothing with it that can change."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy, deepcopy
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from .constraints import Constraint
from .forces import Force
from .garbage import no_collection
from .joints import Joint
from .placed_joint import PlacedJoint, new_placed_joint

if TYPE_CHECKING:
    from .model import Model

Part = TypeVar("Part", Joint, Force, Constraint)

CONTAINERS = (dict, list, set, tuple, np.ndarray)


@no_collection()
def copied_model(model: Model) -> Model:
    out = object.__new__(type(model))
    out.__setstate__(model.__getstate__())
    for name in ("_bodies", "_body_names", "_joint_names", "_frames", "_parameters", "visuals", "fixed_joints"):
        setattr(out, name, getattr(model, name).copy())
    out._joints = copied_joints(model._joints)
    out._joined = {ends: out._joints[model._joint_names[joint.name]] for ends, joint in model._joined.items()}
    out._forces = {name: copied_part(force) for name, force in model._forces.items()}
    out._constraints = {name: copied_part(constraint) for name, constraint in model._constraints.items()}
    out.keyframes = {name: q.copy() for name, q in model.keyframes.items()}
    out.simulation = deepcopy(model.simulation)
    out.import_report = None if model.import_report is None else model.import_report.copy()
    return out


def copied_part(part: Part) -> Part:
    """A joint, force or constraint with attributes of its own. Functions and other objects are shared; so are the motions that
    a joint has built, a list that is replaced and never changed."""
    out = copy(part)
    for name, value in vars(out).items():
        if isinstance(value, CONTAINERS) and name != "_built":
            out.__dict__[name] = deepcopy(value)
    return out


def copied_joints(joints: Iterable[PlacedJoint]) -> list[PlacedJoint]:
    """Joints that shared a type share its copy."""
    types: dict[int, Joint] = {}
    out = []
    for j in joints:
        own = types.get(id(j.type))
        if own is None:
            own = types[id(j.type)] = copied_part(j.type)
        out.append(new_placed_joint(j.name, own, j.parent, j.child, j.at, j.child_at, j.cut, j.motions, j.follows))
    return out
