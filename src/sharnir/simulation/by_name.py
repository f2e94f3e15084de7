"""Coordinates and speeds by the name of a joint, of one trajectory or of many."""

from __future__ import annotations

import numpy as np

from ..model.model import Model


class ByName:
    """q (…, nq), v (…, nv) of a model: of `Result` over times, of `Rollout` over trajectories and times."""

    model: Model
    q: np.ndarray
    v: np.ndarray

    def coordinate(self, joint: str) -> np.ndarray:
        """Coordinates of a joint: (…,), or (…, n) where it has several."""
        return squeezed(self.q[..., self.model.q_slice(joint)])

    def speed(self, joint: str) -> np.ndarray:
        """Speeds of a joint: (…,), or (…, n) where it has several."""
        return squeezed(self.v[..., self.model.v_slice(joint)])


def squeezed(x: np.ndarray) -> np.ndarray:
    return x[..., 0] if x.shape[-1] == 1 else x
