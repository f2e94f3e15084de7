"""Time of a step of integration: rk4 along a motion, one method of forming and solving the equations at a time.

All that is timed is machine code: the integrator, and through its address the derivative; quaternions are normalized after
every step, as in any simulation. The iterative methods start every sample with the matrix they had at its start before, so that
all samples do the same work.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

import sharnir as sh
from sharnir.dialect.storage import flat
from sharnir.errors import SimulationError
from sharnir.integrate.driver import PiecewiseRun
from sharnir.integrate.kernels import state as clock
from sharnir.integrate.methods import integrator
from sharnir.integrate.request import Request
from sharnir.reporting.timing import Stopwatch, interleaved
from sharnir.simulation.systems.choose import motion_system
from sharnir.simulation.systems.motion_system import Setup

EVALUATIONS = 4
"""Of the derivative in a step of rk4."""
LEAD_IN = 2
"""Steps of iterative methods before the clock starts: in the very first they factorise. One is enough for the others."""
SAMPLE = 2e-3
"""Seconds of a sample: short, so that some pass undisturbed on a busy machine."""


class Steps:
    """A model, a method and a backend; `run` times some steps of the same motion, again and again."""

    def __init__(
        self, model: sh.Model, method: str, backend: str, q: np.ndarray, v: np.ndarray, step: float, compiled: bool = True
    ) -> None:
        self.method, self.step, self.q, self.v = method, step, q, v
        self.d = sh.Dynamics(model, method, backend)
        self.motion = motion_system(Setup(self.d, np.zeros(model.nv), balance=False))
        self.backend = self.motion.backend
        self.iterates = self.d.formulation.method.iterates
        self._warm_start = self._warm_start_arrays() if self.iterates else []
        x = np.concatenate([q, v])
        request = Request(self.motion.system, x, 0.0, 1e9 * step, integrator("rk4"), 0.0, 0.0, step, None, np.inf, None, 0, (), 1)
        self._pieces = PiecewiseRun(self.motion.system, integrator("rk4"), request, compiled, None)
        begun = perf_counter()
        self._begin()
        self.lead_in = perf_counter() - begun
        """Seconds of the first steps, the factorisation among them."""
        self._initial = [array.copy() for array in self._warm_start]

    def _warm_start_arrays(self) -> list[np.ndarray]:
        """The square work arrays of the compiled loop, among them the matrix that the next step starts from."""
        bound = [native.arrays for native in self.motion.system.natives("derivative")]
        work = [array for groups in bound if len(groups) == 5 for array in flat(groups[3])]  # a program's: tree, joints, x, w, y
        return [array for array in work if array.ndim == 2 and array.shape[0] == array.shape[1]]

    def _begin(self) -> None:
        self._pieces.fill()
        self._go(LEAD_IN if self.iterates else 1)

    def _go(self, steps: int) -> float:
        self._pieces.state.rule[clock.PIECE] = steps
        begun = perf_counter()
        self._pieces.workspace.drive()
        spent = perf_counter() - begun
        if self._pieces.workspace.drive.status != clock.PAUSED:
            raise SimulationError(f"{self.method!r} at a step of {self.step:g} s: the motion is lost", None, 0.0)
        return spent

    def run(self, steps: int) -> float:
        """Seconds of so many steps from the start."""
        for array, initial in zip(self._warm_start, self._initial, strict=True):
            array[:] = initial
        self._begin()
        return self._go(steps)

    def iterations(self, steps: int) -> tuple[float, float]:
        """Per evaluation along the steps that are timed: iterations, and the share of evaluations that refactorised."""
        reports: list[np.ndarray] = []
        nq = len(self.q)
        name = f"forward/{self.d.formulation.method.program}"

        def derivative(x: np.ndarray, t: float) -> np.ndarray:
            q, v = x[:nq], x[nq:]
            found: dict[str, Any] = self.d._evaluator.outputs(name, q=q, v=v, tau=np.zeros(len(v)), t=t)
            reports.append(found["report"])
            return np.concatenate([self.d.rates(q, v, t), found["qdd"]])

        x, t, h = np.concatenate([self.q, self.v]), 0.0, self.step
        k1 = derivative(x, t)
        for _ in range(LEAD_IN + steps):
            k2 = derivative(x + h / 2 * k1, t + h / 2)
            k3 = derivative(x + h / 2 * k2, t + h / 2)
            k4 = derivative(x + h * k3, t + h)
            t += h
            x = self.motion.system.projected(t, x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
            k1 = derivative(x, t)
        counted = np.array(reports[1 + EVALUATIONS * LEAD_IN :])
        return float(counted[:, 0].clip(0.0).mean()), float(counted[:, 1].mean())


def race(contenders: list[Steps], seconds: float, rounds: int, least: int, most: int = 200) -> list[tuple[float, int]]:
    """Seconds per step of each, and the steps of its samples: at least `rounds` samples, as many more as fit into `seconds`.

    An iterative method is timed over `least` steps or more, however slow: its first ones are not typical.
    """
    watches = [Stopwatch(c.run, SAMPLE, fewest=least if c.iterates else 1, most=most) for c in contenders]
    for watch in watches:
        watch.warm_up()
    begun = perf_counter()
    for done in interleaved(watches, rounds, seconds / max(1, len(watches))):
        if done >= 2 and perf_counter() - begun > 4 * seconds:  # slow ones: two rounds must do
            break
    return [(watch.least, watch.calls) for watch in watches]
