"""Closed mechanisms: constraint violation over a million steps, and the speed of published mechanisms."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

import sharnir as sh

from .harness import race

S = sh.samples


def million(steps: int = 1_000_000, step: float = 1e-4) -> tuple[float, float, float]:
    """A four-bar by rk4: the largest violation in all outputs (every 1000th step), the drift of energy, seconds."""
    m = S.four_bar(0.5, 1.3, 0.9, 1.1)
    start = {"A": 1.2, "B": -1.0, "C": 1.5}
    r = sh.simulate(m, steps * step, q0=start, fixed=["A"], integrator="rk4", step=step, output=None, every=1000, progress=False)
    return float(r.violation.max()), float(abs(r.energy.defect).max()), r.cost.wall


def published() -> dict[str, sh.Result]:
    """The mechanisms of the IFToMM library and the IVP test set, at the tolerances a user would take."""
    pair = {"rtol": 1e-7, "atol": 1e-9, "progress": False}
    car = {"q0": {"l": (0, 0.5), "r": (1, 0.5)}, "v0": {"l": (-0.5, 0), "r": (-0.5, 0)}}
    fly = {"q0": {"slide": 0.5}, "v0": {"shaft": 2 * math.pi}}
    return {
        "N-four-bar, N = 2, 10 s": sh.simulate(S.n_four_bar(2), 10.0, **S.n_four_bar_start(2), **pair),
        "N-four-bar, N = 40, 20 s": sh.simulate(S.n_four_bar(40), 20.0, **S.n_four_bar_start(40), **pair),
        "Andrews, 0.03 s": sh.simulate(S.andrews(), 0.03, q0=S.andrews_start, tau={"beta": 0.033}, output=1e-3, **pair),
        "Bricard, 10 s": sh.simulate(S.bricard(), 10.0, **pair),
        "governor with rods, 10 s": sh.simulate(S.governor(closed=True), 10.0, **fly, **pair),
        "car axis, 3 s": sh.simulate(S.car_axis(), 3.0, **car, **pair),
    }


def batches(n: int = 4096) -> Iterator[tuple[str, dict[str, float]]]:
    """ns per state of each function for n states at once, and of `forward` for one, called from Python; one thread."""
    four = S.four_bar(0.5, 1.3, 0.9, 1.1), {"A": 1.2, "B": -1.0, "C": 1.5}
    for m, start in (four, (S.bricard(), None), (S.stewart(), None)):
        d = sh.Dynamics(m, "composite")
        q, v = m.assemble(start, np.random.default_rng(0).normal(size=m.nv), nearest=True)
        a = d.forward(q, v)
        Q, V, A = (np.tile(x, (n, 1)) for x in (q, v, a))
        calls = {
            "forward": lambda d=d, Q=Q, V=V: d.forward(Q, V),
            "multipliers": lambda d=d, Q=Q, V=V: d.multipliers(Q, V),
            "reactions": lambda d=d, Q=Q, V=V: d.reactions(Q, V),
            "inverse": lambda d=d, Q=Q, V=V, A=A: d.inverse(Q, V, A),
        }
        found = {name: 1e9 * seconds / n for name, seconds in race(calls, rounds=5, sample=0.1).items()}
        single = race({"one": lambda d=d, q=q, v=v: d.forward(q, v)}, rounds=5, sample=0.1)
        yield m.name, found | {"forward, one state": 1e9 * single["one"]}


def main(quick: bool = False) -> None:
    steps = 20_000 if quick else 1_000_000
    gap, drift, wall = million(steps)
    print(f"four-bar, {steps} steps of rk4: violation {gap:.1e}, energy drift {drift:.1e} J, {wall:.1f} s")
    for name, r in published().items():
        print(
            f"{name:<28} {r.cost.wall:8.4f} s, {r.cost.steps} steps on {r.cost.backend}; "
            f"violation {r.violation.max():.1e}, energy {abs(r.energy.defect).max():.1e} J"
        )
    for name, found in batches(512 if quick else 4096):
        print(f"{name:<28} ns per state: " + ", ".join(f"{what} {ns:.0f}" for what, ns in found.items()))
