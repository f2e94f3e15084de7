"""`view`: a model or a motion in the browser."""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from html import escape
from typing import Any

from ...model.model import Model
from ...simulation.results.result import Result
from ...types import State
from ..build import position_of, scene_of
from ..scene import TINTS
from ..server import Server, open_in_browser
from .live_stage import Stage
from .nodes import SceneNodes, rgb255
from .playback_gui import PlaybackPanel
from .plots_gui import PlotsPanel
from .posing import Posing
from .posing_gui import PosingPanel
from .session_gui import SessionPanel
from .subjects import Subject, names_of, subjects_of
from .traces_gui import TracesPanel

ROOM = 0.2
"""Room around a model that sliders will move, in parts of its size."""


class View:
    """A view that runs: `url` in a browser shows it until `stop()`, `wait()` waits for Ctrl-C."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.playback: PlaybackPanel | None = None
        self.sliders: PosingPanel | None = None
        self.simulation: SessionPanel | None = None
        self._stopped = threading.Event()
        atexit.register(self.stop)  # before viser's own, which prints

    @property
    def url(self) -> str:
        return self.stage.server.url

    def pose(self, q: State = None, t: float | None = None) -> None:
        """Show a position of a model, loops closed nearest to it; or results at time t."""
        if self.sliders is not None:
            posing = self.sliders.posing
            at = posing.t if t is None else float(t)
            found, sliders = position_of(posing.model, q, at)[0], self.sliders

            def take() -> None:
                posing.take(found, at)
                sliders.draw()

            self.stage.post("pose", take)
        elif self.playback is not None and t is not None:
            playback, at = self.playback, float(t)
            self.stage.post("scrub", lambda: playback.scrub(at))

    def update(self, what: Any, **options: Any) -> None:
        """Show something else on the same page: what `view` takes, with its options q, t, show, plots, parameters."""
        found = subjects_of(what)
        shown: Future[None] = Future()

        def change() -> None:
            try:
                self.stage.empty()
                self.stage.server.arrange(titled(found))
                self.show(found, **options)
                shown.set_result(None)
            except BaseException as error:  # the caller's
                shown.set_exception(error)

        self.stage.post(("update", id(shown)), change)
        shown.result()

    def show(
        self,
        found: Sequence[Subject],
        q: State = None,
        t: float = 0.0,
        show: Sequence[str] | None = None,
        plots: Sequence[str] = (),
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        """Fill the empty page."""
        self.playback, self.sliders, self.simulation = None, None, None
        if isinstance(found[0], Model):
            show_model(self, found[0], q, t, show, parameters)
        else:
            show_results(self, [r for r in found if isinstance(r, Result)], show, plots)

    def stop(self) -> None:
        if not self._stopped.is_set():
            self._stopped.set()
            atexit.unregister(self.stop)
            self.stage.stop()

    def wait(self) -> None:
        """Until Ctrl-C, or until another thread stops the view."""
        try:
            while not self._stopped.wait(0.5):
                pass
        except KeyboardInterrupt:
            self.stop()

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"View({self.url!r}{', stopped' if self._stopped.is_set() else ''})"


def view(
    what: Any,
    *,
    q: State = None,
    t: float = 0.0,
    show: Sequence[str] | None = None,
    plots: Sequence[str] = (),
    parameters: Mapping[str, float] | None = None,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    open_browser: bool = True,
    block: bool | None = None,
    **options: Any,
) -> View:
    """Show a model, a result, several results or a file of either in the browser.

    A model has a slider for every coordinate: loops follow, limits hold; it can be simulated from where it stands and pulled by
    the pointer. Results are played; several are drawn together, each in its colour.

    q, t         the position of a model at first
    show         layers that are on at first, of `sharnir.viewer.scene.LAYERS`
    plots        of results: quantities by name, as of `Result.plot`
    parameters   {name: value} of a model
    host         the address to listen on: this machine alone, unless told otherwise. On any other the view is open to whoever
                 knows its address and `token` (made up where none is given)
    port         by default the first free one from 8080; 0 for any that is free
    block        wait until Ctrl-C; by default in a script, and not in an interactive session
    options      of `load`, for a file: floating, strict, package_paths
    """
    found = subjects_of(what, **options)
    stage = Stage(Server(host, port, token, titled(found)))
    out = View(stage)
    try:
        out.show(found, q, t, show, plots, parameters)
        stage.start()
    except BaseException:
        stage.stop()
        raise
    for note in stage.server.notes:
        print(f"sharnir: {note}", file=sys.stderr)
    waits = block if block is not None else _is_script()
    try:
        opened = open_browser and open_in_browser(out.url)
        print(f"view: {out.url}" + ("" if opened else " (open it in a browser)"), flush=True)
        if waits:
            out.wait()
    except KeyboardInterrupt:  # who reads the address may press Ctrl-C before this thread waits for it
        out.stop()
        if not waits:
            raise
    return out


def titled(found: Sequence[Subject]) -> str:
    """Title of the page."""
    return " and ".join(names_of(found)) if len(found) < 3 else f"{len(found)} results"


def show_model(
    out: View, model: Model, q: State, t: float, show: Sequence[str] | None, parameters: Mapping[str, float] | None
) -> None:
    """Sliders, the running simulation, layers, paths."""
    stage, gui = out.stage, out.stage.viser.gui
    scene = scene_of(model if not parameters else model.with_parameters(parameters), show, q, t)
    nodes = stage.add(scene, room=ROOM)
    stage.add_status()
    tabs = gui.add_tab_group()
    with tabs.add_tab("pose"):
        posing = Posing(model, q, t, scene.size, parameters)
        folder = gui.add_folder("simulation")
        out.sliders = PosingPanel(stage, posing, nodes)
    with folder:
        out.simulation = SessionPanel(stage, out.sliders, nodes)
    traces = _add_show_tab(stage, tabs, [nodes], growing=True)
    stage.tickers.append(traces.tick)
    stage.say(posing.message)


def show_results(out: View, results: Sequence[Result], show: Sequence[str] | None, plots: Sequence[str]) -> None:
    """Playback, plots, layers, paths."""
    stage, gui, names = out.stage, out.stage.viser.gui, names_of(results)
    several = len(results) > 1
    nodes = [stage.add(scene_of(r, show), TINTS[k % len(TINTS)] if several else None) for k, r in enumerate(results)]
    for other in nodes[1:]:
        other.show("ground", False)
    stage.add_status()
    out.playback = PlaybackPanel(stage, results, nodes)
    if several:
        marks = (
            f'<span style="color:rgb{rgb255(TINTS[k % len(TINTS)])}">&#9632;</span> {escape(name)}'
            for k, name in enumerate(names)
        )
        gui.add_html("<div style='padding:0.3em 1em;font-size:0.9em'>" + "<br>".join(marks) + "</div>")
    tabs = gui.add_tab_group()
    with tabs.add_tab("plots"):
        charts = PlotsPanel(stage, results, names, plots)
    _add_show_tab(stage, tabs, nodes, growing=False)
    with tabs.add_tab("summary"):
        for r, name in zip(results, names, strict=True):
            gui.add_html(
                f"<pre style='padding:0 1em;font-size:0.7em;white-space:pre-wrap'>{escape(name)}\n{escape(r.summary())}</pre>"
            )
    out.playback.watchers.append(charts.follow)


def _add_show_tab(stage: Stage, tabs: Any, nodes: list[SceneNodes], growing: bool) -> TracesPanel:
    """The tab of layers, camera and paths; `growing`: paths of a motion that goes on."""
    gui = stage.viser.gui
    with tabs.add_tab("show"):
        stage.server.notes += stage.add_notes()
        with gui.add_folder("layers"):
            stage.add_layers()
        with gui.add_folder("camera"):
            stage.add_camera()
        with gui.add_folder("paths", expand_by_default=False):
            return TracesPanel(stage, nodes, growing=growing)


def _is_script() -> bool:
    return hasattr(sys.modules["__main__"], "__file__") and not sys.flags.interactive
