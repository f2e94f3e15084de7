"""What an MJCF model has besides bodies and joints: shapes are stored for viewing, the rest is named in the report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..model.import_report import ImportReport
from ..model.model import Model
from ..model.pose import Pose
from ..model.visual import Visual
from ..reporting.formats import plural
from .mjcf_bodies import body_label, pose_of
from .mjcf_compile import import_mujoco, is_disabled
from .mjcf_source import Source
from .rigid_groups import Carrier


def add_visuals(model: Model, compiled: Any, carriers: Mapping[int, Carrier], source: Source, report: ImportReport) -> None:
    """Geoms as shapes to draw."""
    kinds = {int(v): k.removeprefix("mjGEOM_").lower() for k, v in import_mujoco().mjtGeom.__members__.items()}
    touching = 0
    for g in range(compiled.ngeom):
        on, kind = carriers[int(compiled.geom_bodyid[g])], kinds[int(compiled.geom_type[g])]
        at = on.at @ pose_of(compiled.geom_pos[g], compiled.geom_quat[g])
        role = "collision" if compiled.geom_contype[g] or compiled.geom_conaffinity[g] else "visual"
        touching += role == "collision"
        record: dict[str, Any] = {"sizes": _sizes(kind, compiled.geom_size[g].tolist())}
        if kind in ("mesh", "sdf") and compiled.geom_dataid[g] >= 0:
            mesh = int(compiled.geom_dataid[g])
            at = at @ pose_of(compiled.mesh_pos[mesh], compiled.mesh_quat[mesh]).inverse()  # back to the axes of the file
            record = _mesh(compiled, mesh, source)
        colour = tuple(float(x) for x in _colour(compiled, g))
        link = body_label(compiled, int(compiled.geom_bodyid[g])) if compiled.geom_bodyid[g] else ""
        name = compiled.geom(g).name
        model.visuals.append(Visual(on.body, kind, at, colour=colour, role=role, name=name, link=link, **record))  # type: ignore[arg-type]
    if compiled.ngeom:
        report.kept(f"geoms ({compiled.ngeom})", str(source.path), "for viewing")
    if touching or compiled.npair:
        report.ignored(f"contacts of {plural(touching, 'geom')}", str(source.path), "bodies pass through each other")


def _sizes(kind: str, size: list[float]) -> tuple[float, ...]:
    """MuJoCo has half lengths, we have whole ones. A plane of size zero is infinite."""
    if kind in ("cylinder", "capsule"):
        return size[0], 2 * size[1]
    if kind in ("box", "plane"):
        return tuple(2 * x for x in size[: 3 if kind == "box" else 2])
    return (size[0],) if kind == "sphere" else tuple(size)


def _mesh(compiled: Any, mesh: int, source: Source) -> dict[str, Any]:
    name = compiled.mesh(mesh).name
    uri = source.uris.get(name, "")
    end = compiled.paths.find(b"\0", compiled.mesh_pathadr[mesh]) if compiled.mesh_pathadr[mesh] >= 0 else -1
    path = compiled.paths[compiled.mesh_pathadr[mesh] : end].decode(errors="replace") if end >= 0 else ""
    found = Path(path) if path and name not in source.missing else None
    return {"uri": uri, "path": found, "scale": tuple(float(x) for x in compiled.mesh_scale[mesh])}


def _colour(compiled: Any, g: int) -> Any:
    material = int(compiled.geom_matid[g])
    return compiled.mat_rgba[material] if material >= 0 else compiled.geom_rgba[g]


def report_options(compiled: Any, source: Source, report: ImportReport) -> None:
    """Options that affect the motion and have no counterpart here."""
    option, where = compiled.opt, f"option of {source.path}"
    if option.density or option.viscosity:
        report.ignored("fluid: density, viscosity, wind", where, "bodies move in a vacuum; add drag forces")
    if is_disabled(compiled, "GRAVITY"):
        report.honoured("gravity switched off", where)
    else:
        report.honoured("gravity", where)
    for element in source.options:
        for name in element.attributes:
            if name not in ("gravity", "density", "viscosity", "wind"):
                report.ignored(f"option {name}", element.where, "an argument of simulate")


def report_others(compiled: Any, source: Source, report: ImportReport) -> None:
    """Everything that is neither a body, a joint, a shape nor an equality."""
    for i in range(1, compiled.nbody):
        label = f"body {body_label(compiled, i)!r}"
        if compiled.body_gravcomp[i]:
            report.ignored("gravcomp", label, "gravity acts in full")
        if compiled.body_mocapid[i] >= 0:
            report.ignored("mocap", label, "it is fixed")
    others = (
        ("actuator", "nactuator" if hasattr(compiled, "nactuator") else "nu", "drive the joints through tau"),
        ("sensor", "nsensor", "compute it from the result"),
        ("light", "nlight", "appearance only"),
        ("flex", "nflex", "its bodies are read, its elasticity is not"),
        ("plugin", "nplugin", ""),
        ("exclude", "nexclude", "there are no contacts"),
        ("pair", "npair", "there are no contacts"),
        ("custom numeric", "nnumeric", ""),
        ("custom text", "ntext", ""),
        ("tuple", "ntuple", ""),
    )
    for what, count, note in others:
        kind = what.removeprefix("custom ")
        for k in range(int(getattr(compiled, count, 0))):
            name = getattr(compiled, kind)(k).name if hasattr(compiled, kind) and kind != "flex" else ""
            report.ignored(what, f"{what} {name or k!r}", note)


def free_pose(compiled: Any, body: int) -> list[float]:
    """Position and quaternion of a body in the world at the initial position, for a body of the world."""
    at = Pose(compiled.body_pos[body].tolist(), compiled.body_quat[body].tolist())
    return [*at.position, *(float(x) for x in compiled.body_quat[body])]
