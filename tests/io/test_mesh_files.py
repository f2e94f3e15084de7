"""A mesh of a file is drawn as the file says, in metres, in its colours; one that cannot be is said, and reads nothing else."""

from __future__ import annotations

import logging
import os
import pathlib

import numpy as np
import pytest
import trimesh

import sharnir as sh
from sharnir.io.mesh_reading import MeshFault, Piece
from sharnir.viewer.mesh_shading import shaded
from sharnir.viewer.visuals import _cached, drawn_visuals, geometries, read_mesh
from work import counted

SIZE = np.array([0.2, 0.4, 0.6])
RED = (1.0, 0.0, 0.0)


def brick(colour=(255, 0, 0, 255)):
    mesh = trimesh.creation.box(SIZE)
    if colour is not None:
        mesh.visual.face_colors = colour
    return mesh


def written(mesh, path, **options):
    mesh.export(path, **options)
    return path


def obj(folder, mtl="newmtl m\nKd 1 0 0\n", library="brick.mtl"):
    mesh = brick(None)
    text = [f"mtllib {library}", *("v {} {} {}".format(*v) for v in mesh.vertices), "usemtl m"]
    (folder / "brick.obj").write_text("\n".join([*text, *("f {} {} {}".format(*(f + 1)) for f in mesh.faces)]))
    if mtl:
        (folder / "brick.mtl").write_text(mtl)
    return folder / "brick.obj"


def dae(folder, unit=1.0, axis="Z_UP", change=lambda text: text):
    mesh = brick()
    mesh.vertices /= unit
    text = mesh.export(file_type="dae").decode()
    asset = f'<unit name="u" meter="{unit}"/><up_axis>{axis}</up_axis></asset>'
    head, _, rest = text.partition("</asset>")
    head = head.partition("<up_axis>")[0]
    (folder / "brick.dae").write_text(change(head + asset + rest))
    return folder / "brick.dae"


def one(mesh):
    ((geometry, colour),) = geometries(mesh)
    return geometry, colour


def extent(geometry):
    return np.ptp(geometry.vertices, axis=0)


FILES = {
    "binary stl": lambda p: written(brick(None), p / "b.stl"),
    "text stl": lambda p: written(brick(None), p / "b.stl", file_type="stl_ascii"),
    "obj": obj,
    "dae": dae,
    "dae in millimetres": lambda p: dae(p, 0.001),
    "dae with y up": lambda p: dae(p, axis="Y_UP"),  # which nobody honours
    "glb": lambda p: written(brick(), p / "b.glb"),
    "gltf": lambda p: gltf(p),
    "ply": lambda p: written(brick(), p / "b.ply"),
    "off": lambda p: written(brick(None), p / "b.off"),
}


def gltf(folder):
    for name, data in trimesh.exchange.gltf.export_gltf(trimesh.Scene([brick()])).items():
        (folder / name).write_bytes(data)
    return folder / "model.gltf"


@pytest.mark.parametrize("kind", FILES)
def test_a_box_of_every_format_is_that_box_in_metres_with_flat_faces_and_its_colour(kind, tmp_path):
    mesh = read_mesh(FILES[kind](tmp_path))
    geometry, colour = one(mesh)
    assert mesh.triangles == 12 and not mesh.left_out
    assert np.allclose(extent(geometry), SIZE, atol=1e-6)
    assert len(geometry.vertices) == 24  # sharp edges: three normals at each corner
    assert np.allclose(np.sort(np.abs(geometry.normals), axis=1), [0, 0, 1])
    a, b, c = (geometry.vertices[geometry.faces[:, k]] for k in range(3))
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), a) > 0).all()  # counterclockwise from outside
    if "stl" in kind or kind == "off":
        assert colour is None and geometry.colours is None
    else:
        assert np.allclose(colour, (*RED, 1.0), atol=0.01)


def test_round_things_are_smooth_between_their_sharp_edges():
    mesh = trimesh.creation.cylinder(1.0, 2.0, sections=48)
    g = shaded(Piece(np.asarray(mesh.vertices), np.asarray(mesh.faces)))
    side = np.abs(g.normals[:, 2]) < 0.5
    radial = g.vertices[side] * (1, 1, 0)
    assert side.any() and np.einsum("ij,ij->i", g.normals[side], radial).min() > 0.999
    assert np.allclose(np.abs(g.normals[~side][:, 2]), 1.0)


def test_faces_of_different_colours_keep_them(tmp_path):
    mesh = brick()
    mesh.visual.face_colors = np.array([[255, 0, 0, 255]] * 6 + [[0, 0, 255, 255]] * 6)
    geometry, colour = one(read_mesh(written(mesh, tmp_path / "two.ply")))
    of_faces = geometry.colours[geometry.faces]
    assert colour[:3] == (1.0, 1.0, 1.0) and (of_faces == of_faces[:, :1]).all()
    assert {tuple(x) for x in of_faces[:, 0]} == {(1, 0, 0), (0, 0, 1)}


def test_a_texture_becomes_colours_of_vertices_and_one_outside_is_not_opened(tmp_path):
    from PIL import Image

    package = tmp_path / "package"
    package.mkdir()
    for folder in (package, tmp_path):
        Image.new("RGB", (4, 4), (0, 255, 0)).save(folder / "green.png")
    lines = ["mtllib m.mtl", "v 0 0 0", "v 1 0 0", "v 0 1 0", "vt 0 0", "vt 1 0", "vt 0 1", "usemtl m", "f 1/1 2/2 3/3"]
    (package / "t.obj").write_text("\n".join(lines))
    (package / "m.mtl").write_text("newmtl m\nKd 1 1 1\nmap_Kd green.png\n")
    geometry, _ = one(read_mesh(package / "t.obj"))
    assert np.allclose(geometry.colours, (0, 1, 0))
    (package / "m.mtl").write_text("newmtl m\nKd 1 0 0\nmap_Kd ../green.png\n")
    os.utime(package / "t.obj", (1, 1))  # another state of the file
    mesh = read_mesh(package / "t.obj")
    assert np.allclose(one(mesh)[1][:3], RED)
    assert mesh.left_out == ("../green.png (it leads out of the package of the mesh)",)


@pytest.mark.parametrize("library", ["../outside.mtl", "/etc/passwd", "http://localhost/m.mtl", "missing.mtl"])
def test_what_a_mesh_refers_to_outside_its_package_is_not_read(library, tmp_path, monkeypatch):
    (tmp_path / "outside.mtl").write_text("newmtl m\nKd 0 1 0\n")
    package = tmp_path / "package"
    package.mkdir()
    path = obj(package, mtl="", library=library)
    opened = []
    read = pathlib.Path.read_bytes
    monkeypatch.setattr(pathlib.Path, "read_bytes", lambda self: opened.append(self) or read(self))
    mesh = read_mesh(path)
    assert opened == [path] and one(mesh)[1] is None and library in mesh.left_out[0]


FAULTS = {
    "cut off": (lambda p: cut(written(brick(None), p / "b.stl")), "broken|without a triangle"),
    "cut off dae": (lambda p: cut(dae(p)), "broken"),
    "cut off glb": (lambda p: cut(written(brick(), p / "b.glb")), "broken"),
    "empty": (lambda p: touched(p / "b.stl"), "broken|without a triangle"),
    "noise": (lambda p: touched(p / "b.ply", os.urandom(5000)), "broken|without a triangle"),
    "missing": (lambda p: p / "b.stl", "missing"),
    "a folder": (lambda p: folder(p / "b.stl"), "unreadable"),
    "unknown": (lambda p: touched(p / "b.blend"), "of a format that is not read"),
    "entities": (lambda p: dae(p, change=lambda text: text.replace("<COLLADA", '<!DOCTYPE x [<!ENTITY a "b">]><COLLADA', 1)),
                 "document type"),
    "wrong numbers": (lambda p: touched(p / "b.obj", b"v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n"), "without a triangle"),
}  # fmt: skip


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return path


def touched(path, data=b""):
    path.write_bytes(data)
    return path


def folder(path):
    path.mkdir()
    return path


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_cannot_be_read_is_a_sentence_and_nothing_is_printed(fault, tmp_path, capfd):
    make, says = FAULTS[fault]
    with pytest.raises(MeshFault, match=says):
        read_mesh(make(tmp_path))
    assert capfd.readouterr() == ("", "") and not logging.getLogger("trimesh").disabled


def test_a_file_of_many_bytes_is_refused_by_its_size(tmp_path):
    with open(tmp_path / "b.stl", "wb") as file:
        file.truncate(300_000_000)
    with pytest.raises(MeshFault, match="of 300 MB, more than the 200 MB"):
        read_mesh(tmp_path / "b.stl")


def test_a_material_that_refers_to_nothing_does_not_take_the_mesh_with_it(tmp_path):
    path = dae(tmp_path, change=lambda text: text.replace("<instance_effect url=", '<instance_effect url="#gone" x=', 1))
    mesh = read_mesh(path)
    assert mesh.triangles == 12 and one(mesh)[1] is None and "Effect not found" in mesh.left_out[0]


def test_two_million_triangles_become_thirty_thousand_of_the_same_shape_by_arrays(tmp_path):
    n = 1000
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, n + 1), np.linspace(0, 2 * np.pi, n + 1), indexing="ij")
    r = 1.0 + 0.3 * np.cos(v)
    points = np.stack([r * np.cos(u), r * np.sin(u), 0.3 * np.sin(v)], axis=-1).reshape(-1, 3)
    k = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).reshape(-1)
    faces = np.concatenate([np.stack([k, k + n + 1, k + n + 2], 1), np.stack([k, k + n + 2, k + 1], 1)])
    triangles = np.zeros(2 * n * n, dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    triangles["corners"] = points[faces]
    path = tmp_path / "torus.stl"
    path.write_bytes(bytes(80) + np.uint32(len(triangles)).tobytes() + triangles.tobytes())
    m = sh.Model()
    m.add_body("b", 1.0, inertia=(1, 1, 1))
    m.add_floating("b")
    m.add_visual("b", path)
    with counted() as work:
        ((_, geometry, _, _, _, _),), notes = drawn_visuals(m)
    assert work.calls < 100_000, "arrays, not triangles one by one"
    assert notes == [f"drawn with fewer triangles: torus.stl 2 000 000 → {len(geometry.faces):,}".replace(",", " ")]
    assert 20_000 < len(geometry.faces) <= 30_000
    x = geometry.vertices.astype(float)
    off = np.hypot(np.hypot(x[:, 0], x[:, 1]) - 1.0, x[:, 2]) - 0.3
    assert np.abs(off).max() < 0.01
    _cached.cache_clear()  # it is large
