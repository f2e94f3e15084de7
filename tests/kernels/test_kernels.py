"""Every program, interpreted as it is written, equals the dense matrices of the papers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sharnir as sh
from runs import batch, expected, kept, make, row, run, used
from sharnir.kernels import algebra, cholesky
from sharnir.model.structure import Structure
from sharnir.programs import PROGRAMS
from states import EPS, assert_close

SEEDS = (0, 1)
MODELS = [sh.samples.all_joints(seed) for seed in SEEDS]
CHAIN = sh.samples.tree(6, branching=1.0, seed=4)
STAR = sh.samples.tree(6, branching=9.0, seed=5)


def assert_outputs(outputs, model, name, values, b, tolerance=1e-10):
    wanted = expected(name, model, row(values, b))
    found = used(outputs)
    assert set(found) == set(wanted)
    for key, x in wanted.items():
        assert_close(found[key][b], x, tolerance, what=f"{name}: {key}")


# --- programs -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("model", [*MODELS, CHAIN, STAR], ids=lambda m: m.name)
def test_a_program_is_the_dense_matrices(name, model):
    values = batch(model, 2, seed=len(name))
    outputs = run(make(name, model, "python"), values)
    for b in range(2):
        assert_outputs(outputs, model, name, values, b)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_writes_the_same_bits_whatever_it_found_in_its_work_arrays(name):
    """The iterative ones carry a matrix from call to call, so for them this is true of the accelerations to rounding."""
    model = CHAIN
    values = batch(model, 2)
    old, fresh = make(name, model, "python"), make(name, model, "python")
    run(old, batch(model, 2, seed=99))
    first, again, other = run(old, values), run(old, values), run(fresh, values)
    for key in used(first):
        if PROGRAMS[name].loops_only:
            assert_close(first[key], other[key], 1e-11)
            assert_close(first[key], again[key], 1e-11)
        else:
            assert first[key].tobytes() == again[key].tobytes() == other[key].tobytes()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_not_change_its_inputs_or_the_model(name):
    model = STAR
    values = batch(model, 1)
    kept_values = {key: x.copy() for key, x in values.items()}
    s: Structure = model.freeze()
    before = [np.array(x) for x in (*s.tree, *s.joints)]
    run(make(name, model, "python"), values)
    assert all(np.array_equal(x, kept_values[key]) for key, x in values.items())
    assert all(np.array_equal(x, y, equal_nan=True) for x, y in zip((*s.tree, *s.joints), before, strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_output_is_written(name):
    """Row 0 of reactions and accelerations excepted, which belongs to the base."""
    outputs = used(run(kept(name, STAR, "python"), batch(STAR, 1)))
    assert all(np.isfinite(x).all() and not (x == 7.5).any() for x in outputs.values())


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name.startswith("inertia/")])
def test_an_inertia_matrix_is_symmetric_bit_by_bit(name):
    M = run(kept(name, MODELS[1], "python"), batch(MODELS[1], 1))["M"][0]
    assert np.array_equal(M, M.T)


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_body(name):
    model = sh.samples.tree(1, dof=1, seed=3)
    values = batch(model, 1)
    assert_outputs(run(make(name, model, "python"), values), model, name, values, 0)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if not PROGRAMS[name].loops_only])
def test_a_mechanism_without_freedom(name):
    """Every coordinate is driven: nothing is left to solve, but bodies move and joints bear."""
    model = clockwork()
    assert model.nv == 0
    values = batch(model, 1)
    assert_outputs(run(make(name, model, "python"), values), model, name, values, 0)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if PROGRAMS[name].loops_only])
def test_a_mechanism_without_freedom_by_iteration(name):
    model = clockwork()
    values = batch(model, 1)
    assert_outputs(run(make(name, model, "python"), values), model, name, values, 0)


def clockwork():
    m = sh.Model("clockwork")
    for i, carrier in enumerate(("ground", "hand0")):
        m.add_body(f"hand{i}", mass=1.0 + i, com=(0.2, 0.0, 0.1), inertia=(0.1, 0.2, 0.15))
        joint = sh.Revolute("z", motion=lambda t, i=i: sh.sin((i + 1) * t))
        m.add_joint(f"wheel{i}", joint, carrier, f"hand{i}", at=sh.Pose((0.3, 0.1, 0.0)))
    return m


# --- algebra ------------------------------------------------------------------------------------------------------------------
def random_values(seed=0):
    rng = np.random.default_rng(seed)
    return lambda n: tuple(rng.normal(size=n).tolist())  # type: ignore[attr-defined]


def full(S):
    return np.array([[S[0], S[3], S[4]], [S[3], S[1], S[5]], [S[4], S[5], S[2]]])


def square(A):
    return np.array(A).reshape(3, 3)


def test_products_of_tuples_are_those_of_matrices():
    r = random_values()
    A, B, S, x, y = r(9), r(9), r(6), r(3), r(3)
    cases = [
        (algebra.mv(A, x), square(A) @ x),
        (algebra.mtv(A, x), square(A).T @ x),
        (square(algebra.mm(A, B)), square(A) @ square(B)),
        (square(algebra.transpose(A)), square(A).T),
        (algebra.sv(S, x), full(S) @ x),
        (square(algebra.congruence(A, B)), square(A).T @ square(B) @ square(A)),
        (full(algebra.congruence_sym(A, S)), square(A).T @ full(S) @ square(A)),
        (algebra.cross(x, y), np.cross(x, y)),
        (square(algebra.skew(x)) @ y, np.cross(x, y)),
        (algebra.dot(x, y), np.dot(x, y)),
    ]
    for found, wanted in cases:
        assert_close(found, wanted, 20 * EPS)


def test_cosines_of_a_quaternion_of_any_length_are_a_rotation():
    r = random_values(1)
    q = r(4)
    G = square(algebra.cosines_quaternion(*q))
    assert_close(G @ G.T, np.eye(3), 10 * EPS)
    assert np.linalg.det(G) == pytest.approx(1.0, abs=10 * EPS)
    assert_close(algebra.cosines_quaternion(*(3.0 * x for x in q)), G.ravel(), 10 * EPS)
    c, s = math.cos(0.3), math.sin(0.3)
    assert_close(algebra.cosines_quaternion(math.cos(0.15), 0.0, 0.0, math.sin(0.15)), algebra.cosines_z(c, s), 10 * EPS)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 9])
def test_factors_solve_what_they_factorise(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, n + 2))
    M, b = X @ X.T, rng.normal(size=n)
    L, x = M.copy(), b.copy()
    cholesky.factor(L, np.full(n, np.nan), n)
    cholesky.substitute(L, x, n)
    assert_close(M @ x, b, 1e3 * EPS)


def test_factors_along_the_tree_fill_nothing_in():
    s = STAR.freeze()
    M = sh.matrices(STAR, STAR.random_q(0)).M_r
    L, b = M.copy(), np.arange(1.0, s.nv + 1)
    x = b.copy()
    cholesky.tree_factor(s.tree, L)
    cholesky.tree_substitute(s.tree, L, x)
    assert_close(M @ x, b, 1e4 * EPS)
    assert np.array_equal(np.tril(L) == 0.0, np.tril(M) == 0.0) and (np.tril(M) == 0.0).sum() > s.nv**2 // 2
