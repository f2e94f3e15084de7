"""Coordinates and speeds of Pinocchio and MuJoCo: there and back is the identity, and bodies are in the same places."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import sharnir as sh
from pinocchio_models import random_pair
from states import EPS, assert_close

ROBOT = """<robot name="r"><link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="a"/><origin xyz="1 2 3"/><axis xyz="0 1 0"/></joint>
  <joint name="slide" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="finger" type="prismatic"><parent link="a"/><child link="c"/><axis xyz="0 0 1"/><mimic joint="slide" multiplier="-2"
    offset="0.1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="plate" type="planar"><parent link="b"/><child link="d"/><origin xyz="0 0 1"/><axis xyz="0 0 1"/></joint>
</robot>"""

SCENE = """<mujoco><worldbody>
  <body name="box" pos="0 0 1"><freejoint/><geom size="0.1"/>
    <body name="arm" pos="0.2 0 0"><joint name="a" axis="0 1 0"/><joint name="b" type="slide" axis="1 0 0"/><geom size="0.1"/>
      <body pos="0 0 0.3"><joint type="ball"/><geom size="0.1"/></body></body></body>
  <body name="other"><joint name="other" axis="1 0 0"/><joint name="last" type="slide"/><geom size="0.1" pos="0.1 0 0"/></body>
</worldbody></mujoco>"""


def states(model, n=None, seed=0):
    rng = np.random.default_rng(seed)
    if n is None:
        return model.random_q(rng), rng.normal(size=model.nv)
    return np.array([model.random_q(rng) for _ in range(n)]), rng.normal(size=(n, model.nv))


@pytest.fixture
def robot(tmp_path):
    """Ours and Pinocchio's, floating: a continuous joint, one that follows, a planar one; and no mass at all."""
    path = tmp_path / "r.urdf"
    path.write_text(ROBOT)
    return sh.load(path, floating=True), pin.buildModelFromXML(ROBOT, pin.JointModelFreeFlyer())


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "scene.xml"
    path.write_text(SCENE)
    return sh.load(path), mujoco.MjModel.from_xml_string(SCENE)


# --- Pinocchio ----------------------------------------------------------------------------------------------------------------
def test_there_and_back_is_the_identity(robot, scene):
    for model, theirs, there, back in (
        (*robot, sh.to_pinocchio, sh.from_pinocchio),
        (*scene, sh.to_mujoco, sh.from_mujoco),
        (random_pair(1).model, random_pair(1).pin, sh.to_pinocchio, sh.from_pinocchio),
    ):
        for n in (None, 5):
            q, v = states(model, n)
            x, u = there(model, theirs, q, v)
            assert x.shape == (*q.shape[:-1], theirs.nq) and u.shape == (*v.shape[:-1], theirs.nv)
            found = back(model, theirs, x, u)
            assert_close(found[0], q, 4 * EPS, scale=1.0)
            assert_close(found[1], v, 8 * EPS, scale=1.0)
            assert np.array_equal(there(model, theirs, q), x) and np.array_equal(back(model, theirs, x), found[0])
        Q, V = states(model, 3)
        x, u = there(model, theirs, Q, V)
        for k in range(3):
            one = there(model, theirs, Q[k], V[k])
            assert_close(one[0], x[k], EPS, scale=1.0)
            assert_close(one[1], u[k], 4 * EPS, scale=1.0)
        assert_close(there(model, theirs, Q[0], V)[1][2], there(model, theirs, Q[0], V[2])[1], 4 * EPS, scale=1.0)


def test_links_and_their_velocities_are_where_pinocchio_has_them(robot):
    model, theirs = robot
    (q, v), data, d = states(model), theirs.createData(), sh.Dynamics(model, backend="python")
    pin.forwardKinematics(theirs, data, *sh.to_pinocchio(model, theirs, q, v))
    pin.updateFramePlacements(theirs, data)
    for link in ("base", "a", "b", "c", "d"):
        k = theirs.getFrameId(link)
        pose, world = d.pose(q, link), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        assert_close(pose.position, data.oMf[k].translation, 20 * EPS, scale=1.0)
        assert_close(pose.rotation.matrix, data.oMf[k].rotation, 20 * EPS)
        assert_close(d.velocity(q, v, link), pin.getFrameVelocity(theirs, data, k, world).vector, 100 * EPS, scale=1.0)


def test_values_by_name_are_filled_in(robot):
    model, theirs = robot
    x = sh.to_pinocchio(model, theirs, {"turn": 0.5, "slide": 0.2})
    at = theirs.idx_qs[theirs.getJointId("turn")]
    assert_close(x[at : at + 2], [np.cos(0.5), np.sin(0.5)], EPS)
    assert x[theirs.idx_qs[theirs.getJointId("finger")]] == pytest.approx(-2 * 0.2 + 0.1)
    assert x[6] == 1.0  # the quaternion of the base, w last


# --- MuJoCo -------------------------------------------------------------------------------------------------------------------
def test_bodies_and_their_velocities_are_where_mujoco_has_them(scene):
    model, theirs = scene
    (q, v), data, d = states(model, seed=3), mujoco.MjData(theirs), sh.Dynamics(model, backend="python")
    data.qpos[:], data.qvel[:] = sh.to_mujoco(model, theirs, q, v)
    mujoco.mj_forward(theirs, data)
    velocity = np.zeros(6)
    for i in range(1, theirs.nbody):
        body = theirs.body(i).name or f"body{i}"
        pose = d.pose(q, body)
        assert_close(pose.position, data.xpos[i], 20 * EPS, scale=1.0)
        assert_close(pose.rotation.matrix, data.xmat[i].reshape(3, 3), 20 * EPS)
        mujoco.mj_objectVelocity(theirs, data, mujoco.mjtObj.mjOBJ_XBODY, i, velocity, 0)
        assert_close(d.velocity(q, v, body), np.roll(velocity, 3), 100 * EPS, scale=1.0)


def test_a_driven_joint_is_where_its_drive_has_it():
    m = sh.Model("driven")
    m.add_body("a", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("j", sh.Revolute("z", motion=lambda t: sh.sin(2 * t)), "ground", "a")
    theirs = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody></mujoco>'
    )
    x, u = sh.to_mujoco(m, theirs, [], [], t=0.3)
    assert_close((x[0], u[0]), (np.sin(0.6), 2 * np.cos(0.6)), EPS)
    assert sh.from_mujoco(m, theirs, x).shape == (0,)


# --- bad input ----------------------------------------------------------------------------------------------------------------
def test_what_does_not_fit_is_named(robot, scene):
    model, theirs = robot
    q, v = states(model, 2)
    other = sh.samples.pendulum()
    cases = (
        (lambda: sh.to_pinocchio(model, model, q), sh.ModelError, "expected a pinocchio.Model, got"),
        (lambda: sh.from_mujoco(model, theirs, q), sh.ModelError, "expected a mujoco.MjModel, got"),
        (lambda: sh.to_pinocchio("no", theirs, q), sh.ModelError, "needs a sharnir.Model, got 'no'"),
        (
            lambda: sh.to_pinocchio(other, theirs, [0.0]),
            sh.ModelError,
            "Pinocchio has a joint that model 'pendulum' has not: no joint",
        ),
        (lambda: sh.to_mujoco(model, scene[1], q), sh.ModelError, "MuJoCo has a joint that model 'r' has not: no joint 'a'"),
        (lambda: sh.to_pinocchio(model, pin.Model(), q), sh.ModelError, "Pinocchio has no joint for 'base float.x' of model 'r'"),
        (lambda: sh.to_pinocchio(model, theirs, q[:, 1:]), sh.StateError, r"q: expected \(12,\) or \(B, 12\), got"),
        (lambda: sh.to_pinocchio(model, theirs, q, v[:1]), sh.StateError, r"batches of different sizes \(q: 2, v: 1\)"),
        (lambda: sh.from_mujoco(*scene, [0.0], None), sh.StateError, r"qpos: expected \(15,\) or \(B, 15\), got \(1,\)"),
    )
    for ask, kind, message in cases:
        with pytest.raises(kind, match=message):
            ask()
    ball = sh.Model("ball")
    ball.add_body("a", mass=1.0, inertia=(1, 1, 1))
    ball.add_joint("turn", sh.Ball(), "ground", "a")
    single = pin.Model()
    single.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "turn")
    with pytest.raises(sh.ModelError, match="joint 'turn' has 4 coordinates and 3 speeds, in Pinocchio 1 and 1"):
        sh.to_pinocchio(ball, single, ball.neutral())
