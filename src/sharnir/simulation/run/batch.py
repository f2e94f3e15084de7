"""The trajectories of a rollout, from step to step: on the lanes of the processor, in the nearest cache; their joint forces, by a
function before every step, or by sampled controllers at steps that are whole multiples of each period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...dialect.jit import host_lanes
from ...dialect.native import bind_kernel
from ...equations.motion.stabilisation import Stabilisation
from ...errors import SharnirError, StateError
from ...integrate.kernels.rollout import Lanes, rollout_euler, rollout_rk4
from ...model.model import Model
from ...model.states import check_tau
from ...types import real_array
from ..control.controllers import Holding, schedule
from ..control.sampled import Command, Sample, Sampled
from ..systems.choose import motion_system
from ..systems.motion_system import Setup
from .checks import Tau, whole_steps
from .options import Control, FixedSteps
from .preparation import Prepared

ENTRIES = {"rk4": rollout_rk4, "euler": rollout_euler}
"""The loop over steps of each integrator."""

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Coordinates, speeds and states of forces, (…, trajectories, numbers)."""


class Batch:
    """Trajectories from (q, v), a row for each; filled up to a whole number of vectors by repeating the last."""

    def __init__(
        self, prepared: Prepared, steps: FixedSteps, stabilisations: Sequence[Stabilisation], q: np.ndarray, v: np.ndarray,
        tau: np.ndarray | None, parameters: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """`stabilisations`: one for each trajectory, which differ in their coefficients alone."""
        d = prepared.d
        decay = np.array([one.decay for one in stabilisations], dtype=float).reshape(len(q), -1)
        self.nq, self.nv, self.nz, self.count = q.shape[1], v.shape[1], len(d.model.states), len(q)
        self.compiled = compiled = d.formulation.requested != "python"
        fill = -len(q) % host_lanes() if compiled else 0
        q, v, decay = (_filled(x, fill) for x in (q, v, decay))
        if parameters is not None and parameters.ndim == 2:
            parameters = _filled(parameters, fill)
        self.n = n = len(q)
        self.tau = np.zeros((n, self.nv))
        held = np.zeros((0, n * self.nv))
        if tau is not None and tau.shape[1] == 1:
            self.tau[:] = _filled(tau[:, 0], fill)
        elif tau is not None:
            held = np.ascontiguousarray(_filled(tau, fill).transpose(1, 0, 2)).reshape(steps.count, -1)
        setup = Setup(
            d, self.tau, balance=False, stabilisation=stabilisations[0], decay=decay, n=n, parameters=parameters, t0=steps.t0
        )
        self.motion = motion_system(setup)
        z = self.motion.parameters.reshape(n, -1)[:, -self.nz :] if self.nz else np.zeros(0)
        x = np.concatenate([q.ravel(), v.ravel(), z.ravel()])
        self.start = x.copy()
        self.lanes: Any = Lanes(
            x, x.copy(), self.tau.reshape(-1), held, np.zeros((steps.count // steps.every, x.size)), np.full(n, np.inf),
            np.array([self.nq, self.nv, self.nz], dtype=np.int64), np.array([steps.t0, steps.step, float(n * self.nq)]),
            np.array([0, 0, 0, steps.every], dtype=np.int64),
        )  # fmt: skip
        entry = ENTRIES[prepared.options.integrator]
        self._drive = bind_kernel(entry, self.motion.system.problem(False), self.lanes, compiled=compiled)

    def run(self, until: int) -> None:
        """Make so many steps, counted from the start."""
        count = self.lanes.count
        before, count[1] = count.copy(), until
        self._drive()
        try:
            self.motion.system.raise_failure()
        except BaseException:
            count[:] = before  # what was stored after the exception is no motion
            raise

    def state(self) -> Parts:
        """A row for each trajectory."""
        return self._split(self.lanes.x)

    @property
    def stored(self) -> int:
        """Rows, the start included."""
        return 1 + int(self.lanes.count[2])

    def rows(self, n: int) -> Parts:
        """(count, n, …): the start and the steps that were stored."""
        q, v, z = self._split(np.concatenate([self.start[None], self.lanes.rows[: n - 1]]))
        return q.transpose(1, 0, 2), v.transpose(1, 0, 2), z.transpose(1, 0, 2)

    def failed(self) -> np.ndarray:
        return self.lanes.failed[: self.count]

    def _split(self, x: np.ndarray) -> Parts:
        parts = np.split(x, [self.n * self.nq, self.n * (self.nq + self.nv)], axis=-1)
        sizes = zip(parts, (self.nq, self.nv, self.nz), strict=True)
        q, v, z = (part.reshape(*x.shape[:-1], self.n, k)[..., : self.count, :] for part, k in sizes)
        return q, v, z


def _filled(x: np.ndarray, fill: int) -> np.ndarray:
    return np.concatenate([x, np.repeat(x[-1:], fill, axis=0)])


# --- joint forces -----------------------------------------------------------------------------------------------------------
class LaneForces:
    """Joint forces of all trajectories. `held`: (n, steps, nv), or (n, 1, nv) where they are constant; None where `changes` says
    that `change` must be called at every step it names."""

    def __init__(
        self, model: Model, grid: FixedSteps, name: str, forces: Tau | Control | None, controllers: Sequence[Sampled], n: int,
        parameters: np.ndarray | None,
    ) -> None:  # fmt: skip
        self.grid, self.name, self.shape, self.function = grid, name, (n, model.nv), forces if callable(forces) else None
        self.held = None if callable(forces) else _over_steps(model, name, forces, n, grid.count)
        self._pushed: dict[int, np.ndarray] = {}  # (n, nv) of every step from which on a stored state has them, and of the last
        self.sampled: LaneControl | None = None
        if controllers:
            if callable(forces) or (self.held is not None and self.held.shape[1] != 1):
                raise StateError("tau: beside sampled controllers joint forces are constant, or a law: a function of Motion")
            constant = np.zeros(model.nv) if self.held is None else self.held[:, 0]
            self.sampled = LaneControl(controllers, model, grid, np.broadcast_to(constant, self.shape), parameters)

    @property
    def changes(self) -> bool:
        return self.function is not None or self.sampled is not None

    def change(self, batches: Sequence[Batch], step: int, t: float) -> int:
        """Set the forces from this step on; returns the step at which they are due again."""
        (n, nv), every = self.shape, self.grid.every
        q, v, z = (np.concatenate(x) for x in zip(*(batch.state() for batch in batches), strict=True))
        if self.function is not None:
            tau, due = real_array(self.function(t, q, v), self.name), step + 1
            if tau.shape not in ((n, nv), (nv,)):
                raise StateError(f"{self.name} must return ({n}, {nv}) joint forces, got {tau.shape}")
        else:
            assert self.sampled is not None
            tau, due = self.sampled.forces(step, t, q, v, z)
        if self._pushed and -(-(last := max(self._pushed)) // every) * every >= step:
            del self._pushed[last]
        self._pushed[step] = tau = np.array(np.broadcast_to(tau, (n, nv)))
        at = 0
        for batch in batches:
            batch.tau[: batch.count] = tau[at : at + batch.count]
            at += batch.count
        return due

    def stored(self, rows: int) -> np.ndarray:
        """(nv,) where they are the same all the time, else (n, rows, nv): of the step that begins with each row; at the end of
        the last one."""
        at = np.arange(rows) * self.grid.every
        if self._pushed:
            steps = np.array(sorted(self._pushed))
            since = steps[np.searchsorted(steps, at, side="right") - 1]
            each = np.stack([self._pushed[step] for step in since.tolist()], axis=1)
        elif self.held is not None:
            each = self.held[:, np.minimum(at, self.held.shape[1] - 1)]
        else:
            return np.zeros(self.shape[1])
        return each if (each != each[:1, :1]).any() else np.array(each[0, 0])


def _over_steps(model: Model, name: str, tau: Tau | None, n: int, steps: int) -> np.ndarray | None:
    """Joint forces (n, steps, nv) of n trajectories, or (n, 1, nv) where they are constant."""
    if tau is None:
        return None
    nv = model.nv
    forces = check_tau(model, tau) if isinstance(tau, Mapping) else real_array(tau, name)
    shapes = {(nv,): forces[None, None], (steps, nv): forces[None], (n, steps, nv): forces}
    if forces.shape not in shapes:
        raise StateError(f"{name}: expected ({nv},), ({steps}, {nv}) or ({n}, {steps}, {nv}) joint forces, got {forces.shape}")
    if not np.isfinite(forces).all():
        raise StateError(f"{name}: the joint forces are not all finite")
    full = shapes[forces.shape]
    return np.broadcast_to(full, (n, *full.shape[1:]))


class LaneControl(Holding):
    """Sampled controllers of all trajectories at once, beside constant forces (n, nv)."""

    def __init__(
        self, controllers: Sequence[Sampled], model: Model, grid: FixedSteps, constant: np.ndarray, parameters: np.ndarray | None
    ) -> None:
        in_steps = []
        for one in controllers:
            period, delay, offset = (self._steps(one, key, grid.step) for key in ("period", "delay", "offset"))
            in_steps.append(replace(one, period=period, delay=delay, offset=offset))
        super().__init__(in_steps, schedule(in_steps, 0.0, float(grid.count)), constant.shape)
        self.model, self.constant, self._periods = model, constant, [one.period for one in controllers]
        own = () if parameters is None else np.moveaxis(parameters, -1, 0)
        self._parameters = dict(zip(model.parameters, own, strict=False))  # states of forces are the last
        self._due = [*self.planned.times.astype(int).tolist(), grid.count]

    @staticmethod
    def _steps(one: Sampled, key: str, step: float) -> int:
        seconds = getattr(one, key)
        count = whole_steps(seconds, step)
        if count is None or (key == "period" and not count):
            raise StateError(f"controller {one.name!r}: its {key}, {seconds:g} s, is not a whole number of steps of {step:g} s")
        return count

    def forces(self, step: int, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, int]:
        """Forces (n, nv) from this step on; the next step at which a controller is called or a command acts."""
        states = dict(zip(self.model.states, z.T, strict=True))

        def call(c: int, k: int) -> np.ndarray:
            now = self.constant + self.held.sum(axis=0)
            sample = Sample(self.model, t, q.copy(), v.copy(), now, self._parameters, k, self._periods[c], states)
            return self._checked(self.returned(c, sample), self.label(c, k))

        def act(c: int, tau: np.ndarray) -> None:
            self.held[c] = tau

        if self._due[0] == step:  # else it is the first step, and none is due
            del self._due[0]
            self.perform(call, act)
        total: np.ndarray = self.constant + self.held.sum(axis=0)
        return total, self._due[0]

    def _checked(self, returned: Any, label: str) -> np.ndarray:
        if isinstance(returned, Command):
            if returned.parameters:
                raise StateError(f"{label} commands parameters: a rollout has the same ones all the time; simulate one by one")
            returned = returned.tau
        shape = self.constant.shape
        try:
            if isinstance(returned, Mapping):
                tau = np.zeros(shape)
                for joint, x in returned.items():
                    place = self.model.v_slice(joint)
                    values = real_array(x, f"tau of joint {joint!r}")
                    tau[:, place] = values[:, None] if values.shape == shape[:1] and place.stop - place.start == 1 else values
            else:
                tau = real_array(returned, "tau")
        except (SharnirError, ValueError) as error:
            raise StateError(f"{label}: {error}") from None
        if tau.shape not in (shape, shape[1:]):
            raise StateError(f"{label}: expected joint forces {shape} or {shape[1:]}, got {tau.shape}")
        if not np.isfinite(tau).all():
            raise StateError(f"{label}: the joint forces are not all finite")
        return np.broadcast_to(tau, shape).copy()  # the controller may use its array again
