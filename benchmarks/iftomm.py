"""CPU time at a stated error on problems of the IFToMM library, every form and integrator, beside Exudyn in the same run.

Ours: the call of the compiled integrator from Python on equations made ready before, the end alone as output. Exudyn: the call
of its solver on a system assembled before, see iftomm_exudyn.py. Both are given the loosest tolerance, or the fewest steps,
that reaches the error at the end; the reference is our tightest run, checked against published values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from scipy.integrate import solve_ivp

import sharnir as sh
from sharnir.equations.stabilisation import Stabilisation, with_decay
from sharnir.integrate import run
from sharnir.simulation.motion_system import Setup
from sharnir.simulation.systems import motion_system

from . import report, tables
from .iftomm_models import Problem, error, problems
from .report import Measure, figure

TARGETS = (1e-6, 1e-4)
FORMS = ("composite", "separate")
OTHERS = ("direct", "recursive", "stepanenko", "kosynka")
"""With the best integrator only."""
INTEGRATORS = ("dop853", "dopri5", "adams", "radau", "rk4")
FASTER = 5.0
RESULT = Path("docs/results/iftomm.md")


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

    def call(self, setting: float, every: int = 0):
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
            wall, cpu = perf_counter(), process_time()
            self.call(self.setting)
            self.cpu, self.wall = min(self.cpu, process_time() - cpu), min(self.wall, perf_counter() - wall)

    def setup(self) -> float:
        """CPU time of a run that goes nowhere: arrays are made, one step is taken."""
        p, kept = self.problem, (self.cpu, self.wall)
        whole, self.problem, self.cpu = self.setting, replace(p, duration=1e-9 * p.duration), np.inf
        if self.integrator == "rk4":
            self.setting = self.problem.duration
        self.clock(30)
        found, self.problem, self.setting, (self.cpu, self.wall) = self.cpu, p, whole, kept
        return found

    @property
    def shown(self) -> str:
        if self.integrator == "rk4":
            return f"rk4, {round(self.problem.duration / self.setting)} steps"
        return f"{self.integrator}, rtol = atol = {self.setting:.1e}"


def reference(p: Problem) -> tuple[np.ndarray, str]:
    """What is seen at the end, to ten digits or so, and how that is known."""
    if p.code == "A02":  # rods stay parallel: one equation; our tightest run would not pass the singular positions
        n = sum(b.name.startswith("bar") for b in p.model.bodies)
        rate = 9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
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


def measure(quick: bool = False) -> Iterator[Measure | str]:
    rows = [["problem", "error ≤", "solver", "settings", "error", "drift, J", "CPU", "wall", "over Exudyn's best"]]
    notes = []
    measures = []
    try:
        from . import iftomm_exudyn as exudyn
    except ImportError:
        exudyn = None
        notes.append("Exudyn is not installed: nothing to compare with")
    for p in problems():
        wanted, how = reference(p)
        notes.append(f"{p.name}, {p.duration:g} s, error of the {p.what}; reference: {how}")
        models, implicit = (exudyn.builds(p) if exudyn else []), []
        if exudyn:
            implicit, more = exudyn.candidates(p, wanted, models)
            notes += more
        ours = [Ours(p, form, name) for form in FORMS for name in (INTEGRATORS[:3] if quick else INTEGRATORS)]
        for target in TARGETS[: 1 if quick else 2]:
            peers = exudyn.best(wanted, target, models, implicit, 3.0 if quick else 15.0) if exudyn else []
            peer = peers[0] if peers else None
            reached = [o for o in ours if o.find(wanted, target)]
            lost = [f"{o.form} with {o.integrator}" for o in ours if o not in reached]
            if lost:
                notes.append(f"{p.name}: {', '.join(lost)} did not reach {target:.0e}")
            peer = race(reached, peer, exudyn, wanted, quick)
            best = min(reached, key=lambda o: o.cpu)
            if not quick and target == TARGETS[0]:
                more = [o for o in (Ours(p, form, best.integrator) for form in OTHERS) if o.find(wanted, target)]
                race(more, None, exudyn, wanted, quick)
                reached += more
                best = min(reached, key=lambda o: o.cpu)
            for o in sorted(reached, key=lambda o: o.cpu):
                q, v = o.state(o.setting)  # type: ignore[misc]
                name = f"**sharnir, {o.form}**" if o is best else f"sharnir, {o.form}"
                far = error(p.seen(q), wanted)
                ratio = f"{figure(peer.cpu / o.cpu)}×" if peer and peer.error <= target else ""
                rows.append(
                    [
                        p.name,
                        f"{target:.0e}",
                        name,
                        o.shown,
                        f"{far:.1e}",
                        f"{abs(p.drift(q, v)):.0e}",
                        ms(o.cpu),
                        ms(o.wall),
                        ratio,
                    ]
                )
                if o is not best:
                    details = {"compile": 1e6 * o.compile}
                    measures.append(
                        Measure("iftomm", p.name, f"{o.form}, {o.shown}, to {target:.0e}", 1e3 * o.cpu, " ms", details=details)
                    )
            for f in [peer, *peers[1:]] if peer else []:
                far = f"{f.error:.1e}{'' if f.error <= target else ', not reached'}"
                ratio = "1" if f is peer else f"{figure(peer.cpu / f.cpu)}×"
                rows.append(
                    [p.name, f"{target:.0e}", f"Exudyn, {f.built.name}", str(f.settings), far, "", ms(f.cpu), ms(f.wall), ratio]
                )
            if peer:
                ready = best.setup()
                details = {
                    "ours": 1e6 * best.cpu,
                    "of it set-up": 1e6 * ready,
                    "Exudyn": 1e6 * peer.cpu,
                    "compile": 1e6 * best.compile,
                }
                what = f"to {target:.0e}: {best.form}, {best.shown}"
                if peer.error > target:
                    what += f" (Exudyn stays at {peer.error:.0e})"
                wish = FASTER if target == TARGETS[0] and peer.error <= target else None
                measures.append(Measure("iftomm", p.name, what, peer.cpu / best.cpu, "×", wish, details=details))
                notes.append(
                    f"{p.name}, {target:.0e}: {ms(ready)} of our {ms(best.cpu)} make the run ready, the rest is the motion"
                )
        seconds = [o.compile for o in ours]
        notes.append(f"{p.name}: equations made ready in {min(seconds):.2f} to {max(seconds):.2f} s, not in the times")
    yield from notes
    yield from measures
    print(tables.plain(rows, 60), flush=True)
    if not quick:
        write(rows, notes)


def race(ours: list[Ours], peer, exudyn, wanted: np.ndarray, quick: bool):
    """In turn, the least of each; of short runs more, of both programs alike: the first calls of a turn find cold caches."""
    for o in ours:
        o.cpu = o.wall = np.inf
    for turn in range(3 if quick else 6):
        for o in ours:
            o.clock(50 if o.cpu < 1e-3 else 5)
        if peer and (peer.cpu < 2.0 or turn == 0):
            again = exudyn.tried(peer.built, peer.settings, wanted, 50 if peer.cpu < 1e-3 else 5 if peer.cpu < 0.01 else 1)
            peer = again if again and again.cpu < peer.cpu else peer
    return peer


def ms(seconds: float) -> str:
    return f"{figure(1e3 * seconds)} ms"


def write(rows: list[list[str]], notes: list[str]) -> None:
    machine = report.machine(report.PACKAGES)
    head = [
        "# IFToMM benchmark problems: CPU time at a stated error",
        "",
        f"Written by `python -m benchmarks iftomm`. {machine['processor']}, {machine['cores']} cores, one thread; Python "
        f"{machine['python']}, sharnir {machine['sharnir']}, Exudyn {version('exudyn')} (its build without range checks). "
        "Least of repeats taken in turn. Ours: the call of the integrator from Python, equations compiled before. Exudyn: the "
        "call of its solver, system assembled before.",
        "",
    ]
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text("\n".join([*head, tables.markdown(rows), "", *(f"- {note}" for note in notes), ""]), encoding="utf-8")
