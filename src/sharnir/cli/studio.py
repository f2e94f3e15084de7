"""`sharnir studio`: the page runs until Ctrl-C."""

from __future__ import annotations

import sys
import threading
import webbrowser
from pathlib import Path

from ..view.studio.studio import Studio


def run_studio(file: Path | None, *, folder: Path | None, host: str, port: int | None, browser: bool) -> None:
    studio = Studio(file, folder, host, port)
    try:
        for note in studio.notes:
            print(f"sharnir: {note}", file=sys.stderr)
        print(f"folder: {studio.folder.path} (nothing outside it is read or written)")
        opened = browser and _open(studio.url)
        print(f"studio: {studio.url}{'' if opened else ' (open it in a browser)'}; Ctrl-C ends it", flush=True)
        threading.Event().wait()
    except KeyboardInterrupt:
        print("the studio is closed")
    finally:
        studio.stop()


def _open(url: str) -> bool:
    """False where there is no browser, or no display."""
    try:
        return webbrowser.open(url)
    except Exception:  # of a browser's own making: the address is printed either way
        return False
