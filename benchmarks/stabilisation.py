"""Constraint stabilisation methods compared: CPU time at a stated error, violations, and their growth in long runs.

The problems are those of iftomm_models.py and a four-bar that never comes to a singular position.
"""

from __future__ import annotations

import numpy as np

import sharnir as sh
from sharnir.equations.motion.stabilisation import CHOICES
from sharnir.machine import machine
from sharnir.reporting.formats import duration
from sharnir.reporting.table import Table

from .harness import results
from .iftomm import Ours
from .iftomm import reference as published
from .iftomm_models import Problem, andrews, bricard, error, four_bars, point

TARGET = 1e-6
START = {"A": 1.2, "B": -1.0, "C": 1.5}


def four_bar() -> Problem:
    """A crank that swings, a rocker; no singular positions."""
    m = sh.samples.four_bar(0.5, 1.3, 0.9, 1.1)
    q, _ = m.assemble(START, fixed=["A"])
    start = dict(zip(("A", "B", "C"), q.tolist(), strict=True))
    return Problem("four-bar", "four-bar", m, 10.0, "end of the crank, m", point(0, (0.5, 0, 0), 2), {}, 0.0, start)


def reference(p: Problem) -> np.ndarray:
    if p.published:
        return published(p)[0]
    r = sh.simulate(p.model, p.duration, q0=p.q0, rtol=1e-13, atol=1e-13, output=p.duration, balance=False)
    return p.seen(r.q[-1])


def compare(p: Problem, integrator: str, quick: bool) -> list[list[str]]:
    """A row for each choice: the loosest tolerance that reaches the target, its cost and the constraint violation."""
    wanted, rows = reference(p), []
    ours = [Ours(p, "composite", integrator, choice) for choice in CHOICES]
    reached = [o for o in ours if o.find(wanted, TARGET)]
    for _ in range(3 if quick else 40):  # interleaved, the minimum of each
        for o in reached:
            o.clock(5)
    for o in ours:
        if o not in reached:
            far = min(o.error(setting, wanted) for setting in (1e-8, 1e-10))
            rows.append([p.name, integrator, o.stabilisation, "", "", "", "", f"{far:.0e}, not reached", ""])
            continue
        y = o.call(o.setting, every=1)
        q, v, _ = o.equations.split(y.x)
        table = o.equations.d.constrained.table  # type: ignore[union-attr]
        gap = table.violation(q, v, y.t, np.zeros((len(y.t), 0))).max()
        s, far = y.statistics, error(p.seen(q[-1]), wanted)
        row = [
            p.name,
            integrator,
            o.stabilisation,
            f"{o.setting:.1e}",
            str(s.steps),
            str(s.evaluations),
            duration(o.cpu),
            f"{far:.0e}",
        ]
        rows.append([*row, f"{gap:.0e}"])
    return rows


def long_runs(steps: int, step: float = 1e-3) -> list[list[str]]:
    """The four-bar by rk4: violations in the first tenth and in the last, the energy."""
    rows = [["stabilisation", "violation, first tenth", "last tenth", "energy, J"]]
    p = four_bar()
    for choice in CHOICES:
        run = {"integrator": "rk4", "step": step, "output": None, "every": 10, "progress": False}
        r = sh.simulate(p.model, steps * step, q0=p.q0, stabilisation=choice, **run)
        tenth = len(r) // 10
        gaps = [f"{part.max():.0e}" for part in (r.violation[:tenth], r.violation[-tenth:])]
        rows.append([choice, *gaps, f"{abs(r.energy.defect).max():.0e}"])
    return rows


def decays(steps: int) -> list[list[str]]:
    """The four-bar by rk4: what a faster decay of violations brings, and where it does harm."""
    rows = [["decay, 1/s", *(f"{choice}, steps of {h:g} s" for choice in ("baumgarte", "ggl") for h in (1e-2, 1e-3))]]
    p = four_bar()
    for decay in (2.0, 5.0, 10.0, None, 20.0, 40.0, 80.0):
        row = [f"{decay:g}" if decay else ""]
        for choice in ("baumgarte", "ggl"):
            for h in (1e-2, 1e-3):
                run = {"integrator": "rk4", "step": h, "output": None, "every": 10, "progress": False}
                r = sh.simulate(p.model, steps * h, q0=p.q0, stabilisation=choice, decay=decay, **run)
                row.append(f"{r.violation.max():.1e}")
                row[0] = row[0] or f"{r.cost.alpha:.3g}, the default"
        rows.append(row)
    return rows


def main(quick: bool = False) -> None:
    rows = [["problem", "integrator", "stabilisation", "rtol = atol", "steps", "evaluations", "CPU", "error", "violation"]]
    for p in (four_bar(), four_bars(), andrews(), bricard()):
        for integrator in ("dop853",) if quick else ("dop853", "radau"):
            rows += compare(p, integrator, quick)
    steps = 20_000 if quick else 100_000
    long = long_runs(steps)
    print(Table.of_text(rows).plain(60, ruled=True))
    print(f"\nfour-bar, {steps} steps of rk4, 1 ms each")
    print(Table.of_text(long).plain(60, ruled=True))
    scan = decays(steps // 10)
    print(f"\nfour-bar, {steps // 10} steps of rk4: the largest violation")
    print(Table.of_text(scan).plain(60, ruled=True))
    if not quick:
        write(rows, long, scan, steps)


def write(rows: list[list[str]], long: list[list[str]], scan: list[list[str]], steps: int) -> None:
    where = machine()
    head = [
        "# Constraint stabilisation methods",
        "",
        f"Written by `python -m benchmarks stabilisation`. {where['processor']}, one thread; Python {where['python']}, "
        f"sharnir {where['sharnir']}. The loosest tolerance that reaches an error of {TARGET:.0e} at the end, and whose "
        "next tighter one does too; CPU: minimum of interleaved repeats, equations compiled before. Violation: the largest "
        "at any step. Composite bodies throughout; decay of Baumgarte and GGL as by default.",
        "",
    ]
    tail = ["", f"## Long runs: the four-bar, {steps} steps of rk4, 1 ms each", "", Table.of_text(long).markdown(), ""]
    tail += [f"## How fast violations should die out: the four-bar, {steps // 10} steps of rk4, the largest violation", ""]
    tail += [Table.of_text(scan).markdown(), ""]
    text = "\n".join([*head, Table.of_text(rows).markdown(), *tail])
    (results() / "stabilisation.md").write_text(text, encoding="utf-8")
