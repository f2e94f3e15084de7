"""Where every body is at any time of a motion: between the times of a scene, poses are interpolated."""

from __future__ import annotations

import numpy as np

from ...equations.exponential import rotated
from ...types import FloatArray
from ..scene import Scene


def quaternions_of(rotation: FloatArray) -> FloatArray:
    """(…, 4) of length one, w x y z, of rotations (…, 3, 3): from the largest of the four, which loses no digits."""
    R = np.asarray(rotation, dtype=float)
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    four = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], axis=-1)  # 4 w², 4 x² …
    largest = four.argmax(axis=-1)
    out = np.zeros((*R.shape[:-2], 4))
    for k in range(4):
        here = largest == k
        r = R[here]
        turn = np.stack([r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]], axis=-1)
        part = np.zeros((len(r), 4))
        part[:, k] = four[here, k]
        if k == 0:
            part[:, 1:] = turn
        else:
            i, j = (a for a in range(3) if a != k - 1)
            part[:, 0] = turn[:, k - 1]
            part[:, i + 1] = r[:, i, k - 1] + r[:, k - 1, i]
            part[:, j + 1] = r[:, j, k - 1] + r[:, k - 1, j]
        out[here] = part
    unit: FloatArray = out / np.linalg.norm(out, axis=-1, keepdims=True)
    return unit


def matrices_of(wxyz: FloatArray) -> FloatArray:
    """(…, 3, 3) of quaternions (…, 4) of length one."""
    return np.stack([rotated(wxyz, np.broadcast_to(e, (*wxyz.shape[:-1], 3))) for e in np.eye(3)], axis=-1)


class Track:
    """The poses of all bodies of a scene over time, as quaternions whose signs do not jump."""

    def __init__(self, t: FloatArray, rotation: FloatArray, position: FloatArray) -> None:
        order = slice(None, None, -1) if len(t) > 1 and t[-1] < t[0] else slice(None)  # a run backward in time
        self.t, self.position = np.asarray(t, dtype=float)[order], np.asarray(position, dtype=float)[order]
        wxyz = quaternions_of(rotation)[order]
        flips = np.where((wxyz[1:] * wxyz[:-1]).sum(axis=-1) < 0.0, -1.0, 1.0)
        wxyz[1:] *= np.cumprod(flips, axis=0)[..., None]
        self.wxyz = wxyz
        self._reversed = order.step == -1

    @staticmethod
    def of(scene: Scene) -> Track:
        return Track(scene.t, scene.rotation, scene.position)

    def at(self, t: float) -> tuple[FloatArray, FloatArray]:
        """(N, 4), (N, 3); before the first time and after the last, those."""
        k, share = self._place(t)
        if not share:
            return self.wxyz[k], self.position[k]
        wxyz = (1.0 - share) * self.wxyz[k] + share * self.wxyz[k + 1]
        position = (1.0 - share) * self.position[k] + share * self.position[k + 1]
        return wxyz / np.linalg.norm(wxyz, axis=-1, keepdims=True), position

    def row(self, t: float) -> int:
        """The row of the scene that is nearest in time."""
        k, share = self._place(t)
        k += round(share)
        return len(self.t) - 1 - k if self._reversed else k

    def _place(self, t: float) -> tuple[int, float]:
        k = int(np.searchsorted(self.t, t, side="right")) - 1
        if k < 0 or k >= len(self.t) - 1:
            return (0 if k < 0 else len(self.t) - 1), 0.0
        step = self.t[k + 1] - self.t[k]  # an event has two rows at one time; searchsorted takes the second
        return k, float((t - self.t[k]) / step)
