"""Paths of points in the browser: of a result the whole path, of a running simulation as far as it has come."""

from __future__ import annotations

from time import perf_counter as now
from typing import Any

import numpy as np

from ...types import FloatArray
from ..scene import TINTS, Anchor
from .live_stage import Stage
from .nodes import SceneNodes, rgb255, segments

POINTS = 2000
"""Largest number of points of a path: more cannot be seen."""
REFRESH = 0.1
"""Seconds between two points of a path that grows."""


class TracesPanel:
    """Builds its elements where the next ones of the panel would be. `grow` adds a point to every path."""

    def __init__(self, stage: Stage, nodes: list[SceneNodes], growing: bool) -> None:
        self.stage, self.nodes, self.growing = stage, nodes, growing
        self._traces: list[tuple[SceneNodes, Anchor, Any, list[FloatArray]]] = []
        self._grown, self._count = 0.0, 0
        gui, bodies = stage.viser.gui, nodes[0].scene.choices
        self._body = gui.add_dropdown("body", bodies, initial_value=bodies[-1])
        self._point = gui.add_vector3("point", (0.0, 0.0, 0.0), step=0.01, hint="of the body, in its axes, m")
        gui.add_button("add path").on_click(lambda _: stage.post("trace", self._add))
        gui.add_button("remove paths").on_click(lambda _: stage.post("no traces", self.clear))

    def add(self, body: str, point: FloatArray) -> None:
        """The path of a point of a body, in every scene that has it."""
        for k, nodes in enumerate(self.nodes):
            if body in nodes.scene.bodies:
                anchor = nodes.scene.anchor(body, np.asarray(point, dtype=float))
                whole = anchor.path(nodes.scene.rotation, nodes.scene.position)
                path = whole[:: max(1, len(whole) // POINTS)]
                colour = rgb255(TINTS[(k if len(self.nodes) > 1 else self._count + 1) % len(TINTS)])
                seen = path if len(path) > 1 else np.repeat(path[:1], 2, axis=0)
                line = self.stage.viser.scene.add_line_segments(
                    f"/traces/{self._count}", segments(seen), colour, thickness=2.0, thickness_units="screen"
                )
                self._traces.append((nodes, anchor, line, []))
                self._count += 1

    def clear(self) -> None:
        for _, _, line, _ in self._traces:
            line.remove()
        self._traces = []

    def tick(self, _: float) -> bool:
        """Called every frame: paths grow, and never ask for another frame."""
        if self.growing and now() - self._grown >= REFRESH:
            self.grow()
        return False

    def grow(self) -> None:
        """Add the present points."""
        self._grown = now()
        for nodes, anchor, line, points in self._traces:
            points.append(anchor.path(nodes.rotation[None], nodes.position[None])[0])
            del points[:-POINTS]
            if len(points) > 1:
                line.points = segments(np.array(points))

    def _add(self) -> None:
        self.add(self._body.value, np.array(self._point.value))
