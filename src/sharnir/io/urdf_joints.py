"""Links and joints of a URDF as a tree, in which names are unique and nothing is circular; and what the elements of joints say:
type and axis, limits, passive forces, and the joint that each mimics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..errors import FormatError, known, no_such
from ..model.import_report import ImportReport
from ..model.joints import Free, Joint, Planar, Prismatic, Revolute
from ..model.pose import Pose, Rotation
from .paths import NOT_ACTING, LoadOptions
from .xml import Element

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
ONE_COORDINATE = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True)
class UrdfJoint:
    """A joint element and the links it names."""

    name: str
    kind: str
    parent: str
    child: str
    element: Element


@dataclass(frozen=True)
class UrdfTree:
    links: dict[str, Element]
    joints: dict[str, UrdfJoint]
    root: str
    order: list[UrdfJoint]
    """Joints such that each comes after the one that carries it, branches in the order of the file."""


def read_tree(robot: Element) -> UrdfTree:
    links = _named(robot, "link")
    if not links:
        raise robot.error("it has no <link>")
    joints = {name: _joint(name, element, links) for name, element in _named(robot, "joint").items()}
    above: dict[str, UrdfJoint] = {}
    below: dict[str, list[UrdfJoint]] = {name: [] for name in links}
    for joint in joints.values():
        other = above.get(joint.child)
        if other is not None:
            raise joint.element.error(
                f"link {joint.child!r} is the child of joint {other.name!r} (line {other.element.line}) too; a link of URDF "
                "has one parent. Loops need another format, or a joint added with cut=True after loading"
            )
        above[joint.child] = joint
        below[joint.parent].append(joint)
    roots = [name for name in links if name not in above]
    if len(roots) > 1:
        raise robot.error(
            f"the links {known(roots)} are all without a parent; join all but one of them to the rest, by fixed joints if need be"
        )
    order: list[UrdfJoint] = []
    waiting = [joint for root in roots for joint in reversed(below[root])]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting += reversed(below[joint.child])
    if len(order) < len(joints):
        raise _circle(above, {*roots, *(j.child for j in order)})
    for joint in joints.values():
        if joint.kind not in KINDS:
            raise joint.element.error(f"unknown type {joint.kind!r}; URDF has {known(KINDS)}")
    return UrdfTree(links, joints, roots[0], order)


def _named(robot: Element, tag: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in robot.all(tag):
        name = element.string("name")
        if name in found:
            raise element.error(f"there is a {tag} of this name in line {found[name].line} already; names must differ")
        found[name] = element
    return found


def _joint(name: str, element: Element, links: dict[str, Element]) -> UrdfJoint:
    def linked(end: str) -> str:
        place = element.first(end)
        if place is None:
            raise element.error(f'<{end} link="…"/> is missing')
        if (link := place.string("link")) not in links:
            raise place.error(no_such("link", link, links))
        return link

    return UrdfJoint(name, parent=linked("parent"), child=linked("child"), kind=element.string("type"), element=element)


def _circle(above: dict[str, UrdfJoint], reached: set[str]) -> FormatError:
    """The error for links that carry each other in a circle: walk up from one of them until a link repeats."""
    link = next(name for name in above if name not in reached)
    path: list[str] = []
    while link not in path:
        path.append(link)
        link = above[link].parent
    circle = path[path.index(link) :]
    return above[circle[0]].element.error(f"the links {known(reversed(circle))} carry each other in a circle; a tree has a root")


# --- inside a joint
def read_joint(joint: UrdfJoint, report: ImportReport, given: LoadOptions) -> tuple[Joint, Pose]:
    """The joint, and its frame relative to the origin that the file gives it."""
    options = {**_limits(joint, report, given.acts), **_passive_forces(joint, report, given)}
    report.honoured(f"{joint.kind} joint", joint.element.where)
    if joint.kind == "floating":
        return Free(**options), Pose()
    axis = _axis(joint.element)
    if joint.kind == "planar":  # motion in the plane normal to the axis; ours is normal to z
        return Planar(**options), Pose(rotation=Rotation.align_z(axis))
    return (Prismatic if joint.kind == "prismatic" else Revolute)(axis, **options), Pose()


def _axis(element: Element) -> tuple[float, float, float]:
    """The direction of `<axis xyz>`, (1, 0, 0) by default."""
    axis = element.first("axis")
    if axis is None:
        return 1.0, 0.0, 0.0
    x, y, z = axis.numbers("xyz", 3, (1.0, 0.0, 0.0))
    length = math.hypot(x, y, z)
    if length < 1e-12:
        raise axis.error("xyz: the axis has length zero; give a direction, e.g. '0 0 1'")
    return x / length, y / length, z / length


def _limits(joint: UrdfJoint, report: ImportReport, acts: bool) -> dict[str, Any]:
    """Bounds of the coordinate and limits of the drive: stored with the joint."""
    limit = joint.element.first("limit")
    bounded = joint.kind in ("revolute", "prismatic")
    if limit is None:
        if bounded:
            report.approximated(f"{joint.kind} joint without <limit>", joint.element.where, "URDF needs one; read as unlimited")
        return {}
    options: dict[str, Any] = {}
    if bounded:
        low, high = (limit.number(name, 0.0, unbounded=True) for name in ("lower", "upper"))
        if low > high:
            verdict = report.ignored if acts else report.kept
            verdict("limits in the wrong order", limit.where, f"lower {low:g} is above upper {high:g}", warning=True)
        if low <= high or not acts:
            options["limits"] = (low, high)
            _acts("limits of a joint", limit.where, "as an elastic stop", report, acts)
    elif "lower" in limit.attributes or "upper" in limit.attributes:
        report.ignored(f"bounds of a {joint.kind} joint", limit.where, "such a joint has none in URDF")
    for name in ("effort", "velocity"):
        if name in limit.attributes:
            options[name] = limit.number(name, unbounded=True)
            report.kept(f"{name} limit", limit.where, "for controllers")
    return options


def _acts(what: str, where: str, how: str, report: ImportReport, acts: bool) -> None:
    if acts:
        report.honoured(what, where, how)
    else:
        report.kept(what, where, NOT_ACTING)


def _passive_forces(joint: UrdfJoint, report: ImportReport, given: LoadOptions) -> dict[str, Any]:
    dynamics = joint.element.first("dynamics")
    if dynamics is None:
        return {}
    options: dict[str, Any] = {}
    for name in ("damping", "friction"):
        value = dynamics.number(name, 0.0)
        if value and not given.passive:
            report.ignored(name, dynamics.where, "passive=False leaves passive forces out")
        elif value < 0.0:
            raise dynamics.error(f"{name}: {value:g} must not be negative: it would add energy")
        elif value:
            options[name] = value
            if name == "damping":
                report.honoured(name, dynamics.where)
            else:
                _acts(name, dynamics.where, "smooth below 0.001 rad/s or m/s", report, given.acts)
    return options


def read_couplings(joints: dict[str, UrdfJoint], report: ImportReport) -> dict[str, tuple[str, float, float]]:
    """`<mimic>` of all joints as the file has them, a follower may lead others: {follower: (leader, ratio, offset)}."""
    found: dict[str, tuple[str, float, float]] = {}
    for joint in joints.values():
        mimic = joint.element.first("mimic")
        if mimic is None:
            continue
        leader, ratio, offset = mimic.string("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
        fault = _coupling_fault(joint, joints.get(leader))
        if fault:
            report.ignored("mimic", mimic.where, fault)
        elif ratio == 0.0:
            raise mimic.error("multiplier: zero locks the joint; make it a fixed joint")
        else:
            found[joint.name] = leader, ratio, offset
            report.honoured("mimic", mimic.where)
    for name in found:
        leader, seen = name, set[str]()
        while leader in found:
            if leader in seen:
                raise joints[leader].element.error(f"the joints {known(sorted(seen))} mimic each other in a circle")
            seen.add(leader)
            leader = found[leader][0]
    return found


def _coupling_fault(follower: UrdfJoint, leader: UrdfJoint | None) -> str:
    if follower.kind not in ONE_COORDINATE:
        return f"a {follower.kind} joint cannot follow another"
    if leader is None:
        return "there is no such joint to follow; the joint stays free"
    if leader.kind not in ONE_COORDINATE:
        return f"a {leader.kind} joint cannot lead another; the joint stays free"
    return ""
