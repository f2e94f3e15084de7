"""Random graphs: loops that change nothing give the motion of the tree; real ones the same motion by every form and cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

import sharnir as sh
from graph_models import Graph, Loop, built, closed_chain, graphs, loops
from states import assert_close, interpreted

OTHERS = ("direct", "recursive", "kosynka", "stepanenko")
FORMS = ("extended", "maggi", "lagrange1")
STABLE = {"deadline": None, "derandomize": True, "database": None}


def resolved(d: sh.Dynamics, J: np.ndarray, q: np.ndarray) -> bool:
    """Whether every mode of J M⁻¹Jᵀ is either dependent or large enough to be answered to ten digits (loops.md, L7)."""
    S = J @ np.linalg.solve(d.mass_matrix(q), J.T)
    size = np.sqrt(np.diag(S) + 1e-6 * np.trace(S) / max(len(S), 1) + 1e-300)
    modes = np.linalg.eigvalsh(S / np.outer(size, size))
    return not ((modes > 1e-12) & (modes < 1e-3)).any()


def check_every_form(m, q, v, tau, w, expected, seed):
    """Accelerations by all forms and kernels (of those that differ in the inertia matrix alone one in turn); methods that do
    not know a joint may say so."""
    scale = max(1.0, np.abs(expected).max())
    for method in ("composite", "separate", OTHERS[seed % 4], *FORMS):
        try:
            d = sh.Dynamics(m, method) if method in FORMS else interpreted(m, method)
            found = d.forward(q, v, tau, 0.0, w)
        except sh.MethodError:
            if method in ("composite", "separate", "extended", "maggi"):
                raise
            continue
        assert_close(found, expected, 1e-9, scale=scale, what=method)


def check_no_work(d, q, v, tau, w):
    """Closing joints that nobody drives do no work: on the bodies, and on the speeds."""
    V, lam = d.body_velocities(q, v), d.multipliers(q, v, tau, 0.0, w)
    now = d.constrained.table.evaluate(q, v, 0.0)
    size = max(1.0, np.abs(lam).max(initial=0.0)) * max(1.0, np.abs(V).max())
    assert abs(lam @ now["rate"]) < 1e-9 * size
    closing = d.closing_reactions(q, v, tau, 0.0, w)
    for bodies in closing.values():
        assert abs(sum(wrench @ V[d.model.body_index(body)] for body, wrench in bodies.items())) < 1e-8 * size


@settings(max_examples=14, **STABLE)
@given(graphs())
def test_loops_that_the_motion_of_the_tree_keeps_closed_change_nothing(graph: Graph):
    tree, whole, twins = built(graph)
    assume(whole.constraints)
    rng = np.random.default_rng(graph.seed)
    q0, v0, tau0 = tree.random_q(rng), rng.normal(size=tree.nv), rng.normal(size=tree.nv)
    a0 = interpreted(tree).forward(q0, v0, tau0)
    name = {j.name: twins.get(j.name, j.name) for j in whole.joints}
    q = whole.coordinates({j: q0[tree.q_slice(name[j])] for j in name})
    v, a = (whole.speeds({j: x[tree.v_slice(name[j])] for j in name}) for x in (v0, a0))
    tau = whole.speeds({j: tau0[tree.v_slice(j)] for j in name if j not in twins})
    d = interpreted(whole, "composite")
    now = d.constrained.table.evaluate(q, v, 0.0)
    for kept in ("g", "rate"):
        assert np.abs(now[kept]).max(initial=0.0) < 1e-10
    found = whole.mobility(q)
    assert found.freedoms == tree.nv
    assert found.freedoms - found.gruebler == len(found.redundant)
    assert all(" is already fixed by " in line for line in found.redundant)
    assume(resolved(d, now["J"], q))
    check_every_form(whole, q, v, tau, None, a, graph.seed)
    check_no_work(d, q, v, tau, None)


@settings(max_examples=10, **STABLE)
@given(loops())
def test_closed_chains_move_alike_by_every_form_and_every_cut(loop: Loop):
    m, start = closed_chain(loop, cut_other=False)
    rng = np.random.default_rng(loop.seed)
    d = interpreted(m, "composite")
    assume(m.constraints and len(d.constrained.table))
    try:
        q, v = m.assemble(start, rng.normal(size=m.nv))
    except sh.AssemblyError:  # drives that the loop does not allow: nothing to compare
        assume(False)
    now = d.constrained.table.evaluate(q, v, 0.0)
    assume(resolved(d, now["J"], q))
    w = {b.name: rng.normal(size=6) for b in m.bodies}
    tau = np.zeros(m.nv)
    a = d.forward(q, v, tau, 0.0, w)
    scale = max(1.0, np.abs(a).max())
    assert_close(now["J"] @ a, -now["gamma"], 1e-9, scale=scale * max(1.0, np.abs(now["J"]).max()), what="rows")
    assert np.abs(now["rate"]).max() < 1e-9
    check_every_form(m, q, v, tau, w, a, loop.seed)
    check_no_work(d, q, v, tau, w)
    check_other_cut(loop, d, q, v, w)


def check_other_cut(loop, d, q, v, w):
    """The same loop cut at another joint: every body has the same acceleration."""
    other, start = closed_chain(loop, cut_other=True)
    start |= {j.name: q[d.model.q_slice(j.name)] for j in d.model.joints if j.name in start}
    e = interpreted(other, "composite")
    q2 = other.coordinates(start)
    if np.abs(e.constrained.table.evaluate(q2, np.zeros(other.nv), 0.0)["g"]).max(initial=0.0) > 1e-9:
        q2, _ = other.assemble(start)  # the closing joint has moved off its neutral position by what was assembled
    order = [d.model.body_index(b.name) for b in other.bodies]
    V = d.body_velocities(q, v)[order]
    x = sh.matrices(other, q2, np.zeros(other.nv), 0.0)
    v2 = np.linalg.lstsq(x.B, V.ravel() - x.v, rcond=1e-12)[0]
    assert_close(e.body_velocities(q2, v2), V, 1e-8, scale=1.0, what="the same motion")
    if not resolved(e, e.constrained.table.evaluate(q2, v2, 0.0)["J"], q2):
        return
    expected = d.solve(q, v, None, 0.0, w).vdot[order]
    assert_close(e.solve(q2, v2, None, 0.0, w).vdot, expected, 1e-8, scale=max(1.0, np.abs(expected).max()), what="another cut")


@pytest.mark.parametrize(("method", "seed"), [("composite", 3), ("separate", 8), ("direct", 5), ("stepanenko", 6)])
def test_compiled_code_of_a_random_graph(method, seed):
    """As machine code, one state and a batch."""
    picks = np.random.default_rng(seed).integers(1, 11, 2).tolist()
    m, start = closed_chain(Loop(seed, (1, *picks), 7, 0), cut_other=False)
    q, v = m.assemble(start, np.random.default_rng(seed).normal(size=m.nv))
    d, one = sh.Dynamics(m, method), interpreted(m, "composite")
    assert len(d.constrained.table) and d.constrained.is_small
    expected = one.forward(q, v)
    scale = max(1.0, np.abs(expected).max())
    assert_close(d.forward(q, v), expected, 1e-9, scale=scale)
    assert_close(d.forward(np.tile(q, (9, 1)), v), np.tile(expected, (9, 1)), 1e-9, scale=scale)
