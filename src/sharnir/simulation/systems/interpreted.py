"""The equations of motion by calls from Python: the interpreter, and methods that are sparse or dense matrix forms."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...dialect.native import Native
from ...dialect.native import from_python as native_from_python
from ...equations.motion.account import state_rates
from ...equations.motion.projector import Partitioning
from ...equations.motion.retraction import is_redundant, normalize
from ...equations.motion.stabilisation import PROJECTION
from ...errors import SingularError, StateError
from ...integrate.system import from_python
from .motion_system import MotionSystem, Setup


class Interpreted(MotionSystem):
    """One call of `Dynamics`, or of its constrained equations, for every evaluation of every state."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._memory = self.constrained.memory(setup.d.formulation.programs.tolerance) if self.constrained else None
        self.backend = setup.d.backend
        stabilised = self.constrained is not None and self.stabilisation.name in (PROJECTION, "partitioning")
        if self.constrained and self.stabilisation.name == "partitioning":
            self.partitioning = Partitioning(self.constrained, np.zeros(self.size), np.zeros(1), self.parameters)
            self.partitioning.interpret()
        self.system = from_python(
            self._derivative,
            self.size,
            events=self._events if self.event_functions else None,
            n_events=setup.event_count,
            projection=self._after_step if stabilised or is_redundant(setup.d.model) else None,
            split=setup.n * self.nq,
        )
        if not self.constrained or not len(self.constrained.table):
            return
        system, b = self.system, self.system.buffers
        self._pivots, b.T[:] = np.zeros((setup.n, len(self.constrained.table))), setup.t0
        derivative, after = system.natives("derivative"), system.natives("projection")
        self.passage = self._passing(b, self._pivots, derivative, after, compiled=False)
        if isinstance(system.failure, Exception):  # a function of the user's that is not defined in some random position
            system.failure = None
        system.replace_functions("derivative", [self.passage.derivative])
        system.replace_functions("projection", [self.passage.after_step])

    def derivative_of_one(self, at: Mapping[str, np.ndarray]) -> list[Native]:
        def derive() -> None:
            try:
                t, p = float(at["t"][0]), at["parameter"] if at["parameter"].size else None
                at["rate"][:], at["qdd"][:] = self._solved(t, at["q"], at["v"], at["tau"], p, [], 0)
                if p is not None:
                    at["more"][:] = state_rates(self.structure, t, at["q"], at["v"], p)
            except (SingularError, StateError, np.linalg.LinAlgError):
                at["qdd"].fill(np.nan)

        return [native_from_python(derive)]

    def _row(self, k: int) -> np.ndarray | None:
        """Parameters of state k, as the actions of events have left them."""
        if not self.parameters.size:
            return None
        row: np.ndarray = self.parameters[k] if self.parameters.ndim == 2 else self.parameters
        return row

    def _rows(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, speeds and states of forces, a row for each state; the parameters take on the last."""
        n = self.setup.n
        q, v, z = np.split(x, [n * self.nq, n * (self.nq + self.nv)])
        if self.nz:
            self.parameters.reshape(n, -1)[:, -self.nz :] = z.reshape(n, self.nz)
        return q.reshape(n, self.nq), v.reshape(n, self.nv), z.reshape(n, self.nz)

    def _derivative(self, t: float, x: np.ndarray) -> np.ndarray:
        if self.partitioning:
            x = self.partitioning.recovered(t, x)
        q, v, z = self._rows(x)
        rate, qdd, more = np.empty_like(q), np.empty_like(v), np.empty_like(z)
        for k in range(self.setup.n):
            try:
                rate[k], qdd[k] = self._one(t, q[k], v[k], k)
                if (p := self._row(k)) is not None and self.nz:
                    more[k] = state_rates(self.structure, t, q[k], self.velocities(q[k], v[k], t, p), p)
            except (SingularError, StateError, np.linalg.LinAlgError):  # not finite: the integrator takes a smaller step, or ends
                rate[k], qdd[k] = np.nan, np.nan
        return np.concatenate([rate.ravel(), qdd.ravel(), more.ravel()])

    def _one(self, t: float, q: np.ndarray, v: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        d, tau, p = self.d, self.tau[k] if self.tau.ndim == 2 else self.tau, self._row(k)
        if self.constrained:
            return self._solved(t, q, v, tau, p, self.decay.reshape(self.setup.n, -1)[k].tolist(), k)
        if self.momenta:
            speeds = d.velocities(q, v, t, parameters=p)
            return d.rates(q, speeds, t, parameters=p), d.momentum_rates(q, v, tau, t, parameters=p)
        return d.rates(q, v, t, parameters=p), d.forward(q, v, tau, t, parameters=p)

    def _solved(
        self, t: float, q: np.ndarray, v: np.ndarray, tau: np.ndarray, p: np.ndarray | None, decay: list[float], k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """And the inverse pivots of the constraints, in a metric of their own: relative ones are wanted."""
        c = self.equations.solve(q, v, tau, t, None, p, self.stabilisation.name, decay, self._memory)
        if len(c.J) and np.isfinite(c.J).all():
            pivots = np.zeros(len(c.J))
            found = np.diagonal(np.linalg.qr(c.J.T, mode="r")) ** 2
            pivots[: len(found)] = found
            self._pivots[k] = 1.0 / np.maximum(pivots, 1e-24)
        return c.qrate, c.qdd

    def _after_step(self, t: float, x: np.ndarray) -> np.ndarray:
        if self.constrained and self.stabilisation.name == PROJECTION:
            return self.projected(t, x)
        q, v, z = self._rows(x)
        rows = [normalize(self.d.model, row, t) for row in q.tolist()]
        x = np.concatenate([np.ravel(rows), v.ravel(), z.ravel()])
        return self.partitioning.recovered(t, x, reconsidered=True) if self.partitioning else x

    def projected(self, t: float, x: np.ndarray) -> np.ndarray:
        projected = self.equations.projector.projected
        q, v, z = self._rows(x)
        rows = [projected(q[k], v[k], t, self._row(k)) for k in range(self.setup.n)]
        return np.concatenate([*(part.ravel() for part in map(np.array, zip(*rows, strict=True))), z.ravel()])

    def _events(self, t: float, x: np.ndarray) -> list[float]:
        assert self.event_functions is not None
        (q,), (v,), _ = self._rows(x)
        own = self.event_functions.values(t, q, self.velocities(q, v, t), self.parameters)
        return own if self.setup.contacts is None else [*own, *self.setup.contacts.pushing(self, t, x).tolist()]
