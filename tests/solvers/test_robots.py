"""Real robots: every method gives Pinocchio's accelerations, and the rest of its answers."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from benchmarks.robots import ROBOTS, load

import sharnir as sh
from states import assert_close

SOLVERS = [m.name for m in sh.methods() if m.name != "momentum"]
LOADED = {name: load(name) for name in ROBOTS}
PAIRS = [(name, m) for name in ROBOTS for m in SOLVERS if "multipliers" not in m or name in ("ur5", "panda")]
"""Hundreds of multipliers, dense, are too many for the interpreter: the arms show those methods."""


def state(name, n=1):
    robot = LOADED[name]
    rng = np.random.default_rng(len(name))
    q = np.array([robot.model.random_q(rng) for _ in range(n)])
    v, tau = rng.normal(size=(2, n, robot.model.nv))
    return robot, robot.pin.createData(), q, v, tau, robot.q_to_pin(q)


@pytest.mark.parametrize(("name", "method"), PAIRS)
def test_every_method_is_the_articulated_body_algorithm_of_pinocchio(name, method):
    robot, data, q, v, tau, p = state(name)
    d = sh.Dynamics(robot.model, method, backend="auto" if method in ("extended", "maggi") else "python")
    assert_close(d.forward(q[0], v[0], tau[0]), pin.aba(robot.pin, data, p[0], v[0], tau[0]), 1e-10)


@pytest.mark.parametrize("method", ["separate", "composite"])
@pytest.mark.parametrize("name", ROBOTS)
def test_a_compiled_batch_is_pinocchio_state_by_state(name, method):
    robot, data, q, v, tau, p = state(name, 9)
    d = sh.Dynamics(robot.model, method, backend="llvm")
    wanted = np.array([pin.aba(robot.pin, data, *x) for x in zip(p, v, tau, strict=True)])
    assert_close(d.forward(q, v, tau), wanted, 1e-10)


@pytest.mark.parametrize("name", ROBOTS)
def test_forces_energy_and_poses_are_pinocchios(name):
    robot, data, q, v, a, p = state(name)
    d = sh.Dynamics(robot.model, "composite", backend="llvm" if name in ("ur5", "panda") else "python")
    assert_close(d.inverse(q[0], v[0], a[0]), pin.rnea(robot.pin, data, p[0], v[0], a[0]), 1e-10)
    M = pin.crba(robot.pin, data, p[0])
    assert_close(d.mass_matrix(q[0]), np.triu(M) + np.triu(M, 1).T, 1e-10)
    kinetic, potential = d.energy(q[0], v[0])
    assert_close(kinetic, pin.computeKineticEnergy(robot.pin, data, p[0], v[0]), 1e-10)
    assert_close(potential, pin.computePotentialEnergy(robot.pin, data, p[0]), 1e-10)
    pin.forwardKinematics(robot.pin, data, p[0])
    rotation, position = d.poses(q[0])
    for i, joint in enumerate(robot.model.joints):
        there = data.oMi[robot.pin.getJointId(joint.name)]
        assert_close(rotation[i], there.rotation, 1e-10)
        assert_close(position[i], there.translation, 1e-10)


@pytest.mark.parametrize("algorithm", ["composite", "direct", "stepanenko", "recursive", "kosynka"])
@pytest.mark.parametrize("name", ROBOTS)
def test_every_inertia_matrix_is_that_of_pinocchio(name, algorithm):
    robot, data, q, _, _, p = state(name)
    M = pin.crba(robot.pin, data, p[0])
    found = sh.Dynamics(robot.model, algorithm, backend="python").mass_matrix(q[0])
    assert_close(found, np.triu(M) + np.triu(M, 1).T, 1e-10)
