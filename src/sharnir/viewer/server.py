"""viser's server, restricted: behind our gate, on the port that was asked for, without its tunnel to the internet, silent.

The gate lets in this machine's browsers with our own pages; with a token, whoever has it. Listening on the loopback address alone
is not enough: any page of any site that the user has open may connect to it, either as it is (its `Origin` says so) or under a
name of its own that it lets resolve to 127.0.0.1 (its `Host` says so).

viser has no setting for any of these. The gate is put into the one call by which viser starts its server; that it stands is
checked from outside before anything is served, so that another version of viser cannot do away with it unnoticed.
"""

from __future__ import annotations

import errno
import hmac
import http.client
import ipaddress
import re
import secrets
import socket
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs

from ..errors import StateError

if TYPE_CHECKING:
    from viser import ViserServer

COOKIE = "sharnir"
POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' data: blob:; connect-src 'self' ws: data: blob:; "
    "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*"
)
"""The browser itself fetches nothing from elsewhere under this policy; notebooks on this machine may show a view in a frame."""
HOST = re.compile(r"([\w.-]+|\[[\da-f]*:[\da-f:.]*\])(?::(\d{1,5}))?", re.ASCII | re.IGNORECASE)
"""A `Host` header: a name or an address, IPv6 in brackets, and a port."""


def is_loopback(host: str) -> bool:
    """Whether a name or address reaches this machine only."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Answer(NamedTuple):
    """The gate's answer in place of the server's: a refusal with its reason, or where to go next."""

    status: int
    words: str
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Gate:
    host: str
    """The address that the server listens on."""
    token: str | None = None
    """Secret that a browser gives once, by `/?token=…`; then a cookie has it."""

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer | None:
        """The answer to a request for a page or a websocket; None lets it pass."""
        host, origin = headers.get("Host", ""), headers.get("Origin")
        named = HOST.fullmatch(host)
        if named is None or (self.token is None and not is_loopback(named[1])):
            return Answer(403, f"This server answers to addresses of this machine only, not to {host!r}.\n")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            return Answer(403, f"This server answers to its own pages only, not to those of {origin!r}.\n")
        if self.token is None:
            return None
        cookie = f"{COOKIE}-{int(named[2] or 80)}"  # cookies are the same for all ports of a host; two servers need two
        asked = parse_qs(path.partition("?")[2]).get("token")
        if asked is not None and self._knows(asked[0]):
            keep = f"{cookie}={self.token}; Path=/; HttpOnly; SameSite=Lax"
            return Answer(303, "", (("Location", "/"), ("Set-Cookie", keep)))  # so that the token leaves the address line
        kept = None
        with suppress(CookieError):
            kept = SimpleCookie(headers.get("Cookie", "")).get(cookie)
        if self._knows(kept.value if kept else ""):
            return None
        return Answer(403, "This server needs its token: open the address with ?token=… that it printed when it was started.\n")

    def _knows(self, what: str) -> bool:
        return self.token is not None and hmac.compare_digest(what.encode(errors="replace"), self.token.encode())


# --- viser's server
PORTS = range(8080, 8180)
"""Without a port of the user's choice: the first free one of these."""
BRAND = (37, 99, 160)
STYLE = Path(__file__).with_name("panel.css")
UPGRADE = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "A" * 22 + "=="}
"""Headers of a request for a websocket."""


class Server:
    """A running server: `viser` itself; `url` is what is opened; `notes` says what the user should know."""

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
            who = "every machine that reaches this one can connect; whoever knows the address with its token sees and controls"
            self.notes.append(f"host {host}: {who} the view, and what is sent is not encrypted")
        self.token = token
        self.viser = open_server(host, port, title, token)
        self.paint(dark=False)
        self.arrange(title)

    @property
    def url(self) -> str:
        return address(self.viser, self.token)

    def paint(self, dark: bool) -> None:
        """The page in light or dark colours; viser does not ask the browser which are wanted."""
        hidden = {"show_share_button": False, "show_logo": False}
        self.viser.gui.configure_theme(**hidden, control_width="large", brand_color=BRAND, dark_mode=dark)

    def arrange(self, title: str) -> None:
        """The panel at the right, beside the scene; a page that was reset has it over the scene."""
        self.viser.gui.set_panel_label(title)
        self.viser.gui.add_html(f"<style>{STYLE.read_text(encoding='utf-8')}</style>")
        self.viser.gui.main_panel.dock_right()

    def stop(self) -> None:
        close_server(self.viser)


def open_in_browser(url: str) -> bool:
    """Open the page; False where there is no browser, or no display."""
    try:
        return webbrowser.open(url)
    except Exception:  # of a browser's own making: the address is printed either way
        return False


def open_server(host: str = "127.0.0.1", port: int = 0, label: str = "sharnir", token: str | None = None) -> ViserServer:
    """A running server; port 0 is any that is free."""
    if not is_loopback(host) and not token:
        raise StateError(f"host {host!r} can be reached from other machines: a token is needed")
    _check_free(host, port)
    import viser
    from viser import _messages

    with _gated(Gate(host, token)), _quiet():
        server = viser.ViserServer(host, port, label, verbose=False)
    try:
        for kind in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):  # any page could open viser's tunnel by them
            server._websock_server.unregister_handler(kind)
        if port not in (0, server.get_port()):
            raise StateError(_in_use(host, port))
        _check_gate(host, server.get_port())
    except BaseException:
        close_server(server)
        raise
    return server


def close_server(server: ViserServer) -> None:
    with _quiet():
        server.stop()


def address(server: ViserServer, token: str | None = None) -> str:
    """Address for a browser on this machine."""
    host = server.get_host()
    name = (f"[{host}]" if ":" in host else host) if is_loopback(host) else socket.gethostname()
    return f"http://{name}:{server.get_port()}/" + (f"?token={token}" if token else "")


def _in_use(host: str, port: int) -> str:
    return f"port {port} of {host} is in use by another program; choose another, or 0 for any that is free"


def is_free(host: str, port: int) -> bool:
    """Whether a server could listen there; an invalid port, or a host that is not this machine, is an error."""
    try:
        _check_free(host, port)
    except StateError as error:
        if str(error) != _in_use(host, port):
            raise
        return False
    return True


def _check_free(host: str, port: int) -> None:
    """Refuse a port in use or a host that is not ours: viser itself would take the next port, or wait forever."""
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise StateError(f"port: expected a whole number from 0 to 65535, got {port!r}")
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(where)
    except PermissionError:
        raise StateError(f"port {port} is reserved for the system; choose one above 1023, or 0 for any that is free") from None
    except (OSError, UnicodeError) as error:
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            raise StateError(_in_use(host, port)) from None
        raise StateError(f"cannot listen on {host!r}: {error}; 127.0.0.1 is this machine") from None


@contextmanager
def _gated(gate: Gate) -> Iterator[None]:
    """viser's module for servers calls `websockets.asyncio.server.serve`: here it finds one that asks the gate first."""
    from viser.infra import _infra
    from websockets.asyncio.server import ServerConnection, serve
    from websockets.datastructures import Headers
    from websockets.http11 import Request, Response

    def gated(handler: Any, *where: Any, process_request: Callable[..., Any], **options: Any) -> Any:
        def ask(connection: ServerConnection, request: Request) -> Response | None:
            if answer := gate.answer(request.path, request.headers):
                body = answer.words.encode()
                sizes = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))}
                headers = Headers([*sizes.items(), *answer.headers])
                return Response(answer.status, "Refused" if answer.status == 403 else "See Other", headers, body)
            response: Response | None = process_request(connection, request)
            if response is not None:
                safe = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
                response.headers.update({"Content-Security-Policy": POLICY, **safe})
            return response

        return serve(handler, *where, process_request=ask, **options)

    real = _infra.websockets
    server = SimpleNamespace(serve=gated, ServerConnection=ServerConnection)
    parts = {"exceptions": real.exceptions, "datastructures": real.datastructures}
    _infra.websockets = SimpleNamespace(asyncio=SimpleNamespace(server=server), **parts)  # type: ignore[assignment]
    try:
        yield
    finally:
        _infra.websockets = real


def _check_gate(host: str, port: int) -> None:
    """Check that pages of another site and foreign names for this machine are refused, as websockets and as pages."""
    for headers in ({"Host": "elsewhere.invalid"}, {"Origin": "http://elsewhere.invalid"}):
        for upgrade in ({}, UPGRADE):
            connection = http.client.HTTPConnection({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port, timeout=10)
            try:
                connection.request("GET", "/", headers={**headers, **upgrade})
                status = connection.getresponse().status
            finally:
                connection.close()
            if status != 403:
                what = "this version of viser cannot be kept from answering to other sites, so nothing is served"
                raise StateError(f"{what}; install the version that constraints.txt of sharnir names")


@contextmanager
def _quiet() -> Iterator[None]:
    """viser prints at its start and end on rich's common console, which nothing here uses: silence it."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
