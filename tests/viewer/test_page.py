"""A page to send: what is in it is what was computed, within its size; it fetches nothing; bad input is refused in words."""

from __future__ import annotations

import base64
import gzip
import json
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from test_compare_report import HOSTILE, Tags

import sharnir as sh
from sharnir.model.quaternions import quaternions_of
from sharnir.viewer.build import scene_of
from sharnir.viewer.page.animate import MOTION, THREE, page
from sharnir.viewer.page.contents import Package, Take, series
from sharnir.viewer.page.keyframes import QUANTUM, TOLERANCE, TURN, finite_rows, key_frames, weights


@pytest.fixture(scope="module")
def swing() -> sh.Result:
    return sh.simulate(sh.samples.double_pendulum(), 2.0, output=0.01, q0=[1.0, 0.5])


def rotor(speed: float) -> sh.Result:
    m = sh.Model("rotor")
    m.add_body("disc", mass=1.0, shape=sh.Box((1.0, 0.2, 0.2)))
    m.add_joint("axis", sh.Revolute("z"), "ground", "disc")
    return sh.simulate(m, 2.0, output=0.002, v0=[speed])


def packed(text: str) -> str:
    return re.search(r'id="data">([^<]*)<', text)[1]


def unpacked(text: str) -> tuple[dict, bytes]:
    raw = gzip.decompress(base64.b64decode(packed(text)))
    length = int.from_bytes(raw[:4], "little")
    return json.loads(raw[4 : 4 + length]), raw[4 + length :]


# --- numbers ----------------------------------------------------------------------------------------------------------------
def test_interpolation_is_exact_for_parabolas_at_any_spacing():
    rng = np.random.default_rng(0)
    for count in (3, 4, 9):
        t = np.cumsum(rng.uniform(0.1, 2.0, count))
        at = np.linspace(t[0], t[-1], 57)
        around, w = weights(t, at)
        for x in (lambda s: s * 0 + 1.0, lambda s: s, lambda s: s**2):
            np.testing.assert_allclose((w * x(t)[around]).sum(axis=1), x(at), atol=1e-12 * x(t).max())
    assert np.ptp(weights(np.zeros(1), np.array([5.0]))[1]) == 1.0  # a position that stands still


def test_quaternions_turn_as_their_matrices_do():
    rng = np.random.default_rng(1)
    turned = [np.diag(d) for d in ([1, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, 1, 1])]
    q, _ = np.linalg.qr(rng.normal(size=(50, 3, 3)))
    R = np.concatenate([q * np.linalg.det(q)[:, None, None], np.array(turned, dtype=float)])
    w, v = (x := quaternions_of(R))[:, 0], x[:, 1:]
    p = rng.normal(size=(len(R), 3))
    turn = p + 2 * np.cross(v, np.cross(v, p) + w[:, None] * p)
    np.testing.assert_allclose(turn, np.einsum("tij,tj->ti", R, p), atol=1e-14)


@pytest.mark.parametrize("size", [2**15 - 1, 2**29])
def test_series_are_packed_without_loss(size):
    numbers = np.random.default_rng(2).integers(-size, size, (40, 5))
    package = Package()
    where = series(package, numbers)
    _, raw = unpacked(f'id="data">{package.text({})}<')
    planes = np.frombuffer(raw, np.uint8, where["data"]["n"], where["data"]["at"]).reshape(where["bytes"], -1)
    second = np.ascontiguousarray(planes.T).view(f"<i{where['bytes']}").reshape(5, 40)
    np.testing.assert_array_equal(np.cumsum(np.cumsum(second, axis=1, dtype=second.dtype), axis=1, dtype=second.dtype).T, numbers)


def test_fast_motions_get_the_key_frames_they_need():
    counts = [len(key_frames(s := scene_of(rotor(speed)), finite_rows(s), 30.0).t) for speed in (1.0, 200.0)]
    assert counts[0] == 61 and counts[1] > 4 * counts[0]


def test_interpolated_poses_are_within_the_tolerance(swing):
    scene = scene_of(fine := sh.simulate(swing.model, 1.0, output=0.002, q0=[1.0, 0.5]))
    motion = key_frames(scene, finite_rows(scene), 30.0)
    assert 31 <= len(motion.t) < len(fine.t) and motion.error <= TOLERANCE * scene.size
    around, w = weights(motion.t, scene.t)
    x = motion.centre + motion.quantum * np.einsum("mk,mkc->mc", w, motion.position[around].astype(float)).reshape(-1, 2, 3)
    assert np.abs(x - scene.position).max() <= motion.error + QUANTUM * scene.size
    q = np.einsum("mk,mkc->mc", w, motion.quaternion[around].astype(float)).reshape(-1, 2, 4)
    exact = quaternions_of(scene.rotation)
    cosine = np.abs((q * exact).sum(-1)) / np.linalg.norm(q, axis=-1)
    assert 2 * np.arccos(np.clip(cosine, 0.0, 1.0)).max() < 4 * TOLERANCE + 4 / TURN


# --- the file ---------------------------------------------------------------------------------------------------------------
def test_the_page_is_whole_and_fetches_nothing(swing, tmp_path):
    text = swing.animate(tmp_path / "run.html").read_text(encoding="utf-8")
    tags = Tags(text)
    assert not tags.open
    for tag, attributes in tags.found:
        assert tag not in ("iframe", "object", "img", "embed")
        for name in ("src", "href", "data", "srcset", "action", "poster"):
            assert (attributes.get(name) or "data:").startswith("data:"), (tag, name)
        assert not any(name.startswith("on") for name in attributes)
    policy = next(a["content"] for tag, a in tags.found if tag == "meta" and a.get("http-equiv"))
    assert policy.startswith("default-src 'none'") and "http" not in policy
    own = text[text.rindex('"use strict";\n') :]
    assert "http" not in own and "eval" not in own and "innerHTML" not in own
    assert "Copyright 2010" in text and "SPDX-License-Identifier: MIT" in text  # of three.js


def test_the_page_says_what_the_result_says(swing, tmp_path):
    from html import unescape

    text = unescape(swing.animate(tmp_path / "run.html", title="Two rods").read_text(encoding="utf-8"))
    assert "<title>Two rods</title>" in text and swing.summary() in text
    assert f"{swing.energy.kinetic[-1]:.6g}" in text and "left unexplained" in text
    for body in swing.model.bodies:
        assert body.name in text
    table, _ = unpacked(text)
    assert [plot["title"].rpartition(", ")[2] for plot in table["plots"]] == ["rad", "rad/s", "J"]


def test_names_of_a_model_are_not_markup(tmp_path):
    m = sh.Model(HOSTILE)
    m.add_body(HOSTILE, mass=1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint(HOSTILE, sh.Revolute("x"), "ground", HOSTILE)
    text = sh.simulate(m, 0.1, output=0.05).animate(tmp_path / "x.html").read_text(encoding="utf-8")
    assert HOSTILE not in text and "alert(" not in re.sub(r"&lt;.*?&gt;", "", text).replace("alert(&#34;x&#34;)", "")
    assert not Tags(text).open


def test_a_page_is_small_enough_to_send(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "examples")
    assert import_module("crane").simulate().animate(tmp_path / "crane.html").stat().st_size < 1_500_000
    assert MOTION + THREE.stat().st_size < 2_500_000  # half a megabyte for everything else


def test_a_motion_that_is_too_large_keeps_fewer_key_frames_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("sharnir.viewer.page.animate.MOTION", 100_000)
    scene, t = scene_of(sh.samples.chain(20)), np.linspace(0.0, 10.0, 1200)
    noise = np.random.default_rng(3).normal(size=(len(t), 20, 3))  # nothing of it can be compressed
    moving = scene.at_poses(t, np.broadcast_to(np.eye(3), (len(t), 20, 3, 3)), scene.position + noise)
    sizes = [len(packed(page([Take("noise", s)]))) for s in (scene, moving)]
    assert sizes[1] - sizes[0] < 102_000
    found = re.search(r"Motion: (\d+) key frames of 1200 rows.*mm off", page([Take("noise", moving)]))
    assert found and 100 < int(found[1]) < 1200


def test_a_model_stands_still(tmp_path):
    text = sh.samples.four_bar().animate(tmp_path / "model.html").read_text(encoding="utf-8")
    assert 'id="play"' not in text.split("<script")[0] and 'id="model-panel"' in text


# --- what goes wrong --------------------------------------------------------------------------------------------------------
def test_three_js_stands_with_its_licence_and_does_not_end_the_script():
    text = THREE.read_text(encoding="utf-8")
    assert text.startswith("/**\n * @license") and "</script" not in text.lower()
    assert THREE.with_name("LICENSE").read_text(encoding="utf-8").startswith("The MIT License")


def test_bad_input_is_refused_before_anything_is_written(swing, tmp_path):
    for path, words in (("no/folder/x.html", "no folder"), ("x.png", "suffix"), (".", "it is a folder")):
        with pytest.raises(sh.StateError, match=words):
            swing.animate(tmp_path / path)
    with pytest.raises(sh.StateError, match="follow: no body 'rod3'; did you mean"):
        swing.animate(tmp_path / "x.html", follow="rod3")
    with pytest.raises(sh.StateError, match="fps: expected a number"):
        swing.animate(tmp_path / "x.html", fps=0)
    with pytest.raises(sh.StateError, match="view: no view"):
        swing.animate(tmp_path / "x.html", view="behind")
    with pytest.raises(sh.StateError, match="something to show"):
        page([])
    assert not list(tmp_path.iterdir())


def test_an_empty_result_has_nothing_to_show(swing, tmp_path):
    from dataclasses import replace

    empty = replace(swing, t=swing.t[:0], q=swing.q[:0], v=swing.v[:0])
    with pytest.raises(sh.StateError, match="no times"):
        empty.animate(tmp_path / "x.html")


def test_poses_that_are_no_numbers_are_left_out_and_said(swing):
    scene = scene_of(swing)
    position = scene.position.copy()
    position[150:] = np.nan
    bad = scene.at_poses(scene.t, scene.rotation, position)
    text = page([Take("run", bad)])
    assert "at 51 times from t = 1.5 s on poses are not numbers" in text
    table, raw = unpacked(text)
    t = table["runs"][0]["t"]
    assert np.frombuffer(raw, float, t["n"], t["at"])[-1] == pytest.approx(1.49)
    with pytest.raises(sh.StateError, match="none of its poses is a number"):
        page([Take("run", scene.at_poses(scene.t, scene.rotation, np.full_like(position, np.nan)))])


def test_a_run_backward_in_time_plays_forward(tmp_path):
    r = sh.simulate(sh.samples.pendulum(), -1.0, output=0.01, q0=[0.3])
    table, raw = unpacked(r.animate(tmp_path / "x.html").read_text(encoding="utf-8"))
    t = table["runs"][0]["t"]
    assert (np.diff(np.frombuffer(raw, float, t["n"], t["at"])) > 0.0).all()


def test_the_command_writes_a_page(command, tmp_path):
    sh.samples.pendulum().save(file := tmp_path / "pendulum.yaml")
    code, out, _ = command("run", file, "--duration", 0.2, "--animate", tmp_path / "x.html", "--quantity", "energy")
    assert code == 0 and f"written: {tmp_path / 'x.html'}" in out and (tmp_path / "x.html").exists()
    code, _, err = command("run", file, "--duration", 0.2, "--animate", tmp_path / "x.png")
    assert code == 2 and "--animate" in err and ".html" in err


def test_a_mode_is_a_page_that_moves(tmp_path):
    mode = sh.linearize(sh.samples.double_pendulum(), q={"hinge1": -np.pi / 2}).modes[0]
    text = mode.animate(tmp_path / "mode.html").read_text(encoding="utf-8")
    assert f"{mode.frequency:.4g} Hz" in text
    table, raw = unpacked(text)
    t = table["runs"][0]["t"]
    assert 1.9 < np.ptp(np.frombuffer(raw, float, t["n"], t["at"])) < 2.0
