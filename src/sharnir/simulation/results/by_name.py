"""Entries of q and v by the name of their joint."""

from __future__ import annotations

import numpy as np

from ...errors import StateError, brief
from ...model.model import Model


class ByName:
    """q (…, nq), v (…, nv) of a model, or derivatives of them."""

    model: Model
    q: np.ndarray
    v: np.ndarray

    def coordinate(self, joint: str) -> np.ndarray:
        """Entries of q that belong to a joint: (…,), or (…, n) where there are several."""
        return squeezed(self.q[..., self.model.q_slice(joint)])

    def speed(self, joint: str) -> np.ndarray:
        """Entries of v that belong to a joint: (…,), or (…, n) where there are several."""
        return squeezed(self.v[..., self.model.v_slice(joint)])


def index_of(k: object, n: int, what: str) -> int:
    """An index into n rows, counted from the end where it is negative."""
    if isinstance(k, (bool, np.timedelta64)) or not isinstance(k, (int, np.integer)) or not -n <= k < n:
        raise StateError(f"expected the number of {what}, from {-n} to {n - 1}; got {brief(k)}")
    return int(k)


def squeezed(x: np.ndarray) -> np.ndarray:
    """Without the last axis where there is one number along it."""
    return x[..., 0] if x.shape[-1] == 1 else x
