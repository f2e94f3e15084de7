"""`SimulationBatch`: many simulations of one model side by side, stepped together from Python, each begun anew by itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...backends.graph_function import share
from ...errors import MethodError, StateError, brief, no_such
from ...model.model import Model
from ...model.parameters import check_values
from ...model.states import check_tau
from ...types import FloatArray, State, real_array
from ..results.records import ByName
from .batch import ENTRIES, Batch
from .checks import whole
from .options import FixedSteps
from .preparation import Begin, Prepared
from .rollout import batches_of, check_together, states_of

NEVER = 2**62
"""Steps after which a row would be stored."""


class SimulationBatch(ByName):
    """n simulations on the lanes of the processor, in steps of one length: `sh.Simulation(model, …).batch(n)`.

        batch = sh.Simulation(model, integrator="rk4", step=1e-3).batch(4096)
        for _ in range(1000):
            batch.tau = 20.0 * (target - batch.q) - 2.0 * batch.v
            batch.step(10)
            batch.reset(np.abs(batch.q[:, 0]) > 2.0)

    q, v        (n, nq), (n, nv): of the present state, copies; `coordinate(joint)`, `speed(joint)`, `states` by name
    tau         (n, nv): joint forces, held until they are changed; set to an array (n, nv) or (nv,), or {joint: number or (n,)}
    parameters  {name: (n,)}, as given to `batch`
    failed      (n,): simulations whose numbers ceased to be finite; each stays at its last state until it is reset
    t           the time, which all have in common: resetting some does not turn it back
    """

    def __init__(
        self,
        prepared: Prepared,
        begin: Begin,
        step: float | None,
        n: int,
        parameters: Mapping[str, ArrayLike] | None,
        threads: int,
    ) -> None:
        name = prepared.chosen.name
        if name not in ENTRIES or step is None:
            raise MethodError(f"a batch of simulations steps with 'rk4' or 'euler', this Simulation with {name!r}")
        if prepared.own_events or prepared.options.limits == "stop":
            raise MethodError("a batch of simulations goes through all steps together: nothing can stop one of them at an event")
        check_together(prepared, "a batch of simulations")
        self._n, self._threads = whole(n, "n", 1), whole(threads, "threads", 1)
        self.model: Model = prepared.user_model
        self._prepared, self._t0, self._step, self._steps = prepared, begin.t, step, 0
        values = self._with_parameters(np.tile(begin.values, (n, 1)), parameters or {}, slice(None))
        self._first = self._closed(begin.state.q, begin.state.v, values), values
        forces, own = np.tile(begin.forces, (n, 1, 1)), values if values.shape[1] else None
        grid = FixedSteps(begin.t, step, 0, NEVER)
        self._batches = batches_of(prepared, grid, *self._first[0], forces, own, self._threads)
        self._ends = np.cumsum([batch.count for batch in self._batches])[:-1]

    def __len__(self) -> int:
        return self._n

    # --- what is read and set between steps ---------------------------------------------------------------------------------
    @property
    def t(self) -> float:
        """The time."""
        return self._t0 + self._steps * self._step

    @property
    def q(self) -> FloatArray:  # type: ignore[override]
        return self._joined(lambda batch: batch.state()[0])

    @property
    def v(self) -> FloatArray:  # type: ignore[override]
        return self._joined(lambda batch: batch.state()[1])

    @property
    def states(self) -> dict[str, FloatArray]:
        """{name: (n,)}: states of forces."""
        return dict(zip(self._prepared.model.states, self._joined(lambda batch: batch.state()[2]).T, strict=True))

    @property
    def parameters(self) -> dict[str, FloatArray]:
        """{name: (n,)}: values of the parameters."""
        return dict(zip(self.model.parameters, self._joined(self._parameters_of).T, strict=False))  # states are the last

    @property
    def failed(self) -> np.ndarray:
        """(n,): whether the numbers of a simulation have ceased to be finite."""
        return np.isfinite(self._joined(lambda batch: batch.failed()))

    @property
    def tau(self) -> FloatArray:
        """(n, nv): joint forces, held until they are changed."""
        return self._joined(lambda batch: batch.tau[: batch.count])

    @tau.setter
    def tau(self, tau: State) -> None:
        shape = (self._n, self.model.nv)
        if isinstance(tau, Mapping):
            named, tau = tau, np.zeros(shape)
            for joint, x in named.items():
                place, values = self.model.v_slice(joint), real_array(x, f"tau of joint {joint!r}")
                several = values.ndim == 1 and len(values) == self._n and place.stop - place.start == 1
                tau[:, place] = values[:, None] if several else values
        given = real_array(np.zeros(shape) if tau is None else tau, "tau")
        if given.shape == shape[1:]:
            check_tau(self.model, given)
        elif given.shape != shape:
            raise StateError(f"tau: expected {shape} or {shape[1:]}, got {given.shape}")
        if not np.isfinite(given).all():
            raise StateError(f"tau: of simulation {int(np.argwhere(~np.isfinite(given))[0][0])} it is not finite")
        for batch, rows in zip(self._batches, self._divided(np.broadcast_to(given, shape)), strict=True):
            batch.tau[: batch.count] = rows

    # --- going on -----------------------------------------------------------------------------------------------------------
    def step(self, times: int = 1) -> None:
        """Make so many steps with the joint forces as they are, in machine code; a simulation that fails does not stop the
        others."""
        self._steps += whole(times, "times", 1)
        share(partial(Batch.run, until=self._steps), self._batches, self._threads)

    def reset(
        self,
        which: ArrayLike | None = None,
        q0: ArrayLike | None = None,
        v0: ArrayLike | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        """Begin some simulations anew: all, those where a mask (n,) is true, or those of a list of numbers.

        q0, v0      (k, nq), (k, nv): a row for each of them, or one for all; from where it first began where neither is given.
                    Loops are closed as `rollout` does with `nearest`
        parameters  {name: number or (k,)}; the others keep their values
        """
        chosen = self._chosen(which)
        if not len(chosen):
            return
        values = self._with_parameters(self._first[1][chosen], parameters or {}, chosen)
        if q0 is None and v0 is None and not parameters:
            q, v = (x[chosen] for x in self._first[0])
        else:
            q, v = (first[chosen] if x is None else x for x, first in zip((q0, v0), self._first[0], strict=True))
            q, v = self._closed(real_array(q, "q0"), real_array(v, "v0"), values)
        if parameters:
            self._first[1][chosen] = values
        nz = len(self._prepared.model.states)
        for batch, mine, at in self._places(chosen):
            for part, rows in zip(batch.state(), (q, v, values[:, values.shape[1] - nz :]), strict=True):
                part[at] = rows[mine]
            batch.failed()[at] = np.inf
            if values.shape[1]:
                self._parameters_of(batch)[at] = values[mine]

    # --- inside -------------------------------------------------------------------------------------------------------------
    def _joined(self, of: Any) -> FloatArray:
        return np.concatenate([of(batch) for batch in self._batches])

    def _divided(self, rows: np.ndarray) -> list[np.ndarray]:
        return np.split(rows, self._ends)

    @staticmethod
    def _parameters_of(batch: Batch) -> np.ndarray:
        return batch.motion.parameters.reshape(batch.n, -1)[: batch.count]

    def _places(self, chosen: np.ndarray) -> list[tuple[Batch, np.ndarray, np.ndarray]]:
        """Every batch that has some of them, which of them these are, and their places in it."""
        owner, found = np.searchsorted(self._ends, chosen, side="right"), []
        for k in np.unique(owner).tolist():
            mine = np.flatnonzero(owner == k)
            found.append((self._batches[k], mine, chosen[mine] - (self._ends[k - 1] if k else 0)))
        return found

    def _chosen(self, which: ArrayLike | None) -> np.ndarray:
        if which is None:
            return np.arange(self._n)
        given = np.asarray(which)
        if given.dtype == bool and given.shape == (self._n,):
            return np.flatnonzero(given)
        if given.dtype.kind not in "iu" or given.ndim > 1 or (given.size and not (given.min() >= 0 and given.max() < self._n)):
            raise StateError(f"which: expected a mask ({self._n},), or numbers from 0 to {self._n - 1}; got {brief(which)}")
        return np.unique(given)

    def _with_parameters(self, values: np.ndarray, given: Mapping[str, ArrayLike], which: Any) -> np.ndarray:
        """Rows of parameters with those given by name in their places, checked."""
        values, names = values.copy(), list(self._prepared.model.structure.parameters)
        if not isinstance(given, Mapping):
            raise StateError(f"parameters: expected {{name: number or (n,)}}, got {brief(given)}")
        for name, x in given.items():
            if name not in self.model.parameters:
                raise StateError(no_such("parameter", name, self.model.parameters))
            column = real_array(x, f"parameter {name!r}")
            if column.shape not in ((), (len(values),)):
                raise StateError(f"parameter {name!r}: expected a number or ({len(values)},), got {column.shape}")
            values[:, names.index(name)] = column
        check_values(self._prepared.model, values)
        return values

    def _closed(self, q: np.ndarray, v: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Starts, a row for each of the values: quaternions normalized, loops closed."""
        q = np.tile(q, (len(values), 1)) if q.ndim == 1 or len(q) == 1 < len(values) else q
        return states_of(self._prepared.d, q, v, self._t0, values if values.shape[1] else None, [])
