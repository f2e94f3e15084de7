"""The stiff flyball governor (problem A05 of the IFToMM library): ten seconds, the slider right to 1e-6 m, against Exudyn.

A shaft turns; on it slides a block, held by two spring-dampers (8e5 N/m, 4e4 N s/m) to the middles of two hinged rods
with 5 kg at their ends. Both sides solve the same problem and choose the method and the coarsest setting that does it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np
from scipy.interpolate import CubicSpline

import sharnir as sh
from sharnir.reporting.timing import once

from .harness import race
from .report import Measure

DENSITY, ROD, BALL, SIDE, EDGE = 3000.0, 1.0, 5.0, 0.05, 0.1
"""kg/m³; length of shaft and rods, mass at their ends, distance of hinges from the shaft's axis, edge of the slider."""
THICK = 0.01
STIFFNESS, DAMPING, LENGTH = 8e5, 4e4, 0.5
ANGLE, HEIGHT, SPEED = math.pi / 6, 0.5, 2 * math.pi
DURATION, ERROR = 10.0, 1e-6
TOLERANCES = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7)
AT_ONE_SECOND = {"slide": 0.501420922, "right hinge": 0.521833302}
Q0 = {"slide": HEIGHT, "right hinge": ANGLE, "left hinge": ANGLE}
V0 = {"turn": SPEED}


def loaded_rod(side: float = 1.0) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia about it of a rod along `side`·x from its hinge, with the ball at its end."""
    mass, middle, J = sh.Box((ROD, THICK, THICK), sh.Pose((side * ROD / 2, 0, 0))).mass_properties(None, DENSITY, "rod")
    end = np.array([side * ROD, 0, 0])
    centre = (mass * np.array(middle) + BALL * end) / (mass + BALL)
    for m, place in ((mass, np.array(middle)), (BALL, end)):
        d = place - centre
        J = J + m * (d @ d * np.eye(3) - np.outer(d, d))
    return mass + BALL, centre, J


def governor() -> sh.Model:
    model = sh.Model("governor", gravity=[0, 0, -9.81])
    model.add_body("shaft", shape=sh.Box((THICK, THICK, ROD), sh.Pose((0, 0, ROD / 2))), density=DENSITY)
    model.add_body("slider", shape=sh.Box((EDGE, EDGE, EDGE)), density=DENSITY)
    model.add_joint("turn", sh.Revolute("z"), "ground", "shaft")
    model.add_joint("slide", sh.Prismatic("z"), "shaft", "slider")
    for name, side in (("right", 1.0), ("left", -1.0)):
        mass, centre, J = loaded_rod(side)
        model.add_body(name, mass=mass, com=centre.tolist(), inertia=J)
        hinge = sh.Revolute((0.0, side, 0.0))  # its angle is counted downward
        model.add_joint(f"{name} hinge", hinge, "shaft", name, at=sh.Pose((side * SIDE, 0, ROD)))
        ends = {"at_a": (side * ROD / 2, 0, 0), "at_b": (side * SIDE, 0, 0)}
        model.add_force(sh.SpringDamper(name, "slider", **ends, stiffness=STIFFNESS, damping=DAMPING, length=LENGTH))
    return model


@dataclass(frozen=True)
class Found:
    """Settings that do it, and how well."""

    label: str
    call: Callable[[], tuple[np.ndarray, np.ndarray]]
    """Times and heights of the slider, about every second."""
    error: float
    seconds: float
    """Of the run that was looked at."""


def coarsest(rungs: list[tuple[str, Callable[[], tuple[np.ndarray, np.ndarray]]]], exact: CubicSpline) -> Found | None:
    """The first of some settings, from coarse to fine, whose slider is right to ERROR at every second."""
    for label, call in rungs:
        begun = perf_counter()
        t, s = call()
        seconds = perf_counter() - begun
        error = float(np.abs(s - exact(t)).max()) if np.isfinite(s).all() else math.inf
        if abs(t[-1] - DURATION) < 1e-9 and error <= ERROR:
            return Found(label, call, error, seconds)
    return None


def ours(model: sh.Model, integrator: str, rtol: float) -> tuple[np.ndarray, np.ndarray]:
    options = {"integrator": integrator, "rtol": rtol, "atol": rtol / 10, "output": 1.0, "balance": False}
    r = sh.simulate(model, DURATION, q0=Q0, v0=V0, **options)
    return r.t, r.coordinate("slide")


def reference(model: sh.Model) -> CubicSpline:
    """A tight run, compared with one by another method and with what is published for t = 1 s."""
    options = {"q0": Q0, "v0": V0, "output": 2e-3, "balance": False}
    r = sh.simulate(model, DURATION, **options, integrator="radau", rtol=1e-12, atol=1e-13)
    other = sh.simulate(model, DURATION, **options, integrator="dop853", rtol=1e-11, atol=1e-12)
    assert np.abs(r.q - other.q).max() < 1e-9, "two methods disagree about the governor"
    at = int(np.argmin(np.abs(r.t - 1.0)))
    for name, value in AT_ONE_SECOND.items():
        assert abs(r.coordinate(name)[at] - value) < 2e-9, f"the governor's {name} at 1 s is not {value}"
    return CubicSpline(r.t, r.coordinate("slide"))


def measure(quick: bool = False) -> Iterator[Measure | str]:
    from .exudyn_governor import ladders

    model = governor()
    exact = reference(model)
    yield f"governor: slider at {float(exact(DURATION)):.12f} m after {DURATION:g} s, by 'radau' at 1e-12 and 'dop853' at 1e-11"
    mine: list[Found] = []
    for name in ("radau", "dop853", "dopri5", "adams"):
        rungs = [(f"{name}, rtol {rtol:g}", partial(ours, model, name, rtol)) for rtol in TOLERANCES]
        found = coarsest(rungs, exact)
        mine += [found] if found else []
    theirs: list[Found] = []
    for name, rungs in ladders(quick).items():
        found = coarsest(rungs, exact)
        theirs += [found] if found else []
        if found is None:
            yield f"governor: Exudyn's {name} does not get there with the settings tried"
    hopeful = [x for x in theirs if x.seconds < 3.0 * min(y.seconds for y in theirs)]
    times = {x.label: x.seconds for x in theirs} | race({x.label: x.call for x in (*mine, *hopeful)}, rounds=3)
    for x in (*mine, *theirs):
        yield f"governor: {x.label}: {1e3 * times[x.label]:.1f} ms, error {x.error:.1e} m"
    best, peer = (min(side, key=lambda x: times[x.label]) for side in (mine, theirs))
    fresh = min(once(partial(ours, model.copy(), *best.call.args[1:])) for _ in range(5))  # type: ignore[attr-defined]
    details = {x.label: 1e6 * times[x.label] for x in (best, peer)}
    ratio = times[peer.label] / times[best.label]
    what = "10 s, error ≤ 1e-6 m, over Exudyn"
    yield Measure("simulate", "governor", what, ratio, "×", 3.0, details=details)
    details = {"ours": 1e6 * fresh, peer.label: 1e6 * times[peer.label]}
    yield Measure("simulate", "governor", f"{what}, first run of a new model", times[peer.label] / fresh, "×", details=details)
