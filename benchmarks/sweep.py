"""Preparation of a run in a sweep: one closed mechanism simulated again and again with other values of a parameter.

Preparation is what `simulate` does before the integrator starts: equations are looked up, the start is assembled at the new
value. With a stiffness the mechanism stays as it is; with a length the start is another one every time.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

import sharnir as sh

from .report import Measure

VALUES = 200
START = {"A": 1.2}
"""Held at every length; the other joints follow."""
DURATION = 0.1


def sprung_four_bar() -> sh.Model:
    """A spring across the coupler, its stiffness and the length of the coupler parameters."""
    m = sh.Model("four-bar with a spring", gravity=(0.0, -9.81, 0.0))
    length, stiffness = m.add_parameter("length", 1.3), m.add_parameter("stiffness", 50.0)
    for name, x in (("crank", 0.5), ("coupler", length), ("rocker", 0.9)):
        m.add_body(name, mass=1.0, shape=sh.Rod((0.0, 0.0, 0.0), (x, 0.0, 0.0)))
    m.add_joint("A", sh.Revolute("z"), "ground", "crank")
    m.add_joint("B", sh.Revolute("z"), "crank", "coupler", at=sh.Pose((0.5, 0.0, 0.0)))
    m.add_joint("C", sh.Revolute("z"), "ground", "rocker", at=sh.Pose((1.1, 0.0, 0.0)))
    m.add_joint("D", sh.Revolute("z"), "coupler", "rocker", at=sh.Pose((length, 0.0, 0.0)), child_at=sh.Pose((0.9, 0.0, 0.0)))
    m.add_force(sh.SpringDamper("ground", "rocker", at_b=(0.9, 0.0, 0.0), stiffness=stiffness, length=1.0), "spring")
    return m


def measure(quick: bool = False) -> Iterator[Measure | str]:
    count = VALUES // 4 if quick else VALUES
    for name, values in (("stiffness", np.linspace(10.0, 100.0, count)), ("length", np.linspace(1.2, 1.5, count))):
        m = sprung_four_bar()
        seconds, first = call(m, name, float(values[0]))
        yield Measure("sweep", name, "first run of a model", seconds, " s")
        runs = [call(m, name, float(x)) for x in values]
        ends = {float(r.q[-1, 0]) for _, r in runs}
        if len(ends) < count or first.q[-1, 0] not in ends:
            raise AssertionError(f"sweep over {name}: {count} values give {len(ends)} motions")
        prepared, whole, what = [r.cost.compile for _, r in runs], [x for x, _ in runs], f"of a run in a sweep of {count}"
        yield Measure("sweep", name, f"preparation {what}, least", 1e3 * min(prepared), " ms")
        yield Measure("sweep", name, f"preparation {what}, median", 1e3 * float(np.median(prepared)), " ms")
        yield Measure("sweep", name, f"whole call {what}, least", 1e3 * min(whole), " ms")


def call(m: sh.Model, name: str, value: float) -> tuple[float, sh.Result]:
    begun = perf_counter()
    r = sh.simulate(m, DURATION, q0=START, parameters={name: value}, output=0.05, progress=False)
    return perf_counter() - begun, r
