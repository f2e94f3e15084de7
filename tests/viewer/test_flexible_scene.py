"""Flexible bodies are drawn as they are deformed, and what hangs on them where the deformation puts it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_flexible_results import arm, clamped, panel

import sharnir as sh
from sharnir.viewer.build import scene_of
from sharnir.viewer.motion import at_times, scene_of_mode
from sharnir.viewer.scene import Scene
from sharnir.viewer.solids import prism


def model() -> sh.Model:
    m = arm(held_at=0.0, damping=0.02)
    m.add_force(sh.SpringDamper("ground", "arm", (0.5, 0, -0.5), (0.5, 0, 0), stiffness=20.0, length=0.5), name="stay")
    return m


def ends(scene: Scene, name: str) -> np.ndarray:
    """(T, 3) of the end of the first span of this name."""
    span = next(x for x in scene.spans if x.name == name)
    return span.ends(scene.rotation, scene.position)[1]


def test_pieces_of_a_beam_lie_on_its_deformed_axis() -> None:
    m = model()
    q = m.coordinates({"arm elastic.bend_z1": -0.2, "arm elastic.bend_y1": 0.1})
    scene, d = scene_of(m, q=q), sh.Dynamics(m)
    pieces = [p for p in scene.parts if p.name == "body arm"]
    n = len(pieces)
    for k, part in enumerate(pieces):
        there = d.pose(q, ("arm", sh.Pose(((k + 0.5) / n, 0.0, 0.0))))
        assert scene.position[0, part.carrier] == pytest.approx(np.array(there.position), abs=1e-14)
        assert scene.rotation[0, part.carrier] == pytest.approx(there.rotation.matrix, abs=1e-14)
        assert scene.carriers.names[part.carrier] == "arm"
    tip = np.array(d.pose(q, ("arm", sh.Pose((1.0, 0, 0)))).position)
    assert (scene.low <= tip).all() and (tip <= scene.high).all()
    assert not any("arm elastic" in p.name for p in scene.parts)
    assert "arm elastic" not in scene.choices


def test_springs_joints_and_paths_follow_the_deformation() -> None:
    m = model()
    r = sh.simulate(m, 0.1, rtol=1e-6, v0={"pivot": 1.0})
    scene = scene_of(r, traces=[("arm", (1.0, 0.0, 0.0))])
    assert ends(scene, "force stay") == pytest.approx(r.point("arm", (0.5, 0, 0)), abs=1e-14)
    path = next(x for x in scene.lines if x.layer == "traces")
    ball = next(p for p in scene.parts if p.layer == "traces")
    assert scene.position[:, ball.carrier] == pytest.approx(path.points, abs=1e-14)
    between = at_times(scene, r, [0.5 * (r.t[0] + r.t[1]), r.t[-1]])
    assert between.position[1] == pytest.approx(scene.position[-1], abs=1e-14)
    assert between.position.shape[1:] == scene.position.shape[1:]


def test_a_body_given_at_nodes_is_its_nodes() -> None:
    m, nodes = panel()
    q = m.random_q(np.random.default_rng(0))
    scene, d = scene_of(m, q=q), sh.Dynamics(m)
    balls = [p for p in scene.parts if p.name == "body panel"]
    for part, point in zip(balls, nodes, strict=True):
        there = d.pose(q, ("panel", sh.Pose(point)))
        assert scene.position[0, part.carrier] == pytest.approx(np.array(there.position), abs=1e-13)


def test_a_mode_bends_the_beam_by_a_visible_amplitude() -> None:
    m = clamped(gravity=0.0)
    mode = sh.linearize(m).modes[0]
    scene = scene_of_mode(mode)
    carriers = [p.carrier for p in scene.parts if p.name == "body arm"]
    local = np.einsum("tij,tkj->tki", scene.rotation[:, m.body_index("arm")].swapaxes(1, 2),
                      scene.position[:, carriers] - scene.position[:, [m.body_index("arm")]])  # fmt: skip
    assert np.ptp(local, axis=0).max() > 0.01  # relative to its frame: it bends
    assert 0.1 * scene.size < np.ptp(scene.position, axis=0).max() < 0.5 * scene.size


@pytest.mark.parametrize(
    "section", [sh.Rectangle(0.2, 0.1), sh.Circle(0.1), sh.ISection(0.2, 0.3, 0.02, 0.03)], ids=lambda s: type(s).__name__
)
def test_a_piece_is_closed_and_has_the_volume_of_its_outline(section: sh.ISection) -> None:
    outline = np.array(section.outline())
    g = prism(tuple(map(tuple, outline.tolist())))
    a, b, c = (g.vertices[g.faces[:, k]].astype(float) for k in range(3))
    y, z = outline.T
    area = 0.5 * abs(y @ np.roll(z, -1) - z @ np.roll(y, -1))
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 == pytest.approx(area, rel=1e-6)
    outward = np.cross(b - a, c - a)
    assert (np.einsum("ij,ij->i", outward, g.normals[g.faces[:, 0]]) > 0.0).all()


def test_pictures_pages_and_notes(tmp_path: Path) -> None:
    m = model()
    m.add_visual("arm", sh.Sphere(0.05))
    assert any("drawn undeformed" in note for note in scene_of(m).notes)
    r = sh.simulate(arm(damping=0.02), 0.02, rtol=1e-5)
    r.snapshot(tmp_path / "a.png", size=(160, 90))
    page = r.animate(tmp_path / "a.html")
    assert page.stat().st_size > 10_000
