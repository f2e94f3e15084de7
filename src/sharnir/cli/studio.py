"""`sharnir studio`: a page that runs until Ctrl-C."""

from __future__ import annotations

import sys
import threading
from argparse import Namespace

from ..viewer.server import open_in_browser
from ..viewer.studio.studio import Studio
from .usage import given


def command(options: Namespace) -> None:
    studio = Studio(options.file, options.folder, **given(options, "host", "port"))
    try:
        for note in studio.stage.server.notes:
            print(f"sharnir: {note}", file=sys.stderr)
        print(f"folder: {studio.folder.path} (nothing outside it is read or written)")
        opened = not options.no_browser and open_in_browser(studio.url)
        print(f"studio: {studio.url}{'' if opened else ' (open it in a browser)'}; Ctrl-C ends it", flush=True)
        threading.Event().wait()
    except KeyboardInterrupt:
        print("the studio is closed")
    finally:
        studio.stop()
