"""Joints as signs, one for each elementary motion; forces and constraints: springs that stretch, dampers, cylinders, tendons,
rods; frames; contacts and the grounds they touch; forces and reactions as arrows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..kernels import joint_stage as stage
from ..model.constraints import Distance, PointOnCurve, PointOnSurface, Rolling
from ..model.forces import Actuator, Bushing, Contact, HydraulicCylinder, SpringDamper, Tendon
from ..model.joints.elastic import Elastic
from ..model.joints.joint_type import ElementaryMotion
from ..model.placed_joint import PlacedJoint
from ..model.pose import Pose, Rotation, unit_axis
from ..model.shapes import HeightFunction, Plane, Points, Shape
from ..simulation.results.result import Result
from ..trace import at_values
from ..types import FloatArray
from .bodies import DARK, PALE, shape_part
from .outline import FEW, Outline, matrix
from .scene import Anchor, Colour, Geometry, Part, Span
from .solids import box, cone, cylinder, geometry, ring, rod, sphere, spring, square

DRIVEN: Colour = (0.85, 0.25, 0.22, 1.0)
"""A joint that is moved by a function of time, or by another joint."""
CUT: Colour = (0.60, 0.25, 0.60, 1.0)
"""A joint that closes a loop."""


def joint_parts(o: Outline, joint: PlacedJoint, closing: bool = False, rails: bool = True) -> Iterator[Part | Span]:
    """Signs of a joint. `rails`: draw what a slider slides on; a body with a shape needs none."""
    size = sign_size(o, joint)
    name = f"joint {joint.name}"
    moved = joint.follows is not None or joint.type.motion is not None
    colour = CUT if closing else DRIVEN if moved else DARK
    kinds = [m.kind for m in joint.motions]
    if stage.FREE in kinds:
        return  # it holds nothing
    count = sum(kind != stage.FIXED for kind in kinds)
    if count == 0:
        yield Part(name, "joints", box(), PALE, *o.carried(joint.child, joint.child_at, (1.4 * size,) * 3))
        return
    before, after, seen = Pose(), fixed_part(joint.motions), 0
    parent, parent_at = o.carriers.carry(joint.parent, joint.at)
    child, child_at = o.carriers.carry(joint.child, joint.child_at)
    for motion in joint.motions:
        if motion.kind == stage.FIXED:
            assert motion.placement is not None
            before = before @ motion.placement
            continue
        seen += 1
        # the first motion begins in the parent's frame, the last ends in the child's; those between are drawn with the child
        frame, carrier = (parent_at @ before, parent) if seen == 1 and count > 1 else (child_at @ after.inverse() @ before, child)
        for solid, at in _sign(motion, size, o.sides, with_axis=len(o.lengths) <= FEW):
            yield Part(name, "joints", solid, colour, carrier, matrix(frame) @ at)
    rail = next((m for m in joint.motions if m.kind == stage.SLIDE), None)
    if rails and rail is not None and count == 1:
        at = matrix(parent_at @ fixed_part(joint.motions[: joint.motions.index(rail)]))
        yield Part(name, "joints", cylinder(0.0, 8), PALE, parent, at @ _scaled(0.35 * size, 0.35 * size, 6.0 * size))
        ends = o.anchor(joint.parent, joint.at.position), o.anchor(joint.child, joint.child_at.position)
        yield Span(name, "joints", rod(8), PALE, 0.35 * size, *ends)


def sign_size(o: Outline, joint: PlacedJoint) -> float:
    """The radius of the sign of a joint."""
    parent, child = o.carriers.index(joint.parent), o.carriers.index(joint.child)
    return min(1.7 * min(o.width(i) for i in (parent, child)), 0.25 * o.length(child))


def _sign(motion: ElementaryMotion, size: float, sides: int, with_axis: bool) -> Iterator[tuple[Geometry, FloatArray]]:
    """The sign of a motion, along the z axis of its frame; `with_axis`: where it has an axis, with it."""
    if motion.kind == stage.TURN:
        yield cylinder(0.0, sides), _scaled(size, size, 2.6 * size)
    elif motion.kind == stage.SLIDE:
        yield box(), _scaled(2.0 * size, 2.0 * size, 3.2 * size)
    elif motion.kind == stage.SCREW:
        yield cylinder(0.0, sides), _scaled(0.7 * size, 0.7 * size, 4.0 * size)
        for k in (-1.2, -0.4, 0.4, 1.2):
            yield ring(0.25, sides), _scaled(size, size, size, k * size)
    elif motion.kind == stage.BALL:
        yield sphere(sides), _scaled(1.5 * size, 1.5 * size, 1.5 * size)
    else:  # a motion given by functions has no sign of its own
        yield sphere(8), _scaled(1.4 * size, 1.4 * size, 1.4 * size)
    if with_axis and motion.kind in (stage.TURN, stage.SLIDE, stage.SCREW):
        # a thin line along the axis with a tip in its positive direction, beyond what hides the sign
        yield rod(6), _scaled(0.14 * size, 0.14 * size, 6.0 * size, -3.0 * size)
        yield cone(8), _scaled(0.45 * size, 0.45 * size, 1.1 * size, 3.0 * size)


def fixed_part(motions: list[ElementaryMotion]) -> Pose:
    """Product of all fixed steps of a joint, its coordinates being zero."""
    pose = Pose()
    for motion in motions:
        if motion.kind == stage.FIXED:
            assert motion.placement is not None
            pose = pose @ motion.placement
    return pose


def _scaled(x: float, y: float, z: float, shift: float = 0.0) -> FloatArray:
    """(4, 4): scaled, then shifted along z."""
    out = np.diag([x, y, z, 1.0])
    out[2, 3] = shift
    return out


# --- forces and constraints
SPRING: Colour = (0.24, 0.55, 0.36, 1.0)
TENDON: Colour = (0.78, 0.35, 0.16, 1.0)


def force_parts(o: Outline, name: str, force: object) -> Iterator[Part | Span]:
    """Springs, dampers, cylinders, cables of a force that acts between points; shapes of a contact."""
    label = f"force {name}"
    if isinstance(force, SpringDamper):
        a, b = o.anchor(force.a, force.at_a), o.anchor(force.b, force.at_b)
        w = float(np.clip(0.09 * (float(force.length) or 0.2 * o.size), 0.004 * o.size, 0.03 * o.size))
        if force.stiffness or force.law is not None:
            yield Span(label, "springs", spring(8 if o.sides > 8 else 4), SPRING, w, a, b)
        if force.damping or not (force.stiffness or force.law is not None):
            yield from _telescope(label, a, b, 0.42 * w, 0.22 * w)
    elif isinstance(force, HydraulicCylinder):
        a, b, w = o.anchor(force.a, force.at_a), o.anchor(force.b, force.at_b), 0.02 * o.size
        yield from _telescope(label, a, b, w, 0.5 * w)
    elif isinstance(force, (Tendon, Actuator)):
        points = [o.anchor(body, at) for body, at in force.points]
        for a, b in pairwise(points):
            yield Span(label, "springs", rod(8), TENDON, 0.004 * o.size, a, b)
    elif isinstance(force, Contact):
        yield from contact_parts(o, name, force)
    elif isinstance(force, Bushing):
        r = 1.6 * o.width(o.carriers.index(force.b))
        ball = o.carried(force.b, Pose(force.at_b.position), (r, r, r))
        yield Part(label, "springs", sphere(o.sides), (*SPRING[:3], 0.6), *ball)
        a, b = o.anchor(force.a, force.at_a.position), o.anchor(force.b, force.at_b.position)
        yield Span(label, "springs", rod(), SPRING, 0.4 * r, a, b)


def constraint_parts(o: Outline, name: str, constraint: object) -> Iterator[Part | Span]:
    label = f"constraint {name}"
    if isinstance(constraint, Distance):
        ends = ((constraint.a, constraint.at_a), (constraint.b, constraint.at_b))
        w = 0.5 * min(o.width(o.carriers.index(body)) for body, _ in ends)
        yield Span(label, "constraints", rod(), CUT, w, o.anchor(*ends[0]), o.anchor(*ends[1]))
        for body, at in ends:
            yield _ball(o, label, body, at, 1.8 * w)
    elif isinstance(constraint, Rolling):
        pose = Pose(constraint.centre, Rotation.align_z(unit_axis(constraint.axis, constraint.label)))
        carrier, wheel = o.carried(constraint.body, pose, (constraint.radius,) * 3)
        yield Part(label, "constraints", ring(0.02), CUT, carrier, wheel)
        yield Part(label, "constraints", cylinder(0.0, 48), (*PALE[:3], 0.35), carrier, wheel @ np.diag([0.98, 0.98, 0.02, 1.0]))
    elif isinstance(constraint, (PointOnSurface, PointOnCurve)):
        yield _ball(o, label, constraint.body, constraint.at, 0.01 * o.size)


def _telescope(label: str, a: Anchor, b: Anchor, outer: float, inner: float) -> Iterator[Span]:
    yield Span(label, "springs", rod(), PALE, outer, a, b, share=(0.0, 0.6))
    yield Span(label, "springs", rod(), DARK, inner, a, b)


def _ball(o: Outline, name: str, body: str, at: Iterable[float], radius: float) -> Part:
    return Part(name, "constraints", sphere(12), CUT, *o.carried(body, Pose(list(at)), (radius,) * 3))


def axes_parts(name: str, carrier: int, at: FloatArray, length: float) -> Iterator[Part]:
    """A frame: red x, green y, blue z."""
    colours: tuple[Colour, ...] = ((0.85, 0.22, 0.20, 1.0), (0.22, 0.62, 0.26, 1.0), (0.20, 0.38, 0.85, 1.0))
    for axis, colour in zip(("x", "y", "z"), colours, strict=True):
        turned = matrix(Pose(rotation=Rotation.align_z(unit_axis(axis, name))), (0.035 * length, 0.035 * length, length))
        yield Part(name, "frames", rod(6), colour, carrier, at @ turned)


# --- contacts: grounds that are touched are in the layer of bodies, shapes that touch in that of collision shapes
TOUCHING: Colour = (0.85, 0.45, 0.20, 0.6)
CELLS = 48
"""Cells along an edge of the ground of a height function."""
EDGE = 4.0
"""Edge of a plane or a ground, in sizes of the mechanism."""


def contact_parts(o: Outline, name: str, contact: Contact) -> Iterator[Part]:
    label, carrier = f"contact {name}", o.carriers.index(contact.body)
    if isinstance(contact.shape, Shape):
        solid, at = shape_part(contact.shape, o.sides)
        yield Part(label, "collision", solid, TOUCHING, carrier, at)
    elif isinstance(contact.shape, Points):
        r = 0.008 * o.size
        for point in contact.shape.points:
            place = matrix(Pose(contact.shape.at @ point), (r, r, r))
            yield Part(label, "collision", sphere(8), TOUCHING, carrier, place)
    others = (c for c in o.model.forces.values() if isinstance(c, Contact) and (c.on, c.against) == (contact.on, contact.against))
    if next(others) is not contact:  # a ground that many touch is drawn once
        return
    under, surface, edge = o.carriers.index(contact.on), contact.against, EDGE * o.size
    if isinstance(surface, Plane):
        if contact.on != "ground" or abs(surface.at.rotation.entries[8]) < 0.999:  # else the floor itself, see `floor_heights`
            yield Part(label, "bodies", square(), PALE, under, matrix(surface.at, (edge, edge, 1.0)))
    elif isinstance(surface, HeightFunction):
        yield Part(label, "bodies", _relief(surface, edge), PALE, under, matrix(surface.at))
    elif contact.on == "ground":  # of a body, its own shape is drawn
        solid, at = shape_part(surface, o.sides)
        yield Part(label, "bodies", solid, PALE, under, at)


def floor_heights(o: Outline, up: FloatArray) -> list[float]:
    """Heights of horizontal planes of the ground that something touches, or on which discs roll."""
    touched = [c.against for c in o.model.forces.values() if isinstance(c, Contact) and c.on == "ground"]
    planes: list[tuple[Sequence[float], Sequence[float]]]
    planes = [(p.at.position, p.at.rotation.entries[2::3]) for p in touched if isinstance(p, Plane)]
    planes += [(c.point, unit_axis(c.normal, c.label)) for c in o.model.constraints.values() if isinstance(c, Rolling)]
    return [float(np.dot(point, up)) for point, normal in planes if np.dot(normal, up) > 0.999]


def _relief(ground: HeightFunction, edge: float) -> Geometry:
    line = np.linspace(-0.5 * edge, 0.5 * edge, CELLS + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    heights = np.array([at_values(ground.derivatives(a, b)[:3]) for a, b in zip(x.flat, y.flat, strict=True)], dtype=float)
    heights = np.where(np.isfinite(heights), heights, 0.0)
    normals = np.column_stack([-heights[:, 1], -heights[:, 2], np.ones(len(heights))])
    k = np.arange((CELLS + 1) * CELLS).reshape(CELLS, CELLS + 1)[:, :-1].ravel()
    faces = np.concatenate([np.stack([k, k + CELLS + 1, k + 1], 1), np.stack([k + 1, k + CELLS + 1, k + CELLS + 2], 1)])
    vertices = np.column_stack([x.ravel(), y.ravel(), heights[:, 0]])
    return geometry(vertices, faces, normals / np.linalg.norm(normals, axis=1)[:, None])


# --- forces and reactions as arrows, all of one layer to one scale
ROUNDING = 1e-6
"""A moment below that of its force at this share of the mechanism's size counts as zero."""
HEADS = ((0.76, 1.0),), ((0.62, 0.81), (0.81, 1.0))
"""Where the heads of forces and of moments are on the way."""
PREFIXES = {-2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G"}
LONGEST = 0.3
"""The longest arrow of a layer, in sizes of the mechanism."""
COLOURS: dict[str, tuple[Colour, Colour]] = {
    "forces": ((0.10, 0.55, 0.35, 1.0), (0.45, 0.65, 0.10, 1.0)),
    "reactions": ((0.80, 0.18, 0.28, 1.0), (0.62, 0.25, 0.72, 1.0)),
}
"""Colours of forces and of moments, by layer."""


@dataclass(frozen=True, eq=False)
class Load:
    """A force or a moment over time, at a point of a body."""

    name: str
    start: Anchor
    vector: FloatArray
    """(T, 3) in the world, N or N m."""
    is_moment: bool


def arrows(layer: str, loads: Sequence[Load], size: float) -> tuple[list[Span], str]:
    """Shafts and heads, and what their length means; a moment has two heads."""
    spans, words, least = list[Span](), list[str](), 0.0
    for moments, unit in ((False, "N"), (True, "N m")):
        alike = [x for x in loads if x.is_moment == moments]
        most = max((float(np.nanmax(np.linalg.norm(x.vector, axis=1), initial=0.0)) for x in alike), default=0.0)
        if most <= least:
            continue
        least = 1e-9 * most * size  # moments of forces that are known to rounding
        power = min(max(math.floor(math.log10(most) / 3), -2), 3)
        words.append(f"{most / 1000.0**power:.3g} {PREFIXES[power]}{unit}")
        for x in alike:
            way = x.vector * (LONGEST * size / most)
            if float(np.nanmax(np.abs(way), initial=0.0)) > 1e-3 * size:
                way, colour, width = np.where(np.isfinite(way), way, 0.0), COLOURS[layer][moments], 0.005 * size
                spans.append(Span(x.name, layer, rod(8), colour, width, x.start, vector=way, share=(0.0, 0.8)))
                heads = [Span(x.name, layer, cone(8), colour, 2.6 * width, x.start, vector=way, share=s) for s in HEADS[moments]]
                spans += heads
    return spans, f"{layer}: longest arrow of the run {' or '.join(words)}" if words else ""


def reactions(o: Outline, r: Result) -> list[Load]:
    """Reaction of every joint on the body it carries, at the joint."""
    found = []
    for joint in (*o.model.joints, *o.model.closing_joints):
        if isinstance(joint.type, Elastic):
            continue
        wrench, name = r.reaction(joint.name, axes="world", at="joint"), f"reaction of {joint.name}"
        start = o.anchor(joint.child, joint.child_at.position)
        found += [Load(name, start, wrench[:, :3], False), Load(name, start, wrench[:, 3:], True)]
    return found


def forces(o: Outline, r: Result) -> list[Load]:
    """Loads of every force of the model on every body, at the points where they act."""
    found, bodies = [], {b.name for b in o.model.bodies}
    rotation, _ = r.poses
    for name, action in r.force_actions.items():
        for body, wrench in action.items():
            if body not in bodies or wrench.ndim != 2 or wrench.shape[1] != 6:
                continue  # on a joint: not an arrow
            i = o.carriers.index(body)
            force, moment = wrench[:, :3], wrench[:, 3:]
            point = _point_of(force, moment, o.size)
            left = moment - np.cross(point, force)
            left[np.linalg.norm(left, axis=1) < ROUNDING * o.size * np.linalg.norm(force, axis=1)] = 0.0
            start, R = Anchor(i, point), rotation[:, i]
            found.append(Load(f"force {name} on {body}", start, np.einsum("tij,tj->ti", R, force), False))
            found.append(Load(f"moment {name} on {body}", start, np.einsum("tij,tj->ti", R, left), True))
    return found


def _point_of(force: FloatArray, moment: FloatArray, size: float) -> FloatArray:
    """Where a force acts on a body, from its moments at all times: the shortest p with moment = p × force, by least squares. The
    body's origin where that is far away: such a load is rather a moment."""
    good = np.isfinite(force).all(axis=1) & np.isfinite(moment).all(axis=1)
    f, m = force[good], moment[good]
    if not f.any():
        return np.zeros(3)
    rows = -np.cross(f[:, None, :], np.eye(3)[None]).transpose(0, 2, 1).reshape(-1, 3)  # p × f = −f × p
    point = np.asarray(np.linalg.lstsq(rows, m.reshape(-1), rcond=1e-9)[0], dtype=float)
    return point if np.linalg.norm(point) < size else np.zeros(3)
