"""`r.animate("run.html")`: results and models as a page."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ...model.model import Model
from ...simulation.panels import panels
from ...simulation.result import Result
from ..build import Trace, scene_of
from .write import FPS, Take, write_page

Subject = Model | Result


def animate(
    subject: Subject | Sequence[Subject],
    path: str | PathLike[str] = "run.html",
    *,
    what: Sequence[str] = (),
    show: Sequence[str] | None = None,
    traces: Sequence[Trace] = (),
    fps: float = FPS,
    follow: str | None = None,
    title: str | None = None,
    progress: bool | None = None,
) -> Path:
    """A page that opens in any browser, offline, with everything in it: the motion, plots in step with it, the model, the run.

    subject  a result; a model, which stands still; or several, drawn over each other
    what     quantities to plot, by the names that `Result.plot` takes; all that it would plot by default
    show     layers that are on at first: "bodies", "joints", "reactions" …
    traces   points whose paths are drawn: bodies, frames, or (body, point)
    fps      key frames a second, at least; between them the page interpolates
    follow   the body that the camera goes along with
    """
    subjects = [subject] if isinstance(subject, Model | Result) else list(subject)
    return write_page(
        [_take(one, what, show, traces) for one in subjects], path, title=title, fps=fps, follow=follow, progress=progress
    )


def _take(subject: Subject, what: Sequence[str], show: Sequence[str] | None, traces: Sequence[Trace]) -> Take:
    if isinstance(subject, Result):
        return Take(scene_of(subject, show, traces=traces), subject, panels(subject, what))
    return Take(scene_of(subject, show), subject)


def animate_position(model: Model, path: str | PathLike[str] = "model.html", *, q: Any = None, t: float = 0.0,
                     show: Sequence[str] | None = None, title: str | None = None) -> Path:  # fmt: skip
    """A page of a model in one position."""
    return write_page(Take(scene_of(model, show, q, t), model), path, title=title)
