"""Iterative methods remember: along a motion a few iterations do, after a jump they start afresh, and always they solve."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from sharnir.kernels import iterative
from sharnir.kernels.iterative import InertiaMemory
from sharnir.programs.kernels.forward import TOLERANCE
from states import assert_close

METHODS = ["inverse-iterative", "direct-iterative", "inverse-iterative-multipliers", "direct-iterative-multipliers"]
KERNELS = {
    "inverse": (iterative.warm_started_inverse, iterative.start_inverse),
    "direct": (iterative.warm_started_direct, iterative.start_direct),
}
CHAIN = sh.samples.chain(6)
TREE = sh.samples.tree(6, seed=3)

# Step: iterations at most, on the inertia matrix and on the multipliers. Measured: 3 and 4, 4 and 6, 7 and 10.
ITERATIONS = {1e-4: (4, 5), 1e-3: (5, 7), 1e-2: (8, 11)}


def along_a_motion(model, method, step, n=20):
    """A motion by Euler's rule: reports of every step, and the largest relative error of accelerations."""
    d, exact = (sh.Dynamics(model, name, backend="python") for name in (method, "separate"))
    rng = np.random.default_rng(1)
    q, v, tau = model.random_q(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    reports, worst = [], 0.0
    for k in range(n):
        reports.append(d.iterations(q, v, tau, k * step))
        wanted = exact.forward(q, v, tau, k * step)
        found = d.forward(q, v, tau, k * step)
        worst = max(worst, np.abs(found - wanted).max() / np.abs(wanted).max())
        q, v = q + step * exact.rates(q, v, k * step), v + step * np.clip(wanted, -5.0, 5.0)
    return np.array(reports), worst


@pytest.mark.parametrize("model", [CHAIN, TREE], ids=lambda m: m.name)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("step", [1e-4, 1e-3])
def test_along_a_motion_few_iterations_and_no_factorisation(model, method, step):
    reports, error = along_a_motion(model, method, step)
    assert reports[0].tolist() == [0.0, 1.0]  # the first call factorises, and its solution needs no improvement
    assert not reports[1:, 1].any()
    assert reports[1:, 0].min() >= 1 and reports[1:, 0].max() <= ITERATIONS[step]["multipliers" in method]
    assert error < 1e-10


@pytest.mark.parametrize("method", METHODS)
def test_longer_steps_take_more_iterations_and_stay_right(method):
    means = []
    for step in ITERATIONS:
        reports, error = along_a_motion(TREE, method, step, 12)
        assert error < 1e-10
        means.append(reports[1:, 0].mean())
        assert reports[1:, 0].max() <= ITERATIONS[step]["multipliers" in method]
    assert means == sorted(means)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_state_again_needs_no_iteration(method):
    d = sh.Dynamics(TREE, method, backend="python")
    q, v = TREE.random_q(0), np.ones(TREE.nv)
    for k in range(3):
        assert d.iterations(q, v).tolist() == [0.0, float(k == 0)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", [CHAIN, TREE, sh.samples.all_joints(2)], ids=lambda m: m.name)
def test_after_a_jump_the_answer_is_still_right(model, method):
    """A batch is a sequence of jumps."""
    rng = np.random.default_rng(2)
    n = 8 if model in (CHAIN, TREE) else 3  # the multipliers of a large model take long, interpreted
    q = np.array([model.random_q(rng) for _ in range(n)])
    v, tau = rng.normal(size=(2, n, model.nv))
    wanted = sh.Dynamics(model, "separate", backend="python").forward(q, v, tau)
    d = sh.Dynamics(model, method, backend="python")
    assert_close(d.forward(q, v, tau), wanted)
    reports = sh.Dynamics(model, method, backend="python").iterations(q, v, tau)
    assert reports.shape == (n, 2) and (reports[:, 0] >= 0).all() and np.isin(reports[:, 1], (0.0, 1.0)).all()
    size = 6 * len(model.bodies) - model.nv if "multipliers" in method else model.nv
    assert reports[:, 0].max() <= size + 2


@pytest.mark.parametrize("method", METHODS)
def test_reactions_and_solutions_are_those_of_separate_bodies(method):
    q, v = TREE.random_q(3), np.linspace(-1, 1, TREE.nv)
    d, exact = sh.Dynamics(TREE, method, backend="python"), sh.Dynamics(TREE, "separate", backend="python")
    assert_close(d.reactions(q, v), exact.reactions(q, v))
    assert_close(d.solve(q, v).vdot, exact.solve(q, v).vdot)


def test_two_dynamics_do_not_share_their_memory():
    a, b = (sh.Dynamics(CHAIN, "inverse-iterative", backend="python") for _ in range(2))
    q, v = CHAIN.random_q(0), np.ones(CHAIN.nv)
    assert a.iterations(q, v)[1] == 1.0 and b.iterations(q, v)[1] == 1.0


def test_a_method_that_does_not_iterate_has_no_report():
    with pytest.raises(sh.MethodError, match="method 'separate' does not iterate; the iterative ones are"):
        sh.Dynamics(CHAIN, "separate").iterations(None, None)


# --- the kernels ----------------------------------------------------------------------------------------------------------------
def memory(n):
    return InertiaMemory(*(np.full(shape, np.nan) for shape in ((n, n), (n, n), n, n, n)))


def positive(n, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, n))
    return X @ X.T + np.eye(n)


def solve(kind, A, b, w, tolerance=TOLERANCE):
    x, report = np.full(len(b), np.nan), np.full(2, np.nan)
    KERNELS[kind][0](A, b, w, x, tolerance, report)
    return x, report


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1.0, 1e8, 1e100])
def test_the_residual_is_judged_relative_to_the_right_hand_side(kind, scale):
    """Forces in other units: the same iterations, the same digits."""
    n = 6
    A, b = positive(n), np.random.default_rng(1).normal(size=n)
    near = A + 1e-3 * positive(n, 2)
    reference, reports = None, []
    for factor in (1.0, scale):
        w = memory(n)
        solve(kind, A, b * factor, w)
        x, report = solve(kind, near, b * factor, w)
        assert np.linalg.norm(near @ x - b * factor) <= 1e-12 * np.linalg.norm(b * factor)
        reference = x if reference is None else reference
        assert_close(x / factor, reference, 1e-10)
        reports.append(report[1])
    assert reports == [0.0, 0.0]


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-8, 1e-13])
def test_iterations_stop_at_the_tolerance_asked_for(kind, tolerance):
    n = 8
    A, b, w = positive(n), np.ones(n), memory(n)
    solve(kind, A, b, w)
    near = A + 1e-2 * positive(n, 3)
    x, report = solve(kind, near, b, w, tolerance)
    assert np.linalg.norm(near @ x - b) <= 1.01 * tolerance * np.linalg.norm(b)
    assert report[0] <= {1e-3: 2, 1e-8: 5, 1e-13: n + 1}[tolerance] and report[1] == 0.0


@pytest.mark.parametrize("kind", KERNELS)
def test_a_change_of_rank_one_is_learnt_in_one_update(kind):
    n = 7
    A, b, u = positive(n), np.arange(1.0, n + 1), np.random.default_rng(4).normal(size=n)
    w = memory(n)
    solve(kind, A, b, w)
    x, report = solve(kind, A + 0.3 * np.outer(u, u), b, w)
    assert report[1] == 0.0 and report[0] <= 2
    assert_close(x, np.linalg.solve(A + 0.3 * np.outer(u, u), b), 1e-11)


@pytest.mark.parametrize("kind", KERNELS)
def test_what_rounding_leaves_is_accepted_and_teaches_nothing(kind):
    """Large terms that cancel: the tolerance is below rounding, as in long chains. No stall, no factorisation, no noise in H."""
    n, w = 30, memory(30)

    def whole(seed):  # whole numbers: their products are the same on every machine
        X = np.random.default_rng(seed).integers(-3, 4, (n, n)).astype(float)
        return X @ X.T + np.eye(n)

    A = whole(0) + 1e8
    b = A @ ((np.arange(n) - 14.5) / 16)  # small beside |A||x|
    solve(kind, A, b, w)
    for k in range(12):
        near = A + 1e-4 * (k + 1) * whole(5)
        x, report = solve(kind, near, b, w)
        left = np.linalg.norm(near @ x - b)
        assert TOLERANCE * np.linalg.norm(b) < left <= np.sqrt(n) * 2.3e-16 * np.linalg.norm(abs(near) @ abs(x))
        assert report[1] == 0.0 and 1 <= report[0] <= 8


@pytest.mark.parametrize("kind", KERNELS)
def test_a_right_hand_side_of_zero_has_the_solution_zero(kind):
    n, w = 5, memory(5)
    for A in (positive(n), positive(n, 1)):
        x, report = solve(kind, A, np.zeros(n), w)
        assert (x == 0.0).all() and report[0] == 0.0


@pytest.mark.parametrize("kind", KERNELS)
def test_what_was_remembered_of_a_bad_state_is_forgotten(kind):
    n, w = 5, memory(5)
    A, b = positive(n), np.ones(5)
    solve(kind, A, b, w)
    with np.errstate(invalid="ignore"):
        bad, _ = solve(kind, A * np.nan, b, w)
    assert np.isnan(bad).all()
    x, report = solve(kind, A, b, w)
    assert_close(x, np.linalg.solve(A, b), 1e-11)
    assert report[1] == 1.0


def test_factors_follow_a_change_of_rank_one():
    n = 6
    A, v = positive(n), np.random.default_rng(7).normal(size=n)
    w = memory(n)
    iterative.start_direct(A, w)
    assert iterative.update_factors(w.H, v.copy(), 0.5) == 0
    L, D = np.tril(w.H, -1) + np.eye(n), np.diag(1.0 / np.diag(w.H))
    assert_close(L @ D @ L.T, A + 0.5 * np.outer(v, v), 1e-13)
    assert iterative.update_factors(w.H, v.copy(), -1e6) == -1  # no longer positive
