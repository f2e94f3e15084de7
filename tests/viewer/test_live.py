"""The live view without a browser: sliders close loops and keep limits, the clock plays, a hand pulls, its work is accounted."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
from scipy.spatial import cKDTree

import sharnir as sh
from sharnir.equations.rows.constraint_table import table_of
from sharnir.model.quaternions import quaternions_of
from sharnir.viewer.build import scene_of
from sharnir.viewer.live.live_stage import Worker
from sharnir.viewer.live.motion_gui import Playback, Plot, Track, matrices_of
from sharnir.viewer.live.nodes import Poses, part_batches, span_batches, turns_from_z
from sharnir.viewer.live.posing import Posing
from sharnir.viewer.live.session import Hand, Session
from sharnir.viewer.live.view import names_of, subjects_of


def gap(posing: Posing) -> float:
    table = table_of(posing.model)
    return float(np.abs(table.evaluate(posing.q, np.zeros(posing.model.nv), posing.t)["g"]).max())


# --- sliders ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "model",
    [lambda: sh.samples.four_bar(0.5, 1.0, 1.0, 1.2), sh.samples.slider_crank, sh.samples.bricard, sh.samples.stewart],
    ids=["four-bar", "slider-crank", "Bricard", "Stewart"],
)
def test_every_slider_of_a_closed_mechanism_keeps_it_closed(model):
    """Each goes to the value asked for, or stops where the loops let it and says so; and it comes back."""
    posing = Posing(model())
    for slider in posing.sliders[:4]:
        for share in (0.55, 0.7, 0.2, 0.5):
            asked = slider.low + share * (slider.high - slider.low)
            posing.set(slider, asked)
            assert gap(posing) < 1e-10
            assert posing.message or posing.value(slider) == pytest.approx(asked, abs=1e-12)
        before = posing.value(slider)
        posing.set(slider, before + 0.01)
        posing.set(slider, before)
        assert posing.value(slider) == pytest.approx(before, abs=1e-9) or posing.message


def test_a_rocker_stops_at_its_dead_centre_and_comes_back():
    posing = Posing(sh.samples.four_bar(0.5, 1.0, 1.0, 1.2), {"A": 0.8})
    rocker = next(s for s in posing.sliders if s.name == "C")
    posing.set(rocker, rocker.high)
    assert "cannot get to" in posing.message and gap(posing) < 1e-10
    end = posing.value(rocker)
    posing.set(rocker, end - 0.3)
    assert not posing.message and posing.value(rocker) == pytest.approx(end - 0.3, abs=1e-12)


def test_a_slider_keeps_to_the_branch_that_the_linkage_is_on():
    """A whole turn of the crank in small steps, and one in large ones, end in the same position."""
    ends = []
    for steps in (300, 7):
        posing = Posing(sh.samples.four_bar(0.5, 1.0, 1.0, 1.2), {"A": -math.pi})
        crank = next(s for s in posing.sliders if s.name == "A")
        for x in np.linspace(-math.pi, math.pi, steps + 1)[1:]:
            posing.set(crank, float(x))
            assert not posing.message
        ends.append(posing.poses()[1])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)


def test_limits_of_joints_hold_for_sliders_and_for_joints_that_follow():
    m = sh.Model("arm")
    for name in ("upper", "lower"):
        m.add_body(name, mass=1.0, shape=sh.Rod((0, 0, 0), (0, 0, -1), radius=0.02))
    m.add_joint("shoulder", sh.Revolute("y", limits=(-0.5, 1.0)), "ground", "upper")
    m.add_joint("elbow", sh.Revolute("y"), "upper", "lower", at=sh.Pose((0, 0, -1)))
    posing = Posing(m)
    shoulder = posing.sliders[0]
    assert (shoulder.low, shoulder.high) == (-0.5, 1.0) and posing.sliders[1].high == math.pi
    posing.set(shoulder, 7.0)
    assert posing.value(shoulder) == 1.0

    linkage = sh.samples.four_bar(0.5, 1.0, 1.0, 1.2)
    free = Posing(linkage, {"A": 0.8})
    stop = float(free.q[linkage.q_slice("C")][0]) + 0.05
    held = sh.Model("stopped", gravity=linkage.gravity)
    for body in linkage.bodies:
        held.add_body(body.name, mass=body.mass, shape=body.shape)
    for joint in (*linkage.joints, *linkage.closing_joints):
        kind = sh.Revolute("z", limits=(-10.0, stop)) if joint.name == "C" else joint.type
        held.add_joint(joint.name, kind, joint.parent, joint.child, at=joint.at, child_at=joint.child_at)
    posing = Posing(held, {"A": 0.8})
    crank = next(s for s in posing.sliders if s.name == "A")
    said = []
    for x in np.linspace(0.8, 0.8 + 2 * math.pi, 40):
        posing.set(crank, float(x))
        said.append(posing.message)
        assert posing.q[held.q_slice("C")][0] <= stop + 1e-9
    assert any("'C' would pass its limit" in text for text in said)


def test_an_orientation_has_roll_pitch_and_yaw():
    m = sh.Model("ball")
    m.add_body("b", mass=1.0, inertia=(1, 2, 3))
    m.add_joint("j", sh.Ball(), "ground", "b")
    posing = Posing(m)
    assert [s.name for s in posing.sliders] == ["j.roll", "j.pitch", "j.yaw"]
    rpy = (0.4, -1.1, 2.5)
    for slider, x in zip(posing.sliders, rpy, strict=True):
        posing.set(slider, x)
    np.testing.assert_allclose(posing.poses()[0][0], np.array(sh.Rotation.rpy(*rpy).matrix, dtype=float), atol=1e-14)
    assert [posing.value(s) for s in posing.sliders] == pytest.approx(rpy)
    posing.reset()
    np.testing.assert_array_equal(posing.q, [1, 0, 0, 0])


def test_drives_follow_the_time_and_loops_follow_the_drives():
    m = sh.Model("driven", gravity=(0, -9.81, 0))
    bars = {"crank": 0.5, "coupler": 1.0, "rocker": 1.0}
    for name, length in bars.items():
        m.add_body(name, mass=1.0, shape=sh.Rod((0, 0, 0), (length, 0, 0), radius=0.02))
    m.add_joint("A", sh.Revolute("z", motion=lambda t: 0.8 + 2.0 * t), "ground", "crank")
    m.add_joint("B", sh.Revolute("z"), "crank", "coupler", at=sh.Pose((0.5, 0, 0)))
    m.add_joint("C", sh.Revolute("z"), "ground", "rocker", at=sh.Pose((1.2, 0, 0)))
    m.add_joint("D", sh.Revolute("z"), "coupler", "rocker", at=sh.Pose((1, 0, 0)), child_at=sh.Pose((1, 0, 0)))
    posing = Posing(m)
    assert posing.follows_time and not Posing(sh.samples.four_bar()).follows_time
    posing.set_time(1.5)
    assert posing.t == 1.5 and not posing.message and gap(posing) < 1e-10
    crank = posing.poses()[0][m.body_index("crank")]
    np.testing.assert_allclose(crank[:, 0], [math.cos(3.8), math.sin(3.8), 0.0], atol=1e-12)


def test_the_text_of_a_pose_is_the_start_of_a_simulation():
    posing = Posing(sh.samples.four_bar(0.5, 1.0, 1.0, 1.2), {"A": 0.8})
    r = sh.simulate(posing.model, 0.01, q0=eval(posing.text()), fixed=[])
    np.testing.assert_allclose(r.q[0], posing.q, atol=1e-8)


# --- the hand ---------------------------------------------------------------------------------------------------------------
def test_a_hand_moves_a_body_its_way_and_every_joule_is_accounted_for():
    m = sh.samples.double_pendulum()
    session, body = Session(m, m.neutral()), m.bodies[-1].name
    for _ in range(5):
        session.advance(0.02)
    R, r = session.poses()
    i = m.body_index(body)
    aside = R[i] @ np.array([1.0, 0.0, 0.0])
    begun = r[i] + R[i] @ np.array([0.0, 0.0, 0.1])
    session.grip(Hand(body, np.array([0.0, 0.0, 0.1]), begun + 0.2 * aside))
    assert session.force() > 0.0 and session.account.hand > 0.0
    for k in range(30):
        session.advance(0.02)
        session.move(begun + (0.2 + 0.02 * k) * aside)
    assert abs(session.account.defect) < 1e-6 * max(1.0, abs(session.account.now), session.account.hand)
    assert session.account.work["hand's damper"] < 0.0
    free = sh.simulate(m, session.t, output=session.t)
    free_end = free.point(body, (0.0, 0.0, 0.1))[-1]
    assert (session.grip_point() - free_end) @ (begun + 0.78 * aside - free_end) > 0.0
    session.release()
    assert session.hand is None and session.force() == 0.0
    session.advance(0.02)
    assert abs(session.account.defect) < 1e-6 * max(1.0, abs(session.account.now), session.account.hand)


def test_a_session_without_a_hand_is_a_simulation():
    m = sh.samples.four_bar(0.5, 1.0, 1.0, 1.2)
    q = Posing(m, {"A": 0.8}).q
    session = Session(m, q)
    for _ in range(20):
        session.advance(0.01)
    r = sh.simulate(m, 0.2, q0=q)
    np.testing.assert_allclose(session.q, r.q[-1], atol=1e-5)
    assert session.t == pytest.approx(0.2)


def test_states_of_forces_go_on_from_frame_to_frame():
    m = sh.samples.pendulum()
    m.add_state("clock", 0.5, rate=lambda on: 1.0)
    session = Session(m, [0.1])
    for _ in range(3):
        session.advance(0.1)
    assert session.states["clock"] == pytest.approx(0.8)
    assert abs(session.account.defect) < 1e-6


def test_moving_the_hand_compiles_nothing(monkeypatch):
    from sharnir.dialect import jit

    m = sh.samples.rods(3, 0.713, 1.37)  # that no other test has pulled
    session = Session(m, m.neutral())
    session.grip(Hand(m.bodies[0].name, np.zeros(3), np.array([0.3, 0.0, 0.0])))
    session.advance(0.01)
    loaded, real = [], jit.Compiled.__init__
    monkeypatch.setattr(jit.Compiled, "__init__", lambda self, *a, **k: (loaded.append(a), real(self, *a, **k))[1])
    for k in range(5):
        session.move(np.array([0.3, 0.0, 0.1 * k]))
        session.advance(0.01)
    assert not loaded
    session.grip(Hand(m.bodies[1].name, np.zeros(3), np.array([0.3, 0.0, 0.0])))
    session.advance(0.01)
    assert loaded, "another body does: the count counts"


# --- the clock --------------------------------------------------------------------------------------------------------------
def test_the_clock_plays_pauses_scrubs_and_loops():
    clock = Playback(1.0, 3.0)
    clock.play(100.0)
    assert clock.tick(100.5) == 1.5
    clock.set_speed(2.0, 100.5)
    assert clock.tick(101.0) == 2.5
    clock.pause(101.0)
    assert clock.tick(200.0) == 2.5 and not clock.playing
    clock.scrub(9.0, 200.0)
    assert clock.t == 3.0
    clock.play(300.0)
    assert clock.t == 1.0, "at the end it begins again"
    assert clock.tick(301.25) == 1.5 and clock.playing, "it has looped"
    clock.loop = False
    assert clock.tick(303.0) == 3.0 and not clock.playing


# --- what is drawn ----------------------------------------------------------------------------------------------------------
def test_poses_between_two_times_are_interpolated_and_those_at_them_are_exact():
    r = sh.simulate(sh.samples.manipulator(), 0.5, output=0.1)
    R, x = r.poses
    track = Track(r.t, R, x)
    for k in (0, 3, 5):
        wxyz, position = track.at(float(r.t[k]))
        np.testing.assert_allclose(matrices_of(wxyz), R[k], atol=1e-12)
        np.testing.assert_allclose(position, x[k], atol=1e-14)
        assert track.row(float(r.t[k])) == k
    wxyz, position = track.at(0.25)
    np.testing.assert_allclose(position, 0.5 * (x[2] + x[3]))
    np.testing.assert_allclose(np.linalg.norm(wxyz, axis=1), 1.0)
    backward = Track(r.t[::-1], R[::-1], x[::-1])
    np.testing.assert_allclose(backward.at(0.3)[1], x[3])
    assert backward.row(0.1) == 4


def test_quaternions_are_those_of_the_rotations():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(300, 3, 3)))[0]
    Q *= np.sign(np.linalg.det(Q))[:, None, None]
    half = np.array([np.diag(d) for d in ((1.0, -1.0, -1.0), (-1.0, 1.0, -1.0), (-1.0, -1.0, 1.0), (1.0, 1.0, 1.0))])
    for R in (Q, half):
        np.testing.assert_allclose(matrices_of(quaternions_of(R)), R, atol=1e-14)


def test_instances_of_a_batch_are_where_their_parts_are():
    """Every vertex of every part, by the scene's own matrices and as an instance of a batch."""
    r = sh.simulate(sh.samples.four_bar(0.5, 1.0, 1.0, 1.2), 0.3, q0={"A": 0.8})
    scene = scene_of(r, ["bodies", "joints", "ground", "mass", "frames"])
    R, x = scene.rotation[-1], scene.position[-1]
    batches = part_batches(scene)
    assert sum(len(b.members) for b in batches) == len(scene.parts) and len(batches) < len(scene.parts)
    there, own = [], []
    for batch in batches:
        placed = batch.placed(Poses(R, x, quaternions_of(R)))
        turned = matrices_of(placed.wxyz)
        for k, part in enumerate(batch.members):
            there.append((part.geometry.vertices * placed.scale[k]) @ turned[k].T + placed.position[k])
    for part in scene.parts:
        points = part.geometry.vertices @ part.at[:3, :3].T + part.at[:3, 3]
        own.append(points @ R[part.carrier].T + x[part.carrier] if part.carrier >= 0 else points)
    there, own = np.concatenate(there), np.concatenate(own)
    assert len(there) == len(own)
    for a, b in ((there, own), (own, there)):
        assert cKDTree(a).query(b)[0].max() < 1e-6


def test_spans_reach_from_end_to_end_in_every_direction():
    ways = np.array([[0, 0, 2.0], [0, 0, -3.0], [1, 2, 3], [-1, 0, -1e-9], [0, 0, 0]])
    length = np.linalg.norm(ways, axis=1)
    ends = matrices_of(turns_from_z(ways, length))[:, :, 2] * length[:, None]
    np.testing.assert_allclose(ends, ways, atol=1e-8)
    m = sh.samples.car_axis()
    scene = scene_of(m)
    assert scene.spans
    for batch in span_batches(scene):
        R, x = scene.rotation[0], scene.position[0]
        placed = batch.placed(Poses(R, x, quaternions_of(R), 0))
        for k, span in enumerate(batch.members):
            a, b = span.ends(scene.rotation, scene.position)
            tip = placed.position[k] + matrices_of(placed.wxyz[k]) @ (0.0, 0.0, placed.scale[k, 2])
            np.testing.assert_allclose([placed.position[k], tip], [a[0], b[0]], atol=1e-9)


def test_a_plot_marks_the_present_time_and_keeps_its_lines():
    t = np.linspace(0.0, 2.0, 5000)
    plot = Plot([(t, "a", np.sin(t), 0), (t[:2500], "b", np.cos(t[:2500]), 1)])
    times, a, b, cursor = plot.data(0.7531)
    assert np.isfinite(cursor).sum() == 2 and set(times[np.isfinite(cursor)]) == {0.7531}
    np.testing.assert_allclose(a, np.sin(times), atol=1e-4)
    assert np.isnan(b[times > 1.01]).all() and np.isfinite(b[times < 0.99]).all()
    assert (np.diff(times) >= 0.0).all() and len(times) < 500


# --- what is asked for ------------------------------------------------------------------------------------------------------
def test_jobs_of_one_kind_are_done_once_as_asked_for_last_and_errors_are_said():
    done, said, gate = [], [], threading.Event()
    worker = Worker(lambda now: False, said.append)
    worker.post("hold", gate.wait)
    worker.start()
    for k in range(50):
        worker.post("slider", lambda k=k: done.append(k))
    worker.post("fails", lambda: sh.Model("m").body_index("none"))
    gate.set()
    assert worker.finish()
    worker.stop()
    assert done[-1] == 49 and len(done) <= 2
    assert len(said) == 1 and "no bodies" in said[0]


def test_what_can_be_viewed(tmp_path):
    m = sh.samples.pendulum()
    r = sh.simulate(m, 0.1)
    r.save(tmp_path / "run.nc")
    m.save(tmp_path / "m.yaml")
    assert [type(x) for x in subjects_of([tmp_path / "run.nc", r])] == [sh.Result, sh.Result]
    assert isinstance(subjects_of(str(tmp_path / "m.yaml"))[0], sh.Model)
    assert names_of([r, r, r]) == ["pendulum", "pendulum (2)", "pendulum (3)"]
    assert len(subjects_of(sh.rollout(m, np.zeros((3, 1)), duration=0.1, step=0.01))) == 3
    for wrong, words in (
        ([r] * 17, "at most 16"),
        ([], "empty"),
        ([m, r], "by itself"),
        (7, "got 7"),
        (tmp_path / "no.nc", "no file"),
        ("a.csv", "table"),
    ):
        with pytest.raises(sh.SharnirError, match=words):
            subjects_of(wrong)
