"""Joints and forces of a model as plain data: their fields in order, defaults left out."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ...errors import FormatError
from ...model.forces import Bushing, Force, UserForce, Wrench
from ...model.formulas import ConstraintFormula, VectorFormula
from ...model.joints import Ball, Compound, ConstraintJoint, CustomJoint, Free, Joint
from ...model.pose import Pose
from . import forces, joints
from .joint_fields import OPTIONS
from .plain import REMEDY, items, motion, number_or_formula, place, plain, pose_formula, same, where


def joint_data(joint: Joint, label: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Type with what belongs to it, and the options."""
    cls = joints.BY_TYPE.get(type(joint))
    if cls is None:
        raise FormatError(
            f"{label}: a joint class of your own ({joint.type_name}) cannot be written; "
            "say it as a sharnir.Compound, or a sharnir.CustomJoint by a sharnir.PoseFormula"
        )
    own: dict[str, Any] = {"type": _tag(cls)}
    if isinstance(joint, CustomJoint):
        own |= _custom(joint, label)
    elif isinstance(joint, ConstraintJoint):
        own |= _constraints(joint, label)
    elif isinstance(joint, Compound):
        own["parts"] = {name: _part(part, at, f"{label}, part {name!r}") for name, part, at in joint.parts}
    else:
        own |= {name: plain(getattr(joint, name), label) for name in cls.own()}
    names = ("effort", "velocity") if isinstance(joint, Compound) else OPTIONS[1:]
    options = _differing({name: plain(getattr(joint, name), f"{label}: {name}") for name in names}, cls)
    if joint.motion is not None:
        whole = isinstance(joint, (Ball, Free))
        options = {"motion": motion(joint.motion, f"{label}: motion", whole), **options}
    return own, options


def _part(joint: Joint, at: Pose, label: str) -> dict[str, Any]:
    own, options = joint_data(joint, label)
    return {**own, **placed("at", at, label), **options}


def _custom(joint: CustomJoint, label: str) -> dict[str, Any]:
    n = len(joint.coordinates)
    default = ("q",) if n == 1 else tuple(f"q{k + 1}" for k in range(n))
    names = {} if joint.coordinates == default else {"names": list(joint.coordinates)}
    return {"dof": n, **names, "pose": pose_formula(joint.pose, (*joint.coordinates, "t"), f"{label}: pose")}


def _constraints(joint: ConstraintJoint, label: str) -> dict[str, Any]:
    function = joint.constraints
    if not isinstance(function, ConstraintFormula):
        raise FormatError(f"{label}: constraints: {REMEDY}sharnir.ConstraintFormula('x*x + y*y - 1', …)")
    return {
        "constraints": items(function.formulas.items),
        **where(function.formulas),
        **placed("start", joint.start, label),
    }


def placed(field: str, pose: Pose, label: str) -> dict[str, Any]:
    data = place(pose, f"{label}: {field}")
    return {} if data is None else {field: data}


def force_data(force: Force, label: str) -> dict[str, Any]:
    cls = forces.BY_TYPE.get(type(force))
    if cls is None:
        return _tendon(force, label)
    out: dict[str, Any] = {}
    for name in cls.model_fields:
        value, what = getattr(force, name, None), f"{label}: {name}"
        if name == "type":
            out[name] = _tag(cls)
        elif isinstance(value, Pose):
            out |= placed(name, value, label)
        elif name in cls.formulas:
            out[name] = None if value is None else number_or_formula(value, cls.formulas[name], what)
        elif isinstance(force, Wrench) and callable(value):
            out[name] = _vector(value, what)
        elif isinstance(force, Bushing) and isinstance(value, np.ndarray):
            out[name] = _shortest_matrix(value)
        else:
            out[name] = plain(value, what)
    return _differing(out, cls)


def _vector(function: Any, label: str) -> Any:
    if not isinstance(function, VectorFormula):
        raise FormatError(f"{label}: {REMEDY}sharnir.VectorFormula('sin(t)', 0, '2*q.elbow')")
    f = function.formulas
    return {"vector": items(f.items), **where(f)} if f.where else items(f.items)


def _tendon(force: Force, label: str) -> dict[str, Any]:
    from ..mjcf_tendons import Tendon

    if not isinstance(force, Tendon):
        what = "a Python function" if isinstance(force, UserForce) else f"a force class of your own ({type(force).__name__})"
        raise FormatError(
            f"{label}: {what} cannot be written; say it as a sharnir.Motor or sharnir.Wrench with sharnir.formula "
            "or sharnir.VectorFormula"
        )
    numbers = {name: float(getattr(force, name)) for name in ("stiffness", "damping", "low", "high")}
    terms = [{"joint": p.joint, "q": int(p.q), "v": int(p.v), "coefficient": float(c)} for p, c in force.terms]
    points = [{"body": body, "at": plain(at, label)} for body, at in force.points]
    return {"type": "tendon", **_differing(numbers, forces.TendonFields),
            **({"terms": terms} if terms else {}), **({"points": points} if points else {})}  # fmt: skip


def _shortest_matrix(x: np.ndarray) -> Any:
    if same(np.diag(np.diag(x)).tolist(), x.tolist()):
        diagonal = np.diag(x).tolist()
        return diagonal[0] if same(diagonal, diagonal[:1] * len(diagonal)) else diagonal
    return x.tolist()


def _differing(data: dict[str, Any], cls: Any) -> dict[str, Any]:
    """Without the fields whose value is the default."""
    default = _defaults(cls)
    return {name: x for name, x in data.items() if x is not None and not (name in default and same(x, default[name]))}


@cache
def _defaults(cls: Any) -> dict[str, Any]:
    said = {name: field for name, field in cls.model_fields.items() if not field.is_required()}
    return {name: plain(field.default, name) for name, field in said.items() if field.default_factory is None}


def _tag(cls: Any) -> str:
    return cls.model_fields["type"].annotation.__args__[0]
