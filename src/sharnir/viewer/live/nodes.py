"""A scene as nodes of viser, coloured meshes as glTF. Parts of one geometry are one mesh drawn at many places, a batch, moved as
a whole: a chain of a thousand links is one node. It knows no mechanics."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...equations.assembly.exponential import product, rotated
from ...model.quaternions import quaternions_of
from ...types import FloatArray
from ..picture.themes import linear
from ..scene import GROUND, SEEN_THROUGH, THROUGH, Colour, Geometry, Part, Scene, Span, groups

SQUARE = 1e-6
"""Cosine up to which columns of a placement are orthogonal, so that it is rotation and scale; else it is put into the mesh."""


class Poses(NamedTuple):
    """Poses of all bodies: (N, 3, 3), (N, 3), and as quaternions (N, 4)."""

    rotation: FloatArray
    position: FloatArray
    wxyz: FloatArray
    row: int | None = None
    """The time of the scene; None where it is none of them: what is known for its times only is not drawn then."""


class Placements(NamedTuple):
    """Where each instance of a batch is: (K, 3), (K, 4), (K, 3)."""

    position: FloatArray
    wxyz: FloatArray
    scale: FloatArray


@dataclass(frozen=True, eq=False)
class PartBatch:
    """Parts of one layer, geometry and opacity."""

    members: Sequence[Part]
    carrier: np.ndarray
    """(K,): bodies; −1 is the ground."""
    own: Placements
    """In the carriers' axes."""

    def placed(self, poses: Poses) -> Placements:
        Q = np.vstack([poses.wxyz, (1.0, 0.0, 0.0, 0.0)])[self.carrier]  # the last row is the ground: −1
        r = np.vstack([poses.position, np.zeros(3)])[self.carrier]
        return Placements(r + rotated(Q, self.own.position), product(Q, self.own.wxyz), self.own.scale)

    @property
    def layer(self) -> str:
        return self.members[0].layer

    @property
    def moves(self) -> bool:
        return bool((self.carrier != GROUND).any())


@dataclass(frozen=True, eq=False)
class SpanBatch:
    """Spans of one layer, geometry and opacity."""

    members: Sequence[Span]
    moves = True

    def placed(self, poses: Poses) -> Placements:
        R, r, row = poses.rotation[None], poses.position[None], poses.row
        ends = np.zeros((len(self.members), 2, 3))
        for k, span in enumerate(self.members):
            if span.vector is None or row is not None:
                ends[k] = np.concatenate(span.ends(R, r, row))
        way = ends[:, 1] - ends[:, 0]
        length = np.linalg.norm(way, axis=1)
        width = np.array([span.width for span in self.members]) * (length > 0.0)
        return Placements(ends[:, 0], turns_from_z(way, length), np.stack([width, width, length], axis=1))

    @property
    def layer(self) -> str:
        return self.members[0].layer


Batch = PartBatch | SpanBatch


def part_batches(scene: Scene) -> list[PartBatch]:
    out = []
    for members in groups([_rigid(part) for part in scene.parts]):
        at = np.array([part.at for part in members])
        scale = np.linalg.norm(at[:, :3, :3], axis=1)
        turn = at[:, :3, :3] / np.where(scale > 0.0, scale, 1.0)[:, None, :]
        carrier = np.array([part.carrier for part in members])
        out.append(PartBatch(members, carrier, Placements(at[:, :3, 3].copy(), quaternions_of(turn), scale)))
    return out


def span_batches(scene: Scene) -> list[SpanBatch]:
    return [SpanBatch(members) for members in groups(scene.spans)]


def turns_from_z(way: FloatArray, length: FloatArray) -> FloatArray:
    """(K, 4): the least turns that bring z onto each way; none where it has no length."""
    z = np.divide(way[:, 2], length, out=np.ones_like(length), where=length > 0.0)
    half = np.stack([1.0 + z, -way[:, 1], way[:, 0], np.zeros_like(z)], axis=1)
    half[:, 1:3] /= np.where(length > 0.0, length, 1.0)[:, None]
    size = np.linalg.norm(half, axis=1, keepdims=True)
    unit: FloatArray = np.where(size > 1e-9, half / np.maximum(size, 1e-300), (0.0, 1.0, 0.0, 0.0))
    return unit


def _rigid(part: Part) -> Part:
    """The part with a placement that is a rotation, a scale along its axes and a shift."""
    at, g = np.asarray(part.at, dtype=float), part.geometry
    M = at[:3, :3]
    scale = np.linalg.norm(M, axis=0)
    angles = (M.T @ M) / np.maximum(np.outer(scale, scale), 1e-300) - np.diag((scale > 0.0).astype(float))
    mirrored = np.linalg.det(M) < 0.0
    if np.abs(angles).max() <= SQUARE and np.linalg.det(M) > 0.0:
        return replace(part, at=at)
    normals = g.normals @ np.linalg.pinv(M)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    faces = g.faces[:, ::-1] if mirrored else g.faces
    baked = Geometry((g.vertices @ M.T).astype(np.float32), faces, normals.astype(np.float32), g.colours)
    shift = np.eye(4)
    shift[:3, 3] = at[:3, 3]
    return replace(part, geometry=baked, at=shift)


# --- a geometry with colours of its own as binary glTF 2.0: the only meshes of viser that have such colours and instances
FLOAT, UINT = 5126, 5125
ROUGH = 0.6


def glb(g: Geometry) -> bytes:
    """The geometry as a glTF file: matt, seen from both sides."""
    assert g.colours is not None
    arrays: dict[str, tuple[np.ndarray, int, str]] = {
        "POSITION": (np.ascontiguousarray(g.vertices, dtype="<f4"), FLOAT, "VEC3"),
        "NORMAL": (np.ascontiguousarray(g.normals, dtype="<f4"), FLOAT, "VEC3"),
        "COLOR_0": (np.ascontiguousarray(linear(g.colours), dtype="<f4"), FLOAT, "VEC3"),
        "indices": (np.ascontiguousarray(g.faces, dtype="<u4").ravel(), UINT, "SCALAR"),
    }
    views, accessors, binary = list[dict[str, Any]](), list[dict[str, Any]](), b""
    for name, (array, kind, shape) in arrays.items():
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": array.nbytes})
        accessors.append({"bufferView": len(views) - 1, "componentType": kind, "count": len(array), "type": shape})
        if name == "POSITION":
            accessors[-1] |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        binary += array.tobytes()  # every array is a multiple of four bytes
    primitive = {"attributes": {"POSITION": 0, "NORMAL": 1, "COLOR_0": 2}, "indices": 3, "material": 0, "mode": 4}
    material = {"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": ROUGH}, "doubleSided": True}
    document = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [primitive]}], "materials": [material],
        "accessors": accessors, "bufferViews": views, "buffers": [{"byteLength": len(binary)}],
    }  # fmt: skip
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


# --- nodes
LINE = 1.5
"""Width of lines, pixels."""
TINTED = 0.8
"""The share of the tint in the colours of a scene that is one of several."""
LABELS = 200
"""Largest number of labels: more would hide each other."""
Drag = Callable[[str, int, FloatArray, FloatArray], None]
"""(phase "start", "update" or "end", body, point of it in the world, pointer in the world)."""


class SceneNodes:
    """The nodes of one scene, below the node `root`. `pose` moves them, `show` switches a layer."""

    def __init__(self, server: Any, scene: Scene, root: str = "/scene", tint: Colour | None = None) -> None:
        self.server, self.scene, self.root, self.tint = server, scene, root, tint
        self.shown = {layer: layer in scene.shown for layer in scene.layers}
        self.rotation, self.position = scene.rotation[0], scene.position[0]
        self._by_layer: dict[str, list[Any]] = {layer: [] for layer in scene.layers}
        self._solid: list[tuple[Any, float]] = []
        """Nodes of bodies, and their opacities."""
        self._labels: list[tuple[Any, int, FloatArray]] = []
        self._labelled = {"bodies": False, "joints": False}
        self._row: int | None = 0
        poses = Poses(self.rotation, self.position, quaternions_of(self.rotation), 0)
        with server.atomic():
            batches: list[Batch] = [*part_batches(scene), *span_batches(scene)]
            self._batches = [(x, self._node(f"batch{k}", x, x.placed(poses))) for k, x in enumerate(batches)]
            self._lines()
            self._see_through()

    # --- moving ---------------------------------------------------------------------------------------------------------------
    def place(self, t: float, q: FloatArray, rotation: FloatArray, position: FloatArray, row: int | None = None) -> None:
        """Call `pose` with the poses of all carriers of parts, from the poses of the bodies (N, 3, 3), (N, 3)."""
        R, r = self.scene.carriers.poses(np.array([t]), q[None], rotation[None], position[None])
        self.pose(R[0], r[0], row)

    def pose(self, rotation: FloatArray, position: FloatArray, row: int | None = None, wxyz: FloatArray | None = None) -> None:
        """Move bodies to the poses (N, 3, 3), (N, 3). `row`: the row of the scene, where the time is one of its own."""
        self.rotation, self.position = rotation, position
        poses = Poses(rotation, position, quaternions_of(rotation) if wxyz is None else wxyz, row)
        with self.server.atomic():
            for batch, node in self._batches:
                if batch.moves and self.shown[batch.layer]:
                    placed = batch.placed(poses)
                    node.batched_positions = placed.position.astype(np.float32)
                    node.batched_wxyzs = placed.wxyz.astype(np.float32)
                    if isinstance(batch, SpanBatch):  # parts keep their scale
                        node.batched_scales = placed.scale.astype(np.float32)
            for label, carrier, point in self._labels:
                if label.visible and carrier >= 0:
                    label.position = position[carrier] + rotation[carrier] @ point
        self._row = row

    def show(self, layer: str, on: bool) -> None:
        if layer not in self.shown:
            return
        self.shown[layer] = on
        if on:
            self.pose(self.rotation, self.position, self._row)
        for node in self._by_layer[layer]:
            node.visible = on
        if layer in SEEN_THROUGH:
            self._see_through()

    def _see_through(self) -> None:
        """Bodies are seen through while something inside them is shown; coloured meshes of files stay as they are."""
        share = THROUGH if any(self.shown.get(layer, False) for layer in SEEN_THROUGH) else 1.0
        for node, opacity in self._solid:
            node.opacity = None if opacity * share >= 1.0 else opacity * share

    def label(self, kind: str, on: bool) -> None:
        """Switch the names of "bodies" or "joints"."""
        self._labelled[kind] = on
        for label, _, _ in self._labels:
            label.remove()
        self._labels = []
        places = [x for kind in ("bodies", "joints") if self._labelled[kind] for x in label_places(self.scene, kind)]
        for k, (text, carrier, point) in enumerate(places[:LABELS]):
            at = point if carrier < 0 else self.position[carrier] + self.rotation[carrier] @ point
            label = self.server.scene.add_label(f"{self.root}/labels/{k}", text, position=at, anchor="bottom-center")
            self._labels.append((label, carrier, point))

    def on_drag(self, callback: Drag) -> None:
        """Call it when a body is dragged. Dragging beside the bodies still turns the camera."""
        for batch, node in self._draggable():

            async def dragged(event: Any, carrier: np.ndarray = batch.carrier) -> None:  # asynchronous: those come in order
                body = int(carrier[event.instance_index or 0])
                if body >= 0:
                    callback(event.phase, body, np.array(event.start_position), np.array(event.end_position))

            node.on_drag("left")(dragged)

    def off_drag(self) -> None:
        for _, node in self._draggable():
            node.remove_drag_callback("all")

    # --- inside -------------------------------------------------------------------------------------------------------------
    def _draggable(self) -> list[tuple[PartBatch, Any]]:
        return [(b, node) for b, node in self._batches if isinstance(b, PartBatch) and b.layer == "bodies" and b.moves]

    def _node(self, name: str, batch: Batch, placed: Placements) -> Any:
        g, colours = batch.members[0].geometry, np.array([self._tinted(x.colour, batch.layer) for x in batch.members])
        opacity = None if colours[0, 3] >= 1.0 else float(colours[0, 3])
        common: dict[str, Any] = {"lod": "off", "cast_shadow": False, "receive_shadow": False, "visible": self.shown[batch.layer]}
        common |= {"batched_wxyzs": placed.wxyz, "batched_positions": placed.position, "batched_scales": placed.scale}
        path, scene = f"{self.root}/{batch.layer}/{name}", self.server.scene
        if g.colours is not None and self.tint is None:
            node: Any = scene.add_batched_glb(path, glb(g), **common)
        else:
            side = "front" if batch.layer == "ground" else "double"  # from below one sees through the floor
            rgb = np.round(255 * colours[:, :3]).astype(np.uint8)
            common |= {"batched_colors": rgb, "opacity": opacity, "side": side}
            node = scene.add_batched_meshes_simple(path, g.vertices, g.faces, **common)
            if batch.layer == "bodies":
                self._solid.append((node, float(colours[0, 3])))
        self._by_layer[batch.layer].append(node)
        return node

    def _lines(self) -> None:
        groups: dict[tuple[str, Colour], list[np.ndarray]] = {}
        for line in self.scene.lines:
            if len(line.points) > 1:
                groups.setdefault((line.layer, self._tinted(line.colour, line.layer)), []).append(segments(line.points))
        for k, ((layer, colour), parts) in enumerate(groups.items()):
            draw, look = self.server.scene.add_line_segments, {"thickness": LINE, "thickness_units": "screen"}
            node = draw(f"{self.root}/{layer}/lines{k}", np.concatenate(parts), rgb255(colour), visible=self.shown[layer], **look)
            self._by_layer[layer].append(node)

    def _tinted(self, colour: Colour, layer: str) -> Colour:
        if self.tint is None or layer == "ground":
            return colour
        r, g, b = (TINTED * t + (1.0 - TINTED) * c for c, t in zip(colour[:3], self.tint[:3], strict=True))
        return r, g, b, colour[3] * self.tint[3]


def label_places(scene: Scene, kind: str) -> list[tuple[str, int, FloatArray]]:
    """(name, carrier, point of it) of every body, in the middle of what is drawn of it; or of every joint."""
    if kind == "bodies":
        centres: dict[int, list[FloatArray]] = {scene.bodies.index(name): [] for name in scene.choices}
        for part in scene.parts:
            if part.layer == "bodies" and part.carrier in centres:
                v = part.geometry.vertices
                middle = 0.5 * (v.min(axis=0) + v.max(axis=0))
                centres[part.carrier].append(part.at[:3, :3] @ middle + part.at[:3, 3])
        return [(scene.bodies[i], i, np.mean(c, axis=0) if c else np.zeros(3)) for i, c in centres.items()]
    joints: dict[str, tuple[str, int, FloatArray]] = {}
    for part in scene.parts:
        if part.layer == "joints" and part.name.startswith("joint ") and part.name not in joints:
            joints[part.name] = (part.name.removeprefix("joint "), part.carrier, np.asarray(part.at[:3, 3], dtype=float))
    return list(joints.values())


def segments(points: FloatArray) -> np.ndarray:
    """(P − 1, 2, 3) of a polyline."""
    p = np.asarray(points, dtype=np.float32)
    return np.stack([p[:-1], p[1:]], axis=1)


def rgb255(colour: Sequence[float]) -> tuple[int, int, int]:
    r, g, b = (round(255 * x) for x in colour[:3])
    return r, g, b
