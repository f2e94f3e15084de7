"""Flexible mechanisms beside Exudyn's beams: how far both agree, and CPU time at equal error.

Either code is compared with its own finest solution, since the theories differ slightly: Exudyn's cables are geometrically exact
and have no rotary inertia, ours are of second order in the deflection. Ours is timed by the call of `simulate` on a model
simulated before; Exudyn by the call of its solver on a system assembled before. Both record the motion at the same times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

import sharnir as sh
from sharnir.reporting.formats import duration, figures
from sharnir.reporting.table import Table
from sharnir.reporting.timing import cpu_and_wall

TARGETS = (1e-2, 1e-3)


@dataclass
class Case:
    name: str
    build: Callable[[int], sh.Model]
    """By the number of modes of bending."""
    seconds: float
    period: float
    what: str
    ends: tuple[str, str, str]
    """The bodies whose origins are the first, the middle and the last point of the beam."""
    modes: tuple[int, ...]
    models: dict[int, sh.Model] = field(default_factory=dict)

    def model(self, modes: int) -> sh.Model:
        if modes not in self.models:
            self.models[modes] = self.build(modes)
        return self.models[modes]

    def run(self, modes: int, rtol: float, integrator: str = "auto") -> tuple[float, np.ndarray]:
        m, found = self.model(modes), []
        times = np.arange(0, round(self.seconds / self.period) + 1) * self.period

        def go() -> None:
            found.append(
                sh.simulate(m, self.seconds, output=times, rtol=rtol, atol=1e-2 * rtol, integrator=integrator, balance=False)
            )

        cpu, _ = cpu_and_wall(go)
        return cpu, self.seen(np.array([found[0].point(body)[:, :2] for body in self.ends]))

    def seen(self, points: np.ndarray) -> np.ndarray:
        """Deflection of the middle from the line between the ends, positive to the left."""
        first, middle, last = points
        along = last - first
        normal = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.linalg.norm(along, axis=1)[:, None]
        found: np.ndarray = ((middle - 0.5 * (first + last)) * normal).sum(axis=1)
        return found


class Lag(Case):
    """Of a beam that is turned: of its tip behind where a rigid beam would be."""

    def seen(self, points: np.ndarray) -> np.ndarray:
        t = np.arange(len(points[2])) * self.period
        rate = 2.0 * np.pi / 15.0
        angle = 6.0 * np.where(t < 15.0, (0.5 * t * t + (np.cos(rate * t) - 1.0) / rate**2) / 15.0, t - 7.5)
        found: np.ndarray = np.sin(angle) * points[2][:, 0] - np.cos(angle) * points[2][:, 1]
        return found


def with_middle(modes: int) -> sh.Model:
    m = sh.samples.rotating_beam(bending=modes)
    m.add_node("middle", "beam", (5.0, 0.0, 0.0))
    return m


CASES = (
    Lag("rotating beam", with_middle, 20.0, 0.1, "lag of the tip", ("beam", "middle", "tip"), (2, 3, 4, 6)),
    Case("slider-crank", lambda n: sh.samples.flexible_slider_crank(bending=n, stretching=1, spin_up=0.1), 0.15, 0.001,
         "deflection of the middle of the rod", ("rod", "middle", "block"), (1, 2, 3, 5)),
    Case("pendulum", lambda n: sh.samples.flexible_pendulum(modes=n), 2.0, 0.01,
         "deflection of the middle", ("beam", "middle", "tip"), (2, 3, 4, 6)),
)  # fmt: skip


@dataclass(frozen=True)
class Found:
    settings: str
    cpu: float
    error: float
    again: Callable[[], float]


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference over the whole motion, relative to the largest number."""
    return float(np.abs(a - b).max() / np.abs(b).max())


def ours(case: Case, finest: np.ndarray, quick: bool) -> Iterator[Found]:
    for modes, integrator in product(case.modes[:-1], ("dop853", "dopri5", "adams", "radau")):
        case.run(modes, 1e-3, integrator)  # compiled
        for rtol in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
            with suppress(sh.SharnirError):
                cpu, found = case.run(modes, rtol, integrator)
                settings = f"{modes} modes of bending, {integrator}, rtol = {rtol:.0e}"
                yield Found(settings, cpu, distance(found, finest), lambda s=(modes, rtol, integrator): case.run(*s)[0])


def exudyn(case: Case, peer: Any, finest: np.ndarray, quick: bool) -> Iterator[Found]:
    for elements in (2, 4, 8, 16):
        built = peer.BUILDS[case.name](elements)
        for steps, newton, rho in product([250, 500, 1000, 2000, 4000, 8000], (1e-4, 1e-5), (0.6, 0.9)):
            with suppress(Exception):  # it gives up: too few steps
                given = (case.seconds, case.period, steps, newton, rho)
                cpu, points = built.run(*given)
                settings = f"{elements} elements, generalized-α, ρ = {rho}, {steps} steps, Newton to {newton:.0e}"
                again = lambda b=built, g=given: b.run(*g)[0]  # noqa: E731
                yield Found(settings, cpu, distance(case.seen(points), finest), again)


def cheapest(found: list[Found], target: float, repeats: int) -> Found | None:
    """Of those that reach the target; the best few are timed again."""
    reached = sorted((f for f in found if f.error <= target), key=lambda f: f.cpu)[:3]
    timed = [Found(f.settings, min(f.again() for _ in range(repeats)), f.error, f.again) for f in reached]
    return min(timed, key=lambda f: f.cpu) if timed else None


def compare(quick: bool) -> Iterator[str]:
    """(d) Beside Exudyn."""
    try:
        from . import flexible_exudyn as peer
    except ImportError:
        yield "Exudyn is not installed: nothing to compare with."
        return
    rows = [["mechanism", "error ≤", "sharnir", "CPU", "Exudyn", "CPU", "times faster"]]
    agreement = [["mechanism", "what", "largest, here", "largest, Exudyn", "largest difference, of the largest"]]
    for case in CASES[:1] if quick else CASES:
        mine = case.run(case.modes[-1], 1e-9)[1]
        fine = peer.BUILDS[case.name](16 if quick else 32)
        theirs = case.seen(fine.run(case.seconds, case.period, 8000 if quick else 32000)[1])
        largest = [f"{1e3 * np.abs(x).max():.3f} mm" for x in (mine, theirs)]
        agreement.append([case.name, case.what, *largest, f"{distance(mine, theirs):.1e}"])
        tried = list(ours(case, mine, quick)), list(exudyn(case, peer, theirs, quick))
        for target in TARGETS:
            a, b = (cheapest(found, target, 3 if quick else 10) for found in tried)
            ratio = figures(b.cpu / a.cpu) + "×" if a and b else ""
            cells = [x for f in (a, b) for x in ([f.settings, duration(f.cpu)] if f else ["not reached", ""])]
            rows.append([case.name, f"{target:.0e}", *cells, ratio])
    yield "## Beside Exudyn's beams"
    yield (
        "The same mechanisms with cubic ANCF cable elements in the plane. Agreement of the finest solutions of both, at all "
        "times of the "
        "motion: 20 s of the spin-up; 0.15 s of the slider-crank, brought to 150 rad/s in 0.1 s; 2 s of a pendulum of "
        "spring steel."
    )
    yield Table.of_text(agreement).markdown()
    yield (
        "CPU time at equal error, each against its own finest solution. Ours: the call of `simulate`, equations compiled "
        "before. Exudyn: "
        "the call of its solver, system assembled before; the cheapest of 2 to 16 elements, 250 to 8000 steps, two "
        "tolerances of Newton's "
        "method, two damping parameters."
    )
    yield Table.of_text(rows).markdown()
    yield "The misaligned four-bar (`sh.samples.flexible_four_bar()`) moves in space and is not compared."
