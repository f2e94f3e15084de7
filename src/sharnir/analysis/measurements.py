"""Measured motions: checked, then reduced to one triangular matrix for each speed, whatever their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dynamics import Dynamics
from ..errors import StateError, brief, known, unknown
from ..model.model import Model
from ..reporting.progress import ProgressBar
from ..types import FloatArray, real_array
from .base_parameters import triangular

NEEDED = ("q", "v", "a", "tau")
NUMBERS_AT_ONCE = 2_000_000
"""Entries of the regressors of states that are evaluated together."""


@dataclass(frozen=True)
class Measurements:
    """Rows of states, accelerations and joint forces."""

    q: FloatArray
    v: FloatArray
    a: FloatArray
    tau: FloatArray
    t: FloatArray

    def __len__(self) -> int:
        return len(self.q)


@dataclass(frozen=True)
class Reduced:
    """The equations Y π = z of all measurements: for each speed a triangular factor of its rows [Y z]."""

    factors: FloatArray
    """(nv, k, parameters + 1)."""
    samples: int
    force: FloatArray
    """(nv,): root of the mean square of the measured joint forces."""

    def equations(self, deviation: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Y and z as few rows, every speed divided by the standard deviation of its force."""
        rows = (self.factors / deviation[:, None, None]).reshape(-1, self.factors.shape[2])
        R = triangular(rows)
        return R[:, :-1], R[:, -1]

    def residual(self, parameters: FloatArray) -> FloatArray:
        """(nv,): root of the mean square of z − Yπ."""
        left = self.factors[:, :, -1] - self.factors[:, :, :-1] @ parameters
        return np.sqrt((left**2).sum(axis=1) / self.samples)


def measurements(model: Model, data: Any) -> Measurements:
    """Measurements from {"q", "v", "a", "tau", "t"} of arrays, a `Result`, or a list of such."""
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        if not data:
            raise StateError("data: the list is empty; give one set of measurements or more")
        each = [measurements(model, one) for one in data]
        return Measurements(*(np.concatenate([getattr(x, name) for x in each]) for name in (*NEEDED, "t")))
    given = data if isinstance(data, Mapping) else _of_result(model, data)
    for name in given:
        if name not in (*NEEDED, "t"):
            raise StateError("data: " + unknown(f"entry {brief(name)}", name, (*NEEDED, "t"), "entries"))
    missing = [name for name in NEEDED if name not in given]
    if missing:
        advice = "; differentiate q and smooth it first, as suits its noise" if {"v", "a"} & set(missing) else ""
        raise StateError(f"data: {known(missing)} missing; needed are q, v, a and tau of every time{advice}")
    sizes = {"q": model.nq, "v": model.nv, "a": model.nv, "tau": model.nv}
    T = len(real_array(given["q"], "data: q")) if np.ndim(given["q"]) else 0
    arrays = {name: _checked(given[name], name, (T, size)) for name, size in sizes.items()}
    t = _checked(given["t"], "t", (T,)) if "t" in given else np.zeros(T)
    return Measurements(**arrays, t=t)


def _of_result(model: Model, data: Any) -> Mapping[str, Any]:
    """A `Result` has all of it; one of another model is refused."""
    if not all(hasattr(data, name) for name in (*NEEDED, "t", "model")):
        raise StateError(f"data: expected a mapping with q, v, a, tau, a Result, or a list of these; got {brief(data)}")
    if data.model.v_names != model.v_names or data.model.q_names != model.q_names:
        raise StateError(
            f"data: the result is of model {data.model.name!r} with other coordinates ({known(data.model.q_names)}) "
            f"than model {model.name!r} ({known(model.q_names)})"
        )
    tau = np.broadcast_to(np.asarray(data.tau, dtype=float), (len(data.t), model.nv))
    return {"q": data.q, "v": data.v, "a": data.a, "tau": tau, "t": data.t}


def _checked(x: Any, name: str, shape: tuple[int, ...]) -> FloatArray:
    a = real_array(x, f"data: {name}")
    if a.shape != shape or not a.size:
        wanted = f"(T, {shape[1]})" if len(shape) == 2 else f"({shape[0]},)"
        raise StateError(f"data: {name} has shape {a.shape}, expected {wanted}{f' with T = {shape[0]}' if shape[0] else ''}")
    bad = np.flatnonzero(~np.isfinite(a.reshape(len(a), -1)).all(axis=1))
    if bad.size:
        more = f" and {bad.size - 1} more" if bad.size > 1 else ""
        raise StateError(f"data: {name} is not finite in row {bad[0]}{more}; leave these rows out")
    return a


def reduced(d: Dynamics, data: Measurements, free: np.ndarray, progress: bool | None) -> Reduced:
    """All measurements in the free parameters; the others have the model's values, its forces are known."""
    own, nv = d.regressor_parameters, d.model.nv
    fixed = np.setdiff1d(np.arange(len(own)), free)
    factors = np.zeros((nv, 0, len(free) + 1))
    step = max(1, NUMBERS_AT_ONCE // max(1, nv * len(own)))
    with ProgressBar(progress, "measurements", len(data)) as bar:
        for k in range(0, len(data), step):
            part = slice(k, k + step)
            q, v, a, t = data.q[part], data.v[part], data.a[part], data.t[part]
            Y = d.regressor(q, v, a, t)
            forces = d.inverse(q, v, a, t) - Y @ own  # of the model's own force elements: what is not linear in π
            rows = {"q": q, "v": v, "qdd": a, "t": t[:, None]}
            z = d.solver.uncarried(data.tau[part][:, :, None], rows, False)[:, :, 0] - forces - Y[:, :, fixed] @ own[fixed]
            new = np.concatenate([Y[:, :, free], z[:, :, None]], axis=2).swapaxes(0, 1)
            factors = triangular(np.concatenate([factors, new], axis=1))
            bar.update(min(k + step, len(data)))
    return Reduced(factors, len(data), np.sqrt((data.tau**2).mean(axis=0)))
