"""Meshes of an MJCF model: one that is missing or faulty refuses the model only where mass comes from it."""

from __future__ import annotations

import pytest
from test_mjcf_files import BODY, model, stl

import sharnir as sh
from mujoco_pairs import write
from states import assert_close


@pytest.mark.parametrize(
    ("compiler", "inertial", "geom", "fine"),
    [
        ("", True, "", True),
        ("", False, 'mass="0"', True),
        ("", False, 'density="0"', True),
        ('inertiagrouprange="0 1"', False, 'group="2"', True),
        ('inertiafromgeom="false"', True, "", True),
        ("", False, "", False),
        ("", False, 'mass="2"', False),
        ('inertiafromgeom="true"', True, "", False),
    ],
)
def test_a_missing_mesh_matters_only_where_mass_comes_from_it(compiler, inertial, geom, fine, tmp_path):
    own = '<inertial pos="0 0 0.1" mass="1" diaginertia="1 1 1"/>' if inertial else ""
    text = f"""<mujoco><compiler {compiler}/><asset><mesh file="gone.stl" scale="2 2 2"/></asset>
      <worldbody><geom type="mesh" mesh="gone"/><body name="b"><joint/>{own}<geom size="0.1"/>
      <geom type="mesh" mesh="gone" pos="1 2 3" {geom}/></body></worldbody></mujoco>"""
    path = write(tmp_path, text)
    if not fine:
        with pytest.raises(
            sh.FormatError, match=r"body 'b' takes its mass from the mesh 'gone', but there is no file 'gone\.stl'"
        ):
            sh.load(path)
        return
    m = sh.load(path)
    assert [e.where for e in m.import_report.of("ignored") if e.what == "missing file"] == ["mesh 'gone'"]
    assert m.visuals[-1].path is None and m.visuals[-1].uri == "gone.stl"
    assert_close(m.visuals[-1].at.position, (1, 2, 3), 1e-12)


FAULTY = {
    "corrupt": 'file="corrupt.stl"',
    "empty": 'file="empty.obj"',
    "unknown suffix": 'file="rock.step"',
    "flat": 'vertex="0 0 0 1 0 0 0 1 0 1 1 0"',
    "scaled to nothing": 'file="rock.stl" scale="0 0 0"',
    "wrong faces": 'vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 99"',
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_mesh_refuses_a_model_only_where_mass_comes_from_it(fault, tmp_path):
    write(tmp_path, stl()[:-7], "corrupt.stl")
    write(tmp_path, b"", "empty.obj")
    write(tmp_path, stl(), "rock.stl")
    write(tmp_path, b"STEP", "rock.step")
    text = f"""<mujoco><asset>\n<mesh name="m" {FAULTY[fault]}/></asset>
      <worldbody><body name="b"><joint/><geom size="0.1"/><geom type="mesh" mesh="m" HEAVY/></body></worldbody></mujoco>"""
    m = sh.load(write(tmp_path, text.replace("HEAVY", 'mass="0"')))
    assert m.nv == 1 and m.visuals[1].kind == "mesh"
    assert m.visuals[1].scale == ((0.0, 0.0, 0.0) if "scaled" in fault else (1.0, 1.0, 1.0))
    with pytest.raises(sh.FormatError, match=r"model\.xml.* MuJoCo refuses.*; body 'b' takes its mass from it"):
        sh.load(write(tmp_path, text.replace("HEAVY", "")))


def test_a_missing_mesh_of_a_body_that_cannot_move_has_no_effect(tmp_path):
    table = '<body name="table"><body name="top"><geom type="mesh" mesh="gone"/></body></body>'
    text = model(f'<asset><mesh file="gone.stl"/></asset><worldbody>{table}{BODY.format("b", "")}</worldbody>')
    m = sh.load(write(tmp_path, text))
    assert m.nv == 1 and "missing file" in {e.what for e in m.import_report.ignored}
    refused = "body 'top' takes its mass from the mesh 'gone', but there is no file"
    for other in (
        text.replace('name="table">', 'name="table"><joint/>'),
        text.replace("<asset>", '<compiler settotalmass="1"/><asset>'),
    ):
        with pytest.raises(sh.FormatError, match=refused):
            sh.load(write(tmp_path, other))
    alone = text.replace(BODY.format("b", ""), "")
    with pytest.raises(sh.FormatError, match=refused):
        sh.load(write(tmp_path, alone), floating=True)


def test_a_shape_fitted_to_a_faulty_mesh_is_said_to_have_no_size(tmp_path):
    write(tmp_path, stl(), "rock.stl")
    write(tmp_path, stl()[:-7], "corrupt.stl")
    text = """<mujoco><asset><mesh name="m" file="{}.stl"/></asset><worldbody>
      <body name="b"><joint/><geom size="0.1"/><geom type="box" mesh="m" mass="0"/></body></worldbody></mujoco>"""
    fine = sh.load(write(tmp_path, text.format("rock")))
    assert fine.import_report.of("ignored")[0].what.startswith("contacts") and min(fine.visuals[1].sizes) > 0.3
    m = sh.load(write(tmp_path, text.format("corrupt")))
    assert "mesh that a shape is fitted to" in {e.what for e in m.import_report.ignored}


def test_a_mesh_made_by_a_plugin_is_read(tmp_path):
    text = """<mujoco><extension><plugin plugin="mujoco.sdf.gear"><instance name="g"/></plugin></extension>
      <asset><mesh name="m"><plugin instance="g"/></mesh></asset>
      <worldbody><body name="b"><joint/><geom size="0.1"/>
      <geom type="sdf" mesh="m" {}><plugin instance="g"/></geom></body></worldbody></mujoco>"""
    masses = [sh.load(write(tmp_path, text.format(how))).bodies[0].mass for how in ('mass="0"', 'mass="2"')]
    assert_close(masses[1] - masses[0], 2.0, 1e-12)
    assert "plugin" in {e.what for e in sh.load(tmp_path / "model.xml").import_report.ignored}


def test_textures_and_height_fields_that_are_not_there_change_no_motion(tmp_path):
    assets = """<asset><hfield name="h" file="gone.png" size="1 1 1 1"/><texture name="t" type="2d" file="../gone.png"/>
      <material name="m" texture="t" rgba="1 0 0 1"/></asset>"""
    body = BODY.format("a", 'material="m"')
    m = sh.load(write(tmp_path, model(f'{assets}<worldbody><geom type="hfield" hfield="h"/>{body}</worldbody>')))
    assert m.nq == 1 and m.visuals[-1].colour == (1.0, 0.0, 0.0, 1.0)
    assert {e.what for e in m.import_report.of("ignored")} >= {"texture", "missing file"}
