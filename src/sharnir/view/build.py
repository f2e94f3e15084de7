"""From a model or a result to a scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dynamics import Dynamics
from ..errors import AssemblyError, SingularError, StateError, brief, no_such
from ..model.model import Model
from ..model.pose import Pose
from ..model.states import check_model, check_state
from ..simulation.result import Result
from ..types import FloatArray
from .arrows import Load, arrows, forces, reactions
from .bodies import DARK, PALE, PALETTE, bars, mass_parts, shape_part
from .elements import axes_parts, constraint_parts, force_parts
from .glyphs import joint_parts
from .ground import ground_parts
from .outline import FEW, Outline, corners, index, matrix, outline, with_base
from .scene import GROUND, LAYERS, SHOWN, Line, Part, Scene, Span
from .visuals import Drawn, drawn_visuals

TRACE = 2000
"""Points of the path of a point: more cannot be seen."""

TIMES = 400
"""Of a motion, at which its extent is looked at."""

Trace = str | tuple[str, Sequence[float]]
"""A body's origin or a frame, by name; or a body and a point of it."""


def scene_of(
    subject: Model | Result,
    show: Sequence[str] | None = None,
    q: Any = None,
    t: float = 0.0,
    traces: Sequence[Trace] = (),
) -> Scene:
    """Everything that can be drawn of a model in a position, or of a motion.

    show    layers to be on, of `LAYERS`. Arrows of forces and reactions of large models are made where they are asked for
    q, t    the position of a model; loops are closed nearest to it. By default the neutral one, or near it
    traces  points of a motion whose paths are drawn
    """
    shown = check_layers(show)
    if isinstance(subject, Result):
        return _of_result(subject, shown, traces)
    model = check_model(subject, "a view")
    if traces:
        raise StateError("paths of points belong to a motion: give traces with a result of `simulate`")
    q, notes = position_of(model, q, t)
    R, r = Dynamics(model, "separate", "python").poses(q, t)
    return _scene(model, model.without_parameters(), np.array([t]), R[None], r[None], shown, None, (), notes)


def position_of(model: Model, q: Any = None, t: float = 0.0) -> tuple[FloatArray, list[str]]:
    """Coordinates of a position of the model, its loops closed. One that cannot be closed is drawn open: that is how a joint in
    the wrong place is found."""
    if model.constraints:
        try:
            return model.assemble(q, t=t)[0], []
        except (AssemblyError, SingularError) as error:
            notes = [f"drawn with its loops open: {error}"]
    else:
        notes = []
    return check_state(model, q, None, t)[0], notes


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


def _of_result(r: Result, shown: tuple[str, ...] | None, traces: Sequence[Trace]) -> Scene:
    if not len(r):
        raise StateError("nothing to see: the result has no times")
    values = dict(zip(r.model.parameters, r.parameters[0], strict=True)) if r.parameters.size else None
    R, x = r.poses
    return _scene(r.model, r.model.without_parameters(values), r.t, R, x, shown, r, traces)


def _scene(
    model: Model, numeric: Model, t: FloatArray, R: FloatArray, x: FloatArray, shown: tuple[str, ...] | None,
    r: Result | None, traces: Sequence[Trace], notes: Sequence[str] = (),
) -> Scene:  # fmt: skip
    """`numeric`: the model with numbers in all places, by which it is drawn."""
    R, x = with_base(numeric, t, R, x)
    looks, missing, planes = _looks(numeric, "visual")
    looks += [] if shown is None or "collision" not in shown else _looks(numeric, "collision")[0]
    o = outline(numeric, R[0], x[0], [(p.carrier, corners(p.geometry, p.at)) for p in looks])
    parts: list[Part] = list(looks)
    spans: list[Span] = []
    lines: list[Line] = []
    drawn = {p.carrier for p in looks if p.layer == "bodies"}
    for i in range(len(numeric.bodies)):
        if i not in drawn:
            parts += bars(o, i, PALETTE[i % len(PALETTE)])
        parts += mass_parts(o, i)
        parts += axes_parts(f"axes of {numeric.bodies[i].name}", "frames", i, np.eye(4), 6 * o.width(i))
    for name, (body, at) in numeric.frames.items():
        parts += axes_parts(f"frame {name}", "frames", index(numeric, body), matrix(at), 8 * o.width(index(numeric, body)))
    for joint in numeric.joints:
        parts += joint_parts(o, joint)
    for joint in numeric.closing_joints:
        parts += joint_parts(o, joint, closing=True)
    for kind, elements in ((force_parts, numeric.forces), (constraint_parts, numeric.constraints)):
        for name, element in elements.items():
            for piece in kind(o, name, element):
                parts.append(piece) if isinstance(piece, Part) else spans.append(piece)
    scales: dict[str, str] = {}
    if r is not None:
        for layer, loads_of in (("forces", forces), ("reactions", reactions)):
            if layer in (shown or ()) or (shown is None and len(numeric.bodies) <= FEW // 5):
                loads: list[Load] = loads_of(o, r)
                made, meaning = arrows(layer, loads, o.size)
                spans += made
                scales |= {layer: meaning} if meaning else {}
        for trace in traces:
            _trace(o, r, trace, parts, lines)
    low, high = _extent(o, R, x, parts)
    up = -np.array(numeric.gravity, dtype=float)
    weightless = not up.any()
    up = _up_in_space(high - low) if weightless else up / np.linalg.norm(up)
    if not weightless:
        floors = [one.at[:3, 3] @ up for one in planes if _is_floor(one, up)]
        for ground in ground_parts(low, high, up, o.size, max(floors, default=None)):
            parts.append(ground) if isinstance(ground, Part) else lines.append(ground)
    wide = np.diag([4.0 * o.size, 4.0 * o.size, 1.0, 1.0])
    for one in planes:
        if weightless or not _is_floor(one, up):
            parts.append(Part(one.label, "ground", one.geometry, one.colour or PALE, index(numeric, one.body), one.at @ wide))
    if shown is None:  # meshes show where the joints are
        shown = tuple(name for name in SHOWN if name != "joints" or len(drawn) < 0.5 * len(numeric.bodies) or not numeric.visuals)
    names = (*(body.name for body in numeric.bodies), *["base"] * (numeric.base_motion is not None))
    return Scene(model.name, t, R, x, names, parts, spans, lines, up, o.size, low, high, shown, scales, (*notes, *missing))


def _is_floor(plane: Drawn, up: FloatArray) -> bool:
    return plane.body == "ground" and bool(plane.at[:3, 2] @ up > 0.999)


def _up_in_space(extent: FloatArray) -> FloatArray:
    """Without gravity z is up; y for a mechanism that is flat in xy."""
    return np.eye(3)[1 if extent[2] < 0.3 * min(extent[:2]) else 2]


def _looks(model: Model, role: str) -> tuple[list[Part], list[str], list[Drawn]]:
    """Visuals of the model, and shapes of bodies that have none; what is to be said of them; planes without edges."""
    layer, sides = "bodies" if role == "visual" else "collision", 48 if len(model.bodies) <= FEW else 8
    drawn_ones, notes = drawn_visuals(model, role, sides=sides)
    parts: list[Part] = []
    for one in drawn_ones:
        i = index(model, one.body)
        if not one.endless:
            plain = PALETTE[i % len(PALETTE)] if i != GROUND else PALE
            parts.append(Part(one.label, layer, one.geometry, one.colour or plain, i, one.at))
    drawn = {p.carrier for p in parts}
    if role == "visual":
        for i, body in enumerate(model.bodies):
            if i not in drawn and body.shape is not None:
                geometry, at = shape_part(body, body.shape, sides)
                parts.append(Part(f"body {body.name}", layer, geometry, PALETTE[i % len(PALETTE)], i, at))
    return parts, notes, [one for one in drawn_ones if one.endless]


def _trace(o: Outline, r: Result, trace: Trace, parts: list[Part], lines: list[Line]) -> None:
    """The path of a point, and the point."""
    from .solids import sphere

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
    lines.append(Line(name, "traces", path, (0.85, 0.35, 0.20, 1.0)))
    radius = 0.006 * o.size
    at = matrix(Pose(list(point)), (radius, radius, radius))
    parts.append(Part(name, "traces", sphere(12), DARK, index(o.model, body), at))


def _extent(o: Outline, R: FloatArray, x: FloatArray, parts: Sequence[Part]) -> tuple[FloatArray, FloatArray]:
    """The box that bodies, and what is attached to them, keep in at all times."""
    some = slice(None, None, max(1, len(x) // TIMES))
    good = np.isfinite(x[some]).all(axis=(1, 2))
    R, x = R[some][good], x[some][good]
    points = {i: list(near) for i, near in enumerate(o.extent)} | {index(o.model, "ground"): list(o.fixed)}
    for part in parts:
        if part.layer in ("bodies", "constraints"):
            points[part.carrier] += corners(part.geometry, part.at)
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for i, near in points.items():
        if near:
            world = np.array(near)[None] if i == GROUND else x[:, i, None] + np.einsum("tij,pj->tpi", R[:, i], np.array(near))
            low, high = np.minimum(low, world.min(axis=(0, 1))), np.maximum(high, world.max(axis=(0, 1)))
    return low, high
