"""Files on their way in: which reader takes which, XML that is safe, meshes that are looked up nowhere else."""

from __future__ import annotations

import builtins
import io
import os
import pathlib

import pytest

import sharnir as sh
from sharnir.io.xml import MAX_DEPTH, parse_xml
from urdf_files import arm, link, write


# --- by suffix ----------------------------------------------------------------------------------------------------------
def test_a_robot_in_an_xml_file_is_urdf(tmp_path):
    assert sh.load(write(tmp_path, *arm(), name="robot.xml")).nv == 2
    assert sh.load(str(write(tmp_path, *arm(), name="ROBOT.URDF"))).nv == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("robot.urdf.xacro", "run it first: xacro robot.urdf.xacro > robot.urdf"),
        ("robot.sdf", "what can be read: .urdf"),
        ("robot", "what can be read: .urdf"),
        ("nothing.urdf", "there is no such file"),
        ("folder.urdf", "this is a folder"),
        ("nul\0l.urdf", "."),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_word_about_what_can(tmp_path, name, words):
    (tmp_path / "folder.urdf").mkdir()
    with pytest.raises(sh.FormatError, match=words.replace(".", r"\.")):
        sh.load(tmp_path / name)


def test_what_xacro_leaves_behind_is_no_xacro(tmp_path):
    path = write(tmp_path, *arm())
    path.write_text(path.read_text().replace("<robot ", '<robot xmlns:xacro="http://wiki.ros.org/xacro" '))
    assert sh.load(path).nv == 2


# --- XML ----------------------------------------------------------------------------------------------------------------
LAUGHS = "".join(f'<!ENTITY l{k + 1} "{f"&l{k};" * 10}">' for k in range(9))


@pytest.mark.parametrize(
    "head",
    [
        f'<!DOCTYPE robot [<!ENTITY l0 "ha">{LAUGHS}]>',
        '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE robot SYSTEM "http://example.org/robot.dtd">',
        "<!DOCTYPE robot>",
    ],
)
def test_entities_are_refused_before_they_mean_anything(head):
    with pytest.raises(sh.FormatError, match=r"^f:1: a DOCTYPE declaration is refused"):
        parse_xml(f"{head}\n<robot name='&l9;'>&x;</robot>".encode(), "f")


def test_malformed_xml_tells_line_and_column():
    with pytest.raises(sh.FormatError, match=r"^f:2: malformed XML at column 8: mismatched tag"):
        parse_xml(b"<robot>\n  <a></b>\n</robot>", "f")
    with pytest.raises(sh.FormatError, match=r"^f:1: malformed XML at column 1: no element found"):
        parse_xml(b"", "f")
    with pytest.raises(sh.FormatError, match=r"undefined entity"):
        parse_xml(b"<robot name='&nobody;'/>", "f")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "cp1251", "utf-8-sig"])
def test_encodings_are_read_as_declared(encoding):
    name = "Шарнир" if encoding not in ("iso-8859-1",) else "Böck"
    declared = encoding.removesuffix("-sig")
    data = f"<?xml version='1.0' encoding='{declared}'?>\n<robot name='{name}'>{name}</robot>".encode(encoding)
    root = parse_xml(data, "f")
    assert (root.attributes["name"], root.line) == (name, 2)


@pytest.mark.parametrize("encoding", ["nonsense", "rot13", "base64", "utf-7", "idna"])
def test_unknown_encodings_are_refused(encoding):
    with pytest.raises(sh.FormatError, match=r"^f:1: .*encoding"):
        parse_xml(f"<?xml version='1.0' encoding='{encoding}'?><robot name='a'/>".encode(), "f")


def test_depth_and_size_are_bounded(monkeypatch):
    assert parse_xml(b"<a>" * MAX_DEPTH + b"</a>" * MAX_DEPTH, "f").tag == "a"
    with pytest.raises(sh.FormatError, match="nested more than"):
        parse_xml(b"<a>" * 100_000, "f")
    monkeypatch.setattr("sharnir.io.xml.MAX_ELEMENTS", 10)
    with pytest.raises(sh.FormatError, match="more than 10 elements"):
        parse_xml(b"<a>" + b"<b/>" * 10 + b"</a>", "f")
    monkeypatch.setattr("sharnir.io.xml.MAX_BYTES", 10)
    with pytest.raises(sh.FormatError, match="more than the 10 that are read"):
        parse_xml(b"<a>........</a>", "f")


# --- meshes -------------------------------------------------------------------------------------------------------------
def meshes(*uris: str) -> str:
    return link("a", "".join(f'<visual><geometry><mesh filename="{u}" scale="2"/></geometry></visual>' for u in uris))


@pytest.fixture
def package(tmp_path):
    """A package with a mesh, a sibling package, and something outside."""
    for name in ("here_description", "there_description", "plain"):
        (tmp_path / "ws" / name / "urdf").mkdir(parents=True)
        (tmp_path / "ws" / name / "part.stl").write_text("solid")
    for name in ("here_description", "there_description"):
        (tmp_path / "ws" / name / "package.xml").write_text("<package/>")
    (tmp_path / "secret.stl").write_text("secret")
    (tmp_path / "ws" / "here_description" / "link.stl").symlink_to(tmp_path / "secret.stl")
    return tmp_path / "ws" / "here_description"


def found(path, **options):
    return [v.path and v.path.name for v in sh.load(path, **options).visuals]


def test_meshes_are_found_in_the_own_package_its_siblings_and_declared_folders(package, monkeypatch):
    uris = [
        "../part.stl",
        "package://here_description/part.stl",
        "package://there_description/part.stl",
        f"file://{package}/part.stl",
    ]
    path = write(package / "urdf", meshes(*uris, "package://plain/part.stl"))
    assert found(path) == ["part.stl"] * 4 + [None]
    assert found(path, package_paths=[package.parent]) == ["part.stl"] * 5
    assert found(path, package_paths=package.parent / "plain") == ["part.stl"] * 5
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere{os.pathsep}{package.parent}")
    m = sh.load(path)
    assert all(v.path for v in m.visuals)
    assert m.visuals[0].scale == (2.0, 2.0, 2.0)


def test_a_missing_mesh_is_reported_with_its_line(package):
    m = sh.load(write(package / "urdf", meshes("nothing.stl", "http://x/y.stl", "model://z/y.stl")))
    assert [v.path for v in m.visuals] == [None] * 3
    assert [e.where for e in m.import_report.ignored] == ["visual of link 'a', line 2"] * 3
    assert "there is no such file" in m.import_report.ignored[0].why


ESCAPES = [
    "../../../secret.stl", "../../../../../../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "package://../secret.stl",
    "package://here_description/../../secret.stl", "package:///etc/passwd", "package://etc/passwd", "package://./secret.stl",
    "../link.stl", "package://here_description/link.stl", "file://%2e%2e/%2e%2e/%2e%2e/secret.stl", "file:///etc/%00passwd",
    "~/secret.stl", "package://there_description/../../secret.stl", "\\\\host\\share", "con", "a" * 5000,
]  # fmt: skip


def test_no_path_leads_out_and_nothing_but_the_model_is_opened(package, monkeypatch):
    path = write(package / "urdf", meshes(*ESCAPES))
    opened: list[str] = []

    def watching(original):
        def wrapped(file, *args, **kwargs):
            opened.append(os.fspath(file) if not isinstance(file, int) else str(file))
            return original(file, *args, **kwargs)

        return wrapped

    sh.load(path)  # modules that are imported at first use
    monkeypatch.setattr(builtins, "open", watching(builtins.open))
    monkeypatch.setattr(io, "open", watching(io.open))
    monkeypatch.setattr(os, "open", watching(os.open))
    monkeypatch.setattr(pathlib.Path, "open", watching(pathlib.Path.open))
    m = sh.load(path, package_paths=[package.parent])
    monkeypatch.undo()
    assert {v.path for v in m.visuals} == {None}
    assert len(m.import_report.ignored) == len(ESCAPES)
    assert set(opened) == {str(path)}
    strange = [e.why for e in m.import_report.ignored if "leads out" not in e.why]
    assert len(strange) < len(ESCAPES) - 8, "most of them are recognised as escapes"
