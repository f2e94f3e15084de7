"""What a model says its bodies look like is what is drawn: from Python, YAML, URDF, MJCF; the rest is boxes, and said."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import trimesh
from benchmarks.urdf import robot_files
from scipy.spatial import cKDTree

import sharnir as sh
from sharnir.model.visual import Visual
from sharnir.viewer import visuals
from sharnir.viewer.build import scene_of
from sharnir.viewer.visuals import drawn_visuals, inertia_box


@pytest.fixture
def bar():
    m = sh.Model("bar")
    m.add_body("bar", mass=2.0, com=(0.1, 0.0, 0.0), inertia=sh.Box((0.2, 0.4, 0.6)).inertia() * 2.0)
    m.add_joint("A", sh.Revolute("z"), "ground", "bar")
    return m


def placed(one):
    return one.geometry.vertices @ one.at[:3, :3].T + one.at[:3, 3]


def box_of(*drawn):
    points = np.concatenate([placed(one) for one in drawn])
    return points.min(axis=0), points.max(axis=0)


SOLIDS = {
    "box": ((0.2, 0.4, 0.6), (0.1, 0.2, 0.3)),
    "cylinder": ((0.2, 0.6), (0.2, 0.2, 0.3)),
    "capsule": ((0.2, 0.6), (0.2, 0.2, 0.5)),
    "sphere": ((0.2,), (0.2, 0.2, 0.2)),
    "ellipsoid": ((0.1, 0.2, 0.3), (0.1, 0.2, 0.3)),
    "plane": ((0.2, 0.4), (0.1, 0.2, 0.0)),
}
FIELD = """<mujoco><asset><hfield name="h" nrow="4" ncol="4" size="1 2 .2 .3"/></asset>
<worldbody><geom type="hfield" hfield="h" pos="0 0 1"/><body><freejoint/><geom size="1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("kind", SOLIDS)
def test_a_primitive_is_as_large_as_it_says_and_where_it_says(kind, bar):
    sizes, half = SOLIDS[kind]
    at = sh.Pose((1.0, 2.0, 3.0))
    bar.visuals.append(Visual("bar", kind, at, sizes, colour="orange"))
    (one,), notes = drawn_visuals(bar)
    low, high = box_of(one)
    assert np.allclose((low + high) / 2, at.position, atol=1e-6) and np.allclose((high - low) / 2, half, atol=1e-6)
    assert one.body == "bar" and one.colour == pytest.approx((1.0, 165 / 255, 0.0, 1.0)) and not notes


def test_a_height_field_is_drawn_flat_and_said(tmp_path):
    (tmp_path / "m.xml").write_text(FIELD)
    (field, _), notes = drawn_visuals(sh.load(tmp_path / "m.xml"))
    assert np.allclose(box_of(field), [(-1, -2, 0.7), (1, 2, 1)], atol=1e-6)
    assert notes == ["drawn flat: height fields, whose heights are not read"]


def test_shapes_and_meshes_are_added_in_python_with_colours_by_name(bar, tmp_path):
    trimesh.creation.box((100, 200, 300)).export(tmp_path / "b.stl")
    bar.add_frame("tip", "bar", sh.Pose((1.0, 0.0, 0.0)))
    bar.add_visual("bar", sh.Rod((0, 0, 0), (0, 1, 0), radius=0.1), colour="#ff0000")
    bar.add_visual("bar", sh.Cylinder(0.2, 0.5, hole=0.1), at="tip", colour=(0, 1, 0))
    bar.add_visual("ground", tmp_path / "b.stl", scale=0.001, role="both", name="block")
    (rod, tube, block), notes = drawn_visuals(bar)
    assert not notes and [x.colour for x in (rod, tube, block)] == [(1, 0, 0, 1), (0, 1, 0, 1), None]
    assert np.allclose(box_of(rod), [(-0.1, 0, -0.1), (0.1, 1, 0.1)], atol=1e-6)
    assert np.allclose(box_of(tube), [(0.8, -0.2, -0.25), (1.2, 0.2, 0.25)], atol=1e-6)
    radii = np.hypot(*(placed(tube)[:, :2] - (1, 0)).T)
    assert np.allclose(radii.min(), 0.1, atol=1e-6)  # the bore
    assert np.allclose(box_of(block), [(-0.05, -0.1, -0.15), (0.05, 0.1, 0.15)], atol=1e-6)
    assert block.body == "ground" and block.label == "ground: block"
    assert [x.label for x in drawn_visuals(bar, "collision")[0]] == ["ground: block"]
    assert sh.loads(sh.dumps(bar)).visuals == bar.visuals


def test_a_visual_by_parameters_has_their_values():
    m = sh.Model()
    length = m.add_parameter("L", 2.0)
    m.add_body("b", 1.0)
    m.add_floating("b")
    m.add_visual("b", sh.Box((length, 0.1, 0.1)))
    (one,), _ = drawn_visuals(m.without_parameters({"L": 3.0}))
    assert np.allclose(np.ptp(placed(one), axis=0), (3.0, 0.1, 0.1), atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        (("bra", sh.Sphere(1.0)), {}, "no body 'bra'"),
        (("bar", 3), {}, r"expected a shape such as sharnir.Box\(.*or the path of a mesh, got 3"),
        (("bar", sh.Sphere(1.0)), {"colour": "orrange"}, "expected a colour such as 'orange'"),
        (("bar", sh.Sphere(1.0)), {"colour": (255, 128, 0)}, "expected a colour .* from 0 to 1"),
        (("bar", sh.Sphere(1.0)), {"scale": 2.0}, "scale is for meshes"),
        (("bar", sh.Sphere(1.0)), {"at": "top"}, "top"),
        (("bar", sh.Sphere(1.0)), {"role": "ghost"}, "'visual', 'collision', 'both' or 'hidden'"),
    ],
)
def test_a_wrong_visual_is_refused_where_it_is_added(arguments, options, says, bar):
    with pytest.raises(sh.ModelError, match=says):
        bar.add_visual(*arguments, **options)
    assert not bar.visuals


def test_a_missing_mesh_is_drawn_as_the_box_of_its_inertia_and_said_once(bar):
    for k in range(5):
        bar.add_visual("bar", f"nowhere/{k}.stl", colour="red")
    (one,), notes = drawn_visuals(bar)
    assert np.allclose(box_of(one), [(0.0, -0.2, -0.3), (0.2, 0.2, 0.3)], atol=1e-6)  # about the centre of mass
    assert one.colour == (1.0, 0.0, 0.0, 1.0)
    assert notes == ["drawn as boxes: 5 meshes missing: 0.stl, 1.stl, 2.stl and 2 more"]
    assert notes[0] in scene_of(bar).notes


def test_a_missing_mesh_is_drawn_by_the_shape_that_touches_where_there_is_one(bar):
    bar.add_visual("bar", "nowhere.stl")
    bar.add_visual("bar", sh.Sphere(0.7), role="collision")
    (one,), notes = drawn_visuals(bar)
    assert np.allclose(box_of(one)[1], 0.7, atol=1e-6) and len(notes) == 1


def test_a_point_mass_has_no_box(bar):
    assert inertia_box(bar.bodies[0]) is not None
    bar.add_body("point", 1.0)
    bar.add_joint("B", sh.Revolute("z"), "bar", "point")
    bar.add_visual("point", "nowhere.stl")
    drawn, notes = drawn_visuals(bar)
    assert not drawn and notes[0] == "not drawn: meshes of 'point', of which no size is known"


def test_sizes_that_say_nothing_are_said(bar):
    bar.visuals += [Visual("bar", "box", sizes=(1.0, 2.0)), Visual("bar", "skin"), Visual("bar", "sphere", sizes=(0.0,))]
    drawn, notes = drawn_visuals(bar)
    assert not drawn
    assert [note.split(" of ")[0] for note in notes] == [f"not drawn: a {kind}" for kind in ("box", "skin", "sphere")]


def test_all_meshes_of_a_model_share_its_budget_and_small_ones_stay_as_they_are(bar, tmp_path, monkeypatch):
    for k, n in enumerate((2, 4, 5)):
        trimesh.creation.icosphere(n).export(tmp_path / f"{k}.stl")
        bar.add_visual("bar", tmp_path / f"{k}.stl")
        bar.add_visual("bar", tmp_path / f"{k}.stl", at=sh.Pose((3.0, 0.0, 0.0)))
    monkeypatch.setattr(visuals, "MODEL_BUDGET", 5000)
    drawn, notes = drawn_visuals(bar)
    counts = [len(one.geometry.faces) for one in drawn]
    assert counts[0] == 320 and counts[2] == pytest.approx(2340, abs=20) and counts[4] == pytest.approx(2340, abs=20)
    assert all(a.geometry is b.geometry for a, b in zip(drawn[::2], drawn[1::2], strict=True))  # each file once
    first, second = (f"{counts[k]:,}".replace(",", " ") for k in (2, 4))
    assert notes == [f"drawn with fewer triangles: 1.stl 5 120 → {first}, 2.stl 20 480 → {second}"]


def test_a_file_is_read_again_only_after_it_has_changed(bar, tmp_path, monkeypatch):
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "b.stl")
    bar.add_visual("bar", tmp_path / "b.stl")
    first = drawn_visuals(bar)[0][0].geometry
    monkeypatch.setattr(visuals, "_pieces", None)
    assert drawn_visuals(bar)[0][0].geometry is first
    monkeypatch.undo()
    trimesh.creation.icosphere(1).export(tmp_path / "b.stl")
    assert len(drawn_visuals(bar)[0][0].geometry.faces) == 80


def test_a_yaml_file_names_meshes_beside_it_and_none_outside(tmp_path):
    package = tmp_path / "package"
    (package / "meshes").mkdir(parents=True)
    for path in (package / "meshes" / "in.stl", tmp_path / "out.stl"):
        trimesh.creation.box((1, 1, 1)).export(path)
    text = "bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\nfloating: [b]\nvisuals:\n"
    for path in ("path: meshes/in.stl", "uri: meshes/in.stl", "path: ../out.stl", f"path: {tmp_path / 'out.stl'}"):
        text += f"- {{body: b, kind: mesh, {path}, colour: tomato}}\n"
    (package / "m.yaml").write_text(text)
    m = sh.load(package / "m.yaml")
    drawn, notes = drawn_visuals(m)
    assert len(drawn) == 3 and drawn[0].geometry is drawn[1].geometry  # and one box for both that lead out
    assert notes == ["drawn as boxes: 1 mesh outside the folders of the model (declare them in package_paths): out.stl"]
    assert not drawn_visuals(sh.load(package / "m.yaml", package_paths=tmp_path))[1]
    m.mesh_folders, own = [tmp_path / "elsewhere"], m.mesh_folders
    assert "outside" in drawn_visuals(m)[1][0]
    m.mesh_folders = own
    m.add_visual("b", tmp_path / "out.stl")  # the user may
    assert len(drawn_visuals(m)[0]) == 5 and len(drawn_visuals(m.copy())[0]) == 5


def test_colours_of_urdf_give_way_to_those_of_the_mesh_as_in_rviz(tmp_path):
    own = trimesh.creation.box((1, 1, 1))
    own.visual.face_colors = (0, 0, 255, 255)
    own.export(tmp_path / "blue.ply")
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "plain.stl")
    red = '<material name="r"><color rgba="1.5 0 0 1"/></material>'
    looks = "".join(f'<visual><geometry><mesh filename="{f}"/></geometry>{red}</visual>' for f in ("blue.ply", "plain.stl"))
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a">{looks}</link></robot>')
    m = sh.load(tmp_path / "r.urdf", floating=True)
    assert [one.colour for one in drawn_visuals(m)[0]] == [(0, 0, 1, 1), (1, 0, 0, 1)]
    m.visuals[0] = m.visuals[0].replaced(own_colours=False)
    assert drawn_visuals(m)[0][0].colour == (1, 0, 0, 1)


MJCF = """<mujoco><compiler angle="radian"/>
<asset><mesh name="a" file="rock.stl" scale="{scale}" refpos="{refpos}" refquat="{refquat}"/></asset>
<worldbody><geom type="plane" size="0 0 1" pos="0 0 -1"/><body pos="0 0 1" euler=".1 .2 .3"><joint type="hinge" axis="0 1 0"/>
  <geom type="mesh" mesh="a" pos=".1 .2 .3" euler=".3 .1 .2" mass="{mass}" rgba="1 0 0 1"/>
  <geom type="sphere" size=".1" mass="1"/>
  <body pos="0 .5 0" euler="0 .4 0"><geom type="mesh" mesh="a" pos="0 0 .3" contype="0" conaffinity="0" mass="{mass}"/>
    <geom type="ellipsoid" size=".1 .2 .3" group="3" mass="1"/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("mass", [0, 1], ids=["not weighed", "weighed"])  # which MuJoCo reads only where mass comes from it
@pytest.mark.parametrize(
    ("scale", "refpos", "refquat"),
    [
        ("1 1 1", "0 0 0", "1 0 0 0"),
        ("1 2 3", ".1 .2 .3", "1 0 0 0"),
        (".5 .5 .5", ".1 .2 .3", ".8 .2 .3 .4"),
        ("1 -1 1", ".1 0 0", "1 0 0 0"),
    ],
)
def test_meshes_are_where_mujoco_has_them(scale, refpos, refquat, mass, tmp_path):
    rock = trimesh.creation.box((1.0, 0.6, 0.3))
    rock.vertices += (0.3, 0.2, 0.1) + 0.05 * np.random.default_rng(0).normal(size=rock.vertices.shape)
    rock.export(tmp_path / "rock.stl")
    (tmp_path / "m.xml").write_text(MJCF.format(scale=scale, refpos=refpos, refquat=refquat, mass=mass))
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    data = mujoco.MjData(theirs)
    data.qpos[:] = 0.7
    mujoco.mj_forward(theirs, data)
    m = sh.load(tmp_path / "m.xml")
    R, r = sh.Dynamics(m, "separate", "python").poses(np.array([0.7]))
    drawn, notes = drawn_visuals(m)
    ours = [placed(one) @ R[0].T + r[0] for one in drawn if len(one.geometry.faces) == 12]
    of_mesh = np.flatnonzero(theirs.geom_type == mujoco.mjtGeom.mjGEOM_MESH)
    for x, g in zip(ours, of_mesh, strict=True):
        y = theirs.mesh_vert @ data.geom_xmat[g].reshape(3, 3).T + data.geom_xpos[g]
        assert max(cKDTree(x).query(y)[0].max(), cKDTree(y).query(x)[0].max()) < 1e-6
    assert all(np.linalg.det(one.at[:3, :3]) > 0 for one in drawn) and not notes
    assert [v.role for v in m.visuals] == ["both", "both", "both", "visual", "collision"]
    assert [one.endless for one in drawn] == [True, False, False, False] and drawn[1].colour == (1, 0, 0, 1)
    (ground,) = (part for part in scene_of(m).parts if part.name == "ground")
    assert ground.at[2, 3] == pytest.approx(-1.0, abs=0.02)  # the floor is where the file has it


ROBOTS = {"ur/ur5_robot": (7, 95694), "anymal_c_simple/anymal": (46, 38150), "talos_data/talos_reduced": (52, 102244)}


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_have_all_their_meshes(name):
    m = sh.load(robot_files()[name])
    drawn, notes = drawn_visuals(m)
    files = {v.path for v in m.visuals if v.role == "visual" and v.path is not None}
    assert (len(drawn), sum(visuals.read_mesh(path).triangles for path in files)) == ROBOTS[name] and not notes
    assert sum(len(g.faces) for g in {one.geometry for one in drawn}) < 300_000


def test_visual_and_collision_meshes_of_the_ur5_are_of_one_size_and_place():
    """COLLADA against STL: what the unit and the up axis mean is settled by that."""
    m = sh.load(robot_files()["ur/ur5_robot"])
    looks, touching = ({one.label: one for one in drawn_visuals(m, role)[0]} for role in ("visual", "collision"))
    assert looks.keys() == touching.keys() - {"ee_link"} and len(looks) == 7
    for label in looks:
        assert np.allclose(box_of(looks[label]), box_of(touching[label]), atol=0.003 * np.ptp(placed(looks[label])))


def test_a_model_of_mujoco_is_seen_where_its_file_has_it(tmp_path):
    (tmp_path / "m.xml").write_text(FIELD.replace("<body>", '<body pos="1 2 3">'))
    assert np.allclose(scene_of(sh.load(tmp_path / "m.xml")).position[0, 0], (1, 2, 3))


def test_a_saved_result_finds_meshes_beside_it_and_no_others(tmp_path):
    (tmp_path / "own").mkdir()
    trimesh.creation.box((0.1, 0.2, 0.3)).export(tmp_path / "own" / "a.stl")
    m = sh.samples.pendulum()
    m.add_visual(m.bodies[0].name, tmp_path / "own" / "a.stl")
    r = sh.simulate(m, 0.01)
    for folder, refused in (("own", False), ("other", True)):
        (tmp_path / folder).mkdir(exist_ok=True)
        r.save(tmp_path / folder / "run.nc")
        notes = scene_of(sh.Result.load(tmp_path / folder / "run.nc")).notes
        assert any("outside the folders of the model" in note for note in notes) == refused and bool(notes) == refused
