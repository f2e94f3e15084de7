"""Which tags and attributes of URDF are read; all others are reported, with the reason where there is one."""

from __future__ import annotations

from ..model.import_report import ImportReport
from .xml import Element

READ: dict[str, tuple[set[str], set[str]]] = {
    "robot": ({"name", "version"}, {"link", "joint", "material"}),
    "link": ({"name"}, {"inertial", "visual", "collision"}),
    "inertial": (set(), {"origin", "mass", "inertia"}),
    "mass": ({"value"}, set()),
    "inertia": ({"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}, set()),
    "origin": ({"xyz", "rpy", "quat_xyzw"}, set()),
    "visual": ({"name"}, {"origin", "geometry", "material"}),
    "collision": ({"name"}, {"origin", "geometry"}),
    "geometry": (set(), {"box", "cylinder", "sphere", "capsule", "mesh"}),
    "box": ({"size"}, set()),
    "cylinder": ({"radius", "length"}, set()),
    "capsule": ({"radius", "length"}, set()),
    "sphere": ({"radius"}, set()),
    "mesh": ({"filename", "scale"}, set()),
    "material": ({"name"}, {"color"}),
    "color": ({"rgba"}, set()),
    "joint": ({"name", "type"}, {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}),
    "parent": ({"link"}, set()),
    "child": ({"link"}, set()),
    "axis": ({"xyz"}, set()),
    "limit": ({"lower", "upper", "effort", "velocity"}, set()),
    "dynamics": ({"damping", "friction"}, set()),
    "mimic": ({"joint", "multiplier", "offset"}, set()),
}  # fmt: skip
"""Tag -> attributes and children."""

SEVERAL = {("robot", "link"), ("robot", "joint"), ("robot", "material"), ("link", "visual"), ("link", "collision")}

REASONS = {
    "gazebo": "settings of a simulator",
    "transmission": "motors and gears are not modelled; joint forces drive the joints",
    "ros2_control": "settings of a controller",
    "sensor": "sensors are not modelled; its link is a frame or a body",
    "safety_controller": "settings of a controller",
    "calibration": "settings of a controller",
    "contact": "contact is not modelled",
    "texture": "colours only",
}


def report_unread(robot: Element, report: ImportReport) -> None:
    """An entry for every tag and attribute that is not read; the contents of an unread tag are not listed."""
    waiting = [robot]
    while waiting:
        element = waiting.pop(0)
        attributes, children = READ[element.tag]
        for name in element.attributes:
            if name not in attributes and not name.startswith("xmlns"):
                report.ignored(f"attribute {name!r} of <{element.tag}>", element.where, "not part of URDF")
        seen: set[str] = set()
        for child in element.children:
            if child.tag not in children:
                report.ignored(f"<{child.tag}>", child.where, REASONS.get(child.tag, "not part of URDF"))
            elif child.tag in seen and (element.tag, child.tag) not in SEVERAL:
                report.ignored(f"second <{child.tag}>", child.where, "the first one counts")
            else:
                waiting.append(child)
            seen.add(child.tag)
