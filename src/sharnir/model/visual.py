"""What a body looks like: recorded for viewers, of no weight in the dynamics."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .pose import Pose


@dataclass(frozen=True)
class Visual:
    """A primitive or a mesh on a body (or on "ground").

    kind   "box" (sizes: its edges), "cylinder" or "capsule" (radius, length), "sphere" (radius), "mesh"
    uri    a mesh as the file names it; `path` is where it was found, None where it was not
    role   "visual" to look at, "collision" for the shape that touches others
    """

    body: str
    kind: str
    at: Pose = field(default_factory=Pose)
    sizes: tuple[float, ...] = ()
    uri: str = ""
    path: Path | None = None
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    colour: tuple[float, float, float, float] | None = None
    role: str = "visual"
    name: str = ""
    link: str = ""
    """The link of the file it belonged to, where that was merged into the body."""
