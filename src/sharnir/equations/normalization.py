"""Coordinates that stand for more than they are: quaternions of length one, positions of joints given by constraints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..backends.llvm.runner import GraphRunner
from ..backends.traced import TracedProgram
from ..dialect.arithmetic import STEPPING
from ..dialect.cache import Cache
from ..dialect.jit import host_lanes
from ..dialect.native import Loop, Native
from ..kernels.quaternions import Quaternions, normalize_quaternions
from ..model.model import Model
from ..trace import Graph, Number


def quaternion_offsets(model: Model) -> list[int]:
    """Where in q quaternions begin. None: nothing ever needs to be put right."""
    return model.structure.quaternions.tolist()


def normalize(model: Model, q: Sequence[Number], t: Number) -> list[Number]:
    """Coordinates after a step, joint by joint, on numbers of any kind."""
    s, out = model.structure, list(q)
    with_quaternions = np.array([bool(joint.quaternions()) for joint in s.types])
    for i in np.flatnonzero(with_quaternions[s.type_of]).tolist():
        where = slice(int(s.q_first[i + 1]), int(s.q_first[i + 2]))
        out[where] = s.placed[i].type.normalize(out[where], t)
    return out


def normalised(model: Model, q: np.ndarray) -> np.ndarray:
    """States (…, nq) with quaternions of length one."""
    places = model.structure.quaternions[:, None] + np.arange(4)
    if not places.size:
        return q
    out = q.copy()
    out[..., places] /= np.linalg.norm(out[..., places], axis=-1, keepdims=True)
    return out


def native_normalize(model: Model, q: np.ndarray, t: np.ndarray, store: Cache | None = None) -> list[Native]:
    """The same in place as native functions, for one state (nq,) or rows of them; none where there is nothing to do."""
    places, nq = np.array(quaternion_offsets(model), dtype=np.int64), model.nq
    if not len(places):
        return []
    n = q.size // nq
    if not any(joint.corrects_more for joint in model.structure.types):
        everywhere = (places + nq * np.arange(n)[:, None]).ravel()
        loop = Loop(normalize_quaternions, (Quaternions,), STEPPING, store=store)
        return [loop.bind(Quaternions(q.reshape(-1), everywhere))]
    graph = Graph()
    x, time = graph.inputs(nq), graph.inputs(1)
    traced = TracedProgram(graph, {"q": x, "t": time}, {"x": tuple(normalize(model, x, time[0]))})
    lanes = host_lanes() if n >= host_lanes() else 1
    return [GraphRunner(traced, store=store).bind({"q": q, "t": t, "x": q}, n, lanes)]
