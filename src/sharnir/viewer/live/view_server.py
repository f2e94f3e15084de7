"""The server of a live view: a port, a token where it is wider than this machine, and what the user is told about it."""

from __future__ import annotations

import secrets
import webbrowser
from typing import Any

from ...errors import StateError
from ..access_control import is_loopback
from ..server import address, close_server, is_free, open_server

PORTS = range(8080, 8180)
"""Without a port of the user's choice: the first free one of these."""
BRAND = (37, 99, 160)


class Server:
    """`viser` is the server; `url` is what is opened; `notes` says what the user should know."""

    viser: Any
    """A `ViserServer`; its types call values read-only that its handles let one set."""

    def __init__(
        self, host: str = "127.0.0.1", port: int | None = None, token: str | None = None, title: str = "sharnir"
    ) -> None:
        self.notes: list[str] = []
        if port is None:
            port = next((p for p in PORTS if is_free(host, p)), None)
            if port is None:
                raise StateError(f"no free port from {PORTS[0]} to {PORTS[-1]}; give another one, or 0 for any that is free")
            if port != PORTS[0]:
                self.notes.append(f"port {PORTS[0]} is in use: {port} is taken")
        if not is_loopback(host):
            token = token or secrets.token_urlsafe(16)
            self.notes.append(
                f"host {host}: every machine that reaches this one can connect; whoever knows the address with its token sees "
                "and controls the view, and what is sent is not encrypted"
            )
        self.token = token
        self.viser = open_server(host, port, title, token)
        self.paint(dark=False)
        self.arrange(title)

    @property
    def url(self) -> str:
        return address(self.viser, self.token)

    def paint(self, dark: bool) -> None:
        """The page in light or dark colours; viser does not ask the browser which are wanted."""
        self.viser.gui.configure_theme(
            show_share_button=False, show_logo=False, control_width="large", brand_color=BRAND, dark_mode=dark
        )

    def arrange(self, title: str) -> None:
        """The panel at the right, beside the scene; a page that was reset has it over the scene."""
        self.viser.gui.set_panel_label(title)
        self.viser.gui.main_panel.dock_right()

    def stop(self) -> None:
        close_server(self.viser)


def open_in_browser(url: str) -> bool:
    """False where there is no browser, or no display."""
    try:
        return webbrowser.open(url)
    except Exception:  # of a browser's own making: the address is printed either way
        return False
