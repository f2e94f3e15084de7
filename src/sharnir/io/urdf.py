"""URDF: a tree of links. Links at fixed joints become part of the body that carries them, and frames on it."""

from __future__ import annotations

from pathlib import Path

from ..model.body import GROUND
from ..model.import_report import ImportReport
from ..model.model import Model
from .meshes import MeshFinder
from .paths import LoadOptions
from .rigid_groups import RigidGroups
from .urdf_joints import check_kind, read_couplings, read_joint
from .urdf_links import VisualReader, read_mass, read_materials, read_origin
from .urdf_tree import UrdfTree, read_tree
from .xml import Element, located

# --- which tags and attributes of URDF are read; all others are reported, with the reason where there is one
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


# --- urdf
def load_urdf(path: Path, options: LoadOptions, robot: Element) -> Model:
    """A model from a URDF file; `robot` is the file's root element."""
    if robot.tag != "robot":
        raise robot.error("a URDF begins with <robot>; is this another format?")
    refuse_xacro(robot)
    report = ImportReport(path, options.strict)
    model = Model(robot.string("name"))
    model.import_report = report
    tree = read_tree(robot)
    for joint in tree.joints.values():
        check_kind(joint)
    report_unread(robot, report)
    with located(robot.error):
        builder = _Builder(model, tree, report, options)
        builder.build()
        reader = VisualReader(read_materials(robot, report), MeshFinder(path, options.package_paths), report)
        for name, link in tree.links.items():
            model.visuals += reader.read(link, builder.groups.carriers[name])
    return model


def refuse_xacro(robot: Element) -> None:
    """Tags and substitutions of xacro mean that it has not been run; a declared namespace alone is what it leaves behind."""
    for element in robot.walk():
        substituted = next((name for name, value in element.attributes.items() if "${" in value or "$(" in value), None)
        if element.tag.startswith("xacro:") or substituted is not None:
            what = f"the tag <{element.tag}>" if substituted is None else f"the substitution in {substituted!r}"
            raise element.error(f"{what} is xacro, not URDF; run it first: xacro {Path(element.file).name} > robot.urdf")


class _Builder:
    """Bodies, frames and joints of a tree of links, added to a model."""

    def __init__(self, model: Model, tree: UrdfTree, report: ImportReport, options: LoadOptions) -> None:
        self.model, self.tree, self.report, self.options = model, tree, report, options
        self.groups = RigidGroups[str]()

    def build(self) -> None:
        self._place_links()
        links = self.tree.links
        # the inertia of every link has been checked
        self.groups.add_bodies(self.model, lambda link: located(links[link].error), check_inertia=False)
        for link, on in self.groups.carriers.items():
            if link != on.body or on.body == GROUND:
                with located(links[link].error):
                    self.model.add_frame(link, on.body, on.at)
        if self.options.floating:
            self.model.add_floating(self.groups.carriers[self.tree.root].body)
        self._add_joints()
        for coupling in read_couplings(self.tree.joints, self.report):
            with located(self.tree.joints[coupling.follower].element.error):
                self.model.couple(*coupling)

    def _place_links(self) -> None:
        """Roots of rigid groups become bodies, everything fixed to them becomes part of them."""
        tree, root, groups = self.tree, self.tree.root, self.groups
        if self.options.floating:
            self._start_body(root)
        else:
            groups.fix_to_ground(root)
            self.report.honoured("root link fixed to the ground", tree.links[root].where, "its mass has no effect")
        groups.add_mass(root, read_mass(tree.links[root], self.report))
        for joint in tree.order:
            if joint.kind == "fixed":
                groups.attach(joint.child, joint.parent, read_origin(joint.element))
                self.model.fixed_joints[joint.name] = (joint.parent, joint.child)
                self.report.honoured("fixed joint", joint.element.where, "its child is merged into the carrier and is a frame")
            else:
                self._start_body(joint.child)
            groups.add_mass(joint.child, read_mass(tree.links[joint.child], self.report))
        if not groups.masses:
            self.report.kept("robot without motion", tree.links[root].where, "all is fixed to the ground; floating=True?")

    def _start_body(self, link: str) -> None:
        name = link
        if link == GROUND:  # the base of every model has this name
            name = next(n for n in (f"{GROUND} link{'_' * k}" for k in range(99)) if n not in self.tree.links)
            note = f"the base of a model has this name; the body is {name!r}, {link!r} a frame on it"
            self.report.approximated("name of a link", self.tree.links[link].where, note)
        self.groups.start(link, name)

    def _add_joints(self) -> None:
        for joint in self.tree.order:
            if joint.kind == "fixed":
                continue
            on, child = self.groups.carriers[joint.parent], self.groups.carriers[joint.child].body
            with located(joint.element.error):
                made, turned = read_joint(joint, self.report, self.options.passive)
                self.model.add_joint(joint.name, made, on.body, child, on.at @ read_origin(joint.element) @ turned, turned)
