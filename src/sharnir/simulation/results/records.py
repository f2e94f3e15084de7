"""The declaration of arrays in results, entries of q and v by joint, and records of a run: its cost, its energies, its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...errors import StateError, brief, no_such
from ...model.model import Model
from ...model.references import is_name_in
from ...reporting.formats import duration
from ...reporting.notebook import Fact

T = TypeVar("T")


class Stored(NamedTuple):
    """An array of a result in files and data sets: its name there, dimensions after that of time, unit, description."""

    name: str
    dimensions: tuple[str, ...] = ()
    units: str = ""
    long_name: str = ""


def stored(name: str, *dimensions: str, units: str = "", long_name: str = "") -> dict[str, Stored]:
    """Metadata of a field that is stored: files, data sets and their readers follow these declarations."""
    return {"stored": Stored(name, dimensions, units, long_name)}


def declared(owner: Any) -> dict[str, Stored]:
    """Stored arrays of a dataclass, or of one of its objects, by their attributes."""
    return {f.name: f.metadata["stored"] for f in fields(owner) if "stored" in f.metadata}


class ByName:
    """q (…, nq), v (…, nv) of a model, or derivatives of them."""

    model: Model
    q: np.ndarray
    v: np.ndarray

    def coordinate(self, joint: str) -> np.ndarray:
        """Entries of q that belong to a joint: (…,), or (…, n) where there are several."""
        return squeezed(self.q[..., self.model.q_slice(joint)])

    def speed(self, joint: str) -> np.ndarray:
        """Entries of v that belong to a joint: (…,), or (…, n) where there are several."""
        return squeezed(self.v[..., self.model.v_slice(joint)])


def index_of(k: object, n: int, what: str) -> int:
    """An index into n rows, counted from the end where it is negative."""
    if isinstance(k, (bool, np.timedelta64)) or not isinstance(k, (int, np.integer)) or not -n <= k < n:
        raise StateError(f"expected the number of {what}, from {-n} to {n - 1}; got {brief(k)}")
    return int(k)


def entry(there: Mapping[str, T], name: str, kind: str, plural: str = "") -> T:
    """The thing of this name; a name that nothing has is refused, with those there are."""
    if not is_name_in(there, name):
        raise StateError(no_such(kind, name, there, plural))
    return there[name]


def squeezed(x: np.ndarray) -> np.ndarray:
    """The array without its last axis where there is one number along it."""
    return x[..., 0] if x.shape[-1] == 1 else x


@dataclass(frozen=True)
class Cost:
    """Settings of a run, and the work it took."""

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
    """Iterations of an iterative method in the last evaluation of a step, on average."""
    restarts: int = 0
    """Steps in whose last evaluation the method had to factorize again."""
    stabilisation: str = ""
    """Stabilisation of the constraints; empty where there are none."""
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

    def facts(self) -> list[Fact]:
        by: list[Fact] = [("method", f"{self.method} on {self.backend}", ""), ("integrator", self.integrator, "")]
        return [*by, ("steps", self.steps, ""), ("computed in", duration(self.wall), "")]


@dataclass(frozen=True)
class Energy:
    """Energies over time (…, T). total − total[0] = the sum of `work`, but for the error of integration: `defect`."""

    kinetic: np.ndarray
    potential: np.ndarray
    work: dict[str, np.ndarray]
    """Energy added (positive) or removed by each cause: "drives" (driven joints, a moving base), "tau", forces by name,
    impacts ("impact …"), events that change state or parameters ("event …"), controllers that change parameters."""
    accounted: bool = True
    """False without an account of work: balance=False, or an execution that cannot record it."""

    initial: float | np.ndarray = np.nan
    """The total where the run began; nan where that is the first of these."""

    @property
    def total(self) -> np.ndarray:
        return self.kinetic + self.potential

    @property
    def defect(self) -> np.ndarray:
        """Energy that the balance since the start of the run leaves unexplained: the error of integration; nan without an
        account."""
        if not self.accounted:
            return np.full(self.kinetic.shape, np.nan)
        begun = np.where(np.isnan(self.initial), self.total[..., :1], self.initial)
        return self.total - begun - sum(self.work.values(), np.zeros(self.kinetic.shape))


@dataclass(frozen=True)
class ImpactRecord:
    """An impact that took place."""

    name: str
    t: float
    approach: float
    """Speed at which the gap closed, m/s or rad/s."""
    impulse: float
    """N s, or N m s in a joint."""
    lost: float
    """Energy dissipated, J; with friction that along the surfaces too."""
    along: float = 0.0
    """Size of the impulse of friction, N s."""
    rests: bool = False
    """Whether the bodies stay in contact."""


@dataclass(frozen=True)
class EventRecord:
    """An event that has fired."""

    name: str
    t: float = field(metadata=stored("time"))
    q: np.ndarray = field(metadata=stored("q", "coordinate"))
    v: np.ndarray = field(metadata=stored("v", "speed"))


RECORDS: dict[str, type[EventRecord] | type[ImpactRecord]] = {"event": EventRecord, "impact": ImpactRecord}
"""Records that a result lists (`Result.events`, `Result.impacts`), by the name of their dimension in files."""


def columns_of(kind: str) -> dict[str, Stored]:
    """Columns of the records of a kind in files, by their fields: as declared, or called as the field."""
    own = {f.name: f.metadata.get("stored", Stored(f.name)) for f in fields(RECORDS[kind]) if f.name != "name"}
    return {name: Stored(f"{kind}_{one.name}", one.dimensions) for name, one in own.items()}
