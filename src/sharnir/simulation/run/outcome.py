"""From the integrator's trajectory to a `Result`; messages about runs that failed or chatter."""

from __future__ import annotations

import numpy as np

from ...backends.run import range_left
from ...equations.assembly.loop_closure import off_by
from ...equations.motion.retraction import normalized_rows
from ...integrate.chatter import Chatter
from ...integrate.trajectory import LIMITED, Trajectory
from ...model.validity import beyond_validity, likely_cause
from ...reporting.formats import figures
from ..events.events import Changes
from ..events.impacts import ALONE, Beside
from ..results.records import Cost, EventRecord
from ..results.result import Result
from ..systems.motion_system import MotionSystem

# --- a run that chatters, in words: which force switches, where, and what to take instead
REMEDY = (
    "for friction take sh.JointFriction, which is smooth, or sh.BristleFriction, which sticks; for a stop or a floor "
    "sh.JointStop or sh.Contact; let an event switch what only switches now and then; or make the jump a slope, wider than "
    "the tolerance"
)


def chattering(m: MotionSystem, c: Chatter, changes: Changes, remedy: bool = True) -> str:
    """The force that jumps, the joint that it drives to and fro, how often, and with `remedy` what helps."""
    derivatives = [*["the speed"] * m.nq, *["the acceleration"] * m.nv, *["the rate"] * len(m.more)]
    names, k = [*m.d.model.q_names, *m.d.model.v_names, *m.more], c.index % max(m.row_size, 1)
    driven, derivative = names[k], derivatives[k]
    forces = _that_jump(m, c, changes)
    if forces:
        what = f"force {forces[0][0]!r} switches between {forces[0][1]}"
        if len(forces) > 1:
            what += f" (and so do {', '.join(repr(name) for name, _ in forces[1:4])})"
    else:
        what = f"{derivative} of {driven!r} jumps between {figures(min(c.rates))} and {figures(max(c.rates))}"
    how = f"no step gets past it: {driven!r} is driven back from either side"
    if c.steps:
        count = f"crosses zero {c.crossings} times" if c.crossings >= c.flips // 2 else f"turns round {c.flips} times"
        speed = f"v of joint {driven!r}" if derivative == "the acceleration" else repr(driven)
        step = c.span / c.steps
        how = (
            f"{speed} {count} in {c.span:.2g} s, so that steps stay near {step:.1g} s and the run would need about "
            f"{c.ahead:.0e} more of them"
        )
    return f"at t = {c.t:.9g} {what}, {how}" + f"; {REMEDY}" * remedy


def _that_jump(m: MotionSystem, c: Chatter, changes: Changes) -> list[tuple[str, str]]:
    """Forces whose action differs between two states that hardly do, the greatest jump first; with the two values."""
    t, rows = np.array([c.t, c.t]), np.array([c.before, c.after])
    q, v, _, parameters = m.seen(t, rows, changes.over(t))
    found, bodies = [], {body.name for body in m.d.model.bodies}
    for name, acted in m.d.force_actions(q, v, t, parameters=parameters if parameters.size else None).items():
        for on, x in acted.items():
            k = int(np.argmax(np.abs(x[1] - x[0])))
            a, b = (float(one[k]) for one in x)
            unit = "" if on not in bodies else " N" if k < 3 else " N m"  # of joints as their speeds are
            if abs(b - a) > 1e-3 * max(abs(a), abs(b)):
                found.append((abs(b - a), name, f"{figures(min(a, b))} and {figures(max(a, b))}{unit} on {on!r}"))
    largest: dict[str, str] = {}
    for _, name, text in sorted(found, reverse=True):
        largest.setdefault(name, text)
    return list(largest.items())


# --- results and messages
def make_result(m: MotionSystem, y: Trajectory, changes: Changes, ready: float, wall: float, given_times: bool) -> Result:
    """The `Result` of a run. `ready`, `wall`: seconds of preparation and of the run."""
    d, t, x = m.d, y.t, y.x
    wanted = not given_times or y.status == "interrupted"  # whoever interrupts a run does not want to lose it
    if wanted and not (len(t) and t[-1] == y.final_t) and np.isfinite(y.final_x).all():
        t, x = np.append(t, y.final_t), np.concatenate([x, y.final_x[None]])  # where a run ended early is its last row
    s = y.statistics
    report = y.report_total
    late = y.preparing + (m.passage.seconds if m.passage else 0.0)  # compiled where it was stiff, or near a singular position
    cost = Cost(
        d.method, d.why.details, m.backend, y.method, s.steps, s.rejected, s.evaluations, s.jacobians, wall - late, ready + late,
        s.min_step, s.max_step,
        iterations=float(report[0] / max(s.steps, 1)) if report.size else 0.0,
        restarts=int(report[1]) if report.size > 1 else 0,
        stabilisation=m.stabilisation.name if m.constrained else "",
        alpha=m.stabilisation.alpha,
        beta=m.stabilisation.beta,
        partitions=m.partitioning.count if m.partitioning else 0,
        passages=m.passage.count if m.passage else 0,
        exact_evaluations=m.passage.evaluations if m.passage else 0,
        nearest=m.passage.nearest if m.passage and m.passage.count else 0.0,
    )  # fmt: skip
    events = []
    for event in y.events:
        if event.index in m.setup.gaps or (changes.impacts is not None and not changes.impacts.shows(event.index)):
            continue
        qe, ve, ze, _ = m.split(event.x)
        there = m.with_states(changes.over(np.array([event.t])), ze[None])
        events.append(EventRecord(event.name, event.t, qe, m.velocities(qe, ve, event.t, there)))
    result = result_of(m, t, x, changes, cost, y.status, y.message + not_passed(m))
    result.events, result.integrator_switches = events, y.switches
    if changes.impacts is not None:
        result.impacts = changes.impacts.records
    return result


def not_passed(m: MotionSystem) -> str:
    """A sentence where the run came to a singular position that its stabilisation does not pass."""
    if not m.passage or not m.passage.count or m.passage.passes:
        return ""
    t, row = m.passage.first
    why = f"stabilisation {m.stabilisation.name!r} does not pass it, use 'projection'"
    if m.passage.run.projects:
        why = "the model is too large to pass it exactly, rely on four digits beyond"
    return f"; at t = {t:.6g} it came to a singular position, where {row} depends on the other constraints: {why}"


def result_of(
    m: MotionSystem, t: np.ndarray, x: np.ndarray, changes: Changes, cost: Cost, status: str, message: str, beside: Beside = ALONE
) -> Result:
    """The integrator's rows as a `Result`, without events; `beside`: the times of the rows before and after these."""
    q, v, z, work = (np.ascontiguousarray(part) for part in m.split(x))
    work = np.concatenate([work, changes.work(t, beside)], axis=1)
    q = normalized_rows(m.d.model, q, t)  # dense output does not preserve unit length
    parameters = changes.over(t, beside)
    if len(q):
        v = m.velocities(q, v, t, m.with_states(parameters, z))
    own = len(m.model.parameters)
    result = Result(
        m.model, t, q, v, m.tau, cost, status, message, causes=changes.causes, work_done=work, accounted=m.accounted,
        parameters=parameters[:, :own] if own else np.zeros((0, 0)), state_values=z, contacts=m.impacts,
        contact_values=parameters[:, own : own + len(m.impacts)],
    )  # fmt: skip
    result.tau = changes.forces_over(t, q, v, result.parameter_rows)
    if m.setup.sensitivities is not None:
        result.sensitivity_names, result.sensitivities = m.setup.sensitivities.names, m.rows_beside(x)
    return result


def violated_constraint(m: MotionSystem, r: Result) -> str:
    """Which constraint is violated at the end, from when on and by how much; an empty text where all are met."""
    if not m.constrained or not len(r):
        return ""
    table, limit = m.constrained.table, m.stabilisation.violation_limit
    parameters = () if r.parameter_rows is None else r.parameter_rows[-1]
    g = table.evaluate(r.q[-1], r.v[-1], float(r.t[-1]), parameters, sparse=True)["g"]
    allowed = limit * table.scale.of_rows(r.q[-1])[: len(g)]
    if (np.abs(g) <= allowed).all():
        return ""
    row = table.rows[worst := int(np.argmax(np.abs(g) / allowed))]
    since = float(r.t[int(np.argmax(r.violation > allowed[worst]))])
    return f"{row} could not be met from t = {since:.6g} on, at the end it is violated by {off_by(m.d.model, row, g[worst])}"


def root_cause(error: Exception | None) -> BaseException | None:
    """The user's own exception, where ours only says whose function raised it."""
    return error and (error.__cause__ or error)


def failure(m: MotionSystem, y: Trajectory, changes: Changes, r: Result | None = None, too_long: str = "") -> str:
    """Time, joint and cause of a failure. `too_long`: the warning of a fixed step before the run, or empty."""
    if y.status in (*LIMITED, "event_undefined", "raised"):
        return y.message
    q, t = m.split(y.final_x)[0][None], np.array([y.final_t])
    if r is not None:
        q, t = np.concatenate([r.q, q]), np.append(r.t, t)
    deformed = f". The likely cause: {too_long}" if too_long else likely_cause(beyond_validity(m.d.model, q, t))
    if y.chatter is not None and y.status == "chattering":
        return chattering(m, y.chatter, changes, remedy=not deformed) + deformed
    return _stopped(m, y) + deformed


def _stopped(m: MotionSystem, y: Trajectory) -> str:
    n, after = m.nq + m.nv, f"just after t = {y.final_t:.9g}"
    names = [f"the rate of {x!r}" for x in m.d.model.q_names] + [f"the acceleration of {x!r}" for x in m.d.model.v_names]
    with np.errstate(all="ignore"):
        rates = m.system.derivative(y.final_t, y.final_x)
        found, t, x = rates, y.final_t, y.final_x
        for h in 10.0 ** np.arange(-12.0, 0.5):  # straight on from the end to where they are not finite
            if not np.isfinite(found).all():
                break
            t, x = y.final_t + h, y.final_x + h * rates
            found = m.system.derivative(t, x)
    bad = np.flatnonzero(~np.isfinite(found[:n]))
    if bad.size and np.isfinite(x).all() and (why := _undefined(m, t, x, after)):
        return why
    if y.status == "not_finite":
        what = names[bad[-1]] if bad.size else "a number of the state"  # accelerations come last, and are the first cause
        return f"{what} is not finite {after}"
    fastest = names[int(np.argmax(np.abs(rates[:n]) / (1.0 + np.abs(y.final_x[:n]))))] if names else "nothing"
    return f"{y.message}; what changes fastest there is {fastest.removeprefix('the rate of ')}"


def _undefined(m: MotionSystem, t: float, x: np.ndarray, after: str) -> str:
    """Which constraint is not defined in a state, or which table was asked for what it does not have."""
    q, v, *_ = m.split(x)
    if m.constrained:
        table = m.constrained.table
        with np.errstate(all="ignore"):
            row = table.undefined(table.evaluate(q, v, t, m.parameters.tolist(), sparse=True))
        if row:
            return f"{row} is not finite {after}: the constraint is not defined in that position"
    q, v, _, parameters = m.seen(t, x)
    left = range_left(m.d.structure, q.tolist(), v.tolist(), t, parameters.tolist())
    return left and f"{left}, {after}"
