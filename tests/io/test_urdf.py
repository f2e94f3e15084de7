"""URDF: what each element means, what is refused with file and line, and that nothing is lost on the way."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import sharnir as sh
from states import assert_close
from urdf_files import INERTIAL, arm, joint, link, write


# --- joints -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kind", "type_name", "nq", "nv"),
    [
        ("revolute", "Revolute", 1, 1),
        ("continuous", "Revolute", 1, 1),
        ("prismatic", "Prismatic", 1, 1),
        ("planar", "Planar", 3, 3),
        ("floating", "Free", 7, 6),
    ],
)
def test_each_joint_type_is_the_joint_of_that_kind_and_agrees_with_pinocchio(tmp_path, kind, type_name, nq, nv):
    path = write(tmp_path, *arm(kind, '<axis xyz="0 0 1"/>' if kind == "planar" else '<axis xyz="1 2 -2"/>'))
    m = sh.load(path)
    shoulder = m.joints[m.joint_index("shoulder")]
    assert (shoulder.type.type_name, shoulder.nq, shoulder.nv) == (type_name, nq, nv)
    p = pin.buildModelFromUrdf(str(path))
    q, tau = m.random_q(1), np.random.default_rng(2).normal(size=m.nv)
    x = list(q)
    if kind == "planar":  # theirs has cosine and sine, and speeds in the moved axes: the same at rest but for the turn
        x = [*q[:2], np.cos(q[2]), np.sin(q[2]), *q[3:]]
        tau[:3] = 0.0
    elif kind == "continuous":
        x = [np.cos(q[0]), np.sin(q[0]), *q[1:]]
    elif kind == "floating":
        x = [*q[:3], *q[4:7], q[3], *q[7:]]
    theirs = pin.aba(p, p.createData(), np.array(x), np.zeros(m.nv), tau)
    ours = sh.Dynamics(m, "separate", backend="python").forward(q, np.zeros(m.nv), tau)
    if kind == "planar":
        c, s = np.cos(q[2]), np.sin(q[2])
        theirs[:2] = [c * theirs[0] - s * theirs[1], s * theirs[0] + c * theirs[1]]
    assert_close(ours, theirs, 1e-11)


def test_axis_is_x_by_default_and_normalised(tmp_path):
    m = sh.load(write(tmp_path, *arm(inside="")))
    assert m.joints[0].type.axis == (1.0, 0.0, 0.0)  # type: ignore[attr-defined]
    m = sh.load(write(tmp_path, *arm(inside='<axis xyz="0 0 -7"/>')))
    assert m.joints[0].type.axis == (0.0, 0.0, -1.0)  # type: ignore[attr-defined]


def test_a_plane_is_across_its_axis(tmp_path):
    m = sh.load(write(tmp_path, link("base"), link("puck"), joint("slide", "planar", "base", "puck", '<axis xyz="1 2 2"/>')))
    normal = np.array([1, 2, 2]) / 3
    start = sh.matrices(m, np.zeros(3)).poses
    for q in ([0.3, 0.0, 0.0], [0.0, -0.7, 0.0]):
        shift = start[0][0].T @ (sh.matrices(m, q).poses[1][0] - start[1][0])
        assert_close(np.linalg.norm(shift), np.abs(q).max())
        assert abs(shift @ normal) < 1e-14
    turned = sh.matrices(m, [0.0, 0.0, 0.5]).poses[0][0]
    assert_close(start[0][0].T @ turned @ normal, normal)


def test_options_of_a_joint_stay_with_it(tmp_path):
    inside = '<dynamics damping="0.5" friction="0.25"/><limit lower="-1" upper="2" effort="3" velocity="inf"/>'
    path = write(tmp_path, *arm(inside=inside))
    j = sh.load(path).joints[0].type
    assert (j.damping, j.friction, j.limits, j.effort, j.velocity) == (0.5, 0.25, (-1.0, 2.0), 3.0, float("inf"))
    j = sh.load(path, passive=False).joints[0].type
    assert (j.damping, j.friction, j.limits) == (0.0, 0.0, (-1.0, 2.0))


# --- links --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("floating", [False, True])
def test_every_link_is_a_body_or_a_frame_and_every_joint_is_found(tmp_path, floating):
    m = sh.load(write(tmp_path, *arm()), floating=floating)
    bodies = [b.name for b in m.bodies]
    assert bodies == (["base"] if floating else []) + ["upper", "lower"]
    assert {name: body for name, (body, _) in m.frames.items()} == {"tool": "lower"} | ({} if floating else {"base": "ground"})
    assert [j.name for j in m.joints] == (["base float"] if floating else []) + ["shoulder", "elbow"]
    assert m.fixed_joints == {"mount": ("lower", "tool")}


def test_merged_masses_are_those_of_the_parts(tmp_path):
    m = sh.load(write(tmp_path, *arm()))
    p = pin.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
    lower, theirs = m.bodies[m.body_index("lower")], p.inertias[p.getJointId("elbow")]
    assert_close(lower.mass, theirs.mass)
    assert_close(lower.com, theirs.lever)
    assert_close(lower.inertia_matrix(), theirs.inertia)


def test_links_without_mass_and_a_massless_world_are_welcome(tmp_path):
    parts = [
        link("world", ""),
        joint("weld", "fixed", "world", "base"),
        *arm(),
        link("tip", ""),
        joint("end", "fixed", "tool", "tip"),
    ]
    m = sh.load(write(tmp_path, *parts))
    assert {"world", "base", "tool", "tip"} == set(m.frames)
    assert m.nv == 2


def test_a_link_called_ground_keeps_its_name_as_a_frame(tmp_path):
    parts = [link("ground"), link("arm"), joint("a", "revolute", "ground", "arm")]
    m = sh.load(write(tmp_path, *parts))
    assert m.frames["ground"][0] == "ground"
    m = sh.load(write(tmp_path, *parts), floating=True)
    assert m.frames["ground"][0] == "ground link"
    assert m.import_report.approximated[0].what == "name of a link"
    parts = [
        link("world"),
        link("ground"),
        link("arm"),
        joint("w", "fixed", "world", "ground"),
        joint("a", "revolute", "ground", "arm"),
    ]
    assert sh.load(write(tmp_path, *parts)).frames["ground"][1].position == (0.1, 0.2, 0.3)


def test_inertia_that_no_body_has_is_used_unchanged_unless_strict(tmp_path):
    odd = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="-1e-3"/></inertial>'
    path = write(tmp_path, link("base", ""), link("arm", odd), joint("a", "revolute", "base", "arm"))
    m = sh.load(path)
    assert m.bodies[0].inertia == (1.0, 0.1, -1e-3, 0.0, 0.0, 0.0)
    (warning,) = m.import_report.warnings
    assert "arm" in warning.where and "line 3" in warning.where and "negative" in warning.why
    with pytest.raises(sh.FormatError, match=r"robot\.urdf: inertia of link 'arm', line 3: inertia that no body has"):
        sh.load(path, strict=True)
    with pytest.raises(sh.ModelError, match="a moment is negative"):
        sh.Model().add_body("b", 1.0, inertia=(1.0, 0.1, -1e-3))


# --- couplings ----------------------------------------------------------------------------------------------------------
def hand(*mimics: str) -> list[str]:
    names = [f"f{k}" for k in range(len(mimics))]
    parts = [link("palm"), *(link(n) for n in names)]
    return parts + [joint(f"j{n}", "revolute", "palm", n, mimic) for n, mimic in zip(names, mimics, strict=True)]


def test_a_follower_of_a_follower_follows_the_leader(tmp_path):
    m = sh.load(
        write(tmp_path, *hand('<mimic joint="jf1" multiplier="2" offset="0.5"/>', '<mimic joint="jf2" multiplier="-3"/>', ""))
    )
    follows = {j.name: (j.follows.leader, j.follows.ratio, j.follows.offset) for j in m.joints if j.follows}
    assert follows == {"jf0": ("jf2", -6.0, 0.5), "jf1": ("jf2", -3.0, 0.0)}
    assert m.nv == 1


@pytest.mark.parametrize("leader", ["nobody", "fix"])
def test_mimic_of_nothing_that_moves_is_ignored_and_said_so(tmp_path, leader):
    parts = [*hand(f'<mimic joint="{leader}"/>', ""), link("x"), joint("fix", "fixed", "f1", "x", '<mimic joint="jf1"/>')]
    m = sh.load(write(tmp_path, *parts))
    assert m.nv == 2
    assert sorted(e.where for e in m.import_report.ignored) == ["mimic of joint 'fix', line 8", "mimic of joint 'jf0', line 5"]


# --- what is wrong ------------------------------------------------------------------------------------------------------
TWO = [link("a"), link("b")]
HINGE = joint("j", "revolute", "a", "b")


@pytest.mark.parametrize(
    ("parts", "line", "words"),
    [
        ([], 1, "no <link>"),
        (['<link name=""/>'], 2, "'name' is missing"),
        (["<link/>"], 2, "'name' is missing"),
        ([link("a"), link("a")], 3, "line 2 already"),
        ([*TWO, HINGE, HINGE], 5, "line 4 already"),
        ([*TWO, HINGE.replace('parent link="a"', 'parent link="z"')], 4, "no link 'z'; the links are 'a', 'b'"),
        ([*TWO, HINGE.replace('<child link="b"/>', "")], 4, '<child link="…"/> is missing'),
        ([*TWO, HINGE.replace('type="revolute"', "")], 4, "'type' is missing"),
        ([*TWO, HINGE.replace("revolute", "ball")], 4, "unknown type 'ball'; URDF has 'revolute'"),
        ([*TWO, HINGE, joint("k", "fixed", "a", "b")], 5, "child of joint 'j'"),
        ([*TWO, HINGE, joint("k", "fixed", "b", "a")], 4, "circle"),
        ([*TWO, link("c"), HINGE.replace('"b"', '"c"')], 1, "'a', 'b' are all without a parent"),
        ([*TWO, link("c"), joint("j", "fixed", "b", "c"), joint("k", "fixed", "c", "b")], 5, "circle"),
        ([*TWO, HINGE.replace('parent link="a"', 'parent link="b"')], 4, "circle"),
        ([*TWO, HINGE.replace("0.1 0.2 0.3", "0.1 0.2")], 4, "expected 3 numbers, got 2"),
        ([*TWO, HINGE.replace("0.1 0.2 0.3", "0.1 0.2 x")], 4, "'x' is not a finite number"),
        ([*TWO, HINGE.replace("0.1 0.2 0.3", "0.1 0.2 nan")], 4, "'nan' is not a finite number"),
        ([*TWO, HINGE.replace("0.1 0.2 0.3", "0.1 0.2 inf")], 4, "'inf' is not a finite number"),
        ([*TWO, HINGE.replace("0.1 0.2 0.3", "0.1 0.2 1e99")], 4, "beyond any length"),
        ([*TWO, HINGE.replace("0.1 0.2 0.3", "1_0 0.2 0")], 4, "'1_0' is not"),
        ([*TWO, joint("j", "revolute", "a", "b", '<axis xyz="0 0 0"/>')], 4, "length zero"),
        ([*TWO, joint("j", "revolute", "a", "b", '<dynamics damping="-1"/>')], 4, "must not be negative"),
        ([*TWO, joint("j", "revolute", "a", "b", '<mimic joint="j"/>')], 4, "circle"),
        ([*hand('<mimic joint="jf1"/>', '<mimic joint="jf0"/>')], 5, "circle"),
        ([*hand('<mimic joint="jf1" multiplier="0"/>', "")], 5, "make it a fixed joint"),
        ([link("a", INERTIAL.replace("1.5", "-1.5"))], 2, "zero or positive"),
        ([link("a", INERTIAL.replace('<mass value="1.5"/>', ""))], 2, "<mass> is missing"),
        ([link("a", INERTIAL.replace('ixx="0.03"', ""))], 2, "'ixx' is missing"),
        (["<xacro:macro/>"], 2, "run it first"),
        ([link("${name}")], 2, "run it first"),
    ],
)
def test_bad_data_is_refused_with_file_line_and_remedy(tmp_path, parts, line, words):
    path = write(tmp_path, *parts)
    with pytest.raises(sh.FormatError) as caught:
        sh.load(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert words in str(caught.value)


def test_the_robot_must_have_a_name_and_be_a_robot(tmp_path):
    path = tmp_path / "x.urdf"
    path.write_text("<robot/>")
    with pytest.raises(sh.FormatError, match="'name' is missing"):
        sh.load(path)
    path.write_text("<mujoco/>")
    with pytest.raises(sh.FormatError, match="begins with <robot>"):
        sh.load(path)


def test_a_robot_that_cannot_move_says_so(tmp_path):
    m = sh.load(write(tmp_path, link("only")))
    assert m.frames["only"][0] == "ground"
    assert any("floating=True" in e.why for e in m.import_report.kept)


def test_a_limit_that_is_missing_or_turned_round_is_reported(tmp_path):
    m = sh.load(write(tmp_path, *TWO, HINGE.replace('<limit lower="-1" upper="2" effort="3" velocity="4"/>', "")))
    assert m.joints[0].type.limits is None
    assert "without <limit>" in m.import_report.warnings[0].what
    m = sh.load(write(tmp_path, *TWO, HINGE.replace('lower="-1"', 'lower="9"')))
    assert "wrong order" in m.import_report.warnings[0].what


def test_a_chain_of_three_thousand_links_is_read_without_recursion(tmp_path):
    n = 3000
    parts = [link(f"l{k}", "") for k in range(n)] + [joint(f"j{k}", "fixed", f"l{k}", f"l{k + 1}") for k in range(n - 1)]
    assert len(sh.load(write(tmp_path, *parts)).frames) == n
