"""`add_ground`: the collision shapes of robots stand on a floor."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from benchmarks.urdf import robot_files

import sharnir as sh
from states import assert_close

STAND = {"hip": 0.0, "thigh": 0.8, "calf": -1.6}
FEET = ("FR_foot", "FL_foot", "RR_foot", "RL_foot")
KINDS = """<mujoco><compiler meshdir="."/><asset><mesh name="m" file="m.stl" scale="2 2 2"/></asset><worldbody>
  <geom type="plane" size="5 5 1"/>
  <body name="a" pos="0 0 3"><freejoint/>
    <geom type="sphere" size="0.1"/><geom type="capsule" size="0.1 0.2" pos="1 0 0"/><geom type="box" size="0.1 0.2 0.3"/>
    <geom type="cylinder" size="0.1 0.2"/><geom type="ellipsoid" size="0.1 0.2 0.3"/><geom type="mesh" mesh="m"/>
    <geom type="sphere" size="0.5" contype="0" conaffinity="0"/>
    <geom type="sphere" size="0.6" contype="0" conaffinity="0" group="3"/></body></worldbody></mujoco>"""


def test_a_quadruped_stands_the_same_by_two_integrators():
    m = sh.load(robot_files()["a1/a1"], floating=True)
    ground = sh.add_ground(m, bodies=FEET, friction=0.7)
    assert ground.points == len(ground.contacts) == 4 and "sinks by 1 mm where four points carry it" in str(ground)
    q = {"base float": (0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0)}
    for joint in m.joints[1:]:
        q[joint.name] = next(angle for part, angle in STAND.items() if part in joint.name)
        m.add_force(sh.Motor(joint.name, kp=100.0, kd=2.0, target=q[joint.name]))
    one, two = (sh.simulate(m, 1.0, q0=q, output=0.5, integrator=name) for name in ("dop853", "dopri5"))
    assert_close(one.q, two.q, 1e-6)
    assert 0.26 < one.q[-1, 2] < 0.3 and np.abs(one.v[-1]).max() < 0.05
    forces = sum(one.quantity(f"normal force of {name}")[-1] for name in ground.contacts)
    weight = 9.81 * sum(body.mass for body in m.bodies)
    assert_close(forces, weight, 0.02)
    assert max(one.quantity(f"penetration of {name}")[-1] for name in ground.contacts) < 1.5e-3
    assert np.abs(one.energy.defect).max() < 1e-6


def test_every_shape_that_touches_in_a_file_of_mujoco_is_on_the_ground(tmp_path):
    trimesh.creation.icosphere(subdivisions=3, radius=0.1).export(tmp_path / "m.stl")
    (tmp_path / "m.xml").write_text(KINDS, encoding="utf-8")
    m = sh.load(tmp_path / "m.xml")
    ground = sh.add_ground(m, stiffness=1e4, points=20)
    shapes = [vars(m.forces[name])["shape"] for name in ground.contacts]
    assert [type(shape).__name__ for shape in shapes] == ["Sphere", "Capsule", "Box", "Cylinder", "Points", "Points"]
    assert "the mesh m.stl touches with 20 points of its convex hull" in str(ground)
    assert_close(np.linalg.norm(shapes[-1].points, axis=1), np.full(20, 0.2), 1e-6)
    again = sh.loads(sh.dumps(m))
    assert again.forces == m.forces


def test_a_ground_needs_shapes_and_bodies_that_are_there():
    m = sh.Model("bare")
    m.add_body("a", 2.0)
    m.add_floating("a")
    with pytest.raises(sh.ModelError, match="'bare' has no collision shapes: add them with add_visual"):
        sh.add_ground(m)
    m.add_visual("a", sh.Sphere(0.1), role="collision")
    with pytest.raises(sh.ModelError, match="no body 'b' in 'bare'; the bodies are 'a'"):
        sh.add_ground(m, bodies=["b"])
    hill = sh.HeightFunction(lambda x, y: 0.1 * x)
    with pytest.raises(sh.ModelError, match="put the height into it"):
        sh.add_ground(m, height=0.5, against=sh.Plane())
    assert sh.add_ground(m.copy(), height=-1.0).contacts == ("ground contact of a",)
    assert sh.add_ground(m, against=hill).stiffness == pytest.approx(2.0 * 9.81 / 4e-3)
    with pytest.raises(sh.ModelError, match="'ground contact of a' is there already: call it once"):
        sh.add_ground(m)
    m.add_visual("a", sh.Sphere(0.1, at=sh.Pose((1.0, 0.0, 0.0))), role="collision")
    with pytest.raises(sh.ModelError, match="is there already"):
        sh.add_ground(m)
    assert list(m.forces) == ["ground contact of a"]


def test_points_of_a_mesh_are_those_of_its_convex_hull(tmp_path):
    trimesh.creation.box((1.0, 2.0, 3.0)).export(tmp_path / "box.stl")
    points = sh.mesh_points(tmp_path / "box.stl", scale=0.1)
    assert_close(np.sort(np.abs(points), axis=0), np.tile([0.05, 0.1, 0.15], (8, 1)), 1e-6)
    with pytest.raises(sh.FormatError, match="missing"):
        sh.mesh_points(tmp_path / "none.stl")
