"""Everything that `sh.matrices` gives is what its docstring says, and equals an assembly of its own."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import sharnir as sh
from loop_models import STARTS, beside_itself, placed
from sharnir.forms.blocks import dense
from sharnir.forms.constraint_rows import speed_rows
from sharnir.forms.maggi import own_system
from states import EPS, assert_close, forest, interpreted, random_state

RIGID = (1, 4, 9, 12, 31)
LISTED = re.findall(r"(?m)^(\S*) +(\w+) +((?:N × )?\([^ ][^)]*?,[^)]*\)) ", inspect.getdoc(sh.Matrices) or "")


def state_of(k: int) -> tuple[sh.Model, sh.Matrices, dict[str, np.ndarray]]:
    model = forest(k)
    s = random_state(model, k)
    m = sh.matrices(model, s.q, s.v, s.t, s.wrenches, tau=s.tau)
    return model, m, m.system("extended").solve()


def closed_state(name: str) -> sh.Matrices:
    model, q, v = placed(name)
    return sh.matrices(model, q, v, tau=np.random.default_rng(3).normal(size=model.nv))


@pytest.mark.parametrize("sparse", [False, True])
def test_the_docstring_lists_attributes_with_their_shapes(sparse):
    model = sh.samples.stewart()
    m = sh.matrices(model, *model.assemble(), sparse=sparse)
    joints = [*m.A_blocks, *(joint.A for joint in m.cut_joints)]
    sizes = {
        "N": m.N, "n": m.n, "rows": len(m.J), "m": len(joints), "6N": 6 * m.N, "12N": 12 * m.N, "6m": 6 * len(joints),
        "Σn_c": sum(joint.A.shape[1] for joint in m.cut_joints), "Σm_c": sum(joint.Z.shape[1] for joint in m.cut_joints),
        "Σm_i": sum(6 - A.shape[1] for A in joints),
    }  # fmt: skip
    names = {name for _, name, _ in LISTED}
    assert {
        "rho",
        "A_blocks",
        "M_star",
        "Q_star",
        "M_A",
        "F_A",
        "U",
        "lam",
        "J",
        "gamma",
        "K",
        "S_graph",
        "w_star_graph",
    } <= names
    assert len(LISTED) > 35
    for _, name, shape in LISTED:
        value = getattr(m, name)
        if shape.startswith("N ×"):
            assert len(value) == m.N, name
            continue
        expected = []
        for part in filter(None, shape.strip("()").replace(" ", "").split(",")):
            terms = [(-1 if x[0] == "−" else 1, x.strip("+−")) for x in re.split(r"(?=[+−])", part)]
            expected.append(sum(sign * (int(x) if x.isdigit() else sizes[x]) for sign, x in terms))
        assert value.shape == tuple(expected), name


@pytest.mark.parametrize("k", RIGID)
def test_composite_bodies_are_the_structure_matrix_around_the_masses(k):
    """M* = TᵀMT, Q* = Tᵀ(F − Mψ), M_r = AᵀM*A, Q = AᵀQ*."""
    _, m, _ = state_of(k)
    assert_close(m.M_star, m.T.T @ m.M @ m.T, 1e-12)
    assert_close(m.Q_star, m.T.T @ (m.F - m.M @ m.psi), 1e-12)
    if not m.structure.coupled:
        assert_close(m.A.T @ m.M_star @ m.A + m.D, m.M_r, 1e-12)
        assert_close(m.A.T @ m.Q_star, m.Q, 1e-12, scale=np.abs(m.Q_star).max())


@pytest.mark.parametrize("k", [k for k in RIGID if not forest(k).structure.coupled])
def test_separate_bodies_are_projections_of_what_they_carry(k):
    """M^A_i = XᵀMX − XᵀMB U⁻¹ BᵀMX over the subtree, X: moved by body i, B: by the joints behind it; R = M^A v̇ − F^A."""
    _, m, x = state_of(k)
    masses = dense(m.M)
    for i in range(m.N):
        X = m.T[:, 6 * i : 6 * i + 6]
        behind = [a for j in range(m.N) if j != i and i in m.path(j) for a in range(m.axes(j).start, m.axes(j).stop)]
        B = m.B[:, behind].copy()
        inertia = B.T @ masses @ B + dense(m.D)[np.ix_(behind, behind)]
        coupling = B.T @ masses @ X
        expected = X.T @ masses @ X - (coupling.T @ np.linalg.solve(inertia, coupling) if behind else 0.0)
        assert_close(m.M_A[i], expected, 1e-9, what=f"body {i}")
        assert_close(m.U[i], m.A_blocks[i].T @ m.M_A[i] @ m.A_blocks[i] + np.diag(m.rotor_blocks[i]), 1e-12)
    felt = np.einsum("kij,kj->ki", m.M_A, x["v̇"].reshape(-1, 6)) - m.F_A
    assert_close(felt.ravel(), x["R"], 1e-8, scale=np.abs(m.F_A).max())


def test_multipliers_are_the_reactions_across_the_joints():
    """R = Zλ + A(AᵀA)⁻¹τ, by (3.10) and by `Dynamics.multipliers`, one state and a batch."""
    model = sh.samples.chain(5, dof=2)
    s = random_state(model, 2)
    m = sh.matrices(model, s.q, s.v, s.t, s.wrenches, tau=s.tau)
    R_tau = np.concatenate([A @ np.linalg.solve(A.T @ A, s.tau[m.axes(i)]) for i, A in enumerate(m.A_blocks)])
    assert_close(m.Z @ m.lam + R_tau, m.system().solve()["R"], 1e-10)
    for method in ("lagrange1", "direct-iterative-multipliers"):
        d = interpreted(model, method)
        found = d.multipliers(*s.motion[:2], s.tau, s.t, s.wrenches)
        assert_close(found, m.lam, 1e-9, what=method)
    both = d.multipliers(np.array([s.q, s.q]), np.array([s.v, 0 * s.v]), np.array([s.tau, s.tau]), s.t)
    assert both.shape == (2, len(m.lam))
    assert_close(both[1], sh.matrices(model, s.q, None, s.t, tau=s.tau).lam, 1e-9)
    with pytest.raises(sh.MethodError, match="'separate' has no multipliers; 'lagrange1'"):
        interpreted(model).multipliers(s.q, s.v)


@pytest.mark.parametrize("name", sorted(STARTS))
def test_rows_vanish_on_the_motion_of_a_closed_mechanism(name):
    """J v = 0 and K v = 0 at rest in time; J q̈ + γ = 0 and K q̈ = γ_c; K says of cut joints what J says."""
    m = closed_state(name)
    qdd = m.system("extended").solve()["q̈"]
    size = max(np.abs(qdd).max(), np.abs(m.gamma).max(initial=1.0))
    assert_close(m.J @ qdd, -m.gamma, 1e-8, scale=size)
    if any(body.flexible for body in m.structure.bodies):
        return
    assert_close(m.K @ qdd, m.gamma_c, 1e-7, scale=size)
    both = np.vstack([m.J, m.K])
    assert np.linalg.matrix_rank(both, 1e-8 * np.abs(both).max()) == np.linalg.matrix_rank(m.J, 1e-8 * np.abs(both).max())


@pytest.mark.parametrize("name", ["bricard", "four_bar", "stewart"])
def test_the_extended_system_of_the_graph_has_the_motion_of_the_tree_with_rows(name):
    """[B] (1) with S rectangular, R and q̈ of all m joints; over-constrained, R is one of many and v̇ is not."""
    model = getattr(sh.samples, name)()
    m = sh.matrices(model, *model.assemble(), tau=np.random.default_rng(5).normal(size=model.nv))
    whole = m.system("graph")
    x = np.linalg.lstsq(whole.matrix, whole.right, rcond=1e-11)[0]
    part = {letter: x[where] for letter, where in whole.places.items()}
    assert_close(whole.matrix @ x, whole.right, 1e-9)
    assert_close(part["q̈"][: m.n], m.system("extended").solve()["q̈"], 1e-8)
    assert_close(m.S_graph @ part["v̇"], m.A_graph @ part["q̈"] + m.w_star_graph, 1e-9, scale=np.abs(part["v̇"]).max())
    R = m.Z_graph @ m.lam
    R[: 6 * m.N] += np.concatenate([A @ np.linalg.solve(A.T @ A, m.tau[m.axes(i)]) for i, A in enumerate(m.A_blocks)])
    assert_close(m.M @ part["v̇"] - m.F, m.S_graph.T @ R, 1e-8)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("name", ["Revolute", "Universal", "Cylindrical", "Ball", "Planar", "Prismatic", "Translation"])
def test_a_cut_joint_is_what_it_would_be_in_the_tree(name, backwards):
    """A_c and w*_c of a joint beside itself are those of the joint it repeats, whose coordinates it measures."""
    closing = sh.Universal("y", "x") if name == "Universal" and backwards else None
    model = beside_itself(getattr(sh, name)(), 1, closing, backwards)
    q, v = model.assemble(model.random_q(4), np.random.default_rng(4).normal(size=model.nv), 0.3)
    m = sh.matrices(model, q, v, 0.3)
    (cut,), i = m.cut_joints, model.body_index("body")
    seen = -np.linalg.inv(m.C[i]) if backwards else np.eye(6)  # the same motion, of the carrier in its own axes
    A, w = seen @ m.A_blocks[i], seen @ m.w_star[6 * i : 6 * i + 6]
    assert np.linalg.matrix_rank(np.hstack([cut.A, A]), 1e-8) == cut.A.shape[1] == A.shape[1]
    assert_close(cut.Z.T @ cut.w_star, cut.Z.T @ w, 1e-10, scale=np.abs(m.w_star).max())
    assert_close(cut.A @ cut.v, A @ v[m.axes(i)], 1e-10, scale=1.0)
    if not backwards:
        assert_close(cut.w_star, w, 1e-10)


@pytest.mark.parametrize("name", ["chain", "four_bar", "bricard"])
def test_every_form_assembled_has_the_accelerations_of_the_extended_system(name):
    model = sh.samples.chain(6) if name == "chain" else getattr(sh.samples, name)()
    state = model.assemble() if model.constraints else (model.random_q(1), np.ones(model.nv))
    m = sh.matrices(model, *state, tau=np.linspace(-1.0, 1.0, model.nv))
    expected = m.system().solve()
    solid = all(body.is_solid for body in m.structure.bodies)
    for form in ("lagrange1-full", *(["lagrange1"] if solid else []), "direct", "composite", "maggi"):
        x = m.system(form).solve()
        if "v̇" not in x:
            x["v̇"] = m.B @ x["q̈"] + m.psi if "q̈" in x else expected["v̇"]
        assert_close(x["v̇"], expected["v̇"], 1e-9, what=form)
    if not model.constraints:
        assert_close(m.system("momentum").solve()["q̇"], m.v_q, 1e-10)
        assert_close(m.system("lagrange1").solve()["λ"], m.lam, 1e-9)


def test_maggi_in_quasi_velocities_of_ones_own():
    """π̇ of the user's quasi-velocities leads back to q̈: in a tree, and with loops, where they are fewer."""
    tree = sh.samples.chain(3)
    s = random_state(tree, 5)
    m = sh.matrices(tree, s.q, s.v, s.t, tau=s.tau)

    def turned(on):
        return [on.v("joint1"), sh.cos(on.q("joint2")) * on.v("joint2") + on.v("joint1"), on.v("joint3")]

    W, gamma = speed_rows(m, turned, "quasi-velocities")
    x = own_system(m, m.tau, (W, gamma), (m.J, m.gamma)).solve()["π̇"]
    assert_close(x, W @ m.system().solve()["q̈"] + gamma, 1e-10)
    q2, v = s.q[tree.q_slice("joint2")][0], s.v
    assert_close(gamma, [0.0, -np.sin(q2) * v[1] ** 2, 0.0], 64 * EPS)

    model = sh.samples.four_bar()
    m = sh.matrices(model, *model.assemble({"A": 0.4}, {"A": 1.5}))
    own = speed_rows(m, lambda on: on.v("B") - on.v("A"), "quasi-velocities")
    x = own_system(m, m.tau, own, (m.J, m.gamma)).solve()["π̇"]
    assert_close(x, own[0] @ m.system().solve()["q̈"] + own[1], 1e-9)


def test_what_a_model_lacks_is_said():
    flexible = sh.samples.flexible_four_bar()
    with pytest.raises(sh.MethodError, match="joint 'C' is cut and holds the flexible body"):
        _ = sh.matrices(flexible).K
    chain = sh.samples.chain(3)
    m = sh.matrices(chain)
    with pytest.raises(sh.MethodError, match="'lagrange3'; did you mean 'lagrange1'"):
        m.system("lagrange3")
    with pytest.raises(sh.MethodError, match="3 degrees of freedom here: as many quasi-velocities are needed, got 1"):
        own_system(m, m.tau, speed_rows(m, lambda on: on.v("joint1"), "q"), (m.J, m.gamma))
    twice = speed_rows(m, lambda on: [on.v("joint1"), on.v("joint2"), on.v("joint1")], "q")
    with pytest.raises(sh.MethodError, match="with all of them zero, 'joint3' can still move"):
        own_system(m, m.tau, twice, (m.J, m.gamma))
    with pytest.raises(sh.MethodError, match="'momentum' is one of trees, and model 'four-bar' has constraints"):
        sh.matrices(sh.samples.four_bar()).system("momentum")
