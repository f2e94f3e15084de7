"""URDF files with something wrong in them: what acts is refused with file and line, what is only drawn is reported."""

from __future__ import annotations

import pytest

import sharnir as sh
from urdf_files import arm, joint, link, write


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (link("x").replace('value="1.5"', 'value="nan"'), r"urdf:9: mass of link 'x': value: 'nan' is not a finite number"),
        (link("x").replace('ixx="0.03"', 'ixx="-inf"'), r"urdf:9: inertia of link 'x': ixx: '-inf' is not a finite number"),
        (link("x").replace('xyz="0.1 -0.2', 'xyz="0.1 1e400'), r"urdf:9: origin of link 'x': xyz: 1e400 is beyond any length"),
    ],
)
def test_numbers_that_are_none_are_refused_with_their_line(part, message, tmp_path):
    weld = joint("weld", "fixed", "tool", "x")
    with pytest.raises(sh.FormatError, match=message):
        sh.load(write(tmp_path, *arm(), part, weld))


@pytest.mark.parametrize("name", ["base float", "elbow"])
def test_an_error_of_the_model_has_the_line_of_its_joint(name, tmp_path):
    """The name of a joint is taken by the one that floating=True adds; the same in the file is found while reading."""
    parts = [*arm(), link("x"), joint(name, "continuous", "tool", "x")]
    with pytest.raises(sh.FormatError, match=rf"robot\.urdf:10: joint '{name}': "):
        sh.load(write(tmp_path, *parts), floating=True)


@pytest.mark.parametrize(
    "shape",
    [
        '<mesh filename="gone.stl" scale="nan 1 1"/>',
        '<mesh filename="gone.stl" scale="1 1"/>',
        '<mesh filename=""/>',
        "<mesh/>",
        '<box size="-1 1 1"/>',
        '<sphere radius="inf"/>',
        '<sphere radius="much"/>',
    ],
)
@pytest.mark.parametrize("role", ["visual", "collision"])
def test_a_fault_of_a_shape_is_reported_and_does_not_refuse_the_robot(shape, role, tmp_path):
    path = write(
        tmp_path, *arm(), link("x", f"<{role}><geometry>{shape}</geometry></{role}>"), joint("weld", "fixed", "tool", "x")
    )
    m = sh.load(path)
    (entry,) = m.import_report.ignored
    assert (entry.what, entry.where) == (f"faulty {role}", f"{role} of link 'x', line 9") and "robot.urdf:9: " in entry.why
    assert m.nv == 2 and not m.visuals
    with pytest.raises(sh.FormatError, match=r"robot\.urdf:9: "):
        sh.load(path, strict=True)


def test_a_fault_of_a_colour_is_reported(tmp_path):
    m = sh.load(write(tmp_path, *arm(), '<material name="red"><color rgba="1 nan 0 1"/></material>'))
    assert [e.what for e in m.import_report.ignored] == ["faulty material"]


def test_a_robot_of_one_link_has_no_coordinates_or_floats(tmp_path):
    path = write(tmp_path, link("only"))
    m = sh.load(path)
    assert (m.nq, m.nv, m.bodies, m.joints, m.q_names) == (0, 0, [], [], []) and m.neutral().shape == (0,)
    assert m.frames["only"][0] == "ground"
    with pytest.raises(sh.ModelError, match=r"no bodies yet; .*floating=True"):
        sh.Dynamics(m)
    assert sh.load(path, floating=True).nv == 6


def test_a_floating_root_without_mass_is_named_with_the_joint_that_undoes_its_motion(tmp_path):
    """The root can turn about the axis of the joint on it while the joint turns back: the arm does not move."""
    m = sh.load(write(tmp_path, link("base", ""), link("arm"), joint("hip", "continuous", "base", "arm")), floating=True)
    wanted = "joints 'base float', 'hip' together move no mass: .* only 'base' moves, .*give 'base' mass or inertia"
    with pytest.raises(sh.SingularError, match=wanted):
        sh.Dynamics(m).forward(m.neutral())
    m = sh.load(write(tmp_path, link("base", ""), link("arm"), joint("hip", "fixed", "base", "arm")), floating=True)
    assert sh.Dynamics(m).forward(m.neutral()).shape == (6,)
