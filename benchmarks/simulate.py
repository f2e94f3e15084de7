"""Motion in time: one trajectory and many against MuJoCo, a stiff mechanism against Exudyn, and what a step costs.

The arms are read from their URDFs, damping and friction left out; MuJoCo has the same bodies, without contacts,
constraints and actuators. Both start from the same state and take the same RK4 steps; the ends are compared.
Ours are whole calls from Python on a model that was simulated before: preparation, the run and its result.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout as mujoco_rollout

import sharnir as sh

from . import governor, integrators
from .harness import race, robot_files
from .mujoco_robots import to_mujoco
from .report import Measure
from .robots import ROBOTS, Robot

ARMS = ("ur5", "panda")
STEP = 1e-3
STEPS = 10_000
"""Of a single trajectory."""
MANY, STEPS_OF_MANY = 1024, 200
THEIR_STEPS, THEIRS = 1000, 10
"""Steps of a single trajectory, and trajectories of many, that MuJoCo is timed on: every step takes the same time, and
samples of equal length suffer equally from the load of the machine."""
CALM = 0.1
"""Of a random state: motions stay comparable for long. Not so the Panda's, whose loose fingers slide away."""
ONE, ALL = 6.0, 20.0
"""Targets: times MuJoCo."""


@dataclass
class Arm:
    """A robot for both, and where it starts."""

    name: str
    model: sh.Model
    mj: Any
    data: Any
    q: np.ndarray
    v: np.ndarray

    @classmethod
    def make(cls, name: str) -> Arm:
        model = read(name)
        peer = to_mujoco(Robot(name, model, None))  # type: ignore[arg-type]  # no use for Pinocchio's
        peer.model.opt.timestep, peer.model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_RK4
        rng = np.random.default_rng(0)
        q = CALM * np.array([model.random_q(rng) for _ in range(MANY)])
        return cls(name, model, peer.model, peer.data, q, CALM * rng.normal(size=(MANY, model.nv)))

    # --- one trajectory -------------------------------------------------------------------------------------------------
    def simulate(self, steps: int = STEPS, model: sh.Model | None = None) -> sh.Result:
        options = {"integrator": "rk4", "step": STEP, "output": None, "every": 1000, "balance": False}
        return sh.simulate(model or self.model, steps * STEP, q0=self.q[0], v0=self.v[0], **options)

    def start(self, k: int = 0) -> None:
        mujoco.mj_resetData(self.mj, self.data)
        self.data.qpos[:], self.data.qvel[:] = self.q[k], self.v[k]

    def step_in_one_call(self, steps: int = THEIR_STEPS, k: int = 0) -> None:
        self.start(k)
        mujoco.mj_step(self.mj, self.data, nstep=steps)

    def step_in_python(self) -> None:
        self.start()
        step, model, data = mujoco.mj_step, self.mj, self.data
        for _ in range(THEIR_STEPS):
            step(model, data)

    def difference(self, steps: int) -> float:
        """Of the coordinates at the end."""
        self.step_in_one_call(steps)
        return float(np.abs(self.simulate(steps).q[-1] - self.data.qpos).max())

    # --- many -----------------------------------------------------------------------------------------------------------
    def rollout(self, threads: int = 1) -> sh.Rollout:
        options = {"dt": STEP, "steps": STEPS_OF_MANY, "every": STEPS_OF_MANY}
        return sh.rollout(self.model, self.q, self.v, **options, threads=threads)

    def step_some(self) -> None:
        for k in range(THEIRS):
            self.step_in_one_call(STEPS_OF_MANY, k)

    def module(self) -> Callable[[], np.ndarray]:
        """mujoco.rollout: it stores every state; there is no option for fewer."""
        start = np.concatenate([np.zeros((THEIRS, 1)), self.q[:THEIRS], self.v[:THEIRS]], axis=1)
        states = np.empty((THEIRS, STEPS_OF_MANY, start.shape[1]))
        options = {"nstep": STEPS_OF_MANY, "state": states, "skip_checks": False}

        def run() -> np.ndarray:
            mujoco_rollout.rollout(self.mj, [self.data], start, **options)
            return states[:, -1, 1 : 1 + self.model.nq]

        return run


def read(name: str) -> sh.Model:
    """Of a URDF of example-robot-data. A finger that follows another is let go: MuJoCo would need a constraint for it."""
    (place,) = robot_files(ROBOTS[name][0])
    text = re.sub(r"<mimic\b[^>]*/>", "", place.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / place.name
        bare.write_text(text, encoding="utf-8")
        return sh.load(bare, passive=False, acting="motion")


def measure(quick: bool = False) -> Iterator[Measure | str]:
    for name in ARMS:
        arm = Arm.make(name)
        yield from one(arm)
        yield from many(arm)
    yield from governor.measure(quick)
    yield from integrators.measure(read("ur5"), quick)


def one(arm: Arm) -> Iterator[Measure | str]:
    """A single trajectory of STEPS steps."""
    after = {steps: arm.difference(steps) for steps in (1000, STEPS)}
    if not after[1000] < 1e-9:
        raise AssertionError(f"{arm.name}: after 1000 steps we differ from MuJoCo by {after[1000]:.1e}")
    yield f"{arm.name}: we differ from MuJoCo by {after[1000]:.0e} rad after 1000 steps, {after[STEPS]:.0e} after {STEPS}"
    calls = {"ours": arm.simulate, "nstep": arm.step_in_one_call, "loop": arm.step_in_python}
    seconds = {key: x / (STEPS if key == "ours" else THEIR_STEPS) for key, x in race(calls, rounds=90).items()}
    cost = min((arm.simulate().cost for _ in range(30)), key=lambda c: c.wall)
    bare = cost.wall / STEPS
    what = f"RK4, {STEPS} steps, over mj_step"

    def ratio(label: str, peer: str, mine: float, target: float | None = None) -> Measure:
        details = {"ours": 1e6 * mine, "mj_step": 1e6 * seconds[peer]}
        return Measure("simulate", arm.name, label, seconds[peer] / mine, "×", target, details=details)

    yield ratio(f"{what}(nstep)", "nstep", seconds["ours"], ONE)
    yield ratio(f"{what} in a loop", "loop", seconds["ours"], ONE)
    yield ratio(f"{what}(nstep), the run alone", "nstep", bare)
    yield Measure("simulate", arm.name, "preparing a run", 1e3 * cost.compile, " ms")
    fresh = min(arm.simulate(10, arm.model.copy()).cost.compile for _ in range(5))
    yield Measure("simulate", arm.name, "preparing the first run of a new model, warm cache", 1e3 * fresh, " ms")


def many(arm: Arm) -> Iterator[Measure | str]:
    """MANY trajectories of STEPS_OF_MANY steps, final states stored."""
    module = arm.module()
    ends = arm.rollout().q[:THEIRS, -1]
    apart = float(np.abs(ends - module()).max())
    if not apart < 1e-9:
        raise AssertionError(f"{arm.name}: rollouts differ from MuJoCo's by {apart:.1e}")
    calls = {"one": arm.rollout, "two": partial(arm.rollout, 2), "mj_step": arm.step_some, "mujoco.rollout": module}
    seconds = race(calls, rounds=20)
    mine = {key: seconds[key] / (MANY * STEPS_OF_MANY) for key in ("one", "two")}
    theirs = {key: seconds[key] / (THEIRS * STEPS_OF_MANY) for key in ("mj_step", "mujoco.rollout")}

    def ratio(what: str, peer: str, threads: str, target: float | None = None) -> Measure:
        details = {"ours": 1e6 * mine[threads], peer: 1e6 * theirs[peer]}
        return Measure("simulate", arm.name, what, theirs[peer] / mine[threads], "×", target, details=details)

    what = f"rollout of {MANY} × {STEPS_OF_MANY} RK4 steps"
    yield ratio(f"{what}, over mj_step", "mj_step", "one", ALL)
    yield ratio(f"{what}, over mujoco.rollout", "mujoco.rollout", "one")
    yield ratio(f"{what}, two threads, over mj_step in one", "mj_step", "two")
