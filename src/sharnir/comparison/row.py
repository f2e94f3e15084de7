"""One row of a comparison: a method on a backend, and everything that was measured of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..backends.counting import Count
from ..errors import MethodError, brief

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
