"""Results by name: every joint, free, driven, following or cut, has coordinates, reactions and power as its bodies show them."""

from __future__ import annotations

from math import pi

import matplotlib as mpl
import numpy as np
import pytest

import sharnir as sh
from joint_table import JOINTS
from loop_models import beside_itself
from mechanisms import powered
from sharnir.simulation.results.quantities import multiplier_lines, names_of
from sharnir.simulation.results.records import Cost
from sharnir.simulation.results.trajectories import Rollout
from states import assert_close

mpl.use("Agg")
pytestmark = pytest.mark.xdist_group("integrators")
COST = Cost("separate", "", "python", "rk4", 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)
DRIVEN = [name for name in JOINTS if "driven" in name]
CUT = [name for name, joint in JOINTS.items() if joint.can_be_cut]


def motion(m: sh.Model, q, v, t=0.0) -> sh.Result:
    """A result made of given states."""
    q, v = np.atleast_2d(q), np.atleast_2d(v)
    return sh.Result(m, np.broadcast_to(np.asarray(t, dtype=float), len(q)), q, v, np.zeros(m.nv), COST)


def columns(x: np.ndarray) -> np.ndarray:
    return x if x.ndim == 2 else x[:, None]


def same_angles(a: np.ndarray, b: np.ndarray, quaternion: bool = False) -> None:
    """But for whole turns, and the signs of quaternions."""
    a, b = columns(a), columns(b)
    if quaternion:
        b = np.concatenate([b[:, :-4], b[:, -4:] * np.sign((a[:, -4:] * b[:, -4:]).sum(axis=1, keepdims=True))], axis=1)
        assert_close(a, b, 1e-12)
    else:
        assert_close(np.cos(a), np.cos(b), 1e-11)
        assert_close(np.sin(a), np.sin(b), 1e-11)


def spatial_four_bar(cut: str, motion=None) -> sh.Model:
    """A loop of two hinges, a ball and a cross joint: one freedom, nothing redundant; named against the tree here and there."""
    m = sh.Model("spatial four-bar", gravity=(0.3, -1.0, -9.0))
    for k, (name, length) in enumerate((("crank", 0.4), ("coupler", 1.3), ("rocker", 0.9))):
        m.add_body(name, 1.0 + k, (0.5 * length, 0.02, 0.01), (0.02, 0.03 + 0.01 * k, 0.04))
    tilt = sh.Rotation.about((0.6, 0.0, 0.8), 0.3)
    m.add_joint("A", sh.Revolute("z", motion=motion), "ground", "crank", child_at=sh.Pose((0.0, 0.0, 0.1), tilt), cut=cut == "A")
    m.add_joint("B", sh.Ball(), "coupler", "crank", child_at=sh.Pose((0.4, 0.0, 0.0)), cut=cut == "B")
    m.add_joint(
        "C", sh.Universal("y", "z"), "coupler", "rocker", at=sh.Pose((1.3, 0.0, 0.0), tilt), child_at=sh.Pose((0.9, 0.0, 0.0)),
        cut=cut == "C",
    )  # fmt: skip
    m.add_joint("D", sh.Revolute((0.0, 0.6, 0.8)), "rocker", "ground", child_at=sh.Pose((1.2, 0.3, 0.2)), cut=cut == "D")
    return m


def as_cut_elsewhere(r: sh.Result, m: sh.Model) -> sh.Result:
    """The same motion of the same mechanism in other coordinates."""
    q, v = np.zeros((len(r), m.nq)), np.zeros((len(r), m.nv))
    for joint in m.joints:
        if joint.nv:
            q[:, m.q_slice(joint.name)], v[:, m.v_slice(joint.name)] = (
                columns(r.coordinate(joint.name)),
                columns(r.speed(joint.name)),
            )
    return sh.Result(m, r.t, q, v, np.zeros(m.nv), COST)


def unbalanced(r: sh.Result) -> float:
    """The largest residue of Newton's and Euler's equations of a body about its centre of mass, in the world."""
    worst = 0.0
    for body in r.model.bodies:
        R, centre = r.rotation(body.name), r.point(body.name, body.com)
        w, e = r.angular_velocity(body.name), r.acceleration_of(body.name)[:, 3:]
        xx, yy, zz, xy, xz, yz = body.inertia
        inertia = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.swapaxes(1, 2)
        force = body.mass * (r.point_acceleration(body.name, body.com) - np.array(r.model.gravity))
        moment = (inertia @ e[..., None])[..., 0] + np.cross(w, (inertia @ w[..., None])[..., 0])
        for joint in (*r.model.joints, *r.model.closing_joints):
            if body.name in (joint.parent, joint.child):
                sign = 1.0 if body.name == joint.child else -1.0
                wrench = sign * r.reaction(joint.name, axes="world", at="joint")
                point = r.place((joint.child, joint.child_at))[1]
                force, moment = force - wrench[:, :3], moment - wrench[:, 3:] - np.cross(point - centre, wrench[:, :3])
        for name in r.dynamics.force_names:
            if body.name in r.force(name):
                wrench = r.force(name)[body.name]
                push, turn = (R @ wrench[:, :3, None])[..., 0], (R @ wrench[:, 3:, None])[..., 0]
                force, moment = force - push, moment - turn - np.cross(r.point(body.name) - centre, push)
        worst = max(worst, np.abs(force).max(), np.abs(moment).max())
    return worst


# --- coordinates ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", DRIVEN)
def test_an_undriven_joint_at_the_coordinates_of_a_driven_one_moves_the_body_alike(name):
    joint, rng = JOINTS[name], np.random.default_rng(3)
    m, undriven = sh.Model("driven"), sh.Model("undriven")
    for model, kind in ((m, joint), (undriven, joint.driven(None))):
        model.add_body("body", 1.0, (0.1, 0.2, 0.3), (0.1, 0.11, 0.12))
        model.add_joint("J", kind, "ground", "body", at=sh.Pose((0.1, 0.2, 0.3)))
    r = motion(m, [m.random_q(rng) for _ in range(4)], rng.normal(size=(4, m.nv)), [0.1, 0.4, 0.5, 0.9])
    q, v, a = (columns(x) for x in (r.coordinate("J"), r.speed("J"), r.acceleration("J")))
    assert q.shape == (4, undriven.nq) and v.shape == a.shape == (4, undriven.nv)
    assert len(r.coordinate_names("J")) == undriven.nq and len(r.speed_names("J")) == undriven.nv
    d = sh.Dynamics(undriven, "separate", "python")
    for ours, theirs in zip(d.pose(q, "body", r.t), r.place("body"), strict=True):
        assert_close(ours, theirs, 1e-13)
    assert_close(d.velocity(q, v, "body", t=r.t), r.velocity_of("body"), 1e-12)
    assert_close(d.acceleration(q, v, a, "body", t=r.t), r.acceleration_of("body"), 1e-12)


def test_a_follower_has_the_coordinate_of_its_leader_times_a_ratio_that_may_change():
    m = sh.Model("train", gravity=(0.0, -9.81, 0.0))
    ratio = m.add_parameter("ratio", 2.0)
    for name, parent in (("a", "ground"), ("b", "a"), ("c", "ground"), ("d", "ground")):
        m.add_body(name, 1.0, (0.3, 0.0, 0.0), (0.1, 0.1, 0.1))
        drive = (lambda t: 0.5 * t * t) if name == "c" else None
        m.add_joint(name.upper(), sh.Revolute("z", motion=drive), parent, name)
    m.couple("B", "A", ratio=ratio, offset=0.25)
    m.couple("D", "C", ratio=-3.0)
    change = sh.Event(lambda on: on.t - 0.1, lambda moment: moment.parameters.update(ratio=1.5), name="gear")
    r = sh.simulate(m, 0.2, q0={"A": 0.3}, v0={"A": 1.0}, output=0.02, events=[change])
    times = r.parameters[:, 0]
    assert set(times) == {2.0, 1.5}
    for read, offset in ((r.coordinate, 0.25), (r.speed, 0.0), (r.acceleration, 0.0)):
        assert_close(read("B"), times * read("A") + offset, 1e-13)
        assert_close(read("D"), -3.0 * read("C"), 1e-13)
    R = r.rotation("a").swapaxes(1, 2) @ r.rotation("b")
    assert_close(R[:, 1, 0], np.sin(r.coordinate("B")), 1e-12)
    assert_close(r.coordinate("C"), 0.5 * r.t**2, 1e-14)
    assert_close(r.speed("C"), r.t, 1e-14)
    assert_close(r.acceleration("C"), np.ones(len(r)), 1e-14)


@pytest.mark.parametrize("name", CUT)
def test_a_cut_joint_has_the_coordinates_of_one_beside_it_that_is_not(name):
    joint = JOINTS[name]
    m, rng = beside_itself(joint), np.random.default_rng(7)
    q, v = np.array([m.random_q(rng) for _ in range(3)]), rng.normal(size=(3, m.nv))
    for t, *state in zip((0.0, 0.2, 0.4), q, v, strict=True):
        if name == "constraint":  # at its start it meets its constraints at t = 0 alone
            t = 0.0
        r = motion(m, *state, t)
        assert r.coordinate_names("cut") == [x.replace("tree", "cut") for x in r.coordinate_names("tree")]
        same_angles(r.coordinate("cut"), r.coordinate("tree"), quaternion=bool(joint.driven(None).quaternions()))
        assert_close(r.speed("cut"), r.speed("tree"), 1e-12)
        if name != "weld":
            assert_close(r.acceleration("cut"), r.acceleration("tree"), 1e-9, scale=100.0)
    assert motion(m, q[0], v[0]).coordinate("cut").shape[0] == 1


def turning(t):
    return 0.4 + 2.0 * t - t * t


@pytest.fixture(scope="module")
def driven_loop() -> sh.Result:
    m = spatial_four_bar("B", turning)
    return sh.simulate(m, 0.2, q0=m.assemble({"D": -1.0}, nearest=True)[0], output=0.01, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("drive", [None, turning], ids=["free", "driven"])
@pytest.mark.parametrize("cut", "ACD")
def test_where_a_loop_is_cut_makes_no_difference(cut, drive, driven_loop):
    """Coordinates, speeds, accelerations, reactions and powers of all joints, cut or not, whatever end the tree hangs them on."""
    if drive:
        some = slice(None, None, 10)
        r = motion(driven_loop.model, driven_loop.q[some], driven_loop.v[some], driven_loop.t[some])
    else:
        m = spatial_four_bar("B")
        r = motion(m, *m.assemble({"A": 0.4, "D": -1.0}, {"A": 2.0}, fixed=["A"]))
    other = as_cut_elsewhere(r, spatial_four_bar(cut, drive))
    assert [joint.name for joint in other.model.closing_joints] == [cut]
    for joint in "ABCD":
        same_angles(other.coordinate(joint), r.coordinate(joint), quaternion=joint == "B")
        assert_close(other.speed(joint), r.speed(joint), 1e-9)
        assert_close(other.acceleration(joint), r.acceleration(joint), 1e-9, scale=np.abs(r.a).max())
        assert_close(other.power(joint), r.power(joint), 1e-9, scale=10.0)
        for axes in ("body", "world", "joint"):
            for at in ("origin", "joint"):
                scale = np.abs(r.reaction(joint)).max()
                assert_close(other.reaction(joint, axes, at), r.reaction(joint, axes, at), 1e-9, scale=scale)
    assert unbalanced(r) < 1e-9 and unbalanced(other) < 1e-9


def test_the_angle_of_a_cut_joint_counts_its_turns():
    """However few times are stored: speeds tell how many turns there were between two."""
    m = sh.Model("spinner")
    m.add_body("wheel", 1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("hinge", sh.Revolute("z"), "ground", "wheel")
    m.add_joint("other", sh.Revolute("z"), "ground", "wheel", cut=True)
    r = sh.simulate(m, 2.0, v0={"hinge": 20.0}, output=0.5)
    assert r.coordinate("hinge")[-1] > 6 * 2.0 * pi
    assert_close(r.coordinate("other"), r.coordinate("hinge"), 1e-9)


# --- forces -----------------------------------------------------------------------------------------------------------------
def test_reactions_and_forces_balance_every_body_that_is_driven_on_a_moving_base():
    r = sh.simulate(powered(), 0.3, v0={"wrist": 2.0}, output=0.1)
    assert unbalanced(r) < 1e-9
    assert_close(r.reaction("drive"), r.reactions[:, r.model.joint_index("drive")], 1e-15)


def test_a_joint_named_the_other_way_round_acts_on_the_body_it_names_its_child():
    there, back = (sh.Model("there"), sh.Model("back"))
    for m, ends in ((there, ("ground", "arm")), (back, ("arm", "ground"))):
        m.add_body("arm", 1.0, (0.5, 0.0, 0.0), (0.1, 0.1, 0.1))
        m.add_joint("J", sh.Revolute("y"), *ends)
    r, s = (motion(m, [0.3 * sign], [1.0 * sign]) for m, sign in ((there, 1.0), (back, -1.0)))
    assert_close(s.reaction("J"), -r.reaction("J", axes="world"), 1e-12)
    assert_close(r.reaction("J", axes="world")[0, 3:][1], 0.0, 1e-12, scale=1.0)  # nothing turns the hinge


def test_power_is_the_rate_of_the_work_that_was_recorded():
    m = sh.Model("fed", gravity=(0.0, 0.0, -9.81))
    for name in ("a", "b", "c", "d"):
        m.add_body(name, 1.0, (0.2, 0.1, 0.0), (0.02, 0.03, 0.04))
    m.add_joint("A", sh.Revolute("y", motion=lambda t: 0.6 * sh.sin(3.0 * t)), "ground", "a")
    m.add_joint("B", sh.Planar(motion={"y": lambda t: 0.2 * sh.cos(2.0 * t)}), "a", "b")
    m.add_joint("C", sh.Revolute("x", damping=0.1), "b", "c", at=sh.Pose((0.3, 0.0, 0.0)))
    m.add_joint("D", sh.Revolute("z"), "c", "d", at=sh.Pose((0.3, 0.0, 0.0)))
    m.couple("D", "A", ratio=2.0)
    r = sh.simulate(m, 0.5, tau={"C": 0.3}, output=0.01, rtol=1e-11, atol=1e-12)
    power = {joint: r.power(joint) for joint in "ABCD"}
    assert np.abs(power["A"]).max() > 0.01 and np.abs(power["B"]).max() > 0.01 and not power["D"].any()  # A leads D
    assert_close(_simpson(power["A"] + power["B"], r.t), r.energy.work["drives"][-1], 1e-6)
    assert_close(_simpson(power["C"], r.t), r.energy.work["tau"][-1], 1e-6)


def test_the_drive_of_a_loop_does_the_work_that_was_recorded(driven_loop):
    r = driven_loop
    assert_close(_simpson(r.power("A"), r.t), r.energy.work["drives"][-1], 1e-6)
    assert max(np.abs(r.power(joint)).max() for joint in "BCD") < 1e-8 < np.abs(r.power("A")).max()


def _simpson(y: np.ndarray, t: np.ndarray) -> float:
    weights = np.ones(len(t))
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    return float((weights * y).sum() * (t[1] - t[0]) / 3.0)


@pytest.mark.parametrize(("kind", "inertia", "unit"), [(sh.Revolute("z"), 0.3, "N m"), (sh.Prismatic("x"), 2.0, "N")])
def test_a_coupling_has_a_force_by_name_with_a_unit_in_plots_and_tables(kind, inertia, unit):
    """What moves the follower: λ = inertia · acceleration."""
    m = sh.Model("rack", gravity=(0.0, 0.0, 0.0))
    for name, joint in (("a", sh.Revolute("z")), ("b", kind)):
        m.add_body(name, 2.0, (0.0, 0.0, 0.0), (0.1, 0.2, 0.3))
        m.add_joint(name.upper(), joint, "ground", name)
    m.couple("B", "A", ratio=-0.5, offset=0.1)
    r = sh.simulate(m, 0.1, tau={"A": 3.0}, output=0.05)
    name, expected = "coupling of B", inertia * r.acceleration("B")
    assert_close(r.multiplier(name), expected, 1e-12)
    assert_close(r.quantity(f"force of {name}"), expected, 1e-12)
    assert f"force of {name}" in names_of(m) and multiplier_lines(r, name)[0].unit == unit
    assert_close(r.to_dataframe()[f"force of {name}"].to_numpy(), expected, 1e-12)
    many = sh.rollout(m, np.zeros((2, 1)), tau={"A": 3.0}, step=0.01, steps=3)
    assert_close(many.multiplier(name)[1], np.full(4, expected[0]), 1e-12)
    with pytest.raises(sh.StateError, match="no cut joint or constraint 'coupling of A'"):
        r.multiplier("coupling of A")


# --- rollouts ---------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def many() -> Rollout:
    """With a driven joint, a follower, a ball, a parameter of its own for each trajectory, and forces that change."""
    m = sh.Model("many", gravity=(0.0, 0.0, -9.81))
    load = m.add_parameter("load", 1.0)
    for name, parent in (("a", "ground"), ("b", "a"), ("c", "b"), ("d", "c")):
        m.add_body(name, load, (0.2, 0.0, 0.1), (0.02, 0.03, 0.04))
        kind = {"a": sh.Revolute("y", motion=lambda t: 0.5 * sh.sin(t)), "c": sh.Ball()}.get(name, sh.Revolute("x"))
        m.add_joint(name.upper(), kind, parent, name, at=sh.Pose((0.3, 0.0, 0.0)))
    m.couple("D", "B", ratio=-0.5, offset=0.1)
    m.add_frame("tip", "d", sh.Pose((0.2 * load, 0.0, 0.0), sh.Rotation.about("z", 0.3)))
    rng = np.random.default_rng(4)
    q0 = np.array([m.random_q(rng) for _ in range(3)])
    control = lambda t, q, v: -0.3 * v + 0.1 * np.arange(3)[:, None]  # noqa: E731
    return sh.rollout(
        m, q0, rng.normal(size=(3, m.nv)), dt=0.01, steps=8, every=2, tau=control, parameters={"load": [1.0, 1.5, 2.0]}
    )


def test_a_rollout_has_by_name_what_each_of_its_trajectories_has(many):
    assert len(many) == 3 and [len(r) for r in many] == [5, 5, 5] and many[-1].status == "done"
    asked = {
        "coordinate": "ABCD", "speed": "ABCD", "acceleration": "ABCD", "reaction": "ABCD", "power": "ABCD", "point": "ad",
        "point_velocity": "ad", "point_acceleration": "d", "rotation": "d", "angular_velocity": "d",
    }  # fmt: skip
    for what, names in asked.items():
        for name in names:
            whole = getattr(many, what)(name)
            assert_close(whole, np.stack([getattr(r, what)(name) for r in many]), 1e-12, what=what)
    for read in ("frame", "frame_rotation"):
        assert_close(getattr(many, read)("tip"), np.stack([getattr(r, read)("tip") for r in many]), 1e-12)
    assert many.energy.total.shape == many.violation.shape == (3, 5) and not many.energy.accounted
    assert_close(many.energy.kinetic[1], many[1].energy.kinetic, 1e-13)
    assert np.linalg.norm(many.frame("tip") - many.point("d"), axis=-1) == pytest.approx(
        0.2 * np.array([[1.0], [1.5], [2.0]]) * np.ones(5)
    )


def test_accelerations_of_a_rollout_are_those_of_the_forces_that_acted(many):
    d = sh.Dynamics(many.model)
    tau = -0.3 * many.v + 0.1 * np.arange(3)[:, None, None]
    assert_close(many.tau[:, :-1], tau[:, :-1], 1e-14)
    for k, load in enumerate((1.0, 1.5, 2.0)):
        expected = d.forward(many.q[k], many.v[k], many.tau[k], many.t, parameters={"load": load})
        assert_close(many.acceleration("B")[k], expected[:, many.model.v_slice("B")][:, 0], 1e-12)


def test_a_trajectory_of_a_rollout_is_a_result_that_can_be_saved(many, tmp_path):
    one = many[1]
    assert isinstance(one, sh.Result) and "many" in one.summary() and one.cost.integrator == "rk4"
    one.save(tmp_path / "one.nc")
    back = sh.Result.load(tmp_path / "one.nc", many.model)
    assert np.array_equal(back.tau, one.tau) and np.array_equal(back.a, one.a)
    with pytest.raises(sh.StateError, match="trajectory of the rollout, from -3 to 2"):
        many[3]


def test_trajectories_are_drawn_on_the_same_axes(many, tmp_path):
    figure = many.plot("A", "B", trajectories=[0, 2], path=tmp_path / "two.png")
    assert [line.get_text() for line in figure.axes[0].get_legend().get_texts()][-1] == "B, trajectory 2"
    rows = np.zeros((20, many.model.nq)) + many.model.neutral()
    with pytest.raises(sh.StateError, match=r"choose some of them, e.g. trajectories=\[0, 19\]"):
        sh.rollout(many.model, rows, dt=0.01, steps=1).plot("A")


def test_a_trajectory_that_failed_is_a_result_up_to_there():
    m = sh.Model("rooted")
    m.add_body("bar", 1.0, (1.0, 0.0, 0.0), (0.1, 0.1, 0.1))
    m.add_joint("hinge", sh.Revolute("y"), "ground", "bar")
    m.add_force(lambda on: on.torque("hinge", sh.sqrt(0.5 - on.q("hinge"))), name="root")
    r = sh.rollout(m, [[0.0], [0.45]], [[-1.0], [2.0]], dt=0.01, steps=20)
    assert r.ok.tolist() == [True, False]
    assert len(r[0]) == 21 and 1 <= len(r[1]) < 21 and r[1].status == "not_finite" and "failed" in r[1].message
    assert np.isfinite(r[1].a).all()


# --- tables -----------------------------------------------------------------------------------------------------------------
def test_tables_name_every_joint_and_know_the_units(many, tmp_path):
    r = many[2]
    table = r.to_dataframe()
    assert table.index.name == "t" and {"q A", "v A", "a A", "q D", "q C.qw", "v C.wx", "kinetic"} <= set(table.columns)
    for joint in "ABD":
        for letter, read, unit in (("q", r.coordinate, "rad"), ("v", r.speed, "rad/s"), ("a", r.acceleration, "rad/s²")):
            assert np.array_equal(table[f"{letter} {joint}"], read(joint))
            assert table.attrs["units"][f"{letter} {joint}"] == unit
    whole = many.to_dataframe()
    assert whole.index.names == ["trajectory", "t"] and whole.shape == (15, table.shape[1])
    assert_close(whole.loc[2].to_numpy(), table.to_numpy(), 1e-12)
    many.to_csv(tmp_path / "many.csv")
    written = np.genfromtxt(tmp_path / "many.csv", delimiter=",", names=True)
    assert written.dtype.names[:2] == ("trajectory", "t") and np.array_equal(written["q_A"], whole["q A"])


def test_data_sets_have_driven_and_dependent_joints_beside_the_coordinates(many):
    data = many.to_xarray()
    assert data["q"].dims == ("trajectory", "time", "coordinate") and list(data["dependent_coordinate"].values) == ["A", "D"]
    for letter, read in (("q", many.coordinate), ("a", many.acceleration)):
        axis = "dependent_coordinate" if letter == "q" else "dependent_speed"
        assert np.array_equal(data[f"dependent_{letter}"].sel({axis: "D"}), read("D"))


# --- names ------------------------------------------------------------------------------------------------------------------
def test_parts_of_joints_and_wrong_names(many, driven_loop):
    r = driven_loop
    assert np.array_equal(r.coordinate("C.second"), r.coordinate("C")[:, 1]) and r.coordinate_names("B")[0] == "B.qw"
    assert_close(r.closing_reaction("B", "crank"), r.closing_reaction("B")["crank"], 0.0)
    assert_close(r.closing_reaction("B", "crank"), r.reaction("B"), 1e-12)
    for ask, says in (
        (lambda: r.coordinate("E"), "'B'"), (lambda: r.coordinate("B.angle"), "'B.qx'"), (lambda: r.reaction("E"), "'B'"),
        (lambda: r.reaction("A", axes="local"), "'world'"), (lambda: r.reaction("A", at="tip"), "'origin'"),
        (lambda: r.power(3), "'A'"), (lambda: r.closing_reaction("A"), "'B'"),
        (lambda: r.closing_reaction("B", "rocker"), "'crank'"),
        (lambda: r.point_velocity("leg"), "'crank'"), (lambda: many.frame_rotation("top"), "'tip'"),
        (lambda: r.coordinate(["A"]), "no joint"),
    ):  # fmt: skip
        with pytest.raises(sh.SharnirError, match=says):
            ask()


def test_a_rollout_is_a_page_of_its_trajectories_and_has_a_summary(tmp_path):
    b = sh.rollout(sh.samples.double_pendulum(), np.linspace(0.1, 1.0, 20).reshape(10, 2), duration=0.1, step=0.01)
    with pytest.raises(sh.StateError, match=r"10 trajectories cannot be told apart.*trajectories=\[0, 9\]"):
        b.animate(tmp_path / "all.html")
    text = b.animate(tmp_path / "some.html", trajectories=[0, 9], plots=["hinge1"]).read_text(encoding="utf-8")
    assert "trajectory 0" in text and "trajectory 9" in text
    assert "10 trajectories of 11 times, t = 0 … 0.1 s" in b.summary() and "failed" not in b.summary()
