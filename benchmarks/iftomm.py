"""CPU time at a stated error on problems of the IFToMM library, every form and integrator, compared with Exudyn in the same run.

Ours: the call of the compiled integrator from Python on equations prepared before, with the final state as the only output.
Exudyn: the call of its solver on a system assembled before, see iftomm_exudyn.py. Both are given the loosest tolerance, or the
fewest steps, that reaches the error at the end; the reference is our tightest run, checked against published values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import sharnir as sh
from sharnir.equations.motion.stabilisation import Stabilisation, with_decay
from sharnir.integrate import Trajectory, run
from sharnir.machine import machine
from sharnir.reporting.formats import duration, figures
from sharnir.reporting.table import Table
from sharnir.reporting.timing import cpu_and_wall
from sharnir.simulation.systems.choose import motion_system
from sharnir.simulation.systems.motion_system import Setup

from .harness import results
from .iftomm_models import Problem, error, parallel_rate, problems
from .report import PACKAGES, Measure

TARGETS = (1e-6, 1e-4)
FORMS = ("composite", "separate")
OTHERS = ("direct", "recursive", "stepanenko", "kosynka")
"""With the best integrator only."""
INTEGRATORS = ("dop853", "dopri5", "adams", "radau", "rk4")
FASTER = 5.0


@dataclass
class Ours:
    """A problem with one form and one integrator, compiled."""

    problem: Problem
    form: str
    integrator: str
    stabilisation: str = "projection"

    def __post_init__(self) -> None:
        p = self.problem
        begun = perf_counter()
        d, tau = sh.Dynamics(p.model, self.form), np.array(p.model.speeds(p.tau))
        q, v = np.array(p.model.coordinates(p.q0)), np.array(p.model.speeds(p.v0))
        how = with_decay(Stabilisation(self.stabilisation), p.duration, self.integrator, None, v, d.forward(q, v, tau))
        self.equations = motion_system(Setup(d, tau, balance=False, jacobian=self.integrator == "radau", stabilisation=how))
        self.x0 = self.equations.consistent(0.0, np.concatenate([q, v]))
        self.compile = perf_counter() - begun
        self.setting = self.choices()[0]
        self.cpu = self.wall = np.inf

    def choices(self) -> list[float]:
        """Tolerances or steps, from the loosest."""
        if self.integrator == "rk4":
            return [self.problem.duration / int(40 * 2 ** (k / 4)) for k in range(44)]
        return [10 ** (-3 - k / 4) for k in range(37)]

    def call(self, setting: float, every: int = 0) -> Trajectory:
        given = {"step": setting} if self.integrator == "rk4" else {"rtol": setting, "atol": setting}
        return run(
            self.equations.system, self.x0, 0.0, self.problem.duration, self.integrator, every=every, strict=False, **given
        )

    def state(self, setting: float) -> tuple[np.ndarray, np.ndarray] | None:
        y = self.call(setting)
        return self.equations.split(y.final_x)[:2] if y.ok else None

    def error(self, setting: float, reference: np.ndarray) -> float:
        end = self.state(setting)
        return np.inf if end is None else error(self.problem.seen(end[0]), reference)

    def find(self, reference: np.ndarray, target: float, start: int = 0) -> bool:
        """The loosest setting that reaches the target, and whose next tighter one does too: no lucky hits."""
        held = None
        for setting in self.choices()[start:]:
            if not self.error(setting, reference) <= target:
                held = None
            elif held is not None:
                self.setting = held
                return True
            else:
                held = setting
        return False

    def clock(self, times: int) -> None:
        for _ in range(times):
            cpu, wall = cpu_and_wall(partial(self.call, self.setting))
            self.cpu, self.wall = min(self.cpu, cpu), min(self.wall, wall)

    def setup(self) -> float:
        """CPU time of a run that goes nowhere: arrays are made, one step is taken."""
        p, before = self.problem, (self.cpu, self.wall)
        whole, self.problem, self.cpu = self.setting, replace(p, duration=1e-9 * p.duration), np.inf
        if self.integrator == "rk4":
            self.setting = self.problem.duration
        self.clock(30)
        found, self.problem, self.setting, (self.cpu, self.wall) = self.cpu, p, whole, before
        return found

    @property
    def shown(self) -> str:
        if self.integrator == "rk4":
            return f"rk4, {round(self.problem.duration / self.setting)} steps"
        return f"{self.integrator}, rtol = atol = {self.setting:.1e}"


def reference(p: Problem) -> tuple[np.ndarray, str]:
    """What is seen at the end, to ten digits or so, and how that is known."""
    if p.code == "A02":  # rods stay parallel: one equation; our tightest run would not pass the singular positions
        rate = parallel_rate(sum(b.name.startswith("bar") for b in p.model.bodies))
        known = solve_ivp(lambda t, y: [y[1], rate * np.sin(y[0])], (0, p.duration), [0.0, 1.0], "DOP853", rtol=1e-13, atol=1e-13)
        angle = known.y[0, -1]
        return np.array([np.sin(angle), np.cos(angle)]), "the equation of parallel rods"
    times = sorted({0.0, *p.published, p.duration})
    r = sh.simulate(
        p.model, p.duration, q0=p.q0, v0=p.v0, tau=p.tau, method="composite", rtol=1e-13, atol=1e-13, output=times, balance=False
    )
    worst = max(error(p.seen(r.q[times.index(t)]), np.array(x)) for t, x in p.published.items())
    if not worst < p.known_to:
        raise AssertionError(f"{p.name}: we differ from published values by {worst:.1e}")
    other = Ours(p, "separate", "adams").error(1e-12, p.seen(r.q[-1]))
    if not other < 1e-8:
        raise AssertionError(f"{p.name}: two integrators differ by {other:.1e} at their tightest")
    return p.seen(r.q[-1]), f"dop853 at 1e-13; published values met to {worst:.0e}, adams with separate bodies to {other:.0e}"


@dataclass
class Outcome:
    """One problem at one error: ours that reached it, the fastest first, and Exudyn's."""

    problem: Problem
    target: float
    reference: np.ndarray
    ours: list[Ours]
    peer: Any
    """Exudyn's fastest, as `iftomm_exudyn.Found`; None without Exudyn."""
    others: list[Any]

    @property
    def comparable(self) -> bool:
        return self.peer is not None and self.peer.error <= self.target

    def rows(self) -> Iterator[list[str]]:
        names = [self.problem.name, f"{self.target:.0e}"]
        for o in self.ours:
            q, v = o.state(o.setting)  # type: ignore[misc]
            far, drift = error(self.problem.seen(q), self.reference), abs(self.problem.drift(q, v))
            solver = f"**sharnir, {o.form}**" if o is self.ours[0] else f"sharnir, {o.form}"
            ratio = f"{figures(self.peer.cpu / o.cpu)}×" if self.comparable else ""
            yield [*names, solver, o.shown, f"{far:.1e}", f"{drift:.0e}", duration(o.cpu), duration(o.wall), ratio]
        for f in [self.peer, *self.others] if self.peer else []:
            reached = f"{f.error:.1e}{'' if f.error <= self.target else ', not reached'}"
            ratio = "1" if f is self.peer else f"{figures(self.peer.cpu / f.cpu)}×"
            yield [*names, f"Exudyn, {f.built.name}", str(f.settings), reached, "", duration(f.cpu), duration(f.wall), ratio]

    def measures(self) -> Iterator[Measure | str]:
        name, best = self.problem.name, self.ours[0]
        for o in self.ours[1:]:
            what, details = f"{o.form}, {o.shown}, to {self.target:.0e}", {"compile": 1e6 * o.compile}
            yield Measure("iftomm", name, what, 1e3 * o.cpu, " ms", details=details)
        if not self.peer:
            return
        setup, what = best.setup(), f"to {self.target:.0e}: {best.form}, {best.shown}"
        if not self.comparable:
            what += f" (Exudyn stays at {self.peer.error:.0e})"
        times = {"ours": best.cpu, "of it set-up": setup, "Exudyn": self.peer.cpu, "compile": best.compile}
        wanted = FASTER if self.target == TARGETS[0] and self.comparable else None
        details = {key: 1e6 * x for key, x in times.items()}
        yield Measure("iftomm", name, what, self.peer.cpu / best.cpu, "×", wanted, details=details)
        yield f"{name}, {self.target:.0e}: {duration(setup)} of our {duration(best.cpu)} prepare the run, the rest is the motion"


def measure(quick: bool = False) -> Iterator[Measure | str]:
    rows = [["problem", "error ≤", "solver", "settings", "error", "drift, J", "CPU", "wall", "over Exudyn's best"]]
    items: list[Measure | str] = []
    try:
        from . import iftomm_exudyn as exudyn
    except ImportError:
        exudyn = None  # type: ignore[assignment]
        items.append("Exudyn is not installed: nothing to compare with")
    for p in problems():
        for found in solve(p, exudyn, quick):
            if isinstance(found, str):
                items.append(found)
            else:
                rows += found.rows()
                items += found.measures()
    notes = [item for item in items if isinstance(item, str)]
    yield from notes
    yield from (item for item in items if not isinstance(item, str))
    print(Table.of_text(rows).plain(60, ruled=True), flush=True)
    if not quick:
        write(rows, notes)


def solve(p: Problem, exudyn: Any, quick: bool) -> Iterator[Outcome | str]:
    """An outcome for every target, and notes."""
    wanted, how = reference(p)
    yield f"{p.name}, {p.duration:g} s, error of the {p.what}; reference: {how}"
    models, implicit = (exudyn.builds(p) if exudyn else []), []
    if exudyn:
        implicit, notes = exudyn.candidates(p, wanted, models)
        yield from notes
    ours = [Ours(p, form, name) for form in FORMS for name in (INTEGRATORS[:3] if quick else INTEGRATORS)]
    for target in TARGETS[: 1 if quick else 2]:
        peers = exudyn.best(wanted, target, models, implicit, 3.0 if quick else 15.0) if exudyn else []
        reached = [o for o in ours if o.find(wanted, target)]
        lost = [f"{o.form} with {o.integrator}" for o in ours if o not in reached]
        if lost:
            yield f"{p.name}: {', '.join(lost)} did not reach {target:.0e}"
        peer = race(reached, peers[0] if peers else None, exudyn, wanted, quick)
        if not quick and target == TARGETS[0]:
            best = min(reached, key=lambda o: o.cpu)
            more = [o for o in (Ours(p, form, best.integrator) for form in OTHERS) if o.find(wanted, target)]
            race(more, None, exudyn, wanted, quick)
            reached += more
        yield Outcome(p, target, wanted, sorted(reached, key=lambda o: o.cpu), peer, peers[1:])
    seconds = [o.compile for o in ours]
    yield f"{p.name}: equations prepared in {min(seconds):.2f} to {max(seconds):.2f} s, not in the times"


def race(ours: list[Ours], peer: Any, exudyn: Any, wanted: np.ndarray, quick: bool) -> Any:
    """Interleaved, the minimum of each; more calls of short runs, for both programs: the first of a round find cold caches.

    Returns the peer with its new times.
    """
    for o in ours:
        o.cpu = o.wall = np.inf
    for done in range(3 if quick else 6):
        for o in ours:
            o.clock(50 if o.cpu < 1e-3 else 5)
        if peer and (peer.cpu < 2.0 or done == 0):
            again = exudyn.tried(peer.built, peer.settings, wanted, 50 if peer.cpu < 1e-3 else 5 if peer.cpu < 0.01 else 1)
            peer = again if again and again.cpu < peer.cpu else peer
    return peer


def write(rows: list[list[str]], notes: list[str]) -> None:
    where = machine(PACKAGES)
    head = [
        "# IFToMM benchmark problems: CPU time at a stated error",
        "",
        f"Written by `python -m benchmarks iftomm`. {where['processor']}, {where['cores']} cores, one thread; Python "
        f"{where['python']}, sharnir {where['sharnir']}, Exudyn {version('exudyn')} (its build without range checks). "
        "Minimum of interleaved repeats. Ours: the call of the integrator from Python, equations compiled before. Exudyn: the "
        "call of its solver, system assembled before.",
        "",
    ]
    text = [*head, Table.of_text(rows).markdown(), "", *(f"- {note}" for note in notes), ""]
    (results() / "iftomm.md").write_text("\n".join(text), encoding="utf-8")
