"""Pose, Jacobian, velocity and acceleration of points, by body or frame: each follows from the others; all are Pinocchio's."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import sharnir as sh
from mechanisms import floating
from pinocchio_models import random_pair, se3
from sharnir.model.references import located
from states import EPS, along, assert_close, derivative, random_pose, random_state

POINT = np.array([0.1, -0.2, 0.3])


def moving() -> sh.Model:
    """Every joint, a driven one, a base that moves; frames away from their bodies and on the ground."""
    base = lambda t: sh.Pose((sh.sin(t), 0.2, 0.0), sh.Rotation.about((0.0, 0.6, 0.8), 0.3 * t))  # noqa: E731
    m = sh.samples.all_joints(1).copy()
    m.base_motion = base
    rng = np.random.default_rng(7)
    for i, body in enumerate([b.name for b in m.bodies][::4]):
        m.add_frame(f"tool{i}", body, random_pose(rng))
    m.add_frame("marker", "ground", random_pose(rng))
    last = m.bodies[-1].name
    m.add_body("fan", mass=0.3, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.2, 0.2))
    m.add_joint("motor", sh.Revolute("y", motion=lambda t: sh.sin(2 * t)), last, "fan", at=random_pose(rng))
    m.add_frame("tip", "fan", random_pose(rng))
    return m


def coupled() -> sh.Model:
    m = sh.samples.chain(4)
    names = [j.name for j in m.joints]
    m = m.copy()
    m.couple(names[2], names[0], -1.5, 0.2)
    m.add_frame("tip", m.bodies[-1].name, sh.Pose((0.3, 0.1, 0.0), sh.Rotation.rpy(0.1, 0.2, 0.3)))
    return m


MODELS = {"every joint": moving(), "coupled": coupled(), "floating": floating(), "welded": sh.samples.tree(5, seed=3)}
EACH = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
SMALL = pytest.mark.parametrize("model", [m for name, m in MODELS.items() if name != "every joint"], ids=lambda m: m.name)


@cache
def dynamics(model, backend="python"):
    return sh.Dynamics(model, "composite", backend=backend)


def places(model):
    return ["ground", model.bodies[0].name, model.bodies[-1].name, *model.frames]


def pose_of(d, s, where, x=0.0):
    """By the poses of all bodies; x: seconds later along the motion."""
    rates = d.rates(s.q, s.v, s.t)
    body, at = located(where, d.structure.body_number, d.model.frames)
    if body < 0:
        base = d.model.base_motion
        return (sh.Pose() if base is None else base(s.t + x)) @ at
    R, r = d.poses(s.q + x * rates, s.t + x)
    return sh.Pose(r[body], R[body]) @ at


# --- identities ---------------------------------------------------------------------------------------------------------------
@EACH
def test_a_pose_is_that_of_the_body_with_the_frame_on_it(model):
    s, d = random_state(model, 1), dynamics(model)
    for where in places(model):
        found, wanted = d.pose(s.q, where, s.t), pose_of(d, s, where)
        assert isinstance(found, sh.Pose)
        assert_close(found.position, wanted.position, 20 * EPS, scale=1.0)
        assert_close(found.rotation.matrix, wanted.rotation.matrix, 20 * EPS)


@EACH
def test_a_velocity_is_the_derivative_of_the_pose_and_an_acceleration_that_of_the_velocity(model):
    s, d = random_state(model, 2), dynamics(model)
    a = np.random.default_rng(3).normal(size=model.nv)
    line = along(s, d.rates(s.q, s.v, s.t), a)
    for where in places(model):
        v = d.velocity(s.q, s.v, where, POINT, s.t)

        def point(x, where=where):
            return pose_of(d, s, where, x) @ POINT

        def turned(x, where=where):
            return pose_of(d, s, where, x).rotation.matrix

        W = derivative(turned, 0.01) @ turned(0.0).T
        assert_close(v[:3], derivative(point, 0.01), 1e-7, scale=1.0)
        assert_close(v[3:], [W[2, 1], W[0, 2], W[1, 0]], 1e-7, scale=1.0)

        def velocity(x, where=where):
            q, v, t = line(x)
            return d.velocity(q, v, where, POINT, t)

        assert_close(d.acceleration(s.q, s.v, a, where, POINT, s.t), derivative(velocity, 0.005), 1e-6, scale=1.0)


@EACH
def test_velocity_and_acceleration_are_linear_in_speeds_by_the_jacobian(model):
    s, d = random_state(model, 4), dynamics(model)
    a = np.random.default_rng(5).normal(size=model.nv)
    for where in places(model):
        for axes in ("world", "local"):
            given = {"point": POINT, "t": s.t, "axes": axes}
            J = d.jacobian(s.q, where, **given)
            v, at_rest = d.velocity(s.q, s.v, where, **given), d.velocity(s.q, None, where, **given)
            assert_close(J @ s.v, v - at_rest, 1e-12, scale=1.0)
            rate = d.jacobian_rate(s.q, s.v, where, **given)
            assert_close(J @ a, d.acceleration(s.q, s.v, a, where, **given) - rate, 1e-11, scale=1.0)
    assert not d.jacobian(s.q, "ground", t=s.t).any()


@EACH
def test_local_axes_are_the_world_seen_from_the_frame(model):
    s, d = random_state(model, 6), dynamics(model)
    for where in places(model):
        back = np.kron(np.eye(2), d.pose(s.q, where, s.t).rotation.matrix.T)
        for ask in (
            lambda axes, where=where: d.jacobian(s.q, where, POINT, s.t, axes),
            lambda axes, where=where: d.velocity(s.q, s.v, where, POINT, s.t, axes),
            lambda axes, where=where: d.acceleration(s.q, s.v, s.v, where, POINT, s.t, axes),
        ):
            assert_close(ask("local"), back @ ask("world"), 1e-13, scale=1.0)


@EACH
def test_a_point_of_a_frame_is_a_point_of_its_body(model):
    s, d = random_state(model, 7), dynamics(model)
    for name, (body, at) in model.frames.items():
        assert_close(d.jacobian(s.q, name, POINT, s.t), d.jacobian(s.q, body, at @ POINT, s.t), 1e-13, scale=1.0)
        assert_close(d.velocity(s.q, s.v, (body, at), POINT, s.t), d.velocity(s.q, s.v, name, POINT, s.t), 1e-13, scale=1.0)


# --- executions ---------------------------------------------------------------------------------------------------------------
@SMALL
@pytest.mark.parametrize("backend", ["llvm", "loops"])
@pytest.mark.parametrize("axes", ["world", "local"])
def test_every_backend_gives_one_answer_and_a_batch_is_its_states(model, backend, axes):
    python, d = dynamics(model), dynamics(model, backend)
    n = 9
    states = [random_state(model, seed) for seed in range(n)]
    Q, V, A = (np.array([getattr(s, name) for s in states]) for name in ("q", "v", "tau"))
    T, points = np.array([s.t for s in states]), np.random.default_rng(8).normal(size=(n, 3))
    for where in places(model)[-2:]:
        rotation, position = d.pose(Q, where, T)
        assert rotation.shape == (n, 3, 3) and position.shape == (n, 3)
        together = (
            d.jacobian(Q, where, points, T, axes),
            d.velocity(Q, V, where, points, T, axes),
            d.acceleration(Q, V, A, where, points, T, axes),
        )
        for k, s in enumerate(states):
            one = (
                python.jacobian(s.q, where, points[k], s.t, axes),
                python.velocity(s.q, s.v, where, points[k], s.t, axes),
                python.acceleration(s.q, s.v, s.tau, where, points[k], s.t, axes),
            )
            for x, y in zip(together, one, strict=True):
                assert_close(x[k], y, 1e-12, scale=1.0)
            pose = d.pose(s.q, where, s.t)
            assert_close(rotation[k], pose.rotation.matrix, 1e-13)
            assert_close(position[k], pose.position, 1e-13, scale=1.0)
            assert_close(d.jacobian(s.q, where, points[k], s.t, axes), one[0], 1e-12, scale=1.0)


@pytest.mark.parametrize("backend", ["llvm", "loops"])
def test_the_body_is_data_and_compiles_nothing_anew(backend, monkeypatch):
    model = sh.samples.tree(5, seed=3)
    d = sh.Dynamics(model, "separate", backend=backend)
    s = random_state(model, 9)

    def ask(where):
        d.jacobian(s.q, where, POINT)
        d.pose(s.q, where)
        d.velocity(s.q, s.v, where)
        d.acceleration(s.q, s.v, s.v, where)

    ask(model.bodies[0].name)
    made = []
    monkeypatch.setattr(d.formulation.programs, "_make", lambda *arguments: made.append(arguments))
    for body in model.bodies:
        ask(body.name)
        ask((body.name, sh.Pose((0.1, 0.0, 0.0))))
    ask("ground")
    assert not made


def test_what_is_away_from_the_path_does_not_matter_even_where_it_is_not_defined():
    m = sh.Model("two arms")
    for arm in ("left", "right"):
        m.add_body(arm, mass=1.0, inertia=(1, 1, 1))
    m.add_joint("hinge", sh.Revolute("z"), "ground", "left")
    m.add_joint("slot", sh.CustomJoint(1, lambda q, t: sh.Pose((sh.sqrt(q[0]), 0.0, 0.0))), "ground", "right")
    q = np.array([0.3, 0.3])
    q[m.q_slice("slot")] = -1.0  # no root of it
    J = sh.Dynamics(m, backend="python").jacobian(np.array([q, q]), "left", (1.0, 0.0, 0.0))
    assert np.isfinite(J).all() and np.abs(J).max() == 1.0
    with pytest.raises(sh.SingularError, match="not given by finite numbers"):
        sh.Dynamics(m, backend="python").jacobian(q, "right")


# --- Pinocchio ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(4))
def test_all_are_pinocchios(seed):
    pair = random_pair(seed)
    m, p, rng = pair.model.copy(), pair.pin, np.random.default_rng(seed)
    frames = {}
    for body in [b.name for b in m.bodies][::3]:
        at = random_pose(rng)
        m.add_frame(f"on {body}", body, at)
        placement = pair.placement[body] * se3(at)
        frames[f"on {body}"] = p.addFrame(pin.Frame(f"on {body}", pair.joint_of[body], 0, placement, pin.FrameType.OP_FRAME))
    data, d, s = p.createData(), sh.Dynamics(m, backend="python"), random_state(m, seed)
    a = rng.normal(size=m.nv)
    q, v = sh.to_pinocchio(m, p, s.q, s.v)
    pin.forwardKinematics(p, data, q, v, sh.to_pinocchio(m, p, s.q, a)[1])
    pin.computeJointJacobians(p, data, q)
    pin.updateFramePlacements(p, data)
    for name, k in frames.items():
        pose = d.pose(s.q, name)
        assert_close(pose.position, data.oMf[k].translation, 1e-12, scale=1.0)
        assert_close(pose.rotation.matrix, data.oMf[k].rotation, 1e-12)
        for axes, theirs in (("world", pin.ReferenceFrame.LOCAL_WORLD_ALIGNED), ("local", pin.ReferenceFrame.LOCAL)):
            J = pin.getFrameJacobian(p, data, k, theirs)
            assert_close(d.jacobian(s.q, name, axes=axes), J[:, pair.order], 1e-11, scale=1.0)
            assert_close(d.velocity(s.q, s.v, name, axes=axes), pin.getFrameVelocity(p, data, k, theirs).vector, 1e-11, scale=1.0)
            classical = pin.getFrameClassicalAcceleration(p, data, k, theirs).vector
            assert_close(d.acceleration(s.q, s.v, a, name, axes=axes), classical, 1e-10, scale=1.0)


# --- names and bad input ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("axes", ["world", "local"])
def test_nothing_that_moves_freely_and_no_states_are_answered_too(axes):
    m = sh.Model("driven")
    m.add_body("fan", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("motor", sh.Revolute("z", motion=lambda t: 2.0 * t), "ground", "fan")
    d = sh.Dynamics(m, "composite", backend="python")
    assert d.jacobian([], "fan", POINT, axes=axes).shape == (6, 0)
    assert d.jacobian(np.zeros((0, 0)), "fan", POINT, axes=axes).shape == (0, 6, 0)
    assert d.velocity(np.zeros((0, 0)), None, "fan", axes=axes).shape == (0, 6)
    assert_close(d.velocity([], [], "fan", axes=axes), (0, 0, 0, 0, 0, 2.0), EPS)
    assert_close(d.jacobian_rate([], [], "fan", (1.0, 0.0, 0.0), axes=axes), (-4.0, 0, 0, 0, 0, 0), EPS)


def test_a_body_comes_before_a_frame_of_its_name_and_the_pair_means_the_frame():
    m = sh.Model("twice")
    m.add_body("hand", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("wrist", sh.Revolute("z"), "ground", "hand")
    m.add_frame("hand", "hand", sh.Pose((1.0, 2.0, 3.0)))
    d = sh.Dynamics(m, backend="python")
    assert d.pose([0.0], "hand").position == (0.0, 0.0, 0.0)
    assert d.pose([0.0], m.frames["hand"]).position == (1.0, 2.0, 3.0)


def test_bad_input_is_named():
    m = MODELS["coupled"]
    d, q, body = dynamics(m), m.neutral(), m.bodies[0].name
    cases = (
        (
            lambda: d.pose(q, "tipp"),
            sh.ModelError,
            r"no body or frame 'tipp'; did you mean 'tip'\? The bodies and frames are 'ground'",
        ),
        (lambda: d.jacobian(q, ("bdoy", sh.Pose())), sh.ModelError, "no body 'bdoy'"),
        (lambda: d.velocity(q, None, 3), sh.ModelError, "no body or frame 3"),
        (lambda: d.velocity(q, None, ["tip"]), sh.ModelError, r"no body or frame \['tip'\]"),
        (lambda: d.jacobian(q, "tip", axes="wold"), sh.MethodError, "unknown axes 'wold'; did you mean 'world'"),
        (lambda: d.jacobian(q, "tip", axes=None), sh.MethodError, "unknown axes None"),
        (lambda: d.jacobian(q, "tip", axes=np.zeros(3)), sh.MethodError, "unknown axes array"),
        (lambda: d.jacobian(q, "tip", (1.0, 2.0)), sh.StateError, r"point: expected \(3,\) or \(B, 3\), got \(2,\)"),
        (lambda: d.jacobian(q, "tip", None), sh.StateError, r"point: expected \(3,\) or \(B, 3\), got None"),
        (lambda: d.jacobian(q, "tip", (0.0, np.nan, 0.0)), sh.StateError, "point: 'y' is nan"),
        (lambda: d.jacobian(q, body, (0.0, np.inf, 0.0)), sh.StateError, "point: 'y' is inf"),
        (lambda: d.acceleration(q, None, [1.0], "tip"), sh.StateError, r"a: expected \(3,\) or \(B, 3\), one .* got \(1,\)"),
        (lambda: d.velocity(q, [np.nan, 0, 0], "tip"), sh.StateError, "v: .* is nan"),
        (lambda: d.pose(q[:1], "tip"), sh.StateError, "q: expected"),
    )
    for ask, kind, message in cases:
        with pytest.raises(kind, match=message):
            ask()
