"""The result of a simulation: the motion, by name, all that follows from it, computed when first needed, and its summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...equations.assembly.start import StartState
from ...equations.motion.stabilisation import PROJECTION, Stabilisation
from ...errors import StateError, no_such, suggesting
from ...integrate.switching import EXPLICIT
from ...integrate.trajectory import Switch
from ...model.impacts import Impact
from ...model.mobility import counted_bodies, degrees_of_freedom
from ...model.model import Model
from ...model.references import is_name_in
from ...model.services import service
from ...model.validity import WHY, beyond_validity
from ...reporting.formats import duration, figures, plural
from ...reporting.notebook import Fact, Shown
from ..control.sampled import Commands
from ..events.impacts import with_contacts
from .named_motion import NamedMotion
from .records import ByName, Cost, EventRecord, ImpactRecord, index_of, stored

if TYPE_CHECKING:
    from .storage import PathLike


MAX_RANKED = 300
"""Speeds of a mechanism beyond which the rank of its constraints is not determined for a line of text."""
MAX_SWITCHES = 6
"""Between integrators, that are listed."""
STEADY = 1e-6
"""Energy exchanged, relative to the kinetic energy, below which defects are compared with the latter."""


@dataclass(frozen=True)
class Sensitivity(ByName):
    """q (T, nq), v (T, nv): derivatives of coordinates and speeds by one number; by name as of a motion."""

    model: Model
    q: np.ndarray
    v: np.ndarray


@dataclass(eq=False)
class Result(Shown, NamedMotion):
    """A motion: t (T,), q (T, nq), v (T, nv), and by name `coordinate`, `speed`, `point`, `reaction` …; the rest follows."""

    model: Model
    t: np.ndarray
    q: np.ndarray = field(metadata=stored("q", "coordinate", long_name="generalised coordinates"))
    v: np.ndarray = field(metadata=stored("v", "speed", long_name="generalised speeds"))
    tau: np.ndarray = field(metadata=stored("tau", "speed"))
    """(nv,), or (T, nv) where joint forces change: those that act from each time on, in a rollout until the next time."""
    cost: Cost
    status: str = "done"
    message: str = ""
    events: list[EventRecord] = field(default_factory=list)
    causes: tuple[str, ...] = ()
    work_done: np.ndarray = field(
        default_factory=lambda: np.zeros((0, 0)),
        metadata=stored("work", "cause", units="J", long_name="energy added since the start"),
    )
    """(T, causes): energy added by each cause since the start."""
    parameters: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), metadata=stored("parameters", "parameter"))
    """(T, parameters) where the model has any: they may change at events."""
    accounted: bool = True
    """Whether `work_done` is complete: every cause that adds or removes energy."""

    sensitivity_names: tuple[str, ...] = ()
    sensitivities: np.ndarray = field(
        default_factory=lambda: np.zeros((0, 0, 0)), metadata=stored("sensitivities", "sensitivity", "state")
    )
    """(T, names, nq + nv): derivatives of coordinates and speeds by each of `sensitivity_names`."""

    state_values: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), metadata=stored("states", "force_state"))
    """(T, states) of forces, in the order of `model.states`; by name: `state("friction.bristle")`."""

    start: StartState | None = None
    """The start asked for, and the changes that closed the loops; None in files of earlier versions."""

    integrator_switches: list[Switch] = field(default_factory=list)
    """Changes of method by integrator "auto": (t, before, after)."""

    control: dict[str, Commands] = field(default_factory=dict)
    """Commands of each sampled controller."""

    impacts: list[ImpactRecord] = field(default_factory=list)
    """Impacts that took place, in the order of time."""

    start_energy: float = np.nan

    contacts: tuple[Impact, ...] = ()
    """The impacts that were given to `simulate`: contacts that may close."""
    contact_values: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), metadata=stored("contacts", "contact"))
    """(T, contacts): 0 where bodies are apart, 1 where they touch, 2 where they are pressed together."""

    # --- by name ------------------------------------------------------------------------------------------------------------
    @property
    def parameter_values(self) -> dict[str, float]:
        """Parameters by name as they were in this run, at its end: `model` has its own. For questions about the same mechanism:
        linearize(r.model, q, parameters=r.parameter_values)."""
        return dict(zip(self.model.parameters, self.parameters[-1].tolist(), strict=True)) if self.parameters.size else {}

    def sensitivity(self, name: str) -> Sensitivity:
        """The derivative of the motion by a parameter or a part of its start, one of those given to `simulate`."""
        if not is_name_in(self.sensitivity_names, name):
            unknown = no_such("sensitivity", name, self.sensitivity_names, "sensitivities")
            raise StateError(f"{unknown}; ask for them: simulate(…, sensitivities=[…])")
        rows = self.sensitivities[:, self.sensitivity_names.index(name)]
        return Sensitivity(self.model, rows[:, : self.model.nq], rows[:, self.model.nq :])

    # --- what everything else is derived from -------------------------------------------------------------------------------
    @cached_property
    def model_with_contacts(self) -> Model:
        return with_contacts(self.model, self.contacts) if self.contacts else self.model

    @property
    def parameter_rows(self) -> np.ndarray | None:
        parts = [x for x in (self.parameters, self.contact_values, self.state_values) if x.size]
        return np.concatenate(parts, axis=1) if parts else None

    @property
    def energy_accounts(self) -> tuple[dict[str, np.ndarray], bool]:
        work: dict[str, np.ndarray] = {}
        for k, name in enumerate(self.causes):  # on loops joint forces may be there twice: held, and by a law
            work[name] = work.get(name, 0.0) + self.work_done[:, k]
        return work, self.accounted

    def _accelerations_but_ends(self) -> np.ndarray:
        end = np.full((1, self.model.nv), np.nan)
        return np.concatenate([self._accelerations(slice(-1)), end]) if len(self.t) > 1 else end

    # --- out ------------------------------------------------------------------------------------------------------------------
    def summary(self) -> str:
        """The run in a few lines of text."""
        return _summary(self)

    @suggesting
    def plot(self, *what: str, path: PathLike | None = None, interactive: bool = False, over: str | None = None) -> Any:
        """A Matplotlib figure, one panel for each unit: r.plot("A", "piston.x", "reaction of B"); with no names coordinates,
        speeds, energies and work. `interactive`: a plotly figure; `path`: into a file, .html for a page; `over`: what is on the
        horizontal axis instead of time. `sharnir.plot([r, other], "A")` draws several results on the same axes."""
        from .plots import plot

        return plot(self, *what, path=path, interactive=interactive, over=over)

    @suggesting
    def animate(
        self, path: PathLike | None = None, *, plots: Sequence[str] = (), show: Sequence[str] | None = None,
        traces: Sequence[Any] = (), fps: float = 30.0, follow: str | None = None,
        view: str | Sequence[float] | None = None, title: str | None = None, progress: bool | None = None,
    ) -> Path | Any:  # fmt: skip
        """A page that opens in any browser, offline: the motion, plots in step with it, the model, the run. By default run.html;
        in a notebook the page is shown there, and no file is written.

        `plots`: what is plotted, by the names that `plot` takes; `fps`: key frames a second at least; `follow`: the body that the
        camera goes along with; the rest as for `snapshot`. `sharnir.animate([r, other], "runs.html")` draws several results over
        each other.
        """
        options = {"plots": plots, "show": show, "traces": traces, "fps": fps, "follow": follow, "view": view, "title": title}
        return service("animate")(self, path, progress=progress, **options)

    def snapshot(
        self, path: PathLike | None = None, t: float | None = None, *, show: Sequence[str] | None = None,
        traces: Sequence[Any] = (), size: tuple[int, int] = (1280, 720), view: str | Sequence[float] | None = None,
        theme: str = "light", labels: bool = False, title: str = "", transparent: bool = False, stamp: bool = True,
    ) -> Any:  # fmt: skip
        """A picture of the mechanism at time t (by default the end), in a file: .png, .jpg or .webp; without a path as an image
        of Pillow, which a notebook shows.

        Between two times of the result coordinates move evenly from the one to the other. `traces`: bodies, frames, or
        (body, point) whose paths are drawn; `stamp`: whether the time is written on it; the rest as for `Model.draw`.
        """
        look = {"size": size, "view": view, "theme": theme, "labels": labels, "title": title, "transparent": transparent}
        return service("snapshot")(self, path, t, show=show, traces=traces, stamp=stamp, **look)

    def video(
        self, path: PathLike, fps: float = 30.0, speed: float = 1.0, *, show: Sequence[str] | None = None,
        traces: Sequence[Any] = (), size: tuple[int, int] | None = None, view: str | Sequence[float] | None = None,
        theme: str = "light", labels: bool = False, title: str = "", stamp: bool = True, progress: bool | None = None,
    ) -> None:  # fmt: skip
        """The motion as a video, .mp4 or .gif: `fps` frames a second, `speed` seconds of the motion in one. An .mp4 is 1280 × 720
        by default, a .gif 640 × 360. The rest as for `snapshot`."""
        look = {"size": size, "view": view, "theme": theme, "labels": labels, "title": title}
        service("video")(self, path, fps, speed, show=show, traces=traces, stamp=stamp, progress=progress, **look)

    def save(self, path: PathLike) -> None:
        """NetCDF: `Result.load` reads it back, and so does xarray.open_dataset. To a name that ends with .csv, the table."""
        from .storage import write

        write(self, path)

    @staticmethod
    def load(path: PathLike, model: Model | None = None) -> Result:
        """A saved result. The model is read from the file where it could be written there, else it must be given."""
        from .loading import load

        return load(path, model)

    def state(self, k: int | str = -1) -> Any:
        """A state to continue from, q0, v0 and states: simulate(model, 1.0, **result.state()). With the name of a state (of
        a force, or of `Model.add_state`): its values (T,)."""
        if isinstance(k, str):
            return self.state_of(k)
        at = index_of(k, len(self.t), "a time of the result")
        states = {name: float(x) for name, x in zip(self.model.states, self.state_values[at], strict=True)} if self.nz else {}
        return {"q0": self.q[at], "v0": self.v[at], **({"states": states} if states else {})}

    @property
    def nz(self) -> int:
        """How many states forces have."""
        return self.state_values.shape[-1]

    def __len__(self) -> int:
        return len(self.t)

    def _facts(self) -> tuple[str, list[Fact]]:
        counts = {"status": self.status, "times": len(self), "events": len(self.events), "impacts": len(self.impacts)}
        span = f"{self.t[0]:g} … {self.t[-1]:g}" if len(self) else ""
        return self.model.name, [("t", span, "s"), *((what, x, "") for what, x in counts.items()), *self.cost.facts()]

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} … {self.t[-1]:g} s" if len(self.t) else "empty"
        return f"Result({self.model.name!r}, {len(self.t)} times, {span}, {self.status})"


# --- in a few lines of text -----------------------------------------------------------------------------------------------
def _summary(r: Result) -> str:
    c = r.cost
    constrained = r.dynamics.constrained
    rows = len(constrained.table) - len(r.contacts) if constrained else 0  # a contact, which comes and goes, has one row
    freedoms = degrees_of_freedom(r.model.nv, rows)
    if rows and len(r) and r.model.nv <= MAX_RANKED:  # of a mechanism with loops at the end of the run
        freedoms = r.model.mobility(r.q[-1], r.t[-1]).summary
    size = counted_bodies(len(r.model.bodies), len(r.model.parts.deformations))
    lines = [f"{r.model.name}: {size}, {freedoms}; {r.status}, {r.message}"]
    if r.start is not None and r.start.words:
        lines.append(f"  start       {r.start.words}")
    lines.append(f"  method      {c.method} on {c.backend}")
    steps = f"{c.steps} steps ({c.rejected} rejected), {c.evaluations} evaluations"
    if c.jacobians:
        steps += f", {c.jacobians} Jacobians"
    by = f"{c.integrator} ({EXPLICIT})" if c.integrator == "auto" and c.steps and not r.integrator_switches else c.integrator
    lines.append(f"  integrator  {by}: {steps}, steps {duration(c.smallest_step)} … {duration(c.largest_step)}")
    if switches := r.integrator_switches:
        shown = [f"{one.after} from t = {one.t:.6g}" for one in switches[:MAX_SWITCHES]]
        more = [f"and {len(switches) - MAX_SWITCHES} more switches"] if len(switches) > MAX_SWITCHES else []
        lines.append(f"              {', '.join([switches[0].before, *shown, *more])}")
    if c.iterations or c.restarts:
        lines.append(f"  iterations  {c.iterations:.2f} per step, {c.restarts} refactorisations")
    speed = (r.t[-1] - r.t[0]) / c.wall if c.wall > 0.0 and len(r) else 0.0
    lines.append(
        f"  time        {duration(c.wall)} of computing ({figures(speed)} × real time), {duration(c.compile)} to prepare"
    )
    for event in r.events[:8]:
        lines.append(f"  event       {event.name or 'event'} at t = {event.t:.9g}")
    if len(r.events) > 8:
        lines.append(f"              and {len(r.events) - 8} more")
    for name in dict.fromkeys(one.name for one in r.impacts):
        own = [one for one in r.impacts if one.name == name]
        lines.append(f"  impact      {name}: {len(own)}, {sum(one.lost for one in own):.6g} J lost")
    if len(r):
        lines += [f"  deformation {one}: {WHY}" for one in beyond_validity(r.model, r.q, r.t)]
        lines += _energy(r)
        if rows:
            how = str(Stabilisation(c.stabilisation or PROJECTION, c.alpha, c.beta))
            how += f", {plural(c.partitions, 'partition')}" if c.partitions else ""
            lines.append(f"  constraints {rows} rows, violation at most {r.violation.max():.2g}, {how}")
            if c.passages:
                how = f"{c.exact_evaluations} evaluations in double-double arithmetic" if c.exact_evaluations else "not passed"
                lines.append(f"  singular    {plural(c.passages, 'neighbourhood')} entered, nearest {c.nearest:.2g}; {how}")
        names = r.model.q_names[:12]
        width = max(11, *map(len, names)) if names else 11
        units = [unit for j in r.model.joints for unit in j.q_units]
        lines += [f"  {name:<{width}} {x: .9g} {unit}".rstrip() for name, x, unit in zip(names, r.q[-1], units, strict=False)]
        if r.model.nq > 12:
            lines.append(f"              and {r.model.nq - 12} more coordinates")
    return "\n".join(lines)


def _energy(r: Result) -> list[str]:
    e = r.energy
    lines = [f"  energy      kinetic {e.kinetic[-1]:.6g} J, potential {e.potential[-1]:.6g} J"]
    for name, work in e.work.items():
        lines.append(f"    {'supplied by' if work[-1] >= 0.0 else 'removed by'} {name}: {abs(work[-1]):.6g} J")
    if not e.accounted:
        return [*lines, "    the work of drives and forces was not recorded (balance=False, or a backend that cannot record it)"]
    size, of = max(float(np.ptp(e.kinetic)), float(np.ptp(e.potential)), 1e-300), "energy exchanged"
    if size < STEADY * (most := float(e.kinetic.max())):  # a share of next to nothing says nothing
        size, of = most, "kinetic energy"
    worst = float(np.abs(e.defect).max())
    what = "defect of the energy balance" if e.work else "change of the total"
    lines.append(f"    {what}: at most {worst:.2g} J, {worst / size:.1g} of the {of}")
    return lines
