"""Pages of motions in a real browser: they open, say nothing on the console, move, and show the pose of a time."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from browser import changed_pixels, picture
from sharnir.viewer.scene import Camera

pytestmark = pytest.mark.browser

DESK, PHONE = (1280, 800), (390, 844)
RED = np.array([255, 0, 0])


@pytest.fixture(scope="module")
def swing() -> sh.Result:
    """A pendulum with a red ball at its end, and rows between its key frames."""
    m = sh.Model("pendulum")
    m.add_body("rod", mass=1.0, com=(0.0, 0.0, -1.0), inertia=(0.1, 0.1, 0.1))
    m.add_visual("rod", sh.Sphere(0.06, at=sh.Pose((0.0, 0.0, -1.0))), colour=(1.0, 0.0, 0.0, 1.0))
    m.add_joint("hinge", sh.Revolute("y"), "ground", "rod", at=sh.Pose((0.0, 0.0, 1.5)))
    return sh.simulate(m, 2.0, output=0.01, q0=[1.2])


@pytest.fixture(scope="module")
def run(swing, tmp_path_factory):
    return swing.animate(tmp_path_factory.mktemp("page") / "run.html", show=["bodies", "ground"], traces=[("rod", (0, 0, -1))])


def opened(page):
    """The page, when it has drawn its first frames."""
    for _ in range(300):
        if page.evaluate("() => window.sharnir ? sharnir.frames_drawn : 0") > 1:
            return page
        page.wait_for_timeout(50)
    raise AssertionError("the page draws nothing")


def at(page, t: float):
    """The page at a time, drawn."""
    page.evaluate("(t) => new Promise((r) => { sharnir.seek(t); requestAnimationFrame(() => requestAnimationFrame(r)); })", t)
    return page


@pytest.mark.parametrize(("size", "dark"), [(DESK, False), (PHONE, True)], ids=["desk", "phone, dark"])
def test_it_opens_and_moves(run, open_page, size, dark):
    page = opened(open_page(run, size=size, dark=dark, touch=size == PHONE))
    assert page.evaluate("sharnir.playing")  # it plays by itself
    before = picture(at(page, 0.0), "#view")
    page.evaluate("sharnir.play()")
    page.wait_for_timeout(400)
    page.evaluate("sharnir.pause()")
    assert page.evaluate("sharnir.time") > 0.05
    after = picture(at(page, 0.6), "#view")
    assert changed_pixels(before, after) > 200
    paper = picture(page)[2, 2].astype(int)
    assert (paper < 60).all() if dark else (paper > 240).all()
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= size[0]  # nothing to scroll sideways
    page.click("#theme")
    assert (picture(page)[2, 2] > 240).all() if dark else (picture(page)[2, 2] < 60).all()


def test_set_to_a_time_it_shows_the_pose_of_that_time(swing, run, open_page):
    page = opened(open_page(run))
    for t in (0.0, 0.51, 1.0, 1.72, 2.0):
        compare_pose(at(page, t), swing, t)


def compare_pose(page, swing: sh.Result, t: float) -> None:
    c = page.evaluate("sharnir.camera")
    camera = Camera(*(np.array(c[key]) for key in ("position", "target", "up")), c["field"])
    ball = swing.point("rod", (0.0, 0.0, -1.0))[round(t / 0.01)]
    there = camera.project(ball, c["width"], c["height"])[:2]
    np.testing.assert_allclose(page.evaluate("sharnir.project('rod', [0, 0, -1])"), there, atol=0.5)
    shown = picture(page, "#view").astype(float)
    red = (shown[..., 0] > 90) & (shown[..., 0] > 2.5 * shown[..., 1]) & (shown[..., 0] > 2.5 * shown[..., 2])
    y, x = np.nonzero(red)
    assert len(x) > 100
    np.testing.assert_allclose([(x.min() + x.max() + 1) / 2, (y.min() + y.max() + 1) / 2], there, atol=1.5)


def test_the_first_view_is_that_of_pictures(swing, run, open_page):
    from sharnir.viewer.build import scene_of
    from sharnir.viewer.scene import camera_for

    page = opened(open_page(run))
    c = page.evaluate("sharnir.camera")
    expected = camera_for(scene_of(swing, ["bodies"]), c["width"] / c["height"])
    np.testing.assert_allclose(c["position"], expected.position, rtol=0.02, atol=0.02)
    page.mouse.move(400, 400)
    page.mouse.down()
    page.mouse.move(500, 430)
    page.mouse.up()
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(100)
    moved = page.evaluate("sharnir.camera")
    assert np.linalg.norm(np.subtract(moved["position"], c["position"])) > 0.3
    page.click("#reset")
    np.testing.assert_allclose(page.evaluate("sharnir.camera")["position"], c["position"], atol=1e-9)


def test_everything_can_be_switched_and_read(run, open_page):
    page = at(opened(open_page(run)), 0.5)
    page.click("summary")
    before = picture(page, "#view")
    page.uncheck("[data-layer=bodies]")
    page.wait_for_timeout(100)
    assert changed_pixels(before, picture(page, "#view")) > 100
    assert page.evaluate("[...document.querySelectorAll('.legend output')].filter((x) => x.textContent).length") >= 4
    box = page.locator(".plot").first.bounding_box()
    page.mouse.click(box["x"] + 0.75 * box["width"], box["y"] + 40)
    assert page.evaluate("sharnir.time") == pytest.approx(1.5, abs=0.15)
    page.keyboard.press("Home")
    assert page.evaluate("sharnir.time") == 0.0
    page.keyboard.press(" ")
    assert page.evaluate("sharnir.playing")
    page.keyboard.press(" ")
    for tab, words in (("#tab-model", "revolute y"), ("#tab-run", "left unexplained")):
        page.click(tab)
        assert words in page.locator("[role=tabpanel]:visible").inner_text()
    page.select_option("#follow", "0")
    was = np.array(page.evaluate("sharnir.camera")["target"])
    at(page, 1.0)
    assert np.linalg.norm(was - page.evaluate("sharnir.camera")["target"]) == 0.0  # the rod turns about its origin
    named = "(x) => x.ariaLabel || x.labels?.length || x.innerText"
    assert page.evaluate(f"[...document.querySelectorAll('button, input, select')].every({named})")


def test_on_a_phone_nothing_lies_over_the_motion_and_wide_tables_scroll_by_themselves(open_page, tmp_path):
    m = sh.samples.double_pendulum()
    name, inertia = "a body whose name is so long that no column is wide enough for it", (1e6, 1e6, 1e6)
    m.add_body(name, mass=123456.789, com=(0.123456, 1.234567, -9.876543), inertia=inertia)
    m.add_joint("j", sh.Revolute("y"), "ground", name, at=sh.Pose((0.0, 0.0, 2.0)))
    r = sh.simulate(m, 0.5, output=0.01)
    page = opened(open_page(r.animate(tmp_path / "wide.html"), size=PHONE, touch=True))
    tools, view = (page.locator(where).bounding_box() for where in (".tools", "#view"))
    assert tools["y"] + page.locator("#reset").bounding_box()["height"] <= view["y"] + 1.0
    for k, t in ((1, 0.0), (1, 0.5), (0, 0.25)):
        x, y = at(page, t).evaluate(f"sharnir.project('{r.model.bodies[k].name}', [0, 0, 0])")
        assert 0.0 < x < view["width"] and 0.0 < y < view["height"]
    for tab in ("#tab-model", "#tab-run", "#tab-plots"):
        page.click(tab)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0], tab


def test_several_runs_and_a_model_that_stands_still(swing, open_page, tmp_path):
    other = sh.simulate(swing.model, 2.0, output=0.01, q0=[-1.2])
    page = at(opened(open_page(sh.animate({"left": swing, "right": other}, tmp_path / "two.html"))), 0.0)
    places = [page.evaluate(f"sharnir.project('rod', [0, 0, -1], {k})")[0] for k in (0, 1)]
    assert abs(places[0] - places[1]) > 100
    both = picture(page, "#view")
    page.uncheck("[data-run='1']")
    page.wait_for_timeout(100)
    assert changed_pixels(both, picture(page, "#view")) > 100
    still = opened(open_page(sh.samples.four_bar().animate(tmp_path / "model.html")))
    assert still.locator("#play").count() == 0 and "crank" in still.locator(".tree").inner_text()


def test_a_thousand_links_take_few_calls_of_the_renderer(open_page, tmp_path):
    from sharnir.reporting.pages import write_page
    from sharnir.viewer.build import scene_of
    from sharnir.viewer.page.animate import page as page_of
    from sharnir.viewer.page.contents import Take

    scene = scene_of(sh.samples.chain(1000))
    t = np.linspace(0.0, 1.0, 11)
    waves = scene.position + np.stack([0 * t, 5 * np.sin(6 * t), 0 * t], axis=1)[:, None]
    moving = scene.at_poses(t, np.repeat(scene.rotation, 11, axis=0), waves)
    page = opened(open_page(write_page(page_of([Take("chain", moving)]), tmp_path / "chain.html")))
    assert page.evaluate("sharnir.draw_calls") <= 12
    before = page.evaluate("sharnir.frames_drawn")
    page.wait_for_timeout(500)
    assert page.evaluate("sharnir.frames_drawn") > before + 1
