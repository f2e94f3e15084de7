"""Equalities of a compiled MJCF model: couplings of joints, and joints that close loops; exact here, soft in MuJoCo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..model.import_report import ImportReport
from ..model.joints import Ball, Weld
from ..model.model import Model
from ..model.pose import Pose
from .mjcf_bodies import Names, pose_of, site_carrier
from .mjcf_joints import HINGE, SLIDE
from .mjcf_record import CompiledModel
from .rigid_groups import Carrier


@dataclass
class Couplings:
    """Equalities between joints of the file, by number."""

    follows: dict[int, tuple[int, float, float]] = field(default_factory=dict)
    """follower -> leader, ratio, offset."""
    held: dict[int, float] = field(default_factory=dict)
    """Joint -> the value that an equality holds it at."""

    @property
    def separate(self) -> set[int]:
        """Joints that must be joints of their own in the model, since parts of a compound cannot be coupled."""
        return {*self.follows, *(leader for leader, _, _ in self.follows.values())}

    def leads(self, j: int, of: int) -> bool:
        """Whether joint `of` follows j, directly or through others."""
        while of in self.follows:
            of = self.follows[of][0]
            if of == j:
                return True
        return False


def _active(compiled: CompiledModel, report: ImportReport, kinds: tuple[str, ...]) -> list[tuple[int, str, str]]:
    """(number, kind, label) of the active equalities of the given kinds."""
    types = {number: kind for kind, number in compiled.enumeration("mjtEq").items()}
    off = compiled.is_disabled("equality") or compiled.is_disabled("constraint")
    out = []
    for e in range(compiled.count("equality")):
        kind = types.get(int(compiled.eq_type[e]), "unknown")
        label = compiled.label("equality", e)
        if kind not in kinds:
            continue
        if off or not compiled.eq_active0[e]:
            report.ignored(f"{kind} equality", label, "it is switched off in the file")
        else:
            out.append((e, kind, label))
    return out


def read_couplings(compiled: CompiledModel, report: ImportReport) -> Couplings:
    """Joint equalities: y − y₀ = a₀ + a₁(x − x₀) + … with a₂ = a₃ = a₄ = 0."""
    found = Couplings()
    for e, _, label in _active(compiled, report, ("joint",)):
        y, x = int(compiled.eq_obj1id[e]), int(compiled.eq_obj2id[e])
        a = [float(c) for c in compiled.eq_data[e, :5]]
        if any(compiled.jnt_type[j] not in (SLIDE, HINGE) for j in (x, y) if j >= 0):
            report.ignored("joint equality", label, "only hinges and slides can be coupled")
            continue
        if x >= 0 and any(a[2:]):
            report.ignored("joint equality", label, "its polynomial is not linear")
            continue
        y0 = float(compiled.qpos0[compiled.jnt_qposadr[y]])
        if y in found.follows or y in found.held or (x >= 0 and (x == y or found.leads(y, x))):
            report.ignored("joint equality", label, "its first joint is bound by another equality already")
        elif x < 0 or a[1] == 0.0:
            found.held[y] = y0 + a[0]
            report.honoured("joint equality", label, "the joint is locked, exactly")
        else:
            found.follows[y] = (x, a[1], y0 + a[0] - a[1] * float(compiled.qpos0[compiled.jnt_qposadr[x]]))
            report.honoured("joint equality", label, "a coupling: the follower has no coordinate of its own")
    return found


def add_loops(model: Model, compiled: CompiledModel, carriers: Mapping[int, Carrier], names: Names, report: ImportReport) -> None:
    """Connect and weld equalities as cut joints; all other kinds are reported as ignored."""
    for e, kind, label in _active(compiled, report, ("connect", "weld")):
        first, second = _ends(compiled, e, kind, carriers)
        if first.body == second.body:
            report.ignored(f"{kind} equality", label, f"both ends are on {first.body!r}")
            continue
        name = names.unique(compiled.name_of("equality", e) or f"{kind} {first.body} {second.body}", "equality")
        joint = Weld() if kind == "weld" else Ball()
        model.add_joint(name, joint, first.body, second.body, at=first.at, child_at=second.at, cut=True)
        report.honoured(f"{kind} equality", label, f"the joint {name!r} closes a loop, exactly where MuJoCo's is soft")
    for _, kind, label in _active(compiled, report, ("tendon", "flex", "flexvert", "flexstrain", "distance", "unknown")):
        report.ignored(f"{kind} equality", label)


def _ends(compiled: CompiledModel, e: int, kind: str, carriers: Mapping[int, Carrier]) -> tuple[Carrier, Carrier]:
    """The two frames (for connect: points) that an equality makes coincide."""
    one, two, data = int(compiled.eq_obj1id[e]), int(compiled.eq_obj2id[e]), compiled.eq_data[e]
    objects = compiled.enumeration("mjtObj")
    objtype = getattr(compiled, "eq_objtype", np.full(compiled.count("equality"), objects["body"]))[e]
    if objtype == objects["site"]:
        return site_carrier(compiled, one, carriers), site_carrier(compiled, two, carriers)
    here, there = carriers[one], carriers[two]
    if kind == "connect":
        points = Pose(data[0:3].tolist()), Pose(data[3:6].tolist())
    else:
        points = pose_of(data[3:6], data[6:10]), Pose(data[0:3].tolist())
    return Carrier(here.body, here.at @ points[0]), Carrier(there.body, there.at @ points[1])
