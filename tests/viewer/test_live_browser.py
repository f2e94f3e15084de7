"""The live view in Chromium: nothing on the console; sliders, playing, scrubbing and dragging move what they should."""

from __future__ import annotations

import time

import numpy as np
import pytest

import sharnir as sh
from browser import VISER, changed_pixels, picture, wait_for
from sharnir.viewer.live.nodes import label_places
from sharnir.viewer.scene import Camera

pytestmark = pytest.mark.browser
SIZE = (760, 420)
NOTICE = "[class*=Notification]"


@pytest.fixture
def shown(open_page):
    """`shown(subject, …)`: the view, and the page once it is connected and drawn."""
    views = []

    def show(*what, **options):
        view = sh.view(*what, open_browser=False, block=False, port=0, **options)
        views.append(view)
        page = open_page(f"{view.url}?fixedDpr=1", size=SIZE, allow=VISER)
        wait_for(lambda: view.stage.viser.get_clients())
        settled(page)
        return view, page

    yield show
    for view in views:
        view.stop()


def scene(page) -> np.ndarray:
    """Pixels of the 3D scene, without notices that lie over it."""
    return picture(page, "canvas", style=f"{NOTICE} {{ visibility: hidden !important; }}")


def settled(page, seconds: float = 30.0) -> np.ndarray:
    """The scene once it no longer changes: a page that was opened fades in."""
    before, end = scene(page), time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.3)
        after = scene(page)
        if changed_pixels(before, after, 2) == 0 and after.std() > 1.0:
            return after
        before = after
    raise AssertionError("the scene never stands still")


def seen_by(view, page) -> tuple[Camera, float, float]:
    """The camera of the page, and the size of its picture."""
    (client,) = view.stage.viser.get_clients().values()
    c, box = client.camera, page.locator("canvas").first.bounding_box()
    return Camera(c.position, c.look_at, c.up_direction, float(np.degrees(c.fov))), box["width"], box["height"]


def where(view, page, body: int) -> np.ndarray:
    """The pixel of the middle of a body."""
    nodes = view.stage.scenes[0]
    _, i, point = label_places(nodes.scene, "bodies")[body]
    camera, width, height = seen_by(view, page)
    return camera.project(nodes.position[i] + nodes.rotation[i] @ point, width, height)[:2]


def colour_at(image: np.ndarray, at: np.ndarray) -> np.ndarray:
    x, y = np.round(at).astype(int)
    return np.median(image[y - 1 : y + 2, x - 1 : x + 2].reshape(-1, 3), axis=0)


def test_a_slider_moves_the_linkage_and_the_loop_follows(shown):
    view, page = shown(sh.samples.four_bar(0.5, 1.0, 1.0, 1.2), q={"A": 0.8}, show=["bodies", "joints"])
    before, posing = scene(page), view.sliders.posing
    field = page.get_by_role("textbox").nth(1)  # of joint A; the first is that of the pull
    field.fill("1.6")
    field.press("Enter")
    wait_for(lambda: abs(posing.q[0] - 1.6) < 1e-9)
    assert posing.sliders[0].name == "A" and not posing.message
    after = settled(page)
    assert changed_pixels(before, after) > 200
    background = colour_at(after, np.array([8.0, 8.0]))
    for body in range(3):
        there = where(view, page, body)
        assert np.abs(colour_at(after, there) - background).max() > 12, "the body is drawn where its pose projects to"
    page.get_by_role("button", name="reset").click()
    wait_for(lambda: abs(posing.q[0] - 0.8) < 1e-6)
    assert changed_pixels(before, settled(page)) < 100


def scrubbed(page, view, t: float) -> bool:
    """Whether the motion is at a time after it was typed; news from the server may overwrite what is typed: then once more."""
    field = page.get_by_role("textbox").first
    field.fill(str(t))
    field.press("Enter")
    page.wait_for_timeout(200)
    return abs(view.playback.clock.t - t) < 3e-3


def test_a_result_plays_and_a_scrub_shows_the_pose_of_its_time(shown):
    r = sh.simulate(sh.samples.double_pendulum(), 4.0)
    view, page = shown(r, show=["bodies"], plots=[r.model.joints[0].name])
    first = scene(page)
    page.get_by_role("button", name="play").click()
    wait_for(lambda: view.playback.clock.t > 0.5)
    assert changed_pixels(first, scene(page)) > 100
    page.get_by_role("button", name="pause").click()
    wait_for(lambda: not view.playback.clock.playing)
    pictures = []
    for t in (0.4, 1.3):
        wait_for(lambda t=t: scrubbed(page, view, t))
        image = settled(page)
        k = int(np.argmin(np.abs(r.t - view.playback.clock.t)))
        np.testing.assert_allclose(view.stage.scenes[0].position, r.poses[1][k], atol=0.05)
        for body in range(2):
            there = where(view, page, body)
            assert np.abs(colour_at(image, there) - colour_at(first, np.array([8.0, 8.0]))).max() > 12
        pictures.append(image)
    assert changed_pixels(*pictures) > 200


def test_a_body_that_is_dragged_while_it_runs_is_pulled(shown):
    m = sh.Model("mass on a spring", gravity=(0, 0, 0))
    m.add_body("block", mass=1.0, shape=sh.Box((0.4, 0.4, 0.4)))
    m.add_joint("slide", sh.Translation(), "ground", "block")
    m.add_force(sh.Bushing("ground", "block", stiffness=20.0, damping=4.0), "rest")
    view, page = shown(m, show=["bodies"])
    page.get_by_role("button", name="simulate").click()
    session = wait_for(lambda: view.simulation.running and view.simulation.session)
    box = page.locator("canvas").first.bounding_box()
    x, y = where(view, page, 0) + np.array([box["x"], box["y"]])
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y, steps=4)
    page.mouse.move(x + 90, y, steps=4)
    hand = wait_for(lambda: session.hand)
    assert hand.body == "block"
    camera, *_ = seen_by(view, page)
    wait_for(lambda: session.q @ camera.axes()[0] > 0.05)
    page.mouse.up()
    wait_for(lambda: session.hand is None)
    assert session.account.hand > 0.0
    page.get_by_role("button", name="stop").click()
    wait_for(lambda: not view.simulation.running)
