"""Files that a model file names: looked up only inside its own folder and in folders that the caller declared."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import FormatError, StateError, brief
from ..reporting.whole_file import file_path
from ..types import FilePath
from .xml import Element

UNUSABLE = (OSError, ValueError, RuntimeError)
"""What a path can raise: a null character, a loop of symbolic links, a name that is too long."""


def model_path(path: object) -> Path:
    """The path of a model file as the caller gives it."""
    try:
        return file_path(path)
    except StateError as error:
        raise FormatError(str(error)) from None


def declared_folders(package_paths: FilePath | Iterable[FilePath]) -> list[Path]:
    """`package_paths` as absolute folders; a single path counts as one folder."""
    paths = [package_paths] if isinstance(package_paths, (str, os.PathLike)) else package_paths
    if not isinstance(paths, Iterable):
        raise FormatError(f"package_paths: expected a folder or several, got {brief(paths)}")
    return [model_path(p).resolve() for p in paths]


def confined(path: Path, roots: Sequence[Path]) -> Path | None:
    """The absolute path if it is inside one of the folders, both as written and after symbolic links; else None. As written
    comes first: the file system is not touched for a path that leads outside."""
    written = Path(os.path.normpath(path))
    if not any(written.is_relative_to(root) for root in roots):
        return None
    found = written.resolve()
    return found if any(found.is_relative_to(root) for root in roots) else None


class Folders:
    """The folder of a model file and those declared besides."""

    def __init__(self, model_file: Path, package_paths: FilePath | Iterable[FilePath]) -> None:
        try:
            self.folder = model_file.resolve().parent
            self.roots = [self.folder, *declared_folders(package_paths)]
        except UNUSABLE as error:
            raise FormatError(f"{model_file}: no usable path ({error})") from None

    def first(self, element: Element, name: str, places: Sequence[Path]) -> Path | None:
        """The first file of that name in the given places; None where there is none, an error where it leads outside."""
        outside = False
        for place in places:
            try:
                path = confined(place / name, self.roots)
                if path is not None and path.is_file():
                    return path
            except UNUSABLE as error:
                raise element.error(f"{name!r} is no usable path ({error})") from None
            outside = outside or path is None
        if outside:
            raise element.error(
                f"the file {name!r} leads out of the model's folder {self.folder} and is not read; "
                "if that is intended, declare its folder in package_paths"
            )
        return None
