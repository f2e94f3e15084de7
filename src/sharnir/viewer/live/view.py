"""`view`: models, results, one or several, or files of either in the browser."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from html import escape
from typing import Any

from ...errors import StateError, brief
from ...io.load import READABLE, load
from ...model.model import Model
from ...reporting.atomic_write import file_path
from ...reporting.notebook import frame, kernel_shell
from ...simulation.results.result import Result
from ...types import State
from ..build import position_of, scene_of
from ..scene import TINTS, Scene
from ..server import Server, open_in_browser
from .live_stage import Stage
from .model_gui import PosingPanel, SessionPanel
from .motion_gui import PlaybackPanel, PlotsPanel, TracesPanel
from .nodes import SceneNodes, rgb255
from .posing import Posing

Subject = Model | Result
RESULT = ".nc"
MOST = 16
"""Results that are drawn together: twice as many as there are colours."""


def subjects_of(what: Any, **options: Any) -> list[Subject]:
    """Models and results to be viewed. `options`: those of `load`."""
    if isinstance(what, (Model, Result)):
        found: list[Subject] = [what]
    elif isinstance(what, (str, os.PathLike)):
        found = [from_file(what, **options)]
    elif isinstance(what, Iterable):
        found = [one for x in what for one in subjects_of(x, **options)]
    else:
        raise StateError(f"a view shows a model, a result, a list of results or the name of a file; got {brief(what)}")
    if not found:
        raise StateError("nothing to see: the list is empty")
    if len(found) > MOST:
        raise StateError(f"{len(found)} results cannot be told apart; choose at most {MOST}: view([rollout[0], rollout[7]])")
    if len(found) > 1 and any(isinstance(x, Model) for x in found):
        raise StateError("several results can be seen together; a model is seen by itself: simulate it first")
    return found


def from_file(path: str | os.PathLike[str], **options: Any) -> Subject:
    """A saved result (.nc), or a model."""
    file = file_path(path)
    if file.suffix.lower() == RESULT:
        return Result.load(file)
    if file.suffix.lower() == ".csv":
        raise StateError(f"{file}: a table has no model to draw; save the result as .nc, or view a model: {READABLE}")
    return load(file, **options)


def names_of(found: Iterable[Subject]) -> list[str]:
    """A name for each, no two alike."""
    out: list[str] = []
    for x in found:
        base = x.model.name if isinstance(x, Result) else x.name
        same = sum(name == base or name.startswith(f"{base} (") for name in out)
        out.append(f"{base} ({same + 1})" if same else base)
    return out


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
        self, found: Sequence[Subject], q: State = None, t: float = 0.0, show: Sequence[str] | None = None,
        plots: Sequence[str] = (), parameters: Mapping[str, float] | None = None,
    ) -> None:  # fmt: skip
        self.playback, self.sliders, self.simulation = None, None, None
        if isinstance(found[0], Model):
            scene = scene_of(found[0].with_parameters(parameters) if parameters else found[0], show, q, t)
            self._show_model(found[0], scene, q, t, parameters)
        else:
            self._show_results([r for r in found if isinstance(r, Result)], show, plots)

    def _show_model(self, model: Model, scene: Scene, q: State, t: float, parameters: Mapping[str, float] | None) -> None:
        """Sliders, the running simulation, layers, paths."""
        stage, gui = self.stage, self.stage.viser.gui
        nodes = stage.add(scene, room=ROOM)
        stage.add_status()
        tabs = gui.add_tab_group()
        with tabs.add_tab("pose"):
            posing = Posing(model, q, t, scene.size, parameters)
            folder = gui.add_folder("simulation")
            self.sliders = PosingPanel(stage, posing, nodes)
        with folder:
            self.simulation = SessionPanel(stage, self.sliders, nodes)
        stage.tickers.append(_add_show_tab(stage, tabs, [nodes]).tick)
        stage.say(posing.message)

    def _show_results(self, results: Sequence[Result], show: Sequence[str] | None, plots: Sequence[str]) -> None:
        """Playback, plots, layers, paths."""
        stage, gui, names = self.stage, self.stage.viser.gui, names_of(results)
        several = len(results) > 1
        nodes = [stage.add(scene_of(r, show), TINTS[k % len(TINTS)] if several else None) for k, r in enumerate(results)]
        for other in nodes[1:]:
            other.show("ground", False)
        stage.add_status()
        self.playback = PlaybackPanel(stage, nodes)
        if several:
            colours = (rgb255(TINTS[k % len(TINTS)]) for k in range(len(names)))
            marks = (f'<span style="color:rgb{c}">&#9632;</span> {escape(x)}' for c, x in zip(colours, names, strict=True))
            gui.add_html("<div style='padding:0.3em 1em;font-size:0.9em'>" + "<br>".join(marks) + "</div>")
        tabs = gui.add_tab_group()
        with tabs.add_tab("plots"):
            charts = PlotsPanel(stage, results, names, plots)
        _add_show_tab(stage, tabs, nodes)
        with tabs.add_tab("summary"):
            for r, name in zip(results, names, strict=True):
                style, words = "padding:0 1em;font-size:0.7em;white-space:pre-wrap", escape(f"{name}\n{r.summary()}")
                gui.add_html(f"<pre style='{style}'>{words}</pre>")
        self.playback.watchers.append(charts.follow)

    def stop(self) -> None:
        if not self._stopped.is_set():
            self._stopped.set()
            atexit.unregister(self.stop)
            self.stage.stop()

    def wait(self) -> None:
        """Wait until Ctrl-C, or until another thread stops the view."""
        try:
            while not self._stopped.wait(0.5):
                pass
        except KeyboardInterrupt:
            self.stop()

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _repr_html_(self) -> str:
        """A frame, where the server's policy allows one: on this machine, without a token."""
        if self._stopped.is_set() or self.stage.server.token is not None:
            return f"<code>{escape(repr(self))}</code>"
        return frame(src=self.url)

    def __repr__(self) -> str:
        return f"View({self.url!r}{', stopped' if self._stopped.is_set() else ''})"


def view(
    what: Any, *, q: State = None, t: float = 0.0, show: Sequence[str] | None = None, plots: Sequence[str] = (),
    parameters: Mapping[str, float] | None = None, host: str = "127.0.0.1", port: int | None = None, token: str | None = None,
    open_browser: bool | None = None, block: bool | None = None, **options: Any,
) -> View:  # fmt: skip
    """Show a model, a result, several results or a file of either in the browser; as the value of a cell, in the notebook.

    A model has a slider for every coordinate: loops follow, limits hold; it can be simulated from where it stands and pulled by
    the pointer. Results are played; several are drawn together, each in its colour.

    q, t         the position of a model at first
    show         layers that are on at first, of `sharnir.viewer.scene.LAYERS`
    plots        of results: quantities by name, as of `Result.plot`
    parameters   {name: value} of a model
    host         the address to listen on: this machine alone, unless told otherwise. On any other the view is open to whoever
                 knows its address and `token` (made up where none is given)
    port         by default the first free one from 8080; 0 for any that is free
    open_browser by default True, and False in a notebook
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
    waits = block if block is not None else hasattr(sys.modules["__main__"], "__file__") and not sys.flags.interactive
    try:
        opened = (kernel_shell() is None if open_browser is None else open_browser) and open_in_browser(out.url)
        print(f"view: {out.url}" + ("" if opened else " (open it in a browser)"), flush=True)
        if waits:
            out.wait()
    except KeyboardInterrupt:  # who reads the address may press Ctrl-C before this thread waits for it
        out.stop()
        if not waits:
            raise
    return out


def titled(found: Sequence[Subject]) -> str:
    return " and ".join(names_of(found)) if len(found) < 3 else f"{len(found)} results"


def _add_show_tab(stage: Stage, tabs: Any, nodes: list[SceneNodes]) -> TracesPanel:
    gui = stage.viser.gui
    with tabs.add_tab("show"):
        stage.server.notes += stage.add_notes()
        with gui.add_folder("layers"):
            stage.add_layers()
        with gui.add_folder("camera"):
            stage.add_camera()
        with gui.add_folder("paths", expand_by_default=False):
            return TracesPanel(stage, nodes)
