"""What an import of MJCF keeps, what it leaves out, and that it says so."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import sharnir as sh
from mjcf_models import COPIES, SLIDER, WALKER, random_tree, two_hinges
from mujoco_pairs import pair_of, write
from states import assert_close


def test_geoms_are_kept_for_viewing(tmp_path):
    m = pair_of(tmp_path, SLIDER).model
    (rock,) = m.visuals
    assert (rock.body, rock.kind, rock.role, rock.link) == ("pole", "mesh", "visual", "pole")
    assert_close(rock.at.position, (0.0, 0.0, 0.3), 1e-12)  # the mesh's own axes, not those MuJoCo turns it to
    assert_close(rock.at.rotation.matrix, np.eye(3), 1e-12)
    assert rock.scale == (0.1, 0.1, 0.1)
    kinds = [(v.kind, v.sizes) for v in pair_of(tmp_path, COPIES).model.visuals]
    assert kinds[0] == ("box", (0.1, 0.04, 0.2)) and kinds[1] == ("ellipsoid", (0.05, 0.02, 0.1))
    walker = pair_of(tmp_path, WALKER).model.visuals
    assert walker[0].body == "ground" and walker[0].kind == "plane" and walker[0].sizes == (20.0, 20.0)
    assert walker[3].kind == "box" and walker[3].body == "torso" and walker[3].link == "nose"


def test_the_report_names_what_is_left_out(tmp_path):
    text = two_hinges(
        """<actuator><motor name="m" joint="a"/></actuator><sensor><jointpos name="p" joint="a"/></sensor>
        <tendon><fixed name="f"><joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed></tendon>
        <option density="1" integrator="RK4"/><contact><exclude body1="one" body2="two"/></contact>""",
        '<body name="ghost" gravcomp="1"><joint name="g" frictionloss="0.3" type="ball" range="0 30"/><geom size="0.1"/></body>',
    )
    report = pair_of(tmp_path, text).model.import_report
    ignored = {e.what for e in report.of("ignored")}
    assert ignored == {
        "actuator", "sensor", "tendon", "fluid: density, viscosity, wind, fluidshape", "option integrator", "exclude", "gravcomp",
        "range of a ball joint", "contacts of 4 geoms",
    }  # fmt: skip
    assert any(e.what == "frictionloss" for e in report.of("kept"))
    with pytest.raises(sh.FormatError, match="strict=True refuses"):
        sh.load(tmp_path / "model.xml", strict=True)


def test_strict_accepts_what_is_honoured_whole(tmp_path):
    assert sh.load(write(tmp_path, random_tree(3).replace("<geom", '<geom contype="0" conaffinity="0"')), strict=True).nq


def test_load_knows_mjcf_by_its_root(tmp_path):
    assert sh.load(write(tmp_path, WALKER)).nq == 17
    assert sh.load(write(tmp_path, WALKER, "walker.mjcf")).import_report.complete is False


def test_nothing_is_written_to_the_terminal_or_the_folder(tmp_path, capfd, monkeypatch):
    """MuJoCo's warnings go to the report."""
    monkeypatch.chdir(tmp_path)
    m = sh.load(write(tmp_path, COPIES))
    assert any("settotalmass" in e.why for e in m.import_report.warnings)
    assert capfd.readouterr() == ("", "") and [p.name for p in tmp_path.iterdir()] == ["model.xml"]


def test_without_mujoco_the_message_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(sh.ModelError, match=r"pip install \"sharnir\[mjcf\]\""):
        sh.load(write(tmp_path, "<mujoco/>"))


@pytest.mark.parametrize(
    ("inner", "verdict", "what"),
    [
        ('<body name="hand" mocap="true"><geom size="0.1"/></body>', "ignored", "mocap"),
        ('<body><joint type="free" armature="1"/><geom size="0.1"/></body>', "approximated", "armature of a free joint"),
        ('<body><joint type="free" stiffness="1"/><geom size="0.1"/></body>', "ignored", "stiffness of a free joint"),
        ('<body><joint stiffness="1 2 3"/><geom size="0.1"/></body>', "ignored", "nonlinear stiffnesspoly"),
        ('<flexcomp name="f" type="grid" count="2 2 1" spacing="1 1 1" radius="0.01"/>', "ignored", "flex"),
        ('<body><joint actuatorfrcrange="-3 4"/><geom size="0.1"/></body>', "kept", "actuatorfrcrange"),
        ('<body><joint frictionloss="1"/><geom size="0.1"/></body>', "kept", "frictionloss"),
        ("<light/>", "ignored", "light"),
    ],
)
def test_what_cannot_be_had_whole_is_said(inner, verdict, what, tmp_path):
    text = two_hinges().replace("<worldbody>", f"<worldbody>{inner}")
    report = sh.load(write(tmp_path, text)).import_report
    assert what in {e.what for e in report.of(verdict)}


def test_names_that_clash_or_are_not_there_are_made_unique(tmp_path):
    text = """<mujoco><worldbody>
      <body name="ground"><joint name="ground"/><joint name="x" type="slide"/><geom size="0.1"/></body>
      <body><joint/><joint axis="1 0 0"/><geom size="0.1"/><body><joint/><geom size="0.1"/></body></body>
      <body name="x"><freejoint/><geom size="0.1"/><site name="s"/><camera name="s"/><body name="s"/></body>
    </worldbody></mujoco>"""
    m = sh.load(write(tmp_path, text))
    assert [b.name for b in m.bodies] == ["ground (body)", "body2", "body3", "x"]
    assert [j.name for j in m.joints] == ["ground (body)", "body2", "body3 joint", "x float"]
    assert m.q_names[2:5] == ["body2.body2 joint", "body2.body2 joint (joint)", "body3 joint"]
    assert list(m.frames) == ["s", "s (site)", "s (camera)"]
