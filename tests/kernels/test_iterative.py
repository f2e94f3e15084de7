"""Iterative methods remember: along a motion a few iterations do, after a jump they start afresh, and always they solve."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from sharnir.kernels import iterative
from sharnir.kernels.iterative import TOLERANCE, InertiaMemory
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


def errors_on_the_way(A0, A, b):
    """Of every iterate of (4.2) from A0⁻¹: the least eigenvalue of H_k, ‖A − H_k⁻¹‖, ‖H − H_k‖ and ‖x_k − x*‖."""
    n, exact, H, rows = len(b), np.linalg.inv(A), np.linalg.inv(A0), []
    for k in range(n + 1):
        w, x = memory(n)._replace(H=H.copy()), np.full(n, np.nan)
        count = iterative.iterate_inverse(A, b, w, x, 1e-30, k) if k else None  # stops by its limit after k iterations
        if k == 0:
            x = H @ b
        sizes = [np.linalg.norm(M, 2) for M in (A - np.linalg.inv(w.H), exact - w.H)]
        rows.append([np.linalg.eigvalsh(w.H)[0], *sizes, np.linalg.norm(x - exact @ b)])
        if rows[-1][3] < 1e-9 * rows[0][3]:
            break
        assert count is None or count < 0 or count == k
    return np.array(rows)


def grows(x):
    """Whether a sequence grows somewhere, but for the rounding of its largest number."""
    return bool((np.diff(x) > 1e-9 * x[0]).any())


def near(seed, kind, n=6):
    """A0 and a change of it within the bound of property 2: ‖εF‖ < 1/‖H0‖."""
    rng = np.random.default_rng(seed)
    A0, X = positive(n, seed), rng.normal(size=(n, n))
    F = {"positive": X @ X.T, "negative": -X @ X.T, "indefinite": X + X.T}[kind]
    return A0, A0 + F * (0.9 / np.linalg.norm(np.linalg.inv(A0), 2) / np.linalg.norm(F, 2)), rng.normal(size=n)


@pytest.mark.parametrize("kind", ["positive", "negative"])
def test_property_2_of_4_2_for_definite_changes(kind):
    """[I] §4.2: all H_k are positive definite, the errors of A_k, H_k and x_k fall monotonically."""
    for seed in range(20):
        least, of_A, of_H, of_x = errors_on_the_way(*near(seed, kind)).T
        assert (least > 0.0).all() and not (grows(of_A) or grows(of_H) or grows(of_x))


def test_property_2_of_4_2_needs_a_definite_change():
    """Within the same bound, with eigenvalues of both signs, the errors of A_k grow in most cases; [I] assumes F0 definite."""
    assert sum(grows(errors_on_the_way(*near(seed, "indefinite"))[:, 1]) for seed in range(20)) > 10


@pytest.mark.parametrize("method", METHODS[:2])
def test_property_3_of_4_2(method):
    """Steps below 1/(max(1, ‖q̇‖) κ(A)) converge from the matrix of the last one, in fewer than n + 1 iterations."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        q, v = TREE.random_q(rng), rng.normal(size=TREE.nv)
        d = sh.Dynamics(TREE, method, backend="python")
        A = d.mass_matrix(q)
        h = 1.0 / max(1.0, np.linalg.norm(v)) / np.linalg.cond(A)
        after = TREE.integrate(q, h * v)
        assert np.linalg.norm(d.mass_matrix(after) - A, 2) * np.linalg.norm(np.linalg.inv(A), 2) < 1.0  # what property 2 asks
        d.iterations(q, v)
        count, restarted = d.iterations(after, v)
        assert 1 <= count < TREE.nv + 1 and not restarted


def test_warm_operations_grow_with_the_square_and_cold_ones_faster():
    """[I]: "the quadratic law of growth", counted, at one time step for all lengths of a chain."""
    counts = {}
    for n in (8, 16, 32):
        d = sh.Dynamics(sh.samples.chain(n), "inverse-iterative", backend="python")
        counts[n] = [d.count().multiplications, d.count(step=1e-3).multiplications]
    (cold, warm) = (np.array([counts[n][k] for n in (8, 16, 32)]) for k in (0, 1))
    assert (warm[1:] / warm[:-1] < 4.0).all() and cold[2] / cold[1] > 4.5
    assert 45 < warm[2] / 32**2 < 55


def test_a_step_is_counted_only_where_something_is_remembered():
    with pytest.raises(sh.MethodError, match="step is for methods that iterate; 'separate' remembers no state"):
        sh.Dynamics(CHAIN, "separate").count(step=1e-3)
    with pytest.raises(sh.MethodError, match="not for 'inertia'"):
        sh.Dynamics(CHAIN, "inverse-iterative").count("inertia", step=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_accelerations_are_as_good_as_the_tolerance_of_the_dynamics(method):
    q, v = CHAIN.random_q(0), np.ones(CHAIN.nv)
    exact = sh.Dynamics(CHAIN, "separate", backend="python")
    found = {}
    for tolerance in (1e-4, 1e-8, None):
        d = sh.Dynamics(CHAIN, method, backend="python", tolerance=tolerance)
        reports = [d.iterations(q + 0.01 * k, v).tolist() for k in range(2)]
        d.forward(q, v)
        a, b = d.forward(q + 0.01, v), exact.forward(q + 0.01, v)
        found[tolerance] = reports[1][0], np.abs(a - b).max() / np.abs(b).max()
    counts, errors = zip(*found.values(), strict=True)
    assert list(counts) == sorted(counts) and counts[0] < counts[2]
    assert errors[2] < 1e-10 < errors[0] < 1e-1


def test_tolerances_are_for_methods_that_iterate():
    with pytest.raises(sh.MethodError, match=r"tolerance is for methods that iterate; 'separate' solves .* choose 'inverse-iter"):
        sh.Dynamics(CHAIN, "separate", tolerance=1e-6)
    for bad in (0.0, 2.0, "small", float("nan")):
        with pytest.raises(sh.MethodError, match="a number between 0 and 1"):
            sh.Dynamics(CHAIN, "inverse-iterative", tolerance=bad)


@pytest.mark.parametrize("method", METHODS[:2])
def test_along_a_closed_motion_few_iterations_for_all_right_hand_sides(method):
    """M⁻¹ times the forces and every row of the constraints, each from the matrix that the one before has improved."""
    m, start = sh.samples.four_bar(0.5, 1.3, 0.9, 1.1), {"A": 1.2, "B": -1.0, "C": 1.5}
    q, v = m.assemble(start, {"A": 1.0}, nearest=True)
    d = sh.Dynamics(m, method, backend="python")
    assert d.iterations(q, v).tolist() == [0.0, 1.0]
    for k in range(1, 5):
        count, restarted = d.iterations(m.integrate(q, 1e-3 * k * v), v)
        assert 1 <= count <= 4 * (1 + len(d.constraint_rows)) and not restarted


@pytest.mark.parametrize("backend", ["loops", "python"])
@pytest.mark.parametrize("method", METHODS)
def test_simulations_by_iteration_are_those_by_separate_bodies(method, backend):
    closed = "multipliers" not in method
    m = sh.samples.four_bar(0.5, 1.3, 0.9, 1.1) if closed else sh.samples.double_pendulum()
    start = {"q0": m.assemble({"A": 1.2, "B": -1.0, "C": 1.5}, nearest=True)[0]} if closed else {"q0": {"hinge1": 0.5}}
    exact = sh.simulate(m, 0.1, rtol=1e-9, atol=1e-11, **start)
    r = sh.simulate(m, 0.1, method=method, backend=backend, rtol=1e-9, atol=1e-11, **start)
    assert_close(r.q[-1], exact.q[-1], 1e-7)


def test_factors_follow_a_change_of_rank_one():
    n = 6
    A, v = positive(n), np.random.default_rng(7).normal(size=n)
    w = memory(n)
    iterative.start_direct(A, w)
    assert iterative.update_factors(w.H, v.copy(), 0.5) == 0
    L, D = np.tril(w.H, -1) + np.eye(n), np.diag(1.0 / np.diag(w.H))
    assert_close(L @ D @ L.T, A + 0.5 * np.outer(v, v), 1e-13)
    assert iterative.update_factors(w.H, v.copy(), -1e6) == -1  # a pivot would change its sign
