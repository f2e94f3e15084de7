"""`simulate`: one motion of a model in time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..closed.assembly import assemble_start
from ..dynamics import Dynamics
from ..errors import MethodError, SimulationError, StateError
from ..integrate import run
from ..integrate.methods import integrator as integrator_named
from ..integrate.trajectory import Event as Root
from ..integrate.trajectory import Trajectory
from ..model.model import Model
from ..model.states import check_state, check_tau
from .events import DIRECTIONS, Event, Moment, limit_events
from .mechanics import Mechanics, quaternion_places
from .progress import Progress
from .result import Cost, Happened, Result
from .storage import check_writable

HALF_STEP = 1e-9
"""Output times this close to the end, in intervals, are the end."""
TORN = 1e-6
"""A constraint that is off by more (metres or radians) at the end of a run is lost."""


def simulate(
    model: Model,
    duration: float,
    *,
    q0: Any = None,
    v0: Any = None,
    t0: float = 0.0,
    tau: Any = None,
    method: str = "auto",
    backend: str = "auto",
    integrator: str = "dop853",
    rtol: float = 1e-8,
    atol: float | Sequence[float] = 1e-10,
    step: float | None = None,
    max_step: float = np.inf,
    output: float | Sequence[float] | None = 0.01,
    every: int = 1,
    events: Sequence[Event] = (),
    limits: str = "ignore",
    balance: bool = True,
    on_failure: str = "raise",
    progress: bool | None = None,
    save: str | Path | None = None,
) -> Result:
    """Simulate a model for `duration` seconds from (q0, v0) at t0.

    q0, v0, tau  arrays or {joint: value}; the rest neutral, at rest, zero. `tau` stays constant: for anything else add a
                 force to the model (`Motor`, or a function of your own)
    method, backend   as of `Dynamics`
    integrator   a name of `sharnir.integrators()`; `rtol`, `atol` for adaptive ones, `step` for the others
    output       interval of the times of the result, or the times themselves, or None: every step (`every`-th step)
    events       of `sharnir.Event`
    limits       of joints: "ignore" them, "stop" the run where one is reached, or raise an "error" there
    balance      keep account of the work of drives and forces
    on_failure   "raise" SimulationError, which carries the partial result, or "return" it
    progress     show a bar (default: where a terminal is there to see it and the run takes a while)
    save         write the result there; whether that is possible is found out before the run
    """
    begun = time.perf_counter()
    _check_choices(duration, limits, on_failure)
    q, v, t0 = check_state(model, q0, v0, t0)
    tau = check_tau(model, tau)
    d = Dynamics(model, method, backend)
    if d.closed:
        q, v = assemble_start(model, q0, v0, t0, d.closed.table)
    chosen = integrator_named(integrator)
    ends = limit_events(model) if limits != "ignore" else []
    watched = [*events, *(event for _, event in ends)]
    mechanics = Mechanics(d, tau, watched, balance, jacobian=chosen.needs_jacobian)
    q = _normalised(model, q)
    x0 = np.concatenate([q, d.momenta(q, v, t0) if mechanics.momenta else v, np.zeros(len(mechanics.causes))])
    times = _times(output, t0, t0 + duration)
    if save is not None:
        rows = len(times) if times is not None else 1000
        check_writable(save, rows * (model.nq + 2 * model.nv + 12 * len(model.bodies)) * 8)
    changes = _Changes(mechanics)
    if chosen.adaptive and step is not None:
        raise MethodError(f"{integrator!r} chooses its own steps: give rtol and atol, or max_step, not step")
    ready = time.perf_counter()
    with Progress(progress, t0, t0 + duration, model.name) as bar:
        trajectory = run(
            mechanics.system,
            x0,
            t0,
            t0 + duration,
            integrator,
            rtol=rtol,
            atol=_tolerances(atol, mechanics),
            step=step,
            max_step=max_step,
            times=times,
            every=every,
            events=[changes.root(event) for event in watched],
            progress=bar.update,
            compiled=backend != "python",
            strict=False,
        )
    result = _result(model, d, mechanics, trajectory, changes, tau, ready - begun, time.perf_counter() - ready)
    hit = _limit_hit(trajectory, len(events), ends) if limits == "error" else None
    if hit is not None:
        result.status = "limit"
    if save is not None:
        result.save(save)
    lost = _lost_constraint(d, result) if d.closed and trajectory.ok else ""
    if lost:
        result.status, result.message = "lost", lost
        if on_failure == "raise":
            raise SimulationError(
                f"{model.name!r}: {lost}. The motion up to there is in the error's `result`", result, result.t[-1]
            )
    if (hit is not None or not trajectory.ok) and trajectory.status != "interrupted" and on_failure == "raise":
        raise SimulationError(_why(model, mechanics, trajectory, hit), result, trajectory.final_t)
    return result


# --- before ---------------------------------------------------------------------------------------------------------------
def _check_choices(duration: float, limits: str, on_failure: str) -> None:
    if not isinstance(duration, (int, float)) or not np.isfinite(duration) or duration == 0.0:
        raise StateError(f"duration: expected a number of seconds, got {duration!r}")
    if limits not in ("ignore", "stop", "error"):
        raise MethodError(f"limits: expected 'ignore', 'stop' or 'error', got {limits!r}")
    if on_failure not in ("raise", "return"):
        raise MethodError(f"on_failure: expected 'raise' or 'return', got {on_failure!r}")


def _normalised(model: Model, q: np.ndarray) -> np.ndarray:
    q = q.copy()
    for at in quaternion_places(model):
        q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
    return q


def _times(output: Any, t0: float, t1: float) -> np.ndarray | None:
    if output is None:
        return None
    if np.ndim(output) > 0:
        return np.asarray(output, dtype=float)
    dt = float(output)
    if not 0.0 < dt < np.inf:
        raise StateError(f"output: expected an interval, times, or None for every step; got {output!r}")
    n = int(np.floor(abs(t1 - t0) / dt + HALF_STEP))
    times = t0 + np.copysign(dt, t1 - t0) * np.arange(n + 1)
    if abs(t1 - times[-1]) <= HALF_STEP * dt:
        times[-1] = t1
        return times
    return np.append(times, t1)


def _tolerances(atol: Any, m: Mechanics) -> np.ndarray:
    """One for each number of the state; the work done does not steer the step."""
    given = np.asarray(atol, dtype=float)
    if given.shape not in ((), (m.nq + m.nv,)):
        raise MethodError(f"atol: expected one number or {m.nq + m.nv}, one per coordinate and speed; got shape {given.shape}")
    out = np.full(m.n, 1e300)
    out[: m.nq + m.nv] = given
    return out


class _Changes:
    """Events as the integrator knows them, and the parameters as they were at any time."""

    def __init__(self, mechanics: Mechanics) -> None:
        self.m = mechanics
        self.history: list[tuple[float, np.ndarray]] = [(-np.inf, mechanics.parameters.copy())]

    def root(self, event: Event) -> Root:
        direction = DIRECTIONS[event.direction]
        if not callable(event.action):
            return Root(direction, event.action, name=event.name)
        return Root(direction, "change", self._change(event.action), event.name)

    def _change(self, action: Callable[[Moment], Any]) -> Callable[[float, np.ndarray], np.ndarray]:
        def change(t: float, x: np.ndarray) -> np.ndarray:
            m = self.m
            q, v, work = (part.copy() for part in m.split(x))
            speeds = m.d.velocities(q, v, t) if m.momenta else v
            names = list(m.structure.parameters)
            moment = Moment(t, q, speeds, dict(zip(names, m.parameters.tolist(), strict=True)))
            action(moment)
            unknown = set(moment.parameters) - set(names)
            if unknown:
                raise StateError(f"an event's action set the unknown parameter {sorted(unknown)[0]!r}")
            m.parameters[:] = [moment.parameters[name] for name in names]
            self.history.append((t, m.parameters.copy()))
            v = m.d.momenta(moment.q, moment.v, t) if m.momenta else moment.v
            return np.concatenate([moment.q, v, work])

        return change

    def over(self, t: np.ndarray) -> np.ndarray:
        """Parameters (T, n) at the times of the result."""
        if not self.m.parameters.size:
            return np.zeros((0, 0))
        starts = np.array([start for start, _ in self.history])
        return np.array([values for _, values in self.history])[np.searchsorted(starts, t, side="right") - 1]


# --- after ----------------------------------------------------------------------------------------------------------------
def _result(
    model: Model, d: Dynamics, m: Mechanics, y: Trajectory, changes: _Changes, tau: np.ndarray, ready: float, wall: float
) -> Result:
    q, v, work = (np.ascontiguousarray(part) for part in m.split(y.x))
    for at in quaternion_places(model):  # dense output leaves the unit sphere a little
        q[:, at : at + 4] /= np.linalg.norm(q[:, at : at + 4], axis=1, keepdims=True)
    if m.momenta and len(q):
        v = d.velocities(q, v, y.t)
    s = y.statistics
    report = y.report_total
    cost = Cost(
        d.method, d.why, m.backend, y.method, s.steps, s.rejected, s.evaluations, s.jacobians, wall, ready,
        s.min_step, s.max_step,
        iterations=float(report[0] / max(s.steps, 1)) if report.size else 0.0,
        restarts=int(report[1]) if report.size > 1 else 0,
    )  # fmt: skip
    happened = []
    for event in y.events:
        qe, ve, _ = m.split(event.x)
        happened.append(Happened(event.name, event.t, qe, d.velocities(qe, ve, event.t) if m.momenta else ve))
    return Result(model, y.t, q, v, tau, cost, y.status, y.message, happened, m.causes, work, changes.over(y.t))


def _lost_constraint(d: Dynamics, r: Result) -> str:
    """What a drive or an event has torn apart, when and by how much; nothing where all constraints are met at the end."""
    assert d.closed is not None
    table, parameters = d.closed.table, r.parameters[-1] if r.parameters.size else ()
    if not len(r):
        return ""
    g = np.abs(table.evaluate(r.q[-1], r.v[-1], float(r.t[-1]), parameters)["g"])
    if not g.size or g.max() <= TORN:
        return ""
    since = float(r.t[int(np.argmax(r.violation > TORN))])
    return f"{table.rows[int(np.argmax(g))]} could not be met from t = {since:.6g} on, at the end it is off by {g.max():.3g}"


def _limit_hit(y: Trajectory, before: int, ends: Sequence[tuple[str, Event]]) -> str | None:
    if y.status != "stopped" or not y.events or y.events[-1].index < before:
        return None
    return ends[y.events[-1].index - before][1].name


def _why(model: Model, m: Mechanics, y: Trajectory, hit: str | None) -> str:
    """Time, joint and cause of a failure."""
    if hit is not None:
        return f"{model.name!r} reached the {hit} at t = {y.final_t:.9g}; the motion up to there is in the error's `result`"
    names: Mapping[int, str] = dict(enumerate([*model.q_names, *(f"speed of {n}" for n in model.v_names), *m.causes]))
    with np.errstate(all="ignore"):
        rates = np.abs(m.system.derivative(y.final_t, y.final_x)) / (1.0 + np.abs(y.final_x))
    bad = np.flatnonzero(~np.isfinite(rates[: m.nq + m.nv]))
    worst = int(bad[0]) if bad.size else int(np.argmax(rates[: m.nq + m.nv])) if m.nq + m.nv else 0
    where = f"the fastest change is that of {names.get(worst)!r}"
    if y.status == "not_finite":
        where = f"the first number that is not finite belongs to {names.get(worst)!r}" if bad.size else where
    return f"{model.name!r}: {y.message}; {where}. The motion up to there is in the error's `result`"
