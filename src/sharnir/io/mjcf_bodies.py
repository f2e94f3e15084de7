"""Bodies of a compiled MJCF model: those without joints are merged into their carriers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..model.body import GROUND
from ..model.import_report import ImportReport
from ..model.model import Model
from ..model.pose import Pose
from .mjcf_check import located_in
from .mjcf_record import CompiledModel
from .mjcf_source import Source
from .rigid_groups import Carrier, Mass, RigidGroups


class Names:
    """Makes names unique."""

    def __init__(self, *taken: str) -> None:
        self.taken = set(taken)

    def unique(self, name: str, kind: str) -> str:
        wanted, k = name, 1
        while name in self.taken:
            name = f"{wanted} ({kind})" if k == 1 else f"{wanted} ({kind} {k})"
            k += 1
        self.taken.add(name)
        return name


def pose_of(position: Any, quaternion: Any) -> Pose:
    return Pose([float(x) for x in position], [float(x) for x in quaternion])


def site_carrier(compiled: CompiledModel, site: int, carriers: Mapping[int, Carrier]) -> Carrier:
    on = carriers[int(compiled.site_bodyid[site])]
    return Carrier(on.body, on.at @ pose_of(compiled.site_pos[site], compiled.site_quat[site]))


def body_label(compiled: CompiledModel, i: int) -> str:
    return str(compiled.name_of("body", i) or f"body{i}")


def add_bodies(
    model: Model, compiled: CompiledModel, source: Source, is_moving: Callable[[int], bool], report: ImportReport
) -> Mapping[int, Carrier]:
    """Add the moving bodies with all that is welded to them. Returns the carrier of every body of the file, by number."""
    names, frames = Names(GROUND), list[tuple[str, int]]()
    groups = RigidGroups[int]()
    groups.fix_to_ground(0)
    for i in range(1, compiled.count("body")):
        label = body_label(compiled, i)
        if is_moving(i):
            groups.start(i, names.unique(label, "body"))
            report.honoured("body", f"body {label!r}")
        else:
            on = groups.attach(i, int(compiled.body_parentid[i]), pose_of(compiled.body_pos[i], compiled.body_quat[i]))
            frames.append((label, i))
            report.honoured("body without joints", f"body {label!r}", f"part of {on.body!r}; its place is a frame")
        groups.add_mass(i, _mass(compiled, i))
    groups.add_bodies(model, partial(located_in, source, compiled, "body"), check_inertia=True)
    _add_frames(model, compiled, frames, groups.carriers, report)
    return groups.carriers


def _mass(compiled: CompiledModel, i: int) -> Mass:
    own = Mass(float(compiled.body_mass[i]), np.zeros(3), np.diag(compiled.body_inertia[i]))
    return own.moved(pose_of(compiled.body_ipos[i], compiled.body_iquat[i]))


def _add_frames(
    model: Model, compiled: CompiledModel, welded: list[tuple[str, int]], carriers: Mapping[int, Carrier], report: ImportReport
) -> None:
    """Frames of welded bodies, sites and cameras."""
    names = Names()
    for label, i in welded:
        model.add_frame(names.unique(label, "body"), carriers[i].body, carriers[i].at)
    for kind, short in (("site", "site"), ("camera", "cam")):
        positions, turns = getattr(compiled, f"{short}_pos"), getattr(compiled, f"{short}_quat")
        for k in range(compiled.count(kind)):
            on = carriers[int(getattr(compiled, f"{short}_bodyid")[k])]
            label = compiled.name_of(kind, k) or f"{kind}{k}"
            model.add_frame(names.unique(label, kind), on.body, on.at @ pose_of(positions[k], turns[k]))
            report.kept(kind, f"{kind} {label!r}", "as a frame")
