"""`simulate`: one motion of a model in time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..dynamics import Dynamics
from ..equations.assembly import assemble_start
from ..equations.normalization import normalised
from ..equations.stabilisation import DECAYING, with_decay
from ..equations.stabilisation import chosen as chosen_stabilisation
from ..errors import ModelError, SimulationError
from ..integrate import run
from ..integrate.compiled import make_ready
from ..integrate.methods import integrator as integrator_named
from ..model.events import Event
from ..model.model import Model
from ..model.states import check_state, check_tau
from ..reporting.progress import ProgressBar
from .changes import Changes
from .checks import check_step, choice, number, output_times, span, tolerances, watch_list, whole
from .events import limit_events
from .mechanics import Mechanics
from .outcome import lost_constraint, make_result, why
from .result import Result
from .storage import check_writable, write


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
    stabilisation: str | None = None,
    decay: float | Sequence[float] | None = None,
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
    output       interval of the times of the result (its end is always among them), or the times themselves, or None: every
                 step (`every`-th step)
    events       of `sharnir.Event`
    limits       of joints: "ignore" them, "stop" the run where one is reached, or raise an "error" there
    stabilisation   how constraints are kept: "projection" (after every step; the default), "partitioning" (independent
                 coordinates alone are integrated), "baumgarte", "ggl", "none"; docs/theory/loops.md
    decay        of violations, 1/s: of "baumgarte" α and β or one number for both, of "ggl" one number; left out
                 it is five times as fast as the motion changes at the start, and at most 0.5 a fixed step
    balance      keep account of the work of drives and forces
    on_failure   "raise" SimulationError, which carries the partial result, or "return" it
    progress     show a bar (default: where a terminal is there to see it and the run takes a while)
    save         write the result there, .csv as a table, else NetCDF; whether that is possible is found out before the run
    """
    begun = time.perf_counter()
    if not isinstance(model, Model):
        raise ModelError(f"simulate needs a sharnir.Model, got {model!r}")
    duration = span(duration)
    choice(limits, "limits", ("ignore", "stop", "error"))
    choice(on_failure, "on_failure", ("raise", "return"))
    rtol, max_step = number(rtol, "rtol"), number(max_step, "max_step")
    step = None if step is None else number(step, "step")
    every, events = whole(every, "every"), watch_list(events)
    q, v, t0 = check_state(model, q0, v0, t0)
    tau = check_tau(model, tau)
    d = Dynamics(model, method, backend)
    how = chosen_stabilisation(model.name, len(d.constrained.table) if d.constrained else 0, stabilisation, decay)
    if d.constrained:
        q, v = assemble_start(model, q0, v0, t0, d.constrained.table)
    chosen = integrator_named(integrator)
    check_step(chosen, step)
    times = output_times(output, t0, t0 + duration)
    if save is not None:
        rows = len(times) if times is not None else 1000
        check_writable(save, rows * (model.nq + 2 * model.nv + 12 * len(model.bodies)) * 8)
    watched = [*events, *(limit_events(model, q) if limits != "ignore" else [])]
    q = normalised(model, q)
    start = d.forward(q, v, tau, t0) if how.name in DECAYING and not how.alpha else None
    how = with_decay(how, duration, integrator, step, v, start)
    mechanics = Mechanics(d, tau, watched, balance, jacobian=chosen.needs_jacobian, stabilisation=how)
    x0 = np.concatenate([q, d.momenta(q, v, t0) if mechanics.momenta else v, np.zeros(len(mechanics.causes))])
    x0 = mechanics.settled(t0, x0) if how.name == "partitioning" else x0
    changes = Changes(mechanics, duration)
    if backend != "python":
        make_ready(chosen)
    ready = time.perf_counter()
    with ProgressBar(progress, model.name, t0 + duration, t0, "t = {:.3g} s") as bar:
        trajectory = run(
            mechanics.system,
            x0,
            t0,
            t0 + duration,
            integrator,
            rtol=rtol,
            atol=tolerances(atol, mechanics),
            step=step,
            max_step=max_step,
            times=times,
            every=every,
            events=[changes.root(event) for event in watched],
            progress=bar.update,
            compiled=backend != "python",
            strict=False,
        )
    given_times = output is not None and np.ndim(output) > 0
    result = make_result(d, mechanics, trajectory, changes, tau, ready - begun, time.perf_counter() - ready, given_times)
    hit = trajectory.status == "stopped" and trajectory.events[-1].index >= len(events)
    if hit and limits == "error":
        result.status, result.message = "limit", f"reached the {trajectory.events[-1].name} at t = {trajectory.final_t:.9g}"
    elif not trajectory.ok:
        result.message = why(model, mechanics, trajectory)
    if save is not None:
        write(result, save)
    lost = lost_constraint(d, result, how) if d.constrained and trajectory.ok else ""
    if lost:
        result.status, result.message = "constraints_violated", lost
    if result.status not in ("done", "stopped", "interrupted") and on_failure == "raise":
        text = f"{model.name!r}: {result.message}. The motion up to there is in the error's `result`"
        raise SimulationError(text, result, trajectory.final_t)
    return result
