"""Real robots against Pinocchio and MuJoCo, both called from Python, in one run and one thread.

Before anything is timed, accelerations, forces and inertia matrices are compared: the problem is the same.
The peers have one state in hand, the same again and again, with its data in the nearest cache; ours run through
batches. Pinocchio's crba fills one triangle of the matrix, ours the whole. All calls of a robot are interleaved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

import sharnir as sh

from .harness import check_same, race
from .mujoco_robots import to_mujoco
from .peak import CHAINS, loop, peak_gflops
from .report import Measure
from .robots import ROBOTS, Robot, load

BATCHES = (1024, 16384)
FIRST = f"batch forward, B = {BATCHES[0]}"
LARGE = 65536
REPEATED = {"ur5": 16, "panda": 8, "anymal_c": 4, "talos": 2}
"""So many times LARGE are the states for two threads: some 50 ms of work. The second core of a shared machine needs half a
millisecond to wake up."""
ARMS = ("ur5", "panda")
FORWARD = {"ur5": 25, "panda": 25, "anymal_c": 20, "talos": 12}
"""Targets of batch forward dynamics: times Pinocchio's aba."""
INVERSE, INERTIA = 20, 12
"""Targets on the arms: times rnea, times crba."""


@dataclass
class Case:
    """A robot with compiled dynamics and states."""

    robot: Robot
    dynamics: sh.Dynamics
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray

    @classmethod
    def make(cls, name: str, states: int) -> Case:
        robot = load(name)
        rng = np.random.default_rng(0)
        some = np.array([robot.model.random_q(rng) for _ in range(BATCHES[0])])
        q = np.tile(some, (-(-states // len(some)), 1))[:states]
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
        check_same(f"{self.robot.name}: forward", d.forward(self.q[some], self.v[some], self.tau[some]), forward)
        check_same(f"{self.robot.name}: inverse", d.inverse(self.q[some], self.v[some], self.tau[some]), forces)
        half = np.array([np.triu(x["crba"]()) for x in theirs])
        check_same(f"{self.robot.name}: inertia matrix", np.triu(d.mass_matrix(self.q[some])), half)


def measure(quick: bool = False) -> Iterator[Measure | str]:
    """Measures, and notes in words."""
    peak = peak_gflops()
    yield f"peak of one core: {peak:.1f} GFlop/s, measured on {CHAINS} chains of fused multiply-adds"
    yield "operations are those of the compiled graph; a sine or a cosine counts as one, though the pair takes some twenty"
    yield "bare loop: the one of the peak; near 2× where two cores are free; where it gains less than 1.7×, so must we"
    for name in ROBOTS:
        case = Case.make(name, BATCHES[0] if quick else LARGE)
        case.check()
        yield f"{name}: method {case.dynamics.method!r}, {case.dynamics.why}"
        ours, peers = our_calls(case, quick), case.pinocchio()
        try:
            peers["mj_forward"] = mujoco_call(case)
        except ValueError as error:
            yield f"{name}: MuJoCo cannot take it: {error}"
        seconds = race({key: call for key, (call, _) in ours.items()} | peers, rounds=100, sample=0.006)
        each = {key: seconds[key] / states for key, (_, states) in ours.items()}
        yield from ratios(name, each, {key: seconds[key] for key in peers})
        yield from share_of_peak(case, each[FIRST], peak)


def our_calls(case: Case, quick: bool) -> dict[str, tuple[Callable[[], Any], int]]:
    """What of ours is timed, and how many states a call takes."""
    d, n, B = case.dynamics, case.robot.model.nv, BATCHES[0]
    q, v, tau = case.q[:B], case.v[:B], case.tau[:B]
    calls: dict[str, tuple[Callable[[], Any], int]] = {
        f"batch forward, B = {k}": (partial(d.forward, case.q[:k], case.v[:k], case.tau[:k], out=np.empty((k, n))), k)
        for k in BATCHES[: 1 if quick else 2]
    }
    calls["batch inverse"] = partial(d.inverse, q, v, tau, out=np.empty((B, n))), B
    calls["batch inertia matrix"] = partial(d.mass_matrix, q, out=np.empty((B, n, n))), B
    calls["one forward from Python"] = partial(d.forward, q[0].copy(), v[0].copy(), tau[0].copy()), 1
    calls["one state in a compiled loop"] = one_by_one(case, B), B
    if not quick:
        two = sh.Dynamics(case.robot.model, d.method, threads=2)
        times = REPEATED[case.robot.name]
        states, out = [np.tile(x, (times, 1)) for x in (case.q, case.v, case.tau)], np.empty((times * LARGE, n))
        calls["one thread"] = partial(d.forward, *states, out=out), times * LARGE
        calls["two threads"] = partial(two.forward, *states, out=out), times * LARGE
        calls["bare loop, one thread"], calls["bare loop, two threads"] = (loop(1_000_000), 1), (loop(1_000_000, 2), 1)
    return calls


def one_by_one(case: Case, B: int) -> Callable[[], None]:
    """The code for one state, run state after state by a compiled loop: what a compiled caller would see."""
    d = case.dynamics
    runner = d.formulation.programs.runner(f"forward/{d.method}", ("qdd",))
    values = {"q": case.q[:B], "v": case.v[:B], "tau": case.tau[:B], "t": np.zeros((1, 1))}
    out = np.empty((B, case.robot.model.nv))
    run = runner.prepared(B, [values[name] for name in runner.inputs], [out], batch=False)
    run()
    check_same(f"{case.robot.name}: one by one", out, d.forward(case.q[:B], case.v[:B], case.tau[:B]))
    return run


def mujoco_call(case: Case) -> Callable[[], None]:
    """mj_forward on the state it has: positions, velocities, accelerations; no contacts, no constraints."""
    peer = to_mujoco(case.robot)
    q, v, tau = case.q[0], case.v[0], case.tau[0]
    check_same(f"{case.robot.name}: MuJoCo", peer.acceleration(q, v, tau), case.dynamics.forward(q, v, tau))
    return peer.forward


def ratios(name: str, each: Mapping[str, float], peers: Mapping[str, float]) -> Iterator[Measure]:
    """Times of the peers over ours, with the targets."""

    def ratio(ours: str, peer: str, theirs: float, target: float | None, what: str = "") -> Measure:
        details = {"ours": 1e6 * each[ours], peer: 1e6 * theirs}
        return Measure("robots", name, what or ours, theirs / each[ours], "×", target, details=details)

    for ours in each:
        if ours.startswith("batch forward"):
            yield ratio(ours, "aba", peers["aba"], FORWARD[name])
    arm = name in ARMS
    yield ratio("batch inverse", "rnea", peers["rnea"], INVERSE if arm else None)
    yield ratio("batch inertia matrix", "crba", peers["crba"], INERTIA if arm else None)
    yield ratio("one forward from Python", "aba", peers["aba"], 1.0)
    yield ratio("one state in a compiled loop", "aba", peers["aba"], 4.0)
    if "two threads" in each:
        yield ratio("two threads", "one", each["one thread"], 1.7, f"two threads over one, B = {REPEATED[name] * LARGE}")
        yield ratio("bare loop, two threads", "one", each["bare loop, one thread"], None, "two threads over one, bare loop")
    if "mj_forward" in peers:
        yield ratio(FIRST, "mj_forward", peers["mj_forward"], None, f"batch forward over MuJoCo, B = {BATCHES[0]}")


def share_of_peak(case: Case, seconds: float, peak: float) -> Iterator[Measure]:
    operations = case.dynamics.count(compiled=True).total
    speed = operations / seconds / 1e9
    yield Measure("robots", case.robot.name, f"batch forward, {operations} operations", speed, " GFlop/s")
    yield Measure("robots", case.robot.name, "share of peak", 100 * speed / peak, " %")
