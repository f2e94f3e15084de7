"""Results, models and modes as one HTML file that plays offline: `r.animate("run.html")`, `m.animate("model.html")`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...analysis.modes import Mode
from ...errors import StateError, brief, suggesting
from ...model.model import Model
from ...reporting import pages
from ...reporting.atomic_write import check_suffix, check_writable, file_path
from ...reporting.formats import duration, figures, plural
from ...reporting.notebook import Page, kernel_shell
from ...reporting.pictures import COLOURS
from ...reporting.progress import ProgressBar
from ...simulation.results.charts import Charts, charts, named_results
from ...simulation.results.result import Result
from ...types import FilePath, State
from ..build import Trace, scene_of
from ..motion import scene_of_mode, title_of_mode
from ..scene import LAYERS, Scene, ViewDirection, direction_of
from . import facts
from .contents import Take, data_of
from .keyframes import Motion, fewer, finite_rows, key_frames

THREE = Path(__file__).with_name("three") / "three.min.js"
"""three.js 0.140.2 as npm has it, which draws the page; its licence stands beside it."""
SUFFIXES = (".html", ".htm")
MOTION = 1_700_000
"""Characters of a page for its motion: three.js, plots and bodies without meshes fit beside it into 3 MB."""
FPS = 30.0
"""Least number of key frames a second; the page draws as many frames as the screen shows, between them too."""
Results = Result | Sequence[Result] | Mapping[str, Result]


@suggesting
def animate(
    results: Results, path: FilePath | None = None, *, plots: Sequence[str] = (), show: Sequence[str] | None = None,
    traces: Sequence[Trace] = (), fps: float = FPS, follow: str | None = None,
    view: str | Sequence[float] | None = None, title: str | None = None, progress: bool | None = None,
) -> Path | Any:  # fmt: skip
    """A page that opens in any browser, offline, with everything in it: the motion, plots in step with it, the model, the run.

    results  one; or several, in a list or {name: result}, drawn over each other
    path     by default run.html; in a notebook no file is written by default, and the page is shown there
    plots    quantities to plot, by the names that `Result.plot` takes; by default what it plots by default
    show     layers that are on at first: "bodies", "joints", "reactions" …
    traces   points whose paths are drawn: bodies, frames, or (body, point)
    fps      key frames a second, at least; between them the page interpolates
    follow   the body that the camera goes along with
    view     "front", "side", "top", or the direction to the camera
    """
    target = _target(path, "run.html")
    for name, r in (named := named_results(results)).items():
        if not len(r):
            raise StateError(f"nothing to show of {brief(name)}: the result has no times")
    takes = [Take(name, scene_of(r, show, traces=traces), r) for name, r in named.items()]
    return _given(page(takes, charts(named, tuple(plots)), title, fps, follow, view, progress), target)


def animate_model(
    model: Model, path: FilePath | None = None, q: State = None, t: float = 0.0, *, show: Sequence[str] | None = None,
    view: str | Sequence[float] | None = None, title: str | None = None,
) -> Path | Any:  # fmt: skip
    """A page of a model in one position: to turn it, to see its tree and its masses."""
    target = _target(path, "model.html")
    return _given(page([Take(model.name, scene_of(model, show, q, t), model)], title=title, view=view), target)


def animate_mode(
    mode: Mode, path: FilePath | None = None, *, amplitude: float | None = None, show: Sequence[str] | None = None,
    view: str | Sequence[float] | None = None, title: str | None = None,
) -> Path | Any:  # fmt: skip
    """A page of one period of a mode, which is played again and again."""
    target = _target(path, "mode.html")
    model, title = mode.dynamics.model, title_of_mode(mode) if title is None else title
    take = Take(model.name, scene_of_mode(mode, show, amplitude), model)
    return _given(page([take], title=title, view=view), target)


def _target(path: FilePath | None, default: str) -> Path | None:
    """The file, refused where it could not be written; None for a page that a notebook shows."""
    return None if path is None and kernel_shell() is not None else check_page_file(default if path is None else path)


def _given(text: str, target: Path | None) -> Path | Page:
    return Page(text) if target is None else pages.write_page(text, target)


def check_page_file(path: FilePath) -> Path:
    """Refuse a file that could not be written."""
    check_suffix(file_path(path), SUFFIXES)
    return check_writable(path, 2 * MOTION)


def page(
    takes: Sequence[Take], plots: Charts | None = None, title: str | None = None, fps: float = FPS, follow: str | None = None,
    view: ViewDirection = None, progress: bool | None = None,
) -> str:  # fmt: skip
    """The text of a page. Several takes are drawn over each other, each in its colour; `plots` are in step with them."""
    if not takes:
        raise StateError("a page needs something to show: give a model or a result")
    if not isinstance(fps, int | float) or not 0.0 < fps <= 1000.0:
        raise StateError(f"fps: expected a number of frames per second from 0 to 1000, got {fps!r}")
    scenes, notes, rows = [take.scene for take in takes], list[str](), list[np.ndarray]()
    direction_of(scenes[0], view)
    with ProgressBar(progress, "page", 3.0) as bar:
        for scene in scenes:
            rows.append(finite_rows(scene))
            bad = scene.t[~np.isin(scene.t, scene.t[rows[-1]])]
            if not len(rows[-1]):
                what = "there are no times" if not len(scene.t) else "none of its poses is a number"
                raise StateError(f"nothing to show of {scene.name!r}: {what}")
            if len(bad):
                many = f"at {plural(len(bad), 'time')} from t = {bad[0]:g} s on"
                notes.append(f"{scene.name}: {many} poses are not numbers, and are left out")
            notes += scene.notes
        motions: Sequence[Motion] = [key_frames(scene, kept, fps) for scene, kept in zip(scenes, rows, strict=True)]
        bar.update(1.0, "key frames")
        data, motions = _within_limit(takes, motions, lambda these: data_of(takes, these, follow, view, plots))
        bar.update(2.0, "packed")
        still = all(len(motion.t) == 1 for motion in motions)
        subjects = [take.subject for take in takes if take.subject is not None]
        models = {id(m): m for m in (s.model if isinstance(s, Result) else s for s in subjects)}.values()
        there, shown = {name for s in scenes for name in s.layers}, {name for s in scenes for name in s.shown}
        values = {
            "title": title or ", ".join(dict.fromkeys(scene.name for scene in scenes)),
            "sentence": facts.sentence(subjects[0]) if subjects else "",
            "still": still,
            "plotted": plots is not None and bool(plots.charts),
            "runs": [take.name for take in takes] if len(takes) > 1 else [],
            "colours": COLOURS,
            "layers": [{"name": name, "what": what, "on": name in shown} for name, what in LAYERS.items() if name in there],
            "scales": {layer: text for scene in scenes for layer, text in scene.scales.items()},
            "bodies": scenes[0].choices,
            "trees": [(model.name, *facts.tree(model), facts.loops(model)) for model in models],
            "results": [(take.name, take.subject.summary(), facts.energy_account(take.subject))
                        for take in takes if isinstance(take.subject, Result)],
            "warnings": [*dict.fromkeys([*(w for s in subjects for w in facts.warnings_of(s)), *notes])],
            "frames": "" if still else _frames(scenes, rows, motions),
            "data": data,
            "three": THREE.read_text(encoding="utf-8"),
        }  # fmt: skip
        return pages.page("sharnir.viewer.page", "page.html", figures={}, **values)


def _within_limit(
    takes: Sequence[Take], motions: Sequence[Motion], data: Callable[[Sequence[Motion]], str]
) -> tuple[str, Sequence[Motion]]:
    """The data of the page, with fewer key frames where there would be too many."""

    def thinned(share: float) -> list[Motion]:
        return [fewer(take.scene, motion, share) for take, motion in zip(takes, motions, strict=True)]

    whole = data(motions)
    if len(whole) <= MOTION:
        return whole, motions
    rest, share, kept = len(data(thinned(0.0))), 1.0, motions
    while len(whole) - rest > MOTION and max(len(motion.t) for motion in kept) > 2:
        share *= min(0.9, 0.97 * MOTION / (len(whole) - rest))
        kept = thinned(share)
        whole = data(kept)
    return whole, kept


def _frames(scenes: Sequence[Scene], rows: Sequence[np.ndarray], motions: Sequence[Motion]) -> str:
    """How the motion is kept: the page says so, as it is not the result itself."""
    keys, there = sum(len(m.t) for m in motions), sum(map(len, rows))
    off = max(m.error for m in motions)
    text = f"{keys} key frames of {there} rows" if keys < there else f"all {plural(there, 'row')} as key frames"
    longest = max(motions, key=lambda m: len(m.t))
    seconds = float(longest.t[-1] - longest.t[0]) / max(1, len(longest.t) - 1)
    text += f", one every {duration(seconds)}; between them it is interpolated"
    return text + (f", at most {figures(off * 1e3)} mm off" if off > 0.0 else "")
