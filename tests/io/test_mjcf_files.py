"""The files behind an MJCF model: includes and meshes inside its folder are read, anything outside is not touched."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from test_mjcf import assert_same

import sharnir as sh
from mjcf_models import WALKER
from mujoco_pairs import load_pair, write

BODY = '<body name="{0}"><joint name="j{0}"/><geom size="0.1" {1}/></body>'
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)


def model(inner: str) -> str:
    return f"<mujoco>{inner}</mujoco>"


def world(inner: str) -> str:
    return model(f"<worldbody>{inner}</worldbody>")


def stl() -> bytes:
    faces = TETRAHEDRON[[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]]
    body = b"".join(struct.pack("<12fH", 0, 0, 0, *face.ravel(), 0) for face in faces)
    return bytes(80) + struct.pack("<I", len(faces)) + body


def test_nested_includes_are_found_from_the_model_and_from_the_including_file(tmp_path):
    write(tmp_path, '<mujocoinclude><default><joint armature="0.3"/></default></mujocoinclude>', "defaults.xml")
    write(tmp_path, model('<include file="defaults.xml"/><worldbody><include file="leaf.xml"/></worldbody>'), "parts/arm.xml")
    write(tmp_path, model(BODY.format("leaf", "")), "parts/leaf.xml")
    main = write(tmp_path, model('<include file="parts/arm.xml"/>' + f"<worldbody>{BODY.format('own', '')}</worldbody>"))
    pair = load_pair(main)
    assert [b.name for b in pair.model.bodies] == ["leaf", "own"] and pair.model.joints[1].type.armature == 0.3
    assert_same(pair)


@pytest.mark.parametrize("name", ["model.xml", "./model.xml", "loop.xml"])
def test_a_file_that_includes_itself_is_refused(name, tmp_path):
    write(tmp_path, model('<include file="model.xml"/>'), "loop.xml")
    with pytest.raises(sh.FormatError, match="a second time, or includes itself"):
        sh.load(write(tmp_path, model(f'<include file="{name}"/>')))


@pytest.mark.parametrize(
    "inner",
    [
        '<include file="../secret.xml"/>',
        '<include file="{outside}/secret.xml"/>',
        '<include file="link.xml"/>',
        '<asset><model name="m" file="../secret.xml"/></asset>',
        '<worldbody><flexcomp name="f" type="mesh" file="../secret.stl"/></worldbody>',
    ],
)
def test_paths_that_leave_the_package_are_refused_with_file_and_line(inner, tmp_path):
    with pytest.raises(sh.FormatError, match=r"model\.xml:2: .* leads out of the model's package"):
        sh.load(beside_secrets(tmp_path, inner))


def beside_secrets(tmp_path, inner):
    """A model in a folder, the files that it may not read above it, and links to them."""
    write(tmp_path, world(BODY.format("secret", "")), "secret.xml")
    write(tmp_path, stl(), "secret.stl")
    folder = tmp_path / "model"
    path = write(folder, model("\n" + inner.format(outside=tmp_path)))
    for suffix in ("xml", "stl"):
        (folder / f"link.{suffix}").symlink_to(tmp_path / f"secret.{suffix}")
    return path


@pytest.mark.parametrize(
    "inner",
    [
        '<asset><mesh name="m" file="../secret.stl"/></asset>',
        '<asset><mesh name="m" file="{outside}/secret.stl"/></asset>',
        '<asset><mesh name="m" file="sub/../../secret.stl"/></asset>',
        '<compiler meshdir=".."/><asset><mesh name="m" file="secret.stl"/></asset>',
        '<compiler assetdir="{outside}"/><asset><mesh name="m" file="secret.stl"/></asset>',
        '<compiler meshdir="x"/><compiler meshdir="../"/><asset><mesh name="m" file="secret.stl"/></asset>',
        '<asset><mesh name="m" file="link.stl"/></asset>',
        '<asset><hfield name="m" file="../secret.stl" size="1 1 1 1"/></asset>',
    ],
)
def test_a_mesh_outside_the_package_is_not_read_and_refuses_the_model_only_where_mass_comes_from_it(inner, tmp_path):
    kind = "hfield" if "hfield" in inner else "mesh"
    shown = f'<worldbody>{BODY.format("b", "")}<geom type="{kind}" {kind}="m"/></worldbody>'
    m = sh.load(beside_secrets(tmp_path / "shown", inner + shown))
    assert any(e.what == "file that is not read" and "leads out of" in e.why for e in m.import_report.ignored)
    assert all(v.path is None for v in m.visuals)
    if kind == "mesh":
        heavy = "<worldbody>" + BODY.format("b", 'type="mesh" mesh="m"') + "</worldbody>"
        with pytest.raises(
            sh.FormatError, match=r"model\.xml:2: body 'b' takes its mass from the mesh 'm', but the file .* leads"
        ):
            sh.load(beside_secrets(tmp_path / "heavy", inner + heavy))


@pytest.mark.parametrize(
    "mark", ["package.xml", ".git/HEAD", "pyproject.toml", "setup.py", "LICENSE README.md", "__init__.py robots/__init__.py", ""]
)
def test_files_of_one_package_may_name_each_other(mark, tmp_path):
    """The root of the package counts, not the folder of the file."""
    for name in mark.split():
        write(tmp_path, "", f"package/{name}")
    write(tmp_path, stl(), "package/meshes/rock.stl")
    write(tmp_path, stl(), "secret.stl")
    write(tmp_path, "", "package/robots/README.md")  # a note in a folder makes no package of it
    (tmp_path / "package" / "meshes" / "link.stl").symlink_to(tmp_path / "secret.stl")
    body = BODY.format("b", 'type="mesh" mesh="rock"')
    text = f'<compiler meshdir="../meshes"/><asset><mesh file="rock.stl"/></asset><worldbody>{body}</worldbody>'
    (rock,) = sh.load(write(tmp_path, model(text), "package/robots/model.xml")).visuals
    assert rock.path == (tmp_path / "package" / "meshes" / "rock.stl").resolve()
    for outside in ("../../secret.stl", "link.stl"):
        other = text.replace('file="rock.stl"', f'name="rock" file="{outside}"')
        with pytest.raises(sh.FormatError, match="leads out of the model's package"):
            sh.load(write(tmp_path, model(other), "package/robots/model.xml"))


def test_declared_folders_may_be_read(tmp_path):
    write(tmp_path, stl(), "assets/rock.stl")
    write(tmp_path, model(BODY.format("shared", "")), "common/body.xml")
    inner = '<compiler meshdir="../assets"/><asset><mesh file="rock.stl" scale="0.1 0.2 0.3"/></asset>'
    geom = BODY.format("a", 'type="mesh" mesh="rock"') + '<include file="../common/body.xml"/>'
    path = write(tmp_path / "robot", model(f"{inner}<worldbody>{geom}</worldbody>"))
    with pytest.raises(sh.FormatError, match="declare its folder in package_paths"):
        sh.load(path, package_paths=[tmp_path / "assets"])
    m = sh.load(path, package_paths=[tmp_path / "assets", tmp_path / "common"])
    (rock, _) = m.visuals
    assert rock.path == (tmp_path / "assets" / "rock.stl").resolve() and rock.uri == "rock.stl" and rock.scale == (0.1, 0.2, 0.3)
    assert_same(load_pair(path, package_paths=[tmp_path]))


def test_strippath_and_the_last_meshdir_count(tmp_path):
    write(tmp_path, stl(), "b/rock.stl")
    compiler = '<compiler meshdir="a" strippath="true"/><compiler meshdir="b"/>'
    body = BODY.format("a", 'type="mesh" mesh="m"')
    asset = '<asset><mesh name="m" file="far/off/rock.stl"/></asset>'
    path = write(tmp_path, model(f"{compiler}{asset}<worldbody>{body}</worldbody>"))
    assert_same(load_pair(path))


def test_a_model_inside_a_model_is_read_by_the_same_rules(tmp_path):
    write(tmp_path, stl(), "sub/rock.stl")
    asset = '<asset><mesh name="rock" file="rock.stl"/></asset>'
    body = BODY.format("arm", 'type="mesh" mesh="rock"')
    write(tmp_path, model(f"{asset}<worldbody>{body}</worldbody>"), "sub/arm.xml")
    attach = '<frame pos="1 0 0"><attach model="arm" body="arm" prefix="left_"/></frame>'
    path = write(tmp_path, model(f'<asset><model name="arm" file="sub/arm.xml"/></asset><worldbody>{attach}</worldbody>'))
    pair = load_pair(path)
    assert [b.name for b in pair.model.bodies] == ["left_arm"]
    assert_same(pair)
    write(tmp_path, model(f'\n<asset><mesh name="rock" file="../../x.stl"/></asset><worldbody>{body}</worldbody>'), "sub/arm.xml")
    with pytest.raises(sh.FormatError, match=r"arm\.xml:2: .* leads out of the model's package"):
        sh.load(path)
    damped = BODY.format("arm", "").replace("<joint", '<joint damping="-1"')
    write(tmp_path, model(f"<worldbody>\n\n{damped}</worldbody>"), "sub/arm.xml")
    with pytest.raises(sh.FormatError, match=r"arm\.xml:3: joint 'left_jarm': .*damping: expected a number of at least 0"):
        sh.load(path)


def test_the_home_folder_is_no_package(tmp_path, monkeypatch):
    """Many keep it in a repository."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write(tmp_path, "", ".git/HEAD")
    write(tmp_path, world(BODY.format("b", "")), "secret.xml")
    with pytest.raises(sh.FormatError, match="leads out of the model's package"):
        sh.load(write(tmp_path, model('<include file="../secret.xml"/>'), "downloads/model.xml"))


# --- errors ---------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<mujoco>\n<include file="gone.xml"/></mujoco>', r"model\.xml:2: include: there is no file 'gone\.xml'"),
        ('<mujoco>\n<include/></mujoco>', r"model\.xml:2: .*'file' is missing"),
        ("<mujoco>\n<worldbody><nonsense/></worldbody></mujoco>", r"model\.xml:2: MuJoCo refuses .*nonsense.* line 2"),
        ('<mujoco><worldbody>\n<body><joint axis="0 0 0"/></body></worldbody></mujoco>', r"model\.xml:2: MuJoCo refuses"),
        ("<mujoco/>", "nothing moves"),
        ("<sdf name='r'/>", "the root of an MJCF file is <mujoco>, not <sdf>"),
        ("<mujoco", r"model\.xml:1: malformed XML"),
        ("", r"model\.xml:1: malformed XML"),
        ('<!DOCTYPE m [<!ENTITY a "b">]><mujoco>&a;</mujoco>', "a DOCTYPE declaration is refused"),
        ('<!DOCTYPE m SYSTEM "file:///etc/passwd"><mujoco/>', "a DOCTYPE declaration is refused"),
        ('<mujoco><worldbody><replicate count="1000000"><body/></replicate></worldbody></mujoco>', "copies are more than"),
        ('<mujoco><asset><mesh name="m" file="a&#10;b.stl\x7f"/></asset></mujoco>', "nothing moves"),
        (f'<mujoco><include file="{"x" * 5000}"/></mujoco>', "no usable path"),
        (f"<mujoco>{'<worldbody>' * 300}{'</worldbody>' * 300}</mujoco>", "nested more than 200 deep"),
        (WALKER.replace('pos="0 0 1.4"', 'pos="nan 0 0"'), r"model\.xml:15: body 'torso': pos: 'nan' is not a finite number"),
        (WALKER.replace('pos="0 0 1.4"', 'pos="1e40 0 0"'), r"model\.xml:15: body 'torso': its pos is not finite, or too large"),
        (WALKER.replace('density="900"', 'mass="nan"'), r"model\.xml:6: geom: mass: 'nan' is not a finite number"),
        (WALKER.replace('density="900"', 'mass="1e400"'), r"model\.xml:6: geom: mass: '1e400' is not a finite number"),
        (WALKER.replace('damping="3"', 'damping="-inf"'), r"model\.xml:8: joint: damping: '-inf' is not a finite number"),
        (WALKER.replace('armature="0.01"', 'armature="-1"'), r"model\.xml:24: joint 'abdomen_z': .*armature: expected a number"),
        (WALKER.replace('damping="0.2"', 'damping="-0.01"'), r"model\.xml:36: joint 'ankle': .*damping: expected a number"),
    ],
)  # fmt: skip
def test_errors_name_the_file_and_the_line(text, message, tmp_path):
    with pytest.raises(sh.ModelError, match=message):
        sh.load(write(tmp_path, text)).freeze()


def test_a_fragment_is_refused_with_the_files_that_include_it(tmp_path):
    part = write(tmp_path, "<mujocoinclude><worldbody/></mujocoinclude>", "part.xml")
    with pytest.raises(sh.FormatError, match=r"part\.xml:1: .* this is a fragment; load the model that has an <include> of it"):
        sh.load(part)
    for name in ("robot.xml", "scene.xml"):
        write(tmp_path, model('<include file="part.xml"/>'), name)
    write(tmp_path, "<mujoco", "broken.xml")
    with pytest.raises(
        sh.FormatError, match=r"a fragment that other files include; load one of those: 'robot\.xml', 'scene\.xml'"
    ):
        sh.load(part)


def test_infinite_ranges_and_names_like_numbers_are_fine(tmp_path):
    body = '<body name="nan"><joint name="inf" range="-inf inf" limited="true" user="nan"/><geom size="0.1"/></body>'
    assert sh.load(write(tmp_path, world(body))).joints[0].type.limits == (-np.inf, np.inf)


def test_an_error_in_an_included_file_names_that_file(tmp_path):
    write(tmp_path, "<mujoco>\n\n<body><nonsense/></body></mujoco>", "part.xml")
    with pytest.raises(sh.FormatError, match=r"part\.xml:3: MuJoCo refuses"):
        sh.load(write(tmp_path, world('<include file="part.xml"/>')))


def test_encodings_are_those_the_file_declares(tmp_path):
    """MuJoCo reads UTF-8 alone; what it gets is written anew."""
    text = '<?xml version="1.0" encoding="UTF-16"?>' + world(BODY.format("тело", ""))
    assert [b.name for b in sh.load(write(tmp_path, text.encode("utf-16"))).bodies] == ["тело"]


def test_a_folder_or_nothing_is_no_model(tmp_path):
    (tmp_path / "folder.xml").mkdir()
    for path in (tmp_path / "folder.xml", tmp_path / "gone.xml"):
        with pytest.raises(sh.FormatError, match=r"folder, not a file|no such file"):
            sh.load(path)
