"""From a Model to the text of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...errors import FormatError
from ...model.body import Body, inertia_fault
from ...model.constraints import Constraint
from ...model.constraints.constraint_element import ConstraintElement
from ...model.element import described
from ...model.flexible import Flexible
from ...model.forces import Force
from ...model.forces.force_element import AddedState, ForceElement, UserForce
from ...model.formulas import SignalFormula
from ...model.model import Model, PlacedJoint
from ...model.states import check_model
from ...trace import at_values
from . import entries
from .document import MAX_NODES, emit
from .writing import collecting, place, plain, pose_formula, refusal, same, write_element, write_joint, write_table


def dumps(model: Model) -> str:
    """The text of a .yaml file that describes the whole model; what has no textual form is refused by name."""
    with collecting() as tables:
        data = _sections(check_model(model, "dumps"))
    data["tables"] = {name: write_table(table) for name, table in tables.items()}
    return emit({name: value for name, value in data.items() if value not in ({}, [])})


def _sections(model: Model) -> dict[str, Any]:
    """The document; the place of its tables, which formulas ask for, is kept free."""
    data: dict[str, Any] = {"sharnir": entries.VERSION, "name": model.name}
    default = {one.name: one.default for one in described(entries.ModelEntry)}
    for name in ("gravity", "numbering", "acting"):
        value = plain(getattr(model, name), name)
        if not same(value, plain(default[name], name)):
            data[name] = value
    if model.base_motion is not None:
        data["base_motion"] = pose_formula(model.base_motion, ("t",), "base_motion")
    data["parameters"] = dict(model.parameters)
    data["tables"] = {}
    elastic = set(model.parts.deformations.values())  # rows of the tree that flexible bodies bring with them
    data["bodies"] = {body.name: _body(body) for body in model.parts.bodies if body.name not in elastic}
    data["frames"] = {
        name: write_element(entries.FrameEntry(body, pose), f"frame {name!r}") for name, (body, pose) in model.frames.items()
    }
    frames = {(body, id(pose)): name for name, (body, pose) in model.parts.frames.items()}
    data["joints"] = {joint.name: _joint(joint, frames) for joint in model.parts.joints if joint.name not in elastic}
    followers = {joint.name: joint.follows for joint in model.parts.joints if joint.follows is not None}
    data["couplings"] = {
        name: write_element(entries.CouplingEntry(c.leader, c.ratio, c.offset), "") for name, c in followers.items()
    }
    data["forces"] = {name: _force(force, f"force {name!r}") for name, force in model.forces.items()}
    data["states"] = {name: _state(state, f"state {name!r}") for name, state in model.parts.states.items()}
    data["constraints"] = {name: _constraint(x, f"constraint {name!r}") for name, x in model.parts.constraints.items()}
    data["visuals"] = [write_element(visual, f"visual on {visual.body!r}") for visual in model.visuals]
    data["fixed_joints"] = {name: write_element(entries.FixedJointEntry(*ends), "") for name, ends in model.fixed_joints.items()}
    data["keyframes"] = {name: plain(q, f"keyframe {name!r}") for name, q in model.keyframes.items()}
    if model.simulation is not None:
        data["simulation"] = write_element(model.simulation, "simulation")
    return data


def _body(body: Body) -> dict[str, Any]:
    label = f"body {body.name!r}"
    if body.flexible is not None:
        return {"flexible": _flexible(body.flexible, label)}
    if body.shape is not None:
        if type(body.shape) not in entries.SHAPES:
            raise refusal(label, "shape", body.shape, "give mass, com, inertia")
        return {"mass": plain(body.mass, label), "shape": write_element(body.shape, label)}
    com, inertia = list(body.com), list(body.inertia)
    sparse = None if same(inertia, [0.0] * 6) else inertia[:3] if same(inertia[3:], [0.0] * 3) else inertia
    centre = None if same(com, [0.0] * 3) else com
    possible = inertia_fault(replace(body, inertia=at_values(body.inertia))) is None  # at the present values of parameters
    return write_element(entries.BodyEntry(body.mass, centre, sparse, check_inertia=possible), label)


def _flexible(flexible: Flexible, label: str) -> dict[str, Any]:
    if type(flexible) not in entries.FLEXIBLE:
        raise refusal(label, "flexible", flexible, "build it as a sharnir.ModalBody")
    data = write_element(flexible, label)
    if (count := _count(data)) > MAX_NODES // 2:
        raise FormatError(
            f"{label}: {count} numbers are too many for a text; keep it in an archive: body.flexible.save('arm.npz'), and "
            "flexible: {type: modal, file: arm.npz} in the file"
        )
    return data


def _count(data: Any) -> int:
    return sum(map(_count, data.values() if isinstance(data, dict) else data)) if isinstance(data, (dict, list)) else 1


def _joint(joint: PlacedJoint, frames: Mapping[tuple[str, int], str]) -> dict[str, Any]:
    """`frames`: names by body and identity of the pose, for joints that were placed by a frame's name."""
    label = f"joint {joint.name!r}"
    beside: dict[str, Any] = {"parent": joint.parent, "child": joint.child}
    for key, body, pose in (("at", joint.parent, joint.at), ("child_at", joint.child, joint.child_at)):
        frame = frames.get((body, id(pose)))
        beside[key] = place(pose, f"{label}: {key}") if frame is None else frame
    return write_joint(joint.type, label, beside | {"cut": joint.cut})


def _state(state: AddedState, label: str) -> dict[str, Any]:
    if not isinstance(state.function, SignalFormula):
        raise FormatError(f"{label}: a Python function cannot be written; give its rate as a sharnir.SignalFormula")
    return write_element(entries.StateEntry(state.initial, state.function, state.unit), label)


def _force(force: Force, label: str) -> dict[str, Any]:
    if isinstance(force, ForceElement) and type(force) in entries.FORCES:
        return write_element(force, label)
    remedy = "build it as a sharnir.Motor or sharnir.Wrench with sharnir.formula or sharnir.VectorFormula"
    if isinstance(force, UserForce):
        raise FormatError(f"{label}: a Python function cannot be written; {remedy}")
    raise refusal(label, "force", force, remedy)


def _constraint(constraint: Constraint, label: str) -> dict[str, Any]:
    if isinstance(constraint, ConstraintElement) and type(constraint) in entries.CONSTRAINTS:
        return write_element(constraint, label)
    raise refusal(label, "constraint", constraint, "give it as text: sharnir.SignalFormula('position.hand.z - 0.05')")
