"""Bodies of a compiled MJCF model: those without joints are merged into what carries them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.body import GROUND
from ..model.import_report import ImportReport
from ..model.model import Model
from ..model.pose import Pose
from .masses import Mass, composed


@dataclass(frozen=True)
class Carrier:
    """The moving body (or the ground) a body of the file is part of, and where on it."""

    body: str
    at: Pose


class Names:
    """Names that do not repeat; what has none in the file gets one."""

    def __init__(self, *taken: str) -> None:
        self.taken = set(taken)

    def unique(self, name: str, kind: str) -> str:
        wished, k = name, 1
        while name in self.taken:
            name = f"{wished} ({kind})" if k == 1 else f"{wished} ({kind} {k})"
            k += 1
        self.taken.add(name)
        return name


def pose_of(position: Any, quaternion: Any) -> Pose:
    return Pose([float(x) for x in position], [float(x) for x in quaternion])


def body_label(compiled: Any, i: int) -> str:
    return compiled.body(i).name or f"body{i}"


def add_bodies(model: Model, compiled: Any, is_moving: Callable[[int], bool], report: ImportReport) -> list[Carrier]:
    """Add the moving bodies with all that is welded to them; where each body of the file went."""
    names, frames = Names(GROUND), list[tuple[str, int]]()
    carriers = [Carrier(GROUND, Pose())]
    parts: dict[str, list[Mass]] = {}
    for i in range(1, compiled.nbody):
        label = body_label(compiled, i)
        if is_moving(i):
            carriers.append(Carrier(names.unique(label, "body"), Pose()))
            parts[carriers[i].body] = []
            report.honoured("body", f"body {label!r}")
        else:
            above = carriers[compiled.body_parentid[i]]
            carriers.append(Carrier(above.body, above.at @ pose_of(compiled.body_pos[i], compiled.body_quat[i])))
            frames.append((label, i))
            report.honoured("body without joints", f"body {label!r}", f"part of {above.body!r}; its place is a frame")
        if carriers[i].body != GROUND:
            parts[carriers[i].body].append(_mass(compiled, i).moved(carriers[i].at))
    for name, masses in parts.items():
        whole = composed(masses)
        model.add_body(name, whole.mass, whole.com.tolist(), whole.inertia)
    _add_frames(model, compiled, frames, carriers, report)
    return carriers


def _mass(compiled: Any, i: int) -> Mass:
    own = Mass(float(compiled.body_mass[i]), np.zeros(3), np.diag(compiled.body_inertia[i]))
    return own.moved(pose_of(compiled.body_ipos[i], compiled.body_iquat[i]))


def _add_frames(
    model: Model, compiled: Any, welded: list[tuple[str, int]], carriers: list[Carrier], report: ImportReport
) -> None:
    """Welded bodies and sites; cameras too, a camera is a place to look from."""
    names = Names()
    for label, i in welded:
        model.add_frame(names.unique(label, "body"), carriers[i].body, carriers[i].at)
    for kind, short, count in (("site", "site", compiled.nsite), ("camera", "cam", compiled.ncam)):
        positions, turns = getattr(compiled, f"{short}_pos"), getattr(compiled, f"{short}_quat")
        for k in range(count):
            on = carriers[getattr(compiled, f"{short}_bodyid")[k]]
            label = getattr(compiled, kind)(k).name or f"{kind}{k}"
            model.add_frame(names.unique(label, kind), on.body, on.at @ pose_of(positions[k], turns[k]))
            report.kept(kind, f"{kind} {label!r}", "as a frame")
