"""The result of a simulation: the motion, by name, and everything that follows from it, computed when first needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dynamics import Dynamics
from ..equations.start import StartState
from ..errors import SingularError, StateError, no_such
from ..model.model import Model
from ..model.references import is_name_in
from ..model.services import service
from ..model.states import check_array
from ..trace import at_values
from .by_name import ByName, index_of, squeezed

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

    from .storage import PathLike


@dataclass(frozen=True)
class Cost:
    """What a run cost, and with what settings."""

    method: str
    why: str
    backend: str
    integrator: str
    steps: int
    rejected: int
    evaluations: int
    jacobians: int
    wall: float
    """Seconds, compilation not included."""
    compile: float
    """Seconds of preparation: tracing, compilation, assembly."""
    smallest_step: float
    largest_step: float
    iterations: float = 0.0
    """Of an iterative method, in the last evaluation of a step, on average."""
    restarts: int = 0
    """Steps in whose last evaluation the method had to factorize again."""
    stabilisation: str = ""
    """Of the constraints; empty where there are none."""
    alpha: float = 0.0
    """Decay of violations, 1/s: Baumgarte's α, or κ of 'ggl'."""
    beta: float = 0.0
    """Baumgarte's β, 1/s."""
    partitions: int = 0
    """How often independent coordinates were chosen."""
    passages: int = 0
    """How often the neighbourhood of a singular position was entered."""
    exact_evaluations: int = 0
    """Evaluations there, in double-double arithmetic."""
    nearest: float = 0.0
    """How near it came, relative to ordinary positions; 0 where there was none."""


@dataclass(frozen=True)
class Energy:
    """Over time. total − total[0] = the sum of `work`, but for the error of integration: `defect`."""

    kinetic: np.ndarray
    potential: np.ndarray
    work: dict[str, np.ndarray]
    """Energy added (positive) or removed by each cause: "drives" (driven joints, a moving base), "tau", forces by name."""
    accounted: bool = True
    """False without an account of work: balance=False, or an execution that cannot record it."""

    @property
    def total(self) -> np.ndarray:
        return self.kinetic + self.potential

    @property
    def defect(self) -> np.ndarray:
        """Energy the balance leaves unexplained, what actions of events add or remove included; nan without an account."""
        if not self.accounted:
            return np.full(len(self.kinetic), np.nan)
        return self.total - self.total[:1] - sum(self.work.values(), np.zeros(len(self.kinetic)))


@dataclass(frozen=True)
class EventRecord:
    """An event that has fired."""

    name: str
    t: float
    q: np.ndarray
    v: np.ndarray


@dataclass(frozen=True)
class Sensitivity(ByName):
    """q (T, nq), v (T, nv): derivatives of coordinates and speeds by one number; by name as of a motion."""

    model: Model
    q: np.ndarray
    v: np.ndarray


@dataclass(eq=False)
class Result(ByName):
    """A motion: t (T,), q (T, nq), v (T, nv), and by name `coordinate`, `speed`, `point`; the rest follows."""

    model: Model
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    cost: Cost
    status: str = "done"
    message: str = ""
    events: list[EventRecord] = field(default_factory=list)
    causes: tuple[str, ...] = ()
    work_done: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(T, causes): energy added by each cause since the start."""
    parameters: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(T, parameters) where the model has any: they may change at events."""
    accounted: bool = True
    """Whether `work_done` is complete: every cause that adds or removes energy."""

    sensitivity_names: tuple[str, ...] = ()
    sensitivities: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0)))
    """(T, names, nq + nv): derivatives of coordinates and speeds by each of `sensitivity_names`."""

    start: StartState | None = None
    """What the start was asked to be, and what was moved to close the loops; None in files of earlier versions."""

    # --- by name ------------------------------------------------------------------------------------------------------------
    def sensitivity(self, name: str) -> Sensitivity:
        """The derivative of the motion by a parameter or a part of its start, one of those given to `simulate`."""
        if not is_name_in(self.sensitivity_names, name):
            unknown = no_such("sensitivity", name, self.sensitivity_names, "sensitivities")
            raise StateError(f"{unknown}; ask for them: simulate(…, sensitivities=[…])")
        rows = self.sensitivities[:, self.sensitivity_names.index(name)]
        return Sensitivity(self.model, rows[:, : self.model.nq], rows[:, self.model.nq :])

    def acceleration(self, joint: str) -> np.ndarray:
        """Accelerations of a joint over time: (T,), or (T, n) where it has several."""
        return squeezed(self.a[:, self.model.v_slice(joint)])

    def point(self, body: str, at: Sequence[float] = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Path (T, 3) of a point of a body in the world. `at` in the body's axes."""
        i, place = self.model.body_index(body), check_array(at, "point", 3)
        R, r = self.poses
        return r[:, i] + R[:, i] @ place

    def frame(self, name: str) -> np.ndarray:
        """Path (T, 3) of the origin of a named frame in the world."""
        frames = self.model.frames
        if not is_name_in(frames, name):
            raise StateError(no_such("frame", name, frames))
        body, pose = frames[name]
        at = np.stack([np.broadcast_to(self._number(x), len(self.t)) for x in pose.position], axis=1)
        if body == "ground":
            return at
        i, (R, r) = self.model.body_index(body), self.poses
        return r[:, i] + np.einsum("tij,tj->ti", R[:, i], at)

    def reaction(self, joint: str) -> np.ndarray:
        """(T, 6): force and moment of a joint on the body it carries, at that body's origin, in its axes."""
        if any(joint == closing.name for closing in self.model.closing_joints):
            raise StateError(
                f"joint {joint!r} closes a loop and is cut: its reactions are those of `result.dynamics.closing_reactions`, by "
                "the names of joint and body; to have them here, cut another joint of the loop: add_joint(…, cut=True)"
            )
        return self.reactions[:, self.model.joint_index(joint)]

    def force(self, name: str) -> dict[str, np.ndarray]:
        """The action of a force over time: {body: (T, 6) force and moment at its origin, in its axes; joint: (T, n)}."""
        if not is_name_in(self.force_actions, name):
            raise StateError(no_such("force", name, self.force_actions))
        return self.force_actions[name]

    def force_power(self, name: str) -> np.ndarray:
        """Power of a force over time."""
        names = self.dynamics.force_names
        if not is_name_in(names, name):
            raise StateError(no_such("force", name, names))
        return self.force_powers[:, names.index(name)]

    # --- derived -------------------------------------------------------------------------------------------------------
    @cached_property
    def dynamics(self) -> Dynamics:
        """Of the model, for everything derived from the motion; results of one model share it."""
        structure, backend = self.model.structure, "python" if self.cost.backend == "python" else "auto"
        if ("dynamics of results", backend) not in structure.cached:
            d = Dynamics(self.model, "separate", backend)
            structure.cached["dynamics of results", backend] = d
        found: Dynamics = structure.cached["dynamics of results", backend]
        return found

    @cached_property
    def a(self) -> np.ndarray:
        """Accelerations (T, nv); nan at the end of a motion that ended because there are none."""
        try:
            return self._accelerations(slice(None))
        except SingularError:
            end = np.full((1, self.model.nv), np.nan)
            return np.concatenate([self._accelerations(slice(-1)), end]) if len(self.t) > 1 else end

    def _accelerations(self, part: slice) -> np.ndarray:
        p = None if self._parameters is None else self._parameters[part]
        return self.dynamics.forward(self.q[part], self.v[part], self.tau, self.t[part], parameters=p)

    def _number(self, x: Any) -> Any:
        """A number of the model over time: it may depend on parameters."""
        return at_values(x, dict(zip(self.model.parameters, self.parameters.T, strict=True)) or None)

    @cached_property
    def _parameters(self) -> np.ndarray | None:
        """As they were at every time."""
        return self.parameters if self.parameters.size else None

    @cached_property
    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (T, N, 3, 3), body → world, and position (T, N, 3) of every body."""
        return self.dynamics.poses(self.q, self.t, parameters=self._parameters)

    @cached_property
    def reactions(self) -> np.ndarray:
        """(T, N, 6): force and moment of joint i on body i at its origin, body axes."""
        return self.dynamics.reactions(self.q, self.v, self.tau, self.t, parameters=self._parameters)

    @cached_property
    def force_actions(self) -> dict[str, dict[str, np.ndarray]]:
        """The actions of all forces of the model, by name."""
        return self.dynamics.force_actions(self.q, self.v, self.t, parameters=self._parameters)

    @cached_property
    def force_powers(self) -> np.ndarray:
        """(T, forces): power of every force of the model."""
        return self.dynamics.force_powers(self.q, self.v, self.t, parameters=self._parameters)

    @cached_property
    def force_energies(self) -> np.ndarray:
        """(T, forces): energy stored in every force of the model."""
        return self.dynamics.force_energies(self.q, self.v, self.t, parameters=self._parameters)

    @cached_property
    def energy(self) -> Energy:
        """Kinetic and potential energy, and the work of everything that adds or removes it."""
        kinetic, potential = map(np.asarray, self.dynamics.energy(self.q, self.v, self.t, parameters=self._parameters))
        return Energy(kinetic, potential, {name: self.work_done[:, k] for k, name in enumerate(self.causes)}, self.accounted)

    @cached_property
    def violation(self) -> np.ndarray:
        """(T,): the largest violation of a constraint, in SI units."""
        constrained = self.dynamics.constrained
        if constrained is None:
            return np.zeros(len(self.t))
        own = np.array(list(self.model.parameters.values()), dtype=float)
        parameters = self.parameters if self.parameters.size else np.tile(own, (len(self.t), 1))
        return constrained.table.violation(self.q, self.v, self.t, parameters)

    # --- out ------------------------------------------------------------------------------------------------------------------
    def summary(self) -> str:
        """The run in a few lines of text."""
        from .summary import summary

        return summary(self)

    def plot(self, *what: str, path: PathLike | None = None) -> Figure:
        """A Matplotlib figure of coordinates, speeds, energies and work over time; `what` selects joints by name."""
        from .plots import plot

        return plot(self, what, path)

    def snapshot(
        self, path: PathLike, t: float | None = None, *, show: Sequence[str] | None = None, traces: Sequence[Any] = (),
        size: tuple[int, int] = (1280, 720), view: str | Sequence[float] | None = None, theme: str = "light",
        labels: bool = False, title: str = "", transparent: bool = False, stamp: bool = True,
    ) -> None:  # fmt: skip
        """A picture of the mechanism at time t (by default the end), in a file: .png, .jpg or .webp.

        Between two times of the result coordinates move evenly from the one to the other. `traces`: bodies, frames, or (body, point)
        whose paths are drawn; `stamp`: whether the time is written on it; the rest as for `Model.draw`.
        """
        look = {"size": size, "view": view, "theme": theme, "labels": labels, "title": title, "transparent": transparent}
        service("snapshot")(self, path, t, show=show, traces=traces, stamp=stamp, **look)

    def video(
        self, path: PathLike, fps: float = 30.0, speed: float = 1.0, *, show: Sequence[str] | None = None,
        traces: Sequence[Any] = (), size: tuple[int, int] | None = None, view: str | Sequence[float] | None = None,
        theme: str = "light", labels: bool = False, title: str = "", stamp: bool = True, progress: bool | None = None,
    ) -> None:  # fmt: skip
        """The motion as a video, .mp4 or .gif: `fps` frames a second, `speed` seconds of the motion in one. An .mp4 is 1280 × 720
        by default, a .gif 640 × 360. The rest as for `snapshot`."""
        look = {"size": size, "view": view, "theme": theme, "labels": labels, "title": title}
        service("video")(self, path, fps, speed, show=show, traces=traces, stamp=stamp, progress=progress, **look)

    def to_xarray(self) -> Dataset:
        """An xarray.Dataset with named dimensions: time, coordinate, speed, body."""
        from .storage import to_xarray

        return to_xarray(self)

    def to_csv(self, path: PathLike) -> None:
        """Time, coordinates, speeds, accelerations and energies, a row per time."""
        from .storage import to_csv

        to_csv(self, path)

    def save(self, path: PathLike) -> None:
        """NetCDF: `Result.load` reads it back, and so does xarray.open_dataset. To a name that ends with .csv, the table."""
        from .storage import write

        write(self, path)

    @staticmethod
    def load(path: PathLike, model: Model | None = None) -> Result:
        """A saved result. The model is read from the file where it could be written there, else it must be given."""
        from .loading import load

        return load(path, model)

    def state(self, k: int = -1) -> Mapping[str, np.ndarray]:
        """q0 and v0 to go on from: simulate(model, 1.0, **result.state())."""
        at = index_of(k, len(self.t), "a time of the result")
        return {"q0": self.q[at], "v0": self.v[at]}

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} … {self.t[-1]:g} s" if len(self.t) else "empty"
        return f"Result({self.model.name!r}, {len(self.t)} times, {span}, {self.status})"
