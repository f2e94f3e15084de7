"""Redundant coordinates after a step of an integrator: quaternions of unit length, constraint joints on their constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...backends.graph_function import GraphFunction
from ...dialect.cache import Cache
from ...dialect.jit import host_lanes
from ...dialect.native import Native, bind_kernel
from ...kernels.quaternions import Quaternions, normalize_quaternions
from ...model.model import Model
from ...trace import Graph, Number
from ..rows.evaluation import new_inputs

START_ITERATIONS = 30
START_TOLERANCE = 1e-14
"""Change of a coordinate in an iteration, absolute and relative, below which a start is on its constraints."""


def is_redundant(model: Model) -> bool:
    """Whether there is anything to normalize."""
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
    """The same as native code, in place, for one state (nq,) or rows of states, at one time or one for each; an empty list
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
    """The same for as many states as the processor has lanes: q (nq, lanes), t (1, lanes)."""
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
