"""Scenes: what is drawn is where the mechanics has it."""

import math

import numpy as np
import pytest

import sharnir as sh
from sharnir.viewer import solids
from sharnir.viewer.bodies import ellipsoid
from sharnir.viewer.build import scene_of
from sharnir.viewer.motion import at_times
from sharnir.viewer.scene import GROUND, LAYERS, Scene, camera_for

LOOPS = ["four_bar", "slider_crank", "andrews", "bricard", "governor", "stewart", "planetary_gear", "car_axis", "bicycle"]
TREES = ["pendulum", "double_pendulum", "manipulator", "all_joints"]
SOLIDS = {
    "box": (solids.box(), 1.0),
    "cylinder": (solids.cylinder(), math.pi),
    "tube": (solids.cylinder(0.5), 0.75 * math.pi),
    "rod": (solids.rod(), math.pi),
    "cone": (solids.cone(), math.pi / 3),
    "sphere": (solids.sphere(), 4 / 3 * math.pi),
    "capsule": (solids.capsule(2.0), 4 / 3 * math.pi + 2 * math.pi),
    "ring": (solids.ring(0.1), 2 * math.pi * math.pi * 0.01),
}


def world(scene: Scene, carrier: int, points: np.ndarray, k: int = 0) -> np.ndarray:
    return points if carrier == GROUND else scene.position[k, carrier] + points @ scene.rotation[k, carrier].T


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_are_closed_outward_and_of_their_volume(name):
    g, volume = SOLIDS[name]
    a, b, c = (g.vertices[g.faces[:, k]].astype(float) for k in range(3))
    n = np.cross(b - a, c - a)
    assert 0.85 * volume < np.einsum("ij,ij->", a, n) / 6 < volume * (1 + 1e-6)
    assert (np.einsum("ij,ij->i", n, g.normals[g.faces].mean(axis=1)) > 0.0).all()
    np.testing.assert_allclose(np.linalg.norm(g.normals, axis=1), 1.0, atol=1e-6)
    corner = {tuple(x) for x in np.round(g.vertices, 5).tolist()}
    place = {x: k for k, x in enumerate(corner)}
    label = np.array([place[tuple(x)] for x in np.round(g.vertices, 5).tolist()])
    edges = [tuple(e) for f in label[g.faces] for e in ((f[0], f[1]), (f[1], f[2]), (f[2], f[0]))]
    assert sorted(edges) == sorted((b, a) for a, b in edges)  # every edge is there once in either sense


@pytest.mark.parametrize("name", LOOPS + TREES)
def test_both_ends_of_every_joint_are_drawn_in_one_place(name):
    m = getattr(sh.samples, name)()
    scene = scene_of(m)
    assert not scene.notes
    for joint in m.closing_joints:
        if isinstance(joint.type, (sh.Revolute, sh.Ball)):
            ends = [(joint.parent, joint.at), (joint.child, joint.child_at)]
            at = [world(scene, GROUND if b == "ground" else m.body_index(b), np.array(p.position)) for b, p in ends]
            np.testing.assert_allclose(at[0], at[1], atol=1e-9 * scene.size)
    assert {p.carrier for p in scene.parts if p.layer in ("bodies", "constraints")} >= {
        i for i, b in enumerate(m.bodies) if b.mass > 0.0
    }


def test_a_bar_runs_from_joint_to_joint():
    m = sh.Model("arm")
    m.add_body("a", mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    m.add_body("b", mass=1.0, com=(0.5, 0, 0), inertia=(0, 1 / 12, 1 / 12))
    m.add_joint("A", sh.Revolute("y"), "ground", "a", child_at=sh.Pose((-0.1, 0, 0.3)))
    m.add_joint("B", sh.Revolute("y"), "a", "b", at=sh.Pose((0.5, 0.1, 0.0)))
    scene = scene_of(m)
    bars = {p.carrier: p.at @ np.array([[0, 0, 0, 1.0], [0, 0, 1, 1]]).T for p in scene.parts if p.name in ("body a", "body b")}
    np.testing.assert_allclose(bars[0][:3].T, [(-0.1, 0, 0.3), (0.5, 0.1, 0)], atol=1e-12)
    np.testing.assert_allclose(bars[1][:3].T, [(0, 0, 0), (1, 0, 0)], atol=1e-12)  # the inertia is that of a rod of 1 m


def test_the_ellipsoid_has_the_inertia_of_the_body():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(20, 3)) * (0.3, 0.1, 0.2)
    J = sum(x @ x * np.eye(3) - np.outer(x, x) for x in points) / 20
    m = sh.Model("lump")
    m.add_body("a", mass=2.5, com=(0.1, 0.2, 0.3), inertia=2.5 * J)
    m.add_floating("a")
    _, at = ellipsoid(m.bodies[0], 0.0, 12)
    A = at[:3, :3]  # a solid ball of radius 1, mapped: ∫ x xᵀ dm = m/5 A Aᵀ
    S = 2.5 / 5 * A @ A.T
    np.testing.assert_allclose(np.trace(S) * np.eye(3) - S, 2.5 * J, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("axis", ["x", "-y", "z", (0.6, 0.0, 0.8)])
@pytest.mark.parametrize("kind", [sh.Revolute, sh.Prismatic, sh.Cylindrical])
def test_the_sign_of_a_joint_lies_on_its_axis_in_every_position(kind, axis):
    m = sh.Model("one")
    m.add_body("a", mass=1.0, com=(0.3, 0, 0.1), inertia=(1, 1, 1))
    place = sh.Pose((0.1, 0.2, 0.3), sh.Rotation.rpy(0.3, 0.2, 0.1))
    m.add_joint("J", kind(axis), "ground", "a", at=place, child_at=sh.Pose((0.5, 0, 0), sh.Rotation.rpy(1.0, 0, 0)))
    along = place.rotation @ (axis if isinstance(axis, tuple) else tuple((-1 if "-" in axis else 1) * (c in axis) for c in "xyz"))
    for q in (m.neutral(), np.full(m.nq, 0.7)):
        scene = scene_of(m, q=q)
        signs = [p for p in scene.parts if p.layer == "joints" and not p.name.startswith("ground at ")]
        assert signs
        for p in signs:
            line = world(scene, p.carrier, (p.at @ np.array([[0, 0, -0.5, 1], [0, 0, 0.5, 1.0]]).T)[:3].T)
            np.testing.assert_allclose(np.cross(line - np.array(place.position), along), 0.0, atol=1e-12)


def test_springs_and_arrows_follow_the_motion():
    m = sh.Model("spring", gravity=(0, 0, -9.81))
    m.add_body("a", mass=1.0, shape=sh.Box((0.1, 0.1, 0.1)))
    m.add_joint("J", sh.Prismatic("z"), "ground", "a")
    m.add_force(sh.SpringDamper("ground", "a", at_a=(0, 0, 1), at_b=(0, 0, 0.05), stiffness=100, length=0.8, damping=1), name="s")
    r = sh.simulate(m, 1.0, output=0.1)
    scene = scene_of(r)
    coil = next(x for x in scene.spans if x.layer == "springs")
    start, end = coil.ends(scene.rotation, scene.position)
    np.testing.assert_allclose(start, np.tile((0, 0, 1.0), (len(r), 1)))
    np.testing.assert_allclose(end, r.point("a", (0, 0, 0.05)), atol=1e-12)
    shaft = next(x for x in scene.spans if x.layer == "forces")
    force = r.force("s")["a"][:, :3]
    size = np.abs(force).max()
    np.testing.assert_allclose(shaft.vector, force * 0.3 * scene.size / size, atol=1e-12)
    assert scene.scales["forces"] == f"forces: longest arrow of the run {size:.3g} N"


def test_an_arrow_begins_where_its_force_acts():
    m = sh.Model("swing", gravity=(0, 0, -9.81))
    m.add_body("a", mass=1.0, com=(0.3, 0.1, 0), inertia=(1, 1, 1))
    m.add_joint("J", sh.Ball(), "ground", "a")
    m.add_force(sh.SpringDamper("ground", "a", at_a=(0, 0, 2), at_b=(0.6, 0.2, 0.1), stiffness=50, length=0.5), name="s")
    r = sh.simulate(m, 2.0, output=0.1, v0=[0.5, 1.0, -0.3])
    arrows = [x for x in scene_of(r).spans if x.layer == "forces"]
    assert arrows and all("force s on a" in x.name for x in arrows)  # no moment is left
    for x in arrows:
        np.testing.assert_allclose(x.start.point, (0.6, 0.2, 0.1), atol=1e-9)


def test_loops_that_cannot_be_closed_are_drawn_open_and_said():
    m = sh.samples.four_bar(base=10.0)
    (note,) = scene_of(m).notes
    assert "drawn with its loops open" in note


def test_a_position_by_name_is_held_or_drawn_open():
    m = sh.samples.four_bar(0.4, 1.2, 0.9, 1.0)
    scene = scene_of(m, q={"C": 1.5})
    assert not scene.notes and np.arctan2(*scene.rotation[0, m.body_index("rocker"), 1::-1, 0]) == pytest.approx(1.5)
    scene = scene_of(m, q={"C": 3.0})
    assert "loops open" in scene.notes[0] and np.arctan2(*scene.rotation[0, m.body_index("rocker"), 1::-1, 0]) == pytest.approx(
        3.0
    )
    (note,) = scene_of(m, q=[0.3, 0.2, 0.1]).notes
    assert "nearest position" in note


def test_a_body_that_flies_away_leaves_the_others_in_the_picture():
    m = sh.samples.double_pendulum()
    m.add_body("ball", mass=1.0, shape=sh.Sphere(0.1))
    m.add_floating("ball")
    r = sh.simulate(m, 3.0, output=0.1)
    scene = scene_of(r)
    assert np.ptp(scene.position[:, m.body_index("ball")], axis=0).max() > 40.0
    assert (scene.high - scene.low).max() < 7.0


def test_what_rolls_stands_on_the_floor():
    scene = scene_of(sh.samples.bicycle())
    floor = next(p for p in scene.parts if p.layer == "ground")
    assert floor.at[:3, 3] @ scene.up == pytest.approx(0.0, abs=0.01)


def test_results_that_are_no_numbers_are_drawn_as_far_as_they_are(tmp_path):
    r = sh.simulate(sh.samples.double_pendulum(), 1.0)
    r.q[50:] = np.nan
    scene = scene_of(r)
    assert np.isfinite(scene.low).all() and np.isfinite(scene.high).all()
    r.snapshot(tmp_path / "a.png", t=0.2, size=(80, 60))
    assert "are not numbers" in r.animate(tmp_path / "a.html").read_text(encoding="utf-8")
    with pytest.raises(sh.StateError, match=r"t = 0.8.*not a number"):
        r.snapshot(tmp_path / "b.png", t=0.8)
    with pytest.raises(sh.StateError, match=r"t = 0.5.*not a number"):
        r.video(tmp_path / "b.gif")


def test_what_is_fixed_to_a_moving_base_moves_with_it():
    m = sh.Model("ship")
    m.base_motion = lambda t: sh.Pose((3.0 * t, 0, 0))
    m.add_body("a", mass=1.0, com=(0, 0, 0.5), inertia=(1, 1, 1))
    m.add_joint("W", sh.Weld(), "ground", "a", at=sh.Pose((0, 0, 0.5)))
    m.add_force(sh.SpringDamper("ground", "a", at_b=(0, 0, 1), stiffness=1.0), name="s")
    scene = scene_of(m, t=2.0)
    start, end = scene.spans[0].ends(scene.rotation, scene.position)
    np.testing.assert_allclose([start[0], end[0]], [(6, 0, 0), (6, 0, 1.5)])
    r = sh.simulate(m, 1.0, output=0.5)
    later = at_times(scene_of(r), r, [0.25, 0.8])
    np.testing.assert_allclose(later.spans[0].ends(later.rotation, later.position)[0], [(0.75, 0, 0), (2.4, 0, 0)])


def test_parameters_have_the_values_of_the_run():
    m = sh.Model("p")
    length = m.add_parameter("length", 1.0)
    m.add_body("a", mass=1.0, com=(0, 0, -length), inertia=(0, 0, 0))
    m.add_joint("J", sh.Revolute("y"), "ground", "a")
    r = sh.simulate(m, 0.1, parameters={"length": 3.0})
    assert scene_of(r).low[2] == pytest.approx(-3.0, abs=0.2)


@pytest.mark.parametrize("aspect", [0.5, 16 / 9])
@pytest.mark.parametrize("name", LOOPS + TREES)
def test_the_camera_sees_everything(name, aspect):
    scene = scene_of(getattr(sh.samples, name)())
    width, height = 1000.0 * aspect, 1000.0
    x, y, depth = camera_for(scene, aspect).project(scene.outermost, width, height).T
    assert ((scene.outermost >= scene.low - 0.2 * scene.size) & (scene.outermost <= scene.high + 0.2 * scene.size)).all()
    assert (depth > 0).all()
    assert (x > 0).all() and (x < width).all() and (y > 0).all() and (y < height).all()
    assert max(np.ptp(x) / width, np.ptp(y) / height) > 0.75  # and not from afar


@pytest.mark.parametrize("aspect", [0.5, 1.0, 16 / 9])
def test_a_whole_motion_fills_the_picture(aspect):
    """Its outermost points, not the corners of a box around it, which no body comes near."""
    m = sh.Model("mast", gravity=(0.0, 0.0, -9.81))
    m.add_body("arm", mass=1.0, shape=sh.Rod((0, 0, 0), (0, 0, 3.0), radius=0.02))
    m.add_joint("slew", sh.Revolute("z"), "ground", m.add_body("mast", mass=1.0, inertia=(1, 1, 1)).name)
    m.add_joint("luff", sh.Weld(), "mast", "arm", at=sh.Pose(rotation=sh.Rotation.about("y", 1.0)))
    r = sh.simulate(m, 2.0, v0={"slew": 3.5}, output=0.02)
    scene = scene_of(r)
    tip = r.point("arm", (0.0, 0.0, 3.0))
    x, y, depth = camera_for(scene, aspect).project(np.vstack([tip, scene.outermost]), 1000.0 * aspect, 1000.0).T
    assert (depth > 0).all() and x.min() > 0 and x.max() < 1000.0 * aspect and y.min() > 0 and y.max() < 1000.0
    assert max(np.ptp(x) / aspect, np.ptp(y)) > 850.0
    assert (scene.outermost.min(axis=0) >= np.minimum(scene.low, -0.3) - 1e-9).all() and len(scene.outermost) < 200


def brackets(scene: Scene) -> dict[str, float]:
    """{joint: height of its plate above it}."""
    found = [p for p in scene.parts if p.name.startswith("ground at ")]
    assert all(p.carrier == GROUND and p.layer == "joints" for p in found)
    return {p.name.removeprefix("ground at "): float(p.at[:3, 2] @ scene.up) for p in found}


def test_brackets_show_where_a_mechanism_hangs_and_stands():
    hangs = brackets(scene_of(sh.samples.pendulum(), q=[-1.2]))
    assert list(hangs.values()) == [pytest.approx(x) for x in hangs.values()] and set(map(np.sign, hangs.values())) == {-1.0}
    four_bar = scene_of(sh.samples.four_bar(), q={"A": 1.2, "B": -1.2, "C": 1.2})
    assert set(brackets(four_bar)) == {f"joint {j.name}" for j in four_bar.carriers.model.joints if j.parent == "ground"}
    assert set(map(np.sign, brackets(four_bar).values())) == {1.0}, "its bars stand above"
    free = sh.Model("free")
    free.add_body("a", mass=1.0, inertia=(1, 1, 1))
    free.add_joint("float", sh.Free(), "ground", "a")
    assert not brackets(scene_of(free)) and not brackets(scene_of(sh.samples.all_joints(moving_base=True)))


def test_the_plate_of_what_stands_on_the_floor_lies_on_it():
    m = sh.Model("tower", gravity=(0.0, 0.0, -9.81))
    m.add_body("tower", mass=1.0, shape=sh.Cylinder(0.2, 2.0, at=sh.Pose((0.0, 0.0, 1.0))))
    m.add_joint("slew", sh.Revolute("z"), "ground", "tower")
    scene = scene_of(m)
    (plate,) = [p for p in scene.parts if p.name.startswith("ground at ")]
    assert plate.at[2, 3] == pytest.approx(0.0, abs=0.01 * scene.size)


def test_the_ground_is_below_everything():
    scene = scene_of(sh.samples.pendulum(), q=[-1.2])
    floor = next(p for p in scene.parts if p.layer == "ground")
    assert floor.at[:3, 3] @ scene.up <= (np.stack([scene.low, scene.high]) @ scene.up).min()


def test_layers_that_do_not_exist_are_refused():
    with pytest.raises(sh.StateError, match=r"no layer 'body'.*bodies"):
        scene_of(sh.samples.pendulum(), show=["body"])
    assert scene_of(sh.samples.pendulum(), show="all").shown == tuple(LAYERS)


def test_a_thousand_links_are_few_geometries():
    scene = scene_of(sh.samples.chain(1000))
    shown = [p for p in scene.parts if p.layer in scene.shown]
    assert len({id(p.geometry) for p in shown}) <= 7
    assert sum(len(p.geometry.faces) for p in shown) < 80_000
