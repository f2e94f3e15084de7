"""MuJoCo's own compiler: resolves defaults, angles, frames and inertia from shapes. It runs in a process of its own.

A mesh is read only where mass comes from it, or where it gives a shape its size. Any other is replaced by a tetrahedron: it has
no effect on the motion, so that its faults have none either.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from ..errors import FormatError, ModelError
from ..types import FloatArray
from .mjcf_record import MISSING

TETRAHEDRON = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
UNCHANGED = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
"""Placement of a mesh: scale, and position and quaternion of the frame it is meant in."""
READ = {
    "body": "gravcomp inertia ipos iquat jntadr jntnum mass mocapid parentid pos quat",
    "jnt": "actfrclimited actfrcrange axis dofadr limited pos qposadr range springyield stiffness stiffnesspoly type",
    "dof": "armature damping dampingpoly frictionloss",
    "geom": "bodyid conaffinity contype dataid group matid pos quat rgba size type",
    "mesh": "pos quat",
    "hfield": "size",
    "mat": "rgba",
    "site": "bodyid pos quat",
    "cam": "bodyid pos quat",
    "eq": "active0 data obj1id obj2id objtype type",
    "tendon": "actfrclimited adr armature damping dampingpoly frictionloss lengthspring limited num springyield stiffness "
    "stiffnesspoly",
    "wrap": "objid prm type",
    "actuator": "acc0 actadr actearly actlimited actrange armature biasprm biastype ctrladr ctrllimited ctrlnum ctrlrange "
    "damping delay dynprm dyntype forcelimited forcerange gainprm gaintype gear group history lengthrange outnum plugin "
    "trnid trntype",
    "key": "act ctrl qpos",
    "qpos": "spring",
}
"""Fields that are passed on, those that the version of MuJoCo has."""
KINDS = (
    "body", "joint", "geom", "site", "camera", "mesh", "equality", "tendon", "actuator", "sensor", "light", "flex", "plugin",
    "exclude", "pair", "numeric", "text", "tuple", "key",
)  # fmt: skip
"""Objects whose names are passed on."""
SHORT = {"joint": "jnt", "camera": "cam", "equality": "eq"}
LOCATED = {"body": "bodies", "joint": "joints", "geom": "geoms", "site": "sites"}
"""Objects that errors have the lines of, and what MjSpec calls the list of them."""
ENUMERATIONS = {
    "mjtGeom": "mjGEOM_", "mjtEq": "mjEQ_", "mjtWrap": "mjWRAP_", "mjtObj": "mjOBJ_", "mjtDisableBit": "mjDSBL_",
    "mjtDyn": "mjDYN_", "mjtGain": "mjGAIN_", "mjtBias": "mjBIAS_", "mjtTrn": "mjTRN_",
}  # fmt: skip


def import_mujoco() -> Any:
    """MuJoCo, imported only when a file needs it: it is optional. The error says how to install it."""
    try:
        import mujoco
    except ImportError:
        raise ModelError(MISSING) from None
    if not hasattr(mujoco, "MjSpec"):
        raise ModelError(f'reading MJCF needs MuJoCo 3.2 or later, this is {mujoco.__version__}: pip install -U "sharnir[mjcf]"')
    return mujoco


@contextmanager
def quiet() -> Iterator[list[str]]:
    """Collects the warnings that MuJoCo would write to the terminal and to MUJOCO_LOG.TXT."""
    mujoco = import_mujoco()
    messages: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(messages.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield messages
        messages += [str(warning.message) for warning in caught]
    finally:
        mujoco.set_mju_user_warning(before)


def compiled(job: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Facts and arrays of a `CompiledModel`. `job`: the text, texts of submodels, {file in the text: its path, or None and why}.

    FormatError is raised with MuJoCo's words, and lines of the text.
    """
    try:
        return _compiled(job, fitted=True)
    except FormatError as first:
        try:
            facts, arrays = _compiled(job, fitted=False)  # is the mesh at fault that a shape is fitted to?
        except FormatError:
            raise first from None
        facts["unfitted"] = str(first)
        return facts, arrays


def _compiled(job: Mapping[str, Any], fitted: bool) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    mujoco = import_mujoco()
    heavy: dict[str, str] = {}
    with quiet() as messages:
        try:
            more = {"include": {k: v.encode() for k, v in job["submodels"].items()}} if job["submodels"] else {}
            spec = mujoco.MjSpec.from_string(job["text"], **more)
            heavy = _weighing(mujoco, spec, job["floating"])
            meshes = _meshes(mujoco, spec, job["files"], heavy, fitted)
            model = spec.compile()
        except (FormatError, MemoryError):
            raise
        except (ValueError, TypeError, RuntimeError, mujoco.FatalError) as error:
            blamed = next((f"; body {body!r} takes its mass from it" for m, body in heavy.items() if f"'{m}'" in str(error)), "")
            raise FormatError(f"MuJoCo refuses this model: {error}{blamed}") from None
    facts = _facts(mujoco, spec, model)
    of_name = {mesh.name: mesh for mesh in meshes}
    facts["messages"] = list(dict.fromkeys(" ".join(words.split()) for words in messages))
    facts["meshes"] = [of_name[name].file if name in of_name else "" for name in facts["names"]["mesh"]]
    changes = [of_name[name].change if name in of_name else UNCHANGED for name in facts["names"]["mesh"]]
    return facts, _arrays(model) | {"mesh_change": np.array(changes, dtype=float).reshape(-1, len(UNCHANGED))}


# --- meshes -------------------------------------------------------------------------------------------------------------
class _Mesh:
    """Name, file and placement of a mesh, before a tetrahedron takes its place."""

    def __init__(self, mesh: Any) -> None:
        self.name, self.file = str(mesh.name), str(mesh.file)
        self.change = [float(x) for x in (*mesh.scale, *mesh.refpos, *mesh.refquat)]


def _meshes(
    mujoco: Any, spec: Any, files: Mapping[str, tuple[str | None, str]], heavy: Mapping[str, str], fitted: bool
) -> list[_Mesh]:
    """Decide which meshes are read; the rest are tetrahedra from here on."""
    if not spec.meshes:
        return []
    sized = _fitted(mujoco, spec) if fitted else set()
    out = []
    for mesh in spec.meshes:
        said = _Mesh(mesh)
        out.append(said)
        path, fault = files.get(said.file, (None, ""))
        if fault and said.name in heavy:
            words = f"body {heavy[said.name]!r} takes its mass from the mesh {said.name!r}, but {fault}"
            raise FormatError(f"{words}; put it there, or give the body an <inertial> (line {_line(mesh)})")
        if said.name in heavy or (said.name in sized and not fault):
            mesh.file = path or ""
        else:
            _replace(mesh)
    plain = {mesh.name for mesh in spec.meshes if not mesh.plugin.active}
    for geom in spec.geoms:
        if geom.type == mujoco.mjtGeom.mjGEOM_SDF and geom.meshname in plain:
            geom.type, geom.plugin.active = mujoco.mjtGeom.mjGEOM_MESH, False
    return out


def _replace(mesh: Any) -> None:
    mesh.file, mesh.content_type, mesh.plugin.active = "", "", False
    mesh.uservert, mesh.scale = TETRAHEDRON, (1.0, 1.0, 1.0)
    for field in ("userface", "userfacenormal", "userfacetexcoord", "usernormal", "usertexcoord"):
        if hasattr(mesh, field):
            setattr(mesh, field, [])
    mesh.maxhullvert = -1


def _weighing(mujoco: Any, spec: Any, floating: bool) -> dict[str, str]:
    """Mesh -> a body that takes its mass from it, and can move. `floating`: bodies without joints may move too."""
    kinds = mujoco.mjtInertiaFromGeom
    all_count = floating or spec.compiler.settotalmass > 0.0
    found: dict[str, str] = {}
    for geom in spec.geoms if spec.meshes else ():
        body, options = geom.parent, getattr(geom, "compiler", spec.compiler)  # a model inside has options of its own
        if not geom.meshname or body.name == "world" or geom.meshname in found:
            continue
        low, high = options.inertiagrouprange
        always = options.inertiafromgeom == kinds.mjINERTIAFROMGEOM_TRUE
        never = options.inertiafromgeom == kinds.mjINERTIAFROMGEOM_FALSE
        weighs = geom.mass > 0.0 if geom.mass == geom.mass else geom.density > 0.0  # nan: the density counts
        counts = weighs and low <= geom.group <= high and not never and (always or not body.explicitinertial)
        if counts and (all_count or _moves(body)):
            found[geom.meshname] = body.name
    return found


def _moves(body: Any) -> bool:
    while body.name != "world":
        if body.joints:
            return True
        body = body.parent
    return False


def _fitted(mujoco: Any, spec: Any) -> set[str]:
    """Meshes that give boxes, capsules … their size."""
    own = (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_SDF)
    return {geom.meshname for geom in spec.geoms if geom.meshname and geom.type not in own}


# --- the compiled model as plain data ---------------------------------------------------------------------------------------
def _facts(mujoco: Any, spec: Any, model: Any) -> dict[str, Any]:
    text = model.names
    names = {}
    for kind in KINDS:
        places = getattr(model, f"name_{SHORT.get(kind, kind)}adr", ())
        names[kind] = [text[a : text.index(b"\0", a)].decode(errors="replace") for a in places]
    lines = {kind: _lines(getattr(spec, several), len(names[kind])) for kind, several in LOCATED.items()}
    enumerations = {
        name: {k.removeprefix(prefix).lower(): int(v) for k, v in getattr(mujoco, name).__members__.items()}
        for name, prefix in ENUMERATIONS.items()
    }
    own = text[: text.index(b"\0")].decode(errors="replace")
    return {"name": own, "names": names, "lines": lines, "enumerations": enumerations}


def _lines(objects: Any, count: int) -> list[int]:
    """The line that defines each object."""
    found = [0] * count
    for one in objects:
        if 0 <= one.id < count:
            found[one.id] = _line(one)
    return found


def _line(one: Any) -> int:
    """MuJoCo has it as words: "line 12"."""
    word = str(one.info).rpartition("line ")[2]
    return int(word) if word.isdecimal() else 0


def _arrays(model: Any) -> dict[str, FloatArray]:
    option = model.opt
    out = {
        "opt_gravity": np.array(option.gravity),
        "opt_fluid": np.array([option.density, option.viscosity]),
        "opt_disableflags": np.array([option.disableflags]),
        "opt_disableactuator": np.array([option.disableactuator]),
    }
    return out | {field: getattr(model, field) for field in _fields()}


@cache
def _fields() -> list[str]:
    wanted = ["qpos0", *(f"{kind}_{name}" for kind, names in READ.items() for name in names.split())]
    return [field for field in wanted if hasattr(import_mujoco().MjModel, field)]
