"""Every form of the equations of motion is the extended system [I] (3.6) in other words: 200 random trees say so."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from joint_table import JOINTS, alone
from loop_models import STARTS, placed, table_of
from sharnir.dialect.storage import allocate
from sharnir.forms import FORMS, kinetostatics, momentum
from sharnir.forms.blocks import skew
from sharnir.forms.constraint_rows import constraint_rows
from sharnir.forms.joints import JointMatrices
from sharnir.kernels.joint_stage import BALL, FIXED, SCREW, JointValues, joint_stage
from sharnir.model import joints
from sharnir.model.joints.joint_type import ElementaryMotion
from states import FOREST, assert_close, derivative, forest, interpreted, matrices, oracle, random_pose, random_state
from test_layers import PACKAGE, imports

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


# --- the oracle is independent ----------------------------------------------------------------------------------------------
def test_the_forms_import_nothing_that_they_are_the_oracle_of():
    """Neither kernels nor programs nor ways to run them: an error there must not appear on both sides of a comparison."""
    files = [*sorted((PACKAGE / "forms").glob("*.py")), PACKAGE / "comparison" / "oracle.py"]
    found = [(path.name, line, name) for path in files for name, line in imports(path)]
    assert len(files) > 10 and found
    wrong = [x for x in found if x[2].split(".")[0] in ("kernels", "programs", "backends", "dialect", "equations", "solvers")]
    assert not wrong


def assert_same_joints(model, s):
    """ρ, G, A, Ȧ, v^r, ψ^r and q̇: by 4×4 matrices, and by the joint stage of the kernels."""
    structure = model.freeze()
    drive, given = structure.user_functions(s.q.tolist(), s.v.tolist(), s.t)
    kernel = allocate(JointValues, structure.sizes)
    joint_stage(structure.joints, np.array(drive).reshape(-1, 3), np.array(given), s.q, s.v, kernel)
    form = JointMatrices(model).at(s.q, s.v, s.t)
    pairs = {
        "rho": form.rho, "G": form.G.reshape(-1, 9), "A": form.A, "dA": form.A_rate,
        "vr": form.v_r, "psi": form.psi_r, "rate": form.q_rate,
    }  # fmt: skip
    for name, value in pairs.items():
        assert_close(value, getattr(kernel, name), 1e-12, scale=1.0, what=name)


@pytest.mark.parametrize("k", range(0, FOREST, 7))
def test_joints_of_the_forms_are_the_joints_of_the_kernels(k):
    model = forest(k)
    assert_same_joints(model, random_state(model, k))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("name", JOINTS)
def test_every_joint_type_of_the_forms_is_that_of_the_kernels(name, swapped):
    rng = np.random.default_rng(5)
    model = alone(JOINTS[name], swapped, random_pose(rng), random_pose(rng))
    assert_same_joints(model, random_state(model, 3))


@pytest.mark.parametrize("driven", [False, True])
def test_followers_of_the_forms_are_those_of_the_kernels(driven):
    model = sh.Model("geared", base_motion=lambda t: sh.Pose((sh.sin(t), 0.1 * t * t, 0.0), sh.Rotation.about("y", 0.7 * t)))
    types = {
        "screw": sh.Screw("y", pitch=0.1),
        "lead": sh.Revolute("x", motion=(lambda t: sh.sin(2.0 * t)) if driven else None),
        "slide": sh.Prismatic((0.6, 0.0, 0.8)),
    }
    before = "ground"
    for name, joint in types.items():
        model.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
        model.add_joint(f"to {name}", joint, before, name, at=sh.Pose((0.1, 0.2, 0.3)), child_at=sh.Pose((0.0, 0.1, 0.0)))
        before = name
    model.couple("to screw", "to lead", ratio=-2.5, offset=0.3)
    model.couple("to slide", "to lead", ratio=0.4)
    assert_same_joints(model, random_state(model, 1))


@pytest.mark.parametrize("swapped", [False, True])
def test_a_joint_type_known_by_its_elementary_motions_alone(swapped):
    class Own(sh.Joint):
        coordinates = ("rise", "qw", "qx", "qy", "qz")
        given = sh.Ball(motion=JOINTS["driven ball"].motion)

        def motions(self, label):
            seat = ElementaryMotion(FIXED, placement=sh.Pose((0.1, 0.2, 0.3)))
            rise = ElementaryMotion(SCREW, nq=1, nv=1, turn=0.5, slide=0.3)
            return [rise, seat, ElementaryMotion(BALL, nq=4, nv=3), *self.given.built(label)]

        def v_names(self):
            return ("rise", "wx", "wy", "wz")

        def quaternions(self):
            return (1,)

    model = alone(Own(), swapped)
    assert_same_joints(model, random_state(model, 2))


# --- rows of constraints ------------------------------------------------------------------------------------------------------
def assert_same_rows(model, q, v, t=0.0):
    """J and γ by the chain rule over bodies, and by differentiating the kernels' kinematics; rows of zeros left out."""
    table = table_of(model).evaluate(q, v, t)
    J, gamma = constraint_rows(sh.matrices(model, q, v, t))
    alive = np.abs(J).max(axis=1) + np.abs(gamma) > 1e-12
    assert_close(J[alive], table["J"], 1e-12, scale=1.0, what="J")
    assert_close(gamma[alive], table["gamma"], 1e-12, scale=1.0, what="γ")


@pytest.mark.parametrize("name", STARTS)
def test_rows_of_the_forms_are_those_of_the_kernels(name):
    assert_same_rows(*placed(name))


@pytest.mark.parametrize("tree", [sh.Ball(), sh.Free(), JOINTS["constraint"], JOINTS["custom"]], ids=lambda j: j.type_name)
def test_rows_that_read_coordinates_and_speeds(tree):
    model = alone(tree, at=random_pose(np.random.default_rng(2)))
    model.add_constraint(lambda on: sum(x * x * on.t for x in on.q("joint")[:3]) + on.point("body", (0.1, 0.0, 0.2))[0][1])
    model.add_constraint(sh.SpeedConstraint(lambda on: on.q("joint")[1] * on.v("joint")[0] + sh.cos(on.t) * on.spin("body")[2]))
    s = random_state(model, 4)
    assert_same_rows(model, s.q, s.v, s.t)


@pytest.mark.parametrize("k", range(FOREST))
def test_every_form_equals_the_extended_system(k):
    model = forest(k)
    s = random_state(model, k)
    m, expected = oracle(model, s)
    for name in OTHERS:
        assert_same_solution(FORMS[name](m, s.tau), expected, what=name)


@pytest.mark.parametrize("k", range(0, FOREST, 10))
def test_sparse_matrices_give_the_dense_solution(k):
    model = forest(k)
    s = random_state(model, k)
    _, expected = oracle(model, s)
    for name, form in FORMS.items():
        assert_same_solution(form(matrices(model, s, sparse=True), s.tau), expected, what=name)


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
