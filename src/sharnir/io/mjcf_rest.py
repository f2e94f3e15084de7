"""The rest of an MJCF model, besides bodies and joints: shapes are stored for viewing, other things named in the report."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.import_report import ImportReport
from ..model.pose import Pose
from ..model.visual import Visual
from ..reporting.formats import plural
from ..types import FloatArray
from .mjcf_import import MjcfImport, pose_of
from .mjcf_record import CompiledModel
from .mjcf_source import Source

OTHERS = {
    "sensor": "compute it from the result", "light": "appearance only",
    "flex": "its bodies are read, its elasticity is not", "plugin": "", "exclude": "no contacts act by themselves",
    "pair": "no contacts act by themselves", "custom numeric": "", "custom text": "", "tuple": "",
}  # fmt: skip
"""Objects that are left out, and why."""
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
    if touching or compiled.count("pair"):
        note = "they do not act by themselves; sharnir.add_ground puts bodies on a floor"
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


def report_options(compiled: CompiledModel, source: Source, report: ImportReport) -> None:
    """Options that affect the motion and have no counterpart here."""
    where = f"option of {source.path}"
    if compiled.opt_fluid.any():
        report.ignored("fluid: density, viscosity, wind", where, "bodies move in a vacuum; add drag forces")
    report.honoured("gravity switched off" if compiled.is_disabled("gravity") else "gravity", where)
    for element in source.options:
        for name in element.attributes:
            if name not in ("gravity", "density", "viscosity", "wind"):
                report.ignored(f"option {name}", element.where, "an argument of simulate")


def report_others(compiled: CompiledModel, report: ImportReport) -> None:
    """Everything that is neither a body, a joint, a shape nor an equality."""
    for i in range(1, compiled.count("body")):
        label = f"body {compiled.name_or_number('body', i)!r}"
        if compiled.body_gravcomp[i]:
            report.ignored("gravcomp", label, "gravity acts in full")
        if compiled.body_mocapid[i] >= 0:
            report.ignored("mocap", label, "it is fixed")
    for what, note in OTHERS.items():
        kind = what.removeprefix("custom ")
        for k in range(compiled.count(kind)):
            report.ignored(what, f"{what} {compiled.name_of(kind, k) or k!r}", note)
