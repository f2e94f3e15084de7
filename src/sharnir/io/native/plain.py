"""Values of a model as plain data: numbers, poses, formulas."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import FormatError
from ...model.formulas import PoseFormula
from ...model.pose import Pose, Rotation, quaternion_of
from ...trace.formula import Formula, Formulas

REMEDY = "a Python function cannot be written; say it as text: "


def same(a: Any, b: Any) -> bool:
    """Equal to the last bit, and of the same kind."""
    return repr(a) == repr(b)


def plain(value: Any, label: str) -> Any:
    """Numbers, words and lists of them."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(x, label) for x in value]
    if isinstance(value, Mapping):
        return {str(key): plain(x, label) for key, x in value.items()}
    try:
        return float(value)
    except (TypeError, ValueError):
        raise FormatError(f"{label}: {value!r} cannot be written; expected numbers or words") from None


def place(pose: Pose, label: str) -> Any:
    """A position alone, or position and rotation; None for the identity."""
    position, turn = plain(pose.position, label), _rotation(pose.rotation, label)
    at_origin = same(position, [0.0, 0.0, 0.0])
    if not turn:
        return None if at_origin else position
    return turn if at_origin else {"position": position, **turn}


def _rotation(rotation: Rotation, label: str) -> dict[str, Any]:
    """The shortest way to say it that gives the same cosines to the last bit."""
    entries = plain(rotation.entries, label)
    if same(entries, plain(Rotation.identity().entries, label)):
        return {}
    for axis, (s, c) in {"x": (7, 4), "y": (2, 0), "z": (3, 0)}.items():
        angle = math.atan2(entries[s], entries[c])
        for candidate in (angle, round(angle, 9), angle % (2 * math.pi)):
            if same(list(Rotation.about(axis, candidate).entries), entries):
                return {"axis": axis, "angle": candidate}
    w, x, y, z = quaternion_of(rotation)
    for quaternion in ([w, x, y, z], [round(v, 9) for v in (w, x, y, z)]):
        if same(list(Rotation.quaternion(*quaternion).entries), entries):
            return {"quaternion": quaternion}
    yaw, pitch = math.atan2(entries[3], entries[0]), math.asin(max(-1.0, min(1.0, -entries[6])))
    rpy = [math.atan2(entries[7], entries[8]), pitch, yaw]
    for angles in (rpy, [round(v, 9) for v in rpy]):
        if same(list(Rotation.rpy(*angles).entries), entries):
            return {"rpy": angles}
    return {"matrix": [entries[0:3], entries[3:6], entries[6:9]]}


def formula(function: Any, variables: Sequence[str], label: str) -> Any:
    """The text of a formula, or its long form."""
    if not isinstance(function, Formula):
        example = f"sharnir.formula('…', {', '.join(map(repr, variables))})"
        raise FormatError(f"{label}: {REMEDY}{example}")
    text = function.formulas.items[0]
    rest = _rest(function.formulas, variables)
    return {"formula": text, **rest} if rest else text


def number_or_formula(value: Any, variables: Sequence[str], label: str) -> Any:
    return formula(value, variables, label) if callable(value) else plain(value, label)


def pose_formula(function: Any, variables: Sequence[str], label: str) -> dict[str, Any]:
    if not isinstance(function, PoseFormula):
        raise FormatError(f"{label}: {REMEDY}sharnir.PoseFormula(position=(…), turns=[('z', '…')], variables={tuple(variables)})")
    out: dict[str, Any] = {}
    if not same(function.position, (0.0, 0.0, 0.0)):
        out["position"] = items(function.position)
    if function.turns:
        out["turns"] = [{"axis": plain(axis, label), "angle": items([angle])[0]} for axis, angle in function.turns]
    if function.quaternion is not None:
        out["quaternion"] = items(function.quaternion)
    return {**(out or {"position": [0.0, 0.0, 0.0]}), **_rest(function.formulas, variables)}


def motion(value: Any, label: str, whole: bool = False) -> Any:
    """The drive of a joint; `whole`: one that is driven by a pose."""
    if isinstance(value, Mapping):
        return {name: motion(one, f"{label} of {name!r}") for name, one in value.items()}
    if whole or isinstance(value, PoseFormula):
        return pose_formula(value, ("t",), label)
    return formula(value, ("t",), label)


def items(values: Sequence[str | float]) -> list[Any]:
    """Formulas stay text, numbers become floats."""
    return [x if isinstance(x, str) else float(x) for x in values]


def where(formulas: Formulas) -> dict[str, Any]:
    return {"where": dict(formulas.where)} if formulas.where else {}


def _rest(formulas: Formulas, variables: Sequence[str]) -> dict[str, Any]:
    of = {} if formulas.variables == tuple(variables) else {"of": list(formulas.variables)}
    return {**of, **where(formulas)}
