"""Which files a model may name: those in its own folder, or in folders the caller declared."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import FormatError
from .xml import Element


class Folders:
    """The folder of a model file and those declared beside it."""

    def __init__(self, model_file: Path, declared: Iterable[str | os.PathLike[str]]) -> None:
        declared = [declared] if isinstance(declared, (str, os.PathLike)) else list(declared)
        try:
            self.folder = model_file.resolve().parent
            self.roots = [self.folder, *(Path(p).resolve() for p in declared)]
        except (OSError, ValueError, RuntimeError) as error:
            raise FormatError(f"{model_file}: no usable path ({error})") from None

    def first(self, element: Element, name: str, places: Sequence[Path]) -> Path | None:
        """The first file of that name in the given places; None where there is none, an error where it leads outside."""
        outside = False
        for place in places:
            try:
                written = Path(os.path.normpath(place / name))
                path = written.resolve()
                if not all(any(p.is_relative_to(root) for root in self.roots) for p in (written, path)):
                    outside = True
                elif path.is_file():
                    return path
            except (OSError, ValueError, RuntimeError) as error:  # a null character, a loop of symbolic links …
                raise element.error(f"{name!r} is no usable path ({error})") from None
        if outside:
            raise element.error(
                f"the file {name!r} leads out of the model's folder {self.folder} and is not touched; "
                "if that is meant, declare its folder in package_paths"
            )
        return None
