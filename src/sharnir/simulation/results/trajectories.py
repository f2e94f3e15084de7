"""The result of a rollout: many motions of one model, by name as one motion is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import StateError
from ...model.model import Model
from ...model.services import service
from ...model.validity import WHY, beyond_validity
from ...reporting.notebook import Fact, Shown, kernel_shell
from .named_motion import NamedMotion
from .records import Cost, index_of, stored
from .result import Result

if TYPE_CHECKING:
    from .storage import PathLike

SHOWN = 8
"""Trajectories that can be told apart in one plot."""


@dataclass(frozen=True, eq=False)
class Rollout(Shown, NamedMotion):
    """t (T,), q (B, T, nq), v (B, T, nv), and all that a `Result` offers by name, with the trajectories as first axis.

    `rollout[k]` is trajectory k as a `Result`. A trajectory that failed stays at its last state; `failed` (B,) is when, inf:
    never. `status` is "done", "interrupted" (by Ctrl-C) or "raised" (an exception in the Python function that gives the forces):
    then `t` ends early. A rollout keeps no account of work: `energy.work` is empty.
    """

    model: Model
    t: np.ndarray
    q: np.ndarray = field(metadata=stored("q", "coordinate", long_name="generalised coordinates"))
    v: np.ndarray = field(metadata=stored("v", "speed", long_name="generalised speeds"))
    failed: np.ndarray = field(metadata=stored("failed", units="s", long_name="time of failure, inf: none"))
    tau: np.ndarray
    """(nv,), or (B, T, nv): the joint forces of the step that begins at each time; at the last time, of the one before it."""
    cost: Cost
    """Cost of all trajectories together."""
    status: str = "done"
    message: str = ""
    parameters: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), metadata=stored("parameters", "parameter"))
    """(B, parameters) where the model has any."""
    state_values: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0)), metadata=stored("states", "force_state"))
    """(B, T, states) of forces, in the order of `model.states`; by name: `state("integral")`."""
    found_a: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0)), repr=False)
    """(B, T, nv): accelerations that were found with the motion; where it is empty, `a` computes them."""

    @property
    def ok(self) -> np.ndarray:
        """(B,): which trajectories did not fail."""
        return ~np.isfinite(self.failed)

    @property
    def wall(self) -> float:
        """Seconds, compilation not included."""
        return self.cost.wall

    def __len__(self) -> int:
        return len(self.q)

    def __iter__(self) -> Iterator[Result]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, k: int) -> Result:
        """Trajectory k; up to its failure where it failed. Its cost is its share of that of all."""
        k = index_of(k, len(self), "a trajectory of the rollout")
        status, message, rows = self.status, self.message, len(self.t)
        if not self.ok[k]:
            status, message = "not_finite", f"failed after t = {self.failed[k]:.9g}"
            rows = max(1, int(np.count_nonzero(self.t <= self.failed[k])))
        tau = self.tau if self.tau.ndim == 1 else self.tau[k, :rows]
        parameters = np.tile(self.parameters[k], (rows, 1)) if self.parameters.size else np.zeros((0, 0))
        cost = replace(self.cost, wall=self.cost.wall / len(self), evaluations=self.cost.evaluations // len(self))
        states = self.state_values[k, :rows] if self.state_values.size else np.zeros((0, 0))
        return Result(
            self.model, self.t[:rows], self.q[k, :rows], self.v[k, :rows], tau, cost, status, message,
            work_done=np.zeros((rows, 0)), parameters=parameters, accounted=self.energy_accounts[1], state_values=states,
        )  # fmt: skip

    def state(self, k: int | str = -1) -> Any:
        """States to continue from at time number k, q0, v0 and states: rollout(model, **many.state(), …). With the name
        of a state of a force, or of `Model.add_state`: its values (B, T)."""
        if isinstance(k, str):
            return self.state_of(k)
        at = index_of(k, len(self.t), "a time of the rollout")
        states = {name: self.state_of(name)[:, at] for name in self.model.states}
        return {"q0": self.q[:, at], "v0": self.v[:, at], **({"states": states} if states else {})}

    def plot(
        self, *what: str, trajectories: Sequence[int] | None = None, path: PathLike | None = None, interactive: bool = False,
        over: str | None = None,
    ) -> Any:  # fmt: skip
        """`Result.plot` of several trajectories on the same axes: those numbered, or all where there are few."""
        from .plots import plot

        return plot(self._some(trajectories), *what, path=path, interactive=interactive, over=over)

    def animate(
        self, path: PathLike | None = None, *, trajectories: Sequence[int] | None = None, **options: Any
    ) -> Path | Any:  # fmt: skip
        """`Result.animate` of several trajectories drawn over each other: those numbered, or all where there are few. One as a
        picture or a video: `rollout[k].snapshot(…)`, `rollout[k].video(…)`."""
        target = "rollout.html" if path is None and kernel_shell() is None else path
        return service("animate")(self._some(trajectories), target, **options)

    def _some(self, trajectories: Sequence[int] | None) -> dict[str, Result]:
        if trajectories is None and len(self) > SHOWN:
            raise StateError(
                f"{len(self)} trajectories cannot be told apart: choose some of them, e.g. trajectories=[0, {len(self) - 1}]"
            )
        return {f"trajectory {k}": self[k] for k in (range(len(self)) if trajectories is None else trajectories)}

    def summary(self) -> str:
        """The rollout in a few lines of text."""
        bad = np.flatnonzero(~self.ok)
        lines = [f"{self.model.name}: {len(self)} trajectories of {len(self.t)} times, t = {self.t[0]:g} … {self.t[-1]:g} s"]
        if bad.size:
            first = int(bad[np.argmin(self.failed[bad])])
            lines.append(f"  failed      {bad.size}, the first number {first} after t = {self.failed[first]:.9g} s")
        lines += [f"  deformation {one}: {WHY}" for one in beyond_validity(self.model, self.q, self.t)]
        c = self.cost
        lines.append(f"  cost        {c.wall:.3g} s by {c.method!r} on {c.backend}, {c.integrator}")
        return "\n".join([*lines, f"  {self.message}"] if self.message else lines)

    # --- what everything else is derived from ---------------------------------------------------------------------------------
    @property
    def parameter_rows(self) -> np.ndarray | None:
        parts = [self.parameters[:, None]] if self.parameters.size else []
        if self.state_values.size:
            parts = [np.broadcast_to(x, (*self.shape, x.shape[-1])) for x in (*parts, self.state_values)]
        return np.concatenate(parts, axis=-1) if parts else None

    @property
    def energy_accounts(self) -> tuple[dict[str, np.ndarray], bool]:
        """None is kept: it is complete where nothing can add or remove energy."""
        s, constrained = self.model.structure, self.dynamics.constrained
        in_time = constrained is not None and constrained.table.is_rheonomic
        return {}, not (s.drives or s.given or s.forces or self.tau.any() or in_time)

    @cached_property
    def a(self) -> np.ndarray:
        return self.found_a if self.found_a.size else super().a

    def _accelerations_but_ends(self) -> np.ndarray:
        out = np.full(self.v.shape, np.nan)
        for k, one in enumerate(self):
            out[k, : len(one)] = one.a
        return out

    def _facts(self) -> tuple[str, list[Fact]]:
        counts = {"trajectories": len(self), "failed": int((~self.ok).sum()), "times": len(self.t), "status": self.status}
        return self.model.name, [*((what, x, "") for what, x in counts.items()), *self.cost.facts()]

    def __repr__(self) -> str:
        bad = int((~self.ok).sum())
        notes = (f", {bad} failed" if bad else "") + (f", {self.message}" if self.message else "")
        return f"Rollout({self.model.name!r}, {len(self.q)} trajectories of {len(self.t)} times{notes})"
