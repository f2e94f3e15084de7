"""Dynamics: a model with one method of forming and solving its equations, and every question one asks of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .errors import MethodError, StateError, known
from .forms import FORMS, kinetostatics, momentum
from .forms.matrices import Matrices
from .forms.solution import Solution
from .model.model import Model
from .model.states import check_array, check_finite, check_tau

METHODS = (*FORMS, "momentum")
BACKENDS = ("python",)


class Dynamics:
    """A model compiled for one method. One state (nq,) or a batch (B, nq) goes in, the same comes out."""

    def __init__(self, model: Model, method: str = "auto", backend: str = "python") -> None:
        if not isinstance(model, Model):
            raise MethodError(f"Dynamics needs a sharnir.Model, got {model!r}")
        if method != "auto" and method not in METHODS:
            raise MethodError(f"unknown method {method!r}; choose from {known(['auto', *METHODS])}")
        if backend not in (*BACKENDS, "auto"):
            raise MethodError(f"unknown backend {backend!r}; choose from {known(['auto', *BACKENDS])}")
        self.model = model
        self.method = "separate" if method == "auto" else method
        self.backend = "python"
        model.freeze()
        if model.closing_joints:
            raise MethodError(
                f"the joints {known(j.name for j in model.closing_joints)} close loops; their equations are not there yet. "
                "sharnir.matrices gives the structure of such a model"
            )

    # --- motion from forces -------------------------------------------------------------------------------------------------
    def forward(self, q: Any = None, v: Any = None, tau: Any = None, t: float = 0.0, wrenches: Any = None) -> np.ndarray:
        """q̈ (nv,) from joint forces τ and wrenches (N, 6) on the bodies."""
        return self._each(lambda *x: self.solve(*x, t=t).qdd, q, v, tau, wrenches)

    def reactions(self, q: Any = None, v: Any = None, tau: Any = None, t: float = 0.0, wrenches: Any = None) -> np.ndarray:
        """R (N, 6): force and moment of joint i on body i at its origin, body axes."""
        return self._each(lambda *x: self.solve(*x, t=t).R, q, v, tau, wrenches)

    def solve(self, q: Any = None, v: Any = None, tau: Any = None, wrenches: Any = None, t: float = 0.0) -> Solution:
        """Accelerations of coordinates and bodies, and reactions, of one state."""
        if self.method == "momentum":
            raise MethodError("the form in momenta has no accelerations; use momentum_rates and velocities, or another method")
        return FORMS[self.method](self._matrices(q, v, t, wrenches), check_tau(self.model, tau))

    # --- forces from motion -------------------------------------------------------------------------------------------------
    def inverse(self, q: Any, v: Any, a: Any, t: float = 0.0, wrenches: Any = None) -> np.ndarray:
        """τ (nv,) that makes the mechanism move with accelerations a."""
        return self._each(lambda q, v, a, w: self._kinetostatics(q, v, a, w, t)[0], q, v, a, wrenches)

    def inverse_reactions(self, q: Any, v: Any, a: Any, t: float = 0.0, wrenches: Any = None) -> np.ndarray:
        """R (N, 6) of every joint, drive forces included, when the motion is given."""
        return self._each(lambda q, v, a, w: self._kinetostatics(q, v, a, w, t)[1].R, q, v, a, wrenches)

    def _kinetostatics(self, q: Any, v: Any, a: Any, wrenches: Any, t: float) -> tuple[np.ndarray, Solution]:
        a = check_array(self.model.speeds(a), "a", self.model.nv)
        check_finite(a, self.model.v_names, "a")
        return kinetostatics.solve(self._matrices(q, v, t, wrenches), a)

    def mass_matrix(self, q: Any = None, t: float = 0.0) -> np.ndarray:
        """M_r (nv, nv)."""
        return self._each(lambda q: self._matrices(q, None, t).M_r, q)

    def bias(self, q: Any = None, v: Any = None, t: float = 0.0, wrenches: Any = None) -> np.ndarray:
        """h (nv,): M_r q̈ + h = τ."""
        return self._each(lambda q, v, w: -self._matrices(q, v, t, w).Q, q, v, wrenches)

    # --- momenta ------------------------------------------------------------------------------------------------------------
    def momenta(self, q: Any = None, v: Any = None, t: float = 0.0) -> np.ndarray:
        """p (nv,) = BᵀMv: generalised momenta."""
        return self._each(lambda q, v: momentum.momenta(self._matrices(q, v, t)), q, v)

    def velocities(self, q: Any, p: Any, t: float = 0.0) -> np.ndarray:
        """v (nv,) that has the momenta p."""
        return self._each(lambda q, p: momentum.velocities(self._matrices(q, None, t), self._momenta(p))[0], q, p)

    def momentum_rates(self, q: Any, p: Any, tau: Any = None, t: float = 0.0, wrenches: Any = None) -> np.ndarray:
        """ṗ (nv,), without accelerations."""

        def rates(q: Any, p: Any, tau: Any, w: Any) -> np.ndarray:
            v, _, carried = momentum.velocities(self._matrices(q, None, t), self._momenta(p))
            return momentum.momentum_rates(self._matrices(q, v, t, w), check_tau(self.model, tau), carried)

        return self._each(rates, q, p, tau, wrenches)

    def _momenta(self, p: Any) -> np.ndarray:
        return check_array(p, "p", self.model.nv)

    # --- kinematics and energy ------------------------------------------------------------------------------------------------
    def rates(self, q: Any = None, v: Any = None, t: float = 0.0) -> np.ndarray:
        """q̇ (nq,): rates of the coordinates at speeds v."""
        return self._each(lambda q, v: self._matrices(q, v, t).q_rate, q, v)

    def poses(self, q: Any = None, t: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (N, 3, 3), body → world, and position (N, 3) of every body."""
        return self._each(lambda q: self._matrices(q, None, t).poses, q)

    def body_velocities(self, q: Any = None, v: Any = None, t: float = 0.0) -> np.ndarray:
        """(N, 6): velocity of the origin and angular velocity of every body, body axes."""
        return self._each(lambda q, v: self._matrices(q, v, t).v.reshape(-1, 6), q, v)

    def jacobian(self, q: Any, body: str, point: Sequence[float] = (0.0, 0.0, 0.0), t: float = 0.0) -> np.ndarray:
        """J (6, nv): velocity of a point of a body and the body's angular velocity, in world axes, per unit of speed."""
        i = self.model.body_index(body)
        offset = check_array(point, "point", 3)

        def jacobian(q: Any) -> np.ndarray:
            m = self._matrices(q, None, t)
            linear, angular = np.split(m.B[6 * i : 6 * i + 6], 2)
            R = m.poses[0][i]
            return np.vstack([R @ (linear + np.cross(angular.T, offset).T), R @ angular])

        return self._each(jacobian, q)

    def energy(self, q: Any = None, v: Any = None, t: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic and potential (gravity) energy."""

        def energy(q: Any, v: Any) -> tuple[float, float]:
            m = self._matrices(q, v, t)
            R, r = m.poses
            centres = [body.mass * (r[i] + R[i] @ body.com) for i, body in enumerate(self.model.bodies)]
            return 0.5 * m.v @ m.M @ m.v, -float(np.sum(centres @ m.structure.gravity))

        return self._each(energy, q, v)

    # --- inside -------------------------------------------------------------------------------------------------------------
    def _matrices(self, q: Any, v: Any, t: float, wrenches: Any = None) -> Matrices:
        return Matrices(self.model, q, v, t, wrenches, sparse=False)

    def _each(self, compute: Callable[..., Any], *args: Any) -> Any:
        """One state, or each of a batch: any of (q, v, tau, …) may have one axis more."""
        usual = (1, 1, 1, 2)
        arrays = [x if x is None or isinstance(x, dict) else np.asarray(x) for x in args]
        batched = [
            isinstance(x, np.ndarray) and x.ndim == 1 + usual[k if len(args) != 3 or k < 2 else 3] for k, x in enumerate(arrays)
        ]
        if not any(batched):
            return compute(*args)
        sizes = {len(x) for x, many in zip(arrays, batched, strict=True) if many}
        if len(sizes) != 1:
            raise StateError(f"batches of different sizes: {sorted(sizes)}")
        rows = [compute(*(x[b] if many else x for x, many in zip(arrays, batched, strict=True))) for b in range(sizes.pop())]
        if isinstance(rows[0], tuple):
            return tuple(np.array(column) for column in zip(*rows, strict=True))
        return np.array(rows)
