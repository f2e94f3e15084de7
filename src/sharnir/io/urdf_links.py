"""Links of a URDF: mass properties, and shapes to draw."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import FormatError
from ..model.body import Body, inertia_fault
from ..model.import_report import ImportReport
from ..model.pose import Pose, Rotation
from ..model.visual import Visual
from .paths import MeshFolders
from .rigid_groups import Carrier, Mass
from .xml import Element, located

PRIMITIVES = {"box": ("size",), "cylinder": ("radius", "length"), "capsule": ("radius", "length"), "sphere": ("radius",)}
USES = {"visual": "for viewing", "collision": "for viewing and for sharnir.add_ground"}
Colour = tuple[float, float, float, float]


def read_origin(owner: Element) -> Pose:
    """`<origin xyz rpy>` of an element; URDF 1.2 may give a quaternion (x y z w) instead."""
    origin = owner.first("origin")
    if origin is None:
        return Pose()
    position = origin.numbers("xyz", 3, (0.0, 0.0, 0.0))
    if "quat_xyzw" in origin.attributes:
        x, y, z, w = origin.numbers("quat_xyzw", 4)
        if math.hypot(x, y, z, w) < 1e-9:
            raise origin.error("quat_xyzw: a quaternion of length zero is no rotation; the identity is '0 0 0 1'")
        return Pose(position, Rotation.quaternion(w, x, y, z))
    angles = origin.numbers("rpy", 3, (0.0, 0.0, 0.0))
    return Pose(position, Rotation.rpy(*angles) if any(angles) else None)


def read_mass(link: Element, report: ImportReport) -> Mass:
    """`<inertial>` in the axes of the link; zero where the link has none."""
    inertial = link.first("inertial")
    if inertial is None:
        return Mass()
    mass, inertia = inertial.first("mass"), inertial.first("inertia")
    if mass is None or inertia is None:
        raise inertial.error(f"<{'mass' if mass is None else 'inertia'}> is missing; leave out <inertial> for no mass")
    kilograms = mass.number("value")
    if kilograms < 0.0:
        raise mass.error(f"value: a mass is zero or positive, got {kilograms:g} kg")
    xx, xy, xz, yy, yz, zz = (inertia.number(name) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    own = Mass(kilograms, np.zeros(3), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    fault = inertia_fault(Body("", kilograms, (0.0, 0.0, 0.0), (xx, yy, zz, xy, xz, yz)))
    if fault is None:
        report.honoured("inertial", link.where)
    else:
        report.kept("inertia that no body has", inertia.where, f"it {fault.partition(' (')[0]}; used unchanged", warning=True)
    return own.moved(read_origin(inertial))


def read_materials(robot: Element, report: ImportReport) -> dict[str, Colour]:
    """Colours by name, wherever they are defined."""
    found: dict[str, Colour] = {}
    inside = (m for link in robot.all("link") for visual in link.all("visual") for m in visual.all("material"))
    for element in (*robot.all("material"), *inside):
        with only_reported(element, report):
            name, colour = element.attributes.get("name", ""), _colour(element)
            if name and colour is not None:
                found.setdefault(name, colour)
    return found


@contextmanager
def only_reported(element: Element, report: ImportReport) -> Iterator[None]:
    """Report faults in shapes that are only drawn: they have no effect on the motion, and do not refuse the robot."""
    try:
        yield
    except FormatError as error:
        if report.strict:
            raise
        report.ignored(f"faulty {element.tag}", element.where, str(error))


def _colour(material: Element) -> Colour | None:
    colour = material.first("color")
    if colour is None or "rgba" not in colour.attributes:
        return None
    r, g, b, a = (min(max(x, 0.0), 1.0) for x in colour.numbers("rgba", 4))  # as graphics libraries do
    return r, g, b, a


@dataclass(frozen=True)
class VisualReader:
    """Reads the shapes of links, with what they share."""

    materials: dict[str, Colour]
    meshes: MeshFolders
    report: ImportReport

    def read(self, link: Element, on: Carrier) -> Iterator[Visual]:
        """The shapes of a link, placed on its body."""
        for element in link.children:
            if element.tag in ("visual", "collision"):
                with only_reported(element, self.report), located(element.error):
                    yield from self._visual(element, link, on)

    def _visual(self, element: Element, link: Element, on: Carrier) -> list[Visual]:
        geometry = element.first("geometry")
        shape = next((g for g in (geometry.children if geometry else ()) if g.tag in PRIMITIVES or g.tag == "mesh"), None)
        if shape is None:
            self.report.ignored(f"{element.tag} without a known shape", element.where)
            return []
        record: dict[str, Any] = {
            "body": on.body, "kind": shape.tag, "at": on.at @ read_origin(element), "role": element.tag,
            "name": element.attributes.get("name", ""), "link": link.string("name"),
        }  # fmt: skip
        material = element.first("material")
        if material is not None:
            record["colour"] = _colour(material) or self.materials.get(material.attributes.get("name", ""))
        missing = ""
        if shape.tag == "mesh":
            uri = shape.string("filename")
            one = len(shape.attributes.get("scale", "1 1 1").split()) == 1  # for all three axes: common, though no standard
            scale = (shape.number("scale"),) * 3 if one else shape.numbers("scale", 3, (1.0, 1.0, 1.0))
            path, missing = self.meshes.mesh(uri)
            record |= {"uri": uri, "path": path, "scale": scale, "own_colours": True}
        else:
            sizes = shape.numbers("size", 3) if shape.tag == "box" else tuple(map(shape.number, PRIMITIVES[shape.tag]))
            if min(sizes) < 0.0:
                raise shape.error(f"sizes must not be negative, got {sizes}")
            record["sizes"] = sizes
        if missing:
            self.report.ignored(f"{element.tag} mesh", element.where, f"{uri}: {missing}")
        else:
            self.report.kept(f"{element.tag} {shape.tag}", element.where, USES[element.tag])
        return [Visual(**record)]
