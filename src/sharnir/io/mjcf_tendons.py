"""Tendons of a compiled MJCF model: springs and dampers on their length, where it is a sum of joints or of straight lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..kernels.algebra import add
from ..model.forces import Tendon
from ..model.import_report import ImportReport
from ..model.model import Model
from .mjcf_bodies import Names, pose_of
from .mjcf_record import CompiledModel
from .rigid_groups import Carrier


@dataclass(frozen=True)
class Place:
    """A joint of the model, and which of its coordinates and speeds a joint of the file became."""

    joint: str
    q: int
    v: int


def add_tendons(
    model: Model,
    compiled: CompiledModel,
    carriers: Mapping[int, Carrier],
    places: Mapping[int, Place],
    passive: bool,
    report: ImportReport,
) -> None:
    """Springs and dampers of tendons as forces. `places`: where each joint of the file went, by number."""
    names = Names()
    on_tendon = compiled.actuator_trntype == compiled.enumeration("mjtTrn")["tendon"]
    driven = set(compiled.actuator_trnid[on_tendon, 0].tolist())
    stiff, damped = passive and not compiled.is_disabled("spring"), passive and not compiled.is_disabled("damper")
    for k in range(compiled.count("tendon")):
        label = compiled.label("tendon", k)
        stiffness, damping = float(compiled.tendon_stiffness[k]) * stiff, float(compiled.tendon_damping[k]) * damped
        terms, points = tendon_path(compiled, k, carriers, places)
        for field in ("limited", "armature", "frictionloss", "stiffnesspoly", "dampingpoly", "springyield"):
            values = getattr(compiled, f"tendon_{field}", None)
            if values is not None and values[k].any():
                report.ignored(f"{field} of a tendon", label)
        if not stiffness and not damping and k in driven and (terms or points):
            report.kept("tendon", label, "as the path of its actuators")
        elif not stiffness and not damping:
            report.ignored("tendon", label, "it has no spring and no damper that act")
        elif not terms and len({body for body, _ in points}) < 2:
            report.ignored("tendon", label, "only straight lines between sites and sums of coordinates are known")
        else:
            low, high = (float(x) for x in compiled.tendon_lengthspring[k])
            model.add_force(Tendon(names.unique(label, "tendon"), stiffness, damping, low, high, terms, points))
            report.honoured("tendon", label, "spring and damper on its length")


def tendon_path(
    compiled: CompiledModel, k: int, carriers: Mapping[int, Carrier], places: Mapping[int, Place]
) -> tuple[list[tuple[str, int, int, float]], list[tuple[str, tuple[float, ...]]]]:
    """The terms of a fixed tendon, or the points of a spatial one; nothing where it wraps, branches or runs over pulleys."""
    kinds = compiled.enumeration("mjtWrap")
    wraps = range(compiled.tendon_adr[k], compiled.tendon_adr[k] + compiled.tendon_num[k])
    objects = [(int(compiled.wrap_type[w]), int(compiled.wrap_objid[w]), float(compiled.wrap_prm[w])) for w in wraps]
    if all(kind == kinds["joint"] and o in places for kind, o, _ in objects):
        return [(places[o].joint, places[o].q, places[o].v, coefficient) for _, o, coefficient in objects], []
    if all(kind == kinds["site"] for kind, _, _ in objects):
        on = [(carriers[compiled.site_bodyid[o]], pose_of(compiled.site_pos[o], compiled.site_quat[o])) for _, o, _ in objects]
        return [], [(carrier.body, tuple(add(carrier.at.position, carrier.at.rotation @ at.position))) for carrier, at in on]
    return [], []
