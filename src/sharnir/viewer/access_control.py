"""Access control of our servers: this machine's browsers with our own pages; with a token, whoever has it.

Listening on the loopback address alone is not enough: any page of any site that the user has open may connect to it, either as
it is (its `Origin` says so) or under a name of its own that it lets resolve to 127.0.0.1 (its `Host` says so).
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

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


@dataclass(frozen=True)
class Answer:
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
            kept = f"{cookie}={self.token}; Path=/; HttpOnly; SameSite=Lax"
            return Answer(303, "", (("Location", "/"), ("Set-Cookie", kept)))  # so that the token leaves the address line
        if self._knows(_value(headers.get("Cookie", ""), cookie)):
            return None
        return Answer(403, "This server needs its token: open the address with ?token=… that it printed when it was started.\n")

    def _knows(self, what: str) -> bool:
        return self.token is not None and hmac.compare_digest(what.encode(errors="replace"), self.token.encode())


def _value(cookies: str, name: str) -> str:
    """Value of the cookie of that name; empty where there is none."""
    try:
        found = SimpleCookie(cookies).get(name)
    except CookieError:
        return ""
    return found.value if found else ""
