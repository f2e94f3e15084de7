"""Inverse kinematics: the coordinates that bring frames and points to where they should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dynamics import Dynamics
from ..equations.assembly.loop_closure import Closure, not_closed
from ..equations.rows.constraint_table import table_of
from ..errors import UnreachableError, suggesting
from ..model.model import Model
from ..model.states import check_model, check_state
from ..reporting.formats import plural
from ..types import State, random_generator, truth
from .arguments import SHOWN, first_lines, positive, speeds_of, whole, with_values
from .limits import Limits, closed_starts, random_start
from .reaching import Goal, Place, Reached, Search, Target, read_targets


@dataclass(frozen=True, repr=False)
class InverseKinematics:
    """The result of `inverse_kinematics`: a position that meets the targets, or the best one found."""

    model: Model
    q: np.ndarray
    reached: bool
    position_errors: dict[str, float]
    """m, by target; 0 where its position does not count."""
    rotation_errors: dict[str, float]
    """rad, by target; 0 where its rotation does not count."""
    constraint_residual: float
    """The largest residual of the constraints, m and rad."""
    at_limit: tuple[str, ...]
    """Coordinates that stand on a limit."""
    iterations: int
    starts: int
    """Positions the search began from."""
    tolerance: float

    def summary(self) -> str:
        """A few lines of text: what was met, and what was not."""
        names = self.model.q_names
        lines = [f"{self.model.name}: {self.message}"]
        for name, off in self.position_errors.items():
            lines.append(f"  {name}: position off by {off:.3g} m, rotation by {self.rotation_errors[name]:.3g} rad")
        if self.constraint_residual or self.model.constraints:
            lines.append(f"  constraints satisfied to {self.constraint_residual:.2g}")
        if self.at_limit:
            lines.append(f"  at a limit: {', '.join(self.at_limit)}")
        lines.append(f"  {plural(self.iterations, 'iteration')} from {plural(self.starts, 'start')}")
        return "\n".join([*lines, *first_lines(names, self.q, max(map(len, names[:SHOWN]), default=0))])

    @property
    def message(self) -> str:
        """One sentence: "all targets reached", or which were not and by how much."""
        if self.reached:
            return "all targets reached"
        missed = []
        for name, off in self.position_errors.items():
            parts = [f"stays {off:.3g} m short"] * (off > self.tolerance)
            turn = self.rotation_errors[name]
            parts += [f"stays turned by {turn:.3g} rad"] * (turn > self.tolerance)
            missed += [f"{name!r} {' and '.join(parts)}"] * bool(parts)
        stops = f"; joints at limit: {', '.join(self.at_limit)}" if self.at_limit else ""
        return "; ".join(missed) + stops

    def __repr__(self) -> str:
        return f"<InverseKinematics of {self.model.name!r}: {self.message}>"


@suggesting
def inverse_kinematics(
    model: Model,
    targets: Mapping[Place, Goal],
    start: State = None,
    *,
    fixed: Sequence[str] = (),
    limits: bool = True,
    weights: Any = None,
    t: float = 0.0,
    starts: int = 30,
    seed: int | np.random.Generator = 0,
    tolerance: float = 1e-6,
    must_reach: bool = False,
    parameters: Mapping[str, float] | None = None,
) -> InverseKinematics:
    """Coordinates that bring frames, bodies or points of them to their targets; the nearest ones to `start` nearby.

    targets     {frame or body: Pose, Rotation, or position (3,) with None for what may be anything}; for a point
                {(frame or body, point): …}
    start       coordinates, an array or {joint: value}; neutral by default, closed and moved within the limits first
    fixed       joints that hold their values; flexible bodies stay as they are deformed
    limits      whether limits of joints are respected
    weights     one, or {target: weight}, each a number or (of position, of rotation); they matter where not all can be met
    starts      how many positions to search from: the start, then random ones (by `seed`)
    tolerance   m and rad: a target counts as reached below it
    parameters  {name: value} of the model; the rest as the model has them
    must_reach  raise an UnreachableError, with the best position found, instead of returning it
    """
    model = with_values(check_model(model, "inverse_kinematics"), parameters)
    elastic = [model.joints[d.row - 1].name for d in model.structure.deformations.values()]
    free = ~(speeds_of(model, fixed, "fixed") | speeds_of(model, elastic, "fixed"))
    wanted = read_targets(model, targets, weights)
    q0, _, t = check_state(model, start, None, t)
    tolerance, starts, rng = positive(tolerance, "tolerance"), whole(starts, "starts"), random_generator(seed)
    limits, must_reach = truth(limits, "limits"), truth(must_reach, "must_reach")
    d = Dynamics(model)
    table = table_of(model) if model.constraints else None
    search = Search(d, table, wanted, free, Limits(model, limits), t)
    first = search.allowed(q0)
    best, tried = _best(search, q0, first, starts, rng, tolerance)
    if best is None:
        assert table is not None
        end = Closure(model, table, t, free).close(search.limits.clipped(q0, free))
        if not end.closed:
            raise not_closed(model, table, end)
        what = "no closed position within the limits of the joints was found"
        raise UnreachableError(f"{what}; give a start nearer to one, or limits=False")
    if _is_reached(search, best.q, tolerance):
        best = search.slide(best, q0 if first is None else first, min(tolerance, 1e-9))
    found = _result(search, best, tried, tolerance)
    if must_reach and not found.reached:
        advice = "move the target, free more joints, or give a start nearer to a solution"
        raise UnreachableError(f"{found.message}; {advice}. The best position found is in `error.result`", found)
    return found


def _best(
    search: Search, q0: np.ndarray, first: np.ndarray | None, starts: int, rng: np.random.Generator, tolerance: float
) -> tuple[Reached | None, int]:
    """The first position that meets all targets, or the nearest to them; and how many starts were tried."""

    def closed(k: int) -> np.ndarray | None:
        return search.allowed(random_start(search.model, q0, search.free, search.limits, rng)) if k else first

    best: Reached | None = None
    spent = 0
    for k, q in closed_starts(closed, starts):
        found = search.descend(search.at(q, spent))
        spent = found.iterations
        if best is None or found.cost < best.cost:
            best = found
        if _is_reached(search, found.q, tolerance):
            return found, k + 1
    return None if best is None else Reached(best.q, best.r, best.J, spent), starts


def _errors(search: Search, q: np.ndarray) -> list[tuple[Target, float, float]]:
    missed = [(target, target.misses(search.d, q, search.t)) for target in search.targets]
    return [(target, float(np.linalg.norm(off)), float(np.linalg.norm(turn))) for target, (off, turn) in missed]


def _is_reached(search: Search, q: np.ndarray, tolerance: float) -> bool:
    return all(off <= tolerance and turn <= tolerance for _, off, turn in _errors(search, q))


def _result(search: Search, best: Reached, starts: int, tolerance: float) -> InverseKinematics:
    model, errors = search.model, _errors(search, best.q)
    residual = 0.0
    if search.table is not None:
        now = search.table.evaluate(best.q, np.zeros(model.nv), search.t)
        residual = float(np.abs(now["g"]).max(initial=0.0))
    on = search.limits.on(best.q)
    off, turn = ({target.name: found[k] for target, *found in errors} for k in (0, 1))
    at_limit = tuple(name for name, side in zip(model.v_names, on, strict=True) if side)
    reached = _is_reached(search, best.q, tolerance)
    return InverseKinematics(model, best.q, reached, off, turn, residual, at_limit, best.iterations, starts, tolerance)
