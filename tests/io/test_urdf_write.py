"""Models saved as URDF: what was built comes back, what the format cannot say is refused by name."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharnir as sh
from sharnir.model.pose import roll_pitch_yaw
from states import assert_close, random_axis, random_mass, random_pose
from urdf_files import INERTIAL, arm, assert_same_dynamics, joint, link, write


def built(seed: int = 0) -> sh.Model:
    """A tree with every joint that URDF knows, built in any direction, joint frames anywhere on both bodies."""
    rng = np.random.default_rng(seed)
    m = sh.Model("built & <saved>")
    kinds = [sh.Revolute, sh.Prismatic, sh.Weld, sh.Free, sh.Planar, sh.Revolute, sh.Prismatic, sh.Revolute]
    carriers = ["ground"]
    for i, kind in enumerate(kinds):
        name, carrier = f'body "{i}"', str(rng.choice(carriers))
        m.add_body(name, **random_mass(rng))
        type_ = kind(random_axis(rng)) if kind in (sh.Revolute, sh.Prismatic) else kind()
        ends = [(carrier, name), (name, carrier)][int(rng.integers(2)) if kind not in (sh.Free, sh.Planar) else 0]
        m.add_joint(f"joint {i}", type_, *ends, at=random_pose(rng), child_at=random_pose(rng))
        carriers.append(name)
    m.add_frame("tip", carriers[-1], random_pose(rng))
    m.add_frame("wall", "ground", random_pose(rng))
    m.couple("joint 7", "joint 0", -0.7, 0.2)
    return m


@pytest.mark.parametrize("seed", range(8))
def test_a_built_tree_comes_back_with_the_same_dynamics(tmp_path, seed):
    m = built(seed)
    m.save(tmp_path / "built.urdf")
    again = sh.load(tmp_path / "built.urdf")
    assert again.name == m.name
    follows = next(j.follows for j in again.joints if j.name == "joint 7")
    assert (follows.leader, follows.ratio, follows.offset) == ("joint 0", -0.7, 0.2)
    assert_same_dynamics(m, again)
    again.save(tmp_path / "once_more.urdf")
    once_more = sh.load(tmp_path / "once_more.urdf")
    assert_same_dynamics(again, once_more)
    assert len(once_more.frames) == len(again.frames)  # nothing grows


def test_pinocchio_reads_what_we_write(tmp_path):
    m = built(3)
    m.save(tmp_path / "built.urdf")
    p = pin.buildModelFromUrdf(str(tmp_path / "built.urdf"))
    assert_close(sum(i.mass for i in p.inertias), sum(b.mass for b in m.bodies))


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "planar", "floating"])
def test_what_was_read_is_written_as_it_was(tmp_path, kind):
    inside = '<axis xyz="3 4 0"/><dynamics damping="0.5" friction="0.25"/>'
    parts = [*arm(kind, inside if kind != "floating" else ""), link("eye", ""), joint("neck", "fixed", "tool", "eye")]
    first = sh.load(write(tmp_path, *parts))
    first.save(tmp_path / "again.urdf")
    second = sh.load(tmp_path / "again.urdf")
    assert second.fixed_joints == first.fixed_joints and set(second.frames) == set(first.frames)
    assert [b.name for b in second.bodies] == [b.name for b in first.bodies]
    for a, b in zip(first.joints, second.joints, strict=True):
        assert type(a.type) is type(b.type)
        assert [getattr(a.type, x) for x in ("limits", "damping", "friction")] == [
            getattr(b.type, x) for x in ("limits", "damping", "friction")
        ]
    assert_same_dynamics(first, second)


def test_shapes_come_back(tmp_path):
    (tmp_path / "part.stl").write_text("solid")
    shapes = [
        '<box size="1 2 3"/>',
        '<cylinder radius="0.1" length="2"/>',
        '<capsule radius="0.1" length="2"/>',
        '<sphere radius="0.5"/>',
        '<mesh filename="part.stl" scale="1 2 3"/>',
    ]
    place, red = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>', '<material name="red"><color rgba="1 0 0 1"/></material>'
    inside = "".join(f'<visual name="v{k}">{place}<geometry>{s}</geometry>{red}</visual>' for k, s in enumerate(shapes))
    inside += '<collision><geometry><sphere radius="1"/></geometry></collision>'
    first = sh.load(write(tmp_path, *arm()[:3], link("tool", INERTIAL + inside), *arm()[4:]))
    (tmp_path / "sub").mkdir()
    first.save(tmp_path / "sub" / "again.urdf")
    second = sh.load(tmp_path / "sub" / "again.urdf", package_paths=[tmp_path])
    assert len(second.visuals) == 6
    for a, b in zip(first.visuals, second.visuals, strict=True):
        same = ("body", "kind", "sizes", "scale", "colour", "role", "name", "link", "path")
        assert [getattr(a, x) for x in same] == [getattr(b, x) for x in same]
        assert_close(b.at.rotation.matrix, a.at.rotation.matrix)
        assert_close(b.at.position, a.at.position)
    assert first.visuals[0].colour == (1.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.add_joint("x", sh.Ball(), "b", "c"), "joint 'x': URDF has no Ball joint"),
        (lambda m: m.add_joint("x", sh.Screw(pitch=1.0), "b", "c"), "joint 'x': URDF has no Screw joint"),
        (lambda m: m.add_joint("x", sh.Revolute(motion=sh.sin), "b", "c"), "joint 'x': URDF cannot express a given motion"),
        (lambda m: m.add_joint("x", sh.Revolute(stiffness=1.0), "b", "c"), "joint 'x': URDF has no stiffness"),
        (lambda m: m.add_joint("x", sh.Revolute(armature=1.0), "b", "c"), "joint 'x': URDF has no armature"),
        (lambda m: m.add_joint("x", sh.Planar(damping=(1, 2, 3)), "b", "c"), "joint 'x': URDF has one number for damping"),
        (lambda m: m.add_joint("x", sh.Planar(limits=[(0, 1)] * 3), "b", "c"), "joint 'x': URDF has no limits for a planar"),
        (lambda m: m.add_joint("x", sh.Revolute(limits=[(0, 1)]), "b", "c"), "joint 'x': limits are a pair"),
        (lambda m: m.add_joint("x", sh.Free(), "c", "b"), "joint 'x': its child carries its parent"),
        (lambda m: (m.add_floating("c"), m.add_joint("x", sh.Ball(), "b", "c", cut=True)), "joint 'x' closes a loop"),
        (lambda m: (m.add_floating("c"), m.add_frame("b", "c", sh.Pose())), "frame 'b' and a body"),
        (lambda m: (m.add_floating("c"), m.add_force(sh.JointFriction("a", 1.0), name="rub")), "force 'rub'"),
    ],
)
def test_what_urdf_cannot_say_is_refused_by_name(tmp_path, change, words):
    m = sh.Model()
    for name in "bc":
        m.add_body(name, 1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("a", sh.Revolute(), "ground", "b")
    change(m)
    with pytest.raises(sh.FormatError, match=words):
        m.save(tmp_path / "x.urdf")
    assert not (tmp_path / "x.urdf").exists()


def test_other_gravity_a_moving_base_and_unknown_suffixes_are_refused(tmp_path):
    for options, words in (
        ({"gravity": (0, 0, -1.62)}, "URDF has no gravity"),
        ({"base_motion": lambda t: sh.Pose((t, 0, 0))}, "base moves"),
    ):
        m = sh.Model(**options)
        m.add_body("b", 1.0)
        m.add_joint("a", sh.Prismatic(), "ground", "b")
        with pytest.raises(sh.FormatError, match=words):
            m.save(tmp_path / "x.urdf")
    with pytest.raises(sh.FormatError, match=r"what can be written: \.urdf"):
        m.save(tmp_path / "x.sdf")
    n = sh.Model()
    n.add_body("b", 1.0)
    n.add_joint("a", sh.Prismatic(limits=(-np.inf, np.inf)), "ground", "b")
    with pytest.raises(sh.FormatError, match="cannot be written"):
        n.save(tmp_path / "nowhere" / "x.urdf")
    n.save(tmp_path / "x.urdf")
    assert sh.load(tmp_path / "x.urdf").joints[0].type.limits == (-1e9, 1e9)


angle = st.one_of(st.floats(-4.0, 4.0), st.sampled_from([np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 1e-300, 0.0]))


@given(angle, angle, angle)
def test_roll_pitch_yaw_is_the_same_rotation(roll, pitch, yaw):
    R = sh.Rotation.rpy(roll, pitch, yaw)
    assert np.abs(sh.Rotation.rpy(*roll_pitch_yaw(R)).matrix - R.matrix).max() < 1e-14
