"""How a model is to be simulated, kept with it: what a file says beside the mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

State = Mapping[str, Any] | tuple[float, ...]
STEPS = "steps"


@dataclass(frozen=True)
class SimulationSettings:
    """Arguments of `sharnir.simulate`; None where nothing is said and its default holds. `output="steps"`: every step."""

    duration: float | None = None
    q0: State | None = None
    v0: State | None = None
    t0: float | None = None
    tau: State | None = None
    method: str | None = None
    backend: str | None = None
    integrator: str | None = None
    rtol: float | None = None
    atol: float | tuple[float, ...] | None = None
    step: float | None = None
    max_step: float | None = None
    output: float | str | tuple[float, ...] | None = None
    every: int | None = None
    limits: str | None = None
    stabilisation: str | None = None
    decay: float | tuple[float, ...] | None = None
    balance: bool | None = None
    events: tuple[Any, ...] | None = None

    def arguments(self, **others: Any) -> dict[str, Any]:
        """Keywords for `simulate`; `others` that are not None take precedence."""
        said = {f.name: getattr(self, f.name) for f in fields(self)}
        out = {name: x for name, x in {**said, **{n: x for n, x in others.items() if x is not None}}.items() if x is not None}
        return {**out, "output": None} if out.get("output") == STEPS else out
