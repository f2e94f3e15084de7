"""Forces that joints have by their options: springs, dampers, friction, stops; rotors of driven coordinates. And the elastic
forces of flexible bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from math import isinf
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ModelError
from ...trace import Number, is_zero
from ..joints.joint_type import DRIVEN_OPTIONS, Joint, per_coordinate
from ..values import coordinate_limits
from .bristle_friction import BristleFriction
from .force_element import Force, JointForce
from .friction import JointFriction
from .joint_spring import DriveRotor, Elasticity, JointSpring
from .stop import JointStop

if TYPE_CHECKING:
    from ..parts import ModelParts
    from ..placed_joint import PlacedJoint
    from ..structure import Structure

STOP_RATE = 100.0
"""rad/s: ω of the stop that `limits` of a joint are, k = I·ω² with I of `carried_inertias`. A joint that arrives with speed v
goes about v/(2ω) beyond its end; steps of a millisecond resolve that."""
STOP_RATIO = 0.5
"""ζ of its damping, c = 2·ζ·I·ω: where other joints give way, less inertia than I takes part, and that is nearer to critical."""
STOP_ONSET = 1e-3
"""rad or m, at most: depth over which it sets in; of a short travel its hundredth part."""


def own_forces(
    structure: Structure, added: Mapping[str, Force], parts: ModelParts, inertias: Callable[[], list[Number]]
) -> dict[str, Force]:
    """Springs and dampers of joints by their options `damping`, `stiffness` and `rest`, friction and stops by `friction` and
    `limits` where the model lets them act and no force among `added` does so in their place; rotors of driven coordinates.
    `inertias`: of all speeds, see `axis_inertia.py`.
    """
    out: dict[str, Force] = {}
    rubs, stops = parts.acting != "motion", parts.acting == "all"
    rubbed, stopped = _joints_of(added, (JointFriction, BristleFriction)), _joints_of(added, (JointStop,)) | parts.unstopped
    inertia = cache(inertias)
    loaded = [
        not is_zero((x.damping, x.stiffness, x.armature, x.friction))
        or x.limits is not None
        or len(x.q_names()) < len(x.coordinates)
        or x.driven_form is not None
        for x in structure.types
    ]
    for i in np.flatnonzero(np.array(loaded, dtype=bool)[structure.type_of]).tolist():
        placed = structure.placed[i]
        joint, label = placed.type.driven_form or placed.type, f"joint {placed.name!r}"
        if structure.placed[structure.leader[i + 1] - 1].nv and joint.v_names():
            for what in ("damping", "stiffness"):
                joint.per_speed(what, len(joint.v_names()), label)
            rough = joint.per_speed("friction", len(joint.v_names()), label)
            if not is_zero((joint.damping, joint.stiffness)):
                out[f"{label}: spring and damper"] = JointSpring(placed.name, joint.stiffness, joint.damping, joint.rest)
            if rubs and not is_zero(rough):
                speeds = [name for name, x in zip(joint.v_names(), rough, strict=True) if not is_zero(x)]
                for name in _without(placed.name, speeds, rubbed):
                    out[f"joint {name!r}: friction"] = JointFriction(name)
            for name, k, low, high in _ends(placed, joint, label) if stops else ():
                if not {name, placed.name} & stopped:
                    carried = inertia()[int(structure.v_first[structure.leader[i + 1]]) + k]
                    out[f"joint {name!r}: stop"] = _stop(placed, name, low, high, carried)
        for coordinate, x in _driven(structure, placed, joint, label):
            name = f"{placed.name}.{coordinate}" if coordinate else placed.name
            label = f"joint {name!r}" if len(joint.coordinates) > 1 else label
            if not is_zero((x["damping"], x["stiffness"])):
                out[f"{label}: spring and damper"] = JointSpring(name, x["stiffness"], x["damping"], x["rest"])
            if rubs and not is_zero(x["friction"]) and not {name, placed.name} & rubbed:
                out[f"{label}: friction"] = JointFriction(name, coulomb=x["friction"])
            if joint is placed.type and not is_zero(x["armature"]):
                out[f"{label}: rotor"] = DriveRotor(name, x["armature"])
    for deformation in structure.deformations.values():
        joint_name = structure.placed[deformation.row - 1].name
        out[f"elasticity of {structure.bodies[deformation.body - 1].name}"] = Elasticity(joint_name, deformation)
    return out


def _joints_of(forces: Mapping[str, Force], kinds: tuple[type[JointForce], ...]) -> set[str]:
    return {force.joint for force in forces.values() if isinstance(force, kinds)}


def _without(joint: str, speeds: Iterable[str], there: set[str]) -> list[str]:
    """The joint, or those of its coordinates on which nothing of the kind acts already."""
    names = [f"{joint}.{speed}" for speed in speeds]
    if joint in there:
        return []
    return [joint] if there.isdisjoint(names) else [name for name in names if name not in there]


def _ends(placed: PlacedJoint, joint: Joint, label: str) -> Iterator[tuple[str, int, float | None, float | None]]:
    """Every coordinate with a finite end: its name, its number among the speeds of the joint, and both ends."""
    for k, coordinate in enumerate(joint.q_names() if joint.limits is not None else ()):
        low, high = (None if x is None or isinf(x) else float(x) for x in coordinate_limits(joint.limits, k))
        if low is None and high is None:
            continue
        if coordinate not in joint.v_names():
            raise ModelError(
                f"{label}: limits are of coordinates that have a speed, {coordinate!r} of a {joint.type_name} has none"
            )
        one = len(joint.q_names()) == 1
        number = 0 if placed.follows else placed.v_names.index(coordinate)
        yield placed.name if one else f"{placed.name}.{coordinate}", number, low, high


def _stop(placed: PlacedJoint, name: str, low: float | None, high: float | None, inertia: Number) -> JointStop:
    ratio = placed.follows.ratio if placed.follows else 1.0
    inertia = inertia / (ratio * ratio)
    onset = STOP_ONSET if low is None or high is None or low == high else min(STOP_ONSET, 0.01 * (high - low))
    stiffness = inertia * STOP_RATE**2
    return JointStop(name, low, high, stiffness=stiffness, damping=2.0 * STOP_RATIO / STOP_RATE * stiffness, onset=onset)


def _driven(structure: Structure, placed: PlacedJoint, joint: Joint, label: str) -> Iterable[tuple[str, dict[str, Number]]]:
    """The options of every driven coordinate; of a joint that follows a driven one, its own."""
    if placed.follows is None:
        return joint.driven_options(label)
    if structure.placed[structure.joint_number[placed.follows.leader]].nv:
        return ()
    return [("", {what: per_coordinate(getattr(joint, what), 1, f"{label}: {what}")[0] for what in DRIVEN_OPTIONS})]
