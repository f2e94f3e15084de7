"""From the integrator's trajectory to a Result, and what to say where it failed."""

from __future__ import annotations

import numpy as np

from ..dynamics import Dynamics
from ..equations.normalization import normalised
from ..equations.stabilisation import Stabilisation
from ..integrate.trajectory import Trajectory
from ..model.model import Model
from .changes import Changes
from .mechanics import Mechanics
from .result import Cost, EventRecord, Result


def make_result(
    d: Dynamics, m: Mechanics, y: Trajectory, changes: Changes, tau: np.ndarray, ready: float, wall: float, given_times: bool
) -> Result:
    t, x = y.t, y.x
    if not given_times and not (len(t) and t[-1] == y.final_t) and np.isfinite(y.final_x).all():
        t, x = np.append(t, y.final_t), np.concatenate([x, y.final_x[None]])  # a run that ended early shows where
    q, v, work = (np.ascontiguousarray(part) for part in m.split(x))
    q = normalised(d.model, q)  # dense output leaves the unit sphere a little
    if m.momenta and len(q):
        v = d.velocities(q, v, t)
    s = y.statistics
    report = y.report_total
    cost = Cost(
        d.method, d.why, m.backend, y.method, s.steps, s.rejected, s.evaluations, s.jacobians, wall, ready,
        s.min_step, s.max_step,
        iterations=float(report[0] / max(s.steps, 1)) if report.size else 0.0,
        restarts=int(report[1]) if report.size > 1 else 0,
        stabilisation=m.stabilisation.name if d.constrained else "",
        alpha=m.stabilisation.alpha,
        beta=m.stabilisation.beta,
        partitions=m.dependents.partitions if m.dependents else 0,
    )  # fmt: skip
    happened = []
    for event in y.events:
        qe, ve, _ = m.split(event.x)
        happened.append(EventRecord(event.name, event.t, qe, d.velocities(qe, ve, event.t) if m.momenta else ve))
    return Result(d.model, t, q, v, tau, cost, y.status, y.message, happened, m.causes, work, changes.over(t), m.accounted)


def lost_constraint(d: Dynamics, r: Result, how: Stabilisation) -> str:
    """What a drive or an event has pulled apart, when and by how much; nothing where all constraints are met at the end."""
    assert d.constrained is not None
    table, parameters = d.constrained.table, r.parameters[-1] if r.parameters.size else ()
    if not len(r):
        return ""
    g = np.abs(table.evaluate(r.q[-1], r.v[-1], float(r.t[-1]), parameters)["g"])
    if not g.size or g.max() <= how.violation_limit:
        return ""
    since = float(r.t[int(np.argmax(r.violation > how.violation_limit))])
    return f"{table.rows[int(np.argmax(g))]} could not be met from t = {since:.6g} on, at the end it is off by {g.max():.3g}"


def why(model: Model, m: Mechanics, y: Trajectory) -> str:
    """Time, joint and cause of a failure."""
    if y.status in ("interrupted", "max_steps"):
        return y.message
    names = [f"the rate of {n!r}" for n in model.q_names] + [f"the acceleration of {n!r}" for n in model.v_names]
    rates, found = _beyond(m, y)
    bad = np.flatnonzero(~np.isfinite(found))
    if y.status == "not_finite":
        what = names[bad[-1]] if bad.size else "a number of the state"  # accelerations come last, and first cause the rest
        return f"{what} is not finite just after t = {y.final_t:.9g}"
    fastest = names[int(np.argmax(np.abs(rates) / (1.0 + np.abs(y.final_x[: m.nq + m.nv]))))] if names else "nothing"
    return f"{y.message}; what changes fastest there is {fastest.removeprefix('the rate of ')}"


def _beyond(m: Mechanics, y: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Rates where the motion ended, and at the first place straight on from there where they are not finite."""
    n = m.nq + m.nv
    with np.errstate(all="ignore"):
        rates = m.system.derivative(y.final_t, y.final_x)
        found = rates
        for h in 10.0 ** np.arange(-12.0, 0.5):
            if not np.isfinite(found).all():
                break
            found = m.system.derivative(y.final_t + h, y.final_x + h * rates)
    return rates[:n], found[:n]
