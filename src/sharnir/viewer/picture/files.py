"""Pictures and videos in files: `Model.draw`, `Result.snapshot`, `Result.video`, `Mode.video`; mp4 by ffmpeg, gif by Pillow."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis.modes import Mode
from ...errors import NOT_A_NUMBER, StateError, ViewWarning, brief, warn
from ...model.model import Model
from ...reporting.atomic_write import atomic_write, check_suffix, check_writable
from ...reporting.progress import ProgressBar
from ...simulation.results.result import Result
from ...types import FilePath, State, truth
from ..build import Trace, scene_of
from ..motion import PERIOD, at_times, check_time, scene_of_mode, title_of_mode
from ..scene import Scene
from .look import Drawing, Look

if TYPE_CHECKING:
    from PIL.Image import Image

PICTURES, OPAQUE = (".png", ".jpg", ".webp"), (".jpg",)
"""Formats of pictures, and those without opacity."""


def draw(
    model: Model, path: FilePath | None, q: State = None, t: float = 0.0, *, show: Sequence[str] | None = None, **look: Any
) -> Image | None:  # fmt: skip
    """`Model.draw`; `look`: the fields of `Look`, as in all functions below."""
    asked = _checked(path, look)
    scene = scene_of(model, show, q, t)
    report(scene)
    return save(Drawing(scene, asked).image(), path)


def snapshot(
    result: Result, path: FilePath | None, t: float | None = None, *, show: Sequence[str] | None = None,
    traces: Sequence[Trace] = (), stamp: bool = True, **look: Any,
) -> Image | None:  # fmt: skip
    """`Result.snapshot`."""
    asked = _checked(path, look)
    scene = scene_of(result, show, traces=traces)
    time = float(result.t[-1]) if t is None else check_time(result, t)
    report(scene)
    words = f"t = {time:.3f} s" if truth(stamp, "stamp") else ""
    return save(Drawing(at_times(scene, result, [time]), asked).image(0, words), path)


def report(scene: Scene) -> None:
    """Warn of what is not drawn as the model says."""
    for note in scene.notes:
        warn(note, ViewWarning)


def _checked(path: FilePath | None, look: Mapping[str, Any]) -> Look:
    """The look; a file that cannot be written is refused before anything is drawn."""
    asked = Look(**look)
    if path is not None:
        check_suffix(path, tuple(x for x in PICTURES if not (asked.transparent and x in OPAQUE)), "draw")
        check_writable(path)
    return asked


def save(image: Image, path: FilePath | None) -> Image | None:
    """The file appears whole or not at all; without one the picture is the caller's."""
    if path is None:
        return image
    with atomic_write(path) as part:
        opaque = image.getchannel("A").getextrema() == (255, 255)
        (image.convert("RGB") if opaque else image).save(part, optimize=True, quality=92)
    return None


# --- videos: every second of one shows the same number of seconds of the motion
SIZE = {".mp4": (1280, 720), ".gif": (640, 360)}
"""Default sizes, smaller for a gif, which holds every pixel that changes."""
RATES = {".mp4": (1.0, 240.0), ".gif": (1.0, 50.0)}
"""Least and most frames in a second: browsers show shorter delays than two hundredths of a second as ten."""
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
    stamps = [f"t = {t:.{digits}f} s" if stamp else "" for t in times]
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
    check_suffix(path, tuple(SIZE), "make a video")
    suffix = Path(path).suffix.lower()
    asked = Look(**{**look, "size": look.get("size") or SIZE[suffix]})
    rate, (least, most) = _positive(fps, "fps"), RATES[suffix]
    if not least <= rate <= most:
        raise StateError(f"fps: a {suffix} has {least:g} to {most:g} frames a second, got {rate:g}")
    check_writable(path)
    if suffix == ".mp4":
        if asked.size[0] % 2 or asked.size[1] % 2:
            raise StateError(f"size: an .mp4 has an even number of pixels along each side, got {asked.size[0]} × {asked.size[1]}")
        ffmpeg()
    return asked, rate


def _write(
    scene: Scene, look: Look, path: FilePath, rate: float, order: Sequence[int], stamps: Sequence[str], progress: bool | None
) -> None:
    drawing, done, film = Drawing(scene, look, samples=2), 0, _gif if Path(path).suffix.lower() == ".gif" else _mp4
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
    with suppress(*NOT_A_NUMBER):
        if isfinite(found := float(x)) and found > 0.0:
            return found
    raise StateError(f"{what}: expected a positive number, got {brief(x)}")


def _check_count(count: int) -> None:
    if count > MOST_FRAMES:
        remedy = "take fewer a second (fps), or show it faster (speed)"
        raise StateError(f"a video of {count} frames, more than {MOST_FRAMES}: {remedy}")


# --- encoders: functions that add frames to a file; a film that is left by an exception stops at once
Size = tuple[int, int]
Add = Callable[["Image"], None]


@contextmanager
def _mp4(path: Path, size: Size, rate: float, _: object) -> Iterator[Add]:
    """H.264, which every browser and slide program plays."""
    program = ffmpeg()
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{rate:.6f}", "-i", "-"]
    target = ["-an", "-c:v", "libx264", "-preset", "medium", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
    command = [program, "-y", "-loglevel", "error", *source, *target, "-f", "mp4", str(path)]
    with tempfile.TemporaryFile() as messages:
        # in its own session: Ctrl-C is for us, who then end it
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=messages, start_new_session=True
        )
        assert process.stdin is not None
        frames = process.stdin

        def failure() -> StateError:
            process.wait()
            messages.seek(0)
            said = messages.read().decode(errors="replace").strip().splitlines()
            return StateError(f"ffmpeg ({program}) could not write the video: {said[-1] if said else 'it said nothing'}")

        def add(frame: Image) -> None:
            try:
                frames.write(frame.convert("RGB").tobytes())
            except OSError:
                raise failure() from None

        try:
            yield add
            try:
                frames.close()
            except OSError:
                raise failure() from None
            if process.wait() != 0:
                raise failure()
        finally:
            if process.poll() is None:
                process.kill()
            with suppress(OSError):  # it has gone: what was not sent cannot be
                frames.close()
            process.wait()


def ffmpeg() -> str:
    """The program: that of the package imageio-ffmpeg, or one on the path."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):  # RuntimeError: a package without its program
        found = shutil.which("ffmpeg")
    if found is None:
        raise StateError('an .mp4 needs ffmpeg: pip install "sharnir[video]", or install ffmpeg; a .gif needs neither')
    return found


@contextmanager
def _gif(path: Path, size: Size, rate: float, some: Callable[[], Sequence[Image]]) -> Iterator[Add]:
    """One palette, from `some` frames, for all, and no dithering: nothing flickers, and what does not change takes no room."""
    from PIL import Image

    width, height = size
    chosen, frames = some(), list[Image.Image]()
    sheet = Image.new("RGB", (width, height * len(chosen)))
    for k, frame in enumerate(chosen):
        sheet.paste(frame.convert("RGB"), (0, k * height))
    palette = sheet.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    yield lambda frame: frames.append(frame.convert("RGB").quantize(palette=palette, dither=Image.Dither.NONE))
    ends = [round(100 * (k + 1) / rate) for k in range(len(frames))]  # hundredths of a second, the unit of the format
    delays = [10 * (b - a) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    first, *rest = frames
    first.save(path, "GIF", save_all=True, append_images=rest, duration=delays, loop=0, optimize=False, disposal=1)
