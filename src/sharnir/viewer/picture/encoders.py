"""Frames to a file: mp4 by ffmpeg, gif by Pillow. A film that is left by an exception stops at once."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import StateError

if TYPE_CHECKING:
    from PIL.Image import Image

GIF_RATE = 50.0
"""Frames a second: browsers show shorter delays than two hundredths of a second as ten."""

GIF_COLOURS = 256

Size = tuple[int, int]
Add = Callable[["Image"], None]


def check_encoder(path: Path, size: Size) -> None:
    """Refuse what the format of the file cannot do, before anything is drawn."""
    if path.suffix.lower() != ".gif":
        if size[0] % 2 or size[1] % 2:
            raise StateError(f"size: an .mp4 has an even number of pixels along each side, got {size[0]} × {size[1]}")
        ffmpeg()


def film(path: Path, size: Size, rate: float, some: Callable[[], Sequence[Image]]) -> AbstractContextManager[Add]:
    """A function that adds frames to a file, in the format of its suffix. `some` of the frames choose the colours of a gif."""
    return _gif(path, size, rate, some) if path.suffix.lower() == ".gif" else _mp4(path, size, rate)


@contextmanager
def _mp4(path: Path, size: Size, rate: float) -> Iterator[Add]:
    """H.264, which every browser and slide program plays."""
    program = ffmpeg()
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{rate:.6f}", "-i", "-"]
    target = ["-an", "-c:v", "libx264", "-preset", "medium", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
    command = [program, "-y", "-loglevel", "error", *source, *target, "-f", "mp4", str(path)]
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=messages, start_new_session=True
        )  # in its own session: Ctrl-C is for us, who then end it
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
    """One palette for all frames and no dithering: nothing flickers, and what does not change takes no room."""
    from PIL import Image

    width, height = size
    chosen, frames = some(), list[Image.Image]()
    sheet = Image.new("RGB", (width, height * len(chosen)))
    for k, frame in enumerate(chosen):
        sheet.paste(frame.convert("RGB"), (0, k * height))
    palette = sheet.quantize(GIF_COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    yield lambda frame: frames.append(frame.convert("RGB").quantize(palette=palette, dither=Image.Dither.NONE))
    ends = [round(100 * (k + 1) / rate) for k in range(len(frames))]  # hundredths of a second, the unit of the format
    delays = [10 * (b - a) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    first, *rest = frames
    first.save(path, "GIF", save_all=True, append_images=rest, duration=delays, loop=0, optimize=False, disposal=1)
