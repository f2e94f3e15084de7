"""Joints of a URDF: type and axis, limits, passive forces, and the joint that each mimics."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..errors import known
from ..model.import_report import ImportReport
from ..model.joints import Free, Joint, Planar, Prismatic, Revolute
from ..model.pose import Pose, Rotation
from .urdf_tree import UrdfJoint
from .xml import Element

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
ONE_COORDINATE = ("revolute", "continuous", "prismatic")


class Coupling(NamedTuple):
    """follower = ratio · leader + offset."""

    follower: str
    leader: str
    ratio: float
    offset: float


def read_joint(joint: UrdfJoint, report: ImportReport, passive: bool) -> tuple[Joint, Pose]:
    """The joint, and its frame relative to the origin that the file gives it."""
    options = {**_limits(joint, report), **_passive_forces(joint, report, passive)}
    report.honoured(f"{joint.kind} joint", joint.element.where)
    if joint.kind == "floating":
        return Free(**options), Pose()
    axis = _axis(joint.element)
    if joint.kind == "planar":  # motion in the plane normal to the axis; ours is normal to z
        return Planar(**options), Pose(rotation=Rotation.align_z(axis))
    return (Prismatic if joint.kind == "prismatic" else Revolute)(axis, **options), Pose()


def check_kind(joint: UrdfJoint) -> None:
    if joint.kind not in KINDS:
        raise joint.element.error(f"unknown type {joint.kind!r}; URDF has {known(KINDS)}")


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


def _limits(joint: UrdfJoint, report: ImportReport) -> dict[str, Any]:
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
            report.kept("limits in the wrong order", limit.where, f"lower {low:g} is above upper {high:g}", warning=True)
        options["limits"] = (low, high)
        report.kept("limits of a joint", limit.where, "they act once the model has a JointStop")
    elif "lower" in limit.attributes or "upper" in limit.attributes:
        report.ignored(f"bounds of a {joint.kind} joint", limit.where, "such a joint has none in URDF")
    for name in ("effort", "velocity"):
        if name in limit.attributes:
            options[name] = limit.number(name, unbounded=True)
            report.kept(f"{name} limit", limit.where, "for controllers")
    return options


def _passive_forces(joint: UrdfJoint, report: ImportReport, passive: bool) -> dict[str, Any]:
    dynamics = joint.element.first("dynamics")
    options: dict[str, Any] = {}
    for name in ("damping", "friction"):
        value = dynamics.number(name, 0.0) if dynamics is not None else 0.0
        if not value or dynamics is None:
            continue
        if not passive:
            report.ignored(name, dynamics.where, "passive=False leaves passive forces out")
            continue
        if value < 0.0:
            raise dynamics.error(f"{name}: {value:g} must not be negative: it would add energy")
        options[name] = value
        if name == "damping":
            report.honoured(name, dynamics.where)
        else:
            report.kept(name, dynamics.where, "it acts once the model has a JointFriction")
    return options


def read_couplings(joints: dict[str, UrdfJoint], report: ImportReport) -> list[Coupling]:
    """`<mimic>` of all joints as the file has them: a follower may lead others."""
    found: dict[str, Coupling] = {}
    for joint in joints.values():
        mimic = joint.element.first("mimic")
        if mimic is None:
            continue
        coupling = Coupling(joint.name, mimic.string("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0))
        fault = _coupling_fault(joint, joints.get(coupling.leader))
        if fault:
            report.ignored("mimic", mimic.where, fault)
        elif coupling.ratio == 0.0:
            raise mimic.error("multiplier: zero locks the joint; make it a fixed joint")
        else:
            found[joint.name] = coupling
            report.honoured("mimic", mimic.where)
    for name in found:
        leader, seen = name, set[str]()
        while leader in found:
            if leader in seen:
                raise joints[leader].element.error(f"the joints {known(sorted(seen))} mimic each other in a circle")
            seen.add(leader)
            leader = found[leader].leader
    return list(found.values())


def _coupling_fault(follower: UrdfJoint, leader: UrdfJoint | None) -> str:
    if follower.kind not in ONE_COORDINATE:
        return f"a {follower.kind} joint cannot follow another"
    if leader is None:
        return "there is no such joint to follow; the joint stays free"
    if leader.kind not in ONE_COORDINATE:
        return f"a {leader.kind} joint cannot lead another; the joint stays free"
    return ""
