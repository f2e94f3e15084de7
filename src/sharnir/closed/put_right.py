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


def quaternion_places(model: Model) -> list[int]:
    """Where in q quaternions begin. None: nothing ever needs to be put right."""
    return [model.q_slice(j.name).start + k for j in model.joints if not j.follows for k in j.type.quaternions()]


def put_right(model: Model, q: Sequence[Number], t: Number) -> list[Number]:
    """Coordinates after a step, joint by joint, on numbers of any kind."""
    out = list(q)
    for joint in model.joints:
        where = model.q_slice(joint.name)
        if not joint.follows and joint.type.quaternions():
            out[where] = joint.type.put_right(out[where], t)
    return out


def put_right_natively(model: Model, q: np.ndarray, t: np.ndarray, store: Cache | None = None) -> list[Native]:
    """The same in place as native functions, for one state (nq,) or rows of them; none where there is nothing to do."""
    places, nq = np.array(quaternion_places(model), dtype=np.int64), model.nq
    if not len(places):
        return []
    n = q.size // nq
    if not any(joint.type.corrects_more for joint in model.joints):
        everywhere = (places + nq * np.arange(n)[:, None]).ravel()
        loop = Loop(normalize_quaternions, (Quaternions,), STEPPING, store=store)
        return [loop.bind(Quaternions(q.reshape(-1), everywhere))]
    graph = Graph()
    x, time = graph.inputs(nq), graph.inputs(1)
    traced = TracedProgram(graph, {"q": x, "t": time}, {"x": tuple(put_right(model, x, time[0]))})
    lanes = host_lanes() if n >= host_lanes() else 1
    return [GraphRunner(traced, store=store).bind({"q": q, "t": t, "x": q}, n, lanes)]
