"""Y π = τ: inverse dynamics is the regressor times the parameters, for any parameters, on every joint, coupled or in loops."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from benchmarks.robots import ROBOTS, load
from test_coupled import gripper

import sharnir as sh
from pinocchio_models import random_pair
from sharnir.model.copying import revalued
from states import assert_close, error, interpreted, random_mass, random_state

OURS = ("mass", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
PINOCCHIO = [0, 1, 2, 3, 4, 6, 9, 5, 7, 8]
"""Where our ten numbers of a body are among Pinocchio's: m, m·com, xx xy yy xz yz zz."""


def random_options(rng, n):
    return {name: rng.uniform(0.1, 1.0, n).tolist() for name in ("armature", "damping", "friction")}


def with_random_numbers(model: sh.Model, seed: int) -> sh.Model:
    """Other masses, and options of joints that act."""
    rng = np.random.default_rng(seed)
    bodies = {b.name: (x["mass"], x["com"], sixfold(x["inertia"])) for b in model.bodies for x in [random_mass(rng)]}
    joints = {j.name: random_options(rng, n) for j in model.joints if (n := len(j.type.v_names()))}
    out = revalued(model, bodies, joints)
    for k, joint in enumerate(j for j in model.joints if j.nv or j.follows):
        if not any(getattr(f, "joint", "") == joint.name for f in out.forces.values()):
            out.add_force(sh.JointFriction(joint.name, static=3.0 if k % 2 else None, slip=0.2, viscous=0.1))
    return out


def sixfold(J):
    return [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]


CASES = {
    **{f"all joints {seed}": lambda seed=seed: sh.samples.all_joints(seed) for seed in range(3)},
    **{f"tree {seed}": lambda seed=seed: sh.samples.tree(7, branching=1.0 + seed, seed=seed) for seed in range(3)},
    "coupled": gripper,
}


@pytest.mark.parametrize("case", CASES)
def test_the_regressor_times_the_parameters_is_inverse_dynamics(case):
    model = CASES[case]()
    s, a = random_state(model), np.random.default_rng(1).normal(size=model.nv)
    d = interpreted(model, "composite")
    Y = d.regressor(s.q, s.v, a, s.t)
    assert Y.shape == (model.nv, len(d.regressor_names)) and len(d.regressor_parameters) == len(d.regressor_names)
    assert_close(Y @ d.regressor_parameters, d.inverse(s.q, s.v, a, s.t), 1e-12)


@pytest.mark.parametrize("case", CASES)
def test_one_regressor_serves_all_values_of_the_parameters(case):
    """What is not linear in them, the forces of the model, does not depend on them."""
    first, second = (with_random_numbers(CASES[case](), seed) for seed in (3, 4))
    s, a = random_state(first), np.random.default_rng(2).normal(size=first.nv)
    d, e = interpreted(first, "composite"), interpreted(second, "composite")
    Y, p, r = d.regressor(s.q, s.v, a, s.t), d.regressor_parameters, e.regressor_parameters
    assert error(p, r) > 0.1 and np.count_nonzero(p[10 * len(first.bodies) :]) == 3 * first.structure.na
    difference = e.inverse(s.q, s.v, a, s.t) - d.inverse(s.q, s.v, a, s.t)
    assert_close(Y @ (r - p), difference, 1e-12, scale=float(np.abs(Y @ p).max()))
    assert_close(e.regressor(s.q, s.v, a, s.t), Y, 1e-14)


@pytest.mark.parametrize("acting", ["all", "motion"])
def test_only_forces_that_were_added_are_left_out(acting):
    model = with_random_numbers(gripper(), 5)
    for force in list(model.forces):
        del model.parts.forces[force]
    for joint in "ac":
        model.add_force(sh.JointFriction(joint))
    model.add_force(sh.Motor("c", torque=lambda t, x, v: 3.0 * x + v))
    s, a = random_state(model), np.ones(model.nv)
    model.acting = acting
    d = interpreted(model, "composite")
    rest = d.inverse(s.q, s.v, a) - d.regressor(s.q, s.v, a) @ d.regressor_parameters
    wanted = np.zeros(model.nv)
    wanted[model.v_slice("c")] = -(3.0 * s.q[model.q_slice("c")] + s.v[model.v_slice("c")])
    assert_close(rest, wanted, 1e-12, scale=10.0)
    friction = dict(zip(d.regressor_names, d.regressor_parameters, strict=True))
    assert friction["a.friction"] > 0.0 and (friction["b.friction"] > 0.0) == (acting == "all")


def test_a_joint_sees_the_bodies_behind_it_only():
    model = sh.samples.tree(8, branching=2.0, seed=1)
    s = random_state(model)
    Y = interpreted(model).regressor(s.q, s.v, s.tau)
    tree = model.structure.tree
    for a in range(model.nv):
        for i in range(1, len(model.bodies) + 1):
            k = i
            while k > 0 and k != tree.owner[a]:
                k = tree.carrier[k]
            columns = Y[a, 10 * (i - 1) : 10 * i]
            assert columns.any() if k else not columns.any()


def test_parameters_are_named_by_bodies_and_axes():
    m = sh.Model("arm")
    m.add_body("link", 2.0, (0.1, 0.0, 0.0), (0.1, 0.2, 0.3))
    m.add_body("tip", 1.0, (0.0, 0.3, 0.0), (0.1, 0.2, 0.3))
    m.add_joint("elbow", sh.Revolute("z", armature=0.7), "ground", "link")
    m.add_joint("wrist", sh.Universal("x", "y", damping=(0.1, 0.2)), "link", "tip")
    d = interpreted(m)
    own = dict(zip(d.regressor_names, d.regressor_parameters, strict=True))
    assert list(own)[:10] == [f"link.{name}" for name in OURS]
    assert own["link.mass"] == 2.0 and own["link.mx"] == pytest.approx(0.2) and own["link.Izz"] == pytest.approx(0.32)
    assert own["elbow.armature"] == 0.7 and own["wrist.second.damping"] == 0.2 and len(own) == 29


# --- against Pinocchio ----------------------------------------------------------------------------------------------------------
def second_moments(p):
    """The pseudo-inertia of ten numbers in our order: ∫(x; 1)(x; 1)ᵀdm, which turns and shifts as a product."""
    m, h, J = p[0], p[1:4], np.array([[p[4], p[7], p[8]], [p[7], p[5], p[9]], [p[8], p[9], p[6]]])
    return np.block([[0.5 * np.trace(J) * np.eye(3) - J, h[:, None]], [h[None], np.array([[m]])]])


def moved(place: pin.SE3) -> np.ndarray:
    """(10, 10): Pinocchio's numbers of a joint from ours of a body that is placed there."""
    columns = []
    for one in np.eye(10):
        P = place.homogeneous @ second_moments(one) @ place.homogeneous.T
        J = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
        columns.append([P[3, 3], *P[:3, 3], J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])
    return np.array(columns).T


@pytest.mark.parametrize("seed", range(10))
def test_the_columns_of_bodies_are_pinocchios(seed):
    pair = random_pair(seed)
    s, a = random_state(pair.model, seed), np.random.default_rng(seed).normal(size=pair.model.nv)
    theirs = pin.computeJointTorqueRegressor(pair.pin, pair.pin.createData(), pair.q(s.q), pair.v(s.v), pair.v(a))[pair.order]
    Y = interpreted(pair.model).regressor(s.q, s.v, a)
    for i, body in enumerate(pair.model.bodies):
        at = 10 * (pair.joint_of[body.name] - 1)
        wanted = theirs[:, at : at + 10] @ moved(pair.placement[body.name])
        assert_close(Y[:, 10 * i : 10 * i + 10], wanted, 1e-11, scale=float(np.abs(theirs).max()))


@pytest.mark.parametrize("name", ROBOTS)
def test_a_compiled_batch_of_a_robot_is_pinocchios(name):
    robot, n = load(name), 9
    rng = np.random.default_rng(3)
    q = np.array([robot.model.random_q(rng) for _ in range(n)])
    v, a = rng.normal(size=(2, n, robot.model.nv))
    Y = sh.Dynamics(robot.model, "composite", backend="loops").regressor(q, v, a)
    data, nb = robot.pin.createData(), len(robot.model.bodies)
    for p, row in zip(zip(robot.q_to_pin(q), v, a, strict=True), Y, strict=True):
        theirs = pin.computeJointTorqueRegressor(robot.pin, data, *p).reshape(robot.model.nv, nb, 10)
        wanted = theirs[:, [robot.pin.getJointId(joint.name) - 1 for joint in robot.model.joints]][:, :, PINOCCHIO]
        assert_close(row[:, : 10 * nb].reshape(robot.model.nv, nb, 10), wanted, 1e-10)


# --- closed loops ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("sample", ["four_bar", "slider_crank", "rolling_disc"])
def test_in_closed_loops_it_gives_the_joint_forces_of_least_norm(sample):
    model = with_random_numbers(getattr(sh.samples, sample)(), 2)
    rng = np.random.default_rng(0)
    q, v = model.assemble(model.neutral() + 0.05 * rng.normal(size=model.nq), rng.normal(size=model.nv))
    d = sh.Dynamics(model, "composite", backend="python")
    a = d.forward(q, v, rng.normal(size=model.nv))
    Y, p = d.regressor(q, v, a), d.regressor_parameters
    rest = sh.Dynamics(with_random_numbers(getattr(sh.samples, sample)(), 7), "composite", backend="python")
    known = rest.inverse(q, v, a) - rest.regressor(q, v, a) @ rest.regressor_parameters
    assert_close(Y @ p + known, d.inverse(q, v, a), 1e-9, scale=1.0)
    with pytest.raises(sh.StateError, match="does not satisfy the constraints"):
        d.regressor(q, v, a + rng.normal(size=model.nv))


# --- arguments ------------------------------------------------------------------------------------------------------------------
def test_one_state_is_a_row_of_a_batch_and_names_work():
    m = sh.samples.double_pendulum()
    d = interpreted(m)
    one = d.regressor({"hinge1": 0.3}, {"hinge2": 1.0}, None)
    many = d.regressor([[0.3, 0.0], [0.1, 0.2]], [0.0, 1.0], np.zeros((2, 2)), [0.0, 1.0])
    assert one.shape == (2, 26) and many.shape == (2, 2, 26) and np.array_equal(one, many[0])


def test_states_that_do_not_fit_are_refused():
    d = interpreted(sh.samples.double_pendulum())
    with pytest.raises(sh.StateError, match="a: expected"):
        d.regressor([0.0, 0.0], [0.0, 0.0], [1.0])
    with pytest.raises(sh.StateError, match="'hinge1' is nan"):
        d.regressor([np.nan, 0.0], [0.0, 0.0], [1.0, 0.0])
