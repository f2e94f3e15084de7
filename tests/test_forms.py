"""Every form of the equations of motion is the extended system [I] (3.6) in other words: 200 random trees say so."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from sharnir.forms import FORMS, kinetostatics, momentum
from sharnir.forms.matrices import skew
from sharnir.model import joints
from states import FOREST, assert_close, derivative, forest, interpreted, matrices, oracle, random_state

METHODS = ("extended", "lagrange1", "direct", "composite", "maggi", "separate")
OTHERS = [name for name in FORMS if name != "extended"]


def assert_same_solution(actual, expected, tolerance=1e-10, what=""):
    for part in ("qdd", "vdot", "R"):
        assert_close(getattr(actual, part), getattr(expected, part), tolerance, what=f"{what}: {part}")


def test_the_forest_contains_everything():
    """What the 200 trees are: every joint type, free and driven, both ways round, branches, chains, a moving base."""
    types, branches, driven, turned, moving, sizes = set(), 0, set(), set(), 0, set()
    for k in range(FOREST):
        model = forest(k)
        types |= {j.type.type_name for j in model.joints}
        driven |= {j.type.type_name for j in model.joints if j.type.motion is not None}
        turned |= {j.type.type_name for j, r in zip(model.joints, model.tree.reversed, strict=True) if r}
        branches += any(model.parents.count(p) > 1 for p in model.parents)
        moving += bool(np.any(sh.matrices(model, t=0.3).base_velocity))
        sizes.add(len(model.bodies))
        assert np.any(model.gravity)
    every = set(joints.__all__) - {"Joint"}
    assert types == turned == every
    assert driven == {"Revolute", "Planar", "Cylindrical", "Universal", "Ball", "Free", "CustomJoint"}
    assert branches >= FOREST // 2
    assert moving >= FOREST // 4
    assert min(sizes) == 1 and max(sizes) >= 20


@pytest.mark.parametrize("k", range(FOREST))
def test_every_form_equals_the_extended_system(k):
    model = forest(k)
    s = random_state(model, k)
    m, expected = oracle(model, s)
    for name in OTHERS:
        assert_same_solution(FORMS[name](m, s.tau), expected, what=name)


@pytest.mark.parametrize("k", range(0, FOREST, 10))
@pytest.mark.parametrize("name", FORMS)
def test_sparse_matrices_give_the_dense_solution(name, k):
    model = forest(k)
    s = random_state(model, k)
    _, expected = oracle(model, s)
    assert_same_solution(FORMS[name](matrices(model, s, sparse=True), s.tau), expected)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [0, 1, 6, 11, 25])
def test_dynamics_of_every_method_equals_the_extended_system(method, k):
    model = forest(k)
    s = random_state(model, k)
    _, expected = oracle(model, s)
    d = interpreted(model, method)
    args = (s.q, s.v, s.tau, s.t, s.wrenches)
    assert_close(d.forward(*args), expected.qdd)
    assert_close(d.reactions(*args), expected.R)


@pytest.mark.parametrize("k", range(0, FOREST, 9))
def test_inverse_of_forward_is_the_joint_forces_and_M_a_plus_h_is_tau(k):
    model = forest(k)
    s = random_state(model, k)
    m, expected = oracle(model, s)
    size = np.abs(m.A.T @ np.abs(m.F)).max() + np.abs(s.tau).max(initial=0.0)
    d = interpreted(model)
    a = d.forward(s.q, s.v, s.tau, s.t, s.wrenches)
    assert_close(d.inverse(s.q, s.v, a, s.t, s.wrenches), s.tau, scale=size)
    assert_close(d.mass_matrix(s.q, s.t) @ a + d.bias(s.q, s.v, s.t, s.wrenches), s.tau, scale=size)
    tau, solution = kinetostatics.solve(m, expected.qdd)
    assert_close(tau, s.tau, scale=size)
    assert_close(solution.R, expected.R)


@pytest.mark.parametrize("k", [0, 3, 10])
def test_a_batch_is_its_states_one_by_one(k):
    model = forest(k)
    states = [random_state(model, seed) for seed in range(4)]
    q, v, tau, wrenches = (np.array([getattr(s, x) for s in states]) for x in ("q", "v", "tau", "wrenches"))
    d = interpreted(model)
    a = d.forward(q, v, tau, 0.4, wrenches)
    one = [d.forward(s.q, s.v, s.tau, 0.4, s.wrenches) for s in states]
    assert_close(a, one, 1e-13)
    assert_close(d.inverse(q, v, a, 0.4, wrenches), tau, 1e-9)
    assert_close(d.bias(q, v, 0.4, wrenches), [d.bias(s.q, s.v, 0.4, s.wrenches) for s in states], 1e-13)
    assert_close(d.energy(q, v, 0.4)[0], [d.energy(s.q, s.v, 0.4)[0] for s in states], 1e-13)
    assert_close(d.poses(q, 0.4)[0], [d.poses(s.q, 0.4)[0] for s in states], 1e-13)
    assert_close(d.forward(q, v[0], tau[0], 0.4)[0], d.forward(q[0], v[0], tau[0], 0.4), 1e-13)  # one value for all


# --- momenta ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("k", range(0, FOREST, 9))
def test_velocities_of_the_momenta_are_the_velocities(k):
    model = forest(k)
    s = random_state(model, k)
    d = interpreted(model)
    p = d.momenta(s.q, s.v, s.t)
    assert_close(d.velocities(s.q, p, s.t), s.v)
    m = matrices(model, s)
    qd, v, carried = momentum.velocities(matrices(model, s, sparse=True), p)
    assert_close(qd, s.v)
    assert_close(v.ravel(), m.v)
    assert_close(carried.ravel(), m.T.T @ m.M @ m.v)


@pytest.mark.parametrize("k", range(0, FOREST, 9))
def test_rates_of_momenta_are_d_dt_of_B_T_M_v(k):
    """ṗ = BᵀM(v̇ − ω×v) + ḂᵀMv, exact: v̇ of the extended system, less ω×v to make it the rate of components in body
    axes, and Ḃ = T(Ȧ − ṠB)."""
    model = forest(k)
    s = random_state(model, k)
    m, solution = oracle(model, s)
    S_rate, A_rate = np.zeros_like(m.S), np.zeros_like(m.A)
    for i, c in enumerate(m.k):
        vr = m.v_r[6 * i : 6 * i + 6]
        G, r = m.G[i], m.rho[i]
        dG, dr = -skew(vr[3:]) @ G, G.T @ vr[:3]
        A_rate[6 * i : 6 * i + 6, m.axes(i)] = m.A_rates[i]
        if c >= 0:
            block = S_rate[6 * i : 6 * i + 6, 6 * c : 6 * c + 6]
            block[:3, :3] = block[3:, 3:] = -dG
            block[:3, 3:] = dG @ skew(r) + G @ skew(dr)
    B_rate = m.T @ (A_rate - S_rate @ m.B)
    components, v = solution.vdot.copy(), m.v.reshape(-1, 6)
    components[:, :3] -= np.cross(v[:, 3:], v[:, :3])
    expected = m.B.T @ (m.M @ components.ravel()) + B_rate.T @ (m.M @ m.v)
    d = interpreted(model)
    p = d.momenta(s.q, s.v, s.t)
    scale = np.abs(m.B.T).max() * np.abs(m.M @ solution.vdot.ravel()).max()
    assert_close(d.momentum_rates(s.q, p, s.tau, s.t, s.wrenches), expected, scale=scale)


@pytest.mark.parametrize("k", [0, 2, 5, 12])
def test_rates_of_momenta_are_their_derivative_along_the_motion(k):
    model = forest(k)
    s = random_state(model, k)
    d = interpreted(model)
    a, rates = d.forward(s.q, s.v, s.tau, s.t, s.wrenches), d.rates(s.q, s.v, s.t)
    p = d.momenta(s.q, s.v, s.t)
    small = 1e-2 / (1.0 + np.abs(a).max(initial=0.0))
    expected = derivative(lambda x: d.momenta(s.q + x * rates, s.v + x * a, s.t + x), small)
    assert_close(d.momentum_rates(s.q, p, s.tau, s.t, s.wrenches), expected, 1e-8)
