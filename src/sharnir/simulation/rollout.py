"""`rollout`: many motions of one model at once, on the lanes of the processor and on its threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..backends.compiled_programs import BODIES, LIMIT
from ..backends.llvm.runner import GraphRunner, share
from ..dialect.jit import host_lanes
from ..dialect.native import Native
from ..dynamics import Dynamics
from ..equations.assembly import assemble_start
from ..equations.normalization import native_normalize, quaternion_offsets
from ..equations.solution import TURNS
from ..equations.stabilisation import DECAYING, PROJECTION, Stabilisation, chosen, with_decay
from ..errors import MethodError, ModelError, StateError
from ..integrate.compiled import driver
from ..integrate.stepping.rollout import Lanes, rollout_euler, rollout_rk4
from ..integrate.system import System, buffers
from ..model.model import Model
from ..model.states import check_quaternions, real_array
from ..reporting.progress import ProgressBar
from .checks import number, whole
from .prepared import equations

METHODS = {"rk4": rollout_rk4, "euler": rollout_euler}
CHUNK = 16
"""Vectors of lanes that go through all steps together: their states stay in the nearest cache."""

LIMIT_FACTOR = 2
"""Straight-line code may be so many times longer than usual: a rollout is long enough to pay for its compilation."""

Control = Callable[[float, np.ndarray, np.ndarray], Any]


@dataclass(frozen=True)
class Rollout:
    """t (T,), q (B, T, nq), v (B, T, nv). A trajectory that failed stays where it was; `failed` (B,) is when, inf: never."""

    model: Model
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    failed: np.ndarray
    wall: float

    @property
    def ok(self) -> np.ndarray:
        """(B,): which trajectories reached the end."""
        return ~np.isfinite(self.failed)

    def coordinate(self, joint: str) -> np.ndarray:
        """(B, T), or (B, T, n) where the joint has several coordinates."""
        part = self.q[..., self.model.q_slice(joint)]
        return part[..., 0] if part.shape[-1] == 1 else part

    def __repr__(self) -> str:
        bad = int((~self.ok).sum())
        return (
            f"Rollout({self.model.name!r}, {len(self.q)} trajectories of {len(self.t)} times{f', {bad} failed' if bad else ''})"
        )


def rollout(
    model: Model,
    q0: Any,
    v0: Any = None,
    *,
    dt: float,
    steps: int,
    integrator: str = "rk4",
    control: np.ndarray | Control | None = None,
    feedback: Callable[[Any], Any] | None = None,
    method: str = "auto",
    stabilisation: str | None = None,
    decay: float | Sequence[float] | None = None,
    every: int = 1,
    t0: float = 0.0,
    threads: int = 1,
    progress: bool | None = None,
) -> Rollout:
    """Many trajectories, one for each row of q0 (B, nq) and v0 (B, nv), by `steps` steps of `dt`.

    control   joint forces held over each step: an array (nv,), (steps, nv) or (B, steps, nv), or a Python function
              (t, q (B, nq), v (B, nv)) -> (B, nv) called before every step
    feedback  a traced law, as a force of the model's own: a function of `Motion` that pushes, compiled with the equations
              and evaluated at every stage
    stabilisation, decay  how constraints are kept, as of `simulate`; "partitioning" is left to that
    every     keep every so many steps;  integrator  "rk4" or "euler" (semi-implicit)
    A trajectory that fails does not stop the others. Where the model has closed loops, the states are assembled first.
    """
    if integrator not in METHODS:
        raise MethodError(f"rollout steps with 'rk4' or 'euler', not with {integrator!r}")
    if not isinstance(model, Model):
        raise ModelError(f"rollout needs a sharnir.Model, got {model!r}")
    dt, t0, steps, every = number(dt, "dt"), number(t0, "t0"), whole(steps, "steps"), whole(every, "every")
    if not 0.0 < dt < np.inf or not np.isfinite(t0) or every < 1:
        raise StateError(f"dt must be positive, t0 finite, every at least 1; got dt = {dt}, t0 = {t0}, every = {every}")
    if whole(threads, "threads") < 1:
        raise MethodError(f"threads: expected at least 1, got {threads}")
    if feedback is not None:
        model = model.copy()
        model.add_force(feedback, name="feedback")
    d = Dynamics(model, method, "auto")
    if d.formulation.method.program is None or d.formulation.method.iterates:
        raise MethodError(
            f"rollout needs a compiled method that gives accelerations and remembers nothing; {d.method!r} is none: "
            "try 'separate' or 'composite'"
        )
    if d.constrained and (d.constrained.form or not d.constrained.is_small):
        raise MethodError(
            f"rollout needs straight-line code; model {model.name!r} with its {len(d.constrained.table)} rows of constraints is "
            "too large for that: simulate its motions one by one"
        )
    how = chosen(model.name, len(d.constrained.table) if d.constrained else 0, stabilisation, decay)
    if how.name == "partitioning":
        raise MethodError(
            "stabilisation 'partitioning' chooses independent coordinates for each motion as it goes, the trajectories of a "
            "rollout go together: take another, or simulate them one by one"
        )
    q, v = _states(model, q0, v0)
    if d.constrained:
        for k in range(len(q)):
            q[k], v[k] = assemble_start(model, q[k], v[k], t0, d.constrained.table)
    plan = _Plan(d, integrator, dt, steps, every, t0, how.name)
    decay_of = _decays(d, how, q, v, t0, integrator, dt, max(steps, 1))
    forces = _forces(control, len(q), steps, model.nv) if not callable(control) else None
    width = CHUNK * host_lanes()
    threads = max(1, min(threads, -(-len(q) // host_lanes())))
    width = min(width, max(host_lanes(), -(-len(q) // threads)))
    edges = [*range(0, len(q), width), len(q)]
    parts = [_Part(plan, q[a:b], v[a:b], None if forces is None else forces[a:b], decay_of[a:b]) for a, b in pairwise(edges)]
    begun = time.perf_counter()
    with ProgressBar(progress, f"{len(q)} × {model.name}", t0 + dt * steps, t0, "t = {:.3g} s") as bar:
        if callable(control):
            _stepwise(parts, plan, control, q.shape[0], threads, bar)
        else:
            share(partial(_Part.run, until=steps), parts, threads)
    wall = time.perf_counter() - begun
    rows = [part.rows() for part in parts]
    t = t0 + dt * every * np.arange(steps // every + 1)
    failed = np.concatenate([part.lanes.failed[: part.count] for part in parts]) if parts else np.zeros(0)
    return Rollout(model, t, np.concatenate([x for x, _ in rows]), np.concatenate([y for _, y in rows]), failed, wall)


def _stepwise(parts: Sequence[_Part], plan: _Plan, control: Control, n: int, threads: int, bar: ProgressBar) -> None:
    """A Python function before every step, on the states of all trajectories."""
    nv = plan.nv
    for k in range(plan.steps):
        t = plan.t0 + plan.dt * k
        states = [part.state() for part in parts]
        q, v = (np.concatenate([x[i] for x in states]) for i in range(2))
        tau = real_array(control(t, q, v), "control")
        if tau.shape not in ((n, nv), (nv,)):
            raise StateError(f"control must return ({n}, {nv}) joint forces, got {tau.shape}")
        tau, at = np.broadcast_to(tau, (n, nv)), 0
        for part in parts:
            part.push(tau[at : at + part.count])
            at += part.count
        share(partial(_Part.run, until=k + 1), parts, threads)
        bar.update(t)


# --- one plan, many parts -------------------------------------------------------------------------------------------------
class _Plan:
    """What all parts share: the equations for a batch, as machine code."""

    def __init__(self, d: Dynamics, integrator: str, dt: float, steps: int, every: int, t0: float, stabilisation: str) -> None:
        self.d, self.dt, self.steps, self.every, self.t0 = d, dt, steps, every, t0
        self.entry = METHODS[integrator]
        s = d.structure
        self.nq, self.nv = s.nq, s.nv
        self.parameters = np.array(list(s.parameters.values()), dtype=float)
        self.equations = None
        """As straight-line code, where the model is not too large for that."""
        if d.constrained or s.nb <= BODIES:
            limit = None if d.constrained else LIMIT_FACTOR * LIMIT
            self.equations = equations(d, balance=False, limit=limit, stabilisation=stabilisation)
        self.projection: list[tuple[GraphRunner, str]] = []
        """What brings a state back to where it must be: code, and what it overwrites."""
        if d.constrained and stabilisation == PROJECTION:
            position, speed = d.constrained.corrections
            self.projection = [*[(position, "q")] * TURNS, (speed, "v")]
        self.store = d.formulation.programs.store

    def derivative(self, at: dict[str, np.ndarray], n: int) -> tuple[list[Native], list[Native]]:
        """Native functions for n trajectories, rows in arrays by name; and those that give rates of coordinates alone."""
        if self.equations is not None:
            return [self.equations.code.bind(at | {"power": np.zeros(0)}, n, host_lanes())], []
        compiled, s = self.d.formulation.programs, self.d.structure
        programs = (f"forward/{self.d.formulation.method.program}", "rates")
        forward, rates = (compiled.runner(name, backend="loops") for name in programs)
        rows = {name: at[name].reshape(n, -1) for name in ("q", "v", "tau", "rate", "qdd")}
        if not (s.drives or s.given or s.forces):  # lanes of trajectories
            all_rows = rows | {"t": at["t"].reshape(1, 1)}
            calls = [
                runner.prepared(n, [all_rows[name] for name in runner.inputs], [rows[name] for name in runner.outputs], True)
                for runner in (forward, rates)
            ]
            return calls, calls[1:]
        rest = {"t": at["t"], "parameter": at["parameter"]}
        each = [{name: x[k] for name, x in rows.items()} | rest for k in range(n)]
        of_rates = [native for one in each for native in rates.chain(one)]
        return [*(native for one in each for native in forward.chain(one)), *of_rates], of_rates


class _Part:
    """Some trajectories that go through all steps together; filled up to a whole number of vectors by repeating the last."""

    def __init__(self, plan: _Plan, q: np.ndarray, v: np.ndarray, forces: np.ndarray | None, decay: np.ndarray) -> None:
        self.plan, self.count = plan, len(q)
        lanes = host_lanes()
        fill = -len(q) % lanes if len(q) > lanes else lanes - len(q)
        q, v, self.decay = (np.concatenate([x, np.repeat(x[-1:], fill, axis=0)]) for x in (q, v, decay))
        self.n = n = len(q)
        self.split = n * plan.nq
        size = n * (plan.nq + plan.nv)
        self.buffers = b = buffers(size)
        self.tau = np.zeros((n, plan.nv))
        held = np.zeros((0, n * plan.nv))
        if forces is not None and forces.shape[1] == 1:
            self.tau[: self.count] = forces[:, 0]
        elif forces is not None:
            filled = np.concatenate([forces, np.repeat(forces[-1:], fill, axis=0)])
            held = np.ascontiguousarray(filled.transpose(1, 0, 2)).reshape(plan.steps, -1)
        kept = plan.steps // plan.every
        x = np.concatenate([q.ravel(), v.ravel()])
        self.start = x.copy()
        self.lanes: Any = Lanes(
            x, x.copy(), self.tau.reshape(-1), held, np.zeros((kept, size)), np.full(n, np.inf),
            np.array([plan.nq, plan.nv], dtype=np.int64), np.array([plan.t0, plan.dt, float(self.split)]),
            np.array([0, 0, 0, plan.every], dtype=np.int64),
        )  # fmt: skip
        at = {"q": b.X[: self.split], "v": b.X[self.split :], "t": b.T, "tau": self.tau}
        at |= {"parameter": plan.parameters, "decay": self.decay}
        derivative, rates = plan.derivative(at | {"rate": b.DX[: self.split], "qdd": b.DX[self.split :]}, n)
        projection = [code.bind(at | {"x": at[overwritten]}, n, lanes) for code, overwritten in plan.projection]
        projection = projection or native_normalize(plan.d.model, at["q"], b.T, plan.store)
        self.system = System(b, derivative, rates=rates, projection=projection, split=self.split)
        self.drive = driver(plan.entry, (self.system.problem(False), self.lanes))

    def run(self, until: int) -> None:
        self.lanes.count[1] = until
        self.drive()

    def push(self, tau: np.ndarray) -> None:
        self.tau[: self.count] = tau

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        return self._split(self.lanes.x)

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """(count, T, nq), (count, T, nv): the start and what was kept."""
        q, v = self._split(np.concatenate([self.start[None], self.lanes.rows]))
        return q.transpose(1, 0, 2), v.transpose(1, 0, 2)

    def _split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        shape = x.shape[:-1]
        q = x[..., : self.split].reshape(*shape, self.n, self.plan.nq)
        v = x[..., self.split :].reshape(*shape, self.n, self.plan.nv)
        return q[..., : self.count, :], v[..., : self.count, :]


# --- what comes in --------------------------------------------------------------------------------------------------------
def _states(model: Model, q0: Any, v0: Any) -> tuple[np.ndarray, np.ndarray]:
    q = real_array(q0, "q0")
    v = np.zeros((len(q) if q.ndim == 2 else 1, model.nv)) if v0 is None else real_array(v0, "v0")
    if q.ndim != 2 or q.shape[1] != model.nq or not len(q):
        raise StateError(f"q0: expected (B, {model.nq}), a row for each trajectory; got {q.shape}")
    if v.shape == (model.nv,):
        v = np.tile(v, (len(q), 1))
    if v.shape != (len(q), model.nv):
        raise StateError(f"v0: expected ({len(q)}, {model.nv}) or ({model.nv},), got {v.shape}")
    for what, x in (("q0", q), ("v0", v)):
        bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
        if bad.size:
            raise StateError(f"{what}: row {bad[0]} is not finite")
    q = q.copy()
    for at in quaternion_offsets(model):
        for row in q[~q[:, at : at + 4].any(axis=1)]:
            check_quaternions(model, row)
        q[:, at : at + 4] /= np.linalg.norm(q[:, at : at + 4], axis=1, keepdims=True)
    return q, np.ascontiguousarray(v)


def _decays(
    d: Dynamics, how: Stabilisation, q: np.ndarray, v: np.ndarray, t0: float, integrator: str, dt: float, steps: int
) -> np.ndarray:
    """(B, numbers): how fast violations die out, by the start of each motion, so that it does not depend on its company."""
    a = d.forward(q, v, np.zeros(v.shape[1]), t0) if how.name in DECAYING and not how.alpha else v
    rows = [with_decay(how, dt * steps, integrator, dt, *each).decay for each in zip(v, a, strict=True)]
    return np.array(rows, dtype=float).reshape(len(q), -1)


def _forces(control: Any, n: int, steps: int, nv: int) -> np.ndarray | None:
    """(B, steps, nv), or (B, 1, nv) where they stay the same."""
    if control is None:
        return None
    tau = real_array(control, "control")
    shapes = {(nv,): tau[None, None], (steps, nv): tau[None], (n, steps, nv): tau}
    if tau.shape not in shapes:
        raise StateError(f"control: expected ({nv},), ({steps}, {nv}) or ({n}, {steps}, {nv}) joint forces, got {tau.shape}")
    if not np.isfinite(tau).all():
        raise StateError("control: the joint forces are not all finite")
    full = shapes[tau.shape]
    return np.broadcast_to(full, (n, *full.shape[1:]))
