"""Videos: as many frames as the time takes, whole files, modes that can be seen."""

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image, ImageSequence

import sharnir as sh
from sharnir.viewer.motion import motion_of_mode, scene_of_mode
from sharnir.viewer.picture.files import frame_times
from sharnir.viewer.picture.look import Drawing

SMALL = {"size": (96, 64), "show": ["bodies"], "stamp": False}


@pytest.fixture(scope="module")
def run() -> sh.Result:
    return sh.simulate(sh.samples.pendulum(), 1.0, q0=[1.0], output=0.01)


def frames(path) -> tuple[list[np.ndarray], float]:
    """Of a gif: pictures, and seconds in all."""
    out, milliseconds = [], 0
    with Image.open(path) as image:
        for frame in ImageSequence.Iterator(image):
            out.append(np.asarray(frame.convert("RGB")).astype(int))
            milliseconds += frame.info["duration"]
    return out, milliseconds / 1000


@pytest.mark.parametrize(("fps", "speed", "count"), [(12.0, 1.0, 13), (10.0, 0.5, 21), (7.0, 2.0, 4)])
def test_a_gif_plays_in_real_time(run, tmp_path, fps, speed, count):
    run.video(tmp_path / "a.gif", fps, speed, **SMALL)
    seen, seconds = frames(tmp_path / "a.gif")
    assert len(seen) == count == len(frame_times(run, fps, speed))
    assert abs(seconds - count / fps) < 0.011
    still = np.all([np.abs(x - seen[0]).max(axis=2) == 0 for x in seen], axis=0)
    assert 0.3 < still.mean() < 0.98  # the background does not flicker, the pendulum moves


def test_an_mp4_has_its_frames_and_duration(run, tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    run.video(tmp_path / "a.mp4", fps=25.0, speed=0.5, **SMALL)
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "a.mp4"))
    assert count == 51 and abs(seconds - 51 / 25) < 0.05
    film = imageio_ffmpeg.read_frames(str(tmp_path / "a.mp4"))
    assert next(film)["size"] == (96, 64)
    first = np.frombuffer(next(film), dtype=np.uint8).reshape(64, 96, 3).astype(int)
    film.close()
    run.snapshot(tmp_path / "first.png", 0.0, **SMALL)
    assert np.abs(first - np.asarray(Image.open(tmp_path / "first.png"))).mean() < 4


@pytest.mark.parametrize("name", ["a.gif", "a.mp4"])
def test_an_interrupted_video_leaves_what_was_there(run, tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_text("before", encoding="utf-8")
    drawn, image = [], Drawing.image

    def interrupted(self, k=0, corner=""):
        drawn.append(k)
        if len(drawn) > 8:
            raise KeyboardInterrupt
        return image(self, k, corner)

    monkeypatch.setattr(Drawing, "image", interrupted)
    with pytest.raises(KeyboardInterrupt, match=rf"interrupted at frame \d+ of 31: .*{name} was not written"):
        run.video(path, **SMALL)
    assert path.read_text(encoding="utf-8") == "before" and list(tmp_path.iterdir()) == [path]


def test_what_ffmpeg_says_is_passed_on(run, tmp_path, monkeypatch):
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\necho 'Unknown encoder' >&2\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(sh.StateError, match="could not write the video: Unknown encoder"):
        run.video(tmp_path / "a.mp4", **SMALL)
    assert list(tmp_path.iterdir()) == [program]


def test_without_ffmpeg_the_error_says_how_to_get_it(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(sh.StateError, match=r'pip install "sharnir\[video\]".* a .gif needs neither'):
        run.video(tmp_path / "a.mp4", **SMALL)
    assert not list(tmp_path.iterdir())


MISTAKES = {
    "suffix": ({"path": "a.avi"}, r"unknown suffix '.avi'; end the name with .mp4 or .gif"),
    "odd": ({"path": "a.mp4", "size": (97, 64)}, "even number of pixels"),
    "fps": ({"path": "a.gif", "fps": 60.0}, "a .gif has 1 to 50 frames"),
    "speed": ({"speed": 0.0}, "speed: expected a positive number"),
    "too slow": ({"speed": 1e-6}, "more than 100000: take fewer a second"),
    "folder": ({"path": "nowhere/a.gif"}, "there is no folder"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_video_that_cannot_be_is_refused_before_it_is_drawn(run, tmp_path, monkeypatch, what):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Drawing, "image", lambda *_: pytest.fail("drawn"))
    arguments, message = MISTAKES[what]
    with pytest.raises(sh.StateError, match=message):
        run.video(**{"path": "a.gif", **arguments})
    assert not list(tmp_path.iterdir())


# --- modes --------------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def modes():
    """Of a tree and of a mechanism with loops, both hanging at rest."""
    found = []
    for m in (sh.samples.double_pendulum(), sh.samples.n_four_bar(2)):
        found.append(sh.linearize(m, sh.equilibrium(m, m.random_q(1), stable=True).q).modes[0])
    return found


def test_a_mode_moves_by_a_tenth_of_the_mechanism_and_comes_back(modes):
    for mode in modes:
        t, q = motion_of_mode(mode, frames=24)
        assert len(t) == len(q) == 24 and t[0] == 0.0 and np.ptp(np.diff(t)) < 1e-12
        scene = scene_of_mode(mode, frames=24)
        vertices = [(p.carrier, p.geometry.vertices @ p.at[:3, :3].T + p.at[:3, 3]) for p in scene.parts if p.layer == "bodies"]
        rest_R, rest_x = mode.dynamics.poses(mode.q, mode.t)
        moved = 0.0
        for body, points in vertices:
            now = scene.position[:, body, None] + np.einsum("tij,pj->tpi", scene.rotation[:, body], points)
            moved = max(moved, np.linalg.norm(now - (rest_x[body] + points @ rest_R[body].T), axis=2).max())
            assert (now > scene.low - 1e-6).all() and (now < scene.high + 1e-6).all()
        assert 0.07 * scene.size < moved < 0.13 * scene.size
        model = mode.dynamics.model
        if model.constraints:
            assert max(np.abs(model.assemble(x)[0] - x).max() for x in q) < 1e-8


def test_a_mode_is_a_video_of_one_period(modes, tmp_path):
    modes[0].video(tmp_path / "mode.gif", fps=10.0, period=1.5, size=(96, 64), show=["bodies"])
    seen, seconds = frames(tmp_path / "mode.gif")
    assert 12 <= len(seen) <= 15 and abs(seconds - 1.5) < 0.011  # equal frames are one that lasts longer
    with pytest.raises(sh.StateError, match="periods: expected how often"):
        modes[0].video(tmp_path / "mode.gif", periods=0)


def test_import_of_sharnir_imports_neither_pillow_nor_the_raster():
    code = "import sys, sharnir; sharnir.Model; sys.exit(any(x in sys.modules for x in ('PIL', 'sharnir.viewer')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
