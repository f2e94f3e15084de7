"""Scenes as tables and arrays of a page: geometries, groups of parts that are drawn at once, spans, lines, key frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import StateError, no_such
from ...model.model import Model
from ...model.references import is_name_in
from ...simulation.results.charts import Charts, Curve
from ...simulation.results.plots import thinned
from ...simulation.results.result import Result
from ...types import FloatArray
from ..camera import FIELD, ViewDirection, camera_for, direction_of
from ..scene import LAYERS, SEEN_THROUGH, THROUGH, TINTS, Anchor, Colour, Geometry, Part, Scene, Span, groups
from .keyframes import TURN, Motion
from .pack import Package, Reference, series

# --- curves of charts on their way into a page
POINTS = 1500
"""Points of a curve: more than a plot beside the motion has pixels."""


def plots(package: Package, found: Charts) -> list[dict[str, Any]]:
    """Each chart with its curves in the order of time."""
    return [
        {"title": chart.heading, "unit": chart.unit, "curves": [_curve(package, curve) for curve in chart.curves]}
        for chart in found.charts
    ]


def _curve(package: Package, curve: Curve) -> dict[str, Any]:
    x, y = thinned(np.asarray(curve.x), np.asarray(curve.y), POINTS)
    if len(x) and x[0] > x[-1]:  # a run backward in time
        x, y = x[::-1], y[::-1]
    return {
        "label": curve.label, "colour": curve.colour, "dash": curve.dash,
        "t": package.add(x.astype(np.float32)), "y": package.add(y.astype(np.float32)),
    }  # fmt: skip


# --- contents
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
    takes: Sequence[Take],
    motions: Sequence[Motion],
    follow: str | None,
    view: ViewDirection,
    charts: Charts | None,
) -> str:
    """Everything that the scripts of the page read, packed."""
    package = Package()
    contents = Contents(package)
    scenes, tints = [take.scene for take in takes], [TINTS[k % len(TINTS)] for k in range(len(takes))]
    low, high = np.min([s.low for s in scenes], axis=0), np.max([s.high for s in scenes], axis=0)
    everything = replace(scenes[0], low=low, high=high, size=max(s.size for s in scenes))
    runs = [
        contents.scene(scene if scene is scenes[0] else _without_ground(scene), motion, tint if len(takes) > 1 else None)
        for scene, motion, tint in zip(scenes, motions, tints, strict=True)
    ]
    return package.text({
        "cameras": _cameras(everything, view), "field": FIELD,
        "up": everything.up.tolist(), "low": low.tolist(), "high": high.tolist(), "size": everything.size,
        "through": {"layers": SEEN_THROUGH, "opacity": THROUGH}, "runs": runs, "geometries": contents.geometries,
        "follow": _body(scenes[0], follow),
        "plots": plots(package, charts) if charts else [],
        "events": [{"t": float(event.t), "name": event.name or "event"} for event in charts.events] if charts else [],
    })  # fmt: skip


def _without_ground(scene: Scene) -> Scene:
    """The scene without its ground: all stand on that of the first."""
    return replace(
        scene, parts=[x for x in scene.parts if x.layer != "ground"], lines=[x for x in scene.lines if x.layer != "ground"]
    )


def _cameras(scene: Scene, view: ViewDirection) -> list[dict[str, Any]]:
    """Cameras from which windows of any aspect see the whole motion."""
    direction = direction_of(scene, view)
    found = [(float(aspect), camera_for(scene, float(aspect), direction)) for aspect in ASPECTS]
    return [{"aspect": a, "position": c.position.tolist(), "target": c.target.tolist(), "up": c.up.tolist()} for a, c in found]


def _body(scene: Scene, name: str | None) -> int:
    if name is None:
        return -1
    if not is_name_in(scene.choices, name):
        raise StateError(f"follow: {no_such('body', name, scene.choices, 'bodies')}")
    return scene.bodies.index(name)


class Contents:
    """The table of contents of a page, filled scene by scene. Geometries that scenes share are there once."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._geometries: dict[int, int] = {}
        self._kept: list[Geometry] = []
        self.geometries: list[Reference] = []

    def scene(self, scene: Scene, motion: Motion, tint: Colour | None) -> dict[str, Any]:
        add = self.package.add
        return {
            "bodies": list(scene.rows),
            "t": add(motion.t.astype(np.float64)),
            "position": series(self.package, motion.position),
            "quaternion": series(self.package, motion.quaternion),
            "centre": motion.centre.tolist(),
            "quantum": motion.quantum,
            "turn": TURN,
            "parts": [self._parts(group, tint) for group in groups(scene.parts, _mirrored)],
            "spans": [self._spans(group, motion, tint) for group in groups(scene.spans, lambda span: span.vector is None)],
            "lines": [
                {"name": line.name, "layer": line.layer, "points": add(line.points.astype(np.float32)),
                 "colour": _tinted(line.colour, tint if line.layer != "ground" else None).tolist()}
                for line in scene.lines
            ],
        }  # fmt: skip

    def _geometry(self, geometry: Geometry) -> int:
        """Vertices as shares of their box, which are exact to 1e-5 of it; normals as bytes."""
        if id(geometry) not in self._geometries:
            add, v = self.package.add, geometry.vertices.astype(np.float64)
            low, high = (v.min(axis=0), v.max(axis=0)) if len(v) else (np.zeros(3), np.zeros(3))
            across = np.where(high > low, high - low, 1.0)
            wide = len(v) > 2**16
            colours = geometry.colours
            self._geometries[id(geometry)] = len(self.geometries)
            self._kept.append(geometry)  # its id stays its own
            self.geometries.append({
                "vertices": add(np.rint((v - low) / across * 65535).astype(np.uint16)),
                "low": low.tolist(), "across": across.tolist(),
                "normals": add(np.rint(np.clip(geometry.normals, -1.0, 1.0) * 127).astype(np.int8)),
                "faces": add(geometry.faces.astype(np.uint32 if wide else np.uint16)),
                "colours": None if colours is None else add(_bytes(colours)),
            })  # fmt: skip
        return self._geometries[id(geometry)]

    def _parts(self, group: Sequence[Part], tint: Colour | None) -> dict[str, Any]:
        add = self.package.add
        return {
            **self._shared(group, tint),
            "carrier": add(np.array([part.carrier for part in group], dtype=np.int32)),
            "at": add(np.array([part.at[:3] for part in group], dtype=np.float32)),
            "mirrored": _mirrored(group[0]),
        }

    def _spans(self, group: Sequence[Span], motion: Motion, tint: Colour | None) -> dict[str, Any]:
        add, ends = self.package.add, [span.end or span.start for span in group]
        return {
            **self._shared(group, tint),
            "width": add(np.array([span.width for span in group], dtype=np.float32)),
            "share": add(np.array([span.share for span in group], dtype=np.float32)),
            "start": self._anchors([span.start for span in group]),
            "end": self._anchors(ends),
            "vector": self._vectors([span.vector for span in group if span.vector is not None], motion),
        }

    def _shared(self, group: Sequence[Part] | Sequence[Span], tint: Colour | None) -> dict[str, Any]:
        colours = np.array([_tinted(x.colour, tint) for x in group])
        return {
            "layer": group[0].layer,
            "geometry": self._geometry(group[0].geometry),
            "names": [x.name for x in group],
            "opacity": float(group[0].colour[3]),
            "colour": self.package.add(_bytes(colours[:, :3])),
        }

    def _anchors(self, anchors: Sequence[Anchor]) -> dict[str, Reference]:
        return {
            "carrier": self.package.add(np.array([a.carrier for a in anchors], dtype=np.int32)),
            "point": self.package.add(np.array([a.point for a in anchors], dtype=np.float32)),
        }

    def _vectors(self, vectors: Sequence[FloatArray], motion: Motion) -> dict[str, Any] | None:
        """Vectors of spans without an end anchor, over time, rounded to a 30 000th of the longest."""
        if not vectors:
            return None
        shown = np.nan_to_num(np.concatenate([vector[motion.rows] for vector in vectors], axis=1))
        unit = max(float(np.abs(shown).max(initial=0.0)) / 30000.0, 1e-300)
        return {"unit": unit, "series": series(self.package, np.rint(shown / unit).astype(np.int64))}


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


def layers_of(scenes: Sequence[Scene]) -> list[dict[str, Any]]:
    """The switches: those that have anything to show, in the order of all lists."""
    there = {name for scene in scenes for name in scene.layers}
    shown = {name for scene in scenes for name in scene.shown}
    return [{"name": name, "what": what, "on": name in shown} for name, what in LAYERS.items() if name in there]
