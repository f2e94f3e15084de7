"""Derivatives of forward and inverse dynamics of robots against Pinocchio called from Python, in one run and one thread.

Before anything is timed, both are compared. Pinocchio has one state in hand, the same again and again, and writes into the same
matrices; ours run through batches, and every call returns new arrays. All calls of a robot are interleaved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

import sharnir as sh

from .harness import check_same, race
from .report import Measure
from .robots import ROBOTS, Robot, load

BATCHES = (64, 256, 1024)
BATCH = {"ur5": 20, "panda": 20, "anymal_c": 10, "talos": 10}
"""Targets of batches, whichever of BATCHES is best: times computeABADerivatives."""


def measure(quick: bool = False) -> Iterator[Measure | str]:
    """Measures, and notes in words."""
    yield "results of large batches of large robots do not fit the caches: Talos writes 35 kB a state"
    for name in ROBOTS:
        robot = load(name)
        yield from robot_measures(robot, quick)


def robot_measures(robot: Robot, quick: bool) -> Iterator[Measure | str]:
    m, d = robot.model, sh.Dynamics(robot.model)
    rng = np.random.default_rng(0)
    q = np.array([m.random_q(rng) for _ in range(BATCHES[-1])])
    v, tau = rng.normal(size=(2, BATCHES[-1], m.nv))
    check(robot, d, q, v, tau)
    data, first = robot.pin.createData(), (robot.q_to_pin(q[0]), v[0].copy(), tau[0].copy())
    one = q[0].copy(), v[0].copy(), tau[0].copy()
    calls: dict[str, tuple[Callable[[], Any], int]] = {
        "computeABADerivatives": (partial(pin.computeABADerivatives, robot.pin, data, *first), 1),
        "computeRNEADerivatives": (partial(pin.computeRNEADerivatives, robot.pin, data, *first), 1),
        "one call": (partial(d.forward_derivatives, *one), 1),
        "one call, inverse": (partial(d.inverse_derivatives, *one), 1),
    }
    for k in BATCHES:
        calls[f"batch, B = {k}"] = partial(d.forward_derivatives, q[:k], v[:k], tau[:k]), k
    calls["batch inverse"] = partial(d.inverse_derivatives, q[:256], v[:256], tau[:256]), 256
    seconds = race({name: call for name, (call, _) in calls.items()}, rounds=20 if quick else 100, sample=0.006)
    each = {name: seconds[name] / states for name, (_, states) in calls.items()}

    def ratio(ours: str, peer: str, target: float | None, what: str) -> Measure:
        times = {"ours": 1e6 * each[ours], peer: 1e6 * each[peer]}
        return Measure("derivatives", robot.name, what, each[peer] / each[ours], "×", target, details=times)

    forward, inverse = "computeABADerivatives", "computeRNEADerivatives"
    best = min((f"batch, B = {k}" for k in BATCHES), key=lambda name: each[name])
    for k in BATCHES:
        name = f"batch, B = {k}"
        yield ratio(name, forward, BATCH[robot.name] if name == best else None, f"forward derivatives, {name}")
    yield ratio("one call", forward, 1.0, "forward derivatives, one call")
    yield ratio("batch inverse", inverse, None, "inverse derivatives, batch, B = 256")
    yield ratio("one call, inverse", inverse, None, "inverse derivatives, one call")


def check(robot: Robot, d: sh.Dynamics, q: np.ndarray, v: np.ndarray, tau: np.ndarray, states: int = 16) -> None:
    """Ours equal Pinocchio's to 1e-9 of the largest entry."""
    data, some = robot.pin.createData(), slice(0, states)
    D = d.forward_derivatives(q[some], v[some], tau[some])
    wanted = []
    for k in range(states):
        pin.computeABADerivatives(robot.pin, data, robot.q_to_pin(q[k]), v[k], tau[k])
        wanted.append([data.ddq_dq.copy(), data.ddq_dv.copy(), np.triu(data.Minv) + np.triu(data.Minv, 1).T])
    for found, theirs, what in zip((D.dq, D.dv, D.dtau), zip(*wanted, strict=True), ("q", "v", "tau"), strict=True):
        check_same(f"{robot.name}: derivative by {what}", found, np.array(theirs))
