"""URDF: a tree of links. Links behind fixed joints become part of the body that carries them, and frames on it."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import numpy as np

from ..model.body import GROUND
from ..model.import_report import ImportReport
from ..model.model import Model
from ..model.pose import Pose
from .masses import Mass, composed
from .meshes import MeshFinder
from .urdf_joints import check_kind, read_couplings, read_joint
from .urdf_known import report_unread
from .urdf_links import read_mass, read_materials, read_origin, read_visuals
from .urdf_tree import UrdfTree, read_tree
from .xml import Element, read_xml


def load_urdf(
    path: str | PathLike[str],
    floating: bool = False,
    strict: bool = False,
    package_paths: Iterable[str | PathLike[str]] = (),
    passive: bool = True,
    root: Element | None = None,
) -> Model:
    """A model from a URDF file. See `sharnir.load` for the options; `root` is the file's root element if it is read already."""
    path = Path(path)
    robot = read_xml(path) if root is None else root
    if robot.tag != "robot":
        raise robot.error("a URDF begins with <robot>; is this another format?")
    refuse_xacro(robot)
    report = ImportReport(path, strict)
    model = Model(robot.string("name"))
    model.import_report = report
    tree = read_tree(robot)
    for joint in tree.joints.values():
        check_kind(joint)
    report_unread(robot, report)
    builder = _Builder(model, tree, report, floating, passive)
    builder.build()
    finder, materials = MeshFinder(path, package_paths), read_materials(robot)
    for name, link in tree.links.items():
        body, at = builder.place[name]
        model.visuals += read_visuals(link, body, at, materials, finder, report)
    return model


def refuse_xacro(robot: Element) -> None:
    """A declared namespace alone is what xacro leaves behind; its tags and substitutions mean that it has not run."""
    for element in robot.walk():
        substituted = next((name for name, value in element.attributes.items() if "${" in value or "$(" in value), None)
        if element.tag.startswith("xacro:") or substituted is not None:
            what = f"the tag <{element.tag}>" if substituted is None else f"the substitution in {substituted!r}"
            raise element.error(f"{what} is xacro, not URDF; run it first: xacro {Path(element.file).name} > robot.urdf")


class _Builder:
    def __init__(self, model: Model, tree: UrdfTree, report: ImportReport, floating: bool, passive: bool) -> None:
        self.model, self.tree, self.report = model, tree, report
        self.floating, self.passive = floating, passive
        self.place: dict[str, tuple[str, Pose]] = {}
        """Of every link: its body, and where it is on it."""
        self.parts: dict[str, list[Mass]] = {GROUND: []}

    def build(self) -> None:
        self._place_links()
        for body, parts in self.parts.items():
            if body != GROUND:
                self._add_body(body, composed(parts))
        for link, (body, at) in self.place.items():
            if link != body or body == GROUND:
                self.model.add_frame(link, body, at)
        if self.floating:
            self.model.add_floating(self.place[self.tree.root][0])
        self._add_joints()
        for coupling in read_couplings(self.tree.joints, self.report):
            self.model.couple(*coupling)

    def _place_links(self) -> None:
        """Roots of rigid groups become bodies, everything fixed to them becomes part of them."""
        tree, root = self.tree, self.tree.root
        if self.floating:
            self._start_body(root)
        else:
            self.place[root] = (GROUND, Pose())
            self.report.honoured("root link fixed to the ground", tree.links[root].where, "its mass plays no part")
        self._add_part(root)
        for joint in tree.order:
            if joint.kind == "fixed":
                body, at = self.place[joint.parent]
                self.place[joint.child] = (body, at @ read_origin(joint.element))
                self.model.fixed_joints[joint.name] = (joint.parent, joint.child)
                self.report.honoured("fixed joint", joint.element.where, "its child is merged into the carrier and is a frame")
            else:
                self._start_body(joint.child)
            self._add_part(joint.child)
        if len(self.parts) == 1:
            self.report.kept("robot without motion", tree.links[root].where, "all is fixed to the ground; floating=True?")

    def _start_body(self, link: str) -> None:
        name = link
        if link == GROUND:  # the base of every model has this name
            name = next(n for n in (f"{GROUND} link{'_' * k}" for k in range(99)) if n not in self.tree.links)
            note = f"the base of a model has this name; the body is {name!r}, {link!r} a frame on it"
            self.report.approximated("name of a link", self.tree.links[link].where, note)
        self.place[link] = (name, Pose())
        self.parts[name] = []

    def _add_part(self, link: str) -> None:
        body, at = self.place[link]
        self.parts[body].append(read_mass(self.tree.links[link], self.report).moved(at))

    def _add_body(self, name: str, mass: Mass) -> None:
        # the inertia of each link has been judged; merging changes nothing in that
        self.model.add_body(name, mass.mass, mass.com.tolist(), np.asarray(mass.inertia), check_inertia=False)

    def _add_joints(self) -> None:
        for joint in self.tree.order:
            if joint.kind == "fixed":
                continue
            made, turned = read_joint(joint, self.report, self.passive)
            body, at = self.place[joint.parent]
            child = self.place[joint.child][0]
            self.model.add_joint(joint.name, made, body, child, at @ read_origin(joint.element) @ turned, turned)
