"""Every robot of example-robot-data is the robot that Pinocchio reads, fixed and floating, and survives being saved."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from benchmarks.urdf import DERIVATIVES, TOLERANCE, Pair, measure, read_pair, robot_files, worst_errors

import sharnir as sh
from states import EPS, assert_close
from urdf_files import assert_same_dynamics

ROBOTS = robot_files()
COUPLED = ["baxter/baxter", "panda/panda", "pr2/pr2", "tiago_pro/tiago_pro"]
"""Those whose followers come after their leaders, as Pinocchio's mimic joints want it."""

SINGULAR = ["romeo/romeo", "romeo/romeo_laas_small"]
"""Fingers without mass: no forward dynamics in either program."""


def test_the_robots_are_all_there():
    assert len(ROBOTS) >= 68


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", ROBOTS)
def test_poses_inertia_gravity_inverse_forward_and_derivatives_are_pinocchios(name, floating):
    pair, errors = measure(ROBOTS[name], floating)
    for what, e in errors.items():
        limit = DERIVATIVES if what.startswith("∂") else TOLERANCE
        if what == "∂forward" and e > limit:  # of fingers that weigh nothing beside the robot
            limit = EPS * worst_condition(pair.ours)
        assert e <= limit or (np.isnan(e) and what == "forward" and name in SINGULAR), f"{what}: {e:.3g}"


def worst_condition(model: sh.Model) -> float:
    """Condition number of the inertia matrix at the states of `measure`."""
    d = sh.Dynamics(model, "composite", backend="python")
    return max(float(np.linalg.cond(d.mass_matrix(model.random_q(seed)))) for seed in range(3))


@pytest.mark.parametrize("name", COUPLED)
def test_couplings_are_pinocchios_own_mimic_joints(name):
    pair = read_pair(ROBOTS[name], floating=False, mimic=True)
    assert pair.is_coupled and pair.pin.nv == pair.ours.nv
    assert {j.name for j in pair.ours.joints if j.follows} == {
        n for n, j in zip(pair.pin.names, pair.pin.joints, strict=True) if "Mimic" in j.shortname()
    }
    assert max(worst_errors(pair).values()) <= TOLERANCE


@pytest.mark.parametrize("name", SINGULAR)
def test_a_joint_without_mass_is_named(name):
    with pytest.raises(sh.SingularError, match=r"moves? no mass"):
        sh.Dynamics(sh.load(ROBOTS[name]), "composite", backend="python").forward()
    pair = read_pair(ROBOTS[name], floating=False)
    q, zero = pair.q(pair.ours.random_q(0)), np.zeros(pair.pin.nv)
    assert np.isnan(pin.aba(pair.pin, pair.pin.createData(), q, zero, zero)).any()


@pytest.mark.parametrize("name", ROBOTS)
def test_saved_and_loaded_it_is_the_same_robot(name, tmp_path):
    """Fixed and floating by turns; passive forces, couplings, limits and shapes included."""
    floating = len(name) % 2 == 0 or name in ("hector/quadrotor_base", "iris/iris_simple")
    first = sh.load(ROBOTS[name], floating=floating)
    first.save(tmp_path / "again.urdf")
    second = sh.load(tmp_path / "again.urdf", package_paths=[ROBOTS[name].parents[4]])
    assert_same_dynamics(first, second)
    assert first.fixed_joints.items() <= second.fixed_joints.items()
    for j in first.joints:
        k = second.joints[second.joint_index(j.name)]
        assert (j.type.damping, j.type.friction, j.type.limits, j.follows) == (
            k.type.damping,
            k.type.friction,
            k.type.limits,
            k.follows,
        )
    assert [(v.kind, v.role, v.link, v.sizes) for v in first.visuals] == [
        (v.kind, v.role, v.link, v.sizes) for v in sorted(second.visuals, key=lambda v: _order(first)[v.link])
    ]


def test_damping_acts_unless_it_is_left_out():
    rng = np.random.default_rng(0)
    damped, free = (sh.load(ROBOTS["xarm/xarm7"], passive=passive) for passive in (True, False))
    damping = np.array([j.type.damping for j in damped.joints])
    assert damping.all() and not any(j.type.damping for j in free.joints)
    q, v, a = rng.normal(size=(3, damped.nv))
    forces = [sh.Dynamics(m, "composite", backend="python").inverse(q, v, a) for m in (damped, free)]
    assert_close(forces[0] - forces[1], damping * v, 1e-9)


def _order(model: sh.Model) -> dict[str, int]:
    return {link: k for k, link in enumerate(dict.fromkeys(v.link for v in model.visuals))}


def test_pairs_map_coordinates_both_ways():
    pair = read_pair(ROBOTS["kinova/kinova"], floating=True)
    assert isinstance(pair, Pair) and np.abs(pair.G).sum(axis=0).tolist() == [1.0] * pair.ours.nv
