"""A scene as nodes of viser: a batch of meshes for every geometry, moved as a whole. It knows no mechanics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...model.quaternions import quaternions_of
from ...types import FloatArray
from ..scene import SEEN_THROUGH, THROUGH, Colour, Scene
from .batches import Batch, PartBatch, Placements, Poses, SpanBatch, glb, part_batches, span_batches

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
        """`pose` of all carriers of parts, from the poses of the bodies (N, 3, 3), (N, 3)."""
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
            node.on_drag("left")(self._dragged(batch, callback))

    def off_drag(self) -> None:
        for _, node in self._draggable():
            node.remove_drag_callback("all")

    # --- inside -------------------------------------------------------------------------------------------------------------
    def _draggable(self) -> list[tuple[PartBatch, Any]]:
        return [(b, node) for b, node in self._batches if isinstance(b, PartBatch) and b.layer == "bodies" and b.moves]

    def _dragged(self, batch: PartBatch, callback: Drag) -> Callable[[Any], Any]:
        async def dragged(event: Any) -> None:  # asynchronous: those come in order
            body = int(batch.carrier[event.instance_index or 0])
            if body >= 0:
                callback(event.phase, body, np.array(event.start_position), np.array(event.end_position))

        return dragged

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
        if part.layer == "joints" and part.name not in joints:
            joints[part.name] = (part.name.removeprefix("joint "), part.carrier, np.asarray(part.at[:3, 3], dtype=float))
    return list(joints.values())


def segments(points: FloatArray) -> np.ndarray:
    """(P − 1, 2, 3) of a polyline."""
    p = np.asarray(points, dtype=np.float32)
    return np.stack([p[:-1], p[1:]], axis=1)


def rgb255(colour: Sequence[float]) -> tuple[int, int, int]:
    r, g, b = (round(255 * x) for x in colour[:3])
    return r, g, b
