"""Coordinates and speeds by the name of a joint, of one trajectory or of many."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..model.model import Model


class Trajectories(Protocol):
    """q (…, nq), v (…, nv) of a model."""

    @property
    def model(self) -> Model: ...
    @property
    def q(self) -> np.ndarray: ...
    @property
    def v(self) -> np.ndarray: ...


class ByName:
    """For `Result`, with times as the first axis, and `Rollout`, with trajectories and times."""

    def coordinate(self: Trajectories, joint: str) -> np.ndarray:
        """Coordinates of a joint: (…,), or (…, n) where it has several."""
        return squeezed(self.q[..., self.model.q_slice(joint)])

    def speed(self: Trajectories, joint: str) -> np.ndarray:
        """Speeds of a joint: (…,), or (…, n) where it has several."""
        return squeezed(self.v[..., self.model.v_slice(joint)])


def squeezed(x: np.ndarray) -> np.ndarray:
    return x[..., 0] if x.shape[-1] == 1 else x
