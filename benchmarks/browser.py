"""A page in a real browser: `python -m benchmarks.browser page.html [--pictures folder]`.

Chromium opens it headless and offline, in the size of a desktop (light and dark) and of a phone. Reported are the messages on the
console, and whether all charts were drawn. A page that tries to fetch something violates its own policy, which is on the
console too. Exit code 1 where anything is wrong.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-default-apps", "--hide-scrollbars", "--enable-logging=stderr",
    "--v=0", "--virtual-time-budget=10000", "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip
VIEWS = {
    "desk": ("1280,2600",),
    "desk-dark": ("1280,2600", "--blink-settings=preferredColorScheme=0"),
    "phone": ("500,4200",),  # no window of Chromium is narrower
}
_CONSOLE = re.compile(r":CONSOLE[:(].*")


@dataclass
class Opened:
    console: list[str]
    """Everything the page wrote there: errors, warnings, refusals of its own policy."""
    dom: str
    """The page after its scripts."""

    @property
    def charts(self) -> tuple[int, int]:
        """Number drawn, and number on the page."""
        there = re.findall(r'<div id="chart-[a-z]+"[^>]*>', self.dom)
        return sum("js-plotly-plot" in div for div in there), len(there)


def find() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def open_page(page: Path, view: str = "desk", picture: Path | None = None) -> Opened:
    browser = find()
    if browser is None:
        raise RuntimeError(f"no browser: install one of {', '.join(NAMES)}")
    size, *more = VIEWS[view]
    with tempfile.TemporaryDirectory(prefix="sharnir-browser-", ignore_cleanup_errors=True) as folder:
        common = [browser, *OPTIONS, *more, f"--user-data-dir={folder}/profile", f"--window-size={size}"]
        done = _run([*common, "--dump-dom", page.absolute().as_uri()])
        if picture is not None:
            _run([*common, f"--screenshot={picture.absolute()}", page.absolute().as_uri()])
    return Opened(_CONSOLE.findall(done.stderr), done.stdout)


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=120, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.browser", description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--pictures", type=Path, help="folder for a picture of every view")
    options = parser.parse_args()
    ok = True
    for page in options.pages:
        for view in VIEWS:
            picture = None
            if options.pictures:
                options.pictures.mkdir(parents=True, exist_ok=True)
                picture = options.pictures / f"{page.stem}-{view}.png"
            seen = open_page(page, view, picture)
            drawn, there = seen.charts
            ok &= not seen.console and drawn == there
            print(f"{page.name}, {view}: {drawn} of {there} charts drawn, {len(seen.console)} messages")
            for line in seen.console:
                print(f"  {line}")
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
