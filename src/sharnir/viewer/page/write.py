"""Scenes as one HTML file that plays offline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from ...errors import StateError
from ...reporting import pages
from ...reporting.atomic_write import check_suffix, check_writable, file_path
from ...reporting.formats import duration, figures, plural
from ...reporting.pictures import COLOURS
from ...reporting.progress import ProgressBar
from ...simulation.results.charts import Charts
from ...simulation.results.result import Result
from ..camera import ViewDirection, direction_of
from ..scene import Scene
from . import facts
from .contents import Take, data_of, layers_of
from .keyframes import Motion, fewer, finite_rows, key_frames

THREE = Path(__file__).with_name("three") / "three.min.js"
"""three.js 0.140.2 as npm has it, which draws the page; its licence stands beside it."""
SUFFIXES = (".html", ".htm")
MOTION = 1_700_000
"""Characters of a page for its motion: three.js, plots and bodies without meshes fit beside it into 3 MB."""
FPS = 30.0
"""Least number of key frames a second; the page draws as many frames as the screen shows, between them too."""


@dataclass(frozen=True)
class PageOptions:
    """Options of a page.

    follow   the body that the camera goes along with; it can be changed on the page
    view     "front", "side", "top", or the direction to the camera
    """

    title: str | None = None
    fps: float = FPS
    follow: str | None = None
    view: ViewDirection = None
    progress: bool | None = None


def check_page_file(path: str | PathLike[str]) -> Path:
    """Refuse a file that could not be written."""
    check_suffix(file_path(path), SUFFIXES)
    return check_writable(path, 2 * MOTION)


def write_page(
    takes: Sequence[Take],
    path: str | PathLike[str],
    options: PageOptions | None = None,
    charts: Charts | None = None,
) -> Path:
    """Several takes are drawn over each other, each in its colour; `charts` are in step with them."""
    return pages.write_page(page(takes, options, charts), path)


def page(takes: Sequence[Take], options: PageOptions | None = None, charts: Charts | None = None) -> str:
    options = options or PageOptions()
    _check(takes, options)
    with ProgressBar(options.progress, "page", 3.0) as bar:
        scenes = [take.scene for take in takes]
        rows = [_rows(scene) for scene in scenes]
        motions: Sequence[Motion] = [key_frames(scene, kept, options.fps) for scene, kept in zip(scenes, rows, strict=True)]
        bar.update(1.0, "key frames")
        data, motions = _within_limit(takes, motions, options, charts)
        bar.update(2.0, "packed")
        still = all(len(motion.t) == 1 for motion in motions)
        subjects = [take.subject for take in takes if take.subject is not None]
        models = {id(m): m for m in (s.model if isinstance(s, Result) else s for s in subjects)}.values()
        notes = [note for scene, kept in zip(scenes, rows, strict=True) for note in [*_cut_short(scene, kept), *scene.notes]]
        values = {
            "title": options.title or ", ".join(dict.fromkeys(scene.name for scene in scenes)),
            "sentence": facts.sentence(subjects[0]) if subjects else "",
            "still": still,
            "plotted": charts is not None and bool(charts.charts),
            "runs": [take.name for take in takes] if len(takes) > 1 else [],
            "colours": COLOURS,
            "layers": layers_of(scenes),
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


def _check(takes: Sequence[Take], options: PageOptions) -> None:
    if not takes:
        raise StateError("a page needs something to show: give a model or a result")
    if not isinstance(options.fps, int | float) or not 0.0 < options.fps <= 1000.0:
        raise StateError(f"fps: expected a number of frames per second from 0 to 1000, got {options.fps!r}")
    direction_of(takes[0].scene, options.view)


def _rows(scene: Scene) -> np.ndarray:
    rows = finite_rows(scene)
    if not len(rows):
        what = "there are no times" if not len(scene.t) else "none of its poses is a number"
        raise StateError(f"nothing to show of {scene.name!r}: {what}")
    return rows


def _cut_short(scene: Scene, rows: np.ndarray) -> list[str]:
    """Notes on poses that are not numbers."""
    bad = scene.t[~np.isin(scene.t, scene.t[rows])]
    if not len(bad):
        return []
    return [f"{scene.name}: at {plural(len(bad), 'time')} from t = {bad[0]:g} s on poses are not numbers, and are left out"]


def _within_limit(
    takes: Sequence[Take], motions: Sequence[Motion], options: PageOptions, charts: Charts | None
) -> tuple[str, Sequence[Motion]]:
    """The data of the page, with fewer key frames where there would be too many."""

    def thinned(share: float) -> list[Motion]:
        return [fewer(take.scene, motion, share) for take, motion in zip(takes, motions, strict=True)]

    def data(these: Sequence[Motion]) -> str:
        return data_of(takes, these, options.follow, options.view, charts)

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
