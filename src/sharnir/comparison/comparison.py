"""Comparison: rows of measurements in order of speed, which is best, and how to show them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from ..backends.counting import Count
from ..errors import FormatError, MethodError, brief, known
from ..model.mobility import degrees_of_freedom
from ..model.model import Model
from ..model.references import is_name_in
from ..reporting.atomic_write import atomic_write, check_writable, file_path
from ..reporting.formats import plural

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table as RichTable

KINDS = ("single", "batch")
OK = "ok"
NOT_APPLICABLE = "not applicable"
"""The method does not support something in the model, or the backend does not support the method."""
TOO_LARGE = "too large"
"""It would take too long to compile or to run."""
FAILED = "failed"
NOT_TRIED = "not tried"
"""Interrupted, or the time budget was used up."""


@dataclass(frozen=True)
class Spread:
    """Seconds per evaluation over the samples of a contender: their number, minimum and quartiles."""

    turns: int
    least: float
    quarter: float
    middle: float
    three_quarters: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Spread:
        return cls(len(seconds), *(float(x) for x in np.quantile(seconds, (0.0, 0.25, 0.5, 0.75))))


@dataclass
class Row:
    method: str
    backend: str
    """llvm, loops, python; sparse or dense where a form of the equations is solved by SciPy or NumPy."""
    what: str = ""
    gives: str = "q̈"
    """Accelerations q̈, or ṗ where the method has none."""
    iterates: bool = False
    status: str = NOT_TRIED
    reason: str = ""
    """Why the status is not "ok"."""
    disagreement: float | None = None
    """Largest difference from the oracle over all states, relative to the largest number in that state."""
    written: Count | None = None
    compiled: Count | None = None
    single: Spread | None = None
    batch: Spread | None = None
    """Per state of a batch of `batch_size`."""
    batch_size: int = 0
    compile_single: float | None = None
    """Seconds from an empty cache to the first answer; None where nothing is compiled, or the code came from the cache."""
    compile_batch: float | None = None
    """Seconds from there to the first batch."""
    code_bytes: int | None = None
    """Object code, for one state and for batches together; None where there is none."""
    work_bytes: int | None = None
    """Arrays that persist between calls, and the peak allocation of one more evaluation (by tracemalloc)."""
    auto: bool = False
    """The choice of method="auto", backend="auto"."""
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return self.status == OK

    @property
    def label(self) -> str:
        return f"{self.method} · {self.backend}"

    @property
    def name(self) -> str:
        """The method, marked where it gives no accelerations."""
        return self.method + (f" ({self.gives})" if self.gives != "q̈" else "")

    def operations(self, kind: str) -> int | None:
        """Total of "written" or "compiled"."""
        count: Count | None = getattr(self, kind)
        return None if count is None else count.total

    def time(self, kind: str) -> float | None:
        """Minimum of seconds per evaluation: of one state ("single") or per state of a batch ("batch")."""
        if not isinstance(kind, str) or kind not in KINDS:
            raise MethodError(f"expected 'single' or 'batch', got {brief(kind)}")
        spread: Spread | None = getattr(self, kind)
        return None if spread is None else spread.least

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Row:
        parts: dict[str, Any] = {"single": Spread, "batch": Spread, "written": Count, "compiled": Count}
        made = {name: kind(**data[name]) for name, kind in parts.items() if data.get(name) is not None}
        return cls(**{**data, **made})


FORMAT = "sharnir comparison 1"
TRUST = 1e-6
"""A method that differs from the oracle by more than this is never called best."""


class Facts(TypedDict):
    """The model in a few numbers."""

    name: str
    bodies: int
    freedoms: int
    coordinates: int
    loops: int
    constraints: int
    couplings: int
    forces: int
    joints: dict[str, int]
    """Numbers of joints by type, the most frequent first."""


class Settings(TypedDict):
    """Options of `compare`, and its constants: seconds of a sample (turn), and of a step of the motion."""

    states: int
    seed: int
    batch: int
    rounds: int
    graph_limit: int
    cold: bool
    budget: float | None
    turn: float
    step: float


@dataclass
class Comparison:
    """Result of `sharnir.compare`: print it, or use `best`, `rows`, `plot()`, `report("page.html")`."""

    model: Facts
    machine: dict[str, str]
    settings: Settings
    oracle: str = ""
    auto: dict[str, str] = field(default_factory=dict)
    """method, backend and reason (why) of the choice of method="auto"."""
    rows: list[Row] = field(default_factory=list)
    """The fastest for one state first; those without an answer last, with the reason."""
    status: str = "done"
    """done, interrupted, or out of time."""
    seconds: float = 0.0

    # --- answers ----------------------------------------------------------------------------------------------------------
    @property
    def best(self) -> Row | None:
        """The fastest for single states, among those that give accelerations and agree with the oracle."""
        return self.fastest("single")

    @property
    def best_batch(self) -> Row | None:
        """The fastest for batches, among the same."""
        return self.fastest("batch")

    @property
    def chosen(self) -> Row | None:
        """The row of method="auto"'s choice."""
        return next((row for row in self.rows if row.auto), None)

    @property
    def disagreement(self) -> float | None:
        """The largest disagreement of all rows."""
        return max((row.disagreement for row in self.rows if row.disagreement is not None), default=None)

    def fastest(self, kind: str) -> Row | None:
        timed = [(time, row) for row in self.rows if is_trusted(row) and (time := row.time(kind)) is not None]
        return min(timed, key=lambda pair: pair[0])[1] if timed else None

    def behind(self, kind: str = "single") -> float | None:
        """Time of `auto`'s choice relative to the fastest: 1 where it is the fastest."""
        return None if self.chosen is None else self.times_best(self.chosen, kind)

    def times_best(self, row: Row, kind: str = "single") -> float | None:
        """Time of a row relative to the best; None where the row may not be called best, or was not timed."""
        if not isinstance(row, Row):
            raise MethodError(f"expected a row of a comparison, got {brief(row)}")
        best = self.fastest(kind)
        mine, least = row.time(kind), best and best.time(kind)
        return mine / least if is_trusted(row) and mine and least else None

    def row(self, method: str, backend: str) -> Row:
        for row in self.rows:
            if is_name_in((row.method,), method) and is_name_in((row.backend,), backend):
                return row
        raise MethodError(f"no row {brief(method)} on {brief(backend)}; the rows are {known(r.label for r in self.rows)}")

    def rank(self) -> None:
        """Sort timed rows by the time of one state, the others after them in their order."""
        self.rows.sort(key=lambda row: row.single.least if row.ok and row.single else float("inf"))

    # --- as text, picture, page, data ---------------------------------------------------------------------------------------
    def table(self) -> RichTable:
        """The measurements, to be printed by rich."""
        from .report import WIDTH, measurements

        return measurements(self).rich(WIDTH)

    def __repr__(self) -> str:
        return f"Comparison({self.model['name']!r}, {len(self.rows)} rows, {self.status})"

    def __str__(self) -> str:
        from .report import text

        return text(self)

    def _repr_html_(self) -> str:
        from .report import conclusions, measurements

        return measurements(self).html("\n".join([f"{self.model['name']}: {mechanism(self)}", *conclusions(self)]))

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """A picture: times of one state and in batches, operations beside; saved where a path is given."""
        from .charts import plot

        return plot(self, path)

    def report(self, path: str | PathLike[str]) -> Path:
        """One HTML file with everything in it, which opens offline."""
        from .report import write_report

        return write_report(self, path)

    def as_dict(self) -> dict[str, Any]:
        names = ("model", "machine", "settings", "oracle", "auto", "status", "seconds")
        return {"format": FORMAT, **{name: getattr(self, name) for name in names}, "rows": [r.as_dict() for r in self.rows]}

    def to_json(self, path: str | PathLike[str]) -> Path:
        check_writable(path)
        text = json.dumps(self.as_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        with atomic_write(path) as part:
            part.write_text(text + "\n", encoding="utf-8")
        return file_path(path)

    @classmethod
    def from_json(cls, path: str | PathLike[str]) -> Comparison:
        try:
            data = json.loads(file_path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise FormatError(f"{path}: cannot be read ({error.strerror})") from None
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{path}: not JSON: {error}") from None
        if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
            raise FormatError(f"{path}: not a comparison written by this version of sharnir (format {FORMAT!r})")
        try:
            return cls(**{**data, "rows": [Row.from_dict(row) for row in data["rows"]]})
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise FormatError(f"{path}: not a whole comparison: {error}") from None


def is_trusted(row: Row) -> bool:
    return row.ok and row.gives == "q̈" and row.disagreement is not None and row.disagreement <= TRUST


def facts(model: Model) -> Facts:
    kinds = Counter(joint.type.type_name for joint in model.joints)
    return Facts(
        name=model.name, bodies=len(model.bodies), freedoms=model.nv, coordinates=model.nq, loops=len(model.closing_joints),
        constraints=len(model.constraints), couplings=sum(1 for joint in model.joints if joint.follows),
        forces=len(model.forces), joints=dict(kinds.most_common()),
    )  # fmt: skip


def mechanism(c: Comparison) -> str:
    """9 bodies, 8 degrees of freedom, 1 coupled coordinate."""
    m = c.model
    parts = [plural(m["bodies"], "body", "bodies"), degrees_of_freedom(m["freedoms"])]
    if m["loops"] or m["constraints"]:
        parts[1] += " of the tree"
    further = max(0, m["constraints"] - m["loops"])
    for n, name in ((m["loops"], "closed loop"), (further, "further constraint"), (m["couplings"], "coupled coordinate")):
        parts += [plural(n, name)] if n else []
    parts += [plural(m["forces"], "force")] if m["forces"] else []
    return ", ".join(parts)
