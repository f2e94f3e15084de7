"""A run in a few lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...equations.motion.stabilisation import PROJECTION, Stabilisation
from ...integrate.switching import EXPLICIT
from ...model.mobility import counted_bodies, degrees_of_freedom
from ...model.validity import WHY, beyond_validity
from ...reporting.formats import duration, figures, plural

if TYPE_CHECKING:
    from ...integrate.trajectory import Switch
    from .result import Result

MAX_RANKED = 300
"""Speeds of a mechanism beyond which the rank of its constraints is not determined for a line of text."""
MAX_SWITCHES = 6
"""Between integrators, that are listed."""
STEADY = 1e-6
"""Energy exchanged, relative to the kinetic energy, below which defects are compared with the latter."""


def summary(r: Result) -> str:
    c = r.cost
    size = f"{counted_bodies(len(r.model.bodies), len(r.model.parts.deformations))}, {_freedoms(r)}"
    lines = [f"{r.model.name}: {size}; {r.status}, {r.message}"]
    if r.start is not None and r.start.words:
        lines.append(f"  start       {r.start.words}")
    lines.append(f"  method      {c.method} on {c.backend} ({c.why})")
    steps = f"{c.steps} steps ({c.rejected} rejected), {c.evaluations} evaluations"
    if c.jacobians:
        steps += f", {c.jacobians} Jacobians"
    by = f"{c.integrator} ({EXPLICIT})" if c.integrator == "auto" and c.steps and not r.integrator_switches else c.integrator
    lines.append(f"  integrator  {by}: {steps}, steps {duration(c.smallest_step)} … {duration(c.largest_step)}")
    if r.integrator_switches:
        lines.append(f"              {_switches(r.integrator_switches)}")
    if c.iterations or c.restarts:
        lines.append(f"  iterations  {c.iterations:.2f} per step, {c.restarts} refactorisations")
    speed = (r.t[-1] - r.t[0]) / c.wall if c.wall > 0.0 and len(r) else 0.0
    lines.append(
        f"  time        {duration(c.wall)} of computing ({figures(speed)} × real time), {duration(c.compile)} to prepare"
    )
    for event in r.events[:8]:
        lines.append(f"  event       {event.name or 'event'} at t = {event.t:.9g}")
    if len(r.events) > 8:
        lines.append(f"              and {len(r.events) - 8} more")
    for name in dict.fromkeys(one.name for one in r.impacts):
        own = [one for one in r.impacts if one.name == name]
        lines.append(f"  impact      {name}: {len(own)}, {sum(one.lost for one in own):.6g} J lost")
    if len(r):
        lines += [f"  deformation {one}: {WHY}" for one in beyond_validity(r.model, r.q, r.t)]
        lines += _energy(r)
        if rows := _constraints(r):
            how = str(Stabilisation(c.stabilisation or PROJECTION, c.alpha, c.beta))
            how += f", {plural(c.partitions, 'partition')}" if c.partitions else ""
            lines.append(f"  constraints {rows} rows, violation at most {r.violation.max():.2g}, {how}")
            if c.passages:
                how = f"{c.exact_evaluations} evaluations in double-double arithmetic" if c.exact_evaluations else "not passed"
                lines.append(f"  singular    {plural(c.passages, 'neighbourhood')} entered, nearest {c.nearest:.2g}; {how}")
        names = r.model.q_names[:12]
        width = max(11, *map(len, names)) if names else 11
        lines += [f"  {name:<{width}} {x: .9g}" for name, x in zip(names, r.q[-1], strict=False)]
        if r.model.nq > 12:
            lines.append(f"              and {r.model.nq - 12} more coordinates")
    return "\n".join(lines)


def _switches(switches: Sequence[Switch]) -> str:
    """Which method ran when."""
    shown = [f"{one.after} from t = {one.t:.6g}" for one in switches[:MAX_SWITCHES]]
    more = [f"and {len(switches) - MAX_SWITCHES} more switches"] if len(switches) > MAX_SWITCHES else []
    return ", ".join([switches[0].before, *shown, *more])


def _freedoms(r: Result) -> str:
    """Degrees of freedom, those of a mechanism with loops at the end of the run."""
    rows = _constraints(r)
    if not rows or not len(r) or r.model.nv > MAX_RANKED:
        return degrees_of_freedom(r.model.nv, rows)
    return r.model.mobility(r.q[-1], r.t[-1]).summary


def _constraints(r: Result) -> int:
    """Rows of the model's own constraints: a contact, which comes and goes, has one row."""
    constrained = r.dynamics.constrained
    return len(constrained.table) - len(r.contacts) if constrained else 0


def _energy(r: Result) -> list[str]:
    e = r.energy
    lines = [f"  energy      kinetic {e.kinetic[-1]:.6g} J, potential {e.potential[-1]:.6g} J"]
    for name, work in e.work.items():
        lines.append(f"    {'supplied by' if work[-1] >= 0.0 else 'removed by'} {name}: {abs(work[-1]):.6g} J")
    if not e.accounted:
        return [*lines, "    the work of drives and forces was not recorded (balance=False, or a backend that cannot record it)"]
    size, of = max(float(np.ptp(e.kinetic)), float(np.ptp(e.potential)), 1e-300), "energy exchanged"
    if size < STEADY * (most := float(e.kinetic.max())):  # a share of next to nothing says nothing
        size, of = most, "kinetic energy"
    worst = float(np.abs(e.defect).max())
    what = "defect of the energy balance" if e.work else "change of the total"
    lines.append(f"    {what}: at most {worst:.2g} J, {worst / size:.1g} of the {of}")
    return lines
