"""What a body looks like: recorded for viewers, without effect on the dynamics."""

from __future__ import annotations

from pathlib import Path

from .element import Element, element, element_field
from .pose import Pose
from .values import HERE, Choice, FilePath, Label, Name, PoseValue, Text, Vector


@element()
class Visual(Element):
    """A primitive or a mesh on a body (or on "ground")."""

    body: str = element_field(Name("body"), meaning="the body it is fixed to")
    kind: str = element_field(Name(), meaning="box, cylinder, capsule, sphere, mesh; imported files have others")
    at: Pose = element_field(PoseValue(), default=HERE, meaning="its pose in the body")
    sizes: tuple[float, ...] = element_field(
        Vector(), default=(), unit="m", meaning="edges of a box; radius and length of a cylinder or capsule; radius of a sphere"
    )
    uri: str = element_field(Text(), default="", meaning="a mesh as its file named it")
    path: Path | None = element_field(FilePath(), default=None, meaning="where the mesh was found; stored, not opened")
    scale: tuple[float, float, float] = element_field(Vector(3), default=(1.0, 1.0, 1.0), meaning="scale of a mesh")
    colour: tuple[float, float, float, float] | None = element_field(
        Vector(4), default=None, meaning="red, green, blue, opacity, 0 to 1"
    )
    role: str = element_field(
        Choice(("visual", "collision")), default="visual", meaning="visual, or collision for the shape that touches others"
    )
    name: str = element_field(Label(), default="")
    link: str = element_field(Text(), default="", meaning="the link of an imported file it belonged to")
