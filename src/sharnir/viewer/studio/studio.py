"""`sharnir studio`: the page and its server."""

from __future__ import annotations

import secrets
from pathlib import Path

from ...errors import StateError, brief
from ...io.paths import package_root
from ...reporting.atomic_write import file_path
from ...types import FilePath
from ..live.live_stage import Stage
from ..server import Server
from .folder import Folder, check_suffix
from .page import PLOTS, StudioPage
from .workspace import Workspace


class Studio:
    """A studio that runs until `stop`."""

    def __init__(
        self,
        file: FilePath | None = None,
        folder: FilePath | None = None,
        host: str = "127.0.0.1",
        port: int | None = None,
        token: str | None = None,
    ) -> None:
        place = Folder(_folder_for(file) if folder is None else folder)
        name = None if file is None else place.inside(Path.cwd() / file_path(file)).relative_to(place.path).as_posix()
        if name is not None and not (place.path / name).is_file():
            raise StateError(f"there is no file {brief(str(file))}")
        if name is not None:
            check_suffix(place.path / name)
        self.folder = place
        # a token on the loopback address too: it is that of all users of this machine, and a studio writes files
        self.stage = Stage(Server(host, port, token or secrets.token_urlsafe(16), "sharnir studio"))
        try:
            self.page = StudioPage(self.stage, Workspace(place))
            self.page.plots.dock_left()
            self.page.plots.set_width(PLOTS)
            self.stage.start()
        except BaseException:
            self.stop()
            raise
        if name is not None:
            self.stage.post("open", lambda: self.page.guarded(lambda: self.page.open_tab.open(name)))

    @property
    def url(self) -> str:
        return self.stage.server.url

    @property
    def notes(self) -> list[str]:
        return self.stage.server.notes

    def stop(self) -> None:
        if hasattr(self, "page"):
            self.page.jobs.stop()
        self.stage.stop()


def _folder_for(file: FilePath | None) -> Path:
    """The current folder; for a file elsewhere, its package: meshes are often in a folder beside it."""
    here = Path.cwd()
    if file is None:
        return here
    path = (here / file_path(file)).resolve()
    return here if path.is_relative_to(here.resolve()) else package_root(path.parent)
