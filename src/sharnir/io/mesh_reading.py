"""Meshes of files, read by trimesh: STL, OBJ with MTL, COLLADA, glTF, PLY, OFF. What they refer to is read from their own package
only, nothing comes from the network, and what is wrong with a file is a sentence.

Lengths are metres: COLLADA says its unit, the other formats are taken as they are. The up axis that COLLADA and glTF speak of is
ignored, as RViz, MoveIt and Pinocchio do and as robots are made for (ros-visualization/rviz #1045, moveit/geometric_shapes #52,
gepetto-viewer #95): of the 68 robots of example-robot-data only iCub is made otherwise, and known for it (its issue #105).
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ..model.visual import Visual
from ..types import FloatArray
from .paths import UNUSABLE, confined, package_root

FORMATS = (".stl", ".obj", ".dae", ".gltf", ".glb", ".ply", ".off")
LARGEST = 200_000_000
"""Bytes of a file that is opened at all."""
LARGEST_REFERRED = 50_000_000
"""Bytes of a texture or another file that a mesh refers to."""

Colour = tuple[float, float, float, float]


class MeshFault(Exception):
    """Why a mesh cannot be drawn, as the end of a sentence that begins with its name."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Triangles of one material."""

    vertices: FloatArray
    faces: np.ndarray
    colour: Colour | None = None
    """None where the file has no colours."""
    colours: FloatArray | None = None
    """(V, 3) in place of it."""


def allowed_path(visual: Visual, folders: Iterable[Path] | None) -> Path:
    """The path of the mesh of a visual; MeshFault where there is none, or outside these folders (None: all)."""
    if visual.path is None:
        raise MeshFault("missing (`import_report` says why)" if visual.uri else "without a file")
    try:
        outside = folders is not None and confined(visual.path, [Path(f).resolve() for f in folders]) is None
    except UNUSABLE:
        outside = True
    if outside:
        raise MeshFault("outside the folders of the model (declare them in package_paths)")
    return visual.path


def file_state(path: Path) -> tuple[int, int]:
    """When the file was changed, and its size; MeshFault where it is not read."""
    if path.suffix.lower() not in FORMATS:
        raise MeshFault(f"of a format that is not read ({', '.join(FORMATS)} are)")
    try:
        state = path.stat()
    except UNUSABLE:
        raise MeshFault("missing") from None
    if state.st_size > LARGEST:
        raise MeshFault(f"of {state.st_size / 1e6:.0f} MB, more than the {LARGEST / 1e6:.0f} MB that are read")
    return state.st_mtime_ns, state.st_size


def read_pieces(path: Path) -> tuple[list[Piece], list[str]]:
    """Triangles by material, and what the file refers to that is not there, or not read."""
    kind, files = path.suffix.lower()[1:], _referred_files(path)
    try:
        with _silent():
            data = path.read_bytes()
            scene = _collada(data, files) if kind == "dae" else _scene(data, kind, files)
            pieces = [piece for piece in _placed(scene, kind) if len(piece.faces)]
    except (MeshFault, OSError) as fault:
        raise fault if isinstance(fault, MeshFault) else MeshFault(f"unreadable ({fault.strerror})") from None
    except MemoryError:
        raise MeshFault("too large for the memory") from None
    except Exception as error:  # trimesh and pycollada raise whatever their parsing runs into
        raise MeshFault(f"broken ({type(error).__name__}: {' '.join(str(error).split())[:120]})") from None
    if not pieces:
        raise MeshFault("without a triangle; the file may be cut off")
    return pieces, files.left_out


def _scene(data: bytes, kind: str, files: Any, **options: Any) -> Any:
    import trimesh

    return trimesh.load_scene(BytesIO(data), file_type=kind, resolver=files, process=False, **options)


def _collada(data: bytes, files: Any) -> Any:
    """pycollada leaves out what has a material that refers to something missing: here only the material is left out."""
    import collada

    if b"<!DOCTYPE" in data or b"\0" in data[:1000]:  # which could name any file, or expand to gigabytes
        raise MeshFault("not read: COLLADA is text without a document type")
    try:
        return _scene(data, "dae", files, ignore_broken=False)
    except collada.common.DaeError as error:
        known = {"#" + material.id for material in collada.Collada(BytesIO(data), ignore=[collada.common.DaeError]).materials}
        root = ElementTree.fromstring(data)
        for parent in root.iter():
            for child in list(parent):
                if child.tag.endswith("}instance_material") and child.get("target") not in known:
                    parent.remove(child)
                    files.left_out.append(f"material {child.get('target', '')[1:]} ({error})")
        return _scene(ElementTree.tostring(root), "dae", files)


@contextmanager
def _silent() -> Iterator[None]:
    """trimesh and pycollada report to their logs and by warnings; ours are notes of the scene."""
    logs = [logging.getLogger(name) for name in ("trimesh", "collada", "PIL")]
    before = [log.disabled for log in logs]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for log in logs:
            log.disabled = True
        try:
            yield
        finally:
            for log, was in zip(logs, before, strict=True):
                log.disabled = was


def _referred_files(path: Path) -> Any:
    """Resolver for textures, MTL and buffers: only files of the package that the mesh itself belongs to."""
    from trimesh.resolvers import Resolver

    folder = path.resolve().parent
    roots = [folder, package_root(folder)]

    class Confined(Resolver):
        left_out: list[str]

        def __init__(self) -> None:
            self.left_out = []

        def get(self, name: str) -> bytes:
            try:
                inside = confined(folder / name.removeprefix("file://").removeprefix("./").strip(), roots)
                if inside is None:
                    raise PermissionError("it leads out of the package of the mesh")
                if (size := inside.stat().st_size) > LARGEST_REFERRED:
                    raise PermissionError(f"{size / 1e6:.0f} MB are too many")
                return inside.read_bytes()
            except (*UNUSABLE, AttributeError) as error:
                why = str(error) if isinstance(error, PermissionError) else "missing"
                self.left_out.append(f"{name} ({why})")
                raise FileNotFoundError(name) from None

        def namespaced(self, namespace: str) -> Any:
            return self

        def write(self, name: str, data: Any) -> None:
            raise PermissionError("nothing is written")

        def keys(self) -> list[str]:
            return []

    return Confined()


# --- what trimesh found, in one frame and with colours ------------------------------------------------------------------------
def _placed(scene: Any, kind: str) -> Iterator[Piece]:
    for node in scene.graph.nodes_geometry:
        matrix, name = scene.graph[node]
        mesh = scene.geometry[name]
        if not hasattr(mesh, "faces") or not len(mesh.faces):
            continue  # lines and points
        metres, *units = str(mesh.metadata.get("units", "")).split(" * ")  # trimesh says `0.001 * meters` of COLLADA
        unit = float(metres) if kind == "dae" and len(units) == 1 else 1.0
        faces = np.asarray(mesh.faces)
        colour, colours = _colours(mesh, kind)
        vertices = np.asarray(mesh.vertices, dtype=float)
        if unit != 1.0 or not np.array_equal(matrix, np.eye(4)):
            vertices = unit * (vertices @ matrix[:3, :3].T + matrix[:3, 3])
        if colours is not None and len(colours) == len(faces) != len(vertices):  # of faces: each has its own corners
            vertices, colours = vertices[faces.reshape(-1)], np.repeat(colours, 3, axis=0)
            faces = np.arange(len(vertices)).reshape(-1, 3)
        if faces.min() < 0 or faces.max() >= len(vertices):
            raise ValueError("a triangle names a vertex that is not there")
        finite = np.isfinite(vertices).all(axis=1)
        faces = faces if finite.all() else faces[finite[faces].all(axis=1)]
        if np.linalg.det(matrix[:3, :3]) < 0.0:
            faces = faces[:, ::-1]
        yield Piece(vertices, faces, colour, colours)


def _colours(mesh: Any, kind: str) -> tuple[Colour | None, FloatArray | None]:
    """One colour, or one for each vertex or face (…, 3); neither where the file says nothing."""
    look = mesh.visual
    if look.kind in ("vertex", "face"):
        several = _display(np.asarray(look.vertex_colors if look.kind == "vertex" else look.face_colors) / 255.0, kind)
        same = bool((several == several[0]).all())
        r, g, b, a = several[0].tolist()
        return ((r, g, b, a), None) if same else ((1.0, 1.0, 1.0, float(several[:, 3].mean())), several[:, :3])
    material = getattr(look, "material", None)
    if look.kind != "texture" or material is None:
        return None, None
    image = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
    if image is not None and look.uv is not None and len(look.uv) == len(mesh.vertices):
        return (1.0, 1.0, 1.0, 1.0), np.asarray(look.to_color().vertex_colors)[:, :3] / 255.0
    if image is not None:  # nothing says where it lies
        r, g, b = (np.asarray(image.convert("RGB").resize((1, 1))).reshape(3) / 255.0).tolist()
        return (r, g, b, 1.0), None
    if getattr(material, "baseColorFactor", 0) is None:
        return None, None
    r, g, b, a = _display(np.asarray(material.main_color)[None] / 255.0, kind)[0].tolist()
    return (r, g, b, a if a > 0.0 else 1.0), None  # COLLADA of many programs has opacity and transparency exchanged


def _display(colours: FloatArray, kind: str) -> FloatArray:
    """glTF has linear colours, the others those of the screen."""
    if kind not in ("gltf", "glb"):
        return colours
    rgb = colours[:, :3]
    bent = np.where(rgb <= 0.0031308, 12.92 * rgb, 1.055 * np.power(rgb, 1.0 / 2.4) - 0.055)
    return np.column_stack([bent, colours[:, 3]])
