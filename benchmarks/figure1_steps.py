"""Time of a step of integration: rk4 along a motion, one method of forming and solving the equations at a time.

Everything between two times on the clock is machine code: the integrator, and through its address the derivative. The
iterative methods start every turn with the matrix they had there before, so that all turns do the same work.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

import sharnir as sh
from sharnir.dialect.native import flat
from sharnir.errors import SimulationError
from sharnir.integrate.methods import integrator
from sharnir.integrate.request import Request
from sharnir.integrate.running import _Pieces
from sharnir.integrate.stepping import state as clock
from sharnir.simulation.motion_system import Setup
from sharnir.simulation.systems import motion_system

EVALUATIONS = 4
"""Of the derivative in a step of rk4."""
LEAD_IN = 2
"""Steps of methods that remember before the clock starts: in the first of all they factorise. One does for the others."""
TURN = 2e-3
"""Seconds of a turn: short, so that some turns pass undisturbed on a busy machine."""


class Steps:
    """A model, a method and a backend; `turn` times some steps of the same motion, again and again."""

    def __init__(
        self, model: sh.Model, method: str, backend: str, q: np.ndarray, v: np.ndarray, step: float, compiled: bool = True
    ) -> None:
        self.method, self.step, self.q, self.v = method, step, q, v
        self.d = sh.Dynamics(model, method, backend)
        self.motion = motion_system(Setup(self.d, np.zeros(model.nv), balance=False))
        self.backend = self.motion.backend
        self.iterates = "iterative" in method
        self._memory = self._remembered() if self.iterates else []
        x = np.concatenate([q, v])
        request = Request.checked(
            self.motion.system, x, 0.0, 1e9 * step, integrator("rk4"), 0.0, 0.0, step, None, np.inf, None, 0, (), 1
        )
        self._pieces = _Pieces(self.motion.system, integrator("rk4"), request, compiled, None)
        begun = perf_counter()
        self._begin()
        self.lead_in = perf_counter() - begun
        """Seconds of the first steps, the factorisation among them."""
        self._kept = [array.copy() for array in self._memory]

    def _remembered(self) -> list[np.ndarray]:
        """The square work arrays of the compiled loop, the remembered matrix among them."""
        bound = [native.arrays for native in self.motion.system.natives("derivative")]
        work = [array for groups in bound if len(groups) == 5 for array in flat(groups[3])]  # a program's: tree, joints, x, w, y
        return [array for array in work if array.ndim == 2 and array.shape[0] == array.shape[1]]

    def _begin(self) -> None:
        self._pieces._fill()
        self._go(LEAD_IN if self.iterates else 1)

    def _go(self, steps: int) -> float:
        self._pieces.state.rule[clock.PIECE] = steps
        begun = perf_counter()
        status = self._pieces.workspace.drive()
        spent = perf_counter() - begun
        if status != clock.PAUSED:
            raise SimulationError(f"{self.method!r} at a step of {self.step:g} s: the motion is lost", None, 0.0)
        return spent

    def turn(self, steps: int) -> float:
        """Seconds per step."""
        for array, kept in zip(self._memory, self._kept, strict=True):
            array[:] = kept
        self._begin()
        return self._go(steps) / steps

    def iterations(self, steps: int) -> tuple[float, float]:
        """Of an evaluation along the steps that are timed: how many iterations, and the share that factorised afresh."""
        reports: list[np.ndarray] = []
        nq = len(self.q)
        name = f"forward/{self.d.formulation.method.program}"

        def derivative(x: np.ndarray, t: float) -> np.ndarray:
            q, v = x[:nq], x[nq:]
            found: dict[str, Any] = self.d._run_all(name, q=q, v=v, tau=np.zeros(len(v)), t=t)
            reports.append(found["report"])
            return np.concatenate([self.d.rates(q, v, t), found["qdd"]])

        x, t, h = np.concatenate([self.q, self.v]), 0.0, self.step
        k1 = derivative(x, t)
        for _ in range(LEAD_IN + steps):
            k2 = derivative(x + h / 2 * k1, t + h / 2)
            k3 = derivative(x + h / 2 * k2, t + h / 2)
            k4 = derivative(x + h * k3, t + h)
            t += h
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            k1 = derivative(x, t)
        counted = np.array(reports[1 + EVALUATIONS * LEAD_IN :])
        return float(counted[:, 0].clip(0.0).mean()), float(counted[:, 1].mean())


def race(contenders: list[Steps], seconds: float, rounds: int, least: int, most: int = 200) -> list[tuple[float, int]]:
    """Seconds per step of each and the steps of its turns: least of rounds taken in turn, as many as fit into `seconds`.

    A method that remembers is timed over `least` steps or more, however slow: its first ones are not typical.
    """
    first = [c.turn(1) for c in contenders]  # only says how long a turn may be
    counts = [int(np.clip(TURN / x, least if c.iterates else 1, most)) for c, x in zip(contenders, first, strict=True)]
    best = [np.inf] * len(contenders)
    begun, done = perf_counter(), 0
    while done < rounds or perf_counter() - begun < seconds:
        for k, c in enumerate(contenders):
            best[k] = min(best[k], c.turn(counts[k]))
        done += 1
        if perf_counter() - begun > 4 * seconds:  # slow ones: two rounds must do
            rounds = min(rounds, 2)
    return list(zip(best, counts, strict=True))
