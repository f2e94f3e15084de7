"""The retraction q ⊕ δ: the coordinates after a motion with constant speeds δ for unit time; and its inverse, q₁ ⊖ q₀.

Coordinates add; quaternions and free joints move by the exponential. Joints given by constraints move along N δ and are put
back onto them. `moved_rows` is all of it, on floats and on symbols, and all that moves coordinates calls it or the code made of
it: assembly, projection, partitioning, inverse kinematics, equilibrium. To first order it is q + N(q) δ, `displacement`: the
rates of the coordinates are affine in the speeds, q̇ = N(q) v + n(q, t), and N δ is the difference of the rates at δ and at rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...backends.graph_function import GraphFunction
from ...dialect.cache import Cache
from ...dialect.native import Native
from ...errors import NOT_A_NUMBER, StateError, brief
from ...kernels.joint_stage import BALL, FREE, GIVEN
from ...model.joints import Joint
from ...model.model import Model
from ...model.per_structure import per_structure
from ...model.states import check_finite, check_quaternions
from ...model.structure import Structure
from ...trace import Graph, Number
from ...types import FloatArray, IntArray, State, real_array
from ..assembly import exponential
from ..rows.evaluation import evaluate, new_inputs
from .native_arrays import native_add
from .normalization import START_TOLERANCE, settled

THREE, FOUR, SEVEN = np.arange(3), np.arange(4), np.arange(7)
MAX_ITERATIONS = 50
CLOSE = 1e-12
"""Tolerance of a difference of constraint joints where rounding stops the iteration."""


def displacement(
    structure: Structure, q: Sequence[Number], delta: Sequence[Number], t: Sequence[Number], dtype: type = object
) -> list[Number]:
    """N(q) δ on generic scalars."""
    if not len(structure.quaternions):  # every coordinate has its own speed: N is the identity
        return list(delta)
    moving, at_rest = (evaluate(structure, "rates", {"q": q, "v": v, "t": t}, dtype).rate for v in (delta, [0.0] * structure.nv))
    return [x - y for x, y in zip(moving.tolist(), at_rest.tolist(), strict=True)]


def native_displacement(
    structure: Structure, at: Mapping[str, np.ndarray], delta: np.ndarray, dq: np.ndarray, store: Cache
) -> Native:
    """`dq` from `delta` at the state in the arrays `at` (q, t), as straight-line code."""
    inputs = new_inputs(Graph(), q=structure.nq, delta=structure.nv, t=1)
    outputs = {"dq": displacement(structure, inputs["q"], inputs["delta"], inputs["t"])}
    return GraphFunction.of(inputs, outputs, store).bind({**at, "delta": delta, "dq": dq})


def retract(model: Model, q: np.ndarray, delta: np.ndarray, t: Number) -> np.ndarray:
    """q ⊕ δ of one state: floats, or symbols of one graph."""
    return moved_rows(model, q, delta, t)


def native_retract(model: Model, at: Mapping[str, np.ndarray], delta: np.ndarray, store: Cache, pairs: bool = False) -> Native:
    """The same as native code, in place: the coordinates at["q"] at the time at["t"] move by `delta`. `pairs`: of numbers."""
    s = model.structure
    if not len(s.quaternions):  # every coordinate adds: a loop that is the same for all models
        places, speeds = layout(s).adding
        assert np.array_equal(places, speeds)
        return native_add(delta, places, at["q"], store, pairs)
    inputs = new_inputs(Graph(), q=s.nq, delta=s.nv, t=1)
    q, small = (np.array(inputs[name], dtype=object) for name in ("q", "delta"))
    moved = GraphFunction.of(inputs, {"x": retract(model, q, small, inputs["t"][0])}, store)
    return moved.bind({**at, "delta": delta, "x": at["q"]}, pairs=pairs)


def integrate(model: Model, q: State, dv: State, t: float) -> FloatArray:
    """`Model.integrate`."""
    rows, single = _rows(model, q, "q")
    deltas, one = _rows(model, dv, "dv")
    n = _together(rows, deltas, "q", "dv")
    out = moved_rows(model, np.repeat(rows, n // max(len(rows), 1), axis=0), deltas, _time(t))
    return out[0] if single and one else out


def difference(model: Model, q0: State, q1: State, t: float) -> FloatArray:
    """`Model.difference`."""
    rows, single = _rows(model, q0, "q0")
    others, one = _rows(model, q1, "q1")
    n = _together(rows, others, "q0", "q1")
    out = difference_rows(model, np.repeat(rows, n // max(len(rows), 1), axis=0), others, _time(t))
    return out[0] if single and one else out


# --- rows of states -----------------------------------------------------------------------------------------------------------
class Layout(NamedTuple):
    """Places in q and v of the coordinates and speeds of each kind of motion."""

    adding: tuple[IntArray, IntArray]
    balls: tuple[IntArray, IntArray]
    free: tuple[IntArray, IntArray]
    constrained: tuple[int, ...]
    """Joints with motions given by constraints."""


@per_structure
def layout(s: Structure) -> Layout:
    """The layout of a model's state."""
    j = s.joints
    own = j.coordinates > 0
    adds = own & (j.kind != BALL) & (j.kind != FREE) & (j.coordinates == j.axes)
    counts = j.axes[adds]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    balls, free = (np.flatnonzero(own & (j.kind == kind)) for kind in (BALL, FREE))
    given = np.flatnonzero(own & (j.kind == GIVEN) & (j.coordinates != j.axes))
    return Layout(
        (np.repeat(j.q_at[adds], counts) + within, np.repeat(j.v_at[adds], counts) + within),
        (j.q_at[balls], j.v_at[balls]),
        (j.q_at[free], j.v_at[free]),
        tuple(sorted({int(np.searchsorted(j.start, k, side="right")) - 2 for k in given.tolist()})),
    )


def moved_rows(model: Model, q: np.ndarray, delta: np.ndarray, t: Number) -> np.ndarray:
    """q ⊕ δ of a state (nq,), or of rows of states: q (n, nq), δ (n, nv) or (1, nv), floats, or symbols of one graph."""
    s, dtype = model.structure, object if q.dtype == object else float
    out = np.array(q, dtype=dtype)
    where = layout(s)
    at, of = where.adding
    out[..., at] += delta[..., of]
    if not len(s.quaternions):  # nothing else: not worth the arithmetic on empty arrays
        return out
    at, of = (x[:, None] for x in where.balls)
    turns = exponential.product(out[..., at + FOUR], exponential.turn_of(delta[..., of + THREE]))
    out[..., at + FOUR] = exponential.unit(turns)
    at, of = (x[:, None] for x in where.free)
    u, omega, turn = delta[..., of + THREE], delta[..., of + 3 + THREE], exponential.unit(out[..., at + 3 + FOUR])
    out[..., at + THREE] += exponential.rotated(turn, exponential.shift_of(omega, u))
    out[..., at + 3 + FOUR] = exponential.unit(exponential.product(turn, exponential.turn_of(omega)))
    if where.constrained:
        starts, deltas = np.atleast_2d(q), np.broadcast_to(delta, (*q.shape[:-1], s.nv)).reshape(-1, s.nv)
        for row, start, d in zip(np.atleast_2d(out), starts, deltas, strict=True):
            dq = displacement(s, start.tolist(), d.tolist(), [t], dtype)
            for i in where.constrained:
                part = slice(int(s.q_first[i + 1]), int(s.q_first[i + 2]))
                row[part] = _onto_constraints(s.placed[i].type, start[part] + np.array(dq[part], dtype=dtype), t)
    return out


def difference_rows(model: Model, q0: np.ndarray, q1: np.ndarray, t: float) -> np.ndarray:
    """δ (n, nv) with q₀ ⊕ δ = q₁, up to the signs of quaternions; q₀ (n, nq), q₁ (n, nq) or (1, nq)."""
    s = model.structure
    where, q1, out = layout(s), np.broadcast_to(q1, q0.shape), np.zeros((len(q0), s.nv))
    at, of = where.adding
    out[:, of] = q1[:, at] - q0[:, at]
    at, of = (x[:, None] for x in where.balls)
    out[:, of + THREE] = _turn_between(q0[:, at + FOUR], q1[:, at + FOUR])
    at, of = (x[:, None] for x in where.free)
    out[:, of + THREE], out[:, of + 3 + THREE] = _motion_between(q0[:, at + SEVEN], q1[:, at + SEVEN])
    for row, start, end in zip(out, q0, q1, strict=True) if where.constrained else ():
        _difference_of_constrained(model, where.constrained, row, start, end, t)
    return out


def _turn_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return exponential.angle_of(exponential.product(exponential.conjugate(exponential.unit(a)), exponential.unit(b)))


def _motion_between(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """u, ω of the motion from a to b, each position and quaternion."""
    omega = _turn_between(a[..., 3:], b[..., 3:])
    back = exponential.conjugate(exponential.unit(a[..., 3:]))
    return exponential.velocity_of(omega, exponential.rotated(back, b[..., :3] - a[..., :3])), omega


def _onto_constraints(joint: Joint, q: np.ndarray, t: Number) -> np.ndarray:
    """Floats until they settle, however far they have moved; symbols stand for small motions, and are normalized once."""

    def normalized(q: np.ndarray) -> np.ndarray:
        return np.array(joint.normalize(q.tolist(), t), dtype=q.dtype)

    return normalized(q) if q.dtype == object else settled(normalized, q)


def _difference_of_constrained(
    model: Model, joints: Sequence[int], row: np.ndarray, start: np.ndarray, end: np.ndarray, t: float
) -> None:
    """The difference by iteration with N at the start: exact where both positions are on the constraints and not far apart."""
    s = model.structure
    of = np.concatenate([np.arange(s.nv)[model.v_slice(s.placed[i].name)] for i in joints])
    at = np.concatenate([np.arange(s.nq)[model.q_slice(s.placed[i].name)] for i in joints])
    quaternions = np.intersect1d(s.quaternions, at)
    units = np.eye(s.nv)[of].tolist()
    N = np.array([displacement(s, start.tolist(), unit, [t], float) for unit in units]).T[at]
    row[of], least = 0.0, np.inf
    for _ in range(MAX_ITERATIONS):
        here = moved_rows(model, start[None], row[None], t)[0]
        goal = end.copy()
        for k in quaternions.tolist():  # of the two that mean the same turn, the nearer
            goal[k : k + 4] = exponential.unit(goal[k : k + 4]) * (1.0 if here[k : k + 4] @ goal[k : k + 4] >= 0.0 else -1.0)
        left = goal[at] - here[at]
        size = float(np.abs(left).max())
        if size <= START_TOLERANCE * (1.0 + float(np.abs(goal[at]).max())) or (size < CLOSE and size > 0.5 * least):
            return
        least = min(least, size)
        row[of] += np.linalg.lstsq(N, left, rcond=None)[0]
    names = ", ".join(repr(s.placed[i].name) for i in joints)
    raise StateError(
        f"difference: no motion at constant speeds of {names}, given by constraints, leads from q0 to q1: "
        f"{size:.3g} is left; give positions on the constraints, nearer to each other"
    )


# --- arguments ----------------------------------------------------------------------------------------------------------------
def _rows(model: Model, x: State, what: str) -> tuple[np.ndarray, bool]:
    """Coordinates (q…) or speeds as rows, checked, and whether it is one state."""
    is_q = what.startswith("q")
    if x is None or isinstance(x, Mapping):
        x = model.coordinates(x) if is_q else model.speeds(x)
    n, a = model.nq if is_q else model.nv, real_array(x, what)
    if a.ndim not in (1, 2) or a.shape[-1] != n:
        raise StateError(f"{what}: expected ({n},) or (B, {n}), got {a.shape}")
    rows = np.atleast_2d(a)
    for row in rows[~np.isfinite(rows).all(axis=1)]:
        check_finite(row, lambda: model.q_names if is_q else model.v_names, what)
    if is_q and len(model.structure.quaternions):
        turns = rows[:, model.structure.quaternions[:, None] + FOUR]
        for row in rows[(turns == 0.0).all(axis=2).any(axis=1)]:
            check_quaternions(model, row)
    return rows, a.ndim == 1


def _together(a: np.ndarray, b: np.ndarray, *names: str) -> int:
    if len(a) != len(b) and 1 not in (len(a), len(b)):
        raise StateError(f"batches of different sizes ({names[0]}: {len(a)}, {names[1]}: {len(b)})")
    return len(b) if len(a) == 1 else len(a)


def _time(t: float) -> float:
    try:
        return float(t)
    except NOT_A_NUMBER:
        raise StateError(f"t: expected a number, got {brief(t)}") from None
