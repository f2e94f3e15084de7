"""The motion of a scene as key frames between which the page interpolates: which rows, how they are rounded, the error of it.

The page has one rule for every number between four key frames, positions and quaternions alike: the cubic that has there the
slopes of the parabolas through three (Catmull and Rom's, for any spacing in time); quaternions are normalized after it.
`weights` here and in `templates/motion.js` are the same formula.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...model.quaternions import quaternions_of, without_jumps
from ...types import FloatArray
from ..scene import Scene

QUANTUM = 1e-5
"""Positions are rounded to multiples of it, relative to the size of the mechanism."""
TURN = 32000.0
"""Quaternions are rounded to multiples of 1 / TURN."""
TOLERANCE = 5e-4
"""Largest error, in sizes of the mechanism: half a pixel on most screens."""
LARGEST = 2**30
"""Multiples of the quantum: what is further away is rounded more coarsely."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Poses as whole numbers: position = centre + quantum · p, quaternion (w x y z) = c / TURN."""

    rows: np.ndarray
    """(K,) of the scene: the key frames."""
    t: FloatArray
    position: np.ndarray
    """(K, N·3)."""
    quaternion: np.ndarray
    """(K, N·4), along the shorter way from each to the next."""
    centre: FloatArray
    quantum: float
    error: float
    """Largest error of the interpolation at the rows that are left out, m."""


def finite_rows(scene: Scene) -> np.ndarray:
    """Rows whose poses are numbers, in the order of time, each time once: the last of those with the same time."""
    good = np.isfinite(scene.t) & np.isfinite(scene.position).all(axis=(1, 2)) & np.isfinite(scene.rotation).all(axis=(1, 2, 3))
    rows: np.ndarray = np.flatnonzero(good)
    rows = rows[np.argsort(scene.t[rows], kind="stable")]
    later = np.append(np.diff(scene.t[rows]) > 0.0, True) if len(rows) else np.zeros(0, dtype=bool)
    return rows[later]


def key_frames(scene: Scene, rows: np.ndarray, fps: float) -> Motion:
    """At least `fps` key frames a second where there are as many rows, and more where the motion is too fast for that."""
    everything = _rounded(scene, rows)
    while True:
        keys = _spread(everything.t, fps)
        error = _error(scene, everything, keys)
        if error <= TOLERANCE * scene.size or len(keys) == len(rows):
            return _picked(everything, keys, error)
        fps *= 2.0


def fewer(scene: Scene, motion: Motion, share: float) -> Motion:
    """The motion with a share of its key frames, at least two, whatever the error."""
    everything = _rounded(scene, finite_rows(scene))
    at = np.unique(np.linspace(0, len(motion.t) - 1, max(2, int(share * len(motion.t)))).round().astype(int))
    keys = np.searchsorted(everything.t, motion.t[at])
    return _picked(everything, keys, _error(scene, everything, keys))


def weights(t: FloatArray, at: FloatArray) -> tuple[np.ndarray, FloatArray]:
    """(M, 4) key frames and (M, 4) weights at times between them; t (K,) increases."""
    last = len(t) - 1
    if last == 0:
        return np.zeros((len(at), 4), dtype=int), np.tile([0.0, 1.0, 0.0, 0.0], (len(at), 1))
    k = np.clip(np.searchsorted(t, at, side="right") - 1, 0, last - 1)
    around = np.clip(k[:, None] + np.arange(-1, 3), 0, last)
    h0, h1, h2 = np.diff(t[around], axis=1).T
    s = (at - t[k]) / h1
    here, ahead = s * (1.0 - s) ** 2 * h1, s * s * (s - 1.0) * h1  # what a slope at either end contributes
    first, final = k == 0, k == last - 1
    h0, h2 = np.where(first, h1, h0), np.where(final, h1, h2)  # there is nothing beyond the ends: not used there
    before = np.stack([-h1 / (h0 * (h0 + h1)), (h1 - h0) / (h0 * h1), h0 / (h1 * (h0 + h1))])  # slope at x₀ by x₋₁, x₀, x₁
    after = np.stack([-h2 / (h1 * (h1 + h2)), (h2 - h1) / (h1 * h2), h1 / (h2 * (h1 + h2))])  # slope at x₁ by x₀, x₁, x₂
    chord = np.stack([-1.0 / h1, 1.0 / h1])
    # at the ends the parabola goes on: the slope there and that at the neighbour have the chord as their mean
    from_before = np.where(final, here - ahead, here) * ~first
    from_after = np.where(first, ahead - here, ahead) * ~final
    from_chord = np.where(first & final, here + ahead, 2.0 * (here * first + ahead * final))
    w = np.zeros((4, len(at)))
    w[1], w[2] = (1.0 + 2.0 * s) * (1.0 - s) ** 2, s * s * (3.0 - 2.0 * s)
    w[:3] += from_before * before
    w[1:] += from_after * after
    w[1:3] += from_chord * chord
    return around, w.T


def _rounded(scene: Scene, rows: np.ndarray) -> Motion:
    t, r = scene.t[rows], scene.position[rows]
    centre = 0.5 * (r.min(axis=(0, 1)) + r.max(axis=(0, 1))) if r.size else np.zeros(3)
    quantum = max(QUANTUM * scene.size, float(np.abs(r - centre).max(initial=0.0)) / LARGEST, 1e-300)
    position = np.rint((r - centre) / quantum).astype(np.int64)
    turns = np.rint(without_jumps(quaternions_of(scene.rotation[rows]), axis=0) * TURN).astype(np.int64)
    return Motion(rows, t, position.reshape(len(rows), -1), turns.reshape(len(rows), -1), centre, quantum, 0.0)


def _spread(t: FloatArray, fps: float) -> np.ndarray:
    """About `fps` rows a second, the first and the last among them."""
    if len(t) < 3 or not (t[-1] - t[0]) * fps < len(t):
        return np.arange(len(t))
    wanted = np.linspace(t[0], t[-1], int(np.ceil((t[-1] - t[0]) * fps)) + 1)
    nearest = np.clip(np.searchsorted(t, wanted), 1, len(t) - 1)
    nearest -= wanted - t[nearest - 1] < t[nearest] - wanted
    return np.unique(nearest)


def _error(scene: Scene, motion: Motion, keys: np.ndarray) -> float:
    """Largest error at the rows between the key frames, m: of positions, and of rotations half the mechanism away."""
    out = np.setdiff1d(np.arange(len(motion.t)), keys)
    if not len(out) or not motion.position.size:
        return 0.0
    around, w = weights(motion.t[keys], motion.t[out])
    error = np.zeros(len(out))
    for part, scale in ((motion.position, motion.quantum), (motion.quaternion, scene.size / TURN)):
        # quaternions differ by half the angle: over half the size, the difference is as large as that of positions
        for columns in np.array_split(part, max(1, part.shape[1] // 256), axis=1):
            between = sum(w[:, [k]] * columns[keys[around[:, k]]] for k in range(4))
            error = np.maximum(error, scale * np.abs(between - columns[out]).max(axis=1))
    return float(error.max())


def _picked(motion: Motion, keys: np.ndarray, error: float) -> Motion:
    picked = {name: getattr(motion, name)[keys] for name in ("rows", "t", "position", "quaternion")}
    return replace(motion, **picked, error=error)
