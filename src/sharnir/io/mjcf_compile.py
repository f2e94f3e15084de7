"""The process in which MuJoCo's own compiler resolves defaults, angles, frames and inertia from shapes of files that are not
trusted: bounded in time and memory, and expendable. Run by `mjcf_process.py`.

A mesh is read only where mass comes from it, or where it gives a shape its size. Any other is replaced by a tetrahedron: it has
no effect on the motion, so that its faults have none either.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from ..errors import FormatError, ModelError
from ..types import FloatArray
from .mjcf_process import MISSING, receive, send

try:
    import resource
except ImportError:  # Windows: time is bounded by the parent, memory is not
    resource = None  # type: ignore[assignment]

GROWN = 512 * 2**20
"""Bytes of memory beyond which the process ends after a job: the next one starts afresh."""

TETRAHEDRON = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
UNCHANGED = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
"""Placement of a mesh: scale, and position and quaternion of the frame it is meant in."""
READ = {
    "body": "gravcomp inertia ipos iquat jntadr jntnum mass mocapid parentid pos quat",
    "jnt": "actfrclimited actfrcrange axis dofadr limited pos qposadr range springyield stiffness stiffnesspoly type",
    "dof": "armature damping dampingpoly frictionloss",
    "geom": "bodyid conaffinity condim contype dataid friction group matid pos priority quat rgba size type",
    "exclude": "signature",
    "pair": "dim friction geom1 geom2",
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
ENUMERATIONS = ("mjtGeom", "mjtEq", "mjtWrap", "mjtObj", "mjtDisableBit", "mjtDyn", "mjtGain", "mjtBias", "mjtTrn")


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
        return facts | {"unfitted": str(first)}, arrays


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
    placed = [meshes.get(name, ("", UNCHANGED)) for name in facts["names"]["mesh"]]
    facts["messages"] = list(dict.fromkeys(" ".join(words.split()) for words in messages))
    facts["meshes"] = [file for file, _ in placed]
    changes = np.array([change for _, change in placed], dtype=float).reshape(-1, len(UNCHANGED))
    return facts, _arrays(model) | {"mesh_change": changes}


# --- meshes -------------------------------------------------------------------------------------------------------------
def _meshes(
    mujoco: Any, spec: Any, files: Mapping[str, tuple[str | None, str]], heavy: Mapping[str, str], fitted: bool
) -> dict[str, tuple[str, tuple[float, ...]]]:
    """File and placement of every mesh by its name. Those that need not be read are tetrahedra from here on."""
    own = (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_SDF)  # others take their size from the mesh
    sized = {geom.meshname for geom in spec.geoms if geom.meshname and geom.type not in own} if fitted and spec.meshes else set()
    out = {}
    for mesh in spec.meshes:
        name, file = str(mesh.name), str(mesh.file)
        out[name] = file, tuple(float(x) for x in (*mesh.scale, *mesh.refpos, *mesh.refquat))
        path, fault = files.get(file, (None, ""))
        if fault and name in heavy:
            words = f"body {heavy[name]!r} takes its mass from the mesh {name!r}, but {fault}"
            raise FormatError(f"{words}; put it there, or give the body an <inertial> (line {_line(mesh)})")
        if name in heavy or (name in sized and not fault):
            mesh.file = path or ""
            continue
        mesh.file, mesh.content_type, mesh.plugin.active = "", "", False
        mesh.uservert, mesh.scale, mesh.maxhullvert = TETRAHEDRON, (1.0, 1.0, 1.0), -1
        for field in ("userface", "userfacenormal", "userfacetexcoord", "usernormal", "usertexcoord"):
            if hasattr(mesh, field):
                setattr(mesh, field, [])
    plain = {mesh.name for mesh in spec.meshes if not mesh.plugin.active}
    for geom in spec.geoms if plain else ():
        if geom.type == mujoco.mjtGeom.mjGEOM_SDF and geom.meshname in plain:
            geom.type, geom.plugin.active = mujoco.mjtGeom.mjGEOM_MESH, False
    return out


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


# --- the compiled model as plain data ---------------------------------------------------------------------------------------
def _facts(mujoco: Any, spec: Any, model: Any) -> dict[str, Any]:
    def name_at(place: int) -> str:
        return str(model.names[place : model.names.index(b"\0", place)].decode(errors="replace"))

    names = {kind: list(map(name_at, getattr(model, f"name_{SHORT.get(kind, kind)}adr", ()))) for kind in KINDS}
    lines = {kind: [0] * len(names[kind]) for kind in LOCATED}
    for kind, several in LOCATED.items():
        for one in getattr(spec, several):
            if 0 <= one.id < len(lines[kind]):
                lines[kind][one.id] = _line(one)
    enumerations = {
        name: {k.partition("_")[2].lower(): int(v) for k, v in getattr(mujoco, name).__members__.items()} for name in ENUMERATIONS
    }
    return {"name": name_at(0), "names": names, "lines": lines, "enumerations": enumerations}


def _line(one: Any) -> int:
    """The line that defines an object. MuJoCo has it as words: "line 12"."""
    word = str(one.info).rpartition("line ")[2]
    return int(word) if word.isdecimal() else 0


def _arrays(model: Any) -> dict[str, FloatArray]:
    option = model.opt
    fields = ["qpos0", *(f"{kind}_{name}" for kind, names in READ.items() for name in names.split())]
    return {
        "opt_gravity": np.array(option.gravity),
        "opt_fluid": np.array([option.density, option.viscosity]),
        "opt_disableflags": np.array([option.disableflags]),
        "opt_disableactuator": np.array([option.disableactuator]),
        **{field: getattr(model, field) for field in fields if hasattr(type(model), field)},
    }


# --- the process ---------------------------------------------------------------------------------------------------------
def main(idle: float) -> None:
    """Serve jobs from standard input, until that is closed or none comes for `idle` seconds."""
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)  # whatever MuJoCo and its plugins print
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    if resource is not None:
        _lower(resource.RLIMIT_CORE, 0)
    try:
        import_mujoco()
    except ModelError as error:
        send(answers, {"missing": str(error)})
        return
    send(answers, {"ready": True})
    with suppress(EOFError, BrokenPipeError):
        while sys.platform == "win32" or select.select([jobs], [], [], idle)[0]:  # on Windows it knows no pipes
            if _answer(receive(jobs)[0], answers):
                break


def _answer(job: dict[str, Any], answers: Any) -> bool:
    """Whether this was the last job: a process that has grown is replaced."""
    if resource is not None:  # the parent's clock ends a job that takes too long; this one counts where the parent is gone
        used = resource.getrusage(resource.RUSAGE_SELF)
        _lower(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + job["seconds"] * (os.cpu_count() or 1)) + 1)
        if memory := _memory():
            _lower(resource.RLIMIT_AS, memory + int(job["bytes"]))
    try:
        facts, arrays = compiled(job)
    except FormatError as error:
        facts, arrays = {"refused": str(error)}, {}
    except MemoryError:
        facts, arrays = {"memory": True}, {}
    last = _memory(resident=True) > GROWN
    send(answers, {**facts, "last": True} if last else facts, arrays)
    return last


def _lower(what: int, limit: int) -> None:
    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _memory(resident: bool = False) -> int:
    """Bytes of address space, or those in use; 0 where the system does not tell (and does not bound them either)."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[resident]) * resource.getpagesize()
    except OSError:
        return 0
