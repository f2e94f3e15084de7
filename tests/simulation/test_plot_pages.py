"""Pages with plots in a real browser: every curve has its name, hovering reads the numbers, nothing is complained of."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import sharnir as sh


@pytest.fixture(scope="module")
def run() -> sh.Result:
    event = sh.Event(lambda on: on.t - 0.5, name="half <time>")
    return sh.simulate(sh.samples.double_pendulum(), 1.0, output=0.01, events=[event])


@pytest.fixture(scope="module")
def page(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("plots") / "run.html"
    run.plot(path=path)
    return path


@pytest.mark.browser
@pytest.mark.parametrize(
    ("size", "touch", "dark"), [((1280, 800), False, False), ((390, 844), True, True)], ids=["desk", "phone, dark"]
)
def test_every_curve_is_named_in_every_window(run, page, open_page, size, touch, dark):
    opened = open_page(page, size=size, touch=touch, dark=dark)
    names = opened.locator("text[class^=legend]").all_text_contents()  # plotly numbers its legends: legendtext, legend2text …
    expected = [*run.model.q_names, *(f"speed of {name}" for name in run.model.v_names), "total", "kinetic", "potential"]
    event, *headings = opened.locator(".annotation-text").all_text_contents()
    assert names == expected and event == "half <time>"
    assert headings == ["angle, rad", "angular velocity, rad/s", "energy, potential from its start, J"]
    assert opened.evaluate("document.documentElement.scrollWidth") <= size[0], "the page is wider than the window"
    legends = [opened.locator(f"g.legend{k}").bounding_box() for k in ("", 2, 3)]
    assert all(box["x"] >= 0.0 and box["x"] + box["width"] <= size[0] for box in legends)
    # no two of legends, headings and charts lie over each other, and no text is small
    texts = opened.locator(".annotation-text")
    charts = [(box["x"], box["y"], box["width"], box["height"]) for box in (
        opened.locator(".nsewdrag").nth(k).bounding_box() for k in range(3))]  # fmt: skip
    boxes = [*charts, *(tuple(box.values()) for box in [*legends, *(texts.nth(k).bounding_box() for k in range(4))])]
    for (x, y, w, h), (x1, y1, w1, h1) in itertools.combinations(boxes, 2):
        assert not (x + 1 < x1 + w1 and x1 + 1 < x + w and y + 2 < y1 + h1 and y1 + 2 < y + h)
    small = "[...document.querySelectorAll('text')].map((t) => parseFloat(getComputedStyle(t).fontSize))"
    assert min(opened.evaluate(small)) >= 11.0


@pytest.mark.browser
def test_hovering_reads_all_curves_at_one_time(run, page, open_page):
    opened = open_page(page)
    box = opened.locator(".nsewdrag").first.bounding_box()
    opened.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    opened.locator(".hoverlayer text").nth(1).wait_for()
    time, *read = opened.locator(".hoverlayer text").all_text_contents()
    said = {name: float(value.split()[0]) for name, value in (text.split(" : ") for text in read)}
    k = int(np.abs(run.t - float(time)).argmin())
    assert len(said) == 7 and abs(run.t[k] - float(time)) < 1e-9  # whatever time it is at, all curves are read there
    for name in run.model.q_names:
        assert abs(said[name] - run.coordinate(name)[k]) < 1e-4 and abs(said[f"speed of {name}"] - run.speed(name)[k]) < 1e-3
