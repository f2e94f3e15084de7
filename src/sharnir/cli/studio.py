"""`sharnir studio`: a page that runs until Ctrl-C."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..viewer.server import open_in_browser
from ..viewer.studio.studio import Studio


def run_studio(file: Path | None, folder: Path | None, where: Mapping[str, Any], *, open_browser: bool) -> None:
    """`where`: host and port."""
    studio = Studio(file, folder, **where)
    try:
        for note in studio.notes:
            print(f"sharnir: {note}", file=sys.stderr)
        print(f"folder: {studio.folder.path} (nothing outside it is read or written)")
        opened = open_browser and open_in_browser(studio.url)
        print(f"studio: {studio.url}{'' if opened else ' (open it in a browser)'}; Ctrl-C ends it", flush=True)
        threading.Event().wait()
    except KeyboardInterrupt:
        print("the studio is closed")
    finally:
        studio.stop()
