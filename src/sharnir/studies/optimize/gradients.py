"""Derivatives of outputs by inputs: from the sensitivities of one run, or from differences of runs.

A run with sensitivities knows how its motion changes with an input, dq/dx and dv/dx, exactly. How an output changes with the
motion is differenced: it is computed for the motions q ± ε dq/dx, v ± ε dv/dx, parameters ± ε, and nothing is simulated again.
What has no derivative along with the motion (work, states of forces, joint forces of a law, times of events) is nan in these
motions, or refuses to be read; the derivative of an output that depends on it is nan, and is taken from differences of runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...backends.differentiated import displacement
from ...equations.motion.retraction import normalized_rows
from ...model.model import Model
from ...simulation.results.result import Result
from ..compute.outputs import outputs_of
from ..design.inputs import PARAMETER, Inputs
from .problem import Quantity

STEP = 1e-5
"""Relative perturbation of a motion: about the third root of the rounding error."""
SHARE = 1e-3
"""Share of the change over the whole range of an input by which motions are moved that are smaller than this themselves."""
APART = 3e-4
"""Distance of runs whose difference is taken, relative to the bounds: runs are exact to 1e-8 or so, differences to less."""
GRADIENT = "derivatives of the outputs"
"""The output that holds them."""


def sensitivity_names(inputs: Inputs) -> dict[str, str]:
    """Inputs by which `simulate` has sensitivities: {input: its name there}."""
    return {
        name: entry if argument == PARAMETER else f"{argument}.{entry}"
        for name, (argument, entry) in inputs.places.items()
        if argument == PARAMETER or (argument == "v0" and entry) or (argument == "q0" and _is_displacement(inputs.model, entry))
    }


def _is_displacement(model: Model, coordinate: str) -> bool:
    """Whether a sensitivity by q0, which is along a speed, is by this coordinate: only it changes with the speed of its name."""
    if coordinate not in model.v_names:
        return False
    unit = np.zeros(model.nv)
    unit[model.v_names.index(coordinate)] = 1.0
    moved = np.zeros(model.nq)
    moved[model.q_names.index(coordinate)] = 1.0
    q = model.random_q(np.random.default_rng(0))
    return bool(np.allclose(displacement(model.structure, q.tolist(), unit.tolist(), [0.0], float), moved, atol=1e-12))


def with_sensitivities(run: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Arguments of `simulate` for a run that may be one of `rollout`: the same rows."""
    out = {name: x for name, x in run.items() if name not in ("dt", "steps")}
    step = run.get("step", run.get("dt"))
    if step is not None:
        out = {"integrator": "rk4", **out, "step": step}
        out.setdefault("duration", run.get("steps", 0) * step)
        out.setdefault("output", None)
    return {**out, "sensitivities": tuple(names)}


class NoDerivative(Exception):
    """An output looks at something that has no derivative along with the motion."""


class _Unknown:
    """Placeholder for parts of a result that are unknown for a moved motion."""

    def _refuse(self, *_: Any) -> Any:
        raise NoDerivative

    __getattr__ = __getitem__ = __iter__ = __len__ = __bool__ = __contains__ = __eq__ = _refuse
    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Gradient:
    """A function of a `Result`: (numbers of all outputs, inputs), derivatives by inputs scaled by `ranges`; nan where unknown."""

    outputs: Mapping[str, Quantity]
    names: tuple[str | None, ...]
    """Names of the sensitivities, one for each input; None where there is none."""
    ranges: tuple[float, ...]
    events: tuple[str, ...]

    def __call__(self, r: Result) -> np.ndarray:
        every = outputs_of(r.model, dict(self.outputs), self.events)
        size = sum(output.of_one(r).size for output in every)
        out = np.full((size, len(self.names)), np.nan)
        if r.status != "done":  # where a run stops at an event, its end moves too
            return out
        for k, (name, scale) in enumerate(zip(self.names, self.ranges, strict=True)):
            if name is None:
                continue
            step = _step(r, name, scale)
            ahead, behind = (moved(r, name, way * step) for way in (1.0, -1.0))
            at = 0
            for output in every:
                try:
                    with np.errstate(invalid="ignore"):
                        change = (output.of_one(ahead) - output.of_one(behind)).ravel()
                    out[at : at + len(change), k] = change * (scale / (2.0 * step))
                    at += len(change)
                except Exception:  # of a user's function too: differences of runs will tell
                    at += output.of_one(r).size
        return out


def _step(r: Result, name: str, whole: float) -> float:
    """Step of an input of range `whole` that moves nothing by more than a small share of its size, or of what the range does."""
    s, j = r.sensitivity(name), _parameter(r, name)
    parts = [(s.q, r.q), (s.v, r.v)] + ([] if j is None else [(np.ones(1), r.parameters[:, j])])
    sizes = [(float(np.abs(rate).max(initial=0.0)), float(np.abs(x).max(initial=0.0))) for rate, x in parts]
    return STEP * min((max(x / rate, SHARE * whole) for rate, x in sizes if rate > 0.0), default=whole)


def _parameter(r: Result, name: str) -> int | None:
    return list(r.model.parameters).index(name) if name in r.model.parameters else None


def moved(r: Result, name: str, step: float) -> Result:
    """The motion for an input that is larger by a small step, to first order."""
    s, j = r.sensitivity(name), _parameter(r, name)
    parameters = r.parameters
    if j is not None:
        parameters = parameters.copy()
        parameters[:, j] += step
    known = {f.name: getattr(r, f.name) for f in fields(r)}
    tau = r.tau if r.tau.ndim == 1 else np.full_like(r.tau, np.nan)
    hidden = {name: _Unknown() for name in ("events", "control", "impacts", "start")}
    changed = {
        "q": normalized_rows(r.model, r.q + step * s.q, r.t), "v": r.v + step * s.v, "parameters": parameters, "tau": tau,
        "work_done": np.full_like(r.work_done, np.nan), "state_values": np.full_like(r.state_values, np.nan),
    }  # fmt: skip
    return Result(**{**known, **changed, **hidden})


# --- differences of runs ------------------------------------------------------------------------------------------------------
def stencil(u: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    """Offsets (columns, 2) from u (0 … 1) of two more runs for each input: on both sides of it, on one side near a bound."""
    out = []
    for k in columns:
        low, high = u[k] - APART < 0.0, u[k] + APART > 1.0
        out.append((APART, 2 * APART) if low else (-APART, -2 * APART) if high else (APART, -APART))
    return np.array(out).reshape(len(columns), 2)


def slope(f: np.ndarray, offsets: np.ndarray, others: Sequence[np.ndarray | None]) -> np.ndarray:
    """f' from f and its values at two offsets, by the parabola through the three, or a line where one of the runs failed."""
    there: Iterator[tuple[float, np.ndarray]] = ((float(h), g) for h, g in zip(offsets, others, strict=True) if g is not None)
    known = list(there)
    if len(known) < 2:
        return (known[0][1] - f) / known[0][0] if known else np.zeros_like(f)
    (a, fa), (b, fb) = known
    found: np.ndarray = (fa - f) * (b / (a * (b - a))) - (fb - f) * (a / (b * (b - a)))
    return found
