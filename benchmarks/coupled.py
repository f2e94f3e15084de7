"""Robots with coupled (mimic) joints against Pinocchio, called from Python, in one run and one thread.

Pinocchio's `aba` knows no coupled joints and takes them as free: another problem, of more coordinates, but the cheapest call it
has, and the one that targets are set by. The same problem takes its inertia matrix and bias, followers tied by G: Gᵀ M G a = …
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.linalg import cho_factor, cho_solve

import sharnir as sh

from .harness import check_same, race
from .report import Measure
from .urdf import Pair, read_pair, robot_files

ROBOTS = {
    "talos_data/talos_full_v2": (True, 15.0),
    "panda/panda": (False, None),
    "pr2/pr2": (False, None),
    "tiago_pro/tiago_pro": (False, None),
}
"""Whether it floats, and the target: times `aba` in a batch."""
METHODS = ("composite", "separate")
STATES = 1024


def measure(quick: bool = False) -> Iterator[Measure | str]:
    files = robot_files()
    for name, (floating, target) in list(ROBOTS.items())[: 2 if quick else None]:
        yield from robot(name.split("/")[1], read_pair(files[name], floating), target)


def robot(name: str, pair: Pair, target: float | None) -> Iterator[Measure | str]:
    m, rng = pair.ours, np.random.default_rng(0)
    q = np.array([m.random_q(rng) for _ in range(STATES)])
    v, tau = rng.normal(size=(2, STATES, m.nv))
    chosen = sh.Dynamics(m)
    followers = sum(bool(j.follows) for j in m.joints)
    yield f"{name}: {m.nv} coordinates, {followers} followers ({pair.pin.nv} free in aba); method {chosen.method!r}, {chosen.why}"
    free, tied = peers(pair, q[0], v[0], tau[0])
    calls: dict[str, Callable[[], Any]] = {"aba": free, "tied": tied}
    for method in ("auto", *METHODS):
        try:
            d = sh.Dynamics(m, method)
        except sh.MethodError as refused:
            yield f"{name}: {refused}"
            continue
        check_same(f"{name}: forward, {method}", d.forward(q[0], v[0], tau[0]), tied())
        calls[method] = partial(d.forward, q, v, tau, out=np.empty((STATES, m.nv)))
    seconds = race(calls, rounds=60, sample=0.006)
    for method in [x for x in calls if x not in ("aba", "tied")]:
        ours = seconds[method] / STATES
        for peer, what in (("aba", "over aba, followers free"), ("tied", "over crba, rnea and Cholesky, followers tied")):
            wanted = target if (method, peer) == ("auto", "aba") else None
            details = {"ours": 1e6 * ours, peer: 1e6 * seconds[peer]}
            yield Measure("coupled", name, f"batch forward, {method}, {what}", seconds[peer] / ours, "×", wanted, details=details)


def peers(pair: Pair, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Pinocchio's forward dynamics of one state: followers free, and tied to their leaders."""
    p, data, G = pair.pin, pair.pin.createData(), pair.G
    pq, pv, ptau = pair.q(q), G @ v, G @ tau

    def tied() -> np.ndarray:
        M = pin.crba(p, data, pq)
        h = pin.nonLinearEffects(p, data, pq, pv)
        M = np.triu(M) + np.triu(M, 1).T
        return cho_solve(cho_factor(G.T @ M @ G, check_finite=False), tau - G.T @ h, check_finite=False)

    return partial(pin.aba, p, data, pq, pv, ptau), tied
