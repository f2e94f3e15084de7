"""The retraction q ⊕ δ, a motion with constant speeds δ for unit time; its inverse q₁ ⊖ q₀; redundant coordinates normalized.

Coordinates add; quaternions and free joints move by the exponential. Joints given by constraints move along N δ and are put
back onto them. `retract` is all of it, on floats and on symbols, and all that moves coordinates calls it or the code made of
it: assembly, projection, partitioning, inverse kinematics, equilibrium. To first order it is q + N(q) δ, `displacement`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...backends.differentiated import displacement, displacements
from ...backends.graph_function import GraphFunction
from ...backends.grouped import native_add
from ...backends.traced import new_inputs
from ...dialect.cache import Cache
from ...dialect.jit import host_lanes
from ...dialect.native import Native, bind_kernel
from ...errors import NOT_A_NUMBER, StateError, brief
from ...kernels.joint_stage import BALL, FREE, GIVEN
from ...kernels.quaternions import Quaternions, normalize_quaternions
from ...model.joints import Joint
from ...model.model import Model
from ...model.per_structure import per_structure
from ...model.states import check_finite, check_quaternions
from ...model.structure import Structure
from ...trace import Graph, Number
from ...types import FloatArray, IntArray, State, real_array
from ..assembly import exponential

THREE, FOUR = np.arange(3), np.arange(4)
MAX_ITERATIONS = 50
CLOSE = 1e-12
"""Tolerance of a difference of constraint joints where rounding stops the iteration."""


def native_displacement(
    structure: Structure, at: Mapping[str, np.ndarray], delta: np.ndarray, dq: np.ndarray, store: Cache
) -> Native:
    """`dq` from `delta` at the state in the arrays `at` (q, t), as straight-line code."""
    inputs = new_inputs(Graph(), q=structure.nq, delta=structure.nv, t=1)
    outputs = {"dq": displacement(structure, inputs["q"], inputs["delta"], inputs["t"])}
    return GraphFunction.of(inputs, outputs, store).bind({**at, "delta": delta, "dq": dq})


def native_retract(model: Model, at: Mapping[str, np.ndarray], delta: np.ndarray, store: Cache, pairs: bool = False) -> Native:
    """`retract` as native code, in place: the coordinates at["q"] at the time at["t"] move by `delta`. `pairs`: of numbers."""
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
    return _on_rows(model, retract, {"q": q, "dv": dv}, t)


def difference(model: Model, q0: State, q1: State, t: float) -> FloatArray:
    """`Model.difference`."""
    return _on_rows(model, difference_rows, {"q0": q0, "q1": q1}, t)


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


def retract(model: Model, q: np.ndarray, delta: np.ndarray, t: Number) -> np.ndarray:
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
    omega = _turn_between(q0[:, at + 3 + FOUR], q1[:, at + 3 + FOUR])
    back = exponential.conjugate(exponential.unit(q0[:, at + 3 + FOUR]))
    shift = exponential.rotated(back, q1[:, at + THREE] - q0[:, at + THREE])
    out[:, of + THREE], out[:, of + 3 + THREE] = exponential.velocity_of(omega, shift), omega
    for row, start, end in zip(out, q0, q1, strict=True) if where.constrained else ():
        _difference_of_constrained(model, where.constrained, row, start, end, t)
    return out


def _turn_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return exponential.angle_of(exponential.product(exponential.conjugate(exponential.unit(a)), exponential.unit(b)))


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
    N = np.array(displacements(s, start.tolist(), units, [t], float)).T[at]
    row[of], least = 0.0, np.inf
    for _ in range(MAX_ITERATIONS):
        here = retract(model, start[None], row[None], t)[0]
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
def _on_rows(
    model: Model, function: Callable[[Model, np.ndarray, np.ndarray, float], np.ndarray], given: Mapping[str, State], t: float
) -> FloatArray:
    """function(model, rows, rows, t) of two arguments, each one state or a batch."""
    (a, single), (b, one) = (_rows(model, x, what) for what, x in given.items())
    if len(a) != len(b) and 1 not in (len(a), len(b)):
        sizes = ", ".join(f"{what}: {len(x)}" for what, x in zip(given, (a, b), strict=True))
        raise StateError(f"batches of different sizes ({sizes})")
    try:
        t = float(t)
    except NOT_A_NUMBER:
        raise StateError(f"t: expected a number, got {brief(t)}") from None
    out = function(model, np.repeat(a, len(b), axis=0) if len(a) == 1 else a, b, t)
    return out[0] if single and one else out


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


# --- redundant coordinates after a step of an integrator: quaternions of unit length, constraint joints on their constraints
START_ITERATIONS = 30
START_TOLERANCE = 1e-14
"""Change of a coordinate in an iteration, absolute and relative, below which a start is on its constraints."""


def is_redundant(model: Model) -> bool:
    return bool(len(model.structure.quaternions))


def normalize(model: Model, q: Sequence[Number], t: Number) -> list[Number]:
    """The coordinates of one state normalized joint by joint, on generic scalars."""
    s, out = model.structure, list(q)
    with_quaternions = np.array([bool(joint.quaternions()) for joint in s.types])
    for i in np.flatnonzero(with_quaternions[s.type_of]).tolist():
        where = slice(int(s.q_first[i + 1]), int(s.q_first[i + 2]))
        out[where] = s.placed[i].type.normalize(out[where], t)
    return out


def native_normalize(model: Model, q: np.ndarray, t: np.ndarray, store: Cache | None = None) -> list[Native]:
    """`normalize` as native code, in place, for one state (nq,) or rows of states, at one time or one for each; an empty list
    where there is nothing to do.

    Quaternions alone are normalized by a loop that is the same for all models. Where joints do more, theirs is traced.
    """
    places, nq = model.structure.quaternions, model.nq
    if not len(places):
        return []
    n = q.size // nq
    if not any(joint.projects_onto_constraints for joint in model.structure.types):
        everywhere = (places.astype(np.int64) + nq * np.arange(n)[:, None]).ravel()
        return [bind_kernel(normalize_quaternions, Quaternions(q.reshape(-1), everywhere), store=store)]
    lanes = host_lanes() if n % host_lanes() == 0 else 1  # the rest of a batch would be read again after it was written
    return [_straight_line(model, store).bind({"q": q, "t": t, "x": q}, n, lanes)]


def vector_normalize(model: Model, q: np.ndarray, t: np.ndarray, store: Cache | None = None) -> list[Native]:
    """`normalize` for as many states as the processor has lanes: q (nq, lanes), t (1, lanes)."""
    return [_straight_line(model, store).bind_vector({"q": q, "t": t, "x": q})] if is_redundant(model) else []


def _straight_line(model: Model, store: Cache | None) -> GraphFunction:
    inputs = new_inputs(Graph(), q=model.nq, t=1)
    return GraphFunction.of(inputs, {"x": normalize(model, inputs["q"], inputs["t"][0])}, store)


def normalized_rows(model: Model, q: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Rows (n, nq) of states at the times t (n,), or all at one time (1,)."""
    out = np.array(q, dtype=float, order="C")
    if len(out):
        for native in native_normalize(model, out, np.ascontiguousarray(t, dtype=float)):
            native()
    return out


def normalized_start(model: Model, q: np.ndarray, t0: float) -> np.ndarray:
    """Rows (n, nq) of states from which motions start. The constraints of a constraint joint may move in time, and a start may be
    far from them: it is normalized until it settles."""
    t = np.array([t0])
    if not any(joint.projects_onto_constraints for joint in model.structure.types):
        return normalized_rows(model, q, t)
    return settled(lambda rows: normalized_rows(model, rows, t), q)


def settled(normalized: Callable[[np.ndarray], np.ndarray], q: np.ndarray) -> np.ndarray:
    """Coordinates normalized again and again, until that no longer changes them."""
    for _ in range(START_ITERATIONS):
        last, q = q, normalized(q)
        if np.allclose(q, last, START_TOLERANCE, START_TOLERANCE):
            break
    return q
