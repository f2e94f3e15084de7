"""`r.animate("run.html")`, `m.animate("model.html")`: results and models as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...analysis.modes import Mode
from ...errors import StateError, brief
from ...model.model import Model
from ...simulation.results.charts import charts, named_results
from ...simulation.results.result import Result
from ...types import FilePath, State
from ..build import Trace, scene_of
from ..mode_motion import scene_of_mode, title_of_mode
from .contents import Take
from .write import FPS, PageOptions, check_page_file, write_page

Results = Result | Sequence[Result] | Mapping[str, Result]


def animate(
    results: Results, path: FilePath = "run.html", *, plots: Sequence[str] = (), show: Sequence[str] | None = None,
    traces: Sequence[Trace] = (), fps: float = FPS, follow: str | None = None,
    view: str | Sequence[float] | None = None, title: str | None = None, progress: bool | None = None,
) -> Path:  # fmt: skip
    """A page that opens in any browser, offline, with everything in it: the motion, plots in step with it, the model, the run.

    results  one; or several, in a list or {name: result}, drawn over each other
    plots    quantities to plot, by the names that `Result.plot` takes; by default what it plots by default
    show     layers that are on at first: "bodies", "joints", "reactions" …
    traces   points whose paths are drawn: bodies, frames, or (body, point)
    fps      key frames a second, at least; between them the page interpolates
    follow   the body that the camera goes along with
    view     "front", "side", "top", or the direction to the camera
    """
    check_page_file(path)
    for name, r in (named := named_results(results)).items():
        if not len(r):
            raise StateError(f"nothing to show of {brief(name)}: the result has no times")
    takes = [Take(name, scene_of(r, show, traces=traces), r) for name, r in named.items()]
    return write_page(takes, path, PageOptions(title, fps, follow, view, progress), charts(named, tuple(plots)))


def animate_model(
    model: Model, path: FilePath = "model.html", q: State = None, t: float = 0.0, *, show: Sequence[str] | None = None,
    view: str | Sequence[float] | None = None, title: str | None = None,
) -> Path:  # fmt: skip
    """A page of a model in one position: to turn it, to see its tree and its masses."""
    check_page_file(path)
    return write_page([Take(model.name, scene_of(model, show, q, t), model)], path, PageOptions(title, view=view))


def animate_mode(
    mode: Mode, path: FilePath = "mode.html", *, amplitude: float | None = None, show: Sequence[str] | None = None,
    view: str | Sequence[float] | None = None, title: str | None = None,
) -> Path:  # fmt: skip
    """A page of one period of a mode, which is played again and again."""
    check_page_file(path)
    model, title = mode.dynamics.model, title_of_mode(mode) if title is None else title
    return write_page([Take(model.name, scene_of_mode(mode, show, amplitude), model)], path, PageOptions(title, view=view))
