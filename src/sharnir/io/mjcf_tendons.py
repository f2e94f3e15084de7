"""Tendons of a compiled MJCF model: springs and dampers on their length, where it is a sum of joints or of straight lines."""

from __future__ import annotations

from ..model.forces import Tendon
from .mjcf_import import MjcfImport, Names


def add_tendons(on: MjcfImport) -> None:
    """Springs and dampers of tendons as forces."""
    compiled, report = on.compiled, on.report
    names = Names()
    on_tendon = compiled.actuator_trntype == compiled.enumeration("mjtTrn")["tendon"]
    driven = set(compiled.actuator_trnid[on_tendon, 0].tolist())
    stiff, damped = (on.passive and not compiled.is_disabled(what) for what in ("spring", "damper"))
    for k in range(compiled.count("tendon")):
        label = compiled.label("tendon", k)
        stiffness, damping = float(compiled.tendon_stiffness[k]) * stiff, float(compiled.tendon_damping[k]) * damped
        terms, points = tendon_path(on, k)
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
            on.model.add_force(Tendon(names.unique(label, "tendon"), stiffness, damping, low, high, terms, points))
            report.honoured("tendon", label, "spring and damper on its length")


def tendon_path(on: MjcfImport, k: int) -> tuple[list[tuple[str, int, int, float]], list[tuple[str, tuple[float, ...]]]]:
    """The terms of a fixed tendon, or the points of a spatial one; nothing where it wraps, branches or runs over pulleys."""
    compiled, places = on.compiled, on.coordinates
    kinds = compiled.enumeration("mjtWrap")
    wraps = range(compiled.tendon_adr[k], compiled.tendon_adr[k] + compiled.tendon_num[k])
    objects = [(int(compiled.wrap_type[w]), int(compiled.wrap_objid[w]), float(compiled.wrap_prm[w])) for w in wraps]
    if all(kind == kinds["joint"] and o in places for kind, o, _ in objects):
        return [(places[o].joint, places[o].q, places[o].v, coefficient) for _, o, coefficient in objects], []
    if all(kind == kinds["site"] for kind, _, _ in objects):
        sites = [on.site(o) for _, o, _ in objects]
        return [], [(site.body, tuple(site.at.position)) for site in sites]
    return [], []
