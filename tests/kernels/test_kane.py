"""The vector b of [K], and the joints of which its algorithm asks less."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.counts import general_chain

import sharnir as sh
from loop_models import placed
from sharnir.backends.run import evaluate
from sharnir.dialect.storage import allocate
from sharnir.kernels.joint_stage import JointValues, joint_stage
from states import FOREST, assert_close, forest, matrices, random_pose, random_state


def bias(model, s):
    wrenches = np.vstack([np.zeros(6), s.wrenches]).ravel()
    values = {"q": s.q.tolist(), "v": s.v.tolist(), "t": [s.t], "wrench": wrenches.tolist()}
    return evaluate(model.structure, "bias/recursive", values, float).h


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_b_of_a_chain_is_Q_of_the_dense_matrices(first):
    for k in range(first, first + 25):
        model = general_chain(2 + k % 9, seed=k)
        assert model.structure.tree.hinge.all()
        s = random_state(model, k)
        assert_close(-bias(model, s), matrices(model, s).Q, 1e-12, what=model.name)


@pytest.mark.parametrize("k", range(0, FOREST, 9))
def test_b_of_a_tree_with_every_joint_is_Q_of_the_dense_matrices(k):
    model = forest(k)
    s = random_state(model, k)
    assert_close(-bias(model, s), matrices(model, s).Q, 1e-12, what=model.name)


def test_a_loop_takes_A_and_b_from_the_same_algorithm():
    model, q, v = placed("four-bar")[:3]
    found, wanted = (sh.Dynamics(model, method, backend="python").forward(q, v) for method in ("recursive", "separate"))
    assert_close(found, wanted, 1e-9)


# --- hinges -------------------------------------------------------------------------------------------------------------------
def joint_values(model, s):
    structure = model.structure
    drive, given = structure.user_functions(s.q.tolist(), s.v.tolist(), s.t)
    out = allocate(JointValues, structure.sizes)
    joint_stage(structure.joints, np.array(drive).reshape(-1, 3), np.array(given), s.q, s.v, out)
    return out


@pytest.mark.parametrize("k", range(0, FOREST, 13))
def test_a_hinge_has_no_linear_velocity_and_no_psi(k):
    model = forest(k)
    s, tree = random_state(model, k), model.structure.tree
    j = joint_values(model, s)
    for i in np.flatnonzero(tree.hinge[1:]) + 1:
        axes = slice(tree.first[i], tree.first[i + 1])
        assert not j.A[axes, :3].any() and not j.vr[i, :3].any() and not j.psi[i].any()
        assert_close(j.vr[i, 3:], s.v[tree.speed[axes]] @ j.A[axes, 3:], 1e-14)


def hinges(joint, swapped=False, **ends):
    m = sh.Model("one joint")
    m.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.3))
    m.add_joint("joint", joint, *(("body", "ground") if swapped else ("ground", "body")), **ends)
    return m.structure.tree.hinge.tolist()[1:]


AWAY = random_pose(np.random.default_rng(0))
TURNED = sh.Pose((0.0, 0.0, 0.0), AWAY.rotation)


@pytest.mark.parametrize("joint", [sh.Revolute("x"), sh.Ball(), sh.Weld()], ids=lambda j: j.type_name)
def test_hinge_ball_and_weld_at_the_origin_of_their_body_are_hinges(joint):
    for swapped, near, far in ((False, "at", "child_at"), (True, "child_at", "at")):
        assert hinges(joint, swapped, **{near: AWAY}) == hinges(joint, swapped, **{near: AWAY, far: TURNED}) == [1]
        assert hinges(joint, swapped, **{far: AWAY}) == [int(isinstance(joint, sh.Weld))]


@pytest.mark.parametrize(
    "joint",
    [
        sh.Revolute("x", motion=lambda t: sh.sin(t)),
        sh.Prismatic("z"),
        sh.Screw("z", pitch=0.1),
        sh.Universal("x", "y"),
        sh.Free(),
    ],
    ids=lambda j: j.type_name,
)
def test_other_joints_are_no_hinges(joint):
    assert hinges(joint) == [0]


def test_what_a_parameter_may_move_is_no_hinge():
    m = sh.Model("offset")
    m.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.3))
    x = m.add_parameter("x", 0.0)
    m.add_joint("joint", sh.Revolute("z"), "ground", "body", child_at=sh.Pose((x, 0.0, 0.0)))
    assert m.structure.tree.hinge.tolist()[1:] == [0]
    d = sh.Dynamics(m, "recursive", backend="python")
    wanted = sh.Dynamics(m, "separate", backend="python")
    for value in (0.0, 0.4):
        a, b = (each.forward([0.3], [0.7], parameters={"x": value}) for each in (d, wanted))
        assert_close(a, b, 1e-12)
