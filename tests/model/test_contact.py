"""Contact: shapes touch where they are, with the force of their law; what is known by hand comes out."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

import sharnir as sh
from sharnir.viewer.build import scene_of
from states import assert_close, derivative

G, K, M = 9.81, 1e4, 2.0
SIDEWAYS = sh.Pose(rotation=sh.Rotation.about("x", math.pi / 2))
BOWL = sh.HeightFunction(sh.formula("(x*x + y*y)/4", "x", "y"))


def floating(*contacts, gravity=(0.0, 0.0, -G), shape=None):
    m = sh.Model("floating", gravity=gravity)
    m.add_body("a", M, **({"inertia": (0.1, 0.2, 0.3)} if shape is None else {"shape": shape}))
    m.add_floating("a")
    for contact in contacts:
        m.add_force(contact)
    return m


def at(*position, turn=(1.0, 0.0, 0.0, 0.0)):
    return {"a float": (*position, *turn)}


# --- where shapes touch -----------------------------------------------------------------------------------------------------
RESTS = {
    "sphere": (sh.Sphere(0.3), 0.3, 1),
    "capsule standing": (sh.Capsule(0.1, 0.5), 0.35, 1),
    "capsule lying": (sh.Capsule(0.1, 0.5, SIDEWAYS), 0.1, 2),
    "box": (sh.Box((0.4, 0.5, 0.6)), 0.3, 4),
    "cylinder standing": (sh.Cylinder(0.2, 0.5), 0.25, 3),
    "cylinder lying": (sh.Cylinder(0.2, 0.5, SIDEWAYS), 0.2, 2),
    "wheel upright": (sh.Torus(0.3, 0.1, SIDEWAYS), 0.4, 1),
    "wheel lying": (sh.Torus(0.3, 0.1), 0.1, 3),
    "points": (sh.Points([(2, 0, -0.2), (-1, 1, -0.2), (-1, -1, -0.2), (0, 0, 0)]), 0.2, 3),
}


@pytest.mark.parametrize("name", RESTS)
def test_a_body_at_rest_sinks_by_its_weight_over_the_stiffness_of_its_points(name):
    """A box by mg/4k. Nothing turns it."""
    shape, height, points = RESTS[name]
    depth = M * G / (points * K)
    d = sh.Dynamics(floating(sh.Contact("a", shape, stiffness=K, friction=0.5, damping=3.0)), backend="python")
    assert_close(d.forward(at(0.7, 0.2, height - depth)), np.zeros(6), 1e-11, scale=G)
    assert_close(d.force_energies(at(0.7, 0.2, height - depth)), [points * 0.5 * K * depth**2], 1e-11)
    assert_close(d.forward(at(0.7, 0.2, height + 1e-9)), [0, 0, -G, 0, 0, 0], 1e-15, scale=G)


DEPTHS = {
    "sphere on sphere": (sh.Sphere(1.0), sh.Sphere(0.5), (0.0, 0.3, 1.4), 1.5 - math.hypot(0.3, 1.4), 1),
    "sphere on a face": (sh.Sphere(1.0), sh.Box((2, 4, 6)), (1.9, 0.3, -0.4), 0.1, 1),
    "sphere on an edge": (sh.Sphere(1.0), sh.Box((2, 4, 6)), (1.5, 2.5, -0.4), 1.0 - math.sqrt(0.5), 1),
    "sphere on a corner": (sh.Sphere(1.0), sh.Box((2, 4, 6)), (-1.5, 2.5, -3.5), 1.0 - math.sqrt(0.75), 1),
    "sphere inside": (sh.Sphere(1.0), sh.Box((2, 4, 6)), (0.0, 1.8, 0.0), 1.2, 1),
    "box on sphere": (sh.Box((2, 4, 6)), sh.Sphere(1.0), (-1.9, -0.3, 0.4), 0.1, 1),
    "box on box": (sh.Box((1, 1, 1)), sh.Box((2, 2, 2)), (0.1, 0.2, 1.4), 0.1, 4),
    "box under box": (sh.Box((2, 2, 2)), sh.Box((1, 1, 1)), (0.1, 0.2, -1.4), 0.1, 4),
    "capsule on sphere": (sh.Capsule(0.5, 2.0), sh.Sphere(1.0), (1.2, 0.8, 0.3), 1.5 - math.hypot(1.2, 0.8), 1),
    "capsule beyond a sphere": (sh.Capsule(0.5, 2.0), sh.Sphere(1.0), (0.3, 0.4, 2.2), 1.5 - math.hypot(0.5, 1.2), 1),
    "capsule on a box": (sh.Capsule(0.5, 2.0), sh.Box((2, 2, 2)), (0.0, 0.2, 2.4), 0.1, 1),
    "points in a sphere": (sh.Points([(0, 0, 0)]), sh.Sphere(1.0), (0.0, 0.0, 0.9), 0.1, 1),
    "points in a box": (sh.Points([(0, 0, 0)]), sh.Box((2, 2, 2)), (0.1, -0.2, 0.9), 0.1, 1),
    "sphere in a bowl": (sh.Sphere(0.5), BOWL, (0.0, 0.0, 0.4), 0.1, 1),
    "wheel in a bowl": (sh.Torus(0.3, 0.1, SIDEWAYS), BOWL, (0.0, 0.0, 0.38), 0.02, 1),
}


@pytest.mark.parametrize("name", DEPTHS)
def test_shapes_are_as_deep_in_each_other_as_their_distance_says(name):
    shape, against, place, depth, points = DEPTHS[name]
    m = floating(sh.Contact("a", shape, against, stiffness=K, exponent=1.5))
    assert_close(sh.Dynamics(m, backend="python").force_energies(at(*place)), [points * 0.4 * K * depth**2.5], 1e-9)


def test_the_distance_from_a_height_function_is_that_of_its_nearest_point():
    m = floating(sh.Contact("a", sh.Sphere(0.4), BOWL, stiffness=K))
    p = np.array([0.6, -0.3, 0.4])
    x, y = np.meshgrid(np.linspace(0.2, 0.8, 1201), np.linspace(-0.5, 0.0, 1001))
    nearest = np.sqrt((x - p[0]) ** 2 + (y - p[1]) ** 2 + ((x**2 + y**2) / 4 - p[2]) ** 2).min()
    depth = math.sqrt(2.0 * float(sh.Dynamics(m, backend="python").force_energies(at(*p))[0]) / K)
    assert_close(depth, 0.4 - nearest, 1e-5)


@pytest.mark.parametrize("shape", [sh.Torus(0.3, 0.05), sh.Cylinder(0.3, 0.1)], ids=["wheel", "cylinder"])
def test_a_spring_under_a_wheel_on_hills_is_conservative(shape):
    """A millimetre deep: the deepest point is found, so that it moves as the body does."""
    hills = sh.HeightFunction(sh.formula("0.05*cos(2*x)*cos(2*y)", "x", "y"))
    m = floating(sh.Contact("a", shape, hills, stiffness=K))
    d, rng = sh.Dynamics(m, backend="python"), np.random.default_rng(0)
    for _ in range(2):
        q, v = m.random_q(rng), rng.normal(size=6)
        low, high = -1.0, 1.0
        for _ in range(40):
            q[2] = 0.5 * (low + high)
            low, high = (q[2], high) if d.force_energies(q)[0] > 0.5 * K * 1e-6 else (low, q[2])
        rate = d.rates(q, v)
        loss = derivative(lambda h, q=q, rate=rate: d.force_energies(q + h * rate)[0], 1e-5)
        assert_close(float(d.force_powers(q, v)[0]), -loss, 1e-5, scale=K * 1e-3)


def test_shapes_that_do_not_meet_are_refused_with_what_they_touch():
    with pytest.raises(sh.ModelError, match="no contact of a Cylinder with a Box; a Cylinder touches Plane, HeightFunction"):
        sh.Contact("a", sh.Cylinder(1.0, 1.0), sh.Box((1, 1, 1)))
    with pytest.raises(sh.ModelError, match="both surfaces are on 'a'"):
        sh.Contact("a", sh.Sphere(1.0), on="a")
    with pytest.raises(sh.ModelError, match="static_friction must be at least friction"):
        sh.Contact("a", sh.Sphere(1.0), friction=0.5, static_friction=0.4)
    with pytest.raises(sh.ModelError, match=r"shape: expected a sharnir\.Sphere or .*sharnir\.Points, got 'ball'"):
        sh.Contact("a", "ball")


# --- laws of force ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("model", ["hunt-crossley", "kelvin-voigt"])
def test_a_contact_never_pulls(model):
    d = sh.Dynamics(floating(sh.Contact("a", sh.Sphere(1.0), stiffness=K, damping=50.0, model=model)), backend="python")
    leaving, pressing = ({"a float": (0, 0, speed, 0, 0, 0)} for speed in (90.0, -0.1))
    assert d.forward(at(0, 0, 0.99), leaving)[2] == -G
    force = K * 0.01 * (1.0 + 5.0) if model == "hunt-crossley" else K * 0.01 + 5.0
    assert_close(d.forward(at(0, 0, 0.99), pressing)[2], force / M - G, 1e-12)


def test_friction_has_the_dip_of_stribeck_and_moments_resist_rolling_and_spin():
    contact = sh.Contact(
        "a", sh.Sphere(1.0), friction=0.3, static_friction=0.5, stribeck=0.2, rolling=0.02, spin=0.03, stiffness=K
    )
    d = sh.Dynamics(floating(contact), backend="python")
    normal = K * 0.01
    v = np.array([0.1, 0.0, 0.0, 0.0, 0.0, 4.0])  # slides along x and spins about the normal
    place, bare = at(0, 0, 0.99), sh.Dynamics(floating(), backend="python")
    mu, arm = 0.3 + 0.2 * math.exp(-0.25), 0.995  # to the middle of the overlap
    load = bare.bias(place, v) - d.bias(place, v)
    assert_close(load, [-mu * normal, 0.0, normal, 0.0, arm * mu * normal, -0.03 * normal], 1e-9)
    rolling = np.array([0.0, -0.995, 0.0, 1.0, 0.0, 0.0])  # without slip
    load = bare.bias(place, rolling) - d.bias(place, rolling)
    assert_close(load, [0.0, 0.0, normal, -0.02 * normal, 0.0, 0.0], 1e-9)


def test_the_jacobian_of_a_contact_is_that_of_differences():
    contact = sh.Contact("a", sh.Box((1.0, 1.0, 1.0)), BOWL, stiffness=K, exponent=1.5, damping=0.3, friction=0.5, slip=0.1)
    d = sh.Dynamics(floating(contact), backend="python")
    q, v = np.array([0.3, 0.2, 0.6, 0.9, 0.1, 0.3, 0.2]), np.array([0.1, 0.2, -0.3, 0.4, 0.5, 0.6])
    q[3:] /= np.linalg.norm(q[3:])
    found = d.forward_derivatives(q, v)
    for k, e in enumerate(np.eye(6)):
        assert_close(found.dv[:, k], derivative(lambda h, e=e: d.forward(q, v + h * e), 1e-3), 1e-6, scale=100.0)
        assert_close(found.dq[:, k], derivative(lambda h, e=e: d.forward(d.model.integrate(q, h * e), v), 1e-4), 1e-6, scale=1e3)


def test_two_rounds_of_hunt_and_crossley_lose_what_their_law_says():
    """m v dv = −k·xⁿ(1 + d v) dx from touch to touch: v − ln(1 + d v)/d is the same before and after."""
    m = sh.Model("bounce", gravity=(0, 0, 0))
    m.add_body("a", M)
    m.add_joint("z", sh.Prismatic("z"), "ground", "a")
    d = 0.4
    m.add_force(sh.Contact("a", sh.Sphere(0.1), stiffness=K, damping=d, exponent=1.5, name="floor"))
    r = sh.simulate(m, 0.4, q0=[0.2], v0=[-1.5], output=0.1)
    before, after = 1.5, -r.v[-1, 0]
    assert_close(after - math.log1p(d * after) / d, before - math.log1p(d * before) / d, 1e-7)
    assert np.abs(r.energy.defect).max() < 1e-6
    rolled = sh.rollout(m, [[0.2], [0.3]], [[-1.5], [0.0]], step=1e-4, duration=0.4, every=1000)
    assert_close(rolled.q[0, -1], r.q[-1], 1e-6)


def test_spring_like_contact_is_mujocos():
    """Without gravity, MuJoCo's constraint is a spring and a damper of the reduced mass (solref negative)."""
    k, c = 900.0, 40.0
    text = f"""<mujoco><option gravity="0 0 0"/><worldbody><geom type="plane" size="9 9 1" solref="{-k} {-c}" condim="1"/>
      <body name="a"><freejoint/><inertial pos="0 0 0" mass="{M}" diaginertia="0.1 0.2 0.3"/>
      <geom type="sphere" size="0.3" solref="{-k} {-c}" condim="1"/></body></worldbody></mujoco>"""
    mj = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(mj)
    contact = sh.Contact("a", sh.Sphere(0.3), stiffness=M * k, damping=M * c, model="kelvin-voigt")
    d = sh.Dynamics(floating(contact, gravity=(0, 0, 0)), backend="python")
    for depth, speed in ((0.01, 0.0), (0.02, -0.3), (0.005, 0.05), (0.01, 0.9), (-0.01, 0.0)):
        data.qpos[:], data.qvel[:] = (0, 0, 0.3 - depth, 1, 0, 0, 0), (0, 0, speed, 0, 0, 0)
        mujoco.mj_forward(mj, data)
        assert_close(d.forward(at(0, 0, 0.3 - depth), {"a float": (0, 0, speed, 0, 0, 0)})[2], data.qacc[2], 1e-6, scale=1.0)


# --- motions known by hand --------------------------------------------------------------------------------------------------
SLOPE = 0.1
V0, MU, R = 2.0, 0.3, 0.1
ROUND = {
    "ball": (sh.Sphere(R), 2 / 5),
    "roller": (sh.Cylinder(R, 0.3, SIDEWAYS), 1 / 2),
    "wheel": (sh.Torus(0.8 * R, 0.2 * R, SIDEWAYS), 0.64 + 0.75 * 0.04),
}


@pytest.fixture(scope="module")
def race():
    """A ball thrown along a plane, and three round bodies that roll down a slope, in one run."""
    m = sh.Model("race")
    down = sh.Pose(rotation=sh.Rotation.about("y", SLOPE))
    stiff = {"stiffness": 1e6, "damping": 30.0, "friction": MU, "slip": 1e-3}
    q, v = {}, {}
    for k, (name, (shape, _)) in enumerate((("thrown", ROUND["ball"]), *ROUND.items())):
        m.add_body(name, M, shape=shape)
        m.add_joint(name, sh.Compound({"xyz": sh.Translation(), "turn": sh.Revolute("y")}), "ground", name)
        thrown = name == "thrown"
        m.add_force(sh.Contact(name, shape, sh.Plane(sh.Pose() if thrown else down), **stiff), name=f"{name} on floor")
        lift = (R - M * G / 1e6) if thrown else R / math.cos(SLOPE) - 1e-6
        q[name], v[name] = (0.0, float(k), lift, 0.0), (V0 if thrown else 0.0, 0.0, 0.0, 0.0)
    return sh.simulate(m, 1.0, q0=q, v0=v, output=0.1)


def test_a_sliding_ball_rolls_at_five_sevenths_of_its_speed(race):
    speed = race.speed("thrown")
    assert_close(speed[-1, 0], 5 / 7 * V0, 2e-4)
    assert_close(speed[-1, 3] * R, 5 / 7 * V0, 1e-3)
    still_slides = race.t < 2 / 7 * V0 / (MU * G) - 0.05
    assert_close(speed[still_slides, 0], V0 - MU * G * race.t[still_slides], 1e-4)


@pytest.mark.parametrize("name", ROUND)
def test_what_rolls_down_a_slope_is_slowed_by_its_inertia(race, name):
    _, share = ROUND[name]
    x = race.coordinate(name)[-1]
    way = math.hypot(x[0], x[2] - R / math.cos(SLOPE))
    assert_close(way, 0.5 * G * math.sin(SLOPE) / (1.0 + share), 2e-3)


def test_the_account_of_work_closes(race):
    assert np.abs(race.energy.defect).max() < 1e-7 * M * V0**2


def test_newtons_cradle_passes_the_swing_on():
    """Steel balls of Hertz's law, a tenth of a millimetre apart."""
    m = sh.Model("cradle")
    ball = sh.Sphere(0.02, sh.Pose((0.0, 0.0, -0.3)))
    for k, name in enumerate("abc"):
        m.add_body(name, 0.26, shape=ball)
        m.add_joint(name, sh.Revolute("y"), "ground", name, at=sh.Pose((k * 0.0401, 0.0, 0.0)))
    for one, two in ("ab", "bc"):
        m.add_force(sh.Contact(one, ball, ball, two, stiffness=1e9, exponent=1.5))
    r = sh.simulate(m, 0.55, q0={"a": 0.3}, output=0.005)
    highest = r.coordinate("c").argmin()
    assert_close(r.q[highest], [0.0, 0.0, -0.3], 2e-2, scale=0.3)
    assert_close(r.coordinate("c")[highest], -0.3, 2e-3)
    assert np.abs(r.energy.defect).max() < 1e-7 and np.ptp(r.energy.total) < 1e-7


def test_a_tippe_top_turns_over_and_keeps_jelletts_constant():
    """Friction at the point of contact, whatever its law, leaves L·(vector from the point to the centre of mass) as it was."""
    radius, mass, offset, k = 0.02, 0.02, 0.006, 2e4
    inertia = np.array([0.98, 0.98, 1.0]) * 0.4 * mass * radius**2
    m = sh.Model("tippe top")
    m.add_body("top", mass, inertia=inertia)
    m.add_floating("top")
    ball = sh.Sphere(radius, sh.Pose((0.0, 0.0, offset)))
    m.add_force(sh.Contact("top", ball, stiffness=k, damping=10.0, friction=0.3, slip=1e-2))
    tilt, spin = 0.1, 150.0
    height = radius - offset * math.cos(tilt) - mass * G / k
    start = (0.0, 0.0, height, math.cos(tilt / 2), math.sin(tilt / 2), 0.0, 0.0)
    speeds = (0.0, 0.0, 0.0, 0.0, spin * math.sin(tilt), spin * math.cos(tilt))
    r = sh.simulate(m, 3.0, q0={"top float": start}, v0={"top float": speeds}, output=0.05)
    R = r.poses[0][:, 0]
    L = np.einsum("tij,tj->ti", R, r.v[:, 3:] * inertia)
    jellett = np.einsum("ti,ti->t", L, np.array([0.0, 0.0, radius]) - offset * R[:, :, 2])
    assert np.ptp(jellett) < 5e-4 * jellett[0]
    assert R[0, 2, 2] > 0.99 and R[-1, 2, 2] < -0.95  # upright, then on its head


# --- friction that sticks -----------------------------------------------------------------------------------------------------
def test_a_block_on_a_slope_holds_for_a_thousand_seconds_by_its_bristles():
    """And slides where the slope is steeper than its friction, with the friction of sliding."""
    m = sh.Model("block")
    m.add_body("a", M, shape=sh.Box((0.2, 0.2, 0.1)))
    m.add_joint("x", sh.Prismatic("x"), "ground", "a", at=sh.Pose(rotation=sh.Rotation.about("y", 0.3)))
    corner = sh.Points([(0.0, 0.0, -0.05)])
    floor = sh.Plane(sh.Pose(sh.Rotation.about("y", 0.3) @ (0.0, 0.0, -0.05 + 0.002), sh.Rotation.about("y", 0.3)))
    normal = 5e3 * 0.002
    drag = m.add_parameter("drag", 0.0)
    m.add_force(sh.Contact("a", corner, floor, stiffness=5e3, friction=1.0, presliding=1e-3), name="foot")
    m.add_force(lambda on: on.torque("x", drag), name="rope")
    weight = M * G * math.sin(0.3)
    r = sh.simulate(m, 1000.0, output=100.0, integrator="radau")
    assert np.ptp(r.coordinate("x")[1:]) < 1e-13 and r.coordinate("x")[-1] < 1e-3
    assert_close(r.quantity("friction force of foot")[1:], np.full(10, weight), 1e-9)
    assert_close(r.state("foot.bristle x")[-1] / math.cos(0.3), weight / (normal * 1e3), 1e-9)
    pulled = sh.simulate(m, 0.5, output=0.1, parameters={"drag": 7.0})
    assert_close(np.diff(pulled.speed("x")[1:]), np.full(4, 0.1 * (weight + 7.0 - normal) / M), 1e-5)
    assert np.abs(pulled.energy.defect).max() < 1e-8
    assert_close(pulled.quantity("slip speed of foot"), pulled.speed("x"), 1e-12)
    assert_close(pulled.quantity("penetration of foot"), np.full(6, 0.002), 1e-9)


def test_bristles_go_with_friction():
    with pytest.raises(sh.ModelError, match="presliding is how far bristles bend under friction: give friction too"):
        sh.Contact("a", sh.Sphere(1.0), presliding=1e-3)


def test_numbers_of_a_contact_may_be_parameters():
    m = floating(sh.Contact("a", sh.Sphere(0.3), stiffness=K, name="foot"))
    m.make_parameter("foot.stiffness")
    d = sh.Dynamics(m, backend="python")
    assert_close(d.forward(at(0, 0, 0.29), parameters={"foot.stiffness": 3e4})[2], 3e4 * 0.01 / M - G, 1e-11)


def test_what_is_touched_is_drawn_once():
    contacts = [sh.Contact("a", sh.Sphere(r), BOWL) for r in (0.1, 0.2)]
    tilted = sh.Contact("a", sh.Points([(0, 0, 0.1)]), sh.Plane(SIDEWAYS))
    box = sh.Contact("a", sh.Sphere(0.1), sh.Box((1, 1, 1)))
    scene = scene_of(floating(*contacts, tilted, box, sh.Contact("a", sh.Sphere(0.1), sh.Plane(sh.Pose((0, 0, -0.7))))))
    touched = [part for part in scene.parts if part.name.startswith("contact") and part.layer == "bodies"]
    assert len(touched) == 3 and len([part for part in scene.parts if part.layer == "collision"]) == 5
    relief = touched[0].geometry
    assert_close(relief.vertices[:, 2], (relief.vertices[:, :2] ** 2).sum(axis=1) / 4, 1e-6)
    (ground,) = (part for part in scene.parts if part.name == "ground")
    assert ground.at[2, 3] == pytest.approx(-0.7, abs=0.02)


# --- steps and gaps -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("height", [0.5, 2.0, 20.0])
def test_no_step_passes_over_a_table(height):
    ball = sh.Sphere(0.1)
    m = sh.Model("table")
    m.add_body("ball", 1.0, shape=ball)
    m.add_floating("ball")
    table = sh.Box((1.0, 1.0, 1.0), at=sh.Pose((0.0, 0.0, -0.5)))
    m.add_force(sh.Contact("ball", ball, table, stiffness=1e5, damping=1.0), name="table")
    r = sh.simulate(m, 3.0, q0={"ball float": (0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0)}, output=0.05)
    assert r.q[:, 2].min() > 0.08 and not r.events
    assert np.abs(r.energy.defect).max() < 1e-5
    touch = np.sqrt(2.0 * (height - 0.1) / 9.81)
    free = r.t < touch
    assert np.abs(r.q[free, 2] - (height - 0.5 * 9.81 * r.t[free] ** 2)).max() < 1e-7, "the flight knows nothing of the table"


@pytest.mark.parametrize("integrator", ["auto", "dopri5", "radau", "adams"])
@pytest.mark.parametrize("start", [-0.5, -5.0])
def test_a_ball_bounces_off_a_ball_wherever_it_comes_from(start, integrator):
    ball = sh.Sphere(0.1)
    m = sh.Model("head-on", gravity=(0.0, 0.0, 0.0))
    m.add_body("ball", 1.0, shape=ball)
    m.add_joint("x", sh.Prismatic("x"), "ground", "ball")
    m.add_force(sh.Contact("ball", ball, sh.Sphere(0.1), stiffness=1e5), name="contact")
    r = sh.simulate(m, 12.0, q0={"x": start}, v0={"x": 1.0}, integrator=integrator, output=1.0)
    assert abs(r.v[-1, 0] + 1.0) < 1e-6
    meets, lasts = -0.2 - start, np.pi / np.sqrt(1e5)
    assert abs(r.q[-1, 0] - (-0.2 - (12.0 - meets - lasts))) < 1e-5, "half an oscillation of the contact, then back"


def test_the_account_of_a_contact_that_lets_go_closes():
    m = sh.Model("bounce")
    m.add_body("b", 1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("z", sh.Prismatic("z"), "ground", "b")
    m.add_force(sh.Contact("b", sh.Sphere(0.1), stiffness=1e7, damping=1e3, model="kelvin-voigt"), name="floor")
    r = sh.simulate(m, 1.0, q0={"z": 1.1}, output=0.1)
    assert np.abs(r.energy.defect).max() < 1e-6 and r.energy.work["floor"][-1] < -5.0


@pytest.mark.parametrize("duration", [1.01, 1.05, 1.1226, 1.3])
def test_a_run_that_ends_soon_after_touch_has_touched(duration):
    """The fall takes 1.0096 s: the last step, which may be stretched to the end, must not reach over the table."""
    ball = sh.Sphere(0.1)
    m = sh.Model("short")
    m.add_body("ball", 1.0, shape=ball)
    m.add_joint("z", sh.Prismatic("z"), "ground", "ball")
    m.add_force(sh.Contact("ball", ball, sh.Box((1.0, 1.0, 0.1)), stiffness=1e5, damping=0.3), name="table")
    r = sh.simulate(m, duration, q0={"z": 5.15})
    assert r.q.min() > 0.1 and np.abs(r.energy.defect).max() < 1e-5


@pytest.mark.parametrize("height", [0.01, 0.0])
def test_a_box_rests_on_a_box_of_its_own_size(height):
    box = sh.Box((0.2, 0.2, 0.2))
    m = sh.Model("stack")
    m.add_body("upper", 1.0, shape=box)
    m.add_floating("upper")
    m.add_force(sh.Contact("upper", box, box, stiffness=1e5, damping=5.0, friction=0.5), name="contact")
    r = sh.simulate(m, 2.0, q0={"upper float": (0.0, 0.0, 0.2 + height, 1.0, 0.0, 0.0, 0.0)}, output=0.5)
    sink = 9.81 / 8e5  # four corners of either
    assert abs(r.q[-1, 2] - (0.2 - sink)) < 1e-6 and np.abs(r.q[-1, :2]).max() < 1e-9
