"""Trees of the joints Pinocchio has too: every quantity is Pinocchio's."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from pinocchio_models import KINDS, random_pair
from sharnir.model import joints
from states import assert_close, interpreted, oracle, random_state

SEEDS = range(30)
LOCAL = pin.ReferenceFrame.LOCAL


@pytest.fixture(params=SEEDS, scope="module")
def case(request):
    pair = random_pair(request.param)
    return pair, pair.pin.createData(), random_state(pair.model, request.param), interpreted(pair.model)


def test_the_trees_contain_every_shared_joint_and_branches():
    kinds, branched = set(), 0
    for seed in SEEDS:
        model = random_pair(seed).model
        kinds |= {j.type.type_name for j in model.joints}
        branched += any(model.parents.count(k) > 1 for k in model.parents)
        assert len(model.bodies) == len(KINDS) + 4
    assert kinds == set(joints.__all__) - {"Joint", "CustomJoint", "ConstraintJoint"}
    assert branched > len(SEEDS) // 2


def test_forward_dynamics_is_aba(case):
    pair, data, s, d = case
    a = pin.aba(pair.pin, data, pair.q(s.q), pair.v(s.v), pair.v(s.tau), pair.forces(s.wrenches))
    assert_close(d.forward(s.q, s.v, s.tau, 0.0, s.wrenches), pair.ours(a))


def test_inverse_dynamics_and_reactions_are_rnea(case):
    pair, data, s, d = case
    a = np.random.default_rng(5).normal(size=pair.model.nv)
    tau = pin.rnea(pair.pin, data, pair.q(s.q), pair.v(s.v), pair.v(a), pair.forces(s.wrenches))
    assert_close(d.inverse(s.q, s.v, a, 0.0, s.wrenches), pair.ours(tau))
    R = d.reactions(s.q, s.v, pair.ours(tau), 0.0, s.wrenches)
    for joint, body, mine in zip(pair.model.joints, pair.model.bodies, R, strict=True):
        if joint.nv:  # force carried by the joint, at its frame there, at the body's origin here
            theirs = pair.placement[body.name].actInv(data.f[pair.joint_of[body.name]]).vector
            assert_close(mine, theirs, scale=np.abs(R).max(), what=joint.name)


def test_inertia_matrix_is_crba(case):
    pair, data, s, d = case
    M = pin.crba(pair.pin, data, pair.q(s.q))
    M = np.triu(M) + np.triu(M, 1).T
    assert_close(d.mass_matrix(s.q), M[np.ix_(pair.order, pair.order)])


def test_bias_is_nonlinear_effects(case):
    pair, data, s, d = case
    assert_close(d.bias(s.q, s.v), pair.ours(pin.nonLinearEffects(pair.pin, data, pair.q(s.q), pair.v(s.v))))


def test_energies_are_theirs(case):
    pair, data, s, d = case
    kinetic, potential = d.energy(s.q, s.v)
    assert_close(kinetic, pin.computeKineticEnergy(pair.pin, data, pair.q(s.q), pair.v(s.v)))
    size = sum(b.mass for b in pair.model.bodies) * np.linalg.norm(pair.model.gravity)
    assert_close(potential, pin.computePotentialEnergy(pair.pin, data, pair.q(s.q)), scale=size)


def test_poses_velocities_and_accelerations_of_bodies_are_theirs(case):
    pair, data, s, d = case
    m, solution = oracle(pair.model, s)
    q, v, a = pair.q(s.q), pair.v(s.v), pair.v(solution.qdd)
    pin.forwardKinematics(pair.pin, data, q, v, a)
    pin.updateFramePlacements(pair.pin, data)
    frames = [pair.frame_of[b.name] for b in pair.model.bodies]
    rotation, position = d.poses(s.q)
    assert_close(rotation, [data.oMf[f].rotation for f in frames])
    assert_close(position, [data.oMf[f].translation for f in frames])
    velocity = [pin.getFrameVelocity(pair.pin, data, f, LOCAL).vector for f in frames]
    assert_close(d.body_velocities(s.q, s.v), velocity)
    assert_close(m.v.reshape(-1, 6), velocity)
    acceleration = [pin.getFrameClassicalAcceleration(pair.pin, data, f, LOCAL).vector for f in frames]
    assert_close(solution.vdot, acceleration)


def test_jacobians_of_points_are_theirs(case):
    pair, data, s, d = case
    q = pair.q(s.q)
    aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for body in pair.model.bodies[::3]:
        J = pin.computeFrameJacobian(pair.pin, data, q, pair.frame_of[body.name], aligned)
        assert_close(d.jacobian(s.q, body.name), J[:, pair.order])


def test_rates_of_coordinates_integrate_to_theirs(case):
    """q̇ is the velocity of Pinocchio's integrate(q, v)."""
    pair, _, s, d = case
    x = 1e-4
    step = pin.integrate(pair.pin, pair.q(s.q), x * pair.v(s.v)) - pin.integrate(pair.pin, pair.q(s.q), -x * pair.v(s.v))
    assert_close(pair.q(d.rates(s.q, s.v)), step / (2 * x), 1e-6)
