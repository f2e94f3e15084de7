"""Work of a method for a model, in the few numbers its time depends on."""

from __future__ import annotations

from math import log2

import numpy as np

from ..backends.traced import TracedProgram
from ..model.structure import Structure
from ..trace import Symbol, needed

GRAPH = ("call", "operations", "divisions", "functions", "path", "room")
"""Work of straight-line code. `path`: the critical path, in cycles: a lower bound however much runs in parallel.
`room`: operations · log2(operations/1000): the cost of code that exceeds registers and the nearest caches."""

LOOPS = ("call", "bodies", "motions", "axes", "pairs", "triples", "square", "cube")
"""Work of loops. `motions`: elementary ones, of all joints. `pairs`: of an axis with those on its way to the base; `triples`
likewise; `square`, `cube`: of the freedoms."""

_CYCLES = {
    "add": 4, "sub": 4, "mul": 4, "div": 13, "sqrt": 20, "neg": 1, "select": 2, "abs": 1, "less": 3, "less_equal": 3, "floor": 8,
    "entry": 8,
}  # fmt: skip
_FUNCTION = 40
"""Latencies in cycles on recent processors; a function is some ten dependent operations."""

_ARITHMETIC = {"add", "sub", "mul"}


def of_graph(traced: TracedProgram) -> np.ndarray:
    """The numbers `GRAPH` of a traced program."""
    nodes = traced.graph.nodes
    wanted = needed(traced.graph, [x for group in traced.outputs.values() for x in group if isinstance(x, Symbol)])
    ready: dict[int, int] = {}
    operations = divisions = functions = path = 0
    for k in wanted:
        name, *arguments = nodes[k]
        if name in ("input", "const"):
            continue
        name = name if isinstance(name, str) else name.name
        ready[k] = max([ready.get(a, 0) for a in arguments], default=0) + _CYCLES.get(name, _FUNCTION)
        path = max(path, ready[k])
        operations += name in _ARITHMETIC
        divisions += name in ("div", "sqrt")
        functions += name not in _CYCLES
    room = operations * max(0.0, log2(max(operations, 1) / 1000.0))
    return np.array([1.0, operations, divisions, functions, path, room])


def of_loops(structure: Structure) -> np.ndarray:
    """The numbers `LOOPS` of a tree."""
    s = structure
    depth = [0.0] * (s.na + 1)  # axes on the way to the base, the axis itself among them; the last place: the base
    for a, above in enumerate(s.tree.above.tolist()):
        depth[a] = 1.0 + depth[above]
    d, n = np.array(depth[: s.na]), float(s.nv)
    return np.array([1.0, s.nb, len(s.joints.kind), s.na, d.sum(), (d * d).sum(), n * n, n**3])
