"""Pictures of models and motions in files: `Model.draw`, `Result.snapshot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from warnings import warn

from ...errors import ViewWarning
from ...model.model import Model
from ...reporting.atomic_write import atomic_write, check_suffix, check_writable
from ...simulation.results.result import Result
from ...types import FilePath, State, truth
from ..build import Trace, scene_of
from ..moments import at_times, check_time
from ..scene import Scene
from .look import Drawing, Look

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = (".png", ".jpg", ".webp")
OPAQUE = (".jpg",)
"""Formats without opacity."""


def draw(
    model: Model, path: FilePath, q: State = None, t: float = 0.0, *, show: Sequence[str] | None = None, **look: Any
) -> None:  # fmt: skip
    """`Model.draw`; `look`: the fields of `Look`, as in all functions below."""
    asked = Look(**look)
    check_path(path, asked)
    scene = scene_of(model, show, q, t)
    report(scene, 5)
    save(Drawing(scene, asked).image(), path)


def snapshot(
    result: Result, path: FilePath, t: float | None = None, *, show: Sequence[str] | None = None, traces: Sequence[Trace] = (),
    stamp: bool = True, **look: Any,
) -> None:  # fmt: skip
    """`Result.snapshot`."""
    asked = Look(**look)
    check_path(path, asked)
    scene = scene_of(result, show, traces=traces)
    time = float(result.t[-1]) if t is None else check_time(result, t)
    report(scene)
    save(Drawing(at_times(scene, result, [time]), asked).image(0, stamp_of(time) if truth(stamp, "stamp") else ""), path)


def stamp_of(t: float, digits: int = 3) -> str:
    return f"t = {t:.{digits}f} s"


def report(scene: Scene, above: int = 4) -> None:
    """Warn of what is not drawn as the model says; `above`: calls from here to the user's line."""
    for note in scene.notes:
        warn(note, ViewWarning, stacklevel=above)


def check_path(path: FilePath, look: Look) -> None:
    """Refuse a file that cannot be written, before anything is drawn."""
    check_suffix(path, tuple(x for x in SUFFIXES if not (look.transparent and x in OPAQUE)), "draw")
    check_writable(path)


def save(image: Image, path: FilePath) -> None:
    """The file appears whole or not at all."""
    with atomic_write(path) as part:
        opaque = image.getchannel("A").getextrema() == (255, 255)
        (image.convert("RGB") if opaque else image).save(part, optimize=True, quality=92)
