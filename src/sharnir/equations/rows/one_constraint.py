"""One constraint as expressions of the motion: rows, rates, derivatives by bodies and speeds; sizes to judge residuals by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import ModelError, StateError, TraceError
from ...kernels.algebra import add, cross, neg
from ...kernels.joint_stage import FREE, SLIDE
from ...model.constraints.closing import ClosingJoint
from ...model.constraints.constraint_element import Constraint
from ...model.forces.layout import WIDTH
from ...model.forces.shape import flow
from ...model.joints.closing_rows import Row
from ...model.motion import ORIGIN, Motion
from ...model.structure import Structure
from ...trace import Graph, Number, Symbol, call_traced, check_numbers, needed, tangent
from ..assembly.least_motion import Rows, of_speeds

UNITS = {"position": "m", "distance": "m", "touching": "m", "slip": "m", "rotation": "rad", "turn": "rad"}
"""Unit of the residual of a row, by the first word of what it forbids."""
FORCES = {"m": "N", "rad": "N m"}
"""Unit of the multiplier of a row, by the unit of its residual."""
WIDE = WIDTH["velocity"]
"""Components of the velocity of a body."""


@dataclass(frozen=True)
class ConstraintRow:
    """A row: the constraint it belongs to, and what it forbids."""

    owner: str
    what: str

    def __str__(self) -> str:
        return f"{self.owner}: {self.what}" if self.what else self.owner

    @property
    def unit(self) -> str:
        """Unit of the residual; empty where it is not known."""
        return UNITS.get(self.what.split(" ")[0], "")

    def amount(self, x: float, order: int) -> str:
        """|x| with its unit, x being a derivative of that order in time: "3 m/s²", or "3 /s²" where the unit is not known."""
        return f"{abs(x):.3g} {self.unit}{('', '/s', '/s²')[order]}".rstrip()


def label_of(name: str, constraint: Constraint) -> str:
    """The name of a constraint in errors."""
    return f"joint {name!r}" if isinstance(constraint, ClosingJoint) else f"constraint {name!r}"


class TracedConstraint:
    """One constraint on symbols: residuals g of its rows of position, and of all its rows

    rate = Σ K_b·(velocity of body b) + Σ C_s·(speed s) + ∂g/∂t                                                     (L21)
    d(rate)/dt = Σ K_b·(true acceleration of body b) + Σ C_s·(rate of speed s) + gamma                              (L22)
    """

    def __init__(self, structure: Structure, graph: Graph, constraint: Constraint, label: str) -> None:
        on = Motion(structure, graph, reads_states=False)
        first = _rows(constraint.positions, on, label)
        of_speed = [x for (kind, _), x in on.inputs.items() if kind in ("v", "velocity")]
        second = _rows(constraint.speeds, on, label)
        if on.wrenches or on.torques:
            raise StateError(f"{label}: a constraint must not apply forces; use add_force for that")
        values = check_numbers([x for _, x in (*first, *second)], graph, label)
        self.graph = graph
        self.first, self.second = [what for what, _ in first], [what for what, _ in second]
        self.g, speeds = values[: len(first)], values[len(first) :]
        if _varies(self.g, of_speed):
            raise ModelError(f"{label}: the residual of a constraint of position must not depend on speeds; use SpeedConstraint")
        self.rate = (*tangent(self.g, list(flow(on, self.g))), *speeds)
        links = {link: x for link, x in self._links(on) if any(map(_is_not_zero, x))}
        self.links = list(links)
        """The motions that the rates depend on, ("velocity", row of a body) and ("v", number of a speed)."""
        self.K = list(links.values())
        """For each of these a block (rows × 6 or rows × 1), row by row."""
        moving = [x for (kind, _), x in on.inputs.items() if kind in ("v", "velocity")]
        for what, k in zip(self.second, range(len(first), len(values)), strict=True):
            if _varies([x for block in self.K for x in row_of(block, k, len(values))], moving):
                raise ModelError(f"{ConstraintRow(label, what)}: a constraint of speeds must be linear in them")
        self.gamma = tangent(self.rate, [*flow(on, self.rate), *_drift(on)])
        wanted = set(needed(graph, self.outputs))
        self.reads = {place: x for place, x in on.inputs.items() if x.index in wanted}

    @property
    def outputs(self) -> list[Number]:
        """g, rate, gamma, K: all numbers one after another."""
        return [*self.g, *self.rate, *self.gamma, *(x for block in self.K for x in block)]

    def _links(self, on: Motion) -> Iterator[tuple[tuple[str, int], list[Number]]]:
        """Bodies, then speeds, each with the derivatives of all rates; the base is prescribed, it is no link."""
        wanted = set(needed(self.graph, self.rate))
        read = {key: x for key, x in on.inputs.items() if x.index in wanted}
        for body in sorted({index // WIDE for kind, index in read if kind == "velocity"} - {0}):
            columns = [self._slopes(read.get(("velocity", WIDE * body + c))) for c in range(WIDE)]
            yield ("velocity", body), [column[k] for k in range(len(self.rate)) for column in columns]
        for speed in sorted(index for kind, index in read if kind == "v"):
            yield ("v", speed), list(self._slopes(read["v", speed]))

    def _slopes(self, x: Symbol | None) -> tuple[Number, ...]:
        return tangent(self.rate, [(x, 1.0)]) if x is not None else (0.0,) * len(self.rate)


def row_of(block: Sequence[Number], k: int, rows: int) -> Sequence[Number]:
    """Row k of a block of so many rows."""
    width = len(block) // rows
    return block[k * width : (k + 1) * width]


def _drift(on: Motion) -> Iterator[tuple[Symbol, Number]]:
    """Rates of the components of velocities where nothing accelerates: they turn with the body. The base does accelerate."""
    for row in sorted({index // WIDE for kind, index in on.inputs if kind == "velocity"}):
        _, u, w = on._motion(row)
        linear, angular = neg(cross(w, u)), ORIGIN
        if not row and on.structure.base is not None:
            acceleration = on._evaluated(on.structure.base, on.t)[18:24]  # where a GIVEN motion has it
            linear, angular = add(linear, acceleration[:3]), acceleration[3:]
        yield from zip((*u, *w), (*linear, *angular), strict=True)


def _is_not_zero(x: Number) -> bool:
    return isinstance(x, Symbol) or x != 0.0


def _varies(values: Sequence[Number], with_: Sequence[Symbol]) -> bool:
    """Whether values depend on any of these symbols, where these change at different rates."""
    return any(map(_is_not_zero, tangent(values, [(x, 1.0 + 0.1 * k) for k, x in enumerate(with_)])))


def _rows(function: Callable[[Motion], Sequence[Row]], on: Motion, label: str) -> list[Row]:
    """The rows of a constraint; a ModelError of sharnir's own is raised without the traceback of the trace."""
    try:
        found = call_traced(function, [on], label)
    except TraceError as error:
        if isinstance(error.__cause__, ModelError):
            raise ModelError(f"{label}: {error.__cause__}") from None
        raise
    rows = list(found) if np.iterable(found) else [found]
    if not all(isinstance(row, (tuple, list)) and len(row) == 2 for row in rows):
        raise ModelError(f"{label}: a constraint class must return rows [(name, residual), …], got {rows!r}")
    return rows


# --- sizes of the terms of constraints: residuals are judged by them, metres by the size of the mechanism, radians by one
SLOWEST = 1e-6
"""Rates, in radians or sizes of the mechanism per second, below which none is judged by itself."""


class Scale:
    """Sizes of rows, coordinates and speeds of one model: arrays with the last axis of what they are asked about."""

    def __init__(self, structure: Structure, constraints: Mapping[str, Constraint], rows: Iterable[ConstraintRow] = ()) -> None:
        j = structure.joints
        slides, floats = (np.flatnonzero((j.kind == kind) & (j.coordinates > 0)) for kind in (SLIDE, FREE))
        self.lengths, self.shifts = np.zeros(structure.nq, dtype=bool), np.zeros(structure.nv, dtype=bool)
        for marks, at in ((self.lengths, j.q_at), (self.shifts, j.v_at)):
            marks[at[slides]] = True
            marks[at[floats][:, None] + np.arange(3)] = True
        step = np.concatenate([[0.0], np.cumsum(np.linalg.norm(j.rho, axis=1))])
        reach = np.diff(step[j.start]).tolist()
        for i, k in enumerate(structure.carrier.tolist()[1:], start=1):
            reach[i] += reach[k]
        ends = [pose for x in constraints.values() if isinstance(x, ClosingJoint) for pose in (x.at, x.child_at)]
        numbers = [x for pose in ends for x in pose.position if isinstance(x, (int, float))]
        self.length = float(np.abs([*reach, *numbers]).max(initial=0.0))
        """Reach of the mechanism from the ground but for its slides, m."""
        self.units = np.array([row.unit for row in rows], dtype="U3")

    def metres(self, q: np.ndarray) -> np.ndarray:
        """(…,): the size of the mechanism; 1 where all is in one point."""
        size = np.maximum(self.length, np.abs(q[..., self.lengths]).max(axis=-1, initial=0.0))
        return np.where(size > 0.0, size, 1.0)

    def of_rows(self, q: np.ndarray, J: Rows | None = None) -> np.ndarray:
        """(…, rows): of all constraints, or of the rows of J, whose lever arms count too; beyond the constraints these are
        coordinates that are lengths."""
        units, metres = self.units, self.metres(q)
        turns = np.maximum(1.0, np.abs(q[..., ~self.lengths]).max(axis=-1, initial=0.0))
        sizes = {"m": metres, "rad": turns, "": np.maximum(turns, metres)}
        if J is not None:
            n = J.shape[-2]
            units = np.append(units, np.full(max(n - len(units), 0), "m"))[:n]
            turning = of_speeds(J, ~self.shifts)
            found = abs(turning).max(axis=-1) if J.shape[-1] else np.zeros(J.shape[:-1])
            arms = found if isinstance(found, np.ndarray) else found.toarray().ravel()
            sizes = {unit: np.maximum(x, arms[..., units == unit].max(axis=-1, initial=0.0)) for unit, x in sizes.items()}
        out = np.empty((*q.shape[:-1], len(units)))
        for unit, x in sizes.items():
            out[..., units == unit] = x[..., None]
        return out

    def of_coordinates(self, q: np.ndarray) -> np.ndarray:
        """(…, nq): metres by the mechanism, everything else by the largest, at least 1."""
        rest = np.maximum(1.0, np.abs(q[..., ~self.lengths]).max(axis=-1, initial=0.0))
        return np.where(self.lengths, self.metres(q)[..., None], rest[..., None])

    def of_speeds(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(…, nv): the fastest in radians and sizes of the mechanism per second, at least `SLOWEST`, in units of each."""
        unit = np.where(self.shifts, self.metres(q)[..., None], 1.0)
        return np.asarray(unit * np.abs(v / unit).max(axis=-1, keepdims=True, initial=SLOWEST))

    def of_rates(self, q: np.ndarray, v: np.ndarray, J: Rows) -> np.ndarray:
        """(…, rows): of the rates of all constraints at speeds v."""
        unit = np.where(self.shifts, self.metres(q)[..., None], 1.0)
        return np.asarray(self.of_rows(q, J) * np.abs(v / unit).max(axis=-1, keepdims=True, initial=SLOWEST))

    def of_accelerations(self, q: np.ndarray, gamma: np.ndarray, J: Rows) -> np.ndarray:
        """(…, rows): of γ."""
        size = self.of_rows(q, J)
        return np.asarray(size * np.abs(gamma / size).max(axis=-1, keepdims=True, initial=SLOWEST))
