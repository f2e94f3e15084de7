"""Bodies of a compiled MJCF model: those without joints are merged into their carriers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from ..model.body import GROUND
from .mjcf_import import MjcfImport, Names, pose_of
from .mjcf_record import CompiledModel
from .rigid_groups import Carrier, Mass, RigidGroups


def add_bodies(on: MjcfImport, is_moving: Callable[[int], bool]) -> Mapping[int, Carrier]:
    """Add the moving bodies with all that is welded to them. Returns the carrier of every body of the file, by number."""
    compiled = on.compiled
    names, welded = Names(GROUND), list[tuple[str, int]]()
    groups = RigidGroups[int]()
    groups.fix_to_ground(0)
    for i in range(1, compiled.count("body")):
        label = compiled.name_or_number("body", i)
        if is_moving(i):
            groups.start(i, names.unique(label, "body"))
            on.report.honoured("body", f"body {label!r}")
        else:
            carrier = groups.attach(i, int(compiled.body_parentid[i]), pose_of(compiled.body_pos[i], compiled.body_quat[i]))
            welded.append((label, i))
            on.report.honoured("body without joints", f"body {label!r}", f"part of {carrier.body!r}; its place is a frame")
        groups.add_mass(i, _mass(compiled, i))
    groups.add_bodies(on.model, partial(on.located, "body"), check_inertia=True)
    _add_frames(on, welded, groups.carriers)
    return groups.carriers


def _mass(compiled: CompiledModel, i: int) -> Mass:
    own = Mass(float(compiled.body_mass[i]), np.zeros(3), np.diag(compiled.body_inertia[i]))
    return own.moved(pose_of(compiled.body_ipos[i], compiled.body_iquat[i]))


def _add_frames(on: MjcfImport, welded: list[tuple[str, int]], carriers: Mapping[int, Carrier]) -> None:
    """Frames of welded bodies, sites and cameras."""
    compiled, names = on.compiled, Names()
    for label, i in welded:
        on.model.add_frame(names.unique(label, "body"), carriers[i].body, carriers[i].at)
    for kind, short in (("site", "site"), ("camera", "cam")):
        positions, turns = getattr(compiled, f"{short}_pos"), getattr(compiled, f"{short}_quat")
        for k in range(compiled.count(kind)):
            carrier = carriers[int(getattr(compiled, f"{short}_bodyid")[k])]
            label = compiled.name_or_number(kind, k)
            on.model.add_frame(names.unique(label, kind), carrier.body, carrier.at @ pose_of(positions[k], turns[k]))
            on.report.kept(kind, f"{kind} {label!r}", "as a frame")
