"""Servers of views: who is let in, the port that was asked for, no way to the internet."""

from __future__ import annotations

import http.client
import socket

import pytest

import sharnir as sh
from sharnir.viewer import server as servers
from sharnir.viewer.server import UPGRADE, Gate, address, close_server, is_loopback, open_server

HERE = Gate("127.0.0.1")
WIDE = Gate("0.0.0.0", "secret")


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:1", "localhost", "[::1]:8080", "127.3.2.1", "LOCALHOST:9"])
@pytest.mark.parametrize("page", [None, "itself"])
def test_pages_of_this_machine_are_let_in(host, page):
    headers = {"Host": host} | ({"Origin": f"http://{host}"} if page else {})
    assert HERE.answer("/", headers) is None


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Host": ""},
        {"Host": "evil.example:8080"},  # a name that its owner resolves to 127.0.0.1
        {"Host": "evil.example:8080", "Origin": "http://evil.example:8080"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "127.0.0.1@evil.example"},
        {"Host": "evil.example@127.0.0.1"},
        {"Host": "evil.example@127.0.0.1:8080", "Origin": "http://evil.example@127.0.0.1:8080"},
        {"Host": "evil.example:x@[::1]:8080"},
        {"Host": "127.0.0.1/evil.example"},
        {"Host": "127.0.0.1?evil.example"},
        {"Host": "127.0.0.1#evil.example:80"},
        {"Host": "127.0.0.1\\evil.example"},
        {"Host": "127.0.0.1, evil.example"},
        {"Host": " 127.0.0.1"},
        {"Host": "127.0.0.1:"},
        {"Host": "127.0.0.1:80:90"},
        {"Host": "127.0.0.1:\N{ARABIC-INDIC DIGIT EIGHT}"},
        {"Host": "\N{FULLWIDTH DIGIT ONE}27.0.0.1"},
        {"Host": "[127.0.0.1]:80"},
        {"Host": "[::1%lo]"},
        {"Host": "::1"},
        {"Host": "[::1]evil.example"},
        {"Host": "[::1", "Origin": "http://[::1"},
        {"Host": "192.168.0.7:8080"},
        {"Host": "127.0.0.1:8080", "Origin": "http://evil.example"},
        {"Host": "127.0.0.1:8080", "Origin": "null"},  # a file, or a frame in a sandbox
        {"Host": "127.0.0.1:8080", "Origin": "http://127.0.0.1:8081"},  # another server on this machine
        {"Host": "127.0.0.1:8080", "Origin": "http://localhost:8080"},
    ],
)
def test_pages_of_other_sites_are_refused(headers):
    assert HERE.answer("/", headers).status == 403


def test_a_token_opens_and_stays_in_a_cookie():
    host = {"Host": "box:8080"}
    assert (
        WIDE.answer("/", host).status == WIDE.answer("/?token=Secret", host).status == WIDE.answer("/?token=", host).status == 403
    )
    led = WIDE.answer("/?token=secret", host)
    cookie = dict(led.headers)["Set-Cookie"]
    assert led.status == 303 and "HttpOnly" in cookie and "SameSite=Lax" in cookie
    known = host | {"Cookie": cookie.split(";")[0]}
    assert WIDE.answer("/", known) is None and WIDE.answer("/", known | {"Origin": "http://box:8080"}) is None
    assert WIDE.answer("/", known | {"Origin": "http://evil.example"}).status == 403
    assert WIDE.answer("/", {"Host": "box:8081", "Cookie": known["Cookie"]}).status == 403, "the cookie of another server"
    for cookie in ("a=b; sharnir-8080=wrong; ;;=\x00", "sharnir-8080=\udc80", "sharnir-8080=" + "[" * 100_000):
        assert WIDE.answer("/", host | {"Cookie": cookie}).status == 403
    for odd in (
        {"Host": "box:" + "9" * 5000},
        {"Host": "a@box"},
        {"Host": "box:x"},
        {"Host": "box", "Origin": "http://[box"},
        {},
    ):
        for path in ("/", "/?token=%00", "/?token=\udc80", "/?" + "&" * 10_000, "//[/?token=x"):
            assert WIDE.answer(path, odd).status == 403


def test_loopback_is_what_nobody_else_reaches():
    assert all(map(is_loopback, ("127.0.0.1", "localhost", "::1", "127.0.0.9")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "box", "localhost.evil.example", "")))


@pytest.fixture(scope="module")
def running():
    server = open_server()
    yield server
    close_server(server)


def status(port: int, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/", headers=headers)
    answer = connection.getresponse().status
    connection.close()
    return answer


@pytest.mark.parametrize("upgrade", [{}, UPGRADE], ids=["page", "websocket"])
def test_the_gate_stands_before_the_server(running, upgrade):
    port = running.get_port()
    assert status(port, upgrade) == (101 if upgrade else 200)
    assert status(port, {"Origin": "http://evil.example", **upgrade}) == 403
    assert status(port, {"Host": "evil.example", **upgrade}) == 403


def test_a_server_without_its_gate_is_not_opened(monkeypatch):
    from contextlib import nullcontext

    monkeypatch.setattr(servers, "_gated", lambda gate: nullcontext())
    with pytest.raises(sh.StateError, match="cannot be kept from answering to other sites, so nothing is served"):
        open_server()


def test_nobody_can_ask_for_a_tunnel_to_the_internet(running):
    from viser import _messages

    handlers = running._websock_server._incoming_handlers
    assert _messages.ShareUrlRequest not in handlers and _messages.GuiUpdateMessage in handlers


def test_the_port_is_the_one_that_was_asked_for_or_an_error(running, capsys):
    with pytest.raises(
        sh.StateError, match=f"port {running.get_port()} of 127.0.0.1 is in use by another program; choose another"
    ):
        open_server(port=running.get_port())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = open_server(port=port)
    assert address(server) == f"http://127.0.0.1:{port}/" and address(server, "x") == f"http://127.0.0.1:{port}/?token=x"
    close_server(server)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"host": "0.0.0.0"}, "host '0.0.0.0' can be reached from other machines: a token is needed"),
        ({"host": "192.0.2.1", "token": "x"}, "cannot listen on '192.0.2.1'"),
        ({"host": "nowhere.invalid", "token": "x"}, "cannot listen on 'nowhere.invalid'"),
        ({"port": 70000}, "port: expected a whole number from 0 to 65535, got 70000"),
        ({"port": -1}, "port"),
    ],
)
def test_where_nothing_can_listen_the_error_says_so(options, words):
    with pytest.raises(sh.StateError, match=words):
        open_server(**options)
