"""`sh.view` and `sharnir view` up to the browser: a server runs, what a person would click does what it says, all is stopped."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import nullcontext

import numpy as np
import pytest

import sharnir as sh
from sharnir.viewer.server import Server, close_server


@pytest.fixture(scope="module")
def linkage() -> sh.Model:
    return sh.samples.four_bar(0.5, 1.0, 1.0, 1.2)


@pytest.fixture
def open_view(capsys):
    """`open_view(subject, …)`: a view without a browser, with all that was asked for done."""
    views = []

    def opened(*what, **options) -> sh.View:
        views.append(sh.view(*what, open_browser=False, block=False, port=0, **options))
        return views[-1]

    yield opened
    for view in views:
        view.stop()


def done(view: sh.View) -> None:
    assert view.stage.worker.finish()


def test_a_view_of_a_model_follows_its_sliders(open_view, linkage):
    with open_view(linkage, q={"A": 0.8}) as view:
        assert urllib.request.urlopen(view.url).status == 200
        panel = view.sliders
        (slider, handle), *others = panel._handles
        before = [h.value for _, h in others]
        view.stage.post("slider", lambda: panel.change(lambda: panel.posing.set(slider, 1.6)))
        done(view)
        assert handle.value == pytest.approx(1.6) and all(h.value != x for (_, h), x in zip(others, before, strict=True))
        np.testing.assert_allclose(view.stage.scenes[0].position, panel.posing.poses()[1])
        view.stage.post("unit", lambda: panel._in_degrees(True))
        done(view)
        assert panel._handles[0][1].value == pytest.approx(np.degrees(1.6))
        view.pose({"A": 0.3})
        done(view)
        assert panel._text.value == panel.posing.text()
        view.stage.post("reset", lambda: panel.change(panel.posing.reset))
        done(view)
        assert panel.posing.q[0] == pytest.approx(0.8)


def test_a_simulation_runs_from_where_the_sliders_stand_and_leaves_them_where_it_ends(open_view, linkage):
    view = open_view(linkage, q={"A": 0.8})
    begun = view.sliders.posing.q.copy()
    view.simulation.start()
    np.testing.assert_allclose(view.simulation.session.q, begun, atol=1e-3)
    wall, t0 = view.simulation._clock
    for k in range(1, 11):
        assert view.simulation.tick(wall + 0.02 * k)
    assert view.simulation.session.t == pytest.approx(t0 + 0.2, abs=1e-9)
    view.simulation.tick(wall + 100.0)
    assert view.simulation.session.t < t0 + 0.3, "it does not try to catch up with the wall"
    view.simulation.stop()
    np.testing.assert_array_equal(view.sliders.posing.q, view.simulation.session.q)
    assert view.simulation.tick(wall + 200.0) is False


def test_results_are_drawn_together_with_plots_and_paths(open_view, linkage):
    results = [sh.simulate(linkage, 0.5, q0={"A": a}, output=0.05) for a in (0.5, 0.8)]
    view = open_view(results, plots=["A"])
    first, second = view.stage.scenes
    assert first.tint != second.tint and not second.shown["ground"]
    view.pose(t=0.25)
    done(view)
    for nodes, r in zip(view.stage.scenes, results, strict=True):
        np.testing.assert_allclose(nodes.position, r.poses[1][5], atol=1e-12)
    view.stage._follow("coupler")
    view.playback.toggle()
    assert view.playback.tick(view.playback.clock._since[0] + 0.1) and view.playback.clock.t == pytest.approx(0.35)


def test_a_view_can_be_given_something_else(open_view, linkage):
    view = open_view(linkage)
    before = set(view.stage.viser.scene._handle_from_node_name)
    view.update(sh.simulate(linkage, 0.1, q0={"A": 0.8}), show=["bodies"])
    done(view)
    assert (view.sliders, view.simulation, len(view.stage.scenes)) == (None, None, 1)
    assert "/hand/spring" in before and "/hand/spring" not in view.stage.viser.scene._handle_from_node_name
    with pytest.raises(sh.StateError, match="no layer 'bodes'"):
        view.update(linkage, show=["bodes"])
    view.update(sh.samples.pendulum())
    done(view)
    assert view.playback is None and [s.name for s in view.sliders.posing.sliders] == ["hinge"]


def test_layers_and_names_can_be_switched(open_view, linkage):
    view = open_view(linkage)
    nodes = view.stage.scenes[0]
    assert nodes.shown["bodies"] and not nodes.shown["frames"]
    view.stage._show("frames", True)
    view.stage._show("bodies", False)
    assert all(n.visible for n in nodes._by_layer["frames"]) and not any(n.visible for n in nodes._by_layer["bodies"])
    view.stage._name("joints", True)
    assert {label.text for label, _, _ in nodes._labels} == {"A", "B", "C", "D"}
    view.stage._name("joints", False)
    assert not nodes._labels


# --- the server -----------------------------------------------------------------------------------------------------------------
def test_a_port_in_use_is_passed_over_and_that_is_said(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr("sharnir.viewer.server.PORTS", range(port, port + 20))
        server = Server()
        try:
            assert port < server.viser.get_port() < port + 20 and f"port {port} is in use" in server.notes[0]
            assert server.url.startswith("http://127.0.0.1:") and server.token is None
        finally:
            server.stop()
        with pytest.raises(sh.StateError, match=f"port {port} of 127.0.0.1 is in use"):
            Server(port=port)


def test_a_server_for_other_machines_says_what_that_means_and_has_a_token():
    server = Server("0.0.0.0", 0)
    try:
        assert "every machine" in server.notes[0] and f"?token={server.token}" in server.url
    finally:
        server.stop()


def test_nothing_is_left_running_where_the_subject_cannot_be_shown(linkage):
    with pytest.raises(sh.StateError, match="no layer 'bodes'"):
        sh.view(linkage, show=["bodes"], open_browser=False, block=False, port=0)


@pytest.mark.parametrize("block", [True, False])
def test_an_interrupt_at_once_ends_the_view_as_a_later_one(linkage, monkeypatch, block):
    closed = []
    monkeypatch.setattr("sharnir.viewer.live.view.print", lambda *_, **__: signal.raise_signal(signal.SIGINT), raising=False)
    monkeypatch.setattr("sharnir.viewer.server.close_server", lambda server: closed.append(server) or close_server(server))
    with nullcontext() if block else pytest.raises(KeyboardInterrupt):
        sh.view(linkage, open_browser=False, block=block, port=0)
    assert len(closed) == 1


# --- the command -----------------------------------------------------------------------------------------------------------
def test_the_command_prints_the_address_and_ends_cleanly_at_an_interrupt(tmp_path, linkage):
    sh.simulate(linkage, 0.1, q0={"A": 0.8}).save(tmp_path / "run.nc")
    run = subprocess.Popen(
        [sys.executable, "-m", "sharnir", "view", str(tmp_path / "run.nc"), "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        line = run.stdout.readline()
        url = re.search(r"http://127\.0\.0\.1:\d+/", line)
        assert url, line + run.stderr.read()
        assert urllib.request.urlopen(url[0]).status == 200
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=300)
    finally:
        run.kill()
    assert (run.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["none.nc"], 1, "no file"),
        (["m.yaml", "m.yaml"], 1, "a model is seen by itself"),
        (["m.yaml", "--show", "bodes"], 2, "argument --show"),
        (["m.yaml", "--port", "70000"], 2, "argument --port"),
        (["m.yaml", "--quantity", "A"], 2, "argument --quantity"),
        (["m.yaml", "--q0", "X=1"], 2, "argument --q0"),
        (["m.yaml", "--host", "192.0.2.1", "--no-browser"], 1, "cannot listen on '192.0.2.1'"),
    ],
)
def test_bad_input_is_named(command, tmp_path, monkeypatch, linkage, words, code, says):
    monkeypatch.chdir(tmp_path)
    linkage.save(tmp_path / "m.yaml")
    found, out, err = command("view", *words)
    assert (found, out) == (code, "") and says in err
