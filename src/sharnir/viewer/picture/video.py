"""A motion as a video: `Result.video`, `Mode.video`. Every second of it shows the same number of seconds of the motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np

from ...analysis.modes import Mode
from ...errors import NOT_A_NUMBER, StateError, brief
from ...reporting.atomic_write import atomic_write, check_suffix, check_writable
from ...reporting.progress import ProgressBar
from ...simulation.results.result import Result
from ...types import FilePath
from ..build import Trace, scene_of
from ..mode_motion import PERIOD, scene_of_mode, title_of_mode
from ..moments import at_times
from ..scene import Scene
from .encoders import GIF_RATE, check_encoder, film
from .files import report, stamp_of
from .look import Drawing, Look

SUFFIXES = (".mp4", ".gif")
SIZE = {".mp4": (1280, 720), ".gif": (640, 360)}
"""Default sizes, smaller for a gif, which holds every pixel that changes."""

RATES = 1.0, 240.0
"""Least and most frames in a second."""

MOST_FRAMES = 100_000


def video(
    result: Result, path: FilePath, fps: float = 30.0, speed: float = 1.0, *, show: Sequence[str] | None = None,
    traces: Sequence[Trace] = (), stamp: bool = True, progress: bool | None = None, **look: Any,
) -> None:  # fmt: skip
    """`Result.video`; `look`: the fields of `Look`."""
    asked, rate = _prepared(path, fps, look)
    times = frame_times(result, rate, _positive(speed, "speed"))
    scene = scene_of(result, show, traces=traces)
    report(scene)
    digits = 2 if speed / rate >= 0.005 else 4
    stamps = [stamp_of(t, digits) if stamp else "" for t in times]
    _write(at_times(scene, result, times), asked, path, rate, range(len(times)), stamps, progress)


def mode_video(
    mode: Mode, path: FilePath, fps: float = 30.0, *, amplitude: float | None = None, period: float = PERIOD, periods: int = 3,
    show: Sequence[str] | None = None, title: str | None = None, progress: bool | None = None, **look: Any,
) -> None:  # fmt: skip
    """`Mode.video`; `look`: the fields of `Look`."""
    asked, rate = _prepared(path, fps, {**look, "title": title_of_mode(mode) if title is None else title})
    count = max(2, round(_positive(period, "period") * rate))
    if isinstance(periods, bool) or not isinstance(periods, (int, np.integer)) or periods < 1:
        raise StateError(f"periods: expected how often the period is shown, 1 or more, got {brief(periods)}")
    _check_count(count * int(periods))
    scene = scene_of_mode(mode, show, amplitude, count)
    report(scene)
    once = Path(path).suffix.lower() == ".gif"  # it begins again by itself
    order = list(range(count)) * (1 if once else int(periods))
    _write(scene, asked, path, rate, order, [""] * count, progress)


def frame_times(result: Result, rate: float, speed: float) -> np.ndarray:
    """The times that are shown: from the start at equal steps; the last is the end, or less than a step before it."""
    first, last = float(result.t[0]), float(result.t[-1])
    count = int(abs(last - first) / speed * rate * (1.0 + 1e-9)) + 1
    _check_count(count)
    return np.clip(first + np.sign(last - first) * np.arange(count) * speed / rate, min(first, last), max(first, last))


def _prepared(path: FilePath, fps: float, look: Mapping[str, Any]) -> tuple[Look, float]:
    """Look and frame rate, all checks made before anything is drawn."""
    check_suffix(path, SUFFIXES, "make a video")
    suffix = Path(path).suffix.lower()
    asked = Look(**{**look, "size": look.get("size") or SIZE[suffix]})
    rate, most = _positive(fps, "fps"), GIF_RATE if suffix == ".gif" else RATES[1]
    if not RATES[0] <= rate <= most:
        raise StateError(f"fps: a {suffix} has {RATES[0]:g} to {most:g} frames a second, got {rate:g}")
    check_writable(path)
    check_encoder(Path(path), asked.size)
    return asked, rate


def _write(
    scene: Scene, look: Look, path: FilePath, rate: float, order: Sequence[int], stamps: Sequence[str], progress: bool | None
) -> None:
    drawing, done = Drawing(scene, look, samples=2), 0
    some = np.unique(np.linspace(0, len(order) - 1, 5).astype(int))
    try:
        with (
            ProgressBar(progress, f"video {Path(path).name}", len(order), label="frame {:.0f}") as bar,
            atomic_write(path) as part,
            film(part, look.size, rate, lambda: [drawing.image(order[k], stamps[order[k]]) for k in some]) as add,
        ):
            for done, k in enumerate(order):
                add(drawing.image(k, stamps[k]))
                bar.update(done + 1)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"video interrupted at frame {done + 1} of {len(order)}: {path} was not written") from None


def _positive(x: float, what: str) -> float:
    try:
        found = float(x)
    except NOT_A_NUMBER:
        found = nan
    if not (isfinite(found) and found > 0.0):
        raise StateError(f"{what}: expected a positive number, got {brief(x)}")
    return found


def _check_count(count: int) -> None:
    if count > MOST_FRAMES:
        raise StateError(
            f"a video of {count} frames, more than {MOST_FRAMES}: take fewer a second (fps), or show it faster (speed)"
        )
