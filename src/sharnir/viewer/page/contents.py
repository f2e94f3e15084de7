"""Scenes as tables and arrays of a page: geometries, groups of parts that are drawn at once, spans, lines, key frames, curves.

The arrays are one after the other behind a table of contents, compressed, as text. The table is JSON; an array in it is
{"at": byte, "n": numbers, "type": …}. `templates/unpack.js` reads it.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import StateError, no_such
from ...model.model import Model
from ...model.references import is_name_in
from ...simulation.results.charts import Charts
from ...simulation.results.plots import thinned
from ...simulation.results.result import Result
from ...types import FloatArray
from ..scene import (
    FIELD,
    SEEN_THROUGH,
    THROUGH,
    TINTS,
    Anchor,
    Colour,
    Geometry,
    Part,
    Scene,
    Span,
    ViewDirection,
    box_corners,
    camera_for,
    direction_of,
    groups,
)
from .keyframes import TURN, Motion

TYPES = {"float32": "f4", "float64": "f8", "uint8": "u1", "int8": "i1", "uint16": "u2", "uint32": "u4", "int32": "i4"}
ALIGNMENT = 8
"""Bytes: a typed array of the browser begins at a multiple of the size of its numbers."""
Reference = dict[str, Any]


class Package:
    """Arrays that are added, each once however often it is added."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._size = 0
        self._known: dict[tuple[str, bytes], Reference] = {}

    def add(self, array: np.ndarray) -> Reference:
        data = np.ascontiguousarray(array)
        key = TYPES[data.dtype.name], data.tobytes()
        if key not in self._known:
            padded = key[1] + bytes(-len(key[1]) % ALIGNMENT)
            self._known[key] = {"at": self._size, "n": data.size, "type": key[0]}
            self._chunks.append(padded)
            self._size += len(padded)
        return self._known[key]

    def text(self, contents: dict[str, Any]) -> str:
        """Base64 of the compressed whole: length of the table (4 bytes), table, arrays."""
        table = json.dumps(contents, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        table += b" " * (-(len(table) + 4) % ALIGNMENT)
        whole = len(table).to_bytes(4, "little") + table + b"".join(self._chunks)
        return base64.b64encode(gzip.compress(whole, 9, mtime=0)).decode("ascii")


def series(package: Package, numbers: np.ndarray) -> Reference:
    """Whole numbers (rows, columns) over time. Second differences of a smooth motion are small: their bytes, the low ones first
    and the high ones after them, compress well."""
    rows, columns = numbers.shape
    narrow = bool(np.abs(numbers).max(initial=0) < 2**15)
    x = np.ascontiguousarray(numbers.T).astype(np.int16 if narrow else np.int32)
    second = np.diff(np.diff(x, axis=1, prepend=x.dtype.type(0)), axis=1, prepend=x.dtype.type(0))
    bytes_of = second.view(np.uint8).reshape(-1, x.dtype.itemsize).T
    return {"rows": rows, "columns": columns, "bytes": x.dtype.itemsize, "data": package.add(bytes_of)}


# --- curves of charts
POINTS = 1500
"""Points of a curve: more than a plot beside the motion has pixels."""


def plots(package: Package, found: Charts) -> list[dict[str, Any]]:
    """Each chart with its curves in the order of time."""
    out = []
    for chart in found.charts:
        curves = list[dict[str, Any]]()
        for curve in chart.curves:
            x, y = thinned(np.asarray(curve.x), np.asarray(curve.y), POINTS)
            if len(x) and x[0] > x[-1]:  # a run backward in time
                x, y = x[::-1], y[::-1]
            shown = {"label": curve.label, "colour": curve.colour, "dash": curve.dash}
            curves.append(shown | {name: package.add(z.astype(np.float32)) for name, z in (("t", x), ("y", y))})
        out.append({"title": chart.axis, "note": chart.heading.removeprefix(chart.title), "range": chart.flat, "curves": curves})
    return out


# --- tables of contents
ASPECTS = np.geomspace(0.3, 4.0, 14)
"""Widths of a window over its height for which the page is told where its camera stands; between them it interpolates."""


@dataclass(frozen=True, eq=False)
class Take:
    """One motion, or one position, on a page; of several, drawn over each other, each has its colour."""

    name: str
    scene: Scene
    subject: Model | Result | None = None
    """The model or result it shows: for the tree, the summary and the account of energy."""


def data_of(
    takes: Sequence[Take], motions: Sequence[Motion], follow: str | None, view: ViewDirection, charts: Charts | None
) -> str:
    """Everything that the scripts of the page read, packed."""
    contents, scenes = Contents(), [take.scene for take in takes]
    if follow is not None and not is_name_in(scenes[0].choices, follow):
        raise StateError(f"follow: {no_such('body', follow, scenes[0].choices, 'bodies')}")
    low, high = np.min([s.low for s in scenes], axis=0), np.max([s.high for s in scenes], axis=0)
    outer = np.concatenate([box_corners(s.low, s.high) if s.outermost is None else s.outermost for s in scenes])
    everything = replace(scenes[0], low=low, high=high, outermost=outer, size=max(s.size for s in scenes))
    direction, cameras, runs = direction_of(everything, view), list[dict[str, Any]](), list[dict[str, Any]]()
    for aspect in ASPECTS.tolist():
        c = camera_for(everything, aspect, direction)
        cameras.append({"aspect": aspect, "position": c.position.tolist(), "target": c.target.tolist(), "up": c.up.tolist()})
    for k, (scene, motion) in enumerate(zip(scenes, motions, strict=True)):
        if k:  # all stand on the ground of the first
            parts = [x for x in scene.parts if x.layer != "ground"]
            scene = replace(scene, parts=parts, lines=[x for x in scene.lines if x.layer != "ground"])
        runs.append(contents.scene(scene, motion, TINTS[k % len(TINTS)] if len(takes) > 1 else None))
    return contents.text({
        "cameras": cameras, "field": FIELD,
        "up": everything.up.tolist(), "low": low.tolist(), "high": high.tolist(), "size": everything.size,
        "through": {"layers": SEEN_THROUGH, "opacity": THROUGH}, "runs": runs, "geometries": contents.geometries,
        "follow": -1 if follow is None else scenes[0].bodies.index(follow),
        "plots": plots(contents, charts) if charts else [],
        "events": [{"t": float(event.t), "name": event.name or "event"} for event in charts.events] if charts else [],
    })  # fmt: skip


class Contents(Package):
    """The table of contents of a page, filled scene by scene. Geometries that scenes share are there once."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[int, tuple[int, Geometry]] = {}
        """{id: number and geometry}: each is kept, so that its id stays its own."""
        self.geometries: list[Reference] = []

    def scene(self, scene: Scene, motion: Motion, tint: Colour | None) -> dict[str, Any]:
        lines = [(x, _tinted(x.colour, tint if x.layer != "ground" else None).tolist()) for x in scene.lines]
        return {
            "bodies": list(scene.carriers.names),
            "t": self.add(motion.t.astype(np.float64)),
            "position": series(self, motion.position),
            "quaternion": series(self, motion.quaternion),
            "centre": motion.centre.tolist(), "quantum": motion.quantum, "turn": TURN,
            "parts": [self._parts(group, tint) for group in groups(scene.parts, _mirrored)],
            "spans": [self._spans(group, motion, tint) for group in groups(scene.spans, lambda span: span.vector is None)],
            "lines": [{"name": x.name, "layer": x.layer, "points": self._array(x.points), "colour": c} for x, c in lines],
        }  # fmt: skip

    def _array(self, values: object, kind: type = np.float32) -> Reference:
        return self.add(np.array(values, dtype=kind))

    def _geometry(self, geometry: Geometry) -> int:
        """Vertices as shares of their box, which are exact to 1e-5 of it; normals as bytes."""
        if id(geometry) not in self._numbers:
            add, v, colours = self.add, geometry.vertices.astype(np.float64), geometry.colours
            low, high = (v.min(axis=0), v.max(axis=0)) if len(v) else (np.zeros(3), np.zeros(3))
            across = np.where(high > low, high - low, 1.0)
            self._numbers[id(geometry)] = len(self.geometries), geometry
            self.geometries.append({
                "vertices": add(np.rint((v - low) / across * 65535).astype(np.uint16)),
                "low": low.tolist(), "across": across.tolist(),
                "normals": add(np.rint(np.clip(geometry.normals, -1.0, 1.0) * 127).astype(np.int8)),
                "faces": add(geometry.faces.astype(np.uint32 if len(v) > 2**16 else np.uint16)),
                "colours": None if colours is None else add(_bytes(colours)),
            })  # fmt: skip
        return self._numbers[id(geometry)][0]

    def _parts(self, group: Sequence[Part], tint: Colour | None) -> dict[str, Any]:
        out, mirrored = self._shared(group, tint), _mirrored(group[0])
        carrier, at = self._array([part.carrier for part in group], np.int32), self._array([part.at[:3] for part in group])
        return {**out, "carrier": carrier, "at": at, "mirrored": mirrored}

    def _spans(self, group: Sequence[Span], motion: Motion, tint: Colour | None) -> dict[str, Any]:
        return {
            **self._shared(group, tint),
            "width": self._array([span.width for span in group]),
            "share": self._array([span.share for span in group]),
            "start": self._anchors([span.start for span in group]),
            "end": self._anchors([span.end or span.start for span in group]),
            "vector": self._vectors([span.vector for span in group if span.vector is not None], motion),
        }

    def _shared(self, group: Sequence[Part] | Sequence[Span], tint: Colour | None) -> dict[str, Any]:
        colours = np.array([_tinted(x.colour, tint) for x in group])
        return {
            "layer": group[0].layer, "geometry": self._geometry(group[0].geometry), "names": [x.name for x in group],
            "opacity": float(group[0].colour[3]), "colour": self.add(_bytes(colours[:, :3])),
        }  # fmt: skip

    def _anchors(self, anchors: Sequence[Anchor]) -> dict[str, Reference]:
        return {"carrier": self._array([a.carrier for a in anchors], np.int32), "point": self._array([a.point for a in anchors])}

    def _vectors(self, vectors: Sequence[FloatArray], motion: Motion) -> dict[str, Any] | None:
        """Vectors of spans without an end anchor, over time, rounded to a 30 000th of the longest."""
        if not vectors:
            return None
        shown = np.nan_to_num(np.concatenate([vector[motion.rows] for vector in vectors], axis=1))
        unit = max(float(np.abs(shown).max(initial=0.0)) / 30000.0, 1e-300)
        return {"unit": unit, "series": series(self, np.rint(shown / unit).astype(np.int64))}


def _mirrored(part: Part) -> bool:
    return bool(np.linalg.det(part.at[:3, :3]) < 0.0)


def _tinted(colour: Colour, tint: Colour | None) -> FloatArray:
    """The colour mixed with that of its run, two parts, where there are several."""
    own = np.array(colour)
    if tint is not None:
        own[:3] = 0.35 * own[:3] + 0.65 * np.array(tint[:3])
    return own


def _bytes(colours: np.ndarray) -> np.ndarray:
    return np.rint(np.clip(colours, 0.0, 1.0) * 255).astype(np.uint8)
