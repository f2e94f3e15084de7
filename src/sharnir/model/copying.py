"""Copies of a model that share nothing with it that can change: equal ones, with other shapes, with other masses and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .body import make_body
from .constraints import Constraint
from .forces import Force, JointStop
from .joints import Compound, Joint
from .joints.elastic import Elastic
from .large_models import no_collection
from .parts import ALL, FRICTION
from .per_structure import per_structure
from .placed_joint import new_placed_joint

if TYPE_CHECKING:
    from .flexible import Flexible
    from .model import Model

Copied = TypeVar("Copied", Joint, Force, Constraint)

MassValues = tuple[float, Sequence[float], Sequence[float]]
"""Mass, centre of mass, inertia about it (xx yy zz xy xz yz)."""

CONTAINERS = (dict, list, set, tuple, np.ndarray)


@no_collection()
def copied_model(model: Model) -> Model:
    out = object.__new__(type(model))
    out.__setstate__(model.__getstate__())
    out.parts = model.parts.copy()
    types = {id(j.type): j.type for j in model.parts.joints}  # joints that shared a type share its copy
    own = {key: copied_part(joint) for key, joint in types.items()}
    out.parts.joints = [
        new_placed_joint(j.name, own[id(j.type)], j.parent, j.child, j.at, j.child_at, j.cut, j.motions, j.follows)
        for j in model.parts.joints
    ]
    out.parts.forces = {name: copied_part(force) for name, force in model.parts.forces.items()}
    out.parts.constraints = {name: copied_part(constraint) for name, constraint in model.parts.constraints.items()}
    out.visuals, out.fixed_joints = model.visuals.copy(), model.fixed_joints.copy()
    out.keyframes = {name: q.copy() for name, q in model.keyframes.items()}
    out.mesh_folders = None if model.mesh_folders is None else [*model.mesh_folders]
    out.simulation = deepcopy(model.simulation)
    out.import_report = None if model.import_report is None else model.import_report.copy()
    return out


def with_limits(model: Model, act: bool) -> Model:
    """The model; or, where limits of joints are not to `act`, a copy kept with it in which none does."""
    own = model.structure.forces.forces.items() if not act and model.acting == ALL and model.parts.bodies else ()
    stops = any(isinstance(force, JointStop) for name, force in own if name not in model.forces)
    return _without_stops(model) if stops else model


@per_structure
def _without_stops(model: Model) -> Model:
    out = copied_model(model)
    out.parts.acting = FRICTION
    return out


def with_flexible(model: Model, bodies: Mapping[str, Flexible]) -> Model:
    """A copy in which these flexible bodies deform by other shapes."""
    out = copied_model(model)
    out.parts.bodies = [replace(body, flexible=bodies.get(body.name, body.flexible)) for body in out.parts.bodies]
    for k, joint in enumerate(out.parts.joints):
        if joint.parent in bodies and isinstance(joint.type, Elastic):
            kind = Elastic(bodies[joint.parent])
            out.parts.joints[k] = replace(joint, type=kind, motions=kind.motions(joint.name))
    return out


def revalued(
    model: Model,
    bodies: Mapping[str, MassValues],
    joints: Mapping[str, Mapping[str, Sequence[float]]],
    check_inertia: bool = True,
) -> Model:
    """A copy with other numbers. `bodies` by name; `joints`: {joint: {option: a number for each of its speeds}}."""
    out = model.without_parameters() if model.parameters else model.copy()
    for k, body in enumerate(out.parts.bodies):
        if body.name in bodies:
            mass, com, inertia = bodies[body.name]
            out.parts.bodies[k] = make_body(body.name, mass, list(com), list(inertia), None, None, check_inertia)
    for k, placed in enumerate(out.parts.joints):
        if placed.name in joints:
            out.parts.joints[k] = replace(placed, type=_with_options(placed.type, joints[placed.name]))
    return out


def _with_options(joint: Joint, options: Mapping[str, Sequence[float]]) -> Joint:
    """A copy of a joint; options of a compound belong to its parts, in their order."""
    out = copy(joint)
    if isinstance(joint, Compound):
        parts, at = dict(joint.parts), 0
        for name, driven, _ in joint.moved_joints():
            n, (part, where) = len(driven.v_names()), parts[name]
            if n:
                parts[name] = (_with_options(part, {option: values[at : at + n] for option, values in options.items()}), where)
            at += n
        out.__dict__["parts"] = parts
        return out
    for option, values in options.items():
        value: Any = float(values[0]) if len(values) == 1 else tuple(float(x) for x in values)
        out.__dict__[option] = value
    return out


def copied_part(part: Copied) -> Copied:
    """A joint, force or constraint with containers of its own; the same one if it cannot change. Functions and other objects are
    shared; so are the motions that a joint has built, a list that is replaced and never changed."""
    own = {name: deepcopy(x) for name, x in vars(part).items() if isinstance(x, CONTAINERS) and name != "_built"}
    dataclass = getattr(type(part), "__dataclass_params__", None)
    unchanged = all(x is vars(part)[name] for name, x in own.items())  # deepcopy returns what is immutable
    if unchanged and dataclass is not None and dataclass.frozen:
        return part
    out = copy(part)
    out.__dict__.update(own)
    return out
