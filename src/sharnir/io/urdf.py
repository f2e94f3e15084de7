"""URDF: a tree of links. Links at fixed joints become part of the body that carries them, and frames on it."""

from __future__ import annotations

from pathlib import Path

from ..model.body import GROUND
from ..model.import_report import ImportReport
from ..model.model import Model
from .paths import LoadOptions, MeshFolders
from .rigid_groups import RigidGroups
from .urdf_joints import UrdfTree, read_couplings, read_joint, read_tree
from .urdf_links import VisualReader, read_mass, read_materials, read_origin
from .xml import Element, located

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
                report.ignored(f"<{child.tag}>", child.where, REASONS.get(child.tag, "not part of URDF"))
            elif child.tag in seen and (element.tag, child.tag) not in SEVERAL:
                report.ignored(f"second <{child.tag}>", child.where, "the first one counts")
            else:
                waiting.append(child)
            seen.add(child.tag)


# --- urdf
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
                    made, turned = read_joint(joint, report, options.passive)
                    model.add_joint(joint.name, made, on.body, child, on.at @ read_origin(joint.element) @ turned, turned)
        for coupling in read_couplings(tree.joints, report):
            with located(tree.joints[coupling.follower].element.error):
                model.couple(*coupling)
        reader = VisualReader(read_materials(root, report), MeshFolders(path, options.package_paths), report)
        for name, element in links.items():
            model.visuals += reader.read(element, groups.carriers[name])
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
