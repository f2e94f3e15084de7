"""The joint forces of a run over its times: constant, changed at instants, or given by a law."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Law = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None], np.ndarray]
"""(t, q, v, parameters and states of forces), rows -> joint forces (T, nv)."""


class AppliedForces:
    """`tau` at the start, its changes since then, and the law that is added."""

    def __init__(self, tau: np.ndarray, law: Law | None = None) -> None:
        self._law = law
        self._constant = tau.copy()
        self._times: list[float] = []
        self._values: list[np.ndarray] = []

    def change(self, t: float, tau: np.ndarray) -> None:
        """Set the joint forces from time t on."""
        self._times.append(t)
        self._values.append(tau.copy())

    def over(self, t: np.ndarray, q: np.ndarray, v: np.ndarray, parameters: np.ndarray | None) -> np.ndarray:
        """(nv,) where they are constant, else (T, nv): those that act from each time on."""
        if not self._times and self._law is None:
            return self._constant
        values = np.array([self._constant, *self._values])
        near = 4.0 * np.spacing(np.abs(t))  # the time of a row and that of an instant may differ by rounding
        tau: np.ndarray = values[np.searchsorted(np.array(self._times), t + near, side="right")]
        return tau if self._law is None or not len(t) else tau + self._law(t, q, v, parameters)
