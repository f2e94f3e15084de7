"""Frames to a file: mp4 by ffmpeg, gif by Pillow."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from ...errors import StateError

if TYPE_CHECKING:
    from PIL.Image import Image

GIF_RATE = 50.0
"""Frames a second: browsers show shorter delays than two hundredths of a second as ten."""

GIF_COLOURS = 256


class Encoder:
    """A file that frames are added to. Left without `finish` it stops at once."""

    wants_palette = False

    def __init__(self, path: Path, size: tuple[int, int], rate: float) -> None:
        self.path, self.size, self.rate = path, size, rate

    def __enter__(self) -> Encoder:
        return self

    def choose_palette(self, some: Sequence[Image]) -> None:
        raise NotImplementedError

    def add(self, frame: Image) -> None:
        raise NotImplementedError

    def finish(self) -> None:
        raise NotImplementedError

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return


class Mp4(Encoder):
    """H.264, which every browser and slide program plays."""

    def __init__(self, path: Path, size: tuple[int, int], rate: float) -> None:
        super().__init__(path, size, rate)
        if size[0] % 2 or size[1] % 2:
            raise StateError(f"size: an .mp4 has an even number of pixels along each side, got {size[0]} × {size[1]}")
        self._program = ffmpeg()
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: IO[bytes] | None = None

    def add(self, frame: Image) -> None:
        if self._process is None:
            self._start()
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(frame.convert("RGB").tobytes())
        except OSError:
            self._fail()

    def _start(self) -> None:
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 (closed by __exit__)
        width, height = self.size
        source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{self.rate:.6f}", "-i", "-"]
        target = ["-an", "-c:v", "libx264", "-preset", "medium", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
        command = [self._program, "-y", "-loglevel", "error", *source, *target, "-f", "mp4", str(self.path)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self._messages, start_new_session=True
        )  # in its own session: Ctrl-C is for us, who then end it

    def finish(self) -> None:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.close()
        except OSError:
            self._fail()
        if self._process.wait() != 0:
            self._fail()

    def _fail(self) -> None:
        assert self._process is not None and self._messages is not None
        self._process.wait()
        self._messages.seek(0)
        said = self._messages.read().decode(errors="replace").strip().splitlines()
        raise StateError(
            f"ffmpeg ({self._program}) could not write the video: {said[-1] if said else 'it said nothing'}"
        ) from None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._process is not None:
            if self._process.poll() is None:
                self._process.kill()
            if self._process.stdin is not None and not self._process.stdin.closed:
                with suppress(OSError):  # it has gone: what was not sent cannot be
                    self._process.stdin.close()
            self._process.wait()
        if self._messages is not None:
            self._messages.close()


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


class Gif(Encoder):
    """One palette for all frames and no dithering: nothing flickers, and what does not change takes no room."""

    wants_palette = True

    def __init__(self, path: Path, size: tuple[int, int], rate: float) -> None:
        super().__init__(path, size, rate)
        self._palette: Image | None = None
        self._frames: list[Any] = []

    def choose_palette(self, some: Sequence[Image]) -> None:
        from PIL import Image

        width, height = self.size
        sheet = Image.new("RGB", (width, height * len(some)))
        for k, frame in enumerate(some):
            sheet.paste(frame.convert("RGB"), (0, k * height))
        self._palette = sheet.quantize(GIF_COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)

    def add(self, frame: Image) -> None:
        from PIL import Image

        self._frames.append(frame.convert("RGB").quantize(palette=self._palette, dither=Image.Dither.NONE))

    def finish(self) -> None:
        count = len(self._frames)
        ends = [round(100 * (k + 1) / self.rate) for k in range(count)]  # hundredths of a second, the unit of the format
        delays = [10 * (b - a) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        first, *rest = self._frames
        first.save(self.path, "GIF", save_all=True, append_images=rest, duration=delays, loop=0, optimize=False, disposal=1)


def encoder(path: Path, size: tuple[int, int], rate: float) -> Encoder:
    """The encoder for the suffix of the file."""
    return (Gif if path.suffix.lower() == ".gif" else Mp4)(path, size, rate)
