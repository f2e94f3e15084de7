"""An MJCF file on its way into a model: what its readers share; the source compiled; bodies and frames; shapes, which are stored
for viewing; a report of the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..errors import FormatError
from ..model.body import GROUND
from ..model.import_report import ImportReport
from ..model.model import Model
from ..model.pose import Pose
from ..model.visual import Visual
from ..reporting.formats import plural
from ..types import FloatArray
from .mjcf_process import COMPILER, CompiledModel
from .mjcf_source import Source
from .rigid_groups import Carrier, Mass, RigidGroups
from .xml import LARGEST, located


class ModelCoordinate(NamedTuple):
    """A joint of the model, and which of its coordinates and speeds a joint of the file became."""

    joint: str
    q: int
    v: int


@dataclass
class MjcfImport:
    model: Model
    compiled: CompiledModel
    source: Source
    report: ImportReport
    passive: bool
    acts: bool
    """Whether limits, friction and contacts act."""
    carriers: Mapping[int, Carrier] = field(default_factory=dict)
    """Bodies of the file, by number."""
    coordinates: dict[int, ModelCoordinate] = field(default_factory=dict)
    """Which coordinate of the model each hinge or slide of the file became, by number; none where an equality holds it."""

    def located(self, kind: str, i: int) -> AbstractContextManager[None]:
        """A ModelError raised inside gets the file, line and name of the object that is being read."""
        compiled = self.compiled
        return located(lambda words: self.source.error(words, compiled.line_of(kind, i), compiled.label(kind, i)))

    def site(self, k: int) -> Carrier:
        """The body that a site is on, and its pose there."""
        on = self.carriers[int(self.compiled.site_bodyid[k])]
        return Carrier(on.body, on.at @ pose_of(self.compiled.site_pos[k], self.compiled.site_quat[k]))


class Names:
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


# --- a source compiled by MuJoCo, what it said on the way, and the numbers that no mechanism has refused with their place
NUMBERS = {
    "body": ("body_mass", "body_inertia", "body_pos", "body_quat", "body_ipos", "body_iquat"),
    "joint": ("jnt_pos", "jnt_axis", "jnt_stiffness"),
    "geom": ("geom_pos", "geom_quat", "geom_size"),
    "site": ("site_pos", "site_quat"),
}
"""The fields that are read, by the object they belong to."""


def compile_source(source: Source, report: ImportReport, floating: bool) -> CompiledModel:
    """The compiled model of a source; errors and warnings of MuJoCo with the file and line they refer to."""
    try:
        compiled = COMPILER.compile(source.job(floating), source.size)
    except FormatError as error:
        raise source.error(str(error)) from None
    for message in compiled.facts["messages"]:
        report.kept("warning of MuJoCo", str(source.path), message, warning=True)
    for asset in source.assets.values():
        if asset.fault:
            what = "missing file" if asset.fault.startswith("there is no file") else "file that is not read"
            report.ignored(what, asset.label, f"{asset.fault}; no mass comes from it")
    if "unfitted" in compiled.facts:
        said = str(source.error(compiled.facts["unfitted"]))
        report.ignored("mesh that a shape is fitted to", str(source.path), f"its size is not known; {said}")
    # numbers may be finite in the file and overflow in what follows from them
    for kind, fields in NUMBERS.items():
        for name in fields:
            rows = np.asarray(getattr(compiled, name), dtype=float)
            fine = np.abs(rows) < LARGEST  # nan is not
            if not fine.all():
                k = int(np.argwhere(~fine)[0, 0])
                what = f"its {name.split('_')[1]} is not finite, or too large for SI"
                raise source.error(what, compiled.line_of(kind, k), compiled.label(kind, k))
    return compiled


# --- bodies; those without joints are merged into their carriers
def add_bodies(on: MjcfImport, is_moving: Callable[[int], bool]) -> Mapping[int, Carrier]:
    """Add the moving bodies with all that is welded to them, frames of welded bodies, sites and cameras. Returns the carrier of
    every body of the file, by number."""
    c, names, frames = on.compiled, Names(GROUND), Names()
    groups, welded = RigidGroups[int](), list[tuple[str, Carrier]]()
    groups.fix_to_ground(0)
    for i in range(1, c.count("body")):
        label = c.name_or_number("body", i)
        if is_moving(i):
            groups.start(i, names.unique(label, "body"))
            on.report.honoured("body", f"body {label!r}")
        else:
            carrier = groups.attach(i, int(c.body_parentid[i]), pose_of(c.body_pos[i], c.body_quat[i]))
            welded.append((frames.unique(label, "body"), carrier))
            on.report.honoured("body without joints", f"body {label!r}", f"part of {carrier.body!r}; its place is a frame")
        own = Mass(float(c.body_mass[i]), np.zeros(3), np.diag(c.body_inertia[i]))
        groups.add_mass(i, own.moved(pose_of(c.body_ipos[i], c.body_iquat[i])))
    groups.add_bodies(on.model, partial(on.located, "body"), check_inertia=True)
    for name, carrier in welded:
        on.model.add_frame(name, carrier.body, carrier.at)
    for kind, short in (("site", "site"), ("camera", "cam")):
        bodies, positions, turns = (getattr(c, f"{short}_{what}") for what in ("bodyid", "pos", "quat"))
        for k in range(c.count(kind)):
            carrier, label = groups.carriers[int(bodies[k])], c.name_or_number(kind, k)
            on.model.add_frame(frames.unique(label, kind), carrier.body, carrier.at @ pose_of(positions[k], turns[k]))
            on.report.kept(kind, f"{kind} {label!r}", "as a frame")
    return groups.carriers


# --- shapes, and what is left out
OTHERS = {
    "sensor": "compute it from the result", "light": "appearance only",
    "flex": "its bodies are read, its elasticity is not", "plugin": "", "exclude": "no contacts act",
    "pair": "no contacts act", "custom numeric": "", "custom text": "", "tuple": "",
}  # fmt: skip
"""Objects that are left out, and why."""
SEEN = ("sensor", "light")
"""Those of them that could not change a motion."""
HIDDEN = 3
"""Groups of geoms from here on are not shown by MuJoCo's viewer unless asked for: by custom, shapes for contact only."""


def add_visuals(into: MjcfImport) -> None:
    """Geoms as shapes to draw."""
    compiled, source, report = into.compiled, into.source, into.report
    ngeom, touching = compiled.count("geom"), 0
    for g in range(ngeom):
        on, kind = into.carriers[int(compiled.geom_bodyid[g])], compiled.word("mjtGeom", compiled.geom_type[g])
        at = on.at @ pose_of(compiled.geom_pos[g], compiled.geom_quat[g])
        touches = bool(compiled.geom_contype[g] or compiled.geom_conaffinity[g])
        hidden = compiled.geom_group[g] >= HIDDEN
        role = ("collision" if touches else "hidden") if hidden else "both" if touches else "visual"
        touching += touches
        record: dict[str, Any] = {"sizes": _sizes(kind, compiled.geom_size[g].tolist())}
        if kind == "hfield":
            record["sizes"] = tuple(compiled.hfield_size[compiled.geom_dataid[g]].tolist())
        if kind in ("mesh", "sdf") and compiled.geom_dataid[g] >= 0:
            mesh = int(compiled.geom_dataid[g])
            at = at @ pose_of(compiled.mesh_pos[mesh], compiled.mesh_quat[mesh]).inverse()  # back to the axes of the file
            asset = source.assets.get(compiled.facts["meshes"][mesh])
            uri, path = (asset.uri, asset.path) if asset is not None else ("", None)
            within, scale = _mesh_place(compiled.mesh_change[mesh])
            if within is None:
                name = f"mesh {compiled.name_of('mesh', mesh)!r}"
                report.approximated("mesh", name, "a turned mesh of unequal scales: for viewing")
            at, record = at @ (within or Pose()), {"uri": uri, "path": path, "scale": scale}
        material = int(compiled.geom_matid[g])
        rgba = compiled.mat_rgba[material] if material >= 0 else compiled.geom_rgba[g]
        colour = tuple(min(max(float(x), 0.0), 1.0) for x in rgba)
        link = compiled.name_or_number("body", int(compiled.geom_bodyid[g])) if compiled.geom_bodyid[g] else ""
        name = compiled.name_of("geom", g)
        into.model.visuals.append(Visual(on.body, kind, at, colour=colour, role=role, name=name, link=link, **record))  # type: ignore[arg-type]
    if ngeom:
        report.kept(f"geoms ({ngeom})", str(source.path), "for viewing, those that touch also for sharnir.add_ground")
    if not into.acts and (touching or compiled.count("pair")):
        note = 'they act with sharnir.load(…, acting="all"); sharnir.add_ground puts bodies on a floor'
        report.ignored(f"contacts of {plural(touching, 'geom')}", str(source.path), note)


def _mesh_place(change: FloatArray) -> tuple[Pose | None, tuple[float, ...]]:
    """Where a mesh of a file is, and its scale: MuJoCo subtracts `refpos`, turns back by `refquat`, then scales. None where it
    turns and scales unequally, which is no pose."""
    scale, turn = change[:3], Pose((0.0, 0.0, 0.0), change[6:].tolist()).inverse()
    place = scale * np.array(turn @ (-change[3:6]).tolist())
    if turn.is_identity or np.ptp(scale) == 0.0:
        return Pose(place.tolist(), turn.rotation), tuple(scale.tolist())
    return None, tuple(scale.tolist())


def _sizes(kind: str, size: list[float]) -> tuple[float, ...]:
    """MuJoCo has half lengths, we have whole ones. A plane of size zero is infinite."""
    if kind in ("cylinder", "capsule"):
        return size[0], 2 * size[1]
    if kind in ("box", "plane"):
        return tuple(2 * x for x in size[: 3 if kind == "box" else 2])
    return (size[0],) if kind == "sphere" else tuple(size)


def report_rest(into: MjcfImport) -> None:
    """Options that affect the motion and have no counterpart here; all that is no body, joint, shape, force or equality."""
    compiled, source, report = into.compiled, into.source, into.report
    where = f"option of {source.path}"
    if compiled.opt_fluid.any():
        note = "bodies move in a vacuum; add sharnir.Drag"
        report.ignored("fluid: density, viscosity, wind, fluidshape", where, note, warning=True)
    report.honoured("gravity switched off" if compiled.is_disabled("gravity") else "gravity", where)
    for element in source.options:
        for name in element.attributes:
            if name not in ("gravity", "density", "viscosity", "wind"):
                report.ignored(f"option {name}", element.where, "an argument of simulate")

    for i in range(1, compiled.count("body")):
        label = f"body {compiled.name_or_number('body', i)!r}"
        if compiled.body_gravcomp[i]:
            report.ignored("gravcomp", label, "gravity acts in full")
        if compiled.body_mocapid[i] >= 0:
            report.ignored("mocap", label, "it is fixed")
    for what, note in OTHERS.items():
        kind = what.removeprefix("custom ")
        for k in range(compiled.count(kind)):
            label = f"{what} {compiled.name_of(kind, k) or k!r}"
            if into.acts and what in ("exclude", "pair"):
                report.honoured(what, label)
            else:
                report.ignored(what, label, note, motion=what not in SEEN)
