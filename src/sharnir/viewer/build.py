"""From a model or a result to a scene, with the ground under it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..dynamics import Dynamics
from ..equations.assembly.start import is_moved
from ..errors import AssemblyError, SingularError, StateError, brief, no_such
from ..model.joints.elastic import Elastic
from ..model.model import Model
from ..model.pose import Pose, Rotation
from ..model.references import listed_names
from ..model.states import check_model, check_state
from ..reporting.pictures import round_number
from ..simulation.results.result import Result
from ..types import FloatArray
from .bodies import DARK, PALE, PALETTE, bars, flexible_parts, mass_parts, shape_part, struts
from .brackets import bracket_parts
from .elements import arrows, axes_parts, constraint_parts, floor_heights, force_parts, forces, joint_parts, reactions
from .outline import FEW, Carriers, Outline, corners, matrix, outline
from .scene import GROUND, LAYERS, SHOWN, Colour, Line, Part, Scene, Span, box_corners, outermost
from .solids import sphere, square
from .visuals import Drawn, drawn_visuals

# --- the ground under a mechanism, with a grid of round numbers
FLOOR: Colour = (0.93, 0.94, 0.95, 1.0)
GRID: Colour = (0.72, 0.75, 0.78, 1.0)
TOUCHING, BELOW = 0.003, 0.04
"""Sizes of the mechanism: what is no deeper stands on the floor; else the floor is this far below, so that it cuts no joint."""
LINES = 10
"""Lines of the grid on either side of the middle."""


def ground_parts(
    low: FloatArray, high: FloatArray, up: FloatArray, size: float, known: float | None = None
) -> Iterator[Part | Line]:
    """A floor with a grid at the known height; else at the origin if nothing is below it, else below everything."""
    rotation = Rotation.align_z(up.tolist())
    axes = np.asarray(rotation.matrix, dtype=float)
    corner = box_corners(low, high) @ axes
    lowest, height = corner[:, 2].min(), known
    if height is None:
        height = 0.0 if -TOUCHING * size <= lowest <= size else lowest - BELOW * size
    step = round_number(max(np.ptp(corner[:, 0]), np.ptp(corner[:, 1]), 0.5 * size) / LINES)
    middle = np.round(0.5 * (corner[:, :2].min(axis=0) + corner[:, :2].max(axis=0)) / step) * step
    half = LINES * step
    centre = axes @ np.array([*middle, height])
    floor = matrix(Pose((centre - up * 2e-3 * size).tolist(), rotation), (2 * half, 2 * half, 1.0))
    yield Part("ground", "ground", square(), FLOOR, GROUND, floor)
    for k in range(-LINES, LINES + 1):
        for across in (0, 1):
            ends = np.array([[*middle, height]] * 2)
            ends[:, across] += k * step
            ends[:, 1 - across] += (-half, half)
            yield Line(f"grid, {step:g} m", "ground", ends @ axes.T, GRID)


# --- scenes of models and results
TRACE = 2000
"""Largest number of points of a path: more cannot be seen."""
FAR = 3.0
"""Sizes of the mechanism: a body that goes further away than the others is not kept in the picture."""
TIMES = 400
"""Times of a motion at which its extent is measured."""
Piece = Part | Span | Line
Trace = str | tuple[str, Sequence[float]]
"""A body's origin or a frame, by name; or a body and a point of it."""


def scene_of(
    subject: Model | Result, show: Sequence[str] | None = None, q: Any = None, t: float = 0.0, traces: Sequence[Trace] = ()
) -> Scene:
    """Everything that can be drawn of a model in a position, or of a motion.

    show    layers to be on, of `LAYERS`. Arrows of forces and reactions of large models are made where they are asked for
    q, t    the position of a model; joints given by name are held while loops are closed, an array is the nearest to close them
            at. By default that of its file, or the neutral one
    traces  points of a motion whose paths are drawn
    """
    shown = check_layers(show)
    if isinstance(subject, Result):
        if not len(subject):
            raise StateError("nothing to see: the result has no times")
        model = subject.model
        values = dict(zip(model.parameters, subject.parameters[0], strict=True)) if subject.parameters.size else None
        numeric = model.without_parameters(values)
        return _scene(model, numeric, subject.t, subject.q, *subject.poses, shown, subject, traces)
    model = check_model(subject, "a view")
    if traces:
        raise StateError("paths of points belong to a motion: give traces with a result of `simulate`")
    q, notes = position_of(model, q, t)
    R, r = Dynamics(model, "separate", "python").poses(q, t)
    return _scene(model, model.without_parameters(), np.array([t]), q[None], R[None], r[None], shown, None, (), notes)


def position_of(model: Model, q: Any = None, t: float = 0.0) -> tuple[FloatArray, list[str]]:
    """Coordinates of a position of the model, its loops closed. One that cannot be closed is drawn open: that is how a joint in
    the wrong place is found."""
    q = model.keyframes.get("qpos0") if q is None else q  # where an MJCF file has its bodies
    asked = check_state(model, q, None, t)[0]
    if not model.constraints:
        return asked, []
    try:
        found = model.assemble(q, t=t)[0]
    except (AssemblyError, SingularError) as error:
        return asked, [f"drawn with its loops open: {error}"]
    moved = q is not None and not isinstance(q, Mapping) and is_moved(model, asked, found)
    return found, ["drawn in the nearest position that closes its loops: the one given does not"] if moved else []


def check_layers(show: Sequence[str] | None) -> tuple[str, ...] | None:
    if show is None:
        return None
    names = (show,) if isinstance(show, str) else tuple(show)
    if names == ("all",):
        return tuple(LAYERS)
    for name in names:
        if name not in LAYERS:
            raise StateError(f"show: {no_such('layer', name, LAYERS)}, or 'all'")
    return names


def _scene(
    model: Model, numeric: Model, t: FloatArray, q: FloatArray, R: FloatArray, x: FloatArray, shown: tuple[str, ...] | None,
    r: Result | None, traces: Sequence[Trace], notes: Sequence[str] = (),
) -> Scene:  # fmt: skip
    """The scene of a model at given poses. `numeric`: the model without parameters, by which it is drawn."""
    carriers = Carriers(numeric)
    looks, missing, planes = _looks(carriers, "visual")
    looks += [] if shown is None or "collision" not in shown else _looks(carriers, "collision")[0]
    o = outline(carriers, R[0], x[0], [(p.carrier, corners(p.geometry, p.at)) for p in looks])
    pieces: list[Piece] = [*looks, *_mechanism(o, looks)]
    scales: dict[str, str] = {}
    if r is not None:
        for layer, loads_of in (("forces", forces), ("reactions", reactions)):
            if layer in (shown or ()) or (shown is None and len(model.bodies) <= FEW // 5):
                spans, meaning = arrows(layer, loads_of(o, r), o.size)
                pieces += spans
                scales |= {layer: meaning} if meaning else {}
        for trace in listed_names(traces, "traces", StateError):
            pieces += _trace(o, r, trace)
    R, x = carriers.poses(t, q, R, x)
    low, high, outer = _extent(o, R, x, [p for p in pieces if isinstance(p, Part)])
    gravity = -np.array(numeric.gravity, dtype=float)
    flat = high[2] - low[2] < 0.3 * min(high[:2] - low[:2])
    up = gravity / np.linalg.norm(gravity) if gravity.any() else np.eye(3)[1 if flat else 2]  # without gravity z is up, or y
    pieces += _floors(o, planes, low, high, up, is_heavy=bool(gravity.any()))
    if GROUND not in {p.carrier for p in looks}:  # what a file draws there shows what holds the mechanism
        floor = next((float(p.at[:3, 3] @ up) for p in pieces if isinstance(p, Part) and p.name == "ground"), None)
        brackets = list(bracket_parts(o, R, x, up, floor))
        pieces += brackets
        outer = np.concatenate([outer, *(corners(p.geometry, p.at) for p in brackets)]) if outer is not None else None
    if shown is None:  # meshes show where the joints are
        meshes = len({p.carrier for p in looks}) >= 0.5 * len(numeric.bodies) and bool(numeric.visuals)
        shown = tuple(name for name in SHOWN if name != "joints" or not meshes)
    parts = [p for p in pieces if isinstance(p, Part)]
    spans = [p for p in pieces if isinstance(p, Span)]
    lines = [p for p in pieces if isinstance(p, Line)]
    flexible = {body.name for body in numeric.bodies if body.flexible is not None}
    rigid = dict.fromkeys(v.body for v in numeric.visuals if v.body in flexible)
    remedy = "are drawn undeformed: attach them to nodes (Model.add_node)"
    notes = (*notes, *missing, *(f"visuals of the flexible body {name!r} {remedy}" for name in rigid))
    return Scene(model.name, t, R, x, carriers, parts, spans, lines, up, o.size, low, high, outer, shown, scales, notes)


def _mechanism(o: Outline, looks: Sequence[Part]) -> Iterator[Piece]:
    """Bodies without a look of their own, joints, forces and constraints, frames and masses."""
    m = o.model
    drawn = {p.carrier: p for p in looks if p.layer == "bodies"}
    seen = {m.body_index(v.body) for v in m.visuals if v.body != "ground"}
    for i, body in enumerate(m.bodies):
        if i in o.carriers.hidden:
            continue
        if o.carriers.is_flexible(i) and i not in drawn:
            yield from flexible_parts(o, i, PALETTE[i % len(PALETTE)])
        elif i not in drawn:
            yield from bars(o, i, PALETTE[i % len(PALETTE)])
        elif i not in seen:  # a shape; what a file draws is complete
            yield from struts(o, drawn[i])
        if not o.carriers.is_flexible(i):  # the centre of a deformed body is elsewhere
            yield from mass_parts(o, i)
        yield from axes_parts(f"axes of {body.name}", i, np.eye(4), 6 * o.width(i))
    for name, (carrier, at) in m.frames.items():
        yield from axes_parts(f"frame {name}", *o.carried(carrier, at), 8 * o.width(o.carriers.index(carrier)))
    for k, joint in enumerate((*m.joints, *m.closing_joints)):
        if not isinstance(joint.type, Elastic):
            yield from joint_parts(o, joint, closing=k >= len(m.joints), rails=o.carriers.index(joint.parent) not in drawn)
    for name, force in m.forces.items():
        yield from force_parts(o, name, force)
    for name, constraint in m.constraints.items():
        yield from constraint_parts(o, name, constraint)


def _floors(
    o: Outline, planes: Sequence[Drawn], low: FloatArray, high: FloatArray, up: FloatArray, is_heavy: bool
) -> Iterator[Part | Line]:
    """The ground under a model with gravity, at the file's height if it gives one; and other planes of the file."""
    floors = [one for one in planes if is_heavy and one.body == "ground" and one.at[:3, 2] @ up > 0.999]
    if is_heavy:
        heights = [float(one.at[:3, 3] @ up) for one in floors] + floor_heights(o, up)
        yield from ground_parts(low, high, up, o.size, max(heights, default=None))
    wide = np.diag([4.0 * o.size, 4.0 * o.size, 1.0, 1.0])
    for one in planes:
        if not any(one is floor for floor in floors):
            yield Part(one.label, "ground", one.geometry, one.colour or PALE, o.carriers.index(one.body), one.at @ wide)


def _looks(carriers: Carriers, role: str) -> tuple[list[Part], list[str], list[Drawn]]:
    """Visuals of the model, and shapes of bodies that have none; notes about them; planes without edges."""
    model = carriers.model
    layer, sides = "bodies" if role == "visual" else "collision", 48 if len(model.bodies) <= FEW else 8
    drawn_ones, notes = drawn_visuals(model, role, sides=sides)
    parts: list[Part] = []
    for one in drawn_ones:
        i = carriers.index(one.body)
        if not one.endless:
            plain = PALETTE[i % len(PALETTE)] if i != GROUND else PALE
            parts.append(Part(one.label, layer, one.geometry, one.colour or plain, i, one.at))
    drawn = {p.carrier for p in parts}
    if role == "visual":
        for i, body in enumerate(model.bodies):
            if i not in drawn and body.shape is not None:
                geometry, at = shape_part(body.shape, sides)
                parts.append(Part(f"body {body.name}", layer, geometry, PALETTE[i % len(PALETTE)], i, at))
    return parts, notes, [one for one in drawn_ones if one.endless]


def _trace(o: Outline, r: Result, trace: Trace) -> Iterator[Part | Line]:
    """The path of a point, and the point."""
    frames = o.model.frames
    if isinstance(trace, str) and trace in frames:
        body, pose = frames[trace]
        point: Sequence[float] = pose.position
    elif isinstance(trace, str):
        body, point = trace, (0.0, 0.0, 0.0)
    elif isinstance(trace, tuple) and len(trace) == 2:
        body, point = trace
    else:
        raise StateError(f"traces: expected the name of a body or a frame, or (body, point); got {brief(trace)}")
    path = r.point(body, point)
    path = path[:: max(1, len(path) // TRACE)]
    name = f"path of {body}" + (f" {tuple(point)}" if any(point) else "")
    yield Line(name, "traces", path, (0.85, 0.35, 0.20, 1.0))
    radius = 0.006 * o.size
    yield Part(name, "traces", sphere(12), DARK, *o.carried(body, Pose(list(point)), (radius, radius, radius)))


def _extent(o: Outline, R: FloatArray, x: FloatArray, parts: Sequence[Part]) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """The box that holds bodies, and what is attached to them, at all times, and the outermost points. A free body that flies
    away from the others does not count: they would be specks."""
    some = slice(None, None, max(1, len(x) // TIMES))
    good = np.isfinite(x[some]).all(axis=(1, 2))
    R, x = R[some][good], x[some][good]
    points = {i: list(near) for i, near in enumerate(o.extent)} | {o.carriers.index("ground"): list(o.fixed)}
    for part in parts:
        if part.layer in ("bodies", "constraints") and part.carrier != GROUND:
            points.setdefault(part.carrier, []).extend(corners(part.geometry, part.at))
    boxes = []
    for i, near in points.items():
        if near and len(x):
            world = np.array(near)[None] if i == GROUND else x[:, i, None] + np.einsum("tij,pj->tpi", R[:, i], np.array(near))
            boxes.append((world[0].mean(axis=0), outermost(world.reshape(-1, 3))))
    if not boxes:
        return np.full(3, -0.5 * o.size), np.full(3, 0.5 * o.size), None
    middle = np.mean([start for start, _ in boxes], axis=0)
    held = [outer for _, outer in boxes if np.abs(outer - middle).max() < FAR * o.size]
    every = np.concatenate(held or [outer for _, outer in boxes])
    return every.min(axis=0), every.max(axis=0), outermost(every)
