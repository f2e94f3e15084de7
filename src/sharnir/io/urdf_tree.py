"""The links and joints of a URDF as a tree: names are unique, every link but one has one parent, nothing is circular."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import FormatError, known, no_such
from .xml import Element


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
    elements = _named(robot, "joint")
    joints = {name: _joint(name, element, links) for name, element in elements.items()}
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
    root = _root(robot, links, above)
    order: list[UrdfJoint] = []
    waiting = list(reversed(below[root]))
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting += reversed(below[joint.child])
    if len(order) < len(joints):
        raise _circle(above, {root, *(j.child for j in order)})
    return UrdfTree(links, joints, root, order)


def _named(robot: Element, tag: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in robot.all(tag):
        name = element.string("name")
        if name in found:
            raise element.error(f"there is a {tag} of this name in line {found[name].line} already; names must differ")
        found[name] = element
    return found


def _joint(name: str, element: Element, links: dict[str, Element]) -> UrdfJoint:
    ends = []
    for end in ("parent", "child"):
        place = element.first(end)
        if place is None:
            raise element.error(f'<{end} link="…"/> is missing')
        link = place.string("link")
        if link not in links:
            raise place.error(no_such("link", link, links))
        ends.append(link)
    return UrdfJoint(name, element.string("type"), ends[0], ends[1], element)


def _root(robot: Element, links: dict[str, Element], above: dict[str, UrdfJoint]) -> str:
    roots = [name for name in links if name not in above]
    if not roots:
        raise _circle(above, set())
    if len(roots) > 1:
        raise robot.error(
            f"the links {known(roots)} are all without a parent; join all but one of them to the rest, by fixed joints if need be"
        )
    return roots[0]


def _circle(above: dict[str, UrdfJoint], reached: set[str]) -> FormatError:
    """The error for links that carry each other in a circle: walk up from one of them until a link repeats."""
    link = next(name for name in above if name not in reached)
    path: list[str] = []
    while link not in path:
        path.append(link)
        link = above[link].parent
    circle = path[path.index(link) :]
    return above[circle[0]].element.error(f"the links {known(reversed(circle))} carry each other in a circle; a tree has a root")
