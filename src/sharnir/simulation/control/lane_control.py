"""Joint forces of a rollout that change from step to step: by a function before every step, or by sampled controllers, called for
all trajectories at once, at steps that are whole multiples of each period."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import SharnirError, StateError
from ...integrate.trajectory import in_words
from ...model.model import Model
from ...types import real_array
from ..results.derived import rows_of
from ..results.trajectories import Rollout
from ..run.batch import Batch
from ..run.checks import ROUNDING
from ..run.options import Control, FixedSteps
from .applied_forces import Law
from .sampled import Command, Sample, Sampled, names_of


class LaneControl:
    """`forces(step, …)` of all trajectories where they are due anew; `next(step)`, when that is again."""

    def __init__(self, controllers: Sequence[Sampled], model: Model, grid: FixedSteps, constant: np.ndarray, n: int) -> None:
        self.controllers, self.names, self.model, self.grid = controllers, names_of(controllers), model, grid
        self._whole = [
            tuple(self._steps(one, key) for key in ("period", "delay", "offset")) for one in controllers
        ]  # numbers of steps
        self._constant = np.broadcast_to(constant, (n, model.nv))
        self._held = np.zeros((len(controllers), n, model.nv))
        self._waiting: list[deque[np.ndarray]] = [deque() for _ in controllers]

    def _steps(self, one: Sampled, key: str) -> int:
        seconds = getattr(one, key)
        count = round(seconds / self.grid.step)
        if abs(seconds / self.grid.step - count) > ROUNDING * max(count, 1) or (key == "period" and not count):
            raise StateError(
                f"controller {one.name!r}: its {key}, {seconds:g} s, is not a whole number of steps of {self.grid.step:g} s"
            )
        return count

    def next(self, step: int) -> int:
        """The first step after this one at which a controller is called or a command acts."""
        later = [self.grid.count]
        for period, delay, offset in self._whole:
            for first in (offset, offset + delay):
                later.append(first if step < first else first + ((step - first) // period + 1) * period)
        return min(later)

    def forces(
        self, step: int, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, parameters: Mapping[str, Any]
    ) -> np.ndarray:
        """(n, nv), from this step on."""
        states = dict(zip(self.model.states, z.T, strict=True))
        for c, (period, delay, offset) in enumerate(self._whole):
            if delay and step >= offset + delay and (step - offset - delay) % period == 0:
                self._held[c] = self._waiting[c].popleft()
        now = self._constant + self._held.sum(axis=0)
        for c, (period, delay, offset) in enumerate(self._whole):
            if step >= offset and (step - offset) % period == 0:
                k, one = (step - offset) // period, self.controllers[c]
                sample = Sample(self.model, t, q.copy(), v.copy(), now.copy(), parameters, k, one.period, states)
                self._waiting[c].append(self._called(c, sample))
                if not delay:
                    self._held[c] = self._waiting[c].popleft()
        total: np.ndarray = self._constant + self._held.sum(axis=0)
        return total

    def _called(self, c: int, sample: Sample) -> np.ndarray:
        label, shape = f"controller {self.names[c]!r} (sample {sample.number})", self._constant.shape
        try:
            returned = self.controllers[c].command(sample)
        except Exception as error:
            raise StateError(f"{label} raised {in_words(error)}") from error
        if isinstance(returned, Command):
            if returned.parameters:
                raise StateError(f"{label} commands parameters: a rollout has the same ones all the time; simulate one by one")
            returned = returned.tau
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


def push(
    batches: Sequence[Batch], control: Control, name: str, nv: int, pushed: dict[int, np.ndarray], every: int, step: int, t: float
) -> int:
    """Forces by a Python function of the states of all trajectories, until the next step."""
    n = sum(batch.count for batch in batches)
    q, v, _ = (np.concatenate(x) for x in zip(*(batch.state() for batch in batches), strict=True))
    tau = real_array(control(t, q, v), name)
    if tau.shape not in ((n, nv), (nv,)):
        raise StateError(f"{name} must return ({n}, {nv}) joint forces, got {tau.shape}")
    _give(batches, np.broadcast_to(tau, (n, nv)), pushed, every, step)
    return step + 1


def push_sampled(
    batches: Sequence[Batch], control: LaneControl, parameters: Mapping[str, np.ndarray], pushed: dict[int, np.ndarray],
    every: int, step: int, t: float,
) -> int:  # fmt: skip
    """Forces by sampled controllers, until one is due again."""
    q, v, z = (np.concatenate(x) for x in zip(*(batch.state() for batch in batches), strict=True))
    _give(batches, control.forces(step, t, q, v, z, parameters), pushed, every, step)
    return control.next(step)


def _give(batches: Sequence[Batch], tau: np.ndarray, pushed: dict[int, np.ndarray], every: int, step: int) -> None:
    """Forces (n, nv) from now on; in `pushed` those of every step from which on a stored state has them, and the last."""
    at = 0
    for batch in batches:
        batch.push(tau[at : at + batch.count])
        at += batch.count
    if pushed and -(-(last := max(pushed)) // every) * every >= step:
        del pushed[last]
    pushed[step] = np.array(tau)


def sampled_control(controllers: Sequence[Sampled], model: Model, grid: FixedSteps, held: object, n: int) -> LaneControl:
    if held is not None and (not isinstance(held, np.ndarray) or held.shape[1] != 1):
        raise StateError("tau: beside sampled controllers joint forces are constant, or a law: a function of Motion")
    constant = np.zeros(model.nv) if held is None else held[:, 0]
    return LaneControl(controllers, model, grid, constant, n)


def by_parameter(model: Model, values: np.ndarray | None) -> dict[str, np.ndarray]:
    """Parameters, without the states of forces that follow them."""
    return {} if values is None else dict(zip(model.parameters, np.moveaxis(values, -1, 0), strict=False))


def law_forces(law: Law, rollout: Rollout) -> np.ndarray:
    """(B, T, nv) of a law at every stored state."""
    s = rows_of(rollout)
    return law(s.t, s.q, s.v, s.parameters).reshape(rollout.v.shape)


def stored_forces(pushed: Mapping[int, np.ndarray], held: np.ndarray | None, nv: int, every: int, rows: int) -> np.ndarray:
    """(nv,) where they are the same all the time, else (B, rows, nv): of the step that begins with each row, at the end of the
    last one. `pushed`: (B, nv) by step; `held`: (B, steps, nv)."""
    if pushed:
        steps = np.array(sorted(pushed))
        since = steps[np.searchsorted(steps, np.arange(rows) * every, side="right") - 1]
        each = np.stack([pushed[step] for step in since.tolist()], axis=1)
    elif held is not None:
        each = held[:, np.minimum(np.arange(rows) * every, held.shape[1] - 1)]
    else:
        return np.zeros(nv)
    return each if (each != each[:1, :1]).any() else np.array(each[0, 0])
