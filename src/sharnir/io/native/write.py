"""From a Model to the text of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ...errors import FormatError
from ...model.body import Body, inertia_fault
from ...model.formulas import SignalFormula
from ...model.model import Model, PlacedJoint
from ...model.settings import SimulationSettings
from ...model.shapes import Shape
from ...model.visual import Visual
from .bodies import SHAPES
from .emit import emit
from .plain import REMEDY, plain, pose_formula, same, where
from .schema import VERSION, ModelFields
from .write_parts import force_data, joint_data, placed


def dumps(model: Model) -> str:
    """The text of a .yaml file that says everything the model says; what cannot be said in words is refused by name."""
    data: dict[str, Any] = {"sharnir": VERSION, "name": model.name}
    for name in ("gravity", "numbering"):
        value = plain(getattr(model, name), name)
        if not same(value, plain(ModelFields.model_fields[name].default, name)):
            data[name] = value
    if model.base_motion is not None:
        data["base_motion"] = pose_formula(model.base_motion, ("t",), "base_motion")
    data["parameters"] = model.parameters
    data["bodies"] = {body.name: _body(body) for body in model._bodies}
    data["frames"] = {
        name: {"body": body, **placed("at", pose, f"frame {name!r}")} for name, (body, pose) in model.frames.items()
    }
    frames = {(body, id(pose)): name for name, (body, pose) in model._frames.items()}
    data["joints"] = {joint.name: _joint(joint, frames) for joint in model._joints}
    data["couplings"] = {joint.name: _coupling(joint.follows) for joint in model._joints if joint.follows is not None}
    data["forces"] = {name: force_data(force, f"force {name!r}") for name, force in model.forces.items()}
    data["visuals"] = [_visual(visual) for visual in model.visuals]
    data["fixed_joints"] = {name: {"parent": parent, "child": child} for name, (parent, child) in model.fixed_joints.items()}
    data["keyframes"] = {name: plain(q, f"keyframe {name!r}") for name, q in model.keyframes.items()}
    if model.simulation is not None:
        data["simulation"] = _simulation(model.simulation)
    return emit({name: value for name, value in data.items() if value not in ({}, [])})


def _body(body: Body) -> dict[str, Any]:
    label = f"body {body.name!r}"
    if body.shape is not None:
        return {"mass": float(body.mass), "shape": _shape(body.shape, label)}
    out: dict[str, Any] = {"mass": float(body.mass)}
    com, inertia = plain(body.com, label), plain(body.inertia, label)
    if not same(com, [0.0] * 3):
        out["com"] = com
    if not same(inertia, [0.0] * 6):
        out["inertia"] = inertia[:3] if same(inertia[3:], [0.0] * 3) else inertia
    return out if inertia_fault(body) is None else {**out, "check_inertia": False}


def _shape(shape: Shape, label: str) -> dict[str, Any]:
    cls = SHAPES.get(type(shape))
    if cls is None:
        raise FormatError(
            f"{label}: a shape class of your own ({type(shape).__name__}) cannot be written; give mass, com, inertia"
        )
    out: dict[str, Any] = {"type": type(shape).__name__.lower()}
    for name, field in cls.model_fields.items():
        if name == "at":
            out |= placed("at", shape.placement(), label)
        elif name != "type" and not same(value := plain(getattr(shape, name), label), field.default):
            out[name] = value
    return out


def _joint(joint: PlacedJoint, frames: Mapping[tuple[str, int], str]) -> dict[str, Any]:
    """`frames`: names by body and identity of the pose, for joints that were placed by a frame's name."""
    label = f"joint {joint.name!r}"
    own, options = joint_data(joint.type, label)
    out = {**own, "parent": joint.parent, "child": joint.child}
    for field, body, pose in (("at", joint.parent, joint.at), ("child_at", joint.child, joint.child_at)):
        frame = frames.get((body, id(pose)))
        out |= placed(field, pose, label) if frame is None else {field: frame}
    return {**out, **({"cut": True} if joint.cut else {}), **options}


def _coupling(follows: Any) -> dict[str, Any]:
    out = {"leader": follows.leader, "ratio": float(follows.ratio), "offset": float(follows.offset)}
    return {name: x for name, x in out.items() if not same(x, {"ratio": 1.0, "offset": 0.0}.get(name))}


def _visual(visual: Visual) -> dict[str, Any]:
    out: dict[str, Any] = {"body": visual.body, "kind": visual.kind}
    default = Visual("", "")
    for field in fields(Visual):
        name, value = field.name, getattr(visual, field.name)
        if name == "at":
            out |= placed("at", value, f"visual on {visual.body!r}")
        elif name not in out and value is not None and value != getattr(default, name):
            out[name] = str(value) if name == "path" else plain(value, f"visual on {visual.body!r}")
    return out


def _simulation(settings: SimulationSettings) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for field in fields(SimulationSettings):
        value = getattr(settings, field.name)
        if value is None:
            continue
        if field.name == "events":
            out["events"] = [_event(event, f"simulation: event {k}") for k, event in enumerate(value)]
        elif field.name == "every":
            out["every"] = int(value)
        else:
            out[field.name] = plain(dict(value) if isinstance(value, Mapping) else value, f"simulation: {field.name}")
    return out


def _event(event: Any, label: str) -> dict[str, Any]:
    if not isinstance(event.when, SignalFormula):
        raise FormatError(f"{label}: when: {REMEDY}sharnir.SignalFormula('position.hand.z - 0.05')")
    if callable(event.action):
        raise FormatError(f"{label}: an action that is a Python function cannot be written; give it to simulate(events=…)")
    f = event.when.formulas
    said = {"when": f.items[0], **where(f), "action": event.action, "direction": event.direction, "name": event.name}
    default = {"action": "record", "direction": "both", "name": ""}
    return {name: x for name, x in said.items() if not same(x, default.get(name))}
