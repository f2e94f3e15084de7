"""Convergence through singular positions: N four-bars side by side against the pendulum that parallel rods are."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.integrate import solve_ivp

import sharnir as sh
from sharnir.equations.motion.stabilisation import CHOICES
from sharnir.integrate import from_traced
from sharnir.integrate import run as integrate
from sharnir.machine import machine
from sharnir.reporting.formats import duration
from sharnir.reporting.table import Table
from sharnir.trace.functions import cos

from .harness import results

DURATIONS = {2: 10.0, 6: 20.0, 40: 20.0}
"""Seconds, by the number of four-bars."""
TOLERANCES = (1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
HEAD = [
    "N",
    "stabilisation",
    "rtol",
    "error, rad",
    "energy defect, J",
    "violation",
    "steps",
    "evaluations",
    "in double-double",
    "time",
]


@cache
def pendulum(n: int) -> float:
    """The angle of the rods from the vertical at the end: θ'' = (G/I) sin θ, I = (N+1)/3 + N, G = 9.81((N+1)/2 + N)."""
    inertia, weight = (n + 1) / 3 + n, 9.81 * ((n + 1) / 2 + n)
    run = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14}
    found = solve_ivp(lambda t, x: [x[1], weight / inertia * math.sin(x[0])], (0.0, DURATIONS[n]), [0.0, 1.0], **run)
    return float(found.y[0, -1])


def alone(n: int, tolerance: float) -> list[str]:
    """The pendulum itself, two numbers without constraints, by the same integrator: the error that is the integrator's own."""
    inertia, weight = (n + 1) / 3 + n, 9.81 * ((n + 1) / 2 + n)
    system = from_traced(lambda t, x: [x[1], -weight / inertia * cos(x[0])], 2)
    y = integrate(system, [math.pi / 2, -1.0], 0.0, DURATIONS[n], "dop853", rtol=tolerance, atol=tolerance / 100)
    error = abs(math.pi / 2 - y.final_x[0] - pendulum(n))
    s = y.statistics
    return [str(n), "the pendulum alone", f"{tolerance:.0e}", f"{error:.1e}", "", "", str(s.steps), str(s.evaluations), "", ""]


def row(model: sh.Model, n: int, choice: str, tolerance: float) -> list[str]:
    run = {"rtol": tolerance, "atol": tolerance / 100, "output": DURATIONS[n], "stabilisation": choice, "progress": False}
    run["method"] = "composite" if n > 6 and choice in ("partitioning", "ggl") else "auto"  # those need all rows in one matrix
    name = [str(n), choice, f"{tolerance:.0e}"]
    try:
        r = sh.simulate(model, DURATIONS[n], **sh.samples.n_four_bar_start(n), **run)
    except sh.SimulationError as error:
        return [*name, f"ended at t = {error.time:.3g} s", "", "", "", "", "", ""]
    error = max(abs(math.pi / 2 - r.coordinate(f"foot{k}")[-1] - pendulum(n)) for k in range(n + 1))
    c = r.cost
    size = [f"{error:.1e}", f"{np.abs(r.energy.defect).max():.1e}", f"{r.violation.max():.0e}"]
    return [*name, *size, str(c.steps), str(c.evaluations), str(c.exact_evaluations), duration(c.wall)]


def main(quick: bool = False) -> None:
    rows = [HEAD]
    for n in (2, 6) if quick else DURATIONS:
        model = sh.samples.n_four_bar(n)
        rows += [alone(n, tolerance) for tolerance in TOLERANCES]
        for choice in CHOICES:
            if choice == "none":
                continue  # it says that it does not pass
            for tolerance in TOLERANCES if choice == "projection" else (TOLERANCES[1], TOLERANCES[-1]):
                rows.append(row(model, n, choice, tolerance))
                print("  ".join(f"{x:>14}" for x in rows[-1]), flush=True)
    print(Table.of_text(rows).plain(60, ruled=True))
    if not quick:
        where = machine()
        head = [
            "# Convergence through singular positions",
            "",
            f"Written by `python -m benchmarks singular`. {where['processor']}, one thread; Python {where['python']}, "
            f"sharnir {where['sharnir']}. N four-bars side by side (IFToMM A02; N = 2 for 10 s, 6 and 40 for 20 s) with dop853, "
            "atol = rtol/100, against the pendulum θ'' = (G/I) sin θ that they are while rods stay parallel. In every level "
            "position N modes of the constraints are lost at once. Error: the largest of the rods at the end; in double-double: "
            "evaluations near singular positions; time: of the run, without compilation. The pendulum alone: two numbers "
            "without constraints, by the same integrator.",
            "",
        ]
        text = "\n".join([*head, Table.of_text(rows).markdown(), ""])
        (results() / "singular.md").write_text(text, encoding="utf-8")
