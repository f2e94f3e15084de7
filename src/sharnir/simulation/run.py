"""`simulate`: one motion of a model in time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..backends.team import helped
from ..dynamics import Dynamics
from ..equations.assembly import Start
from ..errors import MethodError, SimulationError
from ..integrate import run
from ..integrate.compiled import make_ready
from ..integrate.methods import integrator as integrator_named
from ..integrate.trajectory import LIMITED
from ..model.events import Event
from ..model.impacts import Impact
from ..model.model import Model
from ..model.parameter_checks import check_values
from ..model.states import check_model, check_state
from ..model.validity import beyond_validity, warn_of_deformation
from ..reporting.progress import ProgressBar
from ..types import truth
from .changes import Changes
from .checks import check_ends, check_events, check_step, output_times, tolerances
from .contacts import Contacts, check_impacts, divided, with_contacts
from .controllers import Controllers
from .elastic_steps import warn_of_elastic_steps
from .events import limit_events
from .gaps import gap_events, gap_root
from .impacts import Impacts
from .joint_laws import JointLaw
from .motion_system import Setup
from .options import (
    Tau,
    check_duration,
    check_resolution,
    check_stabilisation,
    choice,
    number,
    stabilisations,
    values_of,
    whole,
)
from .outcome import failure, make_result, root_cause, violated_constraint
from .preparation import start_of, state_at, with_joint_forces
from .recording import HELD, Recording
from .result import Result
from .sampled import Sampled, check_control, check_controlled
from .sensitivities import check_sensitivities, sensitivities_by
from .storage import PathLike, check_result_file
from .straight_line import StraightLine
from .systems import motion_system


def simulate(
    model: Model,
    duration: float,
    *,
    q0: Start = None,
    v0: Start = None,
    fixed: Sequence[str] | None = None,
    t0: float = 0.0,
    tau: Tau | JointLaw | None = None,
    control: Sampled | Sequence[Sampled] | None = None,
    parameters: Mapping[str, float] | None = None,
    states: Mapping[str, float] | None = None,
    method: str = "auto",
    backend: str = "auto",
    threads: int = 1,
    integrator: str = "auto",
    rtol: float = 1e-8,
    atol: float | ArrayLike = 1e-10,
    step: float | None = None,
    max_step: float = np.inf,
    max_steps: int | None = None,
    max_seconds: float | None = None,
    output: float | ArrayLike | None = 0.01,
    every: int = 1,
    events: Event | Impact | Sequence[Event | Impact] = (),
    limits: str = "ignore",
    stabilisation: str | None = None,
    decay: float | Sequence[float] | None = None,
    balance: bool = True,
    sensitivities: Sequence[str] = (),
    on_failure: str = "raise",
    progress: bool | None = None,
    save: PathLike | None = None,
) -> Result:
    """Simulate a model for `duration` seconds from (q0, v0) at t0.

    q0, v0, tau  arrays or {joint: value}; the rest neutral, at rest, zero. `tau` is constant; or a law, a function of `Motion`
                 that returns joint forces, compiled with the equations (docs/control.md)
    control      `sharnir.Sampled(f, period)`, or a list of them: Python called at sample times only, its joint forces held in
                 between and added to `tau`; what it commanded is in `result.control`
    fixed        of a model with loops: joints, or coordinates ("float.x"), that keep the values of q0 while the others are moved
                 to close them. By default what q0 names is held, and a q0 given as an array is refused where it does not close;
                 with `fixed` everything else is a guess, fixed=[] holds nothing. What was moved is in `result.start`
    parameters   {name: value} of the model; the rest as the model has them. Other values compile nothing
    states       {name: initial value} of states of forces and of `Model.add_state`; the rest as the model has them
    method, backend, threads   as of `Dynamics`: with several threads those share every evaluation of a model that is large enough
    integrator   a name of `sharnir.integrators()`; `rtol`, `atol` for adaptive ones, `step` for the others. "auto" is "dop853",
                 and "radau" while the motion is stiff: `result.integrator_switches`
    max_steps, max_seconds   the run ends there (seconds of the run, without the compilation before it) and returns the motion so
                 far, with that status and whatever `on_failure` says
    output       interval of the times of the result (its end is always among them), or the times themselves, or None: every
                 step (`every`-th step)
    events       of `sharnir.Event` and `sharnir.Impact`
    limits       of joints: "ignore" them, "stop" the run where one is reached, or raise an "error" there
    stabilisation   of constraints: "projection" (after every step; the default), "partitioning" (independent coordinates
                 alone are integrated), "baumgarte", "ggl", "none"; docs/theory/loops.md
    decay        of violations, 1/s: of "baumgarte" α and β or one number for both, of "ggl" one number; by default five
                 times as fast as the motion changes at the start, and at most 0.5 over a fixed step
    balance      record the work of drives and forces
    sensitivities   names of parameters, "q0.joint", "v0.joint": derivatives of the motion by these are integrated along with it,
                 and are in `result.sensitivity(name)`
    on_failure   "raise" SimulationError, which carries the partial result, or "return" it. Of a force that jumps to and fro so
                 that no step is small enough ("chattering") the message says which, and what to take instead
    progress     show a progress bar (default: on a terminal), from the first second on
    save         write the result there, NetCDF (.nc) or a table (.csv); whether that is possible is checked before the run. While
                 it runs its rows are written to a file beside it, `….partial-….nc`, which stays where the process is killed;
                 an error in writing is a SaveError, which carries the result
    """
    begun = time.perf_counter()
    model = check_model(model, "simulate")
    duration = check_duration(duration)
    choice(limits, "limits", ("ignore", "stop", "error"))
    choice(on_failure, "on_failure", ("raise", "return"))
    rtol, max_step = number(rtol, "rtol"), number(max_step, "max_step")
    step = None if step is None else number(step, "step")
    balance = truth(balance, "balance")
    check_ends(max_steps, max_seconds)
    given, hits = divided(events)
    every, own_events = whole(every, "every"), check_events(given)
    check_impacts(hits, duration, method, stabilisation, sensitivities)
    if hits:
        model = with_contacts(model, hits)
    _, _, t0 = check_state(model, q0, v0, t0)
    check_resolution(t0, duration=duration, step=step, max_step=max_step, output=output)
    shown, controllers = model, [] if control is None else check_control(control)
    check_controlled(controllers, t0, duration, sensitivities)
    model, law, forces = with_joint_forces(model, tau, backend)
    values = values_of(model, parameters, states)
    check_values(model, values[None])
    own = values if values.size else None
    bar = ProgressBar(progress, model.name, t0 + duration, t0)
    d = Dynamics(model, method, backend, threads)
    d.formulation.check_inertia()
    how = check_stabilisation(d, stabilisation, decay)
    start, _ = start_of(d, shown, q0, v0, t0, fixed, values)
    q, v = start.q, start.v
    chosen = integrator_named(integrator)
    check_step(chosen, step)
    too_long = "" if step is None else warn_of_elastic_steps(d, q, t0, own, step, integrator)
    times = output_times(output, t0, t0 + duration, 2 * (model.nq + model.nv))
    if save is not None:
        rows = len(times) if times is not None else 1000
        check_result_file(save, rows * (model.nq + 2 * model.nv + 12 * len(model.bodies)) * 8)
    all_events = [*own_events, *(limit_events(model, q) if limits != "ignore" else [])]
    (how,) = stabilisations(d, how, q[None], v[None], forces, t0, duration, integrator, step, own)
    directions = None
    if len(sensitivities):
        table = d.constrained.table if d.constrained else None
        directions = sensitivities_by(model, sensitivities, q, v, t0, values, start.free, table)
        check_sensitivities(d, how.name)
    contacts = Contacts.of(model, hits, d.constrained.table.rows) if hits and d.constrained else None
    gaps = gap_events(model.structure) if chosen.adaptive and not len(sensitivities) else []
    watched = [*all_events, *gaps, *(contacts.events() if contacts else [])]
    setup = Setup(
        d, forces, watched, balance, chosen.needs_jacobian, how, parameters=own, sensitivities=directions,
        controlled=bool(controllers), law=law, shown=shown,
    )  # fmt: skip
    setup.gaps = range(len(all_events), len(all_events) + len(gaps))
    setup.contacts, setup.jacobian_later = contacts, chosen.switches
    with bar.meanwhile("compiling"):
        motion = motion_system(setup)
        if backend != "python":
            make_ready(chosen)
    x0 = state_at(motion, start, t0, values[len(model.parameters) :])
    if directions is not None:
        if not isinstance(motion, StraightLine):
            why = f"model {model.name!r} is too large for it" if backend == "auto" else f"backend {backend!r} has none"
            raise MethodError(f"sensitivities need straight-line code: {why} by method {d.method!r}")
        x0 = np.concatenate([x0, np.pad(directions.start, ((0, 0), (0, len(motion.more)))).ravel()])
    x0 = motion.consistent(t0, x0) if motion.partitioning else x0
    impacts = Impacts(motion, contacts) if contacts else None
    x0 = impacts.begin(t0, x0) if impacts else x0
    changes = Changes(motion, duration, impacts)
    sampled = Controllers(controllers, motion, changes, t0, t0 + duration) if controllers else None
    ready = time.perf_counter()
    with Recording(save, motion, changes, integrator) as recording:
        with bar, helped(motion.system.natives("derivative")):
            trajectory = run(
                motion.system,
                x0,
                t0,
                t0 + duration,
                integrator,
                rtol=rtol,
                atol=tolerances(atol, motion),
                step=step,
                max_step=max_step,
                max_steps=max_steps,
                max_seconds=max_seconds,
                times=times,
                every=every,
                events=[
                    *(changes.root(event, k) for k, event in enumerate(all_events)),
                    *(gap_root() for _ in gaps),
                    *changes.of_impacts(),
                ],
                progress=bar.reached,
                keep=None if save is None else recording.keep,
                pauses=() if sampled is None else sampled.pauses,
                at_pause=None if sampled is None else sampled.at_pause,
                compiled=backend != "python",
                strict=False,
            )
        given_times = output is not None and np.ndim(output) > 0
        result = make_result(motion, trajectory, changes, ready - begun, time.perf_counter() - ready, given_times)
        result.start = start
        result.control = sampled.records() if sampled is not None else {}
        at_limit = trajectory.status == "stopped" and len(own_events) <= trajectory.events[-1].index < len(all_events)
        if at_limit and limits == "error":
            result.status, result.message = "limit", f"reached the {trajectory.events[-1].name} at t = {trajectory.final_t:.9g}"
        elif not trajectory.ok:
            result.message = failure(motion, trajectory, changes, result, too_long)
        elif violated := violated_constraint(motion, result):
            result.status, result.message = "constraints_violated", violated
        recording.finish(result)
    ended = result.status in ("done", "stopped", *LIMITED)
    if not ended and on_failure == "raise":
        text = f"{model.name!r}: {result.message}. The motion up to there {HELD}"
        raise SimulationError(text, result, trajectory.final_t) from root_cause(trajectory.cause)
    if ended and not too_long:
        warn_of_deformation(beyond_validity(model, result.q, result.t))
    return result
