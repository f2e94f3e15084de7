"""One line of a comparison: a method on a backend, and everything that was measured of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..backends.counting import Count

OK = "ok"
NOT_APPLICABLE = "not applicable"
"""The method has no place for something in the model, or the backend none for the method."""
TOO_LARGE = "too large"
"""It would work, after a compilation longer than was asked for."""
FAILED = "failed"
NOT_TRIED = "not tried"
"""Interrupted, or the seconds granted were over."""


@dataclass(frozen=True)
class Spread:
    """Seconds per evaluation, over the turns a contender took."""

    turns: int
    least: float
    quarter: float
    """A quarter of the turns were quicker."""
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
    """Accelerations, or ṗ where the method has none."""
    iterates: bool = False
    status: str = NOT_TRIED
    reason: str = ""
    """Why the status is not "ok": the error, or what is in the way."""
    disagreement: float | None = None
    """Largest difference from the oracle over all states, relative to the largest number in that state."""
    written: Count | None = None
    compiled: Count | None = None
    single: Spread | None = None
    batch: Spread | None = None
    """Per state of a batch of `batch_size`."""
    batch_size: int = 0
    compile_single: float | None = None
    """Seconds from an empty cache to the first answer; None where nothing is compiled, or the code was kept from before."""
    compile_batch: float | None = None
    """Seconds more to the first batch."""
    code_bytes: int | None = None
    """Object code, for one state and for batches together; None where there is none."""
    work_bytes: int | None = None
    """Arrays kept between calls, and the most that one more evaluation allocates (as tracemalloc sees it)."""
    auto: bool = False
    """What method="auto" and backend="auto" give."""
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return self.status == OK

    @property
    def label(self) -> str:
        return f"{self.method} · {self.backend}"

    def time(self, kind: str) -> float | None:
        """Least seconds per evaluation: of one state ("single") or per state of a batch ("batch")."""
        spread: Spread | None = getattr(self, kind)
        return None if spread is None else spread.least

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Row:
        parts: dict[str, Any] = {"single": Spread, "batch": Spread, "written": Count, "compiled": Count}
        made = {name: kind(**data[name]) for name, kind in parts.items() if data.get(name) is not None}
        return cls(**{**data, **made})
