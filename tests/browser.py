"""Pages in a real browser: Chromium, headless, driven by playwright. Everything a page says or asks for is on record.

Tests take the fixture `open_page` of conftest.py and carry `@pytest.mark.browser`.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

import numpy as np

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

T = TypeVar("T")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
INSTALL = "apt-get install chromium"
OPTIONS = (
    "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
    "--disable-gpu-rasterization", "--disable-gpu-compositing",  # the software renderer of WebGL is slow at anything else
    "--disable-quic", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)  # fmt: skip
ALLOWED = {
    r"GL Driver Message .*GPU stall due to ReadPixels": "said by Chromium's software renderer when a picture is taken",
}
"""Messages that no page is to blame for, and why."""
VISER = {
    r"^log: (Detected chrome version|WebGL support|Connecting to: ws|Connected! ws|Disconnected! ws)": "viser's client says so",
    r"Unable to preventDefault inside passive event listener": "Chromium about viser's client, which hears a drag",
    r"Tried to send .* but websocket is not connected": "viser's client begins to draw before it is connected",
    r"\(OK\) Attempted to update attributes of non-existent node": "viser's client about a node that came a moment later",
    r"^log: \[Performance\] Setting DPR": "viser's client draws fewer pixels where it is slow",
    r"GL_INVALID_OPERATION: glDrawElementsInstanced: Vertex shader input type": "viser's client draws instances, the indices of "
    "which (whole numbers) reach the graphics card a moment later",
    r"THREE\.Clock: This module has been deprecated": "three.js about viser's client",
}
"""What the client of viser says of itself; for `allow` of pages that it serves."""
PATIENCE = 120_000.0
"""Milliseconds until a step in the browser has failed: the software renderer shares two cores with all other tests."""
LOCAL = ("127.0.0.1", "localhost", "::1")
NO_NETWORK = ("file", "data", "blob", "about")


def find_chromium() -> str | None:
    """The file of the browser; `SHARNIR_CHROMIUM` names another one."""
    named = os.environ.get("SHARNIR_CHROMIUM")
    return shutil.which(named) if named is not None else next((path for name in NAMES if (path := shutil.which(name))), None)


class Visit:
    """One window of a browser, and what its pages said and asked for."""

    def __init__(self, browser: Browser, size: tuple[int, int], dark: bool, touch: bool, allow: dict[str, str]) -> None:
        self.allow = {**ALLOWED, **allow}
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.context: BrowserContext = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
            has_touch=touch,
            is_mobile=touch,
        )
        self.context.set_default_timeout(PATIENCE)
        self.context.on("console", self._said)
        self.context.on("weberror", lambda error: self.messages.append(f"error: {error.error}"))
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.page: Page = self.context.new_page()
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))

    def _said(self, message: ConsoleMessage) -> None:
        self.messages.append(f"{message.type}: {message.text}")

    @property
    def complaints(self) -> list[str]:
        """Messages that are not allowed, and addresses outside this machine."""
        said = [text for text in self.messages if not any(re.search(pattern, text) for pattern in self.allow)]
        return said + [f"asked for {url}" for url in self.requests if not _is_local(url)]


def wait_for(what: Callable[[], T], seconds: float = 300.0) -> T:
    """Until it is true; its value."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "it has not come"
        time.sleep(0.05)
    return found


def _is_local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in NO_NETWORK or parts.hostname in LOCAL


def address_of(where: str | Path) -> str:
    """The address of a page: it is one already, or that of a file."""
    return where if isinstance(where, str) and "://" in where else Path(where).absolute().as_uri()


def picture(page: Page, of: str | None = None, **options: object) -> np.ndarray:
    """(height, width, 3) bytes of the window, or of the first element that a selector finds."""
    from PIL import Image

    taken = page.screenshot(**options) if of is None else page.locator(of).first.screenshot(**options)
    return np.asarray(Image.open(io.BytesIO(taken)).convert("RGB"))


def changed_pixels(a: np.ndarray, b: np.ndarray, by: int = 12) -> int:
    """Pixels of which a colour differs by more than `by` of 255."""
    assert a.shape == b.shape
    return int((np.abs(a.astype(int) - b.astype(int)).max(axis=-1) > by).sum())
