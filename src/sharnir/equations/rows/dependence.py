"""Which constraints always depend on others: over-constrained mechanisms, as far as a few positions tell."""

from __future__ import annotations

import numpy as np

from ..assembly.loop_closure import Closure
from ..motion.constrained import ConstrainedEquations
from ..motion.retraction import retract

ASSEMBLED, REACH, ITERATIONS, CLOSE, DEPENDENT = 4, 0.4, 50, 1e-10, 1e-7
"""Positions on the constraints, how far from the present one they are sought, steps of
Newton's method, what they may leave, and the share of a row that the rows before it may leave."""


def always_dependent(e: ConstrainedEquations, start: np.ndarray, t: float, parameters: list[float]) -> np.ndarray:
    """Which rows the rows before them determine wherever the constraints are met, judged from a position on them."""
    rng = np.random.default_rng(12)
    if e.sparse:
        return _dependent_by_pivots(e, start, t, parameters, rng)
    always, samples = np.ones(len(e.table), dtype=bool), 0
    for _ in range(4 * ASSEMBLED):
        q = _moved_on(e, start, t, parameters, REACH * rng.uniform(0.2, 1.0), rng)
        if q is not None:
            always &= _dependent(e.table.evaluate(q, np.zeros(e.structure.nv), t, parameters)["J"])
            samples += 1
        if samples == ASSEMBLED or (samples and not always.any()):
            break
    return always & (samples > 0)


def _moved_on(
    e: ConstrainedEquations, start: np.ndarray, t: float, parameters: list[float], reach: float, rng: np.random.Generator
) -> np.ndarray | None:
    """A position on the constraints some way along a freedom of the mechanism, where Newton's method finds one."""
    J = e.table.evaluate(start, np.zeros(e.structure.nv), t, parameters)["J"]
    _, sizes, V = np.linalg.svd(J)
    free = V[int((sizes > 1e-6 * sizes.max(initial=0.0)).sum()) :]
    if not len(free):
        return None
    away = retract(e.model, start, reach * _unit(free.T @ rng.normal(size=len(free))), t)
    return Closure(e.model, e.table.at(parameters), t, np.ones(e.structure.nv, dtype=bool)).closed(away, ITERATIONS)


def _unit(x: np.ndarray) -> np.ndarray:
    return x / np.abs(x).max()


def _dependent(J: np.ndarray) -> np.ndarray:
    """Which rows the rows before them determine."""
    out, basis = np.zeros(len(J), dtype=bool), np.zeros((0, J.shape[1]))
    for k, row in enumerate(J):
        length, left = np.linalg.norm(row), row
        for _ in range(2):  # once more, for what rounding has left
            left = left - basis.T @ (basis @ left)
        size = np.linalg.norm(left)
        out[k] = not size > DEPENDENT * length
        if not out[k]:
            basis = np.vstack([basis, left / size])
    return out


def _dependent_by_pivots(
    e: ConstrainedEquations, start: np.ndarray, t: float, parameters: list[float], rng: np.random.Generator
) -> np.ndarray:
    """The same where multipliers are eliminated with the bodies, in the order of that elimination: rows of whose pivots no more
    is left than e, with which they grow."""
    s, sparse = e.structure, e.sparse
    assert sparse is not None
    at = {"q": np.zeros(s.nq), "v": np.zeros(s.nv), "tau": np.zeros(s.nv), "t": np.array([t]), "parameter": np.array(parameters)}
    at = sparse.allocate(at)
    at |= {"share": np.array([sparse.share])}
    project, solve = e.projector.natives(at), sparse.chain(at)
    always, samples = np.ones(len(e.table), dtype=bool), 0
    for _ in range(ASSEMBLED):
        at["q"][:], at["v"][:] = start, rng.normal(size=s.nv)
        for native in project:  # speeds that the constraints allow
            native()
        at["q"][:] = retract(e.model, at["q"], REACH * rng.uniform(0.2, 1.0) * _unit(at["v"]), t)
        at["v"][:] = 0.0
        for _ in range(ITERATIONS // 5):
            for native in project:
                native()
        found = []
        for share in (sparse.share, 10.0 * sparse.share):
            at["share"][:] = share
            for native in solve:
                native()
            found.append(at["inverse"].copy())
        if np.isfinite(found).all() and np.abs(at["g"]).max(initial=0.0) < CLOSE:
            always &= found[0] > 3.0 * found[1]
            samples += 1
    return always & (samples > 0)
