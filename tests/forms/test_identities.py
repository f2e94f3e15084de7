"""Identities of the papers' matrices, and the laws of mechanics checked from outside: in world axes, by differences."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from sharnir.forms.blocks import dense
from sharnir.forms.kinematics import orthogonal_by_blocks, orthogonal_by_projector
from states import EPS, along, assert_close, derivative, forest, interpreted, matrices, oracle, random_state

TREES = range(0, 48, 3)


@pytest.fixture(params=TREES, scope="module")
def case(request):
    model = forest(request.param)
    s = random_state(model, request.param)
    return model, s, *oracle(model, s)


def span(X: np.ndarray) -> np.ndarray:
    """The projector on the columns of X: two bases span one space exactly when these are equal."""
    Q = np.linalg.qr(X)[0]
    return Q @ Q.T


# --- structure matrices -----------------------------------------------------------------------------------------------------
def test_T_is_the_inverse_of_S(case):
    """S T = E [I] (2.18), unit lower block triangular, zero off the paths."""
    _, _, m, _ = case
    E = np.eye(6 * m.N)
    size = np.abs(m.S).sum(axis=1).max() * np.abs(m.T).max()
    assert np.abs(m.S @ m.T - E).max() <= 8 * EPS * size
    assert np.abs(m.T @ m.S - E).max() <= 8 * EPS * size
    for i in range(m.N):
        for j in range(m.N):
            block = m.T[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]
            assert (j in m.path(i)) == block.any()


def test_sparse_matrices_are_the_dense_ones(case):
    model, s, m, _ = case
    other = matrices(model, s, sparse=True)
    for name in ("S", "T", "A", "Z", "B", "M", "M_inverse", "L", "M_r", "extended"):
        assert_close(dense(getattr(other, name)), getattr(m, name), 1e-13, what=name)


def test_velocities_and_accelerations_from_structure(case):
    """S v = v^r + C_0v_0 = A q̇ + …; v = B q̇ + φ (2.21); S v̇ = A q̈ + w* (3.4)."""
    _, s, m, solution = case
    assert_close(m.S @ m.v, m.v_r + m.from_base(m.base_velocity), 1e-12, scale=np.abs(m.v).max())
    assert_close(m.A @ s.v + m.phi_r, m.v_r, 1e-12)
    assert_close(m.B @ s.v + m.phi, m.v, 1e-12)
    assert_close(m.B @ solution.qdd + m.psi, solution.vdot.ravel(), 1e-11)


def test_both_orthogonal_bases_annihilate_A_and_span_one_space(case):
    """ZᵀA = 0, by blocks and by the projector."""
    _, _, m, _ = case
    for A, blocks, projected in zip(m.A_blocks, m.Z_blocks, m.Z_projected, strict=True):
        assert blocks.shape == projected.shape == (6, 6 - A.shape[1])
        for Z in (blocks, projected):
            assert np.abs(Z.T @ A).max(initial=0.0) <= 64 * EPS * np.abs(A).max(initial=1.0) * max(
                np.abs(Z).max(initial=0.0), 1.0
            )
            assert np.linalg.matrix_rank(Z) == Z.shape[1]
        condition = np.linalg.cond(A) if A.size else 1.0
        assert_close(span(blocks), span(projected), 64 * EPS * condition)
    assert np.abs(m.Z.T @ m.A).max() <= 1e-13 * np.abs(m.A).max() * np.abs(m.Z).max()


def test_tangent_basis_of_the_orthogonal_one_is_where_it_began(case):
    _, _, m, _ = case
    for A in m.A_blocks:
        for make in (orthogonal_by_blocks, orthogonal_by_projector):
            if A.shape[1]:
                assert_close(span(orthogonal_by_blocks(make(A))), span(A), 1e-12)


def test_extended_matrix_is_symmetric(case):
    _, _, m, _ = case
    assert m.extended.shape == (12 * m.N + m.n,) * 2
    assert np.array_equal(m.extended, m.extended.T)
    assert np.linalg.matrix_rank(m.extended) == 12 * m.N + m.n


def test_blocks_of_L_are_those_of_the_paper(case):
    """[I] (3.10): own, carrier's and siblings' blocks are given by formulas; every other block is zero."""
    model, _, m, _ = case
    sizes = np.concatenate([[0], np.cumsum([Z.shape[1] for Z in m.Z_blocks])])
    Z, C, k = m.Z_blocks, m.C, m.k
    inverse = [np.linalg.inv(M) for M in m.M_blocks]
    expected = np.zeros((sizes[-1], sizes[-1]))
    siblings = 0
    for i in range(m.N):
        for j in range(m.N):
            if i == j:
                block = Z[i].T @ inverse[i] @ Z[i]
                if k[i] >= 0:
                    block = block + Z[i].T @ C[i] @ inverse[k[i]] @ C[i].T @ Z[i]
            elif j == k[i]:
                block = -Z[i].T @ C[i] @ inverse[j] @ Z[j]
            elif i == k[j]:
                block = -Z[i].T @ inverse[i] @ C[j].T @ Z[j]
            elif k[i] == k[j] >= 0:
                block = Z[i].T @ C[i] @ inverse[k[i]] @ C[j].T @ Z[j]
                siblings += 1
            else:
                assert not m.L[sizes[i] : sizes[i + 1], sizes[j] : sizes[j + 1]].any()
                continue
            expected[sizes[i] : sizes[i + 1], sizes[j] : sizes[j + 1]] = block
    assert_close(m.L, expected, 1e-12)
    assert siblings > 0 or model.name.startswith("tree")  # every bush has some


# --- the laws of mechanics ------------------------------------------------------------------------------------------------------
def direction(model, s, m, solution):
    """d/dt of f(q, v, t) along the motion; steps small enough for the fastest of them."""
    line = along(s, m.q_rate, solution.qdd)
    h = 0.03 / (1.0 + np.abs(solution.qdd).max(initial=0.0) ** 0.5)
    return lambda f: derivative(lambda x: f(sh.matrices(model, *line(x))), h)


def test_velocities_are_the_rates_of_poses(case):
    model, s, m, solution = case
    d_dt = direction(model, s, m, solution)
    R, _ = m.poses
    v = m.v.reshape(-1, 6)
    turn = np.einsum("bji,bjk->bik", R, d_dt(lambda x: x.poses[0]))  # RᵀṘ = ω̃
    omega = np.stack([turn[:, 2, 1], turn[:, 0, 2], turn[:, 1, 0]], axis=1)
    assert_close(omega, v[:, 3:], 1e-8)
    assert_close(np.einsum("bji,bj->bi", R, d_dt(lambda x: x.poses[1])), v[:, :3], 1e-8)


def test_reactions_balance_every_body_in_the_world(case):
    """Newton–Euler of each body by itself: forces and moments about its centre = d/dt of its momenta (by differences)."""
    model, s, m, solution = case
    bodies = model.bodies
    mass = np.array([b.mass for b in bodies])

    def momenta(x):
        R = x.poses[0]
        v = x.v.reshape(-1, 6)
        omega = np.einsum("bij,bj->bi", R, v[:, 3:])
        arm = np.einsum("bij,bj->bi", R, np.array([b.com for b in bodies]))
        velocity = np.einsum("bij,bj->bi", R, v[:, :3]) + np.cross(omega, arm)
        spin = [Ri @ b.inertia_matrix() @ Ri.T @ w for Ri, b, w in zip(R, bodies, omega, strict=True)]
        return np.hstack([mass[:, None] * velocity, spin])

    rate = direction(model, s, m, solution)(momenta)
    R, r = m.poses
    centre = r + np.einsum("bij,bj->bi", R, np.array([b.com for b in bodies]))
    total = np.hstack([mass[:, None] * model.gravity, np.zeros((m.N, 3))])

    def act(body: int, at: int, wrench: np.ndarray, sign: float) -> None:
        """A wrench given at the origin of body `at` in its axes, on `body`."""
        force, moment = R[at] @ wrench[:3], R[at] @ wrench[3:]
        total[body, :3] += sign * force
        total[body, 3:] += sign * (moment + np.cross(r[at] - centre[body], force))

    for i, k in enumerate(model.parents):
        act(i, i, s.wrenches[i] + solution.R[i], 1.0)
        if k >= 0:
            act(k, i, solution.R[i], -1.0)
    assert_close(total, rate, 1e-8, scale=np.abs(solution.R).max())


def test_joint_reactions_do_the_work_of_the_joint_forces(case):
    """AᵀR = τ: ideal joints."""
    _, s, m, solution = case
    assert_close(m.A.T @ solution.R.ravel(), s.tau, 1e-10, scale=np.abs(solution.R).max())


def test_rate_of_kinetic_energy_is_the_power_of_all_forces(case):
    """Gravity, wrenches, joint forces, drives (R·φ^r) and the base that carries the mechanism along."""
    model, s, m, solution = case
    d = interpreted(model)
    h = 0.03 / (1.0 + np.abs(solution.qdd).max(initial=0.0) ** 0.5)
    line = along(s, m.q_rate, solution.qdd)
    rate = derivative(lambda x: np.array(d.energy(*line(x))), h)
    R = solution.R.ravel()
    outside = m.v @ s.wrenches.ravel()
    joints = s.tau @ s.v + R @ m.phi_r
    base = R @ m.from_base(m.base_velocity)
    gravity = m.v @ m.F_external - outside
    powers = [outside, joints, base, gravity]
    assert_close(rate[0], sum(powers), 1e-8, scale=np.abs(powers).max())
    assert_close(-rate[1], gravity, 1e-8, scale=np.abs(powers).max())


# --- what follows from them -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(5))
def test_kinetic_energy_is_the_form_of_the_inertia_matrix(seed):
    model = sh.samples.tree(9, 2.0, seed=seed)
    s = random_state(model, seed)
    d = interpreted(model)
    M = d.mass_matrix(s.q)
    assert_close(M, M.T, 1e-14)
    assert np.linalg.eigvalsh(M).min() > 0.0
    assert_close(d.energy(s.q, s.v)[0], s.v @ M @ s.v / 2, 1e-12)


def test_jacobian_maps_speeds_to_the_velocity_of_a_point(case):
    """And without the speeds a point moves only with time: J v + (the rate at v = 0) is its velocity."""
    model, s, m, _ = case
    d = interpreted(model)
    point = np.array([0.2, -0.1, 0.3])
    for i in (0, m.N - 1):
        R = m.poses[0][i]

        def velocity(v, i=i, R=R):
            at = d.body_velocities(s.q, v, s.t)[i]
            return np.concatenate([R @ (at[:3] + np.cross(at[3:], point)), R @ at[3:]])

        J = d.jacobian(s.q, model.bodies[i].name, point, s.t)
        assert_close(J @ s.v + velocity(np.zeros(model.nv)), velocity(s.v), 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_floating_system_left_alone_keeps_its_momentum(seed):
    rng = np.random.default_rng(seed)
    model = sh.Model("satellite", gravity=(0, 0, 0))
    model.add_body("hull", mass=3.0, inertia=(0.4, 0.5, 0.6))
    model.add_floating("hull")
    for k, joint in enumerate((sh.Revolute("y"), sh.Ball(), sh.Prismatic("x"), sh.Universal())):
        model.add_body(f"arm{k}", mass=1.0, com=(0.2, 0.0, 0.1), inertia=(0.02, 0.03, 0.04))
        model.add_joint(f"joint{k}", joint, "hull" if k % 2 == 0 else f"arm{k - 1}", f"arm{k}", at=sh.Pose(rng.normal(size=3)))
    s = random_state(model, seed)
    m = sh.matrices(model, s.q, s.v)
    d = interpreted(model)
    a = d.forward(s.q, s.v, np.concatenate([np.zeros(6), s.tau[6:]]))

    def momentum(x):
        m = sh.matrices(model, s.q + x * d.rates(s.q, s.v), s.v + x * a)
        (R, r), out = m.poses, np.zeros(6)
        for Ri, ri, p in zip(R, r, (m.M @ m.v).reshape(-1, 6), strict=True):
            out += np.concatenate([Ri @ p[:3], Ri @ p[3:] + np.cross(ri, Ri @ p[:3])])
        return out

    assert m.k[0] == -1
    assert_close(derivative(momentum, 0.01), np.zeros(6), 1e-9, scale=np.abs(momentum(0.0)).max() * (1.0 + np.abs(a).max()))
