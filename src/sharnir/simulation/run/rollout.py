"""`rollout`: many trajectories of one model at once, on the lanes of the processor and on its threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...backends.graph_function import share
from ...dialect.jit import host_lanes
from ...dynamics import Dynamics
from ...equations.assembly.fixed_coordinates import held_coordinates
from ...equations.assembly.many_starts import assembled_starts
from ...equations.assembly.start import Asked
from ...equations.motion.retraction import normalized_start
from ...errors import AssemblyError, MethodError, SimulationError, StateError, brief, check_known
from ...integrate.driver import FIRST, next_piece
from ...integrate.trajectory import in_words, outcome
from ...machine import beyond_memory
from ...model.copying import with_limits
from ...model.model import Model
from ...model.motion import Motion
from ...model.references import is_name_in
from ...model.settings import ACT, ENDING, IGNORE
from ...model.states import check_model, check_quaternions
from ...model.units import warn_of_degrees
from ...model.validity import beyond_validity, warn_of_deformation
from ...reporting.progress import ProgressBar
from ...solvers.evaluator import Arguments
from ...types import real_array, truth
from ..control.joint_laws import JointLaw, acting, is_law
from ..control.sampled import Sampled, check_control, check_controlled, is_sampled
from ..results.derived import rows_of
from ..results.records import Cost
from ..results.trajectories import Rollout
from .batch import ENTRIES, Batch, LaneForces
from .checks import Tau, choice, whole, with_states
from .elastic_steps import warn_of_elastic_steps, warn_of_shapes, warn_of_shapes_in_motion
from .options import SIMULATE_ONLY, CompiledOptions, Control, FixedSteps, either, fixed_steps
from .preparation import Prepared

CHUNK, MOST_CHUNK = 16, 128
"""Vectors of lanes that go through all steps together: their states stay in the nearest cache."""
NEAREST = 256
"""Vectors of coordinates and speeds that do, of small models."""


def rollout(
    model: Model,
    q0: ArrayLike,
    v0: ArrayLike | None = None,
    *,
    fixed: Sequence[str] | None = None,
    nearest: bool = False,
    duration: float | None = None,
    step: float | None = None,
    tau: Tau | Control | JointLaw | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    states: Mapping[str, ArrayLike] | None = None,
    t0: float = 0.0,
    method: str = "auto",
    backend: str = "auto",
    integrator: str = "rk4",
    limits: str = ACT,
    stabilisation: str | None = None,
    decay: float | Sequence[float] | None = None,
    every: int = 1,
    feedback: Callable[[Motion], object] | None = None,
    threads: int = 1,
    progress: bool | None = None,
    dt: float | None = None,
    steps: int | None = None,
    control: Tau | Control | JointLaw | Sampled | Sequence[Sampled] | None = None,
    **others: object,
) -> Rollout:
    """Many trajectories, one for each row of q0 (B, nq) and v0 (B, nv), in fixed steps.

    fixed           joints, or coordinates ("float.x"), that keep the values of q0 while the others are moved to close loops; by
                    default a row of q0 that does not close them is refused, as an array is by `simulate`
    nearest         take the rows as guesses
    duration, step  seconds; or `dt` for the step and a number of `steps` for the duration
    tau             joint forces held over each step: an array (nv,), (steps, nv) or (B, steps, nv), {joint: value}, or a
                    Python function (t, q (B, nq), v (B, nv)) -> (B, nv) called before every step; or a law as of `simulate`, a
                    function of `Motion` that returns joint forces, compiled with the equations
    control         `sharnir.Sampled(f, period)`, or a list of them, as of `simulate`: f is called with the states of all
                    trajectories, (B, …), its period and delay are whole numbers of steps; what it commands is added to `tau`.
                    Anything else is another name of `tau`
    parameters      {name: value} of the model, or {name: (B,)}, one value for each trajectory
    states          {name: value} of states of forces at the start, or {name: (B,)}
    feedback        a traced law, as a force of the model's own: a function of `Motion` that pushes, compiled with the
                    equations and evaluated at every stage
    integrator      "rk4" or "euler" (semi-implicit)
    limits          of joints: "act", as elastic stops, or "ignore"; for their sake no trajectory ends
    every           store every so many steps
    threads         of the processor
    t0, method, backend, stabilisation, decay, progress   as of `simulate`

    A trajectory that fails does not stop the others. Where the model has closed loops, the states are assembled first. Ctrl-C
    ends it early: the result has `status` "interrupted". An exception in a function `tau` comes out as the cause of a
    SimulationError, whose `result` has all rows until then.
    """
    check_known("rollout", (name for name in others if name not in SIMULATE_ONLY), [*signature(rollout).parameters][:-1])
    for name in others:
        raise MethodError(f"{name}: an option of `simulate` that a rollout does not have; {SIMULATE_ONLY[name]}")
    if is_name_in(ENDING, limits):
        raise MethodError(
            f"limits={limits!r}: an option of `simulate`, for a rollout 'act' or 'ignore'; {SIMULATE_ONLY['events']}"
        )
    choice(limits, "limits", (ACT, IGNORE))
    if not is_name_in(ENTRIES, integrator):
        raise MethodError(f"rollout steps with 'rk4' or 'euler', not with {brief(integrator)}")
    model = with_limits(check_model(model, "rollout"), limits == ACT)
    grid = fixed_steps(duration, step, dt, steps, every, t0)
    given: Any
    controllers = check_control(control) if is_sampled(control) else []
    name, given = ("tau", tau) if controllers else either("tau", tau, "control", control)
    check_controlled(controllers, grid.t0, 1.0, ())
    whole(threads, "threads", 1)
    if feedback is not None:
        plain, model = model, model.copy()
        model.add_force(acting(feedback, plain), name="feedback")
    law, given = (given, None) if is_law(given) else (None, given)
    began = time.perf_counter()
    options = CompiledOptions(
        law=law, method=method, backend=backend, integrator=integrator, stabilisation=stabilisation, decay=decay, balance=False
    )
    prepared = Prepared(model, options)
    d, model = prepared.d, prepared.model
    check_together(prepared, "rollout")
    rows, many = Arguments(model).parameters(with_states(model, parameters, states))
    values = None if not rows.shape[1] else rows if many else rows[0]  # (P,), or (B, P) where trajectories differ
    q, v = states_of(d, q0, v0, grid.t0, values, (fixed or []) if truth(nearest, "nearest") else fixed)
    own = None if values is None else np.atleast_2d(values)[0]
    said = warn_of_shapes(d, q[0], v[0], grid.t0, np.zeros(model.nv), own)
    too_long = warn_of_elastic_steps(d, q, grid.t0, own, grid.step, integrator)
    if beyond := beyond_memory(len(q) * (grid.count // grid.every + 1) * 2 * (model.nq + model.nv + len(model.states))):
        raise StateError(
            f"{len(q)} trajectories of {grid.count} steps need {beyond}; store fewer rows (every=…), or roll out in parts"
        )
    forces = LaneForces(model, grid, name, given, controllers, len(q), values)
    batches = batches_of(prepared, grid, q, v, forces.held, values, threads)
    begun = time.perf_counter()
    with ProgressBar(progress, f"{len(q)} × {model.name}", grid.t0 + grid.duration, grid.t0, "t = {:.3g} s") as bar:
        status, cause = outcome(partial(_run, batches, grid, forces, threads, bar))
    seconds = time.perf_counter() - begun, begun - began
    result = _result(prepared, grid, batches, values, forces, status, cause, *seconds)
    if cause is not None:
        text = f"{model.name!r}: {result.message}. The motions up to there are in the error's `result`"
        raise SimulationError(text, result, float(result.t[-1])) from cause
    if not too_long:
        warn_of_deformation(beyond_validity(model, result.q, result.t))
        if not said:
            warn_of_shapes_in_motion(result, own)
    return result


def batches_of(
    prepared: Prepared, grid: FixedSteps, q: np.ndarray, v: np.ndarray, held: np.ndarray | None, values: np.ndarray | None,
    threads: int,
) -> list[Batch]:  # fmt: skip
    """The trajectories from (q, v) in batches whose states stay in the nearest cache, at least one for each thread."""
    model = prepared.model
    laws = prepared.stabilisations(q, v, np.zeros(model.nv), grid.t0, max(grid.duration, grid.step), grid.step, values)
    threads = max(1, min(threads, -(-len(q) // host_lanes())))
    vectors = min(MOST_CHUNK, max(CHUNK, NEAREST // max(model.nq + model.nv, 1)))
    width = min(vectors * host_lanes(), max(host_lanes(), -(-len(q) // threads)))  # trajectories of a batch
    batches = []
    for a, b in pairwise([*range(0, len(q), width), len(q)]):
        own = values[a:b] if values is not None and values.ndim == 2 else values
        batches.append(Batch(prepared, grid, laws[a:b], q[a:b], v[a:b], None if held is None else held[a:b], own))
    return batches


def _run(batches: Sequence[Batch], grid: FixedSteps, forces: LaneForces, threads: int, bar: ProgressBar) -> str:
    """Run all batches from pause to pause, where Ctrl-C is noticed."""
    done, piece, due = 0, FIRST if batches[0].compiled else 1.0, 0 if forces.changes else grid.count
    while done < grid.count:
        t = grid.t0 + grid.step * done
        if done == due:
            due = forces.change(batches, done, t)
        begun, until = time.perf_counter(), min(done + int(piece), due)
        share(partial(Batch.run, until=until), batches, threads)
        piece, done = next_piece(until - done, time.perf_counter() - begun), until
        bar.update(t)
    return "done"


def _result(
    prepared: Prepared, grid: FixedSteps, batches: Sequence[Batch], values: np.ndarray | None, forces: LaneForces, status: str,
    cause: Exception | None, wall: float, ready: float,
) -> Rollout:  # fmt: skip
    """Arrays that the batches have stored. `wall`, `ready`: seconds of the run and before it."""
    d, how, model, integrator = prepared.d, prepared.how, prepared.model, prepared.chosen.name
    rows = min(batch.stored for batch in batches)
    t = grid.times[:rows]
    q, v, z = (np.concatenate(x) for x in zip(*(batch.rows(rows) for batch in batches), strict=True))
    failed = np.concatenate([batch.failed() for batch in batches])
    message = ""
    if status != "done":
        failed[failed > t[-1]] = np.inf
        message = f"interrupted after t = {t[-1]:.9g}" if cause is None else f"after t = {t[-1]:.9g}: {in_words(cause)}"
    count = len(model.parameters)
    each = np.zeros((0, 0)) if values is None or not count else np.array(np.broadcast_to(values[..., :count], (len(q), count)))
    stages = 4 if integrator == "rk4" else 1
    cost = Cost(
        d.method, d.why.details, d.backend, integrator, grid.count, 0, stages * grid.count * len(q), 0, wall, ready, grid.step,
        grid.step, stabilisation=how.name if d.constrained else "", alpha=how.alpha, beta=how.beta,
    )  # fmt: skip
    result = Rollout(prepared.user_model, t, q, v, failed, forces.stored(rows), cost, status, message, each, z)
    if prepared.law is None:
        return result
    s = rows_of(result)
    return replace(result, tau=result.tau + prepared.law(s.t, s.q, s.v, s.parameters).reshape(v.shape))


def check_together(prepared: Prepared, caller: str) -> None:
    """Refuse methods whose trajectories cannot go through all steps together."""
    d, f = prepared.d, prepared.d.formulation
    if f.method.program is None or f.method.iterates:
        raise MethodError(
            f"{caller} needs a compiled method that gives accelerations and remembers nothing; {d.method!r} is none: "
            "try 'separate' or 'composite'"
        )
    constrained = f.constrained
    if constrained and (constrained.form or (f.requested != "python" and (f.requested == "loops" or not constrained.is_small))):
        raise MethodError(
            f"{caller} of a model with constraints needs straight-line code; model {d.model.name!r} with its "
            f"{len(constrained.table)} rows by method {d.method!r} on backend {f.requested!r} has none: simulate its "
            "motions one by one"
        )
    if prepared.how.name == "partitioning":
        raise MethodError(
            "stabilisation 'partitioning' chooses independent coordinates for each motion as it goes, the trajectories of a "
            "rollout go together: take another, or simulate them one by one"
        )


def states_of(
    d: Dynamics, q0: ArrayLike, v0: ArrayLike | None, t0: float, parameters: np.ndarray | None, fixed: Sequence[str] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of coordinates and speeds, checked, quaternions normalized, loops assembled; one start may serve for many values of
    the parameters."""
    model, constrained = d.model, d.formulation.constrained
    q = real_array(q0, "q0")
    many = len(parameters) if parameters is not None and parameters.ndim == 2 else 0
    if many and q.ndim == 2 and len(q) == 1:
        q = np.repeat(q, many, axis=0)
    v = np.zeros((len(q) if q.ndim == 2 else 1, model.nv)) if v0 is None else real_array(v0, "v0")
    if q.ndim != 2 or q.shape[1] != model.nq or not len(q):
        raise StateError(f"q0: expected (B, {model.nq}), a row for each trajectory; got {q.shape}")
    if many and len(q) != many:
        raise StateError(f"parameters: {many} values for {len(q)} trajectories; give one value, or one for each row of q0")
    if v.shape in ((model.nv,), (1, model.nv)):
        v = np.tile(v.reshape(-1), (len(q), 1))
    if v.shape != (len(q), model.nv):
        raise StateError(f"v0: expected ({len(q)}, {model.nv}) or ({model.nv},), got {v.shape}")
    for what, x in (("q0", q), ("v0", v)):
        bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
        if bad.size:
            raise StateError(f"{what}: row {bad[0]} is not finite")
    for at in model.structure.quaternions:
        for row in q[~q[:, at : at + 4].any(axis=1)]:
            check_quaternions(model, row)
    warn_of_degrees(model, q0)
    q, v = normalized_start(model, q, t0), np.array(v, order="C")
    if constrained:
        own = np.array(list(model.structure.parameters.values())) if parameters is None else parameters
        values = np.broadcast_to(own, (len(q), own.shape[-1]))
        asked = Asked(None, () if v0 is None else None, fixed)
        q, v, refused = assembled_starts(model, q, v, t0, constrained.table, values, asked, every=False)
        if refused:
            k = min(refused)
            raise AssemblyError(f"row {k}: {refused[k]}" if len(q) > 1 else str(refused[k])) from None
    elif fixed is not None:
        held_coordinates(model, fixed)
    return q, v
