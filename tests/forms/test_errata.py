"""Misprints of the sources: the printed formula fails, the corrected one holds. docs/theory/errata.md tells each in words.

Formulas are written as the papers write them; the extended system and the matrices of the package are the judge.
"""

import numpy as np
import pytest

import sharnir as sh
from sharnir.forms import FORMS
from sharnir.forms.banded import half_bandwidth, joints_that_meet
from sharnir.forms.blocks import skew

RIGHT, WRONG = 1e-11, 0.02  # errors relative to the largest entry of the truth


def error(got, truth):
    return np.abs(np.asarray(got) - truth).max() / np.abs(truth).max()


def in_motion(seed=0, **options):
    """Matrices of a random tree with every joint type, and its solution by the extended system."""
    rng = np.random.default_rng(seed)
    m = sh.samples.all_joints(seed, **options)
    q, v, tau = m.random_q(rng), rng.normal(size=m.nv), rng.normal(size=m.nv)
    x = sh.matrices(m, q, v, 0.3, rng.normal(size=(len(m.bodies), 6)))
    return x, FORMS["extended"](x, tau)


# --- [I] Ivanov et al. 2012 -------------------------------------------------------------------------------------------------
def test_I_2_7_rho_is_in_the_axes_of_the_carrier():
    x, _ = in_motion(moving_base=False)
    R, r = x.poses
    printed, corrected = np.zeros_like(r), np.zeros_like(r)
    for i, k in enumerate(x.k):
        Rk = R[k] if k >= 0 else np.eye(3)
        printed[i] = (printed[k] if k >= 0 else 0.0) + R[i] @ x.rho[i]  # R_i = (G_0^i)ᵀ
        corrected[i] = (corrected[k] if k >= 0 else 0.0) + Rk @ x.rho[i]
    assert error(printed, r) > WRONG
    assert error(corrected, r) < RIGHT


@pytest.mark.parametrize(("G0", "holds"), [(np.zeros((3, 3)), False), (np.eye(3), True)], ids=["printed", "corrected"])
def test_I_section_2_2_cosines_of_the_base_are_the_identity(G0, holds):
    x, _ = in_motion(moving_base=False)
    G = []
    for i, k in enumerate(x.k):
        G.append(x.G[i] @ (G[k] if k >= 0 else G0))  # (2.8)
    off = error(np.array(G).transpose(0, 2, 1), x.poses[0])
    assert off < RIGHT if holds else off > WRONG


def test_I_3_3_reactions_of_carried_bodies_take_the_transpose_of_C():
    x, s = in_motion()
    printed = x.F.reshape(-1, 6) + s.R
    corrected = printed.copy()
    for j, k in enumerate(x.k):
        if k >= 0:
            printed[k] -= x.C[j] @ s.R[j]
            corrected[k] -= x.C[j].T @ s.R[j]
    inertial = np.einsum("ijk,ik->ij", np.array(x.M_blocks), s.vdot)
    assert error(printed, inertial) > WRONG
    assert error(corrected, inertial) < RIGHT


def test_I_section_3_2_zero_blocks_of_L_have_the_sizes_of_their_joints():
    """L_ij is m_i × m_j, not 6 × 6; and the base has no M⁻¹: a joint on it has one term, its siblings there none."""
    x, _ = in_motion()
    sizes = [Z.shape[1] for Z in x.Z_blocks]
    inverse = [np.linalg.inv(M) for M in x.M_blocks]

    def block(i, j, zero):
        Zi, Zj, k = x.Z_blocks[i], x.Z_blocks[j], x.k[i]
        if j == i:
            own = Zi.T @ inverse[i] @ Zi
            return own if k < 0 else own + Zi.T @ x.C[i] @ inverse[k] @ x.C[i].T @ Zi
        if j == k:
            return -Zi.T @ x.C[i] @ inverse[j] @ Zj
        if x.k[j] == i:
            return -Zi.T @ inverse[i] @ x.C[j].T @ Zj
        if x.k[j] == k and k >= 0:
            return Zi.T @ x.C[i] @ inverse[k] @ x.C[j].T @ Zj
        return zero(i, j)

    def whole(zero):
        return np.block([[block(i, j, zero) for j in range(x.N)] for i in range(x.N)])

    with pytest.raises(ValueError, match="dimension"):  # as printed: the blocks do not fit together
        whole(lambda i, j: np.zeros((6, 6)))
    assert error(whole(lambda i, j: np.zeros((sizes[i], sizes[j]))), x.L) < RIGHT


def test_I_section_3_3_composite_bodies_are_made_of_composite_bodies():
    x, _ = in_motion()
    truth = [(x.T.T @ x.M @ x.T)[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] for i in range(x.N)]
    printed, corrected = [M.copy() for M in x.M_blocks], [M.copy() for M in x.M_blocks]
    for i in range(x.N - 1, -1, -1):
        k, C = x.k[i], x.C[i]
        if k >= 0:
            printed[k] += C.T @ x.M_blocks[i] @ C
            corrected[k] += C.T @ corrected[i] @ C
    assert error(printed, np.array(truth)) > WRONG
    assert error(corrected, np.array(truth)) < RIGHT


@pytest.mark.parametrize("children", [1, 2])
def test_I_section_4_the_band_of_L_grows_with_a_tree_and_its_elimination_does_not(children):
    """As printed: the band widens with the bodies that a body carries, a band costs O(N). True of chains; where each body carries
    two, the band grows with N. What holds: O(N) blocks, and no others when joints are eliminated from the leaves."""
    bands, blocks = [], []
    for N in (10, 20, 40, 80):
        carriers = depth_first([i - 1 if children == 1 else (i + 1) // 2 - 1 for i in range(N)])
        bands.append(half_bandwidth(carriers, [5] * N))
        blocks.append(len(joints_that_meet(carriers)))
        pairs = {frozenset(pair) for pair in joints_that_meet(carriers)}
        for j in range(N - 1, -1, -1):  # the joints that joint j still meets meet each other already
            left = [i for i in range(j) if frozenset((i, j)) in pairs]
            assert all(frozenset((a, b)) in pairs for a in left for b in left if a != b)
    assert bands == ([9, 9, 9, 9] if children == 1 else [39, 69, 129, 249])
    assert all(n < 2 * N for n, N in zip(blocks, (10, 20, 40, 80), strict=True))


def depth_first(carriers):
    """The same tree numbered so that every subtree is a run of numbers."""
    children = {i: [j for j, k in enumerate(carriers) if k == i] for i in range(-1, len(carriers))}
    order, stack = [], [0]
    while stack:
        order.append(stack.pop())
        stack += children[order[-1]][::-1]
    number = {old: new for new, old in enumerate(order)} | {-1: -1}
    return [number[carriers[old]] for old in order]


def inverse_iterations(A0, A, b, go_on):
    """(4.2): x_k, r_k, H_k of every step."""
    H = np.linalg.inv(A0)
    x = H @ b
    r = b - A @ x
    s = H @ r
    steps = [(x, r, H)]
    while go_on(len(steps) - 1, r):
        x = x + s
        r, before = b - A @ x, r
        y = H @ r
        s = (1 + y @ r / (y @ (before - r))) * y
        H = H + np.outer(y, y) / (y @ (before - r))
        steps.append((x, r, H))
    return steps


def positive(rng, n):
    X = rng.normal(size=(n, n))
    return X @ X.T + np.eye(n)


def test_I_4_2_stops_on_the_square_of_the_tolerance():
    """The problem asks for rᵀr < ε²; the listing stops at rᵀr ≤ ε."""
    rng = np.random.default_rng(1)
    A0, b, tolerance = positive(rng, 12), rng.normal(size=12), 1e-5
    A = A0 + 1e-2 * positive(rng, 12)
    printed = inverse_iterations(A0, A, b, lambda k, r: r @ r > tolerance)
    corrected = inverse_iterations(A0, A, b, lambda k, r: r @ r > tolerance**2)
    assert np.linalg.norm(printed[-1][1]) > tolerance
    assert np.linalg.norm(corrected[-1][1]) <= tolerance


def test_I_4_2_finite_termination_is_at_x_n_plus_1():
    """Property 1 prints x* = x_{n+1} + H_n r_n; the sign between them is an equality: x* = x_{n+1} = x_n + H_n r_n."""
    rng, n = np.random.default_rng(7), 3
    A0, A, b = positive(rng, n), positive(rng, n), rng.normal(size=n)
    x, r, H = inverse_iterations(A0, A, b, lambda k, r: k < n)[n]
    last = x + H @ r  # x_{n+1}
    truth = np.linalg.solve(A, b)
    assert error(last + H @ r, truth) > WRONG
    assert error(last, truth) < RIGHT
    assert error(H, np.linalg.inv(A)) < RIGHT


# --- [B] Byachkov 2011 ------------------------------------------------------------------------------------------------------
def test_B_S_has_a_row_per_joint_and_a_column_per_body():
    """Printed 6N×6m and 'Sᵀ takes absolute velocities to relative ones'; SV = v^r needs 6m×6N and S."""
    x = sh.matrices(sh.samples.four_bar(crank=0.5), {"A": 0.4, "B": 0.3, "C": 1.1}, {"A": 1.0, "B": -2.0, "C": 0.5})
    N, m = x.N, x.incidence.shape[1]
    assert m > N
    assert x.S_graph.shape == (6 * m, 6 * N) != (6 * N, 6 * m)


def test_B_blocks_of_S_belong_to_the_joint_of_their_row():
    """Printed S_ik = −I_ki C_k (row: joint i, column: body k); the matrix is the joint's own, C_i."""
    x, _ = in_motion(moving_base=False)
    printed, corrected = np.zeros((6 * x.N, 6 * x.N)), np.zeros((6 * x.N, 6 * x.N))
    incidence = -x.incidence[1:]  # [B] counts +1 where a joint leaves a body, −1 where it enters
    for i in range(x.N):
        for k in range(x.N):
            block = slice(6 * i, 6 * i + 6), slice(6 * k, 6 * k + 6)
            printed[block] = -incidence[k, i] * (np.eye(6) if i == k else x.C[k])
            corrected[block] = -incidence[k, i] * (np.eye(6) if i == k else x.C[i])
    assert error(printed @ x.v, x.v_r) > WRONG
    assert error(corrected @ x.v, x.v_r) < RIGHT


def test_B_identity_stands_where_the_joint_enters_not_on_the_diagonal():
    """A joint that closes a loop has no body of its number: the rule S_ii = −I_ii E, S_ik = −I_ki C never gives it an E."""
    x = sh.matrices(sh.samples.four_bar(crank=0.5), {"A": 0.4, "B": 0.3, "C": 1.1}, {"A": 1.0, "B": -2.0, "C": 0.5})
    (joint,) = x.model.closing_joints
    a, b = x.model.body_index(joint.parent), x.model.body_index(joint.child)
    R, r = x.poses
    V = x.v.reshape(-1, 6)
    spin, velocity = [R[i] @ V[i, 3:] for i in (a, b)], [R[i] @ V[i, :3] for i in (a, b)]
    apart = velocity[1] - velocity[0] - np.cross(spin[0], r[b] - r[a])
    truth = np.concatenate([R[b].T @ apart, R[b].T @ (spin[1] - spin[0])])

    row = x.S_graph[6 * x.N :]
    C = -row[:, 6 * a : 6 * a + 6]
    assert error(C @ V[b] - C @ V[a], truth) > WRONG
    assert error(V[b] - C @ V[a], truth) < RIGHT
    assert error(row @ x.v, truth) < RIGHT


def test_B_1_relative_accelerations_stand_with_a_minus():
    """Printed −SV̇ + Bq̈ = w*; with w* = w_l + w^c of the page before it, the right-hand side is −w*."""
    x, s = in_motion()
    left = -x.S @ s.vdot.ravel() + x.A @ s.qdd
    assert error(left, x.w_star) > WRONG
    assert error(left, -x.w_star) < RIGHT


# --- [Y] Yudintsev ------------------------------------------------------------------------------------------------------------
def yudintsev(q, dq, *, sign=-1.0, carried_force=True, own_U=False, swapped=False):
    """The planar chain of [Y]: its program in NumPy, line by line, with the places in doubt as options."""
    n = len(q)
    turn = lambda a: np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])  # noqa: E731
    quarter = np.array([[0.0, 1.0], [-1.0, 0.0]])  # A_{−π/2}
    near, far = np.array([-0.5 / n, 0.0]), np.array([0.5 / n, 0.0])  # c_{k,k} and c_{k,k+1}
    mass = np.diag([10.0 / n, 10.0 / n, 10.0 / (12 * n**3)])
    force = np.array([0.0, -9.81 * 10.0 / n, 0.0])
    A = [turn(q[: k + 1].sum()) for k in range(n)]

    def relative(k):
        C, S = np.eye(3), np.append(quarter @ A[k] @ near, 1.0)
        carrier = A[k - 1] @ far if k else np.zeros(2)
        spin = dq[:k].sum()
        C[:2, 2] = quarter @ (A[k] @ near - (0.0 if swapped else carrier))
        return C, S, np.append((dq[k] + spin) ** 2 * A[k] @ near - spin**2 * carrier, 0.0)

    M, Q = [mass.copy() for _ in range(n)], [force.copy() for _ in range(n)]
    for k in range(n - 1, 0, -1):
        C, S, a = relative(k)
        U = S @ (mass if own_U else M[k]) @ S
        M[k - 1] = mass + C.T @ M[k] @ C - np.outer(C.T @ M[k] @ S, S @ M[k] @ C) / U  # (17)
        term = C.T @ (M[k] @ (S * (S @ (Q[k] - M[k] @ a)) / U + a) - Q[k])
        Q[k - 1] = (force if carried_force else 0.0 * force) + sign * term  # (18)
    qdd, w = np.zeros(n), np.zeros(3)
    for k in range(n):
        C, S, a = relative(k)
        qdd[k] = S @ (Q[k] - M[k] @ (C @ w + a)) / (S @ M[k] @ S)  # (20)
        w = C @ w + S * qdd[k] + a  # (21)
    return qdd


@pytest.fixture(scope="module")
def rods():
    rng = np.random.default_rng(3)
    m = sh.samples.planar_chain(5)
    q, v = rng.uniform(-1, 1, 5), rng.normal(size=5)
    return q, v, FORMS["extended"](sh.matrices(m, q, v), np.zeros(5)).qdd


@pytest.mark.parametrize(
    "printed",
    [{"sign": 1.0}, {"carried_force": False}, {"own_U": True}, {"swapped": True}],
    ids=["18-sign", "listing-reads-Qk-before-it-is-set", "17-18-U-without-star", "C_k-indices-of-c-swapped"],
)
def test_Y_program_of_the_planar_chain(rods, printed):
    q, v, truth = rods
    assert error(yudintsev(q, v, **printed), truth) > WRONG
    assert error(yudintsev(q, v), truth) < 1e-10


def test_Y_3_the_carrier_feels_the_opposite_of_the_reaction():
    """Printed M a_{n−1} = Q + R_{n−1} + R*_n with R*_n = C_nᵀR_n; the reaction of body n on its carrier is −R*_n."""
    m = sh.samples.chain(2)
    x = sh.matrices(m, [0.3, -0.8], [1.0, 2.0])
    s = FORMS["extended"](x, np.zeros(2))
    left, star = x.M_blocks[0] @ s.vdot[0], x.C[1].T @ s.R[1]
    assert error(x.F[:6] + s.R[0] + star, left) > WRONG
    assert error(x.F[:6] + s.R[0] - star, left) < RIGHT


# --- [K] recursive algorithm from Kane's equations ------------------------------------------------------------------------------
class Chain:
    """A random revolute chain in the quantities of [K], all in base axes; bodies and joints count from 0."""

    def __init__(self, n, seed=0):
        rng = np.random.default_rng(seed)
        m = sh.Model("chain")
        for i in range(n):
            axis, com, points = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(4, 3))
            points -= points.mean(axis=0)
            m.add_body(f"b{i}", 1 + rng.random(), com, sum(p @ p * np.eye(3) - np.outer(p, p) for p in points))
            place = sh.Pose(rng.normal(size=3), sh.Rotation.quaternion(*rng.normal(size=4)))
            joint = sh.Revolute(axis / np.linalg.norm(axis))
            m.add_joint(f"j{i}", joint, f"b{i - 1}" if i else "ground", f"b{i}", at=place)
        q, self.qd, wrenches = rng.normal(size=n), rng.normal(size=n), rng.normal(size=(n, 6))
        x = sh.matrices(m, q, self.qd, 0.0, wrenches)
        R, O = x.poses
        self.n, self.truth, self.Q = n, x.M_r, x.Q
        self.f, self.moment = ([R[i] @ w[part] for i, w in enumerate(wrenches)] for part in (slice(0, 3), slice(3, 6)))  # (7)
        for i, b in enumerate(m.bodies):  # weight is one of the external forces
            weight = b.mass * np.array(m.gravity)
            self.f[i], self.moment[i] = self.f[i] + weight, self.moment[i] + np.cross(R[i] @ b.com, weight)
        self.e = [R[i] @ A[3:, 0] for i, A in enumerate(x.A_blocks)]
        self.m = [b.mass for b in m.bodies]
        self.c = [R[i] @ np.multiply(b.mass, b.com) for i, b in enumerate(m.bodies)]  # c_j = m_j d_j
        self.I = [R[i] @ b.inertia_at_origin() @ R[i].T for i, b in enumerate(m.bodies)]
        self.r = O[None] - O[:, None]  # r[i, j] = O_j − O_i

    def running_sum(self, i, j):
        """s_ij = m_j r_ij + s_i,j+1"""
        return sum(self.m[k] * self.r[i, k] for k in range(j, self.n))

    def recursive(self, moment):
        """The inertia matrix by (13)–(16), (20); moment(i, j+1) is the vector whose matrix stands first in (14б)."""
        n, zero = self.n, np.zeros((3, 3))
        M1, M2, M3 = [zero] * (n + 1), np.zeros((n, n + 1, 3, 3)), np.zeros((n, n + 1, 3, 3))
        for j in range(n - 1, -1, -1):
            M1[j] = self.I[j] + M1[j + 1]  # (13)
        for j in range(n - 2, -1, -1):
            for i in range(j + 1):
                M2[i, j] = skew(moment(i, j + 1)) @ skew(self.r[j, j + 1]).T + M2[i, j + 1]  # (14)
                M3[i, j] = skew(self.c[j + 1]) @ skew(self.r[i, j + 1]).T + M3[i, j + 1]  # (15)
        A = np.zeros((n, n))
        for i in range(n):
            for j in range(i, n):
                M = M1[j] + M2[i, j] + M3[j, j] + (M3[i, j - 1] if j > i else M3[i, i]).T  # (16)
                A[i, j] = A[j, i] = self.e[i] @ M @ self.e[j]  # (20)
        return A


def test_K_14b_needs_the_running_sum_of_first_moments():
    chain = Chain(6)
    one_body = chain.recursive(lambda i, j: chain.m[j] * chain.r[i, j])
    all_mass = chain.recursive(lambda i, j: sum(chain.m[j:]) * chain.r[i, j])
    assert error(one_body, chain.truth) > WRONG  # as printed
    assert error(all_mass, chain.truth) > WRONG  # with the sum of masses that row 1 of Table 1 counts
    assert error(chain.recursive(chain.running_sum), chain.truth) < RIGHT


@pytest.mark.parametrize("seed", range(3))
def test_K_10_to_21_are_right_as_printed(seed):
    """b of a chain on a base at rest. The double sum of (19b) costs O(N²); as a recursion, m_j + m_j+1 + r~ f_j+1, O(N)."""
    K = Chain(6, seed)
    zero = np.zeros(3)
    omega, epsilon, w, E, carrier = zero, zero, zero, np.zeros((3, 3)), None
    f, m = [], []
    for j in range(K.n):
        spin = K.e[j] * K.qd[j]  # (3), with v_rel = 0
        w = w + E @ (zero if carrier is None else K.r[carrier, j])  # (5)
        epsilon = epsilon + np.cross(omega, spin)  # (4)
        omega = omega + spin
        E = skew(epsilon) + skew(omega) @ skew(omega)
        f.append(K.f[j] - E @ K.c[j] - K.m[j] * w)  # (11)
        m.append(K.moment[j] - skew(K.c[j]) @ w - K.I[j] @ epsilon - np.cross(omega, K.I[j] @ omega))
        carrier = j
    total = [sum(m[j:], zero) + sum((skew(K.r[j, k]) @ f[k] for k in range(j + 1, K.n)), zero) for j in range(K.n)]  # (18), (19b)
    assert error([K.e[j] @ total[j] for j in range(K.n)], K.Q) < RIGHT  # (21)
    inward, force = zero, zero
    for j in range(K.n - 1, -1, -1):
        inward = m[j] + inward + (np.cross(K.r[j, j + 1], force) if j + 1 < K.n else zero)
        force = f[j] + force  # (17)
        assert error(inward, total[j]) < RIGHT


def test_K_9_agrees_with_the_corrected_recursion():
    chain = Chain(6, seed=1)
    R = lambda j: np.array([chain.e[i] * (i <= j) for i in range(chain.n)]).T  # noqa: E731
    T = lambda j: np.array([np.cross(chain.e[i], chain.r[i, j]) * (i <= j) for i in range(chain.n)]).T  # noqa: E731
    A = np.zeros((chain.n, chain.n))
    for j in range(chain.n):
        mixed = T(j).T @ skew(chain.c[j]).T @ R(j)
        A += chain.m[j] * T(j).T @ T(j) + mixed + mixed.T + R(j).T @ chain.I[j] @ R(j)
    assert error(A, chain.truth) < RIGHT
    assert error(chain.recursive(chain.running_sum), A) < RIGHT


def test_K_12b_sums_to_the_first_moment_of_a_subtree():
    """c_ij = m_j r_ij + c_j is the moment of body j alone; shifts need its sum over all that joint j carries.

    The corrected recursion then holds for every joint type and for trees. See kane.md.
    """
    x, _ = in_motion()
    R, O = x.poses
    r, bodies, zero = O[None] - O[:, None], x.model.bodies, np.zeros((3, 3))
    m = [b.mass for b in bodies]
    c = [R[i] @ np.multiply(b.mass, b.com) for i, b in enumerate(bodies)]
    I = [R[i] @ b.inertia_at_origin() @ R[i].T for i, b in enumerate(bodies)]
    t, e = ([R[i] @ A[part] for i, A in enumerate(x.A_blocks)] for part in (slice(0, 3), slice(3, 6)))

    def total(f, j):  # f of body j and of all it carries
        return f(j) + sum((total(f, l) for l in x.children(j)), 0 * f(j))

    def M2(i, j):
        moment = lambda l: total(lambda k: m[k] * r[i, k], l)  # noqa: E731
        return sum((skew(moment(l)) @ skew(r[j, l]).T + M2(i, l) for l in x.children(j)), zero)

    def M3(i, j):
        return total(lambda k: skew(c[k]) @ skew(r[i, k]).T, j)

    def inertia(moment):
        out = np.zeros((x.n, x.n))
        for j in range(x.N):
            for i in x.path(j):
                turning = total(lambda k: I[k], j) + M2(i, j) + M3(j, j) + M3(i, j).T
                mixed = e[i].T @ skew(moment(i, j)) @ t[j] + t[i].T @ skew(moment(j, j)).T @ e[j]
                block = e[i].T @ turning @ e[j] + mixed + total(lambda k: m[k], j) * t[i].T @ t[j]
                out[x.axes(i), x.axes(j)], out[x.axes(j), x.axes(i)] = block, block.T
        return out

    printed = lambda i, j: m[j] * r[i, j] + c[j]  # noqa: E731
    assert error(inertia(printed), x.M_r) > WRONG
    assert error(inertia(lambda i, j: total(lambda k: printed(i, k), j)), x.M_r) < RIGHT


class Counted:
    """A number that counts what is done to it."""

    tally = (0, 0)

    def __mul__(self, other):
        Counted.tally = (Counted.tally[0] + 1, Counted.tally[1])
        return self

    def __add__(self, other):
        Counted.tally = (Counted.tally[0], Counted.tally[1] + 1)
        return self


@pytest.mark.parametrize("N", [3, 6, 20])
def test_K_table_1_counts(N):
    """[K] counts 27 multiplications and 27 additions for a product of 3×3 matrices; its own rule gives other totals."""
    last, inner = N - 1, (N - 1) * (N - 2) // 2  # matrices of (14а), (15а) and of (14б), (15б)
    row_7 = 36 * last + 36 * inner
    assert row_7 != 18 * N**2 - 18  # as printed
    assert row_7 == 18 * N**2 - 18 * N

    row_8 = 27 * last + 27 * inner, 27 * last + 36 * inner
    assert row_8 != (13.5 * N**2 - 40.5 * N + 27, 18 * N**2 - 54 * N + 36)  # as printed: (15а) left out
    assert row_8 == (13.5 * N**2 - 13.5 * N, 18 * N**2 - 27 * N + 9)

    additions = [N, 1.5 * N**2 - 4.5 * N + 3, 1.5 * N**2 - 1.5 * N, 9 * N - 9, 18 * N**2 - 27 * N + 9]
    additions += [18 * N**2 - 54 * N + 36, 13.5 * N**2 - 4.5 * N - 9, 3 * N**2 + 3 * N]
    assert sum(additions) != 55.5 * N**2 - 97.5 * N + 30  # the printed sum of these printed rows
    assert sum(additions) == 55.5 * N**2 - 78.5 * N + 30


def test_K_table_1_row_10_counts_half_of_a_product():
    """R_iᵀ M R_j of a 3×3 matrix is counted as 6 multiplications; it takes 12."""
    vector, matrix = np.array([Counted()] * 3), np.array([[Counted()] * 3] * 3)
    Counted.tally = (0, 0)
    vector @ (matrix @ vector)
    assert Counted.tally != (6, 6)
    assert Counted.tally == (12, 8)
