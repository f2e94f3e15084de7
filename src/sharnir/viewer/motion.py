"""Motions to be seen: a result at times between its rows; one period of a mode of a linear model, large enough to be seen."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from math import pi
from typing import Any

import numpy as np

from ..analysis.modes import Mode
from ..errors import NOT_A_NUMBER, AssemblyError, SingularError, StateError, brief
from ..simulation.results.result import Result
from ..types import FloatArray
from .build import scene_of
from .outline import corners
from .scene import GROUND, Scene, box_corners, outermost

CLOSE = 1e-9
"""A time outside the run by less than this share of its length is its start or its end."""


def check_time(r: Result, t: Any) -> float:
    """The time as a number, within the run."""
    try:
        found = float(t)
    except NOT_A_NUMBER:
        raise StateError(f"t: expected a time in seconds, got {brief(t)}") from None
    first, last = float(min(r.t[0], r.t[-1])), float(max(r.t[0], r.t[-1]))
    slack = CLOSE * max(last - first, abs(first), abs(last))
    if not first - slack <= found <= last + slack:
        raise StateError(f"t = {found:g} s is outside the run, which has {first:g} … {last:g} s: give a time between these")
    return min(max(found, first), last)


def at_times(scene: Scene, r: Result, times: Sequence[float] | FloatArray) -> Scene:
    """The scene of a result at any times of the run.

    Between two rows coordinates move evenly along the shortest way from one to the other (`Model.difference`), bodies are
    where the coordinates put them, arrows change linearly. At equal times the later row holds: the state after an event.
    """
    t = np.asarray(times, dtype=float)
    row, share = between(r.t, t)
    q = r.q[row].copy()
    last, mix = np.minimum(row + 1, len(r.t) - 1), share[:, None]
    missing = ~np.isfinite(q + np.where(mix > 0.0, r.q[last], 0.0))
    if missing.any():
        k, place = np.argwhere(missing)[0]
        raise StateError(f"there is no picture at t = {t[k]:g} s: coordinate {r.model.q_names[place]!r} is not a number there")
    for k in np.flatnonzero(share > 0.0):
        step = r.model.difference(r.q[row[k]], r.q[row[k] + 1], float(t[k]))
        q[k] = r.model.integrate(r.q[row[k]], share[k] * step, float(t[k]))
    parameters = r.parameters[row] if r.parameters.size else None
    rotation, position = scene.carriers.poses(t, q, *r.dynamics.poses(q, t, parameters=parameters))
    spans = [x if x.vector is None else replace(x, vector=(1 - mix) * x.vector[row] + mix * x.vector[last]) for x in scene.spans]
    return replace(scene, t=t, rotation=rotation, position=position, spans=spans)


def between(rows: FloatArray, t: FloatArray) -> tuple[np.ndarray, FloatArray]:
    """The row at or before each time, and the share of the way to the next; of rows at equal times, as at an event, the last."""
    sign = 1.0 if rows[-1] >= rows[0] else -1.0  # a run may go backwards
    row = np.clip(np.searchsorted(sign * rows, sign * t, side="right") - 1, 0, len(rows) - 1)
    gap = rows[np.minimum(row + 1, len(rows) - 1)] - rows[row]
    share = np.where(gap != 0.0, (t - rows[row]) / np.where(gap != 0.0, gap, 1.0), 0.0)
    return row, np.clip(share, 0.0, 1.0)


# --- modes
VISIBLE = 0.1
"""The largest displacement of a point, as a share of the mechanism's size."""
PERIOD = 2.0
"""Seconds in which one period is shown, whatever its frequency."""
HALVINGS = 6
"""How often a default amplitude is halved where loops cannot be closed at it."""


def motion_of_mode(mode: Mode, amplitude: float | None = None, frames: int = 60) -> tuple[FloatArray, FloatArray]:
    """(frames,) times of one period shown in `PERIOD` seconds, and (frames, nq) coordinates; the first follows the last.

    Displacements are those of the mode without its growth or decay, moved along the model's retraction; loops are closed again in
    every frame (`Mode.motion`). `amplitude` is that of the coordinate that moves most; by default the point that moves most moves
    by a tenth of the mechanism's size, or less where the loops do not reach so far.
    """
    if isinstance(frames, bool) or not isinstance(frames, (int, np.integer)) or frames < 2:
        raise StateError(f"frames: expected at least 2 of a period, got {brief(frames)}")
    phases = 2.0 * pi * np.arange(frames) / frames
    times = PERIOD * np.arange(frames) / frames
    if amplitude is not None:
        return times, mode.motion(amplitude, phases)
    chosen = visible_amplitude(mode)
    for _ in range(HALVINGS):
        with suppress(AssemblyError, SingularError):
            return times, mode.motion(chosen, phases)
        chosen *= 0.5
    return times, mode.motion(chosen, phases)


def title_of_mode(mode: Mode) -> str:
    return f"{mode.frequency:.4g} Hz, {mode.kind}"


def visible_amplitude(mode: Mode) -> float:
    """Amplitude of the coordinate that moves most, for which some point moves by `VISIBLE` of the mechanism's size."""
    scene = scene_of(mode.dynamics.model, q=mode.q, t=mode.t)
    largest = 0.0
    for i, points in _points(scene).items():
        moved = _displacement(mode, scene, i)
        turned = scene.rotation[0, i] @ points.T
        path = moved[:3, None] + np.cross(moved[3:], turned.T).T
        swing = np.exp(1j * np.linspace(0.0, pi, 13))  # half a period: the other half is its mirror image
        largest = max(largest, float(np.linalg.norm((swing[:, None, None] * path).real, axis=1).max()))
    return VISIBLE * scene.size / largest if largest > 0.0 else 1.0


def scene_of_mode(mode: Mode, show: Sequence[str] | None = None, amplitude: float | None = None, frames: int = 60) -> Scene:
    scene = scene_of(mode.dynamics.model, show, mode.q, mode.t)
    t, q = motion_of_mode(mode, amplitude, frames)
    rotation, position = scene.carriers.poses(np.full(len(t), mode.t), q, *mode.dynamics.poses(q, mode.t))
    outer = [box_corners(scene.low, scene.high) if scene.outermost is None else scene.outermost]
    for i, points in _points(scene).items():
        path = position[:, i, None] + np.einsum("tij,pj->tpi", rotation[:, i], points)
        outer.append(outermost(path.reshape(-1, 3)))
    every = np.concatenate(outer)
    return replace(scene.at_poses(t, rotation, position), low=every.min(axis=0), high=every.max(axis=0), outermost=every)


def _displacement(mode: Mode, scene: Scene, row: int) -> FloatArray:
    """(6,) complex displacement of a row of poses: a body, the base (the model's ground) or a place of a flexible body."""
    places, name = scene.carriers.first, scene.carriers.names[row]
    if row < places:
        return mode.body("ground" if row == len(mode.dynamics.model.bodies) else name)
    return mode.body(name, [float(x) for x in scene.carriers.places[row - places][1].position])


def _points(scene: Scene) -> dict[int, FloatArray]:
    """Corners of what is drawn on each row of poses, in its axes."""
    found: dict[int, list[FloatArray]] = {}
    for part in scene.parts:
        if part.layer == "bodies" and part.carrier != GROUND:
            found.setdefault(part.carrier, []).extend(corners(part.geometry, part.at))
    return {i: np.array(points) for i, points in found.items()}
