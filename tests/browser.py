"""Pages in a real browser: Chromium, headless, driven by playwright. Everything a page says or asks for is on record.

Tests take the fixture `open_page` of conftest.py and carry `@pytest.mark.browser`.
"""

from __future__ import annotations

import io
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
INSTALL = "apt-get install chromium"
OPTIONS = (
    "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
    "--disable-quic", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)  # fmt: skip
ALLOWED = {
    r"GL Driver Message .*GPU stall due to ReadPixels": "said by Chromium's software renderer when a picture is taken",
}
"""Messages that no page is to blame for, and why."""
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
