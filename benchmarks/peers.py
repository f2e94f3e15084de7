"""Real robots against Pinocchio and MuJoCo, both called from Python, in one run and one thread.

Before anything is timed, accelerations, forces and inertia matrices are compared: the problem is the same.
The peers have one state in hand, the same again and again, with its data in the nearest cache; ours run through
batches. Pinocchio's crba fills one triangle of the matrix, ours the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

import sharnir as sh

from .mujoco_robots import to_mujoco
from .peak import peak_gflops
from .report import Measure
from .robots import ROBOTS, Robot, load
from .timing import race

BATCHES = (1024, 16384)
ARMS = ("ur5", "panda")
FORWARD = {"ur5": 25, "panda": 25, "anymal_c": 20, "talos": 12}
"""Targets of batch forward dynamics: times Pinocchio's aba."""
ON_ARMS = {"inverse": 20, "inertia matrix": 12}


@dataclass
class Case:
    """A robot, ready to run, with states."""

    robot: Robot
    dynamics: sh.Dynamics
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray

    @classmethod
    def make(cls, name: str, states: int) -> Case:
        robot = load(name)
        rng = np.random.default_rng(0)
        q = np.array([robot.model.random_q(rng) for _ in range(states)])
        v, tau = rng.normal(size=(2, states, robot.model.nv))
        return cls(robot, sh.Dynamics(robot.model), q, v, tau)

    def pinocchio(self, k: int = 0) -> dict[str, Callable[[], Any]]:
        """aba, rnea and crba of state k."""
        model, data = self.robot.pin, self.robot.pin.createData()
        q, v, tau = self.robot.q_to_pin(self.q[k]), self.v[k].copy(), self.tau[k].copy()
        return {
            "aba": partial(pin.aba, model, data, q, v, tau),
            "rnea": partial(pin.rnea, model, data, q, v, tau),
            "crba": partial(pin.crba, model, data, q),
        }

    def check(self, states: int = 16) -> None:
        """Ours equal Pinocchio's to 1e-9 of the largest entry."""
        d, some = self.dynamics, slice(0, states)
        theirs = [self.pinocchio(k) for k in range(states)]
        forward, forces = [np.array([np.array(x[name]()) for x in theirs]) for name in ("aba", "rnea")]
        same(f"{self.robot.name}: forward", d.forward(self.q[some], self.v[some], self.tau[some]), forward)
        same(f"{self.robot.name}: inverse", d.inverse(self.q[some], self.v[some], self.tau[some]), forces)
        half = np.array([np.triu(x["crba"]()) for x in theirs])
        same(f"{self.robot.name}: inertia matrix", np.triu(d.mass_matrix(self.q[some])), half)


def same(what: str, ours: np.ndarray, theirs: np.ndarray, tolerance: float = 1e-9) -> None:
    error = np.abs(ours - theirs).max() / np.abs(theirs).max()
    if not error < tolerance:
        raise AssertionError(f"{what}: we differ from the peer by {error:.1e} of the largest entry")


def measure(quick: bool = False) -> Iterator[Measure | str]:
    """Measures, and notes in words."""
    peak = peak_gflops()
    yield f"peak: {peak:.1f} GFlop/s on one core, measured on 12 chains of fused multiply-adds; sin and cos count as one operation"
    for name in ROBOTS:
        case = Case.make(name, BATCHES[0] if quick else 2 * BATCHES[1])
        case.check()
        yield f"{name}: method {case.dynamics.method!r}, {case.dynamics.why}"
        yield from against_pinocchio(case, quick)
        yield from against_mujoco(case)
        yield from share_of_peak(case, peak)
        if not quick:
            yield from two_threads(case)


def ratio(case: Case, what: str, ours: float, theirs: float, peer: str, target: float | None = None) -> Measure:
    return Measure("robots", case.robot.name, what, theirs / ours, "×", target, details={"ours": 1e6 * ours, peer: 1e6 * theirs})


def against_pinocchio(case: Case, quick: bool) -> Iterator[Measure]:
    d, name, peers = case.dynamics, case.robot.name, case.pinocchio()
    for B in BATCHES[: 1 if quick else 2]:
        q, v, tau, out = case.q[:B], case.v[:B], case.tau[:B], np.empty((B, case.robot.model.nv))
        t = race({"ours": lambda: d.forward(q, v, tau, out=out), "aba": peers["aba"]})
        yield ratio(case, f"batch forward, B = {B}", t["ours"] / B, t["aba"], "aba", FORWARD[name])
    B = BATCHES[0]
    q, v, tau, out = case.q[:B], case.v[:B], case.tau[:B], np.empty((B, case.robot.model.nv))
    M = np.empty((B, case.robot.model.nv, case.robot.model.nv))
    t = race({"ours": lambda: d.inverse(q, v, tau, out=out), "rnea": peers["rnea"]})
    yield ratio(case, "batch inverse", t["ours"] / B, t["rnea"], "rnea", ON_ARMS["inverse"] if name in ARMS else None)
    t = race({"ours": lambda: d.mass_matrix(q, out=M), "crba": peers["crba"]})
    yield ratio(case, "batch inertia matrix", t["ours"] / B, t["crba"], "crba", ON_ARMS["inertia matrix"] if name in ARMS else None)
    t = race({"ours": partial(d.forward, q[0].copy(), v[0].copy(), tau[0].copy()), "aba": peers["aba"]})
    yield ratio(case, "one forward from Python", t["ours"], t["aba"], "aba", 1.0)
    t = race({"ours": one_by_one(case, B), "aba": peers["aba"]})
    yield ratio(case, "one state in a compiled loop", t["ours"] / B, t["aba"], "aba", 4.0)


def one_by_one(case: Case, B: int) -> Callable[[], None]:
    """The code for one state, run state after state by a compiled loop: what a compiled caller would see."""
    d = case.dynamics
    runner = d._shelf.runner(f"forward/{d.method}", ("qdd",))
    values = {"q": case.q[:B], "v": case.v[:B], "tau": case.tau[:B], "t": np.zeros((1, 1))}
    out, check = np.empty((B, case.robot.model.nv)), np.empty(B)
    inputs = [values[name] for name in runner.inputs]
    arguments = runner.arguments(0, B, inputs, [out], check)

    def run(kept: tuple[Any, ...] = (inputs, out, check)) -> None:
        runner.single.call(arguments.ctypes.data)

    run()
    same(f"{case.robot.name}: one by one", out, d.forward(case.q[:B], case.v[:B], case.tau[:B]))
    return run


def against_mujoco(case: Case) -> Iterator[Measure | str]:
    """mj_forward on the state it has: positions, velocities, accelerations; no contacts, no constraints."""
    try:
        peer = to_mujoco(case.robot)
    except ValueError as error:
        yield f"{case.robot.name}: MuJoCo cannot take it: {error}"
        return
    q, v, tau = case.q[0], case.v[0], case.tau[0]
    same(f"{case.robot.name}: MuJoCo", peer.acceleration(q, v, tau), case.dynamics.forward(q, v, tau))
    B = BATCHES[0]
    out = np.empty((B, case.robot.model.nv))
    batch = partial(case.dynamics.forward, case.q[:B], case.v[:B], case.tau[:B], out=out)
    t = race({"ours": batch, "mj_forward": peer.forward})
    yield ratio(case, f"batch forward against MuJoCo, B = {B}", t["ours"] / B, t["mj_forward"], "mj_forward")


def share_of_peak(case: Case, peak: float) -> Iterator[Measure]:
    B, d = BATCHES[0], case.dynamics
    out = np.empty((B, case.robot.model.nv))
    seconds = race({"ours": partial(d.forward, case.q[:B], case.v[:B], case.tau[:B], out=out)})["ours"] / B
    operations = d.count(compiled=True).total
    speed = operations / seconds / 1e9
    yield Measure("robots", case.robot.name, f"batch forward, {operations} operations", speed, " GFlop/s")
    yield Measure("robots", case.robot.name, "share of peak", 100 * speed / peak, " %")


def two_threads(case: Case) -> Iterator[Measure]:
    """The largest batch in two threads against one; means something only while two cores are free."""
    d, two = case.dynamics, sh.Dynamics(case.robot.model, case.dynamics.method, threads=2)
    states, out = (case.q, case.v, case.tau), np.empty_like(case.v)
    t = race({"one": partial(d.forward, *states, out=out), "two": partial(two.forward, *states, out=out)})
    what = f"two threads, B = {len(case.q)}"
    details = {name: 1e6 * x / len(case.q) for name, x in t.items()}
    yield Measure("robots", case.robot.name, what, t["one"] / t["two"], "×", 1.7, details=details)
