"""Impacts: momentum through the whole mechanism, Newton's restitution, and rest in contact where bounces accumulate."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sharnir as sh
from sharnir.equations.motion.impact import SlipRows, complementary
from states import assert_close

G = 9.81
EPS = np.finfo(float).eps


def ball() -> sh.Model:
    m = sh.Model("ball", gravity=(0.0, 0.0, -G))
    m.add_body("ball", mass=1.3, inertia=(0.1, 0.1, 0.1))
    m.add_joint("z", sh.Prismatic("z"), "ground", "ball")
    return m


@pytest.fixture(scope="module")
def dropped() -> sh.Model:
    return ball()


def lowest(r: sh.Result, level: float) -> float:
    return float((r.q[:, 0] - level).min())


# --- a ball on a floor ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "way",
    [{}, {"backend": "loops"}, {"integrator": "rk4", "step": 0.02, "method": "composite"}],
    ids=str,
)
def test_bouncing_ball_comes_to_rest_at_the_known_time_and_stays(dropped, way):
    e, h = 0.5, 1.0
    hit = sh.Impact.sphere("ball", 0.1, restitution=e, name="floor")
    r = sh.simulate(dropped, 2.0, q0=[0.1 + h], events=[hit], **way)
    rest = math.sqrt(2.0 * h / G) * (1.0 + e) / (1.0 - e)
    bounce = 2.0 * max(hit.rest_speed, 0.0 if "step" not in way else 5e-4) / (G * (1.0 - e))
    assert r.impacts[-1].rests and abs(r.impacts[-1].t - rest) <= 2.0 * bounce
    assert lowest(r, 0.1) >= -1e-8
    after = r.t > r.impacts[-1].t
    assert (
        np.abs(r.q[after, 0] - 0.1).max() <= 4 * EPS and np.abs(r.v[after]).max() <= 4 * EPS and np.abs(r.a[after]).max() < 1e-12
    )
    assert np.allclose(r.multiplier("floor"), np.where(after, 1.3 * G, 0.0), rtol=1e-12)
    assert np.abs(r.energy.defect).max() < 1e-9 and abs(r.energy.work["impact floor"][-1] + 1.3 * G * h) < 1e-8
    first = r.impacts[0]
    assert np.isclose(first.approach, math.sqrt(2.0 * G * h), rtol=1e-9)
    assert np.isclose(first.impulse, 1.3 * (1.0 + e) * first.approach, rtol=1e-12)
    assert np.isclose(first.lost, 0.5 * 1.3 * (1.0 - e * e) * first.approach**2, rtol=1e-12)


def test_interpreted_impacts_are_the_compiled_ones(dropped):
    hit = sh.Impact.sphere("ball", 0.1, restitution=0.3, rest_speed=0.1)
    runs = [sh.simulate(dropped, 1.0, q0=[1.1], events=hit, backend=b, output=0.1) for b in ("auto", "python")]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-12
    assert [i.rests for i in runs[0].impacts] == [i.rests for i in runs[1].impacts]
    assert runs[0].impacts[-1].rests


def test_ball_rides_a_shaking_floor_and_leaves_it_where_it_falls_faster_than_the_ball(dropped):
    size, w = 0.1, 12.0
    floor = sh.Impact(lambda on: on.q("z") - size * sh.sin(w * on.t), restitution=0.0, name="floor")
    r = sh.simulate(dropped, 1.5, q0=[0.0], v0=[size * w], events=[floor], max_step=0.02)
    left, landed = (next(e.t for e in r.events if e.name == name) for name in ("floor released", "floor"))
    assert abs(left - math.asin(G / (size * w * w)) / w) < 1e-12
    flight = landed - left
    height = size * math.sin(w * left) + size * w * math.cos(w * left) * flight - 0.5 * G * flight**2
    assert abs(height - size * math.sin(w * landed)) < 1e-9
    gap = r.q[:, 0] - size * np.sin(w * r.t)
    riding = r.contact_values[:, 0] == 2.0
    assert gap.min() >= -1e-8 and np.abs(gap[riding]).max() <= 4 * EPS
    assert np.abs(r.energy.defect).max() < 1e-8 and r.energy.work["drives"][-1] > 0.1


def test_a_force_lifts_a_ball_off_when_it_exceeds_its_weight_and_an_action_throws_it():
    m = ball()
    m.add_force(lambda on: on.push("ball", (0.0, 0.0, 20.0 * on.t)), name="pull")
    throw = sh.Event(lambda on: on.t - 0.1, lambda at: at.v.__setitem__(0, 0.5), name="throw")
    r = sh.simulate(m, 1.0, q0=[0.0], events=[sh.Impact.sphere("ball", name="floor", restitution=0.0), throw])
    names = [(e.name, e.t) for e in r.events]
    assert [name for name, _ in names] == ["throw", "floor", "floor released"]
    assert abs(names[-1][1] - 1.3 * G / 20.0) < 1e-12
    assert r.speed("z")[11] > 0.4  # the contact does not hold what is thrown
    assert r.q[-1, 0] > 0.0 and lowest(r, 0.0) >= -1e-8


def test_a_sampled_controller_lifts_a_ball_off(dropped):
    lift = sh.Sampled(lambda t, q, v: [1.3 * (G + 2.0) if t > 0.45 else 0.0], 0.1)
    r = sh.simulate(dropped, 1.0, q0=[0.0], events=[sh.Impact.sphere("ball", name="floor")], control=lift)
    assert abs(r.q[-1, 0] - 0.25) < 1e-12 and lowest(r, 0.0) >= -1e-8 and np.abs(r.energy.defect).max() < 1e-9


def test_rough_floor_turns_slip_into_spin():
    """A sphere dropped with spin: the impulse ends the slip where the friction suffices, else it is μ times the normal one."""
    m = sh.Model("sphere", gravity=(0.0, 0.0, -G))
    radius, mass = 0.1, 2.0
    inertia = 0.4 * mass * radius**2
    m.add_body("ball", mass=mass, inertia=(inertia,) * 3)
    m.add_joint("xz", sh.Compound({"x": sh.Prismatic("x"), "z": sh.Prismatic("z"), "turn": sh.Revolute("y")}), "ground", "ball")
    spin, down = 10.0, 2.0
    for mu, sticks in ((0.05, False), (0.5, True)):
        hit = sh.Impact.sphere("ball", radius, restitution=0.8, friction=mu)
        r = sh.simulate(m, 0.05, q0=[0.0, radius, 0.0], v0=[0.0, -down, spin], events=[hit], output=0.01)
        (one,) = r.impacts
        slip, need = -radius * spin, radius * spin / (1.0 / mass + radius**2 / inertia)
        along = need if sticks else mu * one.impulse
        assert np.isclose(one.impulse, mass * 1.8 * down, rtol=1e-12) and np.isclose(one.along, along, rtol=1e-12)
        vx, vz, w = r.v[0]
        assert np.allclose([vx, vz, w], [along / mass, 0.8 * down, spin - along * radius / inertia], rtol=1e-12)
        before, after = (0.5 * (mass * (a * a + b * b) + inertia * c * c) for a, b, c in ((0, down, spin), (vx, vz, w)))
        assert np.isclose(one.lost, before - after, rtol=1e-12) and slip < 0.0


# --- several contacts -----------------------------------------------------------------------------------------------------------
def test_newtons_cradle():
    """As many balls leave as come, at the speed they came with, the others stand still."""
    radius, length, n = 0.05, 1.0, 5
    m = sh.Model("cradle", gravity=(0.0, 0.0, -G))
    for k in range(n):
        m.add_body(f"b{k}", mass=0.5, com=(0.0, 0.0, -length), inertia=(1e-4, 1e-4, 1e-4))
        m.add_joint(f"j{k}", sh.Revolute("y"), "ground", f"b{k}", at=sh.Pose((2 * radius * k, 0.0, 0.0)))
    tip = (0.0, 0.0, -length)
    hits = [sh.Impact.spheres(f"b{k}", f"b{k + 1}", radius, at=tip, other_at=tip, restitution=1.0) for k in range(n - 1)]
    for lifted in (1, 2):
        r = sh.simulate(m, 1.4, q0={f"j{k}": 0.3 for k in range(lifted)}, events=hits, rtol=1e-10, atol=1e-12, output=0.02)
        assert {i.name for i in r.impacts} == {hit.name for hit in hits}
        period = r.impacts[0].t
        swinging = (r.t > period + 0.01) & (r.t < 3 * period - 0.01)
        assert np.abs(r.q[swinging, : n - lifted]).max() < 1e-7
        for k in range(n - lifted, n):  # the mirror image of the fall
            mirrored = np.interp(2 * period - r.t[swinging], r.t, r.q[:, 0])
            out = (r.t[swinging] > period) & (r.t[swinging] < 2 * period)
            assert np.abs(r.q[swinging, k] + mirrored)[out].max() < 1e-3
        assert np.abs(r.energy.defect).max() < 1e-9


def test_a_box_that_lands_flat_does_not_turn_and_rests_on_its_feet():
    m = sh.Model("box", gravity=(0.0, 0.0, -G))
    m.add_body("box", mass=2.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("xz", sh.Compound({"z": sh.Prismatic("z"), "turn": sh.Revolute("y")}), "ground", "box")
    feet = [sh.Impact.sphere("box", at=(x, 0.0, -0.2), restitution=0.4, name=f"foot {x}") for x in (-0.3, 0.3)]
    r = sh.simulate(m, 1.0, q0=[0.5, 0.0], events=feet)
    assert np.abs(r.q[:, 1]).max() < 1e-12 and abs(r.q[-1, 0] - 0.2) < 1e-12
    assert np.allclose([r.multiplier(foot.name)[-1] for foot in feet], G, rtol=1e-9)


def test_complementary_forces_push_and_accelerations_separate():
    """Also where contacts outnumber the freedoms they act on: four feet on a plane."""
    rng = np.random.default_rng(3)
    for n, rank in ((1, 1), (4, 4), (9, 9), (4, 3), (8, 3)):
        root = rng.normal(size=(n, rank))
        A, b = root @ root.T, root @ rng.normal(size=rank)
        x = complementary(A, b)
        w, size = A @ x + b, np.abs(b).max()
        assert x.min() >= 0.0 and w.min() >= -1e-7 * size and abs(x @ w) <= 1e-7 * size


# --- mechanisms -----------------------------------------------------------------------------------------------------------------
def test_tip_of_a_double_pendulum_on_a_wall_loses_the_energy_of_the_formula():
    """½(1 − e²) ġ² / (J M⁻¹Jᵀ), J that of the tip's position, by hand."""
    m = sh.Model("double", gravity=(0.0, 0.0, -G))
    for k in (1, 2):
        m.add_body(f"l{k}", mass=1.0 / k, com=(0.0, 0.0, -0.5), inertia=(0.05, 0.05, 0.01))
    m.add_joint("A", sh.Revolute("y"), "ground", "l1")
    m.add_joint("B", sh.Revolute("y"), "l1", "l2", at=sh.Pose((0.0, 0.0, -1.0)))
    wall = sh.Impact.sphere("l2", at=(0.0, 0.0, -1.0), normal=(-1.0, 0.0, 0.0), height=0.3, restitution=0.6, name="wall")
    r = sh.simulate(m, 0.9, q0={"A": 0.9, "B": 0.3}, events=[wall], rtol=1e-11, atol=1e-13)
    hit, event = r.impacts[0], r.events[0]

    assert abs(math.sin(event.q[0]) + math.sin(event.q.sum()) - 0.3) < 1e-9  # the tip is at x = −sin …, the wall at −0.3
    J = np.array([math.cos(event.q[0]) + math.cos(event.q.sum()), math.cos(event.q.sum())])
    mobility = J @ np.linalg.solve(sh.Dynamics(m).mass_matrix(event.q), J)
    assert np.isclose(hit.approach, -J @ event.v, rtol=1e-9)
    assert np.isclose(hit.lost, 0.5 * (1.0 - 0.36) * hit.approach**2 / mobility, rtol=1e-9)
    assert np.isclose(hit.impulse, 1.6 * hit.approach / mobility, rtol=1e-9)
    assert np.abs(r.energy.defect).max() < 1e-9
    assert (np.sin(r.q[:, 0]) + np.sin(r.q.sum(axis=1)) >= 0.3 - 1e-8).all()


A, B, C, D = 0.3, 0.8, 0.6, 0.9
MASSES = (0.6, 1.1, 0.9)


def four_bar() -> sh.Model:
    m = sh.Model("four-bar", gravity=(0.0, -G, 0.0))
    for name, length, mass in zip(("crank", "coupler", "rocker"), (A, B, C), MASSES, strict=True):
        moment = mass * length**2 / 12.0
        m.add_body(name, mass=mass, com=(length / 2, 0.0, 0.0), inertia=(1e-3, moment, moment))
    m.add_joint("O", sh.Revolute("z"), "ground", "crank")
    m.add_joint("A", sh.Revolute("z"), "crank", "coupler", at=sh.Pose((A, 0.0, 0.0)))
    m.add_joint("D", sh.Revolute("z", limits=(1.6, None)), "ground", "rocker", at=sh.Pose((D, 0.0, 0.0)))
    m.add_joint("B", sh.Revolute("z"), "coupler", "rocker", at=sh.Pose((B, 0.0, 0.0)), child_at=sh.Pose((C, 0.0, 0.0)))
    return m


def jump_of_three_rods(q: np.ndarray, v: np.ndarray, e: float) -> tuple[np.ndarray, float]:
    """The same impact in x, y and angle of every rod, pins as constraints: one dense system for speeds and impulses."""
    angles, turns = np.array([q[0], q[0] + q[1], q[2]]), np.array([v[0], v[0] + v[1], v[2]])
    lengths = (A, B, C)

    def arm(k: int, s: float) -> np.ndarray:
        """Of the velocity of a point at s along rod k by its turn, from its centre."""
        return (s - lengths[k] / 2) * np.array([-math.sin(angles[k]), math.cos(angles[k])])

    def at(k: int, s: float) -> np.ndarray:
        row = np.zeros((2, 9))
        row[:, 3 * k : 3 * k + 2], row[:, 3 * k + 2] = np.eye(2), arm(k, s)
        return row

    pins = np.concatenate([at(0, 0.0), at(0, A) - at(1, 0.0), at(1, B) - at(2, C), at(2, 0.0)])
    M = np.diag([x for m, length in zip(MASSES, lengths, strict=True) for x in (m, m, m * length**2 / 12.0)])
    stop = np.zeros(9)
    stop[8] = 1.0
    before = np.zeros(9)
    before[2::3] = turns
    feet = [np.zeros(2), turns[0] * 2 * arm(0, A), np.zeros(2)]  # velocities of the ends at s = 0
    for k in range(3):
        before[3 * k : 3 * k + 2] = feet[k] - turns[k] * arm(k, 0.0)
    rows = np.concatenate([pins, stop[None]])
    kkt = np.block([[M, -rows.T], [rows, np.zeros((9, 9))]])
    found = np.linalg.solve(kkt, np.concatenate([M @ before, pins @ before, [-e * before[8]]]))
    w = found[2:9:3]
    return np.array([w[0], w[1] - w[0], w[2]]), float(found[-1])


def test_stop_in_a_four_bar_balances_the_momentum_of_all_rods():
    m = four_bar()
    r = sh.simulate(
        m,
        0.5,
        q0={"O": 1.2, "A": -0.8, "D": 1.7},
        events=[sh.Impact.stop("D", restitution=0.7)],
        output=None,
        rtol=1e-10,
        atol=1e-12,
        fixed=["O"],
    )
    hit, event = r.impacts[0], r.events[0]
    assert hit.name == "stop of D" and abs(r.coordinate("D").min() - 1.6) < 1e-8
    expected, impulse = jump_of_three_rods(event.q, event.v, 0.7)
    after = r.v[np.flatnonzero(r.t == event.t)[-1]]
    assert np.abs(after - expected).max() < 1e-9 * np.abs(expected).max()
    assert np.isclose(hit.impulse, impulse, rtol=1e-9)
    assert r.violation.max() < 1e-9 and np.abs(r.energy.defect).max() < 1e-8


def test_a_stop_holds_a_four_bar_until_it_is_driven_off():
    m = four_bar()
    m.add_force(lambda on: on.torque("O", 8.0 * on.t**4), name="motor")
    r = sh.simulate(m, 0.8, q0={"O": 1.2, "A": -0.8, "D": 1.7}, events=[sh.Impact.stop("D", restitution=0.0)], fixed=["O"])
    names = [e.name for e in r.events]
    assert names == ["stop of D", "stop of D released"] and r.impacts[0].rests
    held = (r.t > r.events[0].t) & (r.t < r.events[1].t)
    assert held.sum() > 5 and np.ptp(r.q[held], axis=0).max() < 1e-12 and np.abs(r.coordinate("D")[held] - 1.6).max() < 1e-12
    # virtual work of gravity and motor vanishes where the stop lets go
    e, q = r.events[1], r.events[1].q
    step = 1e-6
    moved, _ = m.assemble({"O": q[0] + step, "A": q[1], "D": q[2]}, fixed=["O"])
    back, _ = m.assemble({"O": q[0] - step, "A": q[1], "D": q[2]}, fixed=["O"])
    d = sh.Dynamics(m)
    slope = (d.energy(moved)[1] - d.energy(back)[1]) / (2.0 * step)
    assert abs(slope - 8.0 * e.t**4) < 1e-6
    assert r.coordinate("D")[-1] > 1.6 and r.violation.max() < 1e-9 and np.abs(r.energy.defect).max() < 1e-7


def test_what_a_stop_in_a_joint_does_to_bodies_is_told():
    """At rest on its stop the bar is held against its weight, by a moment between the two bodies of the hinge."""
    m = sh.Model("bar", gravity=(0.0, -10.0, 0.0))
    for name, parent in (("post", "ground"), ("bar", "post")):
        m.add_body(name, mass=1.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
        m.add_joint(name, sh.Revolute("z"), parent, name)
    m.add_constraint(lambda on: on.q("post"), "held")
    r = sh.simulate(m, 0.5, q0={"bar": 0.02}, events=sh.Impact(lambda on: on.q("bar"), name="stop"), output=0.1)
    held = r.closing_reaction("stop")
    assert_close(held["bar"][-1], [0, 0, 0, 0, 0, 5.0], 1e-8)
    assert_close(held["post"][-1], [0, 0, 0, 0, 0, -5.0], 1e-8)
    assert r.multiplier("stop")[-1] == pytest.approx(5.0) and r.closing_reaction("held")["post"][-1][5] == pytest.approx(10.0)


def test_bodies_that_move_as_one_neither_slip_nor_part():
    """Gaps and slips of spheres and planes on moving bodies, in a motion of all of them together."""
    m = sh.Model("cart")
    m.add_body("cart", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("float", sh.Free(), "ground", "cart")
    m.add_joint("arm", sh.Revolute("y"), "cart", "ball", at=sh.Pose((0.3, 0.2, 0.7)))
    plane = sh.Impact.sphere("ball", 0.1, at=(0.2, 0.1, 0.0), plane="cart", normal=(0.1, 0.2, 1.0), height=0.3, friction=0.2)
    rng = np.random.default_rng(5)
    q, v = m.random_q(rng), rng.normal(size=m.nv)
    apart = math.hypot(0.3 + 0.2 * math.cos(q[-1]), 0.3, 0.7 - 0.2 * math.sin(q[-1]))
    spheres = sh.Impact.spheres("ball", "cart", 0.1, apart - 0.1, at=(0.2, 0.1, 0.0), friction=0.2)  # which touch
    for one in (plane, spheres):
        rows = SlipRows(m.structure, one.slipping, one.label)
        slip, J = rows.at(q, v, np.zeros(0), 0.0)
        assert np.allclose(slip, J @ v, atol=1e-14)
        assert np.abs(J[:, :6]).max() < 1e-13 and np.abs(J[:, 6]).max() > 0.01


def test_the_result_is_one_of_the_users_model_and_contacts_are_known_by_name(dropped):
    seen = []
    look = sh.Event(lambda on: on.t - 0.5, lambda at: seen.append((dict(at.parameters), at.v.copy())), name="look")
    r = sh.simulate(dropped, 1.0, q0=[0.5], events=[sh.Impact(lambda on: on.q("z") - 0.1, restitution=0.0), look])
    assert r.model is dropped and not dropped.constraints and r.parameters.size == 0 and seen[0][0] == r.parameter_values == {}
    assert "1 degree of freedom;" in r.summary().splitlines()[0] and "constraints 1 rows" not in r.summary()
    assert [one.name for one in r.contacts] == ["impact 1"] and r.contact_values[[0, -1], 0].tolist() == [0.0, 2.0]
    weight = 1.3 * G
    assert np.allclose(r.multiplier("impact 1")[[0, -1]], [0.0, weight], rtol=1e-12)
    assert np.allclose(r.closing_reaction("impact 1", "ball")[-1][:3], [0.0, 0.0, weight], rtol=1e-12)
    assert np.array_equal(r.quantity("force of impact 1"), r.multiplier("impact 1")) and abs(r.acceleration("z")[-1]) < 1e-12
    assert "force of impact 1" in r.to_dataframe().columns
    again = sh.simulate(r.model, 0.5, **r.state(), events=r.contacts)
    assert abs(again.q[-1, 0] - 0.1) < 1e-12


def test_parameters_of_the_model_are_told_from_its_contacts():
    m = ball()
    m.add_parameter("lift", 0.0)
    m.add_force(lambda on: on.push("ball", (0.0, 0.0, on.parameter("lift"))), name="push")
    more = sh.Event(lambda on: on.t - 0.5, lambda at: at.parameters.update(lift=5.0), name="more")
    r = sh.simulate(m, 1.0, q0=[0.1], events=[sh.Impact.sphere("ball", 0.1, name="floor"), more], parameters={"lift": 1.0})
    assert r.model is m and r.parameters.shape == (len(r.t), 1) and r.parameter_values == {"lift": 5.0}
    assert np.allclose(r.multiplier("floor"), 1.3 * G - r.parameters[:, 0], rtol=1e-12)


# --- in files -------------------------------------------------------------------------------------------------------------------
def test_impacts_in_files_are_those_of_python(tmp_path):
    text = """
sharnir: 1
name: ball
bodies: {ball: {mass: 1.3, inertia: [0.1, 0.1, 0.1]}}
joints: {z: {type: prismatic, axis: z, parent: ground, child: ball}}
simulation:
  duration: 1.0
  q0: {z: 1.1}
  impacts: [{gap: position.ball.z - 0.1, restitution: 0.3, name: floor, rest_speed: 0.1}]
"""
    path = tmp_path / "ball.yaml"
    path.write_text(text, encoding="utf-8")
    m = sh.load(path)
    r = sh.simulate(m, **m.simulation.arguments(output=0.1))
    assert [one.name for one in r.impacts] == ["floor"] * 4 and r.impacts[-1].rests
    assert "impact      floor: 4, 12.7" in r.summary()
    m.save(tmp_path / "again.yaml")
    assert sh.load(tmp_path / "again.yaml").simulation.impacts == m.simulation.impacts
    r.save(tmp_path / "run.nc")
    back = sh.Result.load(tmp_path / "run.nc", r.model)
    assert back.causes == r.causes and back.impacts == r.impacts and np.array_equal(back.work_done, r.work_done)
    alone = sh.Result.load(tmp_path / "run.nc")
    for one in (back, alone):
        assert one.contacts == r.contacts and np.array_equal(one.contact_values, r.contact_values)
        assert np.array_equal(one.multiplier("floor"), r.multiplier("floor")) and np.array_equal(one.a, r.a)
    assert alone.model.simulation.impacts == m.simulation.impacts and not alone.model.constraints


def test_results_of_contacts_that_only_python_can_express_are_read_with_a_model_that_has_met_them(tmp_path):
    path, m = tmp_path / "run.nc", ball()
    floor = sh.Impact(lambda on: on.q("z") - 0.1, name="floor")
    r = sh.simulate(m, 1.0, q0=[0.5], events=[floor], save=path)
    back = sh.Result.load(path, m)
    assert back.model is m and np.array_equal(back.multiplier("floor"), r.multiplier("floor"))
    sh.simulate(m, 0.01, q0=[0.5], events=[floor.replaced(restitution=0.1)])  # now it is not known which
    for other in (m, ball()):
        with pytest.raises(sh.StateError, match=r"has contact 'floor', which only Python can express: give a model"):
            sh.Result.load(path, other)


# --- what is refused ------------------------------------------------------------------------------------------------------------
def test_errors_name_the_impact_and_the_remedy(dropped):
    with pytest.raises(sh.StateError, match=r"impact 'x': restitution: expected a number from 0 to 1, got 1.5"):
        sh.Impact(lambda on: on.q("z"), 1.5, name="x")
    with pytest.raises(sh.StateError, match=r"friction needs the velocity of one surface over the other: give slip="):
        sh.Impact(lambda on: on.q("z"), friction=0.3)
    floor = sh.Impact(lambda on: on.q("z"), name="floor")
    with pytest.raises(sh.StateError, match=r"impact 'floor': the motion starts with a gap of -0.5, below zero"):
        sh.simulate(dropped, 1.0, q0=[-0.5], events=[floor])
    with pytest.raises(sh.StateError, match="two impacts are called 'floor'"):
        sh.simulate(dropped, 1.0, events=[floor, floor])
    with pytest.raises(sh.MethodError, match="cannot be run backward"):
        sh.simulate(dropped, -1.0, events=[floor])
    with pytest.raises(sh.MethodError, match="sensitivities are not carried through impacts"):
        sh.simulate(dropped, 1.0, events=[floor], sensitivities=["v0.z"])
    with pytest.raises(sh.MethodError, match="contacts at rest are constraints, which method 'momentum' does not handle"):
        sh.simulate(dropped, 1.0, events=[floor], method="momentum")
    with pytest.raises(sh.StateError, match=r"events: expected sharnir.Event\(function, …\) or sharnir.Impact"):
        sh.simulate(dropped, 1.0, events=[3])
    with pytest.raises(sh.ModelError, match="stop of joint 'z': the joint has no limits; give low="):
        sh.simulate(dropped, 1.0, events=[sh.Impact.stop("z")])
    with pytest.raises(sh.ModelError, match="must not depend on speeds"):
        sh.simulate(dropped, 1.0, events=[sh.Impact(lambda on: on.v("z"))])
