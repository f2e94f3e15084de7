"""`simulate`: one motion of a model in time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...equations.assembly.start import Start
from ...errors import suggesting
from ...model.events import Event
from ...model.impacts import Impact
from ...model.model import Model
from ..control.joint_laws import JointLaw
from ..control.sampled import Sampled
from ..results.result import Result
from ..results.storage import PathLike
from .checks import Tau
from .options import RunOptions, split
from .runs import borrowed


@suggesting
def simulate(
    model: Model,
    duration: float,
    *,
    q0: Start = None,
    v0: Start = None,
    fixed: Sequence[str] | None = None,
    nearest: bool = False,
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
    limits: str = "act",
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
    nearest      take what q0 and v0 name as guesses too, and arrays: the nearest state that closes the loops
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
    limits       of joints: "act", as elastic stops, where the model lets them (`Model.acting`), an `Impact.stop` of a joint in
                 its place; "ignore" them; or without stops "stop" the run where one is reached, or raise an "error" there
    stabilisation   of constraints: "projection" (after every step; the default), "partitioning" (independent coordinates
                 alone are integrated), "baumgarte", "ggl", "none"; docs/theory/loops.md
    decay        of violations, 1/s: of "baumgarte" α and β or one number for both, of "ggl" one number; by default five
                 times as fast as the motion changes at the start, and at most 0.5 over a fixed step
    balance      record the work of drives and forces
    sensitivities   names of parameters, "q0.joint", "v0.joint": derivatives of the motion by these are integrated along with it,
                 and are in `result.sensitivity(name)`
    on_failure   "raise" SimulationError, which carries the partial result, or "return" it. Of a force that jumps to and fro so
                 that no step is small enough ("chattering") the message says which, and what to take instead
    progress     show a progress bar (default: on a terminal and in a notebook), from the first second on
    save         write the result there, NetCDF (.nc) or a table (.csv); whether that is possible is checked before the run. While
                 it runs its rows are written to a file beside it, `….partial-….nc`, which stays where the process is killed;
                 an error in writing is a SaveError, which carries the result
    """
    given = {name: x for name, x in locals().items() if name != "model"}
    begun = time.perf_counter()
    compiled, one = split(given, RunOptions)
    with borrowed(model, compiled) as runs:
        return runs.run(one, begun)
