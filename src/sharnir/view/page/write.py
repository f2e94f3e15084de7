"""Scenes as one HTML file that plays offline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import StateError, no_such
from ...model.model import Model
from ...reporting.formats import duration, figures, plural
from ...reporting.pages import templates
from ...reporting.pictures import COLOURS
from ...reporting.progress import ProgressBar
from ...reporting.whole_file import check_suffix, file_path, whole_file
from ...simulation.result import Result
from ...simulation.storage import check_writable
from ...types import FloatArray
from ..camera import FIELD, MARGIN, camera_for
from ..scene import Scene
from . import facts
from .contents import Contents, layers_of
from .keyframes import Motion, fewer, finite_rows, key_frames
from .lines import Plotted, plots
from .pack import Package
from .three import three_js

SUFFIXES = (".html", ".htm")
MOTION = 1_700_000
"""Characters of a page for its motion: three.js, plots and bodies without meshes fit beside it into 3 MB."""
FPS = 30.0
"""Key frames a second at least; the page draws as many frames as the screen shows, between them too."""


@dataclass(frozen=True, eq=False)
class Take:
    """One motion, or one position, on a page; of several, drawn over each other, each has its colour."""

    scene: Scene
    subject: Model | Result | None = None
    """What it shows: for the tree, the summary and the account of energy."""
    panels: Sequence[Plotted] = field(default=())
    """Lines over the times of the scene."""


def write_page(
    takes: Scene | Take | Sequence[Scene | Take],
    path: str | PathLike[str],
    *,
    title: str | None = None,
    fps: float = FPS,
    follow: str | None = None,
    progress: bool | None = None,
) -> Path:
    """follow: the body that the camera goes along with; it can be changed on the page."""
    check_suffix(file_path(path), SUFFIXES)
    check_writable(path, 2 * MOTION)
    shown = [x if isinstance(x, Take) else Take(x) for x in ([takes] if isinstance(takes, Scene | Take) else takes)]
    text = page(shown, title, fps, follow, progress)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
    return file_path(path)


def page(takes: Sequence[Take], title: str | None, fps: float, follow: str | None, progress: bool | None = None) -> str:
    if not takes:
        raise StateError("a page needs something to show: give a scene, a model or a result")
    if not 0.0 < fps <= 1000.0:
        raise StateError(f"fps: expected a number of frames per second from 0 to 1000, got {fps!r}")
    with ProgressBar(progress, "page", 4.0) as bar:
        scenes = [take.scene for take in takes]
        rows = [_rows(scene) for scene in scenes]
        notes = [note for scene, kept in zip(scenes, rows, strict=True) for note in [*_cut_short(scene, kept), *scene.notes]]
        bar.update(1.0, "key frames")
        motions = [key_frames(scene, kept, fps) for scene, kept in zip(scenes, rows, strict=True)]
        bar.update(2.0, "packing")
        data, motions = _within_limit(takes, rows, motions, follow)
        bar.update(3.0, "writing")
        still = all(len(motion.t) == 1 for motion in motions)
        subjects = [take.subject for take in takes if take.subject is not None]
        models = _models(subjects)
        return (
            templates("sharnir.view.page")
            .get_template("page.html")
            .render(
                title=title or _title(scenes),
                sentence="; ".join(dict.fromkeys(facts.sentence(s) for s in subjects[:1])),
                still=still,
                plotted=any(take.panels for take in takes),
                runs=_names(scenes) if len(scenes) > 1 else [],
                colours=COLOURS,
                layers=layers_of(scenes),
                scales={layer: text for scene in scenes for layer, text in scene.scales.items()},
                bodies=scenes[0].bodies,
                trees=[(model.name, *facts.tree(model), facts.loops(model)) for model in models],
                results=[(name, s, s.summary(), facts.energy_account(s))
                         for name, s in zip(_names(scenes), (take.subject for take in takes), strict=True) if isinstance(s, Result)],
                warnings=[*dict.fromkeys([*(w for s in subjects for w in facts.warnings_of(s)), *notes])],
                frames="" if still else _frames(scenes, rows, motions),
                data=data,
                three=three_js(),
            )
        )  # fmt: skip


def _rows(scene: Scene) -> np.ndarray:
    rows = finite_rows(scene)
    if not len(rows):
        what = "the scene has no times" if not len(scene.t) else "none of its poses is a number"
        raise StateError(f"nothing to show of {scene.name!r}: {what}")
    return rows


def _cut_short(scene: Scene, rows: np.ndarray) -> list[str]:
    """What is said of poses that are not numbers."""
    bad = np.setdiff1d(np.arange(len(scene.t)), np.flatnonzero(np.isin(scene.t, scene.t[rows])))
    if not len(bad):
        return []
    return [
        f"{scene.name}: the poses at {plural(len(bad), 'time')} from t = {scene.t[bad[0]]:g} s are not numbers and are left out"
    ]


def _within_limit(
    takes: Sequence[Take], rows: Sequence[np.ndarray], motions: Sequence[Motion], follow: str | None
) -> tuple[str, Sequence[Motion]]:
    """The data of the page, with fewer key frames where there would be too many."""
    data = _data(takes, motions, follow)
    if len(data) <= MOTION:
        return data, motions
    scenes = [take.scene for take in takes]
    without = len(_data(takes, [fewer(s, kept, 0.0) for s, kept in zip(scenes, rows, strict=True)], follow))
    share = 1.0
    while len(data) - without > MOTION and share > 1e-3:
        share *= min(0.9, 0.97 * MOTION / (len(data) - without))
        motions = [fewer(s, m.rows, share) if len(m.rows) > 2 else m for s, m in zip(scenes, motions, strict=True)]
        data, share = _data(takes, motions, follow), 1.0 if max(len(m.rows) for m in motions) > 2 else 0.0
    return data, motions


def _data(takes: Sequence[Take], motions: Sequence[Motion], follow: str | None) -> str:
    package = Package()
    contents = Contents(package)
    scenes, names = [take.scene for take in takes], _names([take.scene for take in takes])
    low, high = np.min([s.low for s in scenes], axis=0), np.max([s.high for s in scenes], axis=0)
    first, tints = scenes[0], [_rgb(COLOURS[k % len(COLOURS)]) for k in range(len(takes))]
    camera = camera_for(first)
    table: dict[str, Any] = {
        "up": _floats(first.up),
        "direction": _floats(camera.position - camera.target),
        "field": FIELD,
        "margin": MARGIN,
        "low": _floats(low),
        "high": _floats(high),
        "size": max(s.size for s in scenes),
        "runs": [
            {**contents.scene(s, m, tint if len(takes) > 1 else None), "name": name}
            for s, m, tint, name in zip(scenes, motions, tints, names, strict=True)
        ],
        "geometries": contents.geometries,
        "follow": _body(first, follow),
        "plots": plots(package, [(name, take.scene.t, take.panels) for name, take in zip(names, takes, strict=True)]),
        "events": facts.events_of([take.subject for take in takes]),
    }
    return package.text(table)


def _body(scene: Scene, name: str | None) -> int:
    if name is None:
        return -1
    if name not in scene.bodies:
        raise StateError(f"follow: {no_such('body', name, scene.bodies, 'bodies')}")
    return scene.bodies.index(name)


def _frames(scenes: Sequence[Scene], rows: Sequence[np.ndarray], motions: Sequence[Motion]) -> str:
    """How the motion is kept: said on the page, as it is not the result itself."""
    keys, there = sum(len(m.rows) for m in motions), sum(map(len, rows))
    largest = max(range(len(motions)), key=lambda k: motions[k].error / scenes[k].size)
    off = motions[largest].error
    text = f"{keys} key frames of {there} rows" if keys < there else f"all {plural(there, 'row')} of the result as key frames"
    seconds = float(motions[0].t[-1] - motions[0].t[0]) / max(1, len(motions[0].t) - 1)
    text += f", one every {duration(seconds)}; positions between them are interpolated"
    return text + (f", at most {figures(off * 1e3)} mm off" if off > 0.0 else "")


def _models(subjects: Sequence[Model | Result]) -> list[Model]:
    return list({id(m): m for m in (s.model if isinstance(s, Result) else s for s in subjects)}.values())


def _names(scenes: Sequence[Scene]) -> list[str]:
    """Each its own: of equal ones, the second is "crane 2"."""
    out: list[str] = []
    for scene in scenes:
        same = sum(s.name == scene.name for s in scenes[: len(out)])
        out.append(f"{scene.name} {same + 1}" if same else scene.name)
    return out


def _title(scenes: Sequence[Scene]) -> str:
    return ", ".join(dict.fromkeys(scene.name for scene in scenes))


def _rgb(colour: str) -> tuple[float, float, float, float]:
    r, g, b = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return r, g, b, 1.0


def _floats(x: FloatArray) -> list[float]:
    return [float(value) for value in x]
