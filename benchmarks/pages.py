"""Pages of motions: how large they are, and how smoothly they play in a Chromium without a graphics processor."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import sharnir as sh

from .fuzz.seed_files import of_tests
from .report import Measure

LINKS, FRAMES, SECONDS = 1_000, 30.0, 5.0
"""Of a chain; frames a second of page time that it must reach; how long they are counted."""
LARGEST = 3.0
"""MB of a page without meshes."""


def subjects(quick: bool) -> Iterator[tuple[str, sh.Result]]:
    yield "four-bar", sh.simulate(sh.samples.four_bar(), 5.0, output=0.01)
    if not quick:
        yield "Stewart platform", sh.simulate(sh.samples.stewart(), 0.5, output=0.01)
    yield f"chain of {LINKS}", sh.simulate(sh.samples.chain(LINKS), 3.0, output=1 / 30)


def measure(quick: bool) -> Iterator[Measure | str]:
    from playwright.sync_api import sync_playwright

    browser = of_tests("browser")
    if (chromium := browser.find_chromium()) is None:
        yield f"no Chromium here, so that no frames are counted; to have one: {browser.INSTALL}"
    with tempfile.TemporaryDirectory() as folder:
        for name, r in subjects(quick):
            page = r.animate(Path(folder) / "page.html")
            yield Measure("pages", name, "size", page.stat().st_size / 1e6, " MB", LARGEST, at_most=True)
            if chromium is not None:
                with sync_playwright() as playwright:
                    running = playwright.chromium.launch(executable_path=chromium, args=list(browser.OPTIONS))
                    shown = frames(browser.Visit(running, (1280, 800), False, False, {}), page)
                    yield Measure("pages", name, "frames a second", shown, "/s", FRAMES)
                    running.close()


def frames(visit: Any, path: Path) -> float:
    """Drawn in a second while it plays, after the page has found out how much the machine can do."""
    page = visit.page
    page.goto(path.as_uri())
    page.wait_for_timeout(4000)
    begin, drawn = perf_counter(), page.evaluate("sharnir.frames_drawn")
    page.wait_for_timeout(1000 * SECONDS)
    return float((page.evaluate("sharnir.frames_drawn") - drawn) / (perf_counter() - begin))
