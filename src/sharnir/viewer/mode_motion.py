"""A mode of a linear model as a motion to be seen: one period, large enough to be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import pi

import numpy as np

from ..analysis.modes import Mode
from ..errors import AssemblyError, SingularError, StateError, brief
from ..types import FloatArray
from .build import scene_of
from .outline import corners
from .scene import GROUND, Scene

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
        try:
            return times, mode.motion(chosen, phases)
        except (AssemblyError, SingularError):
            chosen *= 0.5
    return times, mode.motion(chosen, phases)


def title_of_mode(mode: Mode) -> str:
    return f"{mode.frequency:.4g} Hz, {mode.kind}"


def visible_amplitude(mode: Mode) -> float:
    """Amplitude of the coordinate that moves most, for which some point moves by `VISIBLE` of the mechanism's size."""
    scene = scene_of(mode.dynamics.model, q=mode.q, t=mode.t)
    largest = 0.0
    for i, points in enumerate(_points(scene)):
        if len(points):
            moved = _displacement(mode, scene, i)
            turned = scene.rotation[0, i] @ points.T
            path = moved[:3, None] + np.cross(moved[3:], turned.T).T
            swing = np.exp(1j * np.linspace(0.0, pi, 13))  # half a period: the other half is its mirror image
            largest = max(largest, float(np.linalg.norm((swing[:, None, None] * path).real, axis=1).max()))
    return VISIBLE * scene.size / largest if largest > 0.0 else 1.0


def scene_of_mode(
    mode: Mode, show: Sequence[str] | None = None, amplitude: float | None = None, frames: int = 60
) -> Scene:  # fmt: skip
    """One period of a mode as a scene."""
    scene = scene_of(mode.dynamics.model, show, mode.q, mode.t)
    t, q = motion_of_mode(mode, amplitude, frames)
    rotation, position = scene.carried(np.full(len(t), mode.t), q, *mode.dynamics.poses(q, mode.t))
    low, high = scene.low, scene.high
    for i, points in enumerate(_points(scene)):
        if len(points):
            path = position[:, i, None] + np.einsum("tij,pj->tpi", rotation[:, i], points)
            low, high = np.minimum(low, path.min(axis=(0, 1))), np.maximum(high, path.max(axis=(0, 1)))
    return replace(scene.at_poses(t, rotation, position), low=low, high=high)


def _displacement(mode: Mode, scene: Scene, row: int) -> FloatArray:
    """(6,) complex displacement of a row of poses: a body, the base (the model's ground) or a place of a flexible body."""
    places, name = len(scene.bodies), scene.rows[row]
    if row < places or scene.carriers is None:
        return mode.body("ground" if row == len(mode.dynamics.model.bodies) else name)
    return mode.body(name, [float(x) for x in scene.carriers.places[row - places][1].position])


def _points(scene: Scene) -> list[FloatArray]:
    """Corners of what is drawn on every row of poses, in its axes."""
    found: list[list[FloatArray]] = [[] for _ in scene.rows]
    for part in scene.parts:
        if part.layer == "bodies" and part.carrier != GROUND:
            found[part.carrier] += corners(part.geometry, part.at)
    return [np.array(points).reshape(-1, 3) for points in found]
