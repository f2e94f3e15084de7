"""The retraction q ⊕ δ: the coordinates after a small motion δ, given as speeds are.

The rates of the coordinates are affine in the speeds, q̇ = N(q) v + n(q, t). The displacement N δ is the difference of the rates
at δ and at rest; q ⊕ δ is q + N δ, normalized.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..backends.llvm.runner import GraphRunner
from ..backends.traced import TracedProgram
from ..dialect.cache import Cache
from ..dialect.native import Native
from ..model.model import Model
from ..model.structure import Structure
from ..trace import Graph, Number
from .evaluation import evaluate
from .normalization import normalize


def displacement(
    structure: Structure, q: Sequence[Number], delta: Sequence[Number], t: Sequence[Number], dtype: type = object
) -> list[Number]:
    """N(q) δ on numbers of any kind."""
    if not len(structure.quaternions):  # every coordinate has its own speed: N is the identity
        return list(delta)
    moving, at_rest = (evaluate(structure, "rates", {"q": q, "v": v, "t": t}, dtype).rate for v in (delta, [0.0] * structure.nv))
    return [x - y for x, y in zip(moving.tolist(), at_rest.tolist(), strict=True)]


def retract(model: Model, q: np.ndarray, delta: np.ndarray, t: float) -> np.ndarray:
    """q ⊕ δ."""
    dq = displacement(model.structure, q.tolist(), delta.tolist(), [t], float)
    return np.array(normalize(model, [x + dx for x, dx in zip(q.tolist(), dq, strict=True)], t), dtype=float)


def native_displacement(
    structure: Structure, at: Mapping[str, np.ndarray], delta: np.ndarray, dq: np.ndarray, store: Cache
) -> Native:
    """`dq` from `delta` at the state in the arrays `at` (q, t), as straight-line code."""
    graph = Graph()
    inputs = {name: tuple(graph.inputs(size)) for name, size in (("q", structure.nq), ("delta", structure.nv), ("t", 1))}
    outputs = {"dq": tuple(displacement(structure, inputs["q"], inputs["delta"], inputs["t"]))}
    return GraphRunner(TracedProgram(graph, inputs, outputs), store=store).bind({**at, "delta": delta, "dq": dq})
