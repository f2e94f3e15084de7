"""A viser server as this project wants it: on the loopback address, without banners, without outside addresses, guarded."""

from __future__ import annotations

import io
import secrets
import socket
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from ...errors import StateError, brief
from .gate import LOOPBACK, Gate, guarded

if TYPE_CHECKING:
    from viser import ViserServer

FIRST_PORT, PORTS = 8080, 100
"""Without a port of the user's choice: the first free one of these."""


class Server:
    """`viser` is the server; `url` is what is opened; `notes` says what the user should know."""

    def __init__(self, host: str = "127.0.0.1", port: int | None = None, token: str | None = None, title: str = "sharnir") -> None:
        self.host, self.notes = _checked_host(host), list[str]()
        asked, port = port, _free_port(self.host, port)
        if asked is None and port != FIRST_PORT:
            self.notes.append(f"port {FIRST_PORT} is in use: {port} is taken")
        self.is_open = self.host not in LOOPBACK
        if self.is_open and token is None:
            token = secrets.token_urlsafe(16)
        self.token = token
        if self.is_open:
            self.notes.append(
                f"{self.host}: every machine that reaches this one can connect; only those who know the address with its token "
                "see and control the view, and what is sent is not encrypted"
            )
        self.viser = _started(Gate(self.host, token), self.host, port, title)
        self.port = port

    @property
    def url(self) -> str:
        shown = _own_name() if self.host in ("0.0.0.0", "::") else self.host
        shown = f"[{shown}]" if ":" in shown else shown
        return f"http://{shown}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    def stop(self) -> None:
        with redirect_stdout(io.StringIO()):
            self.viser.stop()


def _started(gate: Gate, host: str, port: int, title: str) -> ViserServer:
    import viser
    from viser import _messages

    with redirect_stdout(io.StringIO()), guarded(gate):  # viser prints its address and a banner
        server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    if server.get_port() != port:
        server.stop()
        raise StateError(_in_use(host, port))
    for outside in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):  # would open a tunnel through a foreign machine
        server._websock_server.unregister_handler(outside)
    server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large", brand_color=(37, 99, 160))
    return server


def _free_port(host: str, port: int | None) -> int:
    if port is not None:
        if isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65535:
            raise StateError(f"port: expected a whole number from 1 to 65535, got {brief(port)}")
        if not _is_free(host, port):
            raise StateError(_in_use(host, port))
        return port
    for candidate in range(FIRST_PORT, FIRST_PORT + PORTS):
        if _is_free(host, candidate):
            return candidate
    raise StateError(f"no free port from {FIRST_PORT} to {FIRST_PORT + PORTS - 1}; give another one: port=…")


def _in_use(host: str, port: int) -> str:
    return f"port {port} of {host} is in use, or may not be used; give another one, or none: the next free one is taken then"


def _is_free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind((host, port))
        except OSError:
            return False
    return True


def _checked_host(host: object) -> str:
    if not isinstance(host, str) or not host:
        raise StateError(f"host: expected an address of this machine, got {brief(host)}")
    try:
        family = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as s:
            s.bind((host, 0))
    except OSError as error:
        raise StateError(f"host: {host!r} is no address of this machine ({error.strerror or error}); 127.0.0.1 is") from None
    return host


def _own_name() -> str:
    """The address by which others reach this machine; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))
            return str(s.getsockname()[0])
        except OSError:
            return socket.gethostname()
