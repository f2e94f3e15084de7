"""URDF: a tree of links. Links at fixed joints become part of the body that carries them, and frames on it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FormatError
from ..model.body import GROUND, Body, inertia_fault
from ..model.import_report import ImportReport
from ..model.model import Model
from ..model.pose import Pose, Rotation
from ..model.visual import Visual
from .paths import LoadOptions, MeshFolders
from .rigid_groups import Carrier, Mass, RigidGroups
from .urdf_joints import UrdfTree, read_couplings, read_joint, read_tree
from .xml import Element, located

PRIMITIVES = {"box": ("size",), "cylinder": ("radius", "length"), "capsule": ("radius", "length"), "sphere": ("radius",)}
USES = {"visual": "for viewing", "collision": "for viewing and for sharnir.add_ground"}
Colour = tuple[float, float, float, float]
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
"""Tag -> attributes and children that are read; all others are reported, with the reason where there is one."""

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
                report.ignored(
                    f"<{child.tag}>", child.where, REASONS.get(child.tag, "not part of URDF"), motion=child.tag != "texture"
                )
            elif child.tag in seen and (element.tag, child.tag) not in SEVERAL:
                report.ignored(f"second <{child.tag}>", child.where, "the first one counts")
            else:
                waiting.append(child)
            seen.add(child.tag)


# --- links and joints
def load_urdf(path: Path, options: LoadOptions, root: Element) -> Model:
    """A model from a URDF file; `root` is the file's root element."""
    if root.tag != "robot":
        raise root.error("a URDF begins with <robot>; is this another format?")
    _refuse_xacro(root)
    report = ImportReport(path, options.strict)
    model = Model(root.string("name"))
    model.import_report = report
    tree = read_tree(root)
    links = tree.links
    report_unread(root, report)
    with located(root.error):
        groups = _rigid_groups(model, tree, report, options.floating)
        # the inertia of every link has been checked
        groups.add_bodies(model, lambda link: located(links[link].error), check_inertia=False)
        for link, on in groups.carriers.items():
            if link != on.body or on.body == GROUND:
                with located(links[link].error):
                    model.add_frame(link, on.body, on.at)
        if options.floating:
            model.add_floating(groups.carriers[tree.root].body)
        for joint in tree.order:
            if joint.kind != "fixed":
                on, child = groups.carriers[joint.parent], groups.carriers[joint.child].body
                with located(joint.element.error):
                    made, turned = read_joint(joint, report, options)
                    model.add_joint(joint.name, made, on.body, child, on.at @ read_origin(joint.element) @ turned, turned)
        for follower, coupling in read_couplings(tree.joints, report).items():
            with located(tree.joints[follower].element.error):
                model.couple(follower, *coupling)
        materials, meshes = read_materials(root, report), MeshFolders(path, options.package_paths)
        for name, element in links.items():
            model.visuals += read_visuals(element, groups.carriers[name], materials, meshes, report)
    return model


def _refuse_xacro(robot: Element) -> None:
    """Tags and substitutions of xacro mean that it has not been run; a declared namespace alone is what it leaves behind."""
    for element in robot.walk():
        substituted = next((name for name, value in element.attributes.items() if "${" in value or "$(" in value), None)
        if element.tag.startswith("xacro:") or substituted is not None:
            what = f"the tag <{element.tag}>" if substituted is None else f"the substitution in {substituted!r}"
            raise element.error(f"{what} is xacro, not URDF; run it first: xacro {Path(element.file).name} > robot.urdf")


def _rigid_groups(model: Model, tree: UrdfTree, report: ImportReport, floating: bool) -> RigidGroups[str]:
    """Roots of rigid groups become bodies, everything fixed to them becomes part of them."""
    links, root, groups = tree.links, tree.root, RigidGroups[str]()

    def start_body(link: str) -> None:
        name = link
        if link == GROUND:  # the base of every model has this name
            name = next(n for n in (f"{GROUND} link{'_' * k}" for k in range(99)) if n not in links)
            note = f"the base of a model has this name; the body is {name!r}, {link!r} a frame on it"
            report.approximated("name of a link", links[link].where, note)
        groups.start(link, name)

    if floating:
        start_body(root)
    else:
        groups.fix_to_ground(root)
        report.honoured("root link fixed to the ground", links[root].where, "its mass has no effect")
    groups.add_mass(root, read_mass(links[root], report))
    for joint in tree.order:
        if joint.kind == "fixed":
            groups.attach(joint.child, joint.parent, read_origin(joint.element))
            model.fixed_joints[joint.name] = (joint.parent, joint.child)
            report.honoured("fixed joint", joint.element.where, "its child is merged into the carrier and is a frame")
        else:
            start_body(joint.child)
        groups.add_mass(joint.child, read_mass(links[joint.child], report))
    if not groups.masses:
        report.kept("robot without motion", links[root].where, "all is fixed to the ground; floating=True?")
    return groups


# --- inside a link: mass properties, and shapes to draw
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


def read_visuals(
    link: Element, on: Carrier, materials: Mapping[str, Colour], meshes: MeshFolders, report: ImportReport
) -> Iterator[Visual]:
    """The shapes of a link, placed on its body."""
    for element in link.children:
        if element.tag in USES:
            with only_reported(element, report), located(element.error):
                geometry = element.first("geometry")
                shape = next((g for g in (geometry.children if geometry else ()) if g.tag in (*PRIMITIVES, "mesh")), None)
                if shape is None:
                    report.ignored(f"{element.tag} without a known shape", element.where)
                    continue
                record: dict[str, Any] = {
                    "body": on.body, "kind": shape.tag, "at": on.at @ read_origin(element), "role": element.tag,
                    "name": element.attributes.get("name", ""), "link": link.string("name"),
                }  # fmt: skip
                material = element.first("material")
                if material is not None:
                    record["colour"] = _colour(material) or materials.get(material.attributes.get("name", ""))
                yield Visual(**record, **_geometry(shape, element, meshes, report))


def _geometry(shape: Element, element: Element, meshes: MeshFolders, report: ImportReport) -> dict[str, Any]:
    """Sizes of a primitive; place and scale of a mesh."""
    made: dict[str, Any]
    missing = ""
    if shape.tag == "mesh":
        uri = shape.string("filename")
        one = len(shape.attributes.get("scale", "1 1 1").split()) == 1  # for all three axes: common, though not in the standard
        scale = (shape.number("scale"),) * 3 if one else shape.numbers("scale", 3, (1.0, 1.0, 1.0))
        path, missing = meshes.mesh(uri)
        made = {"uri": uri, "path": path, "scale": scale, "own_colours": True}
    else:
        sizes = shape.numbers("size", 3) if shape.tag == "box" else tuple(map(shape.number, PRIMITIVES[shape.tag]))
        if min(sizes) < 0.0:
            raise shape.error(f"sizes must not be negative, got {sizes}")
        made = {"sizes": sizes}
    if missing:
        report.ignored(f"{element.tag} mesh", element.where, f"{made['uri']}: {missing}", motion=element.tag != "visual")
    else:
        report.kept(f"{element.tag} {shape.tag}", element.where, USES[element.tag])
    return made
