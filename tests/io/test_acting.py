"""`load(…, acting=…)`: what of a robot acts, what does not, and that it is said."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import sharnir as sh
from mujoco_pairs import write as write_mjcf
from sharnir.analysis.limits import Limits
from sharnir.io.ground import SINK
from states import assert_close
from urdf_files import arm, link, write

COLLISION = (
    '<inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
    '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
)
ROBOT = [*arm(inside='<axis xyz="0 1 0"/><dynamics damping="0.1" friction="0.5"/>')[0:1], link("upper", COLLISION),
         *arm(inside='<axis xyz="0 1 0"/><dynamics damping="0.1" friction="0.5"/>')[2:]]  # fmt: skip

SCENE = """<mujoco model="scene">
  <default><geom density="1000" friction="0.5"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" pos="0 0 -0.2" friction="0.8"/>
    <geom name="wall" type="capsule" fromto="3 -1 0 3 1 0" size="0.1"/>
    <body name="ball" pos="0 0 0.3"><freejoint/><geom name="ball" size="0.1" condim="6" friction="0.7 0.02 0.001"/></body>
    <body name="block" pos="1 0 0.3"><freejoint/><geom name="block" type="box" size="0.1 0.1 0.1" condim="1"/></body>
    <body name="ghost" pos="2 0 0.3"><freejoint/><geom size="0.1" contype="0" conaffinity="2"/></body>
    <body name="post" pos="-1 0 0"><joint name="post" axis="0 1 0" range="-30 20" damping="0.05" frictionloss="0.01"/>
      <geom name="post" type="capsule" fromto="0 0 0 0 0 0.3" size="0.03" contype="4" conaffinity="4"/>
      <body name="arm" pos="0 0 0.3"><joint name="arm" axis="0 1 0"/>
        <geom name="arm" type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" contype="4" conaffinity="4"/>
        <body name="hand" pos="0.3 0 0"><joint name="hand" axis="0 1 0"/>
          <geom name="hand" size="0.05" contype="4" conaffinity="4"/></body></body></body>
    <body name="far" pos="4 0 0"><joint/><geom name="far" size="0.1" contype="8" conaffinity="8"/></body>
    <body name="near" pos="5 0 0"><joint/><geom name="near" size="0.1" contype="8" conaffinity="8"/></body>
  </worldbody>
  <contact><exclude body1="far" body2="near"/><pair geom1="hand" geom2="far" friction="0.3 0.3 0 0 0" condim="3"/></contact>
</mujoco>"""


def test_a_bare_load_of_a_robot_warns_once_of_what_does_not_act(tmp_path):
    path = write(tmp_path, *ROBOT)
    says = r"robot\.urdf: limits of 2 joints, friction of 1 joint, contacts of 1 shape do not act: load\(…, acting=\"all\"\)"
    with pytest.warns(sh.NotActingWarning, match=says) as given:
        bare = sh.load(path)
    assert len(given) == 1 and given[0].filename == __file__ and bare.acting == "motion" and not bare.forces
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        meant, whole = sh.load(path, acting="motion"), sh.load(path, acting="all")
        plain = write_mjcf(
            tmp_path, '<mujoco><worldbody><body><joint/><geom size="1" contype="0" conaffinity="0"/></body></worldbody></mujoco>'
        )
        assert sh.load(plain).acting == "motion"  # nothing is missing
        whole.save(tmp_path / "whole.yaml")
        meant.save(tmp_path / "meant.yaml")
        assert sh.load(tmp_path / "whole.yaml").acting == "all" and sh.load(tmp_path / "meant.yaml").acting == "motion"
        assert sh.load(tmp_path / "meant.yaml", acting="all").acting == "all"
    assert bare.structure.forces.names == ["joint 'shoulder': spring and damper"] == meant.structure.forces.names
    assert {"joint 'shoulder': friction", "joint 'shoulder': stop", "joint 'elbow': stop"} < set(whole.structure.forces.names)
    with pytest.raises(sh.ModelError, match="acting: did you mean 'all'"):
        sh.load(path, acting="al")


def test_the_report_says_what_is_true_in_both_modes(tmp_path):
    path = write(tmp_path, *ROBOT)
    for acting, verdict in (("motion", "kept"), ("all", "honoured")):
        report = sh.load(path, acting=acting, strict=True).import_report
        assert {"limits of a joint", "friction"} <= {e.what for e in report.of(verdict)}
    path = write(tmp_path, *[x.replace('lower="-1" upper="2"', 'lower="2" upper="-1"') for x in ROBOT])
    model = sh.load(path, acting="all")
    assert any(e.what == "limits in the wrong order" and e.verdict == "ignored" for e in model.import_report.warnings)
    assert model.joints[0].type.limits is None
    scene = write_mjcf(tmp_path, SCENE)
    motion, whole = (sh.load(scene, acting=x).import_report for x in ("motion", "all"))
    assert {"range", "frictionloss"} <= {e.what for e in motion.kept} and not motion.approximated
    said = {e.what: e.why for e in whole.approximated}
    assert "solreflimit" in said["range"] and "solreffriction" in said["frictionloss"]
    assert "solref" in said["contacts of 7 pairs of geoms"] and "exclude" in {e.what for e in whole.honoured}
    with pytest.raises(sh.FormatError, match="strict=True refuses"):
        sh.load(scene, acting="all", strict=True)


def test_geoms_touch_by_the_rules_of_the_file(tmp_path):
    m = sh.load(write_mjcf(tmp_path, SCENE), acting="all")
    contacts: dict[str, Any] = m.forces
    touching = {frozenset((x.body, x.on)) for x in contacts.values()}
    assert touching == {
        frozenset(x) for x in (("ball", "ground"), ("block", "ground"), ("ball", "block"), ("post", "hand"), ("hand", "far"))
    }  # fmt: skip
    kinds = sorted(type(x.against).__name__ for x in contacts.values() if x.on == "ground" or x.body == "ground")
    assert kinds == ["Box", "Plane", "Plane", "Sphere"]  # the wall is a capsule, which a ball and a box meet
    ball, block = (contacts[f"ground contact of {name}"] for name in ("ball", "block"))
    assert_close((ball.friction, ball.spin, ball.rolling), (0.8, 0.02, 0.001), 1e-12)
    assert (block.friction, block.spin, block.rolling) == (0.8, 0.0, 0.0)  # the larger condim, that of the floor
    assert_close(ball.stiffness, 9.81 * 1000.0 * 4.0 / 3.0 * np.pi * 1e-3 / (4.0 * SINK), 1e-9)
    pair = next(x for x in contacts.values() if {x.body, x.on} == {"hand", "far"})
    assert pair.friction == 0.3
    with pytest.raises(sh.ModelError, match="is there already"):
        sh.add_ground(m)
    off = SCENE.replace("<default>", '<option><flag contact="disable" limit="disable" frictionloss="disable"/></option><default>')
    m = sh.load(write_mjcf(tmp_path, off), acting="all")
    assert not m.forces and m.structure.forces.names == ["joint 'post': spring and damper"]


def test_what_no_contact_can_be_is_named(tmp_path):
    text = """<mujoco><worldbody>
      <geom type="cylinder" size="0.1 0.1"/>
      <body name="a"><freejoint/><geom type="cylinder" size="0.1 0.1"/></body>
      <body name="b" pos="1 0 0"><freejoint/><geom type="capsule" size="0.1 0.1"/></body>
      <body name="c" pos="2 0 0"><freejoint/><geom type="capsule" size="0.1 0.1"/></body></worldbody></mujoco>"""
    report = sh.load(write_mjcf(tmp_path, text), acting="all").import_report
    assert {e.what for e in report.warnings} == {
        "contacts of a capsule with a capsule (1)", "contacts of a capsule with a cylinder (4)",
        "contacts of a cylinder with a cylinder (1)",
    }  # fmt: skip


def test_a_scene_falls_and_rests_and_a_robot_stays_within_its_limits(tmp_path):
    m = sh.load(write_mjcf(tmp_path, SCENE), acting="all")
    r = sh.rollout(m, m.keyframes["qpos0"][None], duration=1.5, step=5e-4, every=20)
    q = r.q[0]
    height = q[:, m.q_slice("ball float").start + 2], q[:, m.q_slice("block float").start + 2]
    assert not np.isfinite(r.failed).any()
    assert -0.1 - 5.0 * SINK < height[0][-1] < -0.1 and -0.1 - 5.0 * SINK < height[1][-1] < -0.1
    limits = Limits(m)
    assert not any(limits.beyond(x, 0.05).any() for x in q)
    free = sh.load(write_mjcf(tmp_path, SCENE), acting="motion")
    fallen = sh.rollout(free, free.keyframes["qpos0"][None], duration=1.5, step=5e-3).q[0]
    assert fallen[-1, m.q_slice("ball float").start + 2] < -5.0 and any(limits.beyond(x, 0.5).any() for x in fallen)


def test_a_robot_that_swings_stays_within_its_limits(tmp_path):
    swing = [*ROBOT[:4], *arm(inside='<axis xyz="0 1 0"/><limit lower="-0.5" upper="0.4" effort="1" velocity="1"/>')[4:]]
    for acting, within in (("all", True), ("motion", False)):
        m = sh.load(write(tmp_path, *swing), acting=acting)
        q = sh.rollout(m, m.neutral()[None], duration=2.0, step=1e-3).q[0]
        assert any(Limits(m).beyond(x, 0.05).any() for x in q) != within


def test_strict_refuses_what_changes_the_motion_and_no_textures(tmp_path):
    text = """<mujoco>
      <asset><texture name="t" type="2d" builtin="flat" width="9" height="9"/><material name="m" texture="t"/></asset>
      <worldbody><light pos="0 0 1"/><body><joint/><geom size="1" material="m" contype="0" conaffinity="0"/></body></worldbody>{}
      </mujoco>"""
    m = sh.load(write_mjcf(tmp_path, text.format("<sensor><clock/></sensor>")), strict=True)
    assert {e.what for e in m.import_report.ignored} == {"texture", "light", "sensor"}
    with pytest.raises(sh.FormatError, match="fluid"):
        sh.load(write_mjcf(tmp_path, text.format('<option density="1.2"/>')), strict=True)


def test_what_is_dropped_of_fluids_and_tendons_is_a_warning(tmp_path):
    text = """<mujoco><option viscosity="0.1"/><worldbody><body><joint name="a"/><geom size="1"/></body></worldbody>
      <tendon><fixed name="f"><joint joint="a" coef="1"/></fixed></tendon><equality><tendon tendon1="f"/></equality></mujoco>"""
    for acting in ("motion", "all"):
        report = sh.load(write_mjcf(tmp_path, text), acting=acting).import_report
        assert {"fluid: density, viscosity, wind, fluidshape", "tendon equality"} <= {e.what for e in report.warnings}
