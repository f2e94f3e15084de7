"""The tab of runs: options, the run itself, playback, account of energy, files to take away; and the tab of the comparison."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...integrate.methods import INTEGRATORS
from ...programs.methods import METHODS
from ...simulation.results.quantities import names_of
from ...simulation.results.result import Result
from ..build import scene_of
from ..live.motion_gui import PlaybackPanel, PlotsPanel
from .texts import comparison_text, run_text, sentences
from .workspace import BUDGET, COMPARISON, FORMATS

if TYPE_CHECKING:
    from .studio import StudioPage

MOST = 300
"""Quantities in the list of those that can be plotted."""
ASPECT = 0.7
"""Width over height of a window between the panels on both sides."""
USUAL = "coordinates, speeds, energy"


class RunTab:
    def __init__(self, page: StudioPage) -> None:
        self.page, self.what, self._charts = page, list[str](), list[Any]()

    def fill(self) -> None:
        page, gui, o = self.page, self.page.gui, self.page.work.options
        for label in ("play", "energy and summary", "take away"):
            page.remove_section("Run", label)
        self.what = []
        with page.section("Run", "options", 1):
            duration = gui.add_number("duration, s", o.duration, hint="negative: backward in time")
            interval = gui.add_number("interval, s", o.interval or 0.0, hint="between rows of the result; 0: as the file says")
            about = INTEGRATORS[o.integrator].what
            integrator = gui.add_dropdown("integrator", tuple(INTEGRATORS), initial_value=o.integrator, hint=about)
            tolerance = gui.add_text("tolerance", f"{o.rtol:g}", hint="relative; for integrators that choose their step")
            step = gui.add_number("step, s", o.step, hint="for integrators of fixed step", step=1e-4, min=1e-9)
            method = gui.add_dropdown("method", ("auto", *METHODS), initial_value=o.method, hint="of forming the equations")
            run = gui.add_button("Run", color="green")

        def set_integrator(name: str) -> None:
            self._set(integrator=name)
            tolerance.visible = INTEGRATORS[name].adaptive
            step.visible = not tolerance.visible

        page.on(duration, lambda x: self._set(duration=float(x)))
        page.on(interval, lambda x: self._set(interval=float(x) or None))
        page.on(integrator, set_integrator)
        page.on(tolerance, self._set_tolerance)
        page.on(step, lambda x: self._set(step=float(x)))
        page.on(method, lambda name: self._set(method=name))
        page.on_click(run, self.run)
        set_integrator(o.integrator)

    def _set(self, **changes: Any) -> None:
        self.page.work.options = replace(self.page.work.options, **changes)

    def _set_tolerance(self, text: str) -> None:
        try:
            self._set(rtol=float(text))
        except ValueError:
            self.page.say(f"tolerance: expected a number such as 1e-8, got {text!r}", bad=True)

    # --- the run ---------------------------------------------------------------------------------------------------------------
    def run(self) -> None:
        self.page.start_tab.take()
        self.page.work.arguments()  # what is wrong with them is said before anything begins

        def computed() -> Result:
            """The run, with its poses and energy: they take a while, too."""
            r = self.page.work.run()
            if len(r):
                _ = r.poses, r.energy
            return r

        self.page.job("run", computed, lambda _: self.show(play=True))

    def show(self, play: bool = False) -> None:
        page, r = self.page, self.page.work.result
        assert r is not None
        page.stage.clear()
        page.stage.aspect = ASPECT
        nodes = page.stage.add(scene_of(r))
        if page.start_tab.sliders is not None:
            page.start_tab.sliders.nodes = nodes
        page.model_tab.fill_drawing()
        with page.section("Run", "play", 2):
            page.playback = PlaybackPanel(page.stage, [nodes])
        with page.section("Run", "energy and summary", 3):
            page.gui.add_html(run_text(r, page.jobs.progress.warnings))
        with page.section("Run", "take away", 4):
            kind = page.gui.add_dropdown("as", tuple(FORMATS))
            self.add_buttons("Download", lambda: kind.value)
        self.plot()
        if r.status not in ("done", "stopped"):
            page.say(f"{r.status}: {r.message}; what was computed until then is here", bad=True)
        if play and len(r) > 1:
            page.playback.toggle()

    def add_buttons(self, label: str, kind: Callable[[], str]) -> None:
        """Two buttons that take a file of this kind away."""
        load, keep = self.page.gui.add_button(label), self.page.gui.add_button("Save in the folder")
        self.page.on_click(load, lambda: self.download(kind()))
        self.page.on_click(keep, lambda: self.keep(kind()))

    def download(self, kind: str) -> None:
        work, viser = self.page.work, self.page.stage.viser
        self.page.job("download", lambda: work.file(kind), lambda f: viser.send_file_download(*f, save_immediately=True))

    def keep(self, kind: str) -> None:
        self.page.job("save", lambda: self.page.work.keep(kind), self._kept)

    def _kept(self, name: str) -> None:
        self.page.open_tab.refresh()
        self.page.say(f"written: {name}")

    # --- plots -----------------------------------------------------------------------------------------------------------------
    def plot(self) -> None:
        page, r = self.page, self.page.work.result
        assert r is not None
        for handle in self._charts:
            handle.remove()
        with page.plots_tab:
            folder = page.gui.add_folder("what")
            charts = page.gui.add_folder(", ".join(self.what) or USUAL)
        self._charts = [folder, charts]
        with folder:
            names = names_of(r.model_with_contacts)[:MOST]
            choice = page.gui.add_dropdown("add", (USUAL, *names), hint="a quantity, or the usual ones alone")
            text = page.gui.add_text("names", ", ".join(self.what), hint="by commas: A, speed of A, piston.x, reaction of B")
        page.on(choice, lambda name: self._ask([] if name == USUAL else [*self.what, name]))
        page.on(text, lambda words: self._ask([w.strip() for w in words.split(",") if w.strip()]), key="names")
        with charts:
            plots = PlotsPanel(page.stage, [r], [r.model.name], self.what)
        if page.playback is not None:
            page.playback.watchers = [plots.follow]
        page.plots.visible = True

    def _ask(self, what: list[str]) -> None:
        before, self.what = self.what, list(dict.fromkeys(what))
        try:
            self.plot()
        except Exception:
            self.what = before
            self.plot()
            raise


# --- the tab that compares all methods for the model
class CompareTab:
    def __init__(self, page: StudioPage) -> None:
        self.page = page

    def fill(self) -> None:
        page, gui = self.page, self.page.gui
        with page.section("Compare", "methods", 1):
            words = f"Every method on every backend: agreement, operations, time. It takes up to {BUDGET:g} s."
            gui.add_html(sentences([words], "soft"))
            go = gui.add_button("Compare")
        page.remove_section("Compare", "measured")
        page.on_click(go, lambda: page.job("comparison", page.work.compare, lambda _: self._show()))

    def _show(self) -> None:
        page, c = self.page, self.page.work.comparison
        assert c is not None
        with page.section("Compare", "measured", 2):
            page.gui.add_html(comparison_text(c))
            page.run_tab.add_buttons("Download as a page", lambda: COMPARISON)
