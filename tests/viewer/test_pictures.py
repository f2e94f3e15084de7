"""Pictures: every pixel shows what the mechanics puts there."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import sharnir as sh
from sharnir.viewer import solids
from sharnir.viewer.build import scene_of
from sharnir.viewer.motion import at_times
from sharnir.viewer.outline import Carriers
from sharnir.viewer.picture.kernels.scan import scan
from sharnir.viewer.picture.renderer import Renderer
from sharnir.viewer.picture.themes import linear, theme_of
from sharnir.viewer.scene import GROUND, Anchor, Camera, Geometry, Line, Part, Scene, Span, box_corners, camera_for

RED, GREEN, BLUE = (0.9, 0.1, 0.1, 1.0), (0.1, 0.8, 0.1, 1.0), (0.1, 0.2, 0.9, 1.0)
FRONT = Camera(np.array([0.0, -10.0, 0.0]), np.zeros(3), np.array([0.0, 0.0, 1.0]))


def still(*parts: Part, spans=(), lines=(), low=(-1.0, -1.0, -1.0), high=(1.0, 1.0, 1.0)) -> Scene:
    """A scene of one body at the origin, at one time."""
    up = np.array([0.0, 0.0, 1.0])
    pose = np.eye(3)[None, None], np.zeros((1, 1, 3))
    model = sh.Model("still")
    model.add_body("body")
    box = np.array(low), np.array(high)
    return Scene("still", np.zeros(1), *pose, Carriers(model), parts, spans, lines, up, 2.0, *box, box_corners(*box))


def ball(colour, place, radius=0.2, carrier=0) -> Part:
    at = np.diag([radius, radius, radius, 1.0])
    at[:3, 3] = place
    return Part("body ball", "bodies", solids.sphere(), colour, carrier, at)


def picture(scene, camera, size, transparent=False):
    return Renderer(scene, camera, size, theme_of("light"), transparent=transparent).frame()


def sheet(colour, y, size=1.0) -> Part:
    """A square across the line of sight of FRONT."""
    at = np.eye(4)
    at[:3, :3] = size * np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    at[1, 3] = y
    return Part("body sheet", "bodies", solids.square(), colour, 0, at)


def samples_of(corners, width=40, height=30):
    """{(column, row): third number} of every sample that a triangle touches, how often."""
    found: dict[tuple[int, int], list[float]] = {}
    scan(lambda c, f, place, x, y, w: found.setdefault((int(x), int(y)), []).append(w), None, 0, corners, width, 0, height)
    return found


def hue(pixel) -> int:
    return int(np.argmax(np.asarray(pixel)[:3]))


# --- triangles ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(6))
def test_a_triangle_has_the_samples_inside_it_and_is_flat(seed):
    rng = np.random.default_rng(seed)
    p = rng.uniform((-5.0, -5.0), (45.0, 35.0), (3, 2))
    w = rng.uniform(0.1, 1.0, 3)
    found = samples_of(tuple(np.column_stack([p, w]).ravel().tolist()))
    for row in range(30):
        for column in range(40):
            share = np.linalg.solve(np.vstack([p.T, np.ones(3)]), [column + 0.5, row + 0.5, 1.0])
            if abs(share.min()) < 1e-9:
                continue
            assert ((column, row) in found) == (share.min() > 0.0)
            if share.min() > 0.0:
                np.testing.assert_allclose(found[column, row], [share @ w], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_triangles_that_share_edges_share_no_sample_and_leave_none_out(seed):
    """A fan around a point in the middle; corners at half pixels, so that samples are on edges."""
    rng = np.random.default_rng(seed)
    rim = [(0.5, 0.5), (20.5, -3.0), (39.5, 0.5), (43.0, 15.5), (39.5, 29.5), (20.5, 34.0), (0.5, 29.5), (-2.0, 10.5)]
    middle = (*(np.round(rng.uniform(5, 25, 2)) + 0.5), 1.0)
    count = np.zeros((30, 40), dtype=int)
    for a, b in zip(rim, rim[1:] + rim[:1], strict=True):
        for (column, row), found in samples_of((*a, 1.0, *b, 1.0, *middle)).items():
            count[row, column] += len(found)
    assert (count[1:-1, 1:-1] == 1).all()


# --- pictures of scenes -------------------------------------------------------------------------------------------------------
def test_the_nearest_is_seen_whatever_the_order():
    near, far = sheet(RED, -1.0), sheet(BLUE, 1.0, 2.0)
    pictures = [picture(still(*parts), FRONT, size=(64, 48)) for parts in ((near, far), (far, near))]
    np.testing.assert_array_equal(*pictures)
    assert hue(pictures[0][24, 32]) == 0 and hue(pictures[0][24, 42]) == 2


def test_of_surfaces_in_one_plane_the_smaller_is_seen_whole():
    small, large = sheet(RED, 0.0), sheet(BLUE, 0.0, 2.0)
    tilted = Camera(np.array([3.0, -10.0, 2.0]), np.zeros(3), np.array([0.0, 0.0, 1.0]))
    inner = np.stack(np.meshgrid(np.linspace(-0.35, 0.35, 9), [0.0], np.linspace(-0.35, 0.35, 9)), axis=-1).reshape(-1, 3)
    x, y, _ = tilted.project(inner, 96, 64).astype(int).T
    for parts in ((small, large), (large, small)):
        seen = picture(still(*parts), tilted, size=(96, 64))
        assert (np.argmax(seen[y, x, :3], axis=1) == 0).all()


def test_interpreted_text_and_machine_code_give_the_same_picture():
    coil = Span("spring", "springs", solids.rod(5), GREEN, 0.1, Anchor(0, np.array([0.3, 0.0, 0.2])), Anchor(GROUND, np.ones(3)))
    lines = [Line("path", "traces", np.array([[-1.0, 0.0, 0.0], [1.0, 0.5, 0.5]]), BLUE)]
    lines += [Line("grid", "ground", np.array([[-2.0, y, -1.0], [2.0, y, -1.0]]), (0.5, 0.5, 0.5, 1.0)) for y in (-1.0, 0.0, 1.0)]
    block = replace(ball(RED, (0.0, 0.0, 0.0)), geometry=solids.box(), at=np.diag([1.0, 0.7, 0.5, 1.0]))
    scene = still(block, replace(sheet((*BLUE[:3], 0.4), -0.8), name="pane"), spans=[coil], lines=lines)
    options = {"size": (24, 16), "theme": theme_of("light"), "samples": 2, "texels": 32}
    camera = camera_for(scene, 1.5)
    compiled, interpreted = (Renderer(scene, camera, **options, interpreted=x).frame() for x in (False, True))
    np.testing.assert_array_equal(compiled, interpreted)
    assert len(np.unique(compiled.reshape(-1, 4), axis=0)) > 50


@pytest.mark.parametrize("view", [None, (0.0, 0.0, 1.0), (1.0, 2.0, -0.5)])
def test_a_point_is_where_the_camera_projects_it(view):
    rng = np.random.default_rng(3)
    places, colours = rng.uniform(-1.0, 1.0, (12, 3)), [RED, GREEN, BLUE] * 4
    scene = still(*(ball(colour, x, 0.08) for colour, x in zip(colours, places, strict=True)))
    size = 320, 200
    camera = camera_for(scene, 1.6, view)
    seen = picture(scene, camera, size=size)
    x, y, depth = camera.project(places, *size).T
    free = [
        k for k in range(12) if all(np.hypot(x[j] - x[k], y[j] - y[k]) > 12 or depth[j] > depth[k] for j in range(12) if j != k)
    ]
    assert len(free) >= 6
    for k in free:
        assert hue(seen[int(y[k]), int(x[k])]) == hue(colours[k])


def test_opacity_mixes_light_with_what_is_behind():
    empty, solid, half = (
        linear(picture(still(*parts), FRONT, size=(32, 32))[16, 16, :3] / 255)
        for parts in ((), (sheet(RED, 0.0),), (sheet((*RED[:3], 0.5), 0.0),))
    )
    np.testing.assert_allclose(half, 0.5 * (empty + solid), atol=0.01)


def test_a_transparent_background_has_no_opacity():
    seen = picture(still(sheet(RED, 0.0)), FRONT, size=(64, 48), transparent=True)
    assert seen[0, 0, 3] == 0 and seen[24, 32, 3] == 255
    edge = seen[:, :, 3][(seen[:, :, 3] > 0) & (seen[:, :, 3] < 255)]
    opaque = picture(still(sheet(RED, 0.0)), FRONT, size=(64, 48))
    assert len(edge) and (opaque[:, :, 3] == 255).all()
    np.testing.assert_allclose(opaque[24, 32], seen[24, 32], atol=1)


def test_what_reaches_behind_the_camera_is_cut_there():
    """A floor that begins behind the camera covers what is below the horizon, and the light on it is that of a floor ahead."""
    corners = np.array([[-500.0, -500.0, -1.0], [500.0, -500.0, -1.0], [500.0, 500.0, -1.0], [-500.0, 500.0, -1.0]])
    faces, normals = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32), np.tile([0.0, 0.0, 1.0], (4, 1))
    floors = []
    for start in (-500.0, -9.0):
        vertices = corners.copy()
        vertices[:2, 1] = start
        geometry = Geometry(vertices.astype(np.float32), faces, normals.astype(np.float32))
        floors.append(picture(still(Part("body floor", "bodies", geometry, GREEN, 0, np.eye(4))), FRONT, size=(64, 48)))
    whole, ahead = floors
    assert all(hue(pixel) == 1 for pixel in whole[26:].reshape(-1, 4)) and all(
        hue(pixel) != 1 for pixel in whole[:22].reshape(-1, 4)
    )
    np.testing.assert_allclose(whole[26:34].astype(int), ahead[26:34].astype(int), atol=2)


def test_a_body_over_the_ground_throws_its_shadow_away_from_the_lamp():
    grid = [Line("grid", "ground", np.array([[-3.0, y, -1.0], [3.0, y, -1.0]]), (0.5, 0.5, 0.5, 0.0)) for y in (-3.0, 3.0)]
    scene = still(ball(RED, (0.0, 0.0, -0.7), 0.25), lines=grid)
    camera = camera_for(scene, 1.0, (0.0, -1.0, 0.6))
    dark, bare = (picture(x, camera, size=(200, 200)).astype(int)[:, :, 1] for x in (scene, replace(scene, lines=[])))
    rows, columns = np.nonzero(bare - dark > 20)
    foot = camera.project(np.array([0.0, 0.0, -1.0]), 200, 200)
    assert len(rows) > 100 and columns.mean() > foot[0] and rows.mean() < foot[1]


def test_a_surface_in_the_shadow_of_another_is_darker():
    floor = Part("body floor", "bodies", solids.box(), (0.8, 0.8, 0.8, 1.0), 0, np.diag([2.0, 2.0, 0.1, 1.0]))
    camera = camera_for(still(floor), 1.0, (0.0, -1.0, 1.0))
    alone, under = (
        picture(still(floor, *more), camera, size=(120, 120)).astype(int) for more in ((), (ball(RED, (0, 0, 0.5), 0.3),))
    )
    grey = np.ptp(under[:, :, :3], axis=2) < 30
    assert ((alone - under)[:, :, 1][grey] > 25).sum() > 50


# --- models and motions -------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def swinging() -> sh.Result:
    m = sh.Model("swing")
    m.add_body("arm", shape=sh.Rod((0, 0, 0), (0, 0, -1), radius=0.05), mass=1.0)
    m.add_joint("pin", sh.Revolute("y"), "ground", "arm")
    return sh.simulate(m, 2.0, q0=[1.2], output=0.25)


@pytest.mark.parametrize("t", [0.0, 0.61, 2.0])
def test_a_snapshot_shows_the_pose_of_its_time(swinging, tmp_path, t):
    """The arm's end has the arm's colour where the angle of t puts it, and nowhere in its mirror image."""
    r, size = swinging, (320, 200)
    r.snapshot(tmp_path / "a.png", t, show=["bodies"], size=size, view="front", stamp=False)
    seen = np.asarray(Image.open(tmp_path / "a.png").convert("RGB")).astype(int)
    scene = scene_of(r, ["bodies"])
    camera = camera_for(scene, 1.6, (0.0, -1.0, 0.0))
    angle = float(np.interp(t, r.t, r.q[:, 0]))
    for sign, there in ((1.0, True), (-1.0, False)):
        end = np.array([-np.sin(sign * angle), 0.0, -np.cos(angle)]) * 0.9
        x, y, _ = camera.project(end, *size)
        assert bool(np.ptp(seen[int(y), int(x)]) > 60) is there


def test_between_rows_coordinates_move_evenly_and_joints_hold(swinging):
    scene = scene_of(swinging, ["bodies"])
    rows = at_times(scene, swinging, swinging.t)
    np.testing.assert_array_equal(rows.rotation, swinging.poses[0])
    between = at_times(scene, swinging, [0.1, 0.3])
    angle = np.interp([0.1, 0.3], swinging.t, swinging.q[:, 0])
    np.testing.assert_allclose(np.arctan2(between.rotation[:, 0, 0, 2], between.rotation[:, 0, 0, 0]), angle, atol=1e-12)
    np.testing.assert_allclose(between.position, 0.0, atol=1e-15)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_model_is_drawn_into_a_file(tmp_path, theme):
    m = sh.samples.slider_crank()
    m.draw(tmp_path / "m.png", theme=theme, labels=True, title="Slider-crank", size=(320, 180))
    image = Image.open(tmp_path / "m.png")
    assert image.size == (320, 180) and image.mode == "RGB"
    corner = np.asarray(image)[2, 2]
    assert corner.mean() > 200 if theme == "light" else corner.mean() < 60
    plain = tmp_path / "plain.png"
    m.draw(plain, theme=theme, size=(320, 180))
    assert (np.asarray(Image.open(plain)) != np.asarray(image)).any(axis=2).sum() > 200  # letters
    assert sorted(x.name for x in tmp_path.iterdir()) == ["m.png", "plain.png"]


MISTAKES = {
    "suffix": ({"path": "a.bmp"}, r"unknown suffix '.bmp'; end the name with .png, .jpg or .webp"),
    "opacity": ({"path": "a.jpg", "transparent": True}, r"end the name with .png or .webp"),
    "folder": ({"path": "nowhere/a.png"}, "there is no folder"),
    "size": ({"size": (0, 100)}, "16 to 8192 pixels"),
    "no size": ({"size": 7}, "expected width and height in pixels"),
    "theme": ({"theme": "drak"}, "did you mean 'dark'"),
    "view": ({"view": "fornt"}, "did you mean 'front'"),
    "no direction": ({"view": (0, 0, 0)}, "three numbers, from the mechanism to the camera"),
    "layer": ({"show": ["bodys"]}, "did you mean 'bodies'"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_picture_that_cannot_be_is_refused_and_leaves_nothing(tmp_path, monkeypatch, what):
    monkeypatch.chdir(tmp_path)
    arguments, message = MISTAKES[what]
    with pytest.raises(sh.StateError, match=message):
        sh.samples.pendulum().draw(**{"path": "a.png", **arguments})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("t", [-0.1, 2.1, np.nan, "soon"])
def test_a_time_outside_the_run_is_refused(swinging, tmp_path, t):
    with pytest.raises(sh.StateError, match=r"outside the run, which has 0 … 2 s|expected a time"):
        swinging.snapshot(tmp_path / "a.png", t)
    assert not list(tmp_path.iterdir())
